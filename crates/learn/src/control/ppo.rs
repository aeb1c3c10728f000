//! Proximal policy optimisation (Schulman et al. 2017) on thousands of environments. It has the details of the reference implementation
//! (Huang et al. 2022): orthogonal initial weights, Adam with ε = 1e-5, generalised advantage estimation (Schulman et al. 2016), normalised
//! advantages, a clipped surrogate, an optionally clipped critic, an entropy bonus and a global limit of the gradient norm. Observations
//! and rewards can be normalised. An iteration can end early if the KL divergence between the old and the new policy exceeds a limit. If a
//! time limit ends an episode, the critic's value of the last state replaces the later rewards. An action is either one choice or a list of
//! numbers.
//!
//! ```text
//! L = -E[min(ρ·A, clamp(ρ, 1-ε, 1+ε)·A)] + c_v·½·E[(V - R)²] - c_e·E[H],  ρ = π(a|s)/π_old(a|s)
//! ```
//!
//! A is the advantage, V the critic's value, R the target of the critic, H the entropy of the policy, and ε the clip range. c_v and c_e
//! are the settings `value_coef` and `entropy`.
//!
//! In one iteration, every environment takes `rollout_steps` steps. Then the advantages are estimated, and the learner makes `epochs`
//! passes over the shuffled samples. A pass consists of `minibatches` updates. At the boundary between two iterations, the learner can be
//! saved and its settings can change. [`Learner::advance`] runs one slice, which is a short part of an iteration.
//!
//! **The results do not depend on the number of threads.** Environments are split into actors with up to 128 environments each. A minibatch
//! is split into shards of at most 512 samples, and the shards form at most 16 groups. Each actor and each group has its own memory, and
//! gradients are added in group order. Random numbers are functions of the seed, the purpose, the environment and the step. Steady-state
//! iterations allocate no memory.
//!
//! Arrays store the values of 32 environments side by side, as a panel. A lane is the position of an environment in its actor or panel.
//!
//! The learner does not depend on viewers, on the time (its clock is for profiling only) or on the location of checkpoints.

pub mod accelerator;
pub(crate) mod actor;
pub(crate) mod advantages;
mod config;
pub(crate) mod evaluation;
#[cfg(feature = "export")]
mod export;
pub(crate) mod gradients;
mod greedy;
mod memory;
pub(crate) mod nets;
pub(crate) mod normalizer;
mod offload;
mod offloaded;
mod policy;
mod recorded;
pub(crate) mod rollout;
pub(crate) mod sampling;
mod state;
pub(crate) mod stats;
mod values;

pub use config::{PpoConfig, PpoError};
pub use evaluation::Evaluation;
pub use nets::{Head, METRICS, SPREAD};
pub use normalizer::NORMALIZED_LIMIT;
pub use policy::Policy;
pub use recorded::{RECORDED_ENVS, RECORDED_STEPS, Recorded};
pub use stats::{IterationStats, LossSums, Progress, Times};

use crate::settings::Settings;
use crate::state::tensors;
use crate::{Learner, Offload, Parts, Slice, Tensor, WorkedOn};
use actor::{Actor, RolloutContext};
use evaluation::{Context, Evaluators, WORK};
use gradients::{Gradients, Minibatch, Sharding};
use graph::{Adam, Executor, Layout, Optimizer, Packed, Params, Plan};
use math::Shuffle;
use math::{Isa, PANEL, Rng, par, poly};
use nets::Task;
use normalizer::{Moments, Normalizer, Scaling};
use offloaded::OffloadSlots;
use rollout::LANES;
use stats::{RecentEpisodes, divided, sum};
use std::sync::Arc;
use worlds::control::{FailedState, Kind, WorldFault};

