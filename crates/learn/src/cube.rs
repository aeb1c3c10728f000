//! What learners of the cube have in common, and what is known of a cube beyond its rules. The network, learners, searches and the
//! judgement over all states lie in the folder beside it.

pub mod dqn;
pub mod evaluate;
mod inside;
mod judge;
pub mod net;
pub mod search;
mod settings;
pub mod supervised;

pub use dqn::{Dqn, DqnConfig, Preset};
pub use evaluate::{Exhaustive, Report};
pub use inside::Inside;
pub use judge::{Judge, Scores};
pub use net::{Evaluator, Inputs, NetConfig};
pub use search::{Limits, Method, Outcome, Search};
pub use settings::{LearnerError, Steps};
pub use supervised::{Signal, Supervised, SupervisedConfig};

use crate::progress;
use crate::{Iteration, Learner};
use graph::PlanError;
use worlds::cube::{Actions, Distances, Puzzle, Three, Two};

/// A cube that can be learned.
pub trait Cube: Puzzle {
    /// Whether the distance of every state is known.
    const EXACT: bool;

    fn distance(self, _exact: &Distances) -> Option<u8> {
        None
    }

    /// Words of a state where it is saved.
    const WORDS: usize;

    fn words(self, words: &mut [u32]);

    /// `None` where they are no state.
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

/// A learner of a cube, whichever way it learns: its weights are those that judge, which [`Evaluator::set`] takes.
pub trait CubeLearner: Learner<Stats = Stats, Progress = Progress> {
    type Cube: Cube;
    fn actions(&self) -> Actions;
    /// The judge that it is now.
    fn judge(&self) -> Result<Evaluator<Self::Cube>, PlanError>;
    /// Curriculum and replay of one that plays, with so many transitions of the greatest priority.
    fn inside(&self, _top: usize) -> Result<Option<Inside<Self::Cube>>, PlanError> {
        Ok(None)
    }
}

progress! {
    /// States learned from: rows of all minibatches.
    states,
    /// Steps of the optimiser.
    updates,
    /// Moves and episodes of whoever learns by playing.
    moves,
    episodes,
}

/// One iteration in numbers, means over its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    pub loss: f32,
    pub grad_norm: f32,
    pub lr: f32,
    /// Of whoever learns by playing.
    pub play: Option<PlayStats>,
    /// Seconds by the clock that was set: [`PARTS`].
    pub parts_s: [f64; PARTS.len()],
    /// States learned from.
    pub states: u64,
    /// Losses, gradients and weights are numbers.
    pub finite: bool,
}

impl Stats {
    /// What was summed over so many steps of so many states, as means.
    fn over(self, steps: usize, batch: usize) -> Stats {
        let each = steps as f32;
        let Stats { loss, grad_norm, lr, .. } = self;
        Stats { loss: loss / each, grad_norm: grad_norm / each, lr: lr / each, states: (steps * batch) as u64, ..self }
    }

    /// Whether loss and length of the gradient are numbers.
    fn is_number(&self) -> bool {
        self.loss.is_finite() && self.grad_norm.is_finite()
    }

    /// Sums as they are saved within an iteration.
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
            finite,
            work: Some(states as f64),
        }
    }
}

/// How episodes went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayStats {
    /// Share of actions that are drawn at random.
    pub epsilon: f32,
    /// What the network says of the actions that were learned from.
    pub mean_q: f32,
    /// Moves of a scramble that the curriculum has come to.
    pub depth: f32,
    /// Share of the iteration's episodes that solved the cube; nothing where none ended.
    pub solved: Option<f32>,
}

/// Where the time of an iteration goes: drawing labelled states, playing, sampling from the replay, learning.
pub const PARTS: [&str; 4] = ["samples", "playing", "replay", "learning"];

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
