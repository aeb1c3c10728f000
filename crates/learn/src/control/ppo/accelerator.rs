//! Input and output of iterations that another machine, such as a GPU, computes.
//!
//! The output contains the complete state: weights, Adam's moments, environments, and sums for the normalisers. Therefore, the learner can
//! evaluate, save and continue on the CPU at every boundary. If the machine fails, only the iteration in progress is lost.

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
use worlds::control::{Kind, WorldFault};

/// Specification of a learner. It contains everything that a machine needs to compute the learner's iterations.
#[derive(Clone)]
pub struct LearnerSpec {
    pub kind: Kind,
    pub config: PpoConfig,
    pub seed: u32,
    pub head: Head,
    /// Plan of policy and critic for all environments, in row layout.
    pub acting: Arc<Plan>,
    /// Plan of loss, metrics and gradients for a whole minibatch.
    pub learning: Arc<Plan>,
    /// Number of samples in a minibatch. If the number of samples in an iteration is not a multiple of the number of minibatches, the
    /// remaining samples are not used.
    pub minibatch: usize,
    /// Key of the random words for action sampling. Four environments share a block of four words. The block of environment e has the
    /// counter (32·⌊e/128⌋ + e mod 32, lower half of step, upper half of step, index of a number in the action). Steps count from the start
    /// of the run.
    ///
    /// The place of the environment in the block is w = ⌊e/32⌋ mod 4. A discrete action uses word w. Each number of a continuous action
    /// uses the normal number of place w. Words 0 and 1 give the normal numbers of places 0 and 1; words 2 and 3 give those of places 2 and
    /// 3.
    pub draws: [u32; 4],
    /// Random stream for [`Shuffle::new`], which orders the samples of an epoch.
    pub shuffles: Rng,
}

/// State of a learner at a boundary, from which a machine can continue the training.
#[derive(Clone)]
pub struct Snapshot {
    pub spec: LearnerSpec,
    pub params: Params,
    /// Contents of a checkpoint: name, shape and data of each array.
    pub state: Vec<(String, Vec<usize>, Data)>,
}

impl Request for Snapshot {
    type Worker = dyn Accelerator;
    const WHAT: &'static str = "PPO";
}

/// Worker that runs the iterations of one learner on another machine.
pub trait Accelerator: Movable {
    /// Starts an iteration from the state at the end of the previous iteration.
    fn begin(&mut self, input: &IterationInput) -> Result<(), Fault>;
    /// Polls the iteration. Returns true if it is done; `output` then contains its result. The call may block for a moment on platforms
    /// that allow blocking.
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

/// Input of an iteration.
#[derive(Clone, Debug)]
pub struct IterationInput<'a> {
    pub config: &'a PpoConfig,
    pub iteration: u64,
    /// Adam's settings, with the current learning rate.
    pub adam: Adam,
    /// Number of Adam steps before this iteration.
    pub adam_steps: u64,
    /// Mean of each observation feature. Normalisation subtracts the mean, multiplies by `normalizer_scale` and clips at
    /// ±[`super::NORMALIZED_LIMIT`]. Empty if observations are not normalised.
    pub normalizer_mean: &'a [f32],
    /// Factor of each observation feature, applied after `normalizer_mean` is subtracted. Empty if observations are not normalised.
    pub normalizer_scale: &'a [f32],
    /// Count, mean and variance of the discounted reward sums of all steps before this iteration. Each step of each environment contributes
    /// one sum.
    pub return_moments: [f64; 3],
    /// True if the output must contain recorded steps: `recorded_observations` and `recorded_ended`.
    pub record: bool,
}

/// Output of an iteration. Vectors are reused between iterations.
#[derive(Clone, Debug, Default)]
pub struct IterationOutput {
    /// Weights in the layout of `Params::values`. Adam's moments have the same layout.
    pub params: Vec<f32>,
    pub adam_m: Vec<f32>,
    pub adam_v: Vec<f32>,
    /// Sums over the minibatches of the iteration.
    pub sums: LossSums,
    pub explained_variance: f32,
    /// State of each environment, `[envs][state_len]`, in the format of `worlds::control::Vector::environment`.
    pub states: Vec<f32>,
    /// For each environment, the number of steps in the current episode so far.
    pub steps: Vec<u32>,
    /// For each environment, the number of episodes before the current episode.
    pub episodes: Vec<u32>,
    /// For each environment, the sum of rewards in the current episode so far.
    pub episode_returns: Vec<f32>,
    /// For each environment, the discounted sum of rewards in the current episode so far. Empty if rewards are not normalised.
    pub discounted_returns: Vec<f32>,
    /// Number of episodes that ended in the iteration.
    pub episodes_ended: u64,
    /// Return and length of each of the last episodes that ended in the iteration, at most 100, oldest first.
    pub finished: Vec<(f32, u32)>,
    /// Two sums over the samples for each feature: of the difference between the observation and the normaliser's mean, and of the square
    /// of this difference.
    pub observation_sums: Vec<[f64; 2]>,
    /// Sum of the discounted reward sums of all samples, and sum of their squares.
    pub return_sums: [f64; 2],
    /// Errors of environments, each with the step of the rollout in which the error occurred. After an error, an environment does not
    /// change. If this list is not empty, the learner ignores the weights and Adam's moments in this output.
    pub faults: Vec<(u32, WorldFault)>,
    /// Observations before each recorded step, in the format of [`super::Recorded::read`]. At most the first [`super::RECORDED_STEPS`]
    /// steps of the first [`super::RECORDED_ENVS`] environments are recorded. Empty if recording was not requested.
    pub recorded_observations: Vec<f32>,
    /// For each recorded step of each environment, 1 if the step ended an episode, otherwise 0. Empty if recording was not requested.
    pub recorded_ended: Vec<u8>,
}
