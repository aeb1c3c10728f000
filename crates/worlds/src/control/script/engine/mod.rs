//! Runs programs over blocks of environments, one instruction after the other over all lanes. Every instruction set gives the same bits.

mod faults;
pub mod fleet;
mod rows;
mod run;
mod state;
mod steps;
mod world;

pub use fleet::Fleet;
pub use world::{Shape, World};
