//! What learners of the cube have in common: who judges states, which a search asks, and what is known of a cube beyond its
//! rules. The network, learners, searches and the judgement over all states lie in the folder beside it.

pub mod dqn;
pub mod evaluate;
pub mod net;
mod saved;
pub mod search;
mod settings;
pub mod supervised;

pub use dqn::{Dqn, DqnConfig, Preset};
pub use evaluate::{Exhaustive, Report};
pub use net::{Evaluator, Inputs, NetConfig, Trainer};
pub use search::{Limits, Method, Outcome, Search};
pub use settings::LearnerError;
pub use supervised::{Signal, Supervised, SupervisedConfig};

use crate::offload::ProbeSlice;
use crate::{Data, Fault, Machine};
use graph::{Executor, PlanError};
use worlds::cube::{Distances, Puzzle, Three, Two};

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

/// What a judge says of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A learner of the cube, whichever way it learns. It goes on from slice to slice; between two iterations its settings may change.
pub trait Learner<P: Puzzle>: Send + Sync {
    /// One step of the optimiser or a part of it, or a batch of episodes on the way to one.
    fn advance(&mut self) -> Slice;
    /// Between two iterations.
    fn at_boundary(&self) -> bool;
    /// Its parts are all there is also within an iteration, unless another machine has the steps.
    fn saves_within(&self) -> bool {
        true
    }
    fn progress(&self) -> Progress;
    /// Whether there is anything worth saving.
    fn is_finite(&self) -> bool;
    /// Those that judge: [`Evaluator::set`] takes them.
    fn weights(&self) -> &[f32];
    /// The judge that it is now.
    fn judge(&self) -> Result<Evaluator<P>, PlanError>;
    /// All that it is made from again, by name: after the newest step, wherever it is in the next.
    fn parts(&self) -> Vec<(String, Vec<usize>, Data)>;
    /// Tells where the time goes by this clock, in seconds from anywhere. It leaves no trace in what is learned.
    fn set_clock(&mut self, clock: fn() -> f64);

    /// What computes the gradients of its steps; of several side by side the first.
    fn executor_mut(&mut self) -> &mut Executor;

    /// Itself, where its steps can be offloaded.
    fn offloading(&mut self) -> Option<&mut dyn Offloading> {
        None
    }
}

/// A learner whose steps another machine can take; begun and ended between two iterations.
pub trait Offloading {
    fn is_offloaded(&self) -> bool;
    fn begin_offload(&mut self, machine: &dyn Machine) -> Result<(), Fault>;
    fn end_offload(&mut self);

    /// Has a machine take steps that are thrown away, an iteration a pass.
    fn begin_probe(&mut self, machine: &dyn Machine) -> Result<(), Fault>;
    /// Goes on with it; after a fault it is over.
    fn advance_probe(&mut self) -> Result<ProbeSlice, Fault>;
    fn end_probe(&mut self);
    /// States of an iteration.
    fn iteration_states(&self) -> u64;
}

/// What a slice of work came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Slice {
    Worked,
    /// There is nothing to do until another machine answers.
    Waiting,
    /// The other machine stopped; from the last boundary on it works here again.
    Stopped(Fault),
    /// An iteration ended.
    Iteration(Stats),
}

/// How far a learner has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub iterations: u64,
    /// Steps of the optimiser.
    pub updates: u64,
    /// States learned from: rows of all those steps.
    pub states: u64,
    /// Moves and episodes of whoever learns by playing.
    pub moves: u64,
    pub episodes: u64,
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
