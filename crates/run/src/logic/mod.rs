//! The room where cellular automata of logic gates are learned: a population of them, their tests, and beside it grids that can be
//! damaged and the circuits that automata harden to.

mod asking;
mod circuits;
mod experiments;
mod grids;
pub mod protocol;
mod room;
mod schema;
mod testing;
mod views;

// For programs that run a circuit without an automaton that learns.
pub use learn::logic::circuit::{Circuit, PackedGrid};
pub use learn::logic::fire;
pub use room::Logic;
pub use worlds::logic::{Area, Grid, GridError};
