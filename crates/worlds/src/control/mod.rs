//! Control environments. The built-in environments are those of Gymnasium and have the same ids. Users can write other environments (see
//! `script`).

pub mod acrobot;
mod angle;
pub mod cartpole;
mod fault;
mod kind;
mod kinds;
pub mod lunar_lander;
pub mod many;
pub mod mountain_car;
pub(crate) mod numpy;
pub mod pendulum;
pub(crate) mod rigid;
pub mod script;
mod shape;
pub(crate) mod sweeps;
pub mod vector;
pub mod world;

pub use cartpole::{CartPole64, CartPoles};
pub use fault::{FailedState, WorldFault};
pub use kind::{Explain, Kernels, Kind, Make, MakeOne};
pub use kinds::{add, ids, kind, kinds};
pub use lunar_lander::{LunarLander64, LunarLanders};
pub use many::Many;
pub use shape::{COLOURS, Shape};
pub use vector::{InvalidState, Vector};
pub use world::{Action, Actions, Moment, Single, Spec, Step64, Text, Twin, World64, WorldError};
