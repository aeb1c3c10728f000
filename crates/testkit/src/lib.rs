//! What tests of several crates need: folders of their own, and a count of allocations. It depends on nothing, and only
//! tests depend on it.
mod allocations;
mod scratch;

pub use allocations::{Counting, Meter, allocations, live_bytes};
pub use scratch::Scratch;
