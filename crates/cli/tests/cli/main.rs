//! Tests of the built `hothouse` binary: its exit status, output and files. `unit` tests functions of the library.

mod backgammon;
mod bench;
#[cfg(unix)]
mod claims;
mod common;
mod config;
mod cube;
mod device;
mod env;
mod export;
mod files;
mod fuzz;
mod kills;
mod logic;
mod moves;
mod shell;
mod solve;
#[cfg(unix)]
mod stops;
mod sweep;
#[cfg(target_os = "linux")]
mod terminal;
mod train_backgammon;
mod unit;
mod verify;
mod watch;
mod words;
