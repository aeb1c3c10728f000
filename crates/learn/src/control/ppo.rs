//! Proximal policy optimisation (Schulman et al. 2017) on thousands of environments, with the details that
//! made the reference implementation work (Huang et al. 2022): orthogonal first weights, Adam with
//! ε = 1e-5, generalised advantage estimation (Schulman et al. 2016), normalised advantages, a clipped
//! surrogate, an optionally clipped critic, an entropy bonus, one limit on the length of the whole
//! gradient, observations and rewards normalised where asked, an early end where the policy has moved far
//! enough, and a time limit that is not mistaken for a failure. Actions are choices or numbers.
//!
//!   L = -E[min(ρ·A, clamp(ρ, 1-ε, 1+ε)·A)] + c_v·½·E[(V - R)²] - c_e·E[H],  ρ = π(a|s)/π_old(a|s)
//!
//! One iteration: every environment takes `rollout_steps` (Act), advantages are estimated, and the
//! samples are learned from in `epochs` shuffled passes of `minibatches` (Learn). [`Ppo::advance`]
//! does it in slices of a few milliseconds.
//!
//! **The same numbers for any number of threads.** Environments are cut into actors of 128 and a
//! minibatch into shards of at most 512 samples, shards into at most 16 groups; each piece has its own
//! memory, and gradients are added group after group. Random numbers are functions of (seed, what they
//! are for, where and when). Nothing is allocated between two iterations.
//!
//! It refuses to know who watches, what time it is (a clock that it is lent tells only where the time
//! goes) and where a checkpoint goes.

mod acting;
pub mod away;
mod config;
mod learning;
mod nets;

pub use acting::FARTHEST;
pub use config::{LR_FLOOR, PpoConfig, PpoError};
pub use nets::{Head, METRICS, SPREAD};

use crate::offload::{self, Machine};
use crate::{Data, Fault, Find};
use acting::{Acting, Actor, Finished, Judge, Judging, LANES, Lens, Moments, SAMPLE, Steer, greedy};
use away::{Accelerator, Blueprint, Harvest, Start, Turn};
use graph::{Adam, Layout, Optimizer, Packed, Params, Plan};
use learning::{Learner, Learning, Shuffle};
use math::{Isa, PANEL, Rng, dispatch, par, poly};
use nets::Task;
use std::sync::Arc;
use worlds::Kind;

/// Samples of one gradient shard at most, and as many as there are where that would leave threads idle.
const SHARD: usize = 512;
const SMALL_SHARD: usize = 256;
/// Shards that a minibatch is cut into before they grow.
const ABREAST: usize = 8;
/// Shards that can be worked on at once.
const GROUPS: usize = 16;
/// Steps of all environments together in one slice of a rollout.
const SLICE: usize = 8192;
/// Episodes that the training curve is a mean of.
const RECENT: usize = 100;
/// Environments whose observations the trail keeps.
pub const SHOWN: usize = 2048;
/// Steps the trail keeps until they are taken.
const TRAIL: usize = 128;
/// Environments one judge steps at once, and how many judges there are.
const JUDGES: usize = 4;

/// Streams of random numbers of one seed.
const ACT: u32 = 0x0041_4354;
const SHUFFLE: u32 = 0x0053_4846;
/// Evaluations use environments that no training reaches.
const JUDGED: u32 = 1 << 31;

/// What one call of [`Ppo::advance`] did.
#[derive(Clone, Debug, PartialEq)]
pub enum Slice {
    /// Some steps of all environments.
    Rollout,
    /// One minibatch.
    Update,
    /// What ended an iteration.
    Iteration(IterationStats),
    /// Nothing: the machine that works on the iteration is not done.
    Waiting,
    /// The machine cannot go on. The learner is at home again, where the last iteration ended.
    Stopped(Fault),
}

/// One iteration in numbers; losses are means over all its minibatches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IterationStats {
    /// Of the last 100 finished episodes, or of as many as there are.
    pub mean_return: Option<f32>,
    pub mean_length: Option<f32>,
    pub policy_loss: f32,
    pub value_loss: f32,
    pub entropy: f32,
    pub approx_kl: f32,
    pub clip_fraction: f32,
    pub explained_variance: f32,
    pub grad_norm: f32,
    pub lr: f32,
    /// Episodes that ended in this iteration.
    pub episodes: u64,
}

/// Returns of fresh episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    pub mean: f32,
    pub min: f32,
    pub max: f32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PpoProgress {
    pub iterations: u64,
    /// Of all environments together.
    pub env_steps: u64,
    pub episodes: u64,
}

/// Seconds since the last iteration ended, by the clock of [`Ppo::lend_clock`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    pub policy: f64,
    pub world: f64,
    pub advantages: f64,
    pub gather: f64,
    pub gradient: f64,
    pub update: f64,
    /// Of whole iterations, on a machine that does not tell where it goes.
    pub device: f64,
}

/// What the first environments lived through: what each showed before a step, and whether that step
/// ended the episode. It keeps nothing until it is cleared for the first time, and at most 128 steps from
/// each time it is: whoever does not watch pays for neither memory nor copies.
#[derive(Clone, Debug)]
pub struct Trail {
    pub shown: usize,
    pub steps: usize,
    pub features: usize,
    observations: Vec<f32>,
    ended: Vec<u8>,
}

impl Trail {
    fn new(shown: usize, features: usize) -> Self {
        Self { shown, steps: 0, features, observations: Vec::new(), ended: Vec::new() }
    }

    fn clear(&mut self) {
        self.steps = 0;
        self.observations.resize(TRAIL * self.step(), 0.0);
        self.ended.resize(TRAIL * self.shown, 0);
    }

    /// Floats of one step.
    fn step(&self) -> usize {
        self.shown.div_ceil(PANEL) * PANEL * self.features
    }

