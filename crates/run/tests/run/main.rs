//! Tests of runs of every room, and of parts of the crate such as links and formats. `runs.rs` and `bad_input.rs` test requirements that
//! all rooms share. A file with the name of a room tests only that room.

mod backgammon;
mod bad_input;
#[path = "../../../../tests/bandit/src/lib.rs"]
mod bandit;
mod common;
mod control;
mod cube;
mod data;
mod device;
mod digest;
mod digests;
mod example;
#[cfg(feature = "export")]
mod export;
mod files;
mod format;
mod fuzz;
mod history;
mod invariants;
mod limits;
mod logic;
mod monitor;
mod own;
mod permalink;
mod players;
mod property;
mod runs;
mod sessions;
mod settings;
mod sharing;
mod solved;
mod standing;
mod sweeps;
#[cfg(feature = "typescript")]
mod typescript;
mod views;
mod words;
