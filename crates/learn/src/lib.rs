//! Learners, one for each training algorithm. This crate uses the crates `worlds`, `graph` and `math`. The crate does not depend on a user
//! interface, a file system or a platform.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // listed in clippy.toml
#![forbid(unsafe_code)]

pub mod backgammon;
pub mod control;
pub mod cube;
mod decimal;
mod fault;
mod learner;
pub mod logic;
mod network;
pub mod offload;
mod policy;
pub mod settings;
mod share;
mod slice;
mod state;
pub mod words;

pub use decimal::decimal;
pub use fault::Fault;
pub use learner::{ByName, Failure, Iteration, Learner, Progress, WorkedOn};
pub use network::{InputValue, LayerValues, NetworkValues};
pub use offload::{Machine, Offload, Pass};
pub use policy::Policy;
pub use share::Sharing;
pub use slice::Slice;
pub use state::{Data, Find, Parts, SavedError, Tensor, part};