    /// In panels: `[steps][shown/32, rounded up][features][32]`
    pub fn observations(&self) -> &[f32] {
        &self.observations[..self.steps * self.step()]
    }

    /// `[steps][shown]`: 1 where the episode ended.
    pub fn ended(&self) -> &[u8] {
        &self.ended[..self.steps * self.shown]
    }

    /// Whether it would keep a step.
    fn wanted(&self) -> bool {
        !self.ended.is_empty() && self.steps < TRAIL
    }

    /// Adds what another machine saw, as far as there is room.
    fn extend(&mut self, observations: &[f32], ended: &[u8]) {
        let (step, shown) = (self.step(), self.shown);
        let steps = (ended.len() / shown).min(observations.len() / step);
        let steps = if self.wanted() { steps.min(TRAIL - self.steps) } else { 0 };
        self.observations[self.steps * step..][..steps * step].copy_from_slice(&observations[..steps * step]);
        self.ended[self.steps * shown..][..steps * shown].copy_from_slice(&ended[..steps * shown]);
        self.steps += steps;
    }

    /// Adds step t of a rollout.
    fn push(&mut self, actors: &[Actor], t: usize) {
        let (step, shown) = (self.step(), self.shown);
        if !self.wanted() {
            return;
        }
        let observations = self.observations[self.steps * step..][..step].chunks_mut(LANES * self.features);
        for (to, actor) in observations.zip(actors) {
            to.copy_from_slice(&actor.observations[t * LANES * self.features..][..to.len()]);
        }
        let ended = self.ended[self.steps * shown..][..shown].chunks_mut(LANES);
        for (to, actor) in ended.zip(actors) {
            let from = &actor.ended[t * LANES..];
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = u8::from(from != 0));
        }
        self.steps += 1;
    }
}

/// A machine that works for this learner.
struct Away {
    accelerator: par::Pinned<Box<dyn Accelerator>>,
    /// Of the newest iteration, once there is one: then the environments stand here.
    harvest: Harvest,
    has_harvest: bool,
    under_way: bool,
    began_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Act { step: usize },
    Learn { epoch: usize, minibatch: usize },
}

pub struct Ppo {
    kind: &'static Kind,
    config: PpoConfig,
    task: Task,
    isa: Isa,
    seed: u32,
    params: Params,
    /// What the rollout acts with, which judges know until the iteration ends.
    judging_params: Params,
    optimizer: Optimizer,
    acting_plan: Arc<Plan>,
    learning_plan: Arc<Plan>,
    acting_packed: Packed,
    learning_packed: Packed,
    judging_packed: Packed,
    actors: Vec<Actor>,
    learners: Vec<Learner>,
    judges: Vec<Judge>,
    /// Samples of a shard, shards of a minibatch.
    rows: usize,
    shards: usize,
    grads: Vec<f32>,
    /// Of each number of the observations, and of the discounted sums of rewards.
    seen: Vec<Moments>,
    earned: Moments,
    /// Observations as this iteration shows them, where they are normalised.
    lens: Option<Lens>,
    /// Mean and 1/spread of this iteration's advantages.
    advantages: (f32, f32),
    phase: Phase,
    progress: PpoProgress,
    /// Environment steps when a setting was last changed: the learning rate cools down from there.
    rate_set_at: u64,
    /// The last episodes; episode n stands at n modulo 100.
    recent: [Finished; RECENT],
    stats: IterationStats,
    /// Of the metrics and the gradient's length, over the minibatches of this iteration so far.
    sums: [f64; METRICS.len() + 1],
    updates: u32,
    /// A loss or the gradient's length was no number in the last iteration.
    diverged: bool,
    /// Between two iterations: the last episodes were as good as the task asks for.
    reaches_goal: bool,
    trail: Trail,
    clock: fn() -> f64,
    times: Times,
    away: Option<Away>,
}

impl PpoConfig {
    /// Bytes that a run of an environment with these settings takes, about, and rather more than less: for who has to refuse
    /// one that does not fit before anything is allocated. A save takes a copy of the state besides. Settings that cannot be
    /// used take more than there is.
    pub fn bytes(&self, kind: &'static Kind) -> u64 {
        // A little for plans and names. Casts saturate.
        Ppo::bytes(kind, self).map_or(u64::MAX, |bytes| (1.05 * bytes) as u64)
    }
}

impl Ppo {
    pub fn new(kind: &'static Kind, config: PpoConfig, seed: u32, isa: Isa) -> Result<Self, PpoError> {
        config.check()?;
        let task = Task::new(kind, &config)?;
        let (rows, shards) = cut(&config);
        let acting_plan = nets::plan_acting(task, &config, LANES, Layout::Panels, isa)?;
        let judging_plan = nets::plan_acting(task, &config, PANEL, Layout::Panels, isa)?;
        let learning_plan = nets::plan_learning(task, &config, rows, isa)?;
        let mut params = Params::new(learning_plan.table(), seed);
        if let Some(spread) = params.get_mut(SPREAD) {
            spread[0] = poly::ln_1(isa, config.spread);
        }
        let len = params.values().len();
        let actor = |first| {
            let count = LANES.min(config.envs - first);
            Actor::new(&acting_plan, kind, isa, seed, first, count, config.rollout_steps)
        };
        let features = task.observation;
        let lens = Lens { mean: vec![0.0; features], scale: vec![1.0; features] };
        Ok(Self {
            kind,
            task,
            isa,
            seed,
            optimizer: Optimizer::new(&params),
            actors: (0..config.envs).step_by(LANES).map(actor).collect(),
            learners: (0..shards.min(GROUPS))
                .map(|_| Learner::new(&learning_plan, len, rows, task.observation))
                .collect(),
            judges: (0..JUDGES).map(|_| Judge::new(&judging_plan, kind, isa)).collect(),
            acting_packed: Packed::new(&acting_plan, &params),
            judging_packed: Packed::new(&judging_plan, &params),
            learning_packed: Packed::new(&learning_plan, &params),
            rows,
            shards,
            grads: vec![0.0; len],
            seen: vec![Moments::default(); features],
            earned: Moments::default(),
            lens: config.normalize_observation.then_some(lens),
            advantages: (0.0, 1.0),
            phase: Phase::Act { step: 0 },
            progress: PpoProgress::default(),
            rate_set_at: 0,
            recent: [Finished { total: 0.0, length: 0 }; RECENT],
            stats: IterationStats::default(),
            sums: [0.0; METRICS.len() + 1],
            updates: 0,
            diverged: false,
            reaches_goal: false,
            trail: Trail::new(SHOWN.min(config.envs), features),
            clock: || 0.0,
            times: Times::default(),
            away: None,
            judging_params: params.clone(),
            params,
            acting_plan,
            learning_plan,
            config,
        })
    }

