//! The words room's own verbs in the terminal.

pub mod export;
pub mod generate;
pub mod versus;
