//! Runs plans of the crate `graph` on a GPU, and environments whose states stay on the GPU. The kernels are written in WGSL. They run
//! natively over Vulkan, Metal or DX12, and in the browser over WebGPU.
//!
//! All kernels share one memory ([`Memory`]): a buffer of floats and a buffer of integers, in which each tensor has a region. A [`Program`]
//! is a list of dispatches that is built once and run many times, so that an iteration of a learner takes a few submits and one readback.
//! This crate uses no files and no clock, and does not depend on shells (command line, page, Python package).

pub mod backgammon;
pub mod control;
mod device;
mod evaluator;
mod executor;
mod functions;
pub mod logic;
mod machine;
mod open;
mod optimizer;
mod plan;
mod product;
mod program;
mod reduce;
mod rooms;
mod shader;
mod text;
mod tile;
mod trainer;

pub use device::{About, Gpu, OpenOptions, Submitted};
pub use evaluator::Evaluator;
pub use executor::{Answer, Executor};
pub use learn::Fault;
pub use optimizer::Optimizer;
pub use plan::{DispatchGroup, Lowered};
pub use product::{Product, Side, Timing, noise, product_by, products};
#[cfg(not(target_family = "wasm"))]
pub use product::{product_rounds_s, rounds_s};
pub use program::{Arrived, Kernel, Memory, PRELUDE, Program, Readback, Region, Space, groups};
pub use rooms::{Special, add_special};
pub use tile::{TILES, Tile};
pub use trainer::Trainer;

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use crate::product::append;
    pub use crate::shader::{shortened, utf8};
    pub use crate::tile::{Class, class};
}
