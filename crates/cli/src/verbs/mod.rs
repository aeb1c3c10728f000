//! Commands that all rooms share.

pub mod bench;
mod config;
pub mod eval;
pub mod export;
pub mod info;
pub mod sweep;
pub mod train;
pub mod verify;
pub mod watch;