    /// Bytes that a learner with these settings takes, about.
    fn bytes(kind: &'static Kind, config: &PpoConfig) -> Result<f64, PpoError> {
        config.check()?;
        let (task, isa) = (Task::new(kind, config)?, Isa::best());
        let (rows, shards) = cut(config);
        let acting = nets::plan_acting(task, config, LANES, Layout::Panels, isa)?;
        let judging = nets::plan_acting(task, config, PANEL, Layout::Panels, isa)?;
        let learning = nets::plan_learning(task, config, rows, isa)?;
        let (whole, rest) = (config.envs / LANES, config.envs % LANES);
        let actor = |count| Actor::bytes(&acting, kind, isa, count, config.rollout_steps);
        let actors = whole as f64 * actor(LANES) + if rest > 0 { actor(rest) } else { 0.0 };
        let learners = shards.min(GROUPS) as f64;
        let features = task.observation as f64;
        let learner = learning.arena_bytes() as f64 + 4.0 * rows as f64 * (features + SAMPLE as f64);
        let shown = SHOWN.min(config.envs).next_multiple_of(PANEL) as f64;
        let trail = TRAIL as f64 * shown * (4.0 * features + 1.0);
        // Twice the weights, two moments, gradients and their sum, and packed: for acting, for judging, and both ways for learning.
        let weights = 4.0 * learning.table().len() as f64 * (2.0 + 2.0 + learners + 1.0 + 4.0);
        Ok(actors + learners * learner + JUDGES as f64 * Judge::bytes(&judging, kind, isa) + trail + weights)
    }

    /// One slice of work: some milliseconds with a preset.
    pub fn advance(&mut self) -> Slice {
        if let Some(away) = self.away.take() {
            return self.advance_away(away);
        }
        match self.phase {
            Phase::Act { step } => {
                let to = (step + (SLICE / self.config.envs).max(1)).min(self.config.rollout_steps);
                self.act(step, to);
                self.phase = if to < self.config.rollout_steps {
                    Phase::Act { step: to }
                } else {
                    self.estimate();
                    Phase::Learn { epoch: 0, minibatch: 0 }
                };
                Slice::Rollout
            }
            Phase::Learn { epoch, minibatch } => {
                let kl = self.learn(epoch, minibatch);
                let far_enough = self.config.target_kl > 0.0 && kl > 1.5 * f64::from(self.config.target_kl);
                self.phase = if far_enough {
                    return Slice::Iteration(self.end_iteration());
                } else if minibatch + 1 < self.config.minibatches {
                    Phase::Learn { epoch, minibatch: minibatch + 1 }
                } else if epoch + 1 < self.config.epochs {
                    Phase::Learn { epoch: epoch + 1, minibatch: 0 }
                } else {
                    return Slice::Iteration(self.end_iteration());
                };
                Slice::Update
            }
        }
    }

    /// Between two iterations: the only place to save, or to change settings.
    pub fn at_boundary(&self) -> bool {
        self.phase == Phase::Act { step: 0 } && !self.away.as_ref().is_some_and(|away| away.under_way)
    }

    // ---- iterations elsewhere ----

    /// Lets a machine work on the iterations from here on. Call it at a boundary.
    pub fn lend(&mut self, machine: &dyn Machine) -> Result<(), Fault> {
        self.come_home();
        let accelerator = par::Pinned::new(self.accelerator(machine)?);
        self.away = Some(Away {
            accelerator,
            harvest: Harvest::default(),
            has_harvest: false,
            under_way: false,
            began_s: 0.0,
        });
        Ok(())
    }

    /// A machine that is ready to do iterations from here on. Call it at a boundary.
    pub fn accelerator(&self, machine: &dyn Machine) -> Result<Box<dyn Accelerator>, Fault> {
        let start = self.start().map_err(|error| Fault::Refused { why: error.to_string() })?;
        offload::request(machine, &start)
    }

    pub fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// Goes on here from the last boundary; an iteration under way elsewhere is given up.
    pub fn come_home(&mut self) {
        if let Some(away) = self.away.take() {
            self.settle(&away);
        }
    }

    /// Puts the environments where the machine left them.
    fn settle(&mut self, away: &Away) {
        if !away.has_harvest {
            return;
        }
        let Harvest { states, steps, episodes, totals, discounted, .. } = &away.harvest;
        let width = self.actors[0].world.state_len();
        for (env, state) in states.chunks_exact(width).enumerate() {
            let (actor, lane) = (&mut self.actors[env / LANES], env % LANES);
            // One that is in no possible state, from weights that are no numbers, stays where it was at home.
            let _ = actor.world.set_environment(lane, state, steps[env], episodes[env]);
            actor.totals[lane] = totals[env];
            if let Some(&sum) = discounted.get(env) {
                actor.discounted[lane] = sum;
            }
        }
    }

