//! What learners of the cube have in common: who judges states, which a search asks, and what is known of a cube beyond its
//! rules. The network, learners, searches and the judgement over all states lie in the folder beside it.

pub mod evaluate;
pub mod net;
pub mod search;
pub mod supervised;

pub use evaluate::{Exhaustive, Report};
pub use net::{Evaluator, Inputs, NetConfig, Trainer};
pub use search::{Limits, Method, Outcome, Search};
pub use supervised::{Signal, Supervised, SupervisedConfig, SupervisedError};

use worlds::cube::{Distances, Puzzle, Three, Two};

/// A cube that can be learned.
pub trait Cube: Puzzle {
    /// Whether the distance of every state is known.
    const EXACT: bool;

    fn distance(self, _exact: &Distances) -> Option<u8> {
        None
    }
}

impl Cube for Two {
    const EXACT: bool = true;

    fn distance(self, exact: &Distances) -> Option<u8> {
        Some(exact.of(self))
    }
}

impl Cube for Three {
    const EXACT: bool = false;
}

/// What a judge says of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// One number: how many moves it takes to solve it.
    Value,
    /// One an action: the logarithm of the probability that it is the right one.
    Policy,
}

impl Scores {
    /// Numbers of a state.
    pub fn count(self, actions: usize) -> usize {
        match self {
            Scores::Value => 1,
            Scores::Policy => actions,
        }
    }
}

/// Who says how far states are from solved. The same state gets the same scores, in any company.
pub trait Judge<P> {
    fn scores(&self) -> Scores;

    /// Of each state in order, `[states][numbers]`.
    fn judge(&mut self, states: &[P], scores: &mut [f32]);
}

/// How somebody acts who looks one move ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greedy {
    /// Always the best action, so that where two states prefer each other it stays between them.
    Plain,
    /// The best that does not take the last move back.
    Onward,
}

impl Greedy {
    pub const ALL: [Greedy; 2] = [Greedy::Plain, Greedy::Onward];
}

/// The action to take where one judges what each leads to: to the solved state where one does, else to the least value; of
/// equals the first. One action may be ruled out.
fn nearest<P: Puzzle>(children: &[P], without: Option<usize>, value: impl Fn(usize) -> f32) -> usize {
    let mut best = (usize::from(without == Some(0)), f32::INFINITY);
    for (action, child) in children.iter().enumerate().filter(|(action, _)| Some(*action) != without) {
        if *child == P::SOLVED {
            return action;
        }
        let value = value(action);
        if value < best.1 {
            best = (action, value);
        }
    }
    best.0
}
