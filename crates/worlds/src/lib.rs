//! Worlds: rules only, each as a plain f64 twin and as thousands side by side. A world knows no network,
//! no learner, no clock and no file.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // as clippy.toml lists them
#![forbid(unsafe_code)]

pub mod acrobot;
mod angle;
pub mod backgammon;
pub mod cartpole;
pub mod cube;
pub mod kinds;
pub mod logic;
pub mod lunar_lander;
pub mod many;
pub mod mountain_car;
mod numpy;
pub mod pendulum;
mod rigid;
mod sweeps;
pub mod vector;
pub mod words;
pub mod world;

pub use acrobot::{Acrobot64, Acrobots};
pub use cartpole::{CartPole64, CartPoles};
pub use kinds::{Kind, kind, kinds};
pub use lunar_lander::{LunarLander64, LunarLanders};
pub use many::Many;
pub use mountain_car::{MountainCar64, MountainCarContinuous64, MountainCars, MountainCarsContinuous};
pub use pendulum::{Pendulum64, Pendulums};
pub use vector::{Impossible, Vector};
pub use world::{Action, Actions, Axis, Of, Plane, Spec, Step64, World64, WorldError};