    fn advance_away(&mut self, mut away: Away) -> Slice {
        match self.work_away(&mut away) {
            Ok(slice) => {
                self.away = Some(away);
                slice
            }
            Err(fault) => {
                self.settle(&away);
                Slice::Stopped(fault)
            }
        }
    }

    fn work_away(&mut self, away: &mut Away) -> Result<Slice, Fault> {
        if !away.under_way {
            away.began_s = (self.clock)();
            self.with_turn(self.trail.wanted(), |turn| away.accelerator.begin(turn))?;
            away.under_way = true;
        } else if away.accelerator.poll(&mut away.harvest)? {
            (away.under_way, away.has_harvest) = (false, true);
            self.times.device += (self.clock)() - away.began_s;
            return Ok(Slice::Iteration(self.absorb(&away.harvest)));
        }
        Ok(Slice::Waiting)
    }

    /// What the next iteration has to know.
    pub fn with_turn<R>(&self, watch: bool, tell: impl FnOnce(&Turn) -> R) -> R {
        let Moments { count, mean, squares } = self.earned;
        tell(&Turn {
            config: &self.config,
            iteration: self.progress.iterations,
            lr: self.lr_at(self.progress.env_steps + self.samples()),
            adam_steps: self.optimizer.steps,
            lens_mean: self.lens.as_ref().map_or(&[], |lens| &lens.mean),
            lens_scale: self.lens.as_ref().map_or(&[], |lens| &lens.scale),
            earned: [count, mean, if count > 0.0 { squares / count } else { 0.0 }],
            watch,
        })
    }

    /// Takes in what a machine brought about.
    fn absorb(&mut self, harvest: &Harvest) -> IterationStats {
        self.params.values_mut().copy_from_slice(&harvest.params);
        self.optimizer.m.copy_from_slice(&harvest.adam_m);
        self.optimizer.v.copy_from_slice(&harvest.adam_v);
        self.optimizer.steps += u64::from(harvest.updates);
        let samples = self.samples();
        self.progress.env_steps += samples;
        self.progress.episodes += harvest.ended;
        let newest = self.progress.episodes - harvest.finished.len() as u64;
        for (episode, &(total, length)) in (newest..).zip(&harvest.finished) {
            self.recent[(episode % RECENT as u64) as usize] = Finished { total, length };
        }
        if self.config.normalize_reward {
            self.earned.merge(samples as f64, 0.0, harvest.earned[0], harvest.earned[1]);
        }
        if let Some(lens) = &self.lens {
            for (i, (moments, &[sum, squares])) in self.seen.iter_mut().zip(&harvest.seen).enumerate() {
                moments.merge(samples as f64, lens.mean[i].into(), sum, squares);
            }
        }
        self.trail.extend(&harvest.trail_observations, &harvest.trail_ended);
        self.stats.episodes = harvest.ended;
        self.stats.explained_variance = harvest.explained_variance;
        (self.sums, self.updates) = (harvest.sums, harvest.updates);
        self.end_iteration()
    }

    fn samples(&self) -> u64 {
        (self.config.envs * self.config.rollout_steps) as u64
    }

    /// σ of the policy's actions, where they are numbers, and ln σ.
    fn spread(&self) -> (f32, f32) {
        let log = self.judging_params.get(SPREAD).map_or(0.0, |spread| spread[0]);
        (log, poly::exp_1(self.isa, log))
    }

    /// What rewards are multiplied by.
    fn reward_scale(&self) -> f32 {
        if self.config.normalize_reward { self.earned.scale() } else { 1.0 }
    }

    fn acting(&mut self) -> (Acting<'_>, &mut [Actor]) {
        let with = Acting {
            isa: self.isa,
            task: self.task,
            spread: self.spread(),
            reward_scale: self.reward_scale(),
            normalize_reward: self.config.normalize_reward,
            params: &self.params,
            packed: &self.acting_packed,
            lens: self.lens.as_ref(),
            rng: Rng::new(self.seed, ACT),
            first_step: self.progress.iterations * self.config.rollout_steps as u64,
            gamma: self.config.gamma,
            lambda: self.config.lambda,
            clock: self.clock,
        };
        (with, &mut self.actors)
    }

    fn act(&mut self, from: usize, to: usize) {
        let began_s = (self.clock)();
        let (with, actors) = self.acting();
        par::each_mut(actors, |_, actor| actor.act(with, from, to));
        let before = self.progress.episodes;
        for actor in &self.actors {
            for &finished in &actor.finished {
                self.recent[(self.progress.episodes % RECENT as u64) as usize] = finished;
                self.progress.episodes += 1;
            }
        }
        (from..to).for_each(|t| self.trail.push(&self.actors, t));
        self.stats.episodes += self.progress.episodes - before;
        self.progress.env_steps += ((to - from) * self.config.envs) as u64;
        let (policy, world) = shared_out((self.clock)() - began_s, self.actors[0].spent);
        self.times.policy += policy;
        self.times.world += world;
    }

