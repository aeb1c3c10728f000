//! Runs of every room, driven through the public API. `runs.rs` and `bad_input.rs` test requirements that all rooms share; each room's
//! own tests are in the file of its name.

mod backgammon;
mod bad_input;
#[path = "../../../../tests/bandit/src/lib.rs"]
mod bandit;
mod common;
mod control;
mod cube;
mod data;
mod device;
mod digests;
mod example;
mod files;
mod fuzz;
mod invariants;
mod logic;
mod monitor;
mod players;
mod property;
mod runs;
mod sessions;
mod settings;
mod sharing;
mod solved;
#[cfg(feature = "typescript")]
mod typescript;
mod words;
