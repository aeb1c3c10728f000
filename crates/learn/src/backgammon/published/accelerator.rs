//! Interface for offloading work of the published learner to another device: leaf evaluations, optimizer steps, or both.
//!
//! Trees, games, samples and the weights of every completed round stay with the learner. If the device fails, nothing is lost: its pending
//! leaves are evaluated on the CPU, and the steps of the round are repeated.

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

/// Parts of a learner's work that are offloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub leaves: bool,
    pub learning: bool,
}

impl Work {
    pub const ALL: Work = Work { leaves: true, learning: true };
    pub const LEARNING: Work = Work { leaves: false, learning: true };
}

/// Number of lanes, which are groups of actors. The leaves of one lane are evaluated while the trees of the other grow.
pub const LANES: usize = 2;

/// Sizes that a device must support.
#[derive(Clone, Debug)]
pub struct OffloadSpec {
    pub work: Work,
    /// Instruction set of the CPU plans.
    pub isa: Isa,
    pub shape: Shape,
    /// Maximum number of decisions of one lane.
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

/// Number of words of a packed sample. It begins with a sample (decision, final outcome for the player to decide, visit shares). Then it
/// has a bit for each action, which is set if the action is legal.
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

/// Network outputs for a lane's decisions, row by row.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Hidden layer of the policy, `[rows][width]`.
    pub hidden: Vec<f32>,
    /// The five probabilities, `[rows][HEADS]`: see [`super::HEADS`].
    pub heads: Vec<f32>,
}

/// Training state after a round's steps.
#[derive(Clone, Debug, Default)]
pub struct TrainResult {
    pub weights: Vec<f32>,
    pub m: Vec<f32>,
    pub v: Vec<f32>,
    /// Total number of Adam steps. A step with a gradient that is not finite does not count.
    pub steps: u64,
    /// Sums over the steps since the previous result: policy loss, value loss, gradient norm before clipping.
    pub sums: [f64; 3],
}

/// A device for offloaded work. Only methods of the offloaded [`Work`] are called.
pub trait Accelerator: Movable {
    /// Sets the weights for later evaluations.
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault>;

    /// Starts evaluating a lane's decisions.
    fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault>;

    /// Writes the lane's results into `answer` and returns true if they are ready. May block briefly.
    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault>;

    /// Sets the weights and moments for later steps.
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault>;

    /// Stores samples from index `first` on. The caller stays within [`OffloadSpec::replay`].
    fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault>;

    /// Starts one step on the minibatch of stored samples with the indices `drawn`.
    fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault>;

    /// Requests the training state after all steps started so far.
    fn request_result(&mut self) -> Result<(), Fault>;

    /// Writes the requested state into `learned` and returns true if it is ready.
    fn poll_result(&mut self, learned: &mut TrainResult) -> Result<bool, Fault>;
}