    fn estimate(&mut self) {
        let began_s = (self.clock)();
        let n = (self.config.envs * self.config.rollout_steps) as f64;
        if self.config.normalize_reward {
            let gamma = self.config.gamma;
            par::each_mut(&mut self.actors, |_, actor| actor.count_rewards(gamma));
            let [sum, squares] = sum(self.actors.iter().map(|actor| actor.earned));
            self.earned.merge(n, 0.0, sum, squares);
        }
        let (with, actors) = self.acting();
        par::each_mut(actors, |_, actor| actor.estimate(with));
        let [target, target_squares, error, error_squares] =
            sum(self.actors.iter().map(|actor| actor.errors));
        let variance = |sum: f64, squares: f64| (squares / n - (sum / n) * (sum / n)).max(0.0);
        let spread = variance(target, target_squares);
        let unexplained = variance(error, error_squares);
        self.stats.explained_variance = if spread > 0.0 { (1.0 - unexplained / spread) as f32 } else { 0.0 };
        if self.config.normalize_advantage {
            self.advantages = ((error / n) as f32, (1.0 / (unexplained.sqrt() + 1e-8)) as f32);
        } else {
            self.advantages = (0.0, 1.0);
        }
        if let Some(lens) = &self.lens {
            for (i, moments) in self.seen.iter_mut().enumerate() {
                let [sum, squares] = sum(self.actors.iter().map(|actor| actor.seen[i]));
                moments.merge(n, lens.mean[i].into(), sum, squares);
            }
        }
        self.times.advantages += (self.clock)() - began_s;
    }

    /// One minibatch; gives its divergence from the policy that acted.
    fn learn(&mut self, epoch: usize, minibatch: usize) -> f64 {
        let began_s = (self.clock)();
        let (rows, shards, groups) = (self.rows, self.shards, self.learners.len());
        let PpoConfig { envs, rollout_steps, minibatches, .. } = self.config;
        let samples = envs * rollout_steps;
        let first = minibatch * (samples / minibatches);
        let with = Learning {
            config: &self.config,
            features: self.task.observation,
            params: &self.params,
            packed: &self.learning_packed,
            actors: &self.actors,
            shuffle: Shuffle::new(Rng::new(self.seed, SHUFFLE), samples, self.progress.iterations, epoch),
            advantages: self.advantages,
            clock: self.clock,
        };
        par::each_mut(&mut self.learners, |group, learner| {
            let of = |group: usize| first + group * shards / groups * rows;
            learner.learn(with, of(group)..of(group + 1), group == 0);
        });
        let learned_s = (self.clock)();

        let before = self.sums;
        self.grads.fill(0.0);
        for learner in &self.learners {
            self.grads.iter_mut().zip(&learner.grads).for_each(|(sum, g)| *sum += g);
            self.sums.iter_mut().zip(learner.metrics).for_each(|(sum, m)| *sum += m / shards as f64);
        }
        self.grads.iter_mut().for_each(|g| *g /= shards as f32);
        let adam =
            Adam { lr: self.lr(), eps: 1e-5, max_grad_norm: self.config.max_grad_norm, ..Adam::default() };
        let norm = self.optimizer.step(self.isa, &adam, &mut self.params, &self.grads);
        self.sums[METRICS.len()] += f64::from(norm);
        self.updates += 1;
        self.learning_packed.pack(&self.params);

        let (gather, gradient) = shared_out(learned_s - began_s, self.learners[0].spent);
        self.times.gather += gather;
        self.times.gradient += gradient;
        self.times.update += (self.clock)() - learned_s;
        self.sums[KL] - before[KL]
    }

    /// The learning rate in force.
    fn lr(&self) -> f32 {
        self.lr_at(self.progress.env_steps)
    }

    fn lr_at(&self, env_steps: u64) -> f32 {
        let PpoConfig { lr, anneal_steps, lr_floor, settle, .. } = self.config;
        let left = 1.0 - (env_steps - self.rate_set_at) as f32 / anneal_steps;
        let floor = if settle && self.reaches_goal { lr_floor.min(LR_FLOOR) } else { lr_floor };
        if anneal_steps > 0.0 { lr * left.max(floor) } else { lr }
    }

    /// Return and length of the last episodes: means over a hundred, or as many as there are.
    fn recent(&self) -> Option<[f32; 2]> {
        let recent = &self.recent[..self.progress.episodes.min(RECENT as u64) as usize];
        let mean = |sum: f64| (sum / recent.len() as f64) as f32;
        let returns = mean(recent.iter().map(|e| f64::from(e.total)).sum());
        let lengths = mean(recent.iter().map(|e| f64::from(e.length)).sum());
        (!recent.is_empty()).then_some([returns, lengths])
    }

    /// Whether the last hundred episodes are as good as the task asks for.
    fn reach_goal(&self) -> bool {
        let is_good = |[mean, _]: [f32; 2]| f64::from(mean) >= self.kind.spec.solved_at;
        self.progress.episodes >= RECENT as u64 && self.recent().is_some_and(is_good)
    }

    fn end_iteration(&mut self) -> IterationStats {
        let updates = f64::from(std::mem::take(&mut self.updates));
        let [policy_loss, value_loss, entropy, approx_kl, clip_fraction, grad_norm] =
            std::mem::take(&mut self.sums).map(|sum| (sum / updates) as f32);
        self.diverged = !(policy_loss.is_finite() && value_loss.is_finite() && grad_norm.is_finite());
        self.progress.iterations += 1;
        self.phase = Phase::Act { step: 0 };
        self.focus();
        self.pack();
        // What the rate in force was; the next iteration's follows from what this one's episodes came to.
        let lr = self.lr();
        self.reaches_goal = self.reach_goal();
        let recent = self.recent();
        IterationStats {
            mean_return: recent.map(|[returns, _]| returns),
            mean_length: recent.map(|[_, lengths]| lengths),
            policy_loss,
            value_loss,
            entropy,
            approx_kl,
            clip_fraction,
            grad_norm,
            lr,
            ..std::mem::take(&mut self.stats)
        }
    }

    /// The lens of the next iteration: what was seen so far.
    fn focus(&mut self) {
        if let Some(lens) = &mut self.lens {
            for (i, moments) in self.seen.iter().enumerate() {
                (lens.mean[i], lens.scale[i]) = (moments.mean as f32, moments.scale());
            }
        }
    }

