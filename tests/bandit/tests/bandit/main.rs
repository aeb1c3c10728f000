//! Tests of the bandit as a library, and with the feature `terminal` in the program of `src/main.rs`. Without this feature, the tests
//! compile within a minute.

#[cfg(feature = "terminal")]
mod program;
mod room;
