//! Learners for the cubes 2x2x2 and 3x3x3. This file contains the traits, statistics and rules that all cube learners share. The submodules
//! contain the network, the learners, the searches, and the evaluation over all states.

pub mod dqn;
pub mod evaluate;
#[cfg(feature = "export")]
mod export;
mod inside;
mod judge;
pub mod net;
pub mod search;
mod settings;
pub mod supervised;
pub(crate) mod values;

pub use dqn::{Dqn, DqnConfig, Preset};
pub use evaluate::{Exhaustive, Report};
pub use inside::Inside;
pub use judge::{Judge, Scores};
pub use net::{Evaluator, Inputs, NetConfig};
pub use search::{Limits, Method, Outcome, Search};
pub use settings::{LearnerError, Steps};
pub use supervised::{Signal, Supervised, SupervisedConfig};

use crate::progress;
use crate::{Failure, Iteration, Learner, NetworkValues};
use graph::PlanError;
use worlds::cube::{Actions, Distances, Puzzle, Three, Two};

/// A cube that the learners support.
pub trait Cube: Puzzle {
    /// True if a table contains the distance of every state to the solved state.
    const EXACT: bool;

    fn distance(self, _exact: &Distances) -> Option<u8> {
        None
    }

    /// Number of 32-bit words in a saved state.
    const WORDS: usize;

    fn words(self, words: &mut [u32]);

    /// Restores a state from the words that [`Cube::words`] wrote. Returns `None` if the words are not a valid state.
    fn from_words(words: &[u32]) -> Option<Self>;
}

impl Cube for Two {
    const EXACT: bool = true;

    fn distance(self, exact: &Distances) -> Option<u8> {
        Some(exact.of(self))
    }

    const WORDS: usize = 1;

    fn words(self, words: &mut [u32]) {
        words[0] = self.rank();
    }

    fn from_words(words: &[u32]) -> Option<Two> {
        Two::unrank(words[0])
    }
}

impl Cube for Three {
    const EXACT: bool = false;

    const WORDS: usize = 5;

    fn words(self, words: &mut [u32]) {
        for (word, bytes) in words.iter_mut().zip(self.cubies().as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
    }

    fn from_words(words: &[u32]) -> Option<Three> {
        let mut cubies = [0; 20];
        for (bytes, word) in cubies.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        Three::from_cubies(cubies)
    }
}

/// Learner of a cube. [`Evaluator::set`] accepts the learner's weights.
pub trait CubeLearner: Learner<Stats = Stats, Progress = Progress> {
    type Cube: Cube;
    fn actions(&self) -> Actions;
    /// Creates an evaluator of states that uses the current weights.
    fn judge(&self) -> Result<Evaluator<Self::Cube>, PlanError>;
    /// Returns the values of the trained network in these states, for drawings. There is at least one state.
    fn network(&self, states: &[Self::Cube]) -> Result<NetworkValues, PlanError>;
    /// Returns the internal state of the learner, with the `top` transitions of highest priority in the replay buffer. Returns `None` for a
    /// learner that does not play.
    fn inside(&self, _top: usize) -> Result<Option<Inside<Self::Cube>>, PlanError> {
        Ok(None)
    }
    /// Returns the network with the current weights, for other programs.
    #[cfg(feature = "export")]
    fn exported(&self) -> graph::export::Model;
    /// Returns `count` inputs of the exported network, with the results of [`CubeLearner::judge`].
    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<graph::export::Examples, PlanError>;
}

progress! {
    /// Number of states used for learning: rows of all minibatches.
    states,
    /// Number of optimizer steps.
    updates,
    /// Number of moves made in episodes; 0 for a learner that does not play.
    moves,
    /// Number of episodes that ended; 0 for a learner that does not play.
    episodes,
}

/// Statistics of one iteration. `loss`, `grad_norm` and `lr` are means over the iteration's optimizer steps. An offloaded learner reports
/// the `loss` and the `grad_norm` of the last step only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    pub loss: f32,
    pub grad_norm: f32,
    pub lr: f32,
    /// Statistics of play; `None` for a learner that does not play.
    pub play: Option<PlayStats>,
    /// Seconds spent in each part of [`PARTS`]; all 0 without a clock.
    pub parts_s: [f64; PARTS.len()],
    /// Number of states used for learning.
    pub states: u64,
    /// True if the losses, the gradients and the weights are finite.
    pub finite: bool,
}

impl Stats {
    /// Converts sums over `steps` optimizer steps to means. `batch` is the number of states of a step.
    fn over(self, steps: usize, batch: usize) -> Stats {
        let each = steps as f32;
        let Stats { loss, grad_norm, lr, .. } = self;
        Stats { loss: loss / each, grad_norm: grad_norm / each, lr: lr / each, states: (steps * batch) as u64, ..self }
    }

    /// Returns true if the loss and the gradient norm are finite.
    fn is_number(&self) -> bool {
        self.loss.is_finite() && self.grad_norm.is_finite()
    }

    /// Returns the loss, the gradient norm and the learning rate. Before [`Stats::over`] is applied, these values are sums over the steps
    /// so far. A save in the middle of an iteration contains these sums.
    fn sums(&self) -> [f64; 3] {
        [self.loss, self.grad_norm, self.lr].map(f64::from)
    }

    fn of_sums(sums: [f64; 3]) -> Stats {
        let [loss, grad_norm, lr] = sums.map(|sum| sum as f32);
        Stats { loss, grad_norm, lr, ..Stats::default() }
    }
}

impl From<Stats> for Iteration {
    fn from(stats: Stats) -> Iteration {
        let Stats { loss, grad_norm, lr, play, parts_s, states, finite } = stats;
        let mut metrics = vec![("loss", Some(loss)), ("grad_norm", Some(grad_norm)), ("lr", Some(lr))];
        if let Some(PlayStats { epsilon, mean_q, depth, solved }) = play {
            metrics.extend([("epsilon", Some(epsilon)), ("mean_q", Some(mean_q)), ("depth", Some(depth)), ("success", solved)]);
        }
        Iteration {
            metrics: metrics.into_iter().map(|(name, value)| (name, value.map(f64::from))).collect(),
            parts_s: PARTS.into_iter().zip(parts_s).collect(),
            failure: Failure::unless(finite),
            work: Some(states as f64),
        }
    }
}

/// Statistics of play in one iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayStats {
    /// Probability that a move is drawn at random.
    pub epsilon: f32,
    /// Mean Q-value of the actions in the minibatches.
    pub mean_q: f32,
    /// Depth that the curriculum has reached, as a number of scrambling moves.
    pub depth: f32,
    /// Share of the iteration's episodes that solved the cube; `None` if no episode ended.
    pub solved: Option<f32>,
}

/// Parts into which the time of an iteration is divided: drawing labelled states, playing, sampling from the replay buffer, and learning.
pub const PARTS: [&str; 4] = ["samples", "playing", "replay", "learning"];

/// Rule by which a player that looks one move ahead selects an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greedy {
    /// Always takes the best action. The player can therefore alternate between two states forever.
    Plain,
    /// Takes the best action that does not undo the last move.
    Onward,
}

impl Greedy {
    pub const ALL: [Greedy; 2] = [Greedy::Plain, Greedy::Onward];
}

/// Returns the index of the best action. Action i leads to the state `children[i]` and has the value `value(i)`; a low value is good. The
/// best action is the first that solves the cube. If no action solves the cube, it is the first action with the least value. The action
/// `without` is excluded.
pub fn nearest<P: Puzzle>(children: &[P], without: Option<usize>, value: impl Fn(usize) -> f32) -> usize {
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
