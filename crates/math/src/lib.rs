//! CPU kernels: packed GEMM with fused epilogues, elementwise functions and reductions, a counter-based random generator, and the thread
//! pool. This crate contains all code for instruction sets. It also contains all `unsafe` code (loads, stores, intrinsics, and requests for
//! large pages and AMX tiles), except the allocators of tests and the macros of PyO3. The crate contains no models, clocks or files.
//!
//! A kernel takes an [`Isa`] (an instruction set) and gives the same bits on all sets of one class (see [`isa`]). A slice that is too short
//! for the given shape is an error of the caller and causes a panic. Shapes are row-major: `[R][C]` has R rows and C columns. Weights are
//! `[out][inp]` (output features, input features), as in PyTorch's `Linear`. A batch of features is either `[rows][features]` (training) or
//! panels, `[rows/PANEL][features][PANEL]` (inference and rollouts). The last panel is padded. In formulas, x (+)= y means x += y if
//! `accumulate` is true, and x = y otherwise.
#![allow(unsafe_code)]
#![allow(clippy::too_many_arguments)] // a kernel's shapes are its arguments
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // listed in clippy.toml

mod buffer;
pub mod gemm;
pub mod graded;
pub mod isa;
pub mod logic;
pub mod memory;
pub mod ops;
pub mod packed;
mod panel;
pub mod par;
pub mod peak;
pub mod poly;
pub mod reference;
pub mod rivals;
pub mod rng;
pub mod rounds;
pub mod shuffle;

pub use buffer::{Buffer, LINE};
pub use gemm::{Act, Epilogue, Norm};
pub use isa::{Isa, Kernel, Simd, Unfused, dispatch};
pub use ops::{AdamStep, Binary, Span, Unary};
pub use panel::{PANEL, panels_len};
pub use rng::Rng;
pub use shuffle::Shuffle;