/// Maximum number of environment steps in one part of a rollout, over all environments. If there are more environments than this number, a
/// part is one step of every environment. A part takes several slices if the environments or the networks are slow.
const PART: usize = 8192;
/// Number of the random stream from which actions are sampled.
const ACT: u32 = 0x0041_4354;
/// Number of the random stream that shuffles the samples.
const SHUFFLE: u32 = 0x0053_4846;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// All environments have taken the first `step` steps. If `to` is greater than `step`, a part of the rollout that ends before step `to`
    /// is in progress.
    Rollout { step: usize, to: usize },
    /// The gradient of a minibatch is being computed. The first `shard` shards of each group are done; see `gradients.rs`.
    Learn { epoch: usize, minibatch: usize, shard: usize },
}

/// Result of a slice of learning. `Part` is a part of a minibatch; the next part starts at shard `shard` of each group. `Step` is the end
/// of a minibatch with an optimiser step. `kl` is an estimate of the KL divergence between the policy of the rollout and the policy before
/// this step.
enum Learned {
    Part { shard: usize },
    Step { kl: f64 },
}

const BOUNDARY: Phase = Phase::Rollout { step: 0, to: 0 };

/// Actors with their environments, and the networks that select the actions.
struct Acting {
    plan: Arc<Plan>,
    packed: Packed,
    actors: Vec<Actor>,
}

/// State of the iteration in progress.
struct InProgress {
    stats: IterationStats,
    sums: LossSums,
    /// Mean of the iteration's advantages, and the reciprocal of their standard deviation. If advantages are not normalised, the values are
    /// 0 and 1.
    advantages: (f32, f32),
}

/// Time spent on each part of an iteration, measured with the profiling clock.
struct Timing {
    clock: fn() -> f64,
    times: Times,
    /// Seconds spent on the part of the rollout in progress.
    rollout_s: f64,
    /// Seconds spent on the gradient of the minibatch in progress.
    learning_s: f64,
}

pub struct Ppo {
    kind: Kind,
    config: PpoConfig,
    task: Task,
    isa: Isa,
    seed: u32,
    params: Params,
    optimizer: Optimizer,
    acting: Acting,
    gradients: Gradients,
    evaluators: Evaluators,
    scaling: Scaling,
    phase: Phase,
    progress: Progress,
    /// Number of environment steps at the last change of a setting. The annealing of the learning rate restarts at this number.
    annealed_from: u64,
    recent: RecentEpisodes,
    iteration: InProgress,
    /// True if a loss or gradient norm of the last iteration was not finite.
    diverged: bool,
    /// Error that an environment's rules raised in the last iteration.
    fault: Option<WorldFault>,
    timing: Timing,
    away: OffloadSlots,
}

impl Ppo {
    pub fn new(kind: &Kind, config: PpoConfig, seed: u32, isa: Isa) -> Result<Self, PpoError> {
        config.check()?;
        let task = Task::new(kind, &config)?;
        let sharding = Sharding::of(&config);
        let acting_plan = nets::plan_acting(task, &config, LANES, Layout::Panels, isa)?;
        let evaluation_plan = nets::plan_acting(task, &config, PANEL, Layout::Panels, isa)?;
        let learning_plan = nets::plan_learning(task, &config, sharding.rows, isa)?;
        let mut params = Params::new(learning_plan.table(), seed);
        if let Some(spread) = params.get_mut(SPREAD) {
            spread.fill(poly::ln_1(isa, config.spread));
        }
        let actor = |first| {
            let count = LANES.min(config.envs - first);
            Actor::new(&acting_plan, kind, isa, seed, first, count, config.rollout_steps)
        };
        Ok(Self {
            kind: kind.clone(),
            task,
            isa,
            seed,
            optimizer: Optimizer::new(&params),
            acting: Acting {
                packed: Packed::new(&acting_plan, &params),
                actors: (0..config.envs).step_by(LANES).map(actor).collect(),
                plan: acting_plan,
            },
            gradients: Gradients::new(learning_plan, &params, sharding, task),
            evaluators: Evaluators::new(&evaluation_plan, kind, task, &params, isa),
            scaling: Scaling {
                observations: config.normalize_observation.then(|| Normalizer::new(task.observation)),
                returns: Moments::default(),
            },
            phase: BOUNDARY,
            progress: Progress::default(),
            annealed_from: 0,
            recent: RecentEpisodes::new(),
            iteration: InProgress { stats: IterationStats::default(), sums: LossSums::default(), advantages: (0.0, 1.0) },
            diverged: false,
            fault: None,
            timing: Timing { clock: || 0.0, times: Times::default(), rollout_s: 0.0, learning_s: 0.0 },
            away: OffloadSlots::default(),
            params,
            config,
        })
    }

