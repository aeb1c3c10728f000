//! Iterations that another machine takes over, a GPU for one: what goes in, and what comes out.
//!
//! Everything comes back: weights, moments, environments, sums. So at every boundary the learner is whole: it can evaluate, save and
//! go on here from the same place, and a machine that is lost takes nothing with it but the iteration it was at.

use super::config::PpoConfig;
use super::nets::Head;
pub use super::stats::LossSums;
use crate::offload::Request;
use crate::{Data, Fault};
use graph::{Adam, Params, Plan};
use math::Rng;
pub use math::Shuffle;
use math::par::{Movable, Pinned};
use std::sync::Arc;
use worlds::control::Kind;

/// What a learner does, for whoever does the same.
#[derive(Clone)]
pub struct LearnerSpec {
    pub kind: &'static Kind,
    pub config: PpoConfig,
    pub seed: u32,
    pub head: Head,
    /// Policy and critic of all environments, row by row.
    pub acting: Arc<Plan>,
    /// Loss, metrics and gradients of a whole minibatch.
    pub learning: Arc<Plan>,
    /// Samples of a minibatch: what minibatches do not share evenly is left out.
    pub minibatch: usize,
    /// The key of the random words that actions are drawn with. Environment e takes, of the block whose counter is
    /// (32·⌊e/128⌋ + e mod 32, step, step's upper half, 0), word ⌊e/32⌋ mod 4, and for numbers words 2i and 2i + 1
    /// make the two of a pair; steps are counted from the beginning of the run.
    pub draws: [u32; 4],
    /// What [`Shuffle::new`] makes an epoch's order from.
    pub shuffles: Rng,
}

/// A learner at a boundary, for a machine that goes on from there.
#[derive(Clone)]
pub struct Snapshot {
    pub spec: LearnerSpec,
    pub params: Params,
    /// What it would save.
    pub state: Vec<(String, Vec<usize>, Data)>,
}

impl Request for Snapshot {
    type Worker = dyn Accelerator;
    const WHAT: &'static str = "PPO";
}

/// One learner at work elsewhere.
pub trait Accelerator: Movable {
    /// Begins an iteration from where the last one ended.
    fn begin(&mut self, input: &IterationInput) -> Result<(), Fault>;
    /// Whether it is done; then what came of it stands in `output`. It may wait for a moment, where one can.
    fn poll(&mut self, output: &mut IterationOutput) -> Result<bool, Fault>;
}

impl Accelerator for Pinned<Box<dyn Accelerator>> {
    fn begin(&mut self, input: &IterationInput) -> Result<(), Fault> {
        self.with_mut(|accelerator| accelerator.begin(input))
    }

    fn poll(&mut self, output: &mut IterationOutput) -> Result<bool, Fault> {
        self.with_mut(|accelerator| accelerator.poll(output))
    }
}

/// What an iteration begins with.
#[derive(Clone, Debug)]
pub struct IterationInput<'a> {
    pub config: &'a PpoConfig,
    pub iteration: u64,
    /// With the learning rate in force.
    pub adam: Adam,
    /// Steps that Adam has taken.
    pub adam_steps: u64,
    /// How observations are normalised: less `mean`, times `scale`, clipped at ±[`super::NORMALIZED_LIMIT`]; empty where they are
    /// not.
    pub normalizer_mean: &'a [f32],
    pub normalizer_scale: &'a [f32],
    /// Of the discounted sums of rewards before this iteration: how many, their mean and their variance.
    pub return_moments: [f64; 3],
    /// Record the first environments.
    pub record: bool,
}

/// What comes of an iteration. Vectors keep their memory from one to the next.
#[derive(Clone, Debug, Default)]
pub struct IterationOutput {
    /// Laid out as `Params::values`.
    pub params: Vec<f32>,
    pub adam_m: Vec<f32>,
    pub adam_v: Vec<f32>,
    /// Over the minibatches that were learned from.
    pub sums: LossSums,
    pub explained_variance: f32,
    /// `[envs][state_len]`, as `worlds::control::Vector::environment` gives them.
    pub states: Vec<f32>,
    pub steps: Vec<u32>,
    pub episodes: Vec<u32>,
    /// Return so far of each environment's episode, and its discounted sum of rewards (empty where rewards are not
    /// normalised).
    pub episode_returns: Vec<f32>,
    pub discounted_returns: Vec<f32>,
    /// Episodes that ended, and of the newest of them, at most 100, return and length, oldest first.
    pub episodes_ended: u64,
    pub finished: Vec<(f32, u32)>,
    /// Sums over the samples of each feature of the observations less the normaliser's mean, and of its square.
    pub observation_sums: Vec<[f64; 2]>,
    /// Of the discounted sums of rewards, and of their squares.
    pub return_sums: [f64; 2],
    /// The first steps of the first environments, at most [`super::RECORDED_STEPS`] of [`super::RECORDED_ENVS`], as
    /// [`super::Recorded::read`] gives them; empty unless they were asked for.
    pub recorded_observations: Vec<f32>,
    pub recorded_ended: Vec<u8>,
}
