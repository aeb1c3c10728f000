//! The tests of the testkit crate, and of the sources of all crates, in one binary.

mod cycles;
mod fuzz;
mod guarded;
mod worst;