    fn pack(&mut self) {
        self.judging_params.values_mut().copy_from_slice(self.params.values());
        self.acting_packed.pack(&self.params);
        self.judging_packed.pack(&self.params);
        self.learning_packed.pack(&self.params);
    }

    /// Takes the settings that may change while training goes on; call it at a boundary. Whoever changes what the
    /// loss is (`clip_value`) while a machine works for the learner lends it again.
    pub fn set_live(&mut self, config: &PpoConfig) {
        let kept = self.config.clone();
        let config = PpoConfig {
            envs: kept.envs,
            rollout_steps: kept.rollout_steps,
            minibatches: kept.minibatches,
            hidden: kept.hidden,
            shared: kept.shared,
            tanh: kept.tanh,
            normalize_observation: kept.normalize_observation,
            normalize_reward: kept.normalize_reward,
            spread: kept.spread,
            squash: kept.squash,
            ..config.clone()
        };
        // Whoever turns a knob wants to see it act: a rate that has cooled down would hide it.
        if config != kept {
            self.rate_set_at = self.progress.env_steps;
        }
        self.config = config;
        if self.config.clip_value != kept.clip_value {
            self.plan_learning().expect("the same shapes as before");
        }
    }

    /// The loss is another graph where the critic is clipped.
    fn plan_learning(&mut self) -> Result<(), PpoError> {
        self.learning_plan = nets::plan_learning(self.task, &self.config, self.rows, self.isa)?;
        self.learning_packed = Packed::new(&self.learning_plan, &self.params);
        let learner =
            || Learner::new(&self.learning_plan, self.grads.len(), self.rows, self.task.observation);
        self.learners.iter_mut().for_each(|old| *old = learner());
        Ok(())
    }

