//! Backgammon's own verbs in the terminal.

pub mod eval;
mod gnubg;
pub mod moves;
pub mod play;
mod screen;
mod table;
