//! Shared test helpers: temporary folders, allocation counts and guards, checkpoint editing, random mutation of inputs, numeric distances,
//! an attribute for native and browser tests, the tier of tests that runs, and skipped tests. This crate depends on no other crate of the
//! workspace; only tests depend on it.
mod allocations;
#[cfg(feature = "checkpoints")]
mod checkpoint;
mod fuzz;
mod guarded;
mod scratch;
mod skip;
mod tier;
mod worst;

pub use allocations::{Counting, Meter, allocations, live_bytes, peak_bytes};
#[cfg(feature = "checkpoints")]
pub use checkpoint::{Apart, apart};
pub use fuzz::{Mutator, cases, fuzz};
pub use guarded::Guarded;
pub use scratch::Scratch;
pub use skip::skip;
pub use tier::all;
pub use worst::{close, distance, worst};

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use crate::guarded::damage;
}

/// Attribute of tests that run natively and in a browser.
#[cfg(not(target_arch = "wasm32"))]
pub use core::prelude::v1::test;
#[cfg(target_arch = "wasm32")]
pub use wasm_bindgen_test::wasm_bindgen_test as test;
