//! Interface of judges, which evaluate states for searches.

use serde::{Deserialize, Serialize};
#[cfg(feature = "typescript")]
use ts_rs::TS;

/// Kind of scores that a network outputs for a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS), ts(rename = "Gives"))]
#[serde(rename_all = "snake_case")]
pub enum Scores {
    /// One number: the estimated number of moves from the state to the solved cube.
    Value,
    /// One number per action: the estimated number of moves that solve the state if this action is first. Lower is better.
    ActionValues,
    /// One number per action: the log-probability that the action begins a solution.
    Policy,
}

impl Scores {
    /// Returns the number of scores per state.
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

    /// Writes the scores of each state to `scores`, `[states][count]`. The count is that of [`Scores::count`].
    fn judge(&mut self, states: &[P], scores: &mut [f32]);

    /// Judges the states as [`Judge::judge`] does, but does not wait for another device. Returns false while the result is pending; the
    /// caller must call again with the same states.
    fn poll(&mut self, states: &[P], scores: &mut [f32]) -> bool {
        self.judge(states, scores);
        true
    }

    /// Returns the number of states that a caller should judge per slice. `usual` is the number for a small network on the CPU.
    fn at_once(&self, usual: usize) -> usize {
        usual
    }
}