    /// Plays fresh episodes greedily. At a boundary it judges the newest weights; between two, those
    /// that the rollout acts with.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Evaluation {
        let (mut sum, mut min, mut max) = (0.0, f32::INFINITY, f32::NEG_INFINITY);
        for first in (0..episodes).step_by(JUDGES * PANEL) {
            let with = Judging {
                isa: self.isa,
                task: self.task,
                params: &self.judging_params,
                packed: &self.judging_packed,
                lens: self.lens.as_ref(),
            };
            let left = |judge: usize| {
                ((episodes - first).saturating_sub((judge * PANEL) as u32) as usize).min(PANEL)
            };
            par::each_mut(&mut self.judges, |i, judge| {
                if left(i) > 0 {
                    judge.play(&with, seed, JUDGED | (first + (i * PANEL) as u32), left(i));
                }
            });
            for (i, judge) in self.judges.iter().enumerate() {
                for &total in judge.totals.iter().take(left(i)) {
                    (sum, min, max) = (sum + f64::from(total), min.min(total), max.max(total));
                }
            }
        }
        if episodes == 0 {
            return Evaluation::default();
        }
        Evaluation { mean: (sum / f64::from(episodes)) as f32, min, max }
    }

    /// Numbers that [`Ppo::think`] gives for a state.
    pub fn odds_len(&self) -> usize {
        match self.task.head {
            Head::Choices(count) => count,
            Head::Level { .. } => 2,
        }
    }

    /// What the policy thinks of some states `[n][observation]`: for each the probability of every choice,
    /// or the action that its mean stands for and its spread in the same unit, `[n][odds_len]`; and the
    /// discounted return that the critic expects, `[n]`. It leaves no trace.
    pub fn think(&mut self, observations: &[f32], odds: &mut [f32], values: &mut [f32]) {
        let features = self.task.observation;
        let width = self.odds_len();
        let unit = 1.0 / self.reward_scale();
        let (_, spread) = self.spread();
        let judge = &mut self.judges[0];
        let mut panel = [0.0; PANEL];
        for (block, states) in observations.chunks(PANEL * features).enumerate() {
            let input = judge.executor.input_mut("observation");
            for (row, state) in states.chunks_exact(features).enumerate() {
                for (i, &x) in state.iter().enumerate() {
                    let x = match &self.lens {
                        Some(lens) => ((x - lens.mean[i]) * lens.scale[i]).clamp(-FARTHEST, FARTHEST),
                        None => x,
                    };
                    input[i * PANEL + row] = x;
                }
            }
            judge.executor.run(&self.judging_params, &self.judging_packed);
            let (policy, value) = (judge.executor.output("policy"), judge.executor.output("value"));
            if let Head::Level { middle, half, squash } = self.task.head {
                dispatch(self.isa, Steer { means: policy, middle, half, squash, given: &mut panel });
            }
            for row in 0..states.len() / features {
                let at = block * PANEL + row;
                values[at] = value[row] * unit;
                let odds = &mut odds[at * width..][..width];
                match self.task.head {
                    // Shown, never learned from: the platform's own exp will do.
                    Head::Choices(count) => {
                        let logit = |i: usize| policy[i * PANEL + row];
                        let top = (0..count).map(logit).fold(f32::NEG_INFINITY, f32::max);
                        odds.iter_mut().enumerate().for_each(|(i, p)| *p = (logit(i) - top).exp());
                        let sum: f32 = odds.iter().sum();
                        odds.iter_mut().for_each(|p| *p /= sum);
                    }
                    Head::Level { half, .. } => odds.copy_from_slice(&[panel[row], spread * half]),
                }
            }
        }
    }

    /// The action that an evaluation takes on these odds.
    pub fn greedy(&self, odds: &[f32]) -> f32 {
        match self.task.head {
            Head::Choices(count) => greedy(|i| odds[i], count) as f32,
            Head::Level { .. } => odds[0],
        }
    }

    /// Tells where the time goes by this clock, in seconds from anywhere; it changes nothing else.
    pub fn lend_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }

    /// Where the time went since the last call.
    pub fn take_times(&mut self) -> Times {
        std::mem::take(&mut self.times)
    }

    pub fn kind(&self) -> &'static Kind {
        self.kind
    }
    pub fn config(&self) -> &PpoConfig {
        &self.config
    }
    pub fn progress(&self) -> PpoProgress {
        self.progress
    }
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// Policy and critic as the rollout runs them.
    pub fn plan(&self) -> &Plan {
        &self.acting_plan
    }
    /// One shard of a training step: forward, loss and backward.
    pub fn training_plan(&self) -> &Plan {
        &self.learning_plan
    }
    /// What another machine has to know to do the same.
    pub fn blueprint(&self) -> Result<Blueprint, PpoError> {
        let (task, config) = (self.task, &self.config);
        let minibatch = self.rows * self.shards;
        Ok(Blueprint {
            kind: self.kind,
            config: config.clone(),
            seed: self.seed,
            head: task.head,
            acting: nets::plan_acting(task, config, config.envs, Layout::Rows, self.isa)?,
            learning: nets::plan_learning(task, config, minibatch, self.isa)?,
            minibatch,
            draws: Rng::new(self.seed, ACT).key,
            shuffles: Rng::new(self.seed, SHUFFLE),
        })
    }
    /// All that another machine begins with.
    pub fn start(&self) -> Result<Start, PpoError> {
        Ok(Start { blueprint: self.blueprint()?, params: self.params.clone(), state: self.state() })
    }
    pub fn trail(&self) -> &Trail {
        &self.trail
    }
    pub fn trail_clear(&mut self) {
        self.trail.clear();
    }

    // ---- checkpoints ----

    /// All there is to go on from, at a boundary.
    pub fn state(&self) -> Vec<(String, Vec<usize>, Data)> {
        let envs = self.config.envs;
        let mut parts: Vec<_> = self
            .params
            .table()
            .specs()
            .iter()
            .map(|spec| {
                let values = self.params.values()[spec.range()].to_vec();
                (spec.name.to_string(), spec.file_shape().to_vec(), Data::F32(values))
            })
            .collect();
        let mut part = |name: &str, shape: &[usize], data| parts.push((name.into(), shape.to_vec(), data));
        let Optimizer { m, v, steps } = &self.optimizer;
        part("adam.m", &[m.len()], Data::F32(m.to_vec()));
        part("adam.v", &[v.len()], Data::F32(v.to_vec()));
        part("adam.steps", &[1], Data::U64(vec![*steps]));

        let width = self.actors[0].world.state_len();
        let mut states = vec![0.0; envs * width];
        let (mut steps, mut episodes) = (Vec::new(), Vec::new());
        let elsewhere = self.away.as_ref().filter(|away| away.has_harvest).map(|away| &away.harvest);
        if let Some(harvest) = elsewhere {
            states.copy_from_slice(&harvest.states);
            (steps, episodes) = (harvest.steps.clone(), harvest.episodes.clone());
        } else {
            for (env, state) in states.chunks_exact_mut(width).enumerate() {
                let clock = self.actors[env / LANES].world.environment(env % LANES, state);
                steps.push(clock.0);
                episodes.push(clock.1);
            }
        }
        part("environments.state", &[envs, width], Data::F32(states));
        part("environments.steps", &[envs], Data::U32(steps));
        part("environments.episodes", &[envs], Data::U32(episodes));
        let lanes = |there: fn(&Harvest) -> &[f32], here: fn(&Actor) -> &[f32]| match elsewhere {
            Some(harvest) => Data::F32(there(harvest).to_vec()),
            None => Data::F32((0..envs).map(|env| here(&self.actors[env / LANES])[env % LANES]).collect()),
        };
        part("environments.returns", &[envs], lanes(|there| &there.totals, |actor| &actor.totals));
        if self.config.normalize_reward {
            let sums = lanes(|there| &there.discounted, |actor| &actor.discounted);
            part("environments.discounted", &[envs], sums);
            part("moments.reward", &[3], Data::F64(numbers(&self.earned).to_vec()));
        }
        if self.lens.is_some() {
            let all = self.seen.iter().flat_map(numbers).collect();
            part("moments.observation", &[self.seen.len(), 3], Data::F64(all));
        }
        part("recent.returns", &[RECENT], Data::F32(self.recent.iter().map(|e| e.total).collect()));
        part("recent.lengths", &[RECENT], Data::U32(self.recent.iter().map(|e| e.length).collect()));
        let PpoProgress { iterations, env_steps, episodes } = self.progress;
        part("progress", &[4], Data::U64(vec![iterations, env_steps, episodes, self.rate_set_at]));
        parts
    }

    /// Whether there is anything worth saving: [`Ppo::restore`] would take what [`Ppo::state`] gives, and the losses and gradients
    /// of the last iteration were numbers. A learner that has diverged should not overwrite a good save.
    pub fn is_finite(&self) -> bool {
        !self.diverged && self.state().iter().all(|(_, _, data)| data.is_finite())
    }

    /// Goes on exactly from what [`Ppo::state`] gave, with the same settings and seed.
    pub fn restore<'a>(
        kind: &'static Kind,
        config: PpoConfig,
        seed: u32,
        isa: Isa,
        find: &Find<'a>,
    ) -> Result<Self, PpoError> {
        let missing = |name: &str| PpoError::Missing { name: name.into() };
        // Before anything is allocated: the checkpoint is of as many environments as the settings say.
        let named = |name: &str, len| find(name).is_some_and(|(_, data)| data.len() == len);
        if !named("environments.steps", config.envs) {
            return Err(missing("environments.steps"));
        }
        let mut ppo = Self::new(kind, config, seed, isa)?;
        let bad = |name: &str| PpoError::BadValue { name: name.into() };
        let floats = |name: &str, shape: &[usize]| match find(name) {
            Some((found, Data::F32(values)))
                if found == shape && values.len() == shape.iter().product::<usize>() =>
            {
                if values.iter().all(|v| v.is_finite()) { Ok(values) } else { Err(bad(name)) }
            }
            _ => Err(missing(name)),
        };
        let moments = |name: &str, shape: &[usize]| match find(name) {
            Some((found, Data::F64(values)))
                if found == shape && values.len() == shape.iter().product::<usize>() =>
            {
                let all: Vec<_> = values.as_chunks::<3>().0.iter().map(|&x| moments_from(x)).collect();
                let sound = |m: &Moments| m.count >= 0.0 && m.mean.is_finite() && m.squares >= 0.0;
                let finite = |m: &Moments| m.count.is_finite() && m.squares.is_finite();
                if all.iter().all(|m| sound(m) && finite(m)) { Ok(all) } else { Err(bad(name)) }
            }
            _ => Err(missing(name)),
        };
        let words = |name: &str, len: usize| match find(name) {
            Some((_, Data::U32(values))) if values.len() == len => Ok(values),
            _ => Err(missing(name)),
        };
        let longs = |name: &str, len: usize| match find(name) {
            Some((_, Data::U64(values))) if values.len() == len => Ok(values),
            _ => Err(missing(name)),
        };

        for spec in ppo.params.table().clone().specs() {
            let values = floats(&spec.name, spec.file_shape())?;
            ppo.params.values_mut()[spec.range()].copy_from_slice(values);
        }
        let len = ppo.params.values().len();
        let (m, v) = (floats("adam.m", &[len])?, floats("adam.v", &[len])?);
        ppo.optimizer.m.copy_from_slice(m);
        ppo.optimizer.v.copy_from_slice(v);
        ppo.optimizer.steps = longs("adam.steps", 1)?[0];

        let envs = ppo.config.envs;
        let width = ppo.actors[0].world.state_len();
        let states = floats("environments.state", &[envs, width])?;
        let steps = words("environments.steps", envs)?;
        let episodes = words("environments.episodes", envs)?;
        for (env, state) in states.chunks_exact(width).enumerate() {
            let world = &mut ppo.actors[env / LANES].world;
            world.set_environment(env % LANES, state, steps[env], episodes[env])?;
        }
        // A file of CartPole from before there were other worlds: every step is worth 1.
        let without = |name| find(name).is_none();
        let old =
            kind.spec.id == "CartPole-v1" && without("recent.returns") && without("environments.returns");
        let from_counts = |counts: &[u32]| counts.iter().map(|&n| n as f32).collect::<Vec<_>>();
        let totals = if old { from_counts(steps) } else { floats("environments.returns", &[envs])?.clone() };
        for (env, total) in totals.into_iter().enumerate() {
            ppo.actors[env / LANES].totals[env % LANES] = total;
        }
        if ppo.config.normalize_reward {
            for (env, &sum) in floats("environments.discounted", &[envs])?.iter().enumerate() {
                ppo.actors[env / LANES].discounted[env % LANES] = sum;
            }
            ppo.earned = moments("moments.reward", &[3])?[0];
        }
        if ppo.lens.is_some() {
            ppo.seen = moments("moments.observation", &[ppo.seen.len(), 3])?;
        }
        let lengths = words("recent.lengths", RECENT)?;
        if lengths.iter().any(|&length| length > kind.spec.step_limit) {
            return Err(bad("recent.lengths"));
        }
        let returns = if old { from_counts(lengths) } else { floats("recent.returns", &[RECENT])?.clone() };
        for ((episode, &length), total) in ppo.recent.iter_mut().zip(lengths).zip(returns) {
            *episode = Finished { total, length };
        }
        let progress = longs("progress", 4)?;
        let per_iteration = (envs * ppo.config.rollout_steps) as u64;
        if progress[0].checked_mul(per_iteration) != Some(progress[1])
            || progress[2] > progress[1]
            || progress[3] > progress[1]
        {
            return Err(bad("progress"));
        }
        ppo.rate_set_at = progress[3];
        ppo.progress = PpoProgress { iterations: progress[0], env_steps: progress[1], episodes: progress[2] };
        ppo.reaches_goal = ppo.reach_goal();
        ppo.focus();
        ppo.pack();
        Ok(ppo)
    }
}

