//! Runs of every room, driven as a shell drives them. What any run has to do is asked of all rooms in `runs.rs` and
//! `bad_input.rs`; a room's own tests stand in the file of its name.

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
