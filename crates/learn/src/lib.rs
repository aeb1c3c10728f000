//! Learners: one algorithm, one room. A learner knows worlds, graphs and kernels; it knows no user
//! interface, no file and no platform.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // as clippy.toml lists them
#![forbid(unsafe_code)]

pub mod backgammon;
pub mod control;
pub mod cube;
mod fault;
mod learner;
pub mod logic;
pub mod offload;
mod policy;
pub mod settings;
mod share;
mod slice;
mod state;
pub mod words;

pub use fault::Fault;
pub use learner::{ByName, Iteration, Learner, Progress, WorkedOn};
pub use offload::{Machine, Offload, Pass};
pub use policy::Policy;
pub use share::Sharing;
pub use slice::Slice;
pub use state::{Data, Find, Parts, SavedError, part};