/// Samples of a shard, and shards of a minibatch.
fn cut(config: &PpoConfig) -> (usize, usize) {
    let minibatch = config.envs * config.rollout_steps / config.minibatches;
    let shards = minibatch.div_ceil(SHARD).max(minibatch.div_ceil(SMALL_SHARD).min(ABREAST));
    (minibatch / shards, shards)
}

/// Where the divergence stands among the metrics.
const KL: usize = 3;
const _: () = assert!(METRICS.len() == 5 && matches!(METRICS[KL].as_bytes(), b"approx_kl"));

/// Number by number, in the order in which they come.
fn sum<const N: usize>(parts: impl Iterator<Item = [f64; N]>) -> [f64; N] {
    parts.fold([0.0; N], |sum, part| std::array::from_fn(|i| sum[i] + part[i]))
}

/// A time shared out as one of many workers spent its own.
fn shared_out(whole: f64, [a, b]: [f64; 2]) -> (f64, f64) {
    let first = if a + b > 0.0 { whole * a / (a + b) } else { whole };
    (first, whole - first)
}

fn numbers(moments: &Moments) -> [f64; 3] {
    [moments.count, moments.mean, moments.squares]
}

fn moments_from([count, mean, squares]: [f64; 3]) -> Moments {
    Moments { count, mean, squares }
}
