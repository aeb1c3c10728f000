//! Runs programs over blocks of environments. An instruction runs over all lanes of a block before the next instruction begins. The results
//! have the same bits on every instruction set.

mod faults;
pub mod fleet;
mod kind;
mod rows;
mod run;
mod single;
mod state;
mod steps;
mod world;

pub use fleet::Fleet;
pub use world::World;
