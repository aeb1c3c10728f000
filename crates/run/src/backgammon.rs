//! The room where backgammon is learned and played: what passes between it and its shells, and the rules for other
//! programs. The parts lie in the folder beside this file.

pub mod protocol;
mod referee;

pub use referee::{LineError, Referee};
