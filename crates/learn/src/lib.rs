//! Learners: one algorithm, one room. A learner knows worlds, graphs and kernels; it knows no user
//! interface, no file and no platform.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // as clippy.toml lists them
#![forbid(unsafe_code)]

pub mod backgammon;
pub mod control;
pub mod cube;
mod fault;
pub mod logic;
pub mod offload;
mod share;
mod state;
pub mod words;

pub use control::ppo;
pub use fault::Fault;
pub use offload::Machine;
pub use ppo::accelerator::{Accelerator, IterationInput, IterationOutput, LearnerSpec, Snapshot};
pub use ppo::{
    Evaluation, IterationStats, Ppo, PpoConfig, PpoError, PpoProgress, RECORDED_ENVS, Slice, Times,
    Trajectory,
};
pub use share::Sharing;
pub use state::{Data, Find, Parts, part};