    // ---- rollout ----

    /// Begins the part of the rollout whose first step is `from`. Returns the step at which the part ends.
    fn begin_part(&mut self, from: usize) -> usize {
        self.acting.actors.iter_mut().for_each(|actor| actor.begin(from));
        (from + (PART / self.config.envs).max(1)).min(self.config.rollout_steps)
    }

    /// Runs one slice of the part of the rollout that ends before step `to`. Returns true at the end of the part.
    fn rollout(&mut self, to: usize) -> bool {
        let began_s = (self.timing.clock)();
        let most = (par::TURN / self.acting.plan.multiply_adds()) as usize;
        let (with, actors) = self.actors();
        // Usually, a slice runs all actors.
        let behind = actors.iter().position(|actor| actor.step < to).unwrap_or(actors.len());
        let some = &mut actors[behind..];
        let count = some.len().min(most.max(par::threads()));
        par::each_mut(&mut some[..count], |_, actor| actor.rollout(with, to, WORK / count as u64));
        let is_complete = actors.iter().all(|actor| actor.step >= to);
        self.timing.rollout_s += (self.timing.clock)() - began_s;
        is_complete
    }

    /// Ends the part of the rollout with the steps `from..to`: adds its episodes and steps to the progress.
    fn end_part(&mut self, from: usize, to: usize) {
        let before = self.progress.episodes;
        for &episode in self.acting.actors.iter().flat_map(|actor| &actor.finished) {
            self.recent.set(self.progress.episodes, episode);
            self.progress.episodes += 1;
        }
        self.iteration.stats.episodes += self.progress.episodes - before;
        self.progress.env_steps += ((to - from) * self.config.envs) as u64;
        let (policy, world) = divided(std::mem::take(&mut self.timing.rollout_s), self.acting.actors[0].seconds);
        self.timing.times.policy += policy;
        self.timing.times.world += world;
    }

    /// Returns the error of the first actor with an error.
    fn rollout_fault(&self) -> Option<WorldFault> {
        self.acting.actors.iter().find_map(|actor| actor.world.fault())
    }

    /// Returns the inputs that all actors share, and the actors.
    fn actors(&mut self) -> (RolloutContext<'_>, &mut [Actor]) {
        let with = RolloutContext {
            acting: Context {
                isa: self.isa,
                task: self.task,
                params: &self.params,
                packed: &self.acting.packed,
                normalizer: self.scaling.observations.as_ref(),
            },
            reward_scale: self.reward_scale(),
            normalize_reward: self.config.normalize_reward,
            rng: Rng::new(self.seed, ACT),
            first_step: self.progress.iterations * self.config.rollout_steps as u64,
            gamma: self.config.gamma,
            lambda: self.config.lambda,
            clock: self.timing.clock,
        };
        (with, &mut self.acting.actors)
    }

    /// Returns the factor that is applied to rewards; 1 if rewards are not normalised.
    fn reward_scale(&self) -> f32 {
        if self.config.normalize_reward { self.scaling.returns.scale() } else { 1.0 }
    }

    /// Returns the number of samples in an iteration: one for each environment and step.
    fn samples(&self) -> usize {
        self.config.envs * self.config.rollout_steps
    }

    // ---- advantages ----

