//! Interface of judges, which evaluate states for a search.

use serde::{Deserialize, Serialize};
#[cfg(feature = "typescript")]
use ts_rs::TS;

/// Kind of output of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS), ts(rename = "Gives"))]
#[serde(rename_all = "snake_case")]
pub enum Scores {
    /// One number: estimated moves to solve the state.
    Value,
    /// One number per action: estimated moves to solve the state if the action is taken first; lower is better.
    ActionValues,
    /// One number per action: log-probability that the action is correct.
    Policy,
}

impl Scores {
    /// Numbers per state.
    pub fn count(self, actions: usize) -> usize {
        match self {
            Scores::Value => 1,
            Scores::ActionValues | Scores::Policy => actions,
        }
    }
}

/// A judge of states. The scores of a state do not depend on the other states in a call.
pub trait Judge<P> {
    fn scores(&self) -> Scores;

    /// Writes the scores of each state in order, `[states][numbers]`.
    fn judge(&mut self, states: &[P], scores: &mut [f32]);

    /// Like [`Judge::judge`] without waiting for another device. Returns false while the result is pending; call again with the same
    /// states.
    fn poll(&mut self, states: &[P], scores: &mut [f32]) -> bool {
        self.judge(states, scores);
        true
    }

    /// Number of states to judge per slice. `usual` is the caller's number for a small network on the CPU.
    fn at_once(&self, usual: usize) -> usize {
        usual
    }
}
