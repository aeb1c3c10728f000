//! What tests of several crates need: folders of their own, a count of allocations, and checkpoints taken apart. It depends on
//! no other crate of ours, and only tests depend on it.
mod allocations;
mod checkpoint;
mod scratch;

pub use allocations::{Counting, Meter, allocations, live_bytes};
pub use checkpoint::{Apart, apart};
pub use scratch::Scratch;
