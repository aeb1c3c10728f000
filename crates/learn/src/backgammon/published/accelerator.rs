//! What the published learner offloads to another machine: leaves of its searches, steps of its optimiser, or both.
//!
//! Trees, games, samples and the weights of every finished round stay here. So a machine that is lost takes nothing along: leaves
//! it did not answer are evaluated here, and the steps of the round begin anew.

pub use super::replay::{DECISION_WORDS, decision_words};
pub use crate::offload::TrainStateRef;

use super::net::{ACTIONS, Shape};
use super::replay::{self, Sample};
use super::tree;
use crate::Fault;
use crate::offload::Request;
use graph::Adam;
use math::Isa;
use math::par::Movable;
use worlds::backgammon::Results;

/// What of a learner's work is offloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub leaves: bool,
    pub learning: bool,
}

impl Work {
    pub const ALL: Work = Work { leaves: true, learning: true };
    pub const LEARNING: Work = Work { leaves: false, learning: true };
}

/// Tables are two groups, so that one group's leaves are evaluated while the other's trees grow.
pub const LANES: usize = 2;

/// What a machine has to be ready for.
#[derive(Clone, Debug)]
pub struct OffloadSpec {
    pub work: Work,
    /// For plans.
    pub isa: Isa,
    pub shape: Shape,
    /// Decisions of one lane at most.
    pub lane_rows: usize,
    /// Samples of one step, and places for samples.
    pub minibatch: usize,
    pub replay: usize,
}

impl Request for OffloadSpec {
    type Worker = dyn Accelerator;
    const WHAT: &'static str = "the published learner of backgammon";
}

/// Words of a packed sample: those of a sample (a decision, how the game ended for who decided, shares of visits), then a bit for each
/// action that is legal.
pub const PACKED_SAMPLE_WORDS: usize = replay::WORDS + ACTIONS.div_ceil(32);
pub type PackedSample = [u32; PACKED_SAMPLE_WORDS];

pub fn packed_sample(sample: &Sample, scratch: &mut Results) -> PackedSample {
    let mut packed_sample = [0; PACKED_SAMPLE_WORDS];
    packed_sample[..replay::WORDS].copy_from_slice(sample);
    if let Some(decision) = replay::read_decision(sample) {
        for action in tree::legal(&decision, scratch) {
            packed_sample[replay::WORDS + usize::from(action) / 32] |= 1 << (action % 32);
        }
    }
    packed_sample
}

/// What came of a lane's decisions, row by row.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The policy's hidden layer, [rows][width].
    pub hidden: Vec<f32>,
    /// The five chances, [rows][[`super::HEADS`]].
    pub heads: Vec<f32>,
}

/// What came of a round's steps.
#[derive(Clone, Debug, Default)]
pub struct TrainResult {
    pub weights: Vec<f32>,
    pub m: Vec<f32>,
    pub v: Vec<f32>,
    /// Steps that Adam has taken in all: one whose gradient was no number does not count.
    pub steps: u64,
    /// Sums over the steps since the last time: policy loss, value loss, length of the gradient before it was clipped.
    pub sums: [f64; 3],
}

/// Another machine at this work. What it was not offloaded it is not asked for.
pub trait Accelerator: Movable {
    /// From here on decisions are evaluated with these weights.
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault>;

    /// Begins to evaluate a lane's decisions.
    fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault>;

    /// Whether the lane's answer is here; then it stands in `answer`. It may wait for a moment, where one can.
    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault>;

    /// Goes on learning from here.
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault>;

    /// Puts samples into the places from this one on; they fit.
    fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault>;

    /// Begins one step on the samples in these places, as many as a minibatch has.
    fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault>;

    /// Asks for what came of the steps so far.
    fn request_result(&mut self) -> Result<(), Fault>;

    /// Whether it is here; then it stands in `learned`.
    fn poll_result(&mut self, learned: &mut TrainResult) -> Result<bool, Fault>;
}
