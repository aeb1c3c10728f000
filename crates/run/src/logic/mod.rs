//! The logic room: a population of cellular automata made of logic gates is trained and tested. Grids that can be damaged, and
//! circuits of hardened automata, are shown in parallel.

mod asking;
mod circuits;
mod experiments;
mod grids;
pub mod protocol;
mod room;
mod schema;
mod testing;
mod views;

// Re-exports for programs that run a circuit without training.
pub use learn::logic::circuit::{Circuit, PackedGrid};
pub use learn::logic::fire;
pub use room::Logic;
pub use worlds::logic::{Area, Grid, GridError};
