//! The verbs that every room has.

pub mod bench;
mod config;
pub mod eval;
pub mod info;
pub mod sweep;
pub mod train;
pub mod watch;
