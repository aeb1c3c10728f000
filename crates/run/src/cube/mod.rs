//! The cube room: networks learn to solve the 2x2x2 and the 3x3x3. A run contains a learner, its tests, and searches for solutions of
//! states that the user chooses. Tests cover all states of the 2x2x2, or scrambles of the 3x3x3.

mod agent;
mod conversions;
#[cfg(feature = "export")]
mod export;
mod judging;
mod learners;
pub mod protocol;
mod room;
mod schema;
mod solving;

pub use agent::{Agent, AnyLearner};
pub use learn::cube::evaluate::Row;
pub use learn::cube::{Greedy, Report};
pub use room::Cube;
pub use worlds::cube::Metric;

use crate::RunError;
use std::sync::{Arc, OnceLock};
use worlds::cube::{CubeError, Distances, NotationError};

impl From<CubeError> for RunError {
    fn from(error: CubeError) -> RunError {
        RunError::refused(error.what(), error.next_step())
    }
}

impl From<NotationError> for RunError {
    fn from(error: NotationError) -> RunError {
        RunError::refused(error.what(), error.next_step())
    }
}

/// Returns the distances of all states of the 2x2x2 in a metric (the set of the turns that count as one move). All runs share these
/// distances, which are computed once.
fn distances(metric: Metric) -> Arc<Distances> {
    static FOUND: [OnceLock<Arc<Distances>>; 2] = [const { OnceLock::new() }; 2];
    FOUND[metric as usize].get_or_init(|| Arc::new(Distances::new(metric))).clone()
}
