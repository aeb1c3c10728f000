//! What tests of several crates need: folders of their own, a count of allocations, canaries around them, checkpoints taken
//! apart, good inputs changed at random, how far numbers are apart, one attribute for tests of both places, and how a test says
//! that it cannot run. It depends on no other crate of ours, and only tests depend on it.
mod allocations;
#[cfg(feature = "checkpoints")]
mod checkpoint;
mod fuzz;
mod guarded;
mod scratch;
mod skip;
mod worst;

pub use allocations::{Counting, Meter, allocations, live_bytes, peak_bytes};
#[cfg(feature = "checkpoints")]
pub use checkpoint::{Apart, apart};
pub use fuzz::{Mutator, cases, fuzz};
pub use guarded::Guarded;
pub use scratch::Scratch;
pub use skip::skip;
pub use worst::{close, distance, worst};

/// The attribute of a test that runs in a browser as it does natively.
#[cfg(not(target_arch = "wasm32"))]
pub use core::prelude::v1::test;
#[cfg(target_arch = "wasm32")]
pub use wasm_bindgen_test::wasm_bindgen_test as test;