    /// Estimates the advantages of all samples, and adds the rollout to the running means and variances that normalisation uses.
    fn estimate_advantages(&mut self) {
        let began_s = (self.timing.clock)();
        let n = self.samples() as f64;
        if self.config.normalize_reward {
            let gamma = self.config.gamma;
            par::each_mut(&mut self.acting.actors, |_, actor| actor.accumulate_returns(gamma));
            let [sum, squares] = sum(self.acting.actors.iter().map(|actor| actor.return_sums));
            self.scaling.returns.merge(n, 0.0, sum, squares);
        }
        let (with, actors) = self.actors();
        par::each_mut(actors, |_, actor| actor.estimate_advantages(with));
        let [target, target_squares, error, error_squares] = sum(self.acting.actors.iter().map(|actor| actor.value_errors));
        let variance = |sum: f64, squares: f64| (squares / n - (sum / n) * (sum / n)).max(0.0);
        let spread = variance(target, target_squares);
        let unexplained = variance(error, error_squares);
        self.iteration.stats.explained_variance = if spread > 0.0 { (1.0 - unexplained / spread) as f32 } else { 0.0 };
        self.iteration.advantages =
            if self.config.normalize_advantage { ((error / n) as f32, (1.0 / (unexplained.sqrt() + 1e-8)) as f32) } else { (0.0, 1.0) };
        if let Some(normalizer) = &mut self.scaling.observations {
            normalizer.merge(n, |i| sum(self.acting.actors.iter().map(|actor| actor.observation_sums[i])));
        }
        self.timing.times.advantages += (self.timing.clock)() - began_s;
    }

    // ---- minibatches ----

    /// Computes a part of a minibatch's gradient. The shards of the minibatch are divided into groups that run in parallel
    /// (`gradients.rs`). A part continues every group from its shard number `shard`. The last part also performs the optimiser step.
    fn learn(&mut self, epoch: usize, minibatch: usize, shard: usize) -> Learned {
        let began_s = (self.timing.clock)();
        let (samples, iteration) = (self.samples(), self.progress.iterations);
        let before = self.iteration.sums.approx_kl();
        let minibatch = Minibatch {
            config: &self.config,
            params: &self.params,
            actors: &self.acting.actors,
            shuffle: Shuffle::new(Rng::new(self.seed, SHUFFLE), samples, iteration, epoch),
            first: minibatch * (samples / self.config.minibatches),
            advantages: self.iteration.advantages,
            clock: self.timing.clock,
        };
        let next = self.gradients.compute(minibatch, shard, &mut self.iteration.sums);
        let computed_s = (self.timing.clock)();
        self.timing.learning_s += computed_s - began_s;
        if let Some(shard) = next {
            return Learned::Part { shard };
        }

        let adam = self.adam_at(self.progress.env_steps);
        let norm = self.optimizer.step(self.isa, &adam, &mut self.params, &self.gradients.mean);
        self.iteration.sums.grad_norm += f64::from(norm);
        self.iteration.sums.updates += 1;
        self.gradients.pack(&self.params);

        let (gather, gradient) = divided(std::mem::take(&mut self.timing.learning_s), self.gradients.seconds());
        self.timing.times.gather += gather;
        self.timing.times.gradient += gradient;
        self.timing.times.update += (self.timing.clock)() - computed_s;
        Learned::Step { kl: self.iteration.sums.approx_kl() - before }
    }

    /// Returns the learning rate after `env_steps` environment steps, counted from the start of the run.
    fn lr_at(&self, env_steps: u64) -> f32 {
        self.config.lr_after(env_steps - self.annealed_from)
    }

    fn adam_at(&self, env_steps: u64) -> Adam {
        Adam { lr: self.lr_at(env_steps), eps: 1e-5, max_grad_norm: self.config.max_grad_norm, ..Adam::default() }
    }

    // ---- the boundary ----

