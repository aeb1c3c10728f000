//! The logic room: trains and tests a population of cellular automata that are made of logic gates. The room also shows grids, which a user
//! can damage, and circuits of hardened automata, in which each gate is a single operation.

mod answers;
mod circuits;
mod experiments;
mod grids;
pub mod protocol;
mod room;
mod schema;
mod testing;
mod views;

// Types for programs that run a circuit without training.
pub use learn::logic::circuit::{Circuit, PackedGrid};
pub use learn::logic::fire;
pub use room::Logic;
pub use worlds::logic::{Area, Grid, GridError};
