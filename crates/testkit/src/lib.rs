//! What tests of several crates need: folders of their own, a count of allocations, checkpoints taken apart, and good inputs changed
//! at random. It depends on
//! no other crate of ours, and only tests depend on it.
mod allocations;
mod checkpoint;
mod fuzz;
mod scratch;

pub use allocations::{Counting, Meter, allocations, live_bytes, peak_bytes};
pub use checkpoint::{Apart, apart};
pub use fuzz::{Mutator, cases, fuzz};
pub use scratch::Scratch;
