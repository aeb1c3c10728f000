//! Learners: one algorithm, one room. A learner knows worlds, graphs and kernels; it knows no user
//! interface, no file and no platform.

pub mod backgammon;
pub mod ppo;

pub use ppo::away::{Accelerator, Blueprint, Fault, Harvest, Machine, Turn};
pub use ppo::{
    Data, Evaluation, Find, IterationStats, Ppo, PpoConfig, PpoError, PpoProgress, SHOWN, Slice, Times, Trail,
};