    fn end_iteration(&mut self) -> IterationStats {
        let LossSums { metrics, grad_norm, updates } = std::mem::take(&mut self.iteration.sums);
        let mean = |sum: f64| (sum / f64::from(updates)) as f32;
        let [policy_loss, value_loss, entropy, approx_kl, clip_fraction] = metrics.map(mean);
        let grad_norm = mean(grad_norm);
        self.progress.iterations += 1;
        self.phase = BOUNDARY;
        self.publish_weights();
        let lr = self.lr_at(self.progress.env_steps);
        let recent = self.recent.means(self.progress.episodes);
        let stats = IterationStats {
            mean_return: recent.map(|[returns, _]| returns),
            mean_length: recent.map(|[_, lengths]| lengths),
            policy_loss,
            value_loss,
            entropy,
            approx_kl,
            clip_fraction,
            grad_norm,
            lr,
            samples: self.samples() as u64,
            times: std::mem::take(&mut self.timing.times),
            ..std::mem::take(&mut self.iteration.stats)
        };
        self.diverged = !stats.is_finite();
        stats
    }

    /// Ends an iteration without learning from its rollout, because the rules of an environment raised an error.
    fn end_with_fault(&mut self, fault: WorldFault) -> IterationStats {
        self.progress.iterations += 1;
        self.phase = BOUNDARY;
        self.fault = Some(fault.clone());
        let recent = self.recent.means(self.progress.episodes);
        IterationStats {
            mean_return: recent.map(|[returns, _]| returns),
            mean_length: recent.map(|[_, lengths]| lengths),
            lr: self.lr_at(self.progress.env_steps),
            samples: self.samples() as u64,
            times: std::mem::take(&mut self.timing.times),
            fault: Some(fault),
            ..std::mem::take(&mut self.iteration.stats)
        }
    }

    /// Copies the weights to the evaluators, packs the weights for acting and learning, and updates the observation normaliser.
    fn publish_weights(&mut self) {
        if let Some(normalizer) = &mut self.scaling.observations {
            normalizer.refresh();
        }
        self.evaluators.set_weights(&self.params);
        self.acting.packed.pack(&self.params);
        self.gradients.pack(&self.params);
    }

    /// Changes settings at a boundary. Returns an error if the change needs a new learner (see [`PpoConfig::can_become`]). An offloaded
    /// learner must be offloaded again after a change of `clip_value`, because this setting changes the graph of the loss.
    pub fn set_config(&mut self, config: PpoConfig) -> Result<(), PpoError> {
        if !self.config.can_become(&config) {
            return Err(PpoError::Fixed);
        }
        // Annealing restarts, because the effect of the change would not be visible at a low learning rate.
        if config != self.config {
            self.annealed_from = self.progress.env_steps;
        }
        // Clipping the critic changes the graph of the loss.
        if config.clip_value != self.config.clip_value {
            let sharding = self.gradients.sharding;
            let plan = nets::plan_learning(self.task, &config, sharding.rows, self.isa)?;
            self.gradients = Gradients::new(plan, &self.params, sharding, self.task);
        }
        self.config = config;
        Ok(())
    }

    // ---- state and progress ----

    pub fn kind(&self) -> &Kind {
        &self.kind
    }
    pub fn config(&self) -> &PpoConfig {
        &self.config
    }
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// Returns the plan with which rollouts compute policy and critic.
    pub fn plan(&self) -> &Plan {
        &self.acting.plan
    }
    /// Returns the plan of a training step on one shard: forward, loss and backward.
    pub fn training_plan(&self) -> &Plan {
        &self.gradients.plan
    }
    /// Returns the state of a training environment, the number of steps in its current episode, and the number of its earlier episodes. If
    /// the latest step failed with a [`WorldFault`], the state is the state before that step. Unused lanes of the last actor count as
    /// environments. Returns `None` if there is no environment `env`.
    pub fn environment(&self, env: usize) -> Option<(Vec<f32>, u32, u32)> {
        let world = &self.acting.actors.get(env / LANES)?.world;
        let mut state = vec![0.0; world.state_len()];
        let (steps, episodes) = world.environment(env % LANES, &mut state);
        Some((state, steps, episodes))
    }
    /// Returns the state in which the rules of an environment raised an error in the latest iteration or evaluation. Returns `None` in
    /// three cases: there was no error, the start of an episode failed, or a GPU ran the iteration and kept no such state.
    pub fn failed(&self) -> Option<FailedState> {
        let in_training = || {
            let fault = self.fault.clone()?;
            let (state, steps, episode) = self.environment(fault.env as usize)?;
            ((steps + 1, episode) == (fault.step, fault.episode)).then_some(FailedState { seed: self.seed, fault, state })
        };
        self.evaluators.failed.clone().or_else(in_training)
    }
    /// Returns the mean length, in steps, of the last 100 finished episodes, or of all finished episodes if there are fewer. Returns `None`
    /// if no episode has finished.
    pub fn mean_length(&self) -> Option<f32> {
        self.recent.means(self.progress.episodes).map(|[_, length]| length)
    }
}

