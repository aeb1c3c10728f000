//! Interface for offloading work of the published learner to another device: leaf evaluations, optimizer steps, or both.
//!
//! Trees, games, samples and the weights of every completed round remain with the learner. If the device fails, no result is lost: the CPU
//! evaluates the device's pending leaves and repeats the optimizer steps of the round.

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

/// Selects the work that is offloaded: the evaluation of leaves, the optimizer steps, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub leaves: bool,
    pub learning: bool,
}

impl Work {
    pub const ALL: Work = Work { leaves: true, learning: true };
    pub const LEARNING: Work = Work { leaves: false, learning: true };
}

/// Number of lanes. A lane is a group of actors. The device evaluates the leaves of one lane while the CPU grows the trees of the other
/// lane.
pub const LANES: usize = 2;

/// Kind and size of the work that a device must support.
#[derive(Clone, Debug)]
pub struct OffloadSpec {
    pub work: Work,
    /// Instruction set for which the CPU plans are made.
    pub isa: Isa,
    pub shape: Shape,
    /// Maximum number of decisions in a batch of one lane.
    pub lane_rows: usize,
    /// Number of samples per step.
    pub minibatch: usize,
    /// Maximum number of stored samples.
    pub replay: usize,
}

impl Request for OffloadSpec {
    type Worker = dyn Accelerator;
    const WHAT: &'static str = "the published learner of backgammon";
}

/// Number of words of a packed sample: the words of a `replay::Sample`, followed by one bit for each action. The bit is set if the action
/// is legal.
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

/// Network outputs for the decisions of a lane.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Last hidden layer of the policy, `[rows][width]`.
    pub hidden: Vec<f32>,
    /// The five value outputs as probabilities, `[rows][HEADS]`; see [`super::HEADS`].
    pub heads: Vec<f32>,
}

/// Training state after the optimizer steps of a round.
#[derive(Clone, Debug, Default)]
pub struct TrainResult {
    pub weights: Vec<f32>,
    pub m: Vec<f32>,
    pub v: Vec<f32>,
    /// Total number of Adam steps. A step whose gradient is not finite does not count.
    pub steps: u64,
    /// Sums over the steps since the previous result: policy loss, value loss, gradient norm before clipping.
    pub sums: [f64; 3],
}

/// A device for offloaded work. The learner calls only the methods that the offloaded [`Work`] requires.
pub trait Accelerator: Movable {
    /// Sets the weights for later evaluations.
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault>;

    /// Starts evaluating a lane's decisions.
    fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault>;

    /// Writes the results of the lane to `answer` and returns true, if the results are ready. The call may block briefly.
    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault>;

    /// Sets the weights and the optimizer moments for later steps.
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault>;

    /// Stores samples at consecutive indices that begin with `first`. All indices must be below [`OffloadSpec::replay`].
    fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault>;

    /// Starts one optimizer step, or queues it for a later start. `drawn` has the indices of the minibatch's samples among the stored
    /// samples.
    fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault>;

    /// Requests the training state after all steps so far, including queued steps.
    fn request_result(&mut self) -> Result<(), Fault>;

    /// Writes the requested state to `learned` and returns true, if the state is ready.
    fn poll_result(&mut self, learned: &mut TrainResult) -> Result<bool, Fault>;
}
