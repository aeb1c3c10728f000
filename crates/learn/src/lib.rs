//! Learners: one algorithm, one room. A learner knows worlds, graphs and kernels; it knows no user
//! interface, no file and no platform.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // as clippy.toml lists them
#![forbid(unsafe_code)]

pub mod away;
pub mod backgammon;
pub mod ppo;

pub use away::{Fault, Machine};
pub use ppo::away::{Accelerator, Blueprint, Harvest, Turn};
pub use ppo::{
    Data, Evaluation, Find, IterationStats, Ppo, PpoConfig, PpoError, PpoProgress, SHOWN, Slice, Times, Trail,
};