impl Learner for Ppo {
    type Stats = IterationStats;
    type Progress = Progress;

    crate::learner_settings!(config, set_config, PpoConfig::check);

    /// Runs one slice: some steps of the environments, or at most one minibatch. If the learner is offloaded, the slice starts an iteration
    /// on the other machine, or polls for the result of this iteration.
    fn advance(&mut self) -> Slice<IterationStats> {
        if let Some(offloaded) = self.away.offloaded.take() {
            return self.advance_offloaded(offloaded);
        }
        match self.phase {
            Phase::Rollout { step, to } => {
                let to = if to > step { to } else { self.begin_part(step) };
                if !self.rollout(to) {
                    self.phase = Phase::Rollout { step, to };
                    return Slice::Worked;
                }
                self.end_part(step, to);
                self.phase = if to < self.config.rollout_steps {
                    Phase::Rollout { step: to, to }
                } else if let Some(fault) = self.rollout_fault() {
                    return Slice::Ended(self.end_with_fault(fault));
                } else {
                    self.estimate_advantages();
                    Phase::Learn { epoch: 0, minibatch: 0, shard: 0 }
                };
                Slice::Worked
            }
            Phase::Learn { epoch, minibatch, shard } => {
                let kl = match self.learn(epoch, minibatch, shard) {
                    Learned::Part { shard } => {
                        self.phase = Phase::Learn { epoch, minibatch, shard };
                        return Slice::Worked;
                    }
                    Learned::Step { kl } => kl,
                };
                let far_enough = self.config.target_kl > 0.0 && kl > 1.5 * f64::from(self.config.target_kl);
                self.phase = if far_enough {
                    return Slice::Ended(self.end_iteration());
                } else if minibatch + 1 < self.config.minibatches {
                    Phase::Learn { epoch, minibatch: minibatch + 1, shard: 0 }
                } else if epoch + 1 < self.config.epochs {
                    Phase::Learn { epoch: epoch + 1, minibatch: 0, shard: 0 }
                } else {
                    return Slice::Ended(self.end_iteration());
                };
                Slice::Worked
            }
        }
    }

    fn at_boundary(&self) -> bool {
        self.phase == BOUNDARY && !self.away.offloaded.as_ref().is_some_and(|away| away.in_flight)
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn weights(&self) -> &[f32] {
        self.params.values()
    }

    fn tensors(&self) -> Vec<Tensor<'_>> {
        tensors(self.params.table(), self.params.values(), &self.optimizer.m)
    }

    fn parts(&self) -> Parts {
        self.saved()
    }

    fn is_finite(&self) -> bool {
        !self.diverged && self.fault.is_none() && self.saved().iter().all(|(_, _, data)| data.is_finite())
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.timing.clock = clock;
    }

    fn executor_mut(&mut self) -> Option<&mut Executor> {
        Some(self.gradients.executor_mut())
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Ok(self)
    }

    fn worked_on(&self) -> WorkedOn {
        WorkedOn::of(self.away.offloaded.is_some())
    }
}
