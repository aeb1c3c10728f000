//! Who judges states, which a search asks.

use serde::{Deserialize, Serialize};
#[cfg(feature = "typescript")]
use ts_rs::TS;

/// What a network gives of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS), ts(rename = "Gives"))]
#[serde(rename_all = "snake_case")]
pub enum Scores {
    /// One number: how many moves it takes to solve it.
    Value,
    /// One an action: how many moves it takes by way of it; less is better.
    ActionValues,
    /// One an action: the logarithm of the probability that it is the right one.
    Policy,
}

impl Scores {
    /// Numbers of a state.
    pub fn count(self, actions: usize) -> usize {
        match self {
            Scores::Value => 1,
            Scores::ActionValues | Scores::Policy => actions,
        }
    }
}

/// Who says how far states are from solved. The same state gets the same scores, in any company.
pub trait Judge<P> {
    fn scores(&self) -> Scores;

    /// Of each state in order, `[states][numbers]`.
    fn judge(&mut self, states: &[P], scores: &mut [f32]);

    /// The same without waiting for another machine: false until its answer is here, and to be asked again for these states.
    fn poll(&mut self, states: &[P], scores: &mut [f32]) -> bool {
        self.judge(states, scores);
        true
    }

    /// States of a slice, which are `usual` for a small network on the processor.
    fn at_once(&self, usual: usize) -> usize {
        usual
    }
}
