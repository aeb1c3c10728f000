//! Proximal policy optimisation (Schulman et al. 2017) on thousands of CartPoles, with the details that
//! made the reference implementation work (Huang et al. 2022): orthogonal first weights, Adam with
//! ε = 1e-5, generalised advantage estimation (Schulman et al. 2016), advantages normalised in each
//! minibatch, a clipped surrogate, an optionally clipped critic, an entropy bonus, one limit on the
//! length of the whole gradient, and a time limit that is not mistaken for a failure.
//!
//!   L = -E[min(ρ·A, clamp(ρ, 1-ε, 1+ε)·A)] + c_v·½·E[(V - R)²] - c_e·E[H],  ρ = π(a|s)/π_old(a|s)
//!
//! One iteration: every environment takes `rollout_steps` (Act), advantages are estimated, and the
//! samples are learned from in `epochs` shuffled passes of `minibatches` (Learn). [`Ppo::advance`]
//! does it in slices of a few milliseconds.
//!
//! **The same numbers for any number of threads.** Environments are cut into actors of 128 and a
//! minibatch into shards of at most 256 samples, shards into at most 16 groups; each piece has its own
//! memory, and gradients are added group after group. Random numbers are functions of (seed, what they
//! are for, where and when). Nothing is allocated between two iterations.
//!
//! It refuses to know who watches, what time it is and where a checkpoint goes.

use graph::{Adam, Executor, Graph, Init, Layout, NodeId, Optimizer, Packed, Params, Plan};
use math::{Isa, Kernel, PANEL, Rng, Simd, dispatch, par, poly, rng};
use std::sync::Arc;
use worlds::CartPoles;
use worlds::cartpole::{ACTIONS, BadState, LENGTH_SHIFT, OBSERVATION, STEP_LIMIT, TERMINATED};

/// Environments an actor steps: as many panels as a random block has words.
const LANES: usize = 4 * PANEL;
/// Samples of one gradient shard at most.
const SHARD: usize = 256;
/// Shards that can be worked on at once.
const GROUPS: usize = 16;
/// Steps of all environments together in one slice of a rollout.
const SLICE: usize = 8192;
/// Samples of one iteration at most: they take about 80 bytes each.
const MAX_SAMPLES: usize = 1 << 22;
/// Episodes that the training curve is a mean of.
const RECENT: usize = 100;
/// Environments whose states the trail keeps.
pub const SHOWN: usize = 256;
/// Steps the trail keeps before it forgets the older half.
const TRAIL: usize = 512;
/// Environments one judge steps at once, and how many judges there are.
const JUDGES: usize = 4;

/// Streams of random numbers of one seed.
const ACT: u32 = 0x0041_4354;
const SHUFFLE: u32 = 0x0053_4846;
/// Evaluations use environments that no training reaches.
const JUDGED: u32 = 1 << 31;

/// Settings. The default is tuned for CartPole: `cargo run --release -p learn --example solve -- --seeds 20`.
#[derive(Clone, Debug, PartialEq)]
pub struct PpoConfig {
    pub envs: usize,
    pub rollout_steps: usize,
    pub epochs: usize,
    pub minibatches: usize,
    /// Units in each of the two hidden layers of the policy and of the critic.
    pub hidden: usize,
    pub lr: f32,
    /// γ
    pub gamma: f32,
    /// λ of the advantage estimate.
    pub lambda: f32,
    /// ε of the surrogate.
    pub clip: f32,
    /// c_e
    pub entropy: f32,
    /// c_v
    pub value_coef: f32,
    pub max_grad_norm: f32,
    /// Environment steps over which the learning rate falls to [`LR_FLOOR`] of itself, counted from when
    /// a setting was last changed; 0 keeps it constant.
    pub anneal_steps: f32,
    pub clip_value: bool,
    pub normalize_advantage: bool,
}

/// Where an annealed learning rate ends. Once every pole stays up, normalised advantages are noise, and a
/// policy that goes on following them drifts until it falls: at 0.005 some seeds did within 25M steps.
pub const LR_FLOOR: f32 = 0.001;

impl Default for PpoConfig {
    fn default() -> Self {
        Self {
            envs: 2048,
            rollout_steps: 16,
            epochs: 4,
            minibatches: 16,
            hidden: 32,
            lr: 0.01,
            gamma: 0.998,
            lambda: 0.97,
            clip: 0.2,
            entropy: 0.01,
            value_coef: 0.5,
            max_grad_norm: 0.5,
            anneal_steps: 5e6,
            clip_value: false,
            normalize_advantage: true,
        }
    }
}

/// Settings or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PpoError {
    #[error("{name} is {value}, but must lie between {min} and {max}; choose a value in that range")]
    Range { name: &'static str, value: f64, min: f64, max: f64 },
    #[error(
        "{envs} environments times {steps} steps is more than {MAX_SAMPLES} samples an iteration; lower one of the two"
    )]
    TooManySamples { envs: usize, steps: usize },
    #[error(
        "{samples} samples cannot be cut into {minibatches} minibatches; lower minibatches, or raise envs or rollout_steps"
    )]
    TooFewSamples { samples: usize, minibatches: usize },
    #[error(
        "the checkpoint has no {name} of the right kind and shape; load one saved with the same settings"
    )]
    Missing { name: String },
    #[error("{name} of the checkpoint holds a value that cannot be; load an earlier checkpoint")]
    BadValue { name: String },
    #[error(transparent)]
    BadState(#[from] BadState),
    #[error(transparent)]
    Plan(#[from] graph::PlanError),
}

impl PpoConfig {
    fn check(&self) -> Result<(), PpoError> {
        let whole = |name, value: usize, min: usize, max: usize| (name, value as f64, min as f64, max as f64);
        let float = |name, value: f32, min: f32, max: f32| (name, value.into(), min.into(), max.into());
        for (name, value, min, max) in [
            whole("envs", self.envs, 1, MAX_SAMPLES),
            whole("rollout_steps", self.rollout_steps, 1, MAX_SAMPLES),
            whole("epochs", self.epochs, 1, 1000),
            whole("minibatches", self.minibatches, 1, MAX_SAMPLES),
            whole("hidden", self.hidden, 1, 4096),
            float("lr", self.lr, 0.0, 1.0),
            float("gamma", self.gamma, 0.0, 1.0),
            float("lambda", self.lambda, 0.0, 1.0),
            float("clip", self.clip, 0.0, 10.0),
            float("entropy", self.entropy, 0.0, 10.0),
            float("value_coef", self.value_coef, 0.0, 100.0),
            float("max_grad_norm", self.max_grad_norm, 0.0, 1e6),
            float("anneal_steps", self.anneal_steps, 0.0, 1e18),
        ] {
            // Written so that NaN is out of range.
            if !(value >= min && value <= max) {
                return Err(PpoError::Range { name, value, min, max });
            }
        }
        let (envs, steps) = (self.envs, self.rollout_steps);
        let samples = envs.saturating_mul(steps);
        if samples > MAX_SAMPLES {
            return Err(PpoError::TooManySamples { envs, steps });
        }
        if samples / self.minibatches < 2 {
            return Err(PpoError::TooFewSamples { samples, minibatches: self.minibatches });
        }
        Ok(())
    }
}

/// What one call of [`Ppo::advance`] did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slice {
    /// Some steps of all environments.
    Rollout,
    /// One minibatch.
    Update,
    /// The minibatch that ended an iteration.
    Iteration(IterationStats),
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

/// A part of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    F32(Vec<f32>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

/// Shape and contents of a part of a checkpoint, by name.
pub type Find<'a> = dyn Fn(&str) -> Option<(&'a [usize], &'a Data)> + 'a;

/// What the first environments lived through: cart's place (m) and pole's angle (rad) before each
/// step, and whether the step ended the episode. Keeps the last 512 steps at most.
#[derive(Clone, Debug)]
pub struct Trail {
    pub shown: usize,
    pub steps: usize,
    pub features: usize,
    states: Vec<f32>,
    ended: Vec<u8>,
}

impl Trail {
    fn new(shown: usize) -> Self {
        let features = 2;
        Self {
            shown,
            steps: 0,
            features,
            states: vec![0.0; TRAIL * shown * features],
            ended: vec![0; TRAIL * shown],
        }
    }

    /// `[steps][shown][features]`
    pub fn states(&self) -> &[f32] {
        &self.states[..self.steps * self.shown * self.features]
    }

    /// `[steps][shown]`: 1 where the episode ended.
    pub fn ended(&self) -> &[u8] {
        &self.ended[..self.steps * self.shown]
    }

    /// Adds step t of a rollout.
    fn push(&mut self, actors: &[Actor], t: usize) {
        if self.steps == TRAIL {
            self.steps = TRAIL / 2;
            self.states.copy_within(self.steps * self.shown * self.features.., 0);
            self.ended.copy_within(self.steps * self.shown.., 0);
        }
        let (states, ended) = (&mut self.states[self.steps * self.shown * self.features..], &mut self.ended);
        let ended = &mut ended[self.steps * self.shown..];
        for env in 0..self.shown {
            let (actor, lane) = (&actors[env / LANES], env % LANES);
            let panel = &actor.observations[t * LANES * OBSERVATION + lane / PANEL * PANEL * OBSERVATION..];
            states[2 * env] = panel[lane % PANEL];
            states[2 * env + 1] = panel[2 * PANEL + lane % PANEL];
            ended[env] = u8::from(actor.ended[t * LANES + lane] != 0);
        }
        self.steps += 1;
    }
}

// ---- networks ----

/// Two hidden layers of rectified units, and a head.
fn network(g: &mut Graph, observation: NodeId, name: &str, hidden: usize, out: usize, gain: f32) -> NodeId {
    let mut x = observation;
    for layer in 0..2 {
        x = g.dense(x, &format!("{name}.{layer}"), hidden, Init::Orthogonal(2f32.sqrt()));
        x = g.relu(x);
    }
    g.dense(x, &format!("{name}.2"), out, Init::Orthogonal(gain))
}

/// The policy's logits `[rows, ACTIONS]` and the critic's value `[rows, 1]`.
fn networks(g: &mut Graph, hidden: usize, rows: usize) -> (NodeId, NodeId) {
    let observation = g.input("observation", [rows, OBSERVATION]);
    let logits = network(g, observation, "policy", hidden, ACTIONS, 0.01);
    let value = network(g, observation, "critic", hidden, 1, 1.0);
    (logits, value)
}

fn plan_acting(hidden: usize, rows: usize, isa: Isa) -> Result<Arc<Plan>, PpoError> {
    let mut g = Graph::new();
    let (logits, value) = networks(&mut g, hidden, rows);
    Ok(Arc::new(Plan::new(&g, &[("logits", logits), ("value", value)], Layout::Panels, isa)?))
}

/// Numbers the loss gives beside its gradient, each a mean over the shard.
const METRICS: [&str; 5] = ["policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction"];

fn plan_learning(hidden: usize, rows: usize, isa: Isa) -> Result<Arc<Plan>, PpoError> {
    let mut g = Graph::new();
    let g = &mut g;
    let (logits, value) = networks(g, hidden, rows);
    let column = |g: &mut Graph, name| g.input(name, [rows, 1]);
    let scalar = |g: &mut Graph, name| g.input(name, [1, 1]);
    let (action, old_log_prob) = (column(g, "action"), column(g, "old_log_prob"));
    let (advantage, target) = (column(g, "advantage"), column(g, "return"));
    let old_value = column(g, "old_value");
    let (clip, value_range) = (scalar(g, "clip"), scalar(g, "value_range"));
    let (entropy_coef, value_coef) = (scalar(g, "entropy_coef"), scalar(g, "value_coef"));
    let within = |g: &mut Graph, x, lo, hi| {
        let x = g.max(x, lo);
        g.min(x, hi)
    };

    // The clipped surrogate.
    let log_probs = g.log_softmax(logits);
    let log_prob = g.take(log_probs, action);
    let log_ratio = g.sub(log_prob, old_log_prob);
    let ratio = g.exp(log_ratio);
    let (lo, hi) = (g.affine(clip, -1.0, 1.0), g.affine(clip, 1.0, 1.0));
    let clipped = within(g, ratio, lo, hi);
    let (free, held) = (g.mul(ratio, advantage), g.mul(clipped, advantage));
    let surrogate = g.min(free, held);
    let surrogate = g.mean_all(surrogate);
    let policy_loss = g.neg(surrogate);

    // The critic; with an endless range the clipped error is the free one.
    let lowest = g.neg(value_range);
    let change = g.sub(value, old_value);
    let change = within(g, change, lowest, value_range);
    let near = g.add(old_value, change);
    let (error, near_error) = (g.sub(value, target), g.sub(near, target));
    let (square, near_square) = (g.square(error), g.square(near_error));
    let worse = g.max(square, near_square);
    let mean = g.mean_all(worse);
    let value_loss = g.affine(mean, 0.5, 0.0);

    // H = -Σ p·ln p
    let probs = g.exp(log_probs);
    let terms = g.mul(probs, log_probs);
    let sum = g.sum_all(terms);
    let entropy = g.affine(sum, -1.0 / rows as f32, 0.0);

    let weighted_value = g.mul(value_loss, value_coef);
    let bonus = g.mul(entropy, entropy_coef);
    let loss = g.add(policy_loss, weighted_value);
    let loss = g.sub(loss, bonus);

    // E[(ρ - 1) - ln ρ] estimates the divergence of the new policy from the old (Schulman 2020).
    let less_one = g.affine(ratio, 1.0, -1.0);
    let kl = g.sub(less_one, log_ratio);
    let approx_kl = g.mean_all(kl);
    let (moved, limit) = (g.square(less_one), g.square(clip));
    let beyond = g.greater(moved, limit);
    let clip_fraction = g.mean_all(beyond);

    let gradients = g.gradients(loss);
    let metrics = [policy_loss, value_loss, entropy, approx_kl, clip_fraction];
    let outputs: Vec<(&str, NodeId)> = METRICS.into_iter().zip(metrics).collect();
    Ok(Arc::new(Plan::training(g, &outputs, &gradients, isa)?))
}

// ---- acting ----

/// Floats of a sample: observation, action, log-probability, advantage, value.
const SAMPLE: usize = OBSERVATION + 4;

/// An episode cut short by the time limit at `place` of a rollout: what it would still have earned is
/// the critic's value of the state it had reached.
#[derive(Clone, Copy, Debug)]
struct Cut {
    place: usize,
    reached: [f32; OBSERVATION],
}

/// Up to 128 environments and what they lived through in this rollout of T steps. Panels of the last
/// actor that hold no environment are stepped too and never looked at.
struct Actor {
    world: CartPoles,
    executor: Executor,
    /// Index among the actors.
    index: u32,
    /// `[T][LANES/PANEL][OBSERVATION][PANEL]`
    observations: Vec<f32>,
    /// `[T][LANES]`, as the next ones
    actions: Vec<f32>,
    log_probs: Vec<f32>,
    /// `[T + 1][LANES]`
    values: Vec<f32>,
    ended: Vec<u32>,
    /// The critic's value of the state in which an episode was cut short, else 0.
    bootstraps: Vec<f32>,
    advantages: Vec<f32>,
    /// `[T][LANES]`
    rewards: Vec<f32>,
    reached: Vec<f32>,
    cuts: Vec<Cut>,
    /// `[T][count][SAMPLE]`
    samples: Vec<f32>,
    /// Sums over the samples of R, R², R - V and (R - V)².
    moments: [f64; 4],
}

/// What all actors share in a slice.
#[derive(Clone, Copy)]
struct Acting<'a> {
    isa: Isa,
    params: &'a Params,
    packed: &'a Packed,
    rng: Rng,
    /// Steps every environment had taken when the rollout began.
    first_step: u64,
    gamma: f32,
    lambda: f32,
}

impl Actor {
    fn new(plan: &Arc<Plan>, isa: Isa, seed: u32, first: usize, count: usize, steps: usize) -> Self {
        Self {
            // All of the lanes, so that buffers have one shape.
            world: CartPoles::new(isa, seed, first as u32, LANES),
            executor: Executor::new(plan),
            index: (first / LANES) as u32,
            observations: vec![0.0; steps * LANES * OBSERVATION],
            actions: vec![0.0; steps * LANES],
            log_probs: vec![0.0; steps * LANES],
            values: vec![0.0; (steps + 1) * LANES],
            ended: vec![0; steps * LANES],
            bootstraps: vec![0.0; steps * LANES],
            advantages: vec![0.0; steps * LANES],
            rewards: vec![0.0; steps * LANES],
            reached: vec![0.0; LANES * OBSERVATION],
            cuts: Vec::with_capacity(LANES * steps.div_ceil(STEP_LIMIT as usize)),
            samples: vec![0.0; steps * count * SAMPLE],
            moments: [0.0; 4],
        }
    }

    /// Takes steps `from..to` of the rollout.
    fn act(&mut self, with: Acting, from: usize, to: usize) {
        if from == 0 {
            self.cuts.clear();
        }
        for t in from..to {
            let lanes = t * LANES..(t + 1) * LANES;
            let observation = &mut self.observations[t * LANES * OBSERVATION..][..LANES * OBSERVATION];
            observation.copy_from_slice(self.world.observations());
            self.executor.input_mut("observation").copy_from_slice(observation);
            self.executor.run(with.params, with.packed);
            self.values[lanes.clone()].copy_from_slice(self.executor.output("value"));
            let step = with.first_step + t as u64;
            dispatch(
                with.isa,
                Sample {
                    key: with.rng.key,
                    counter: [self.index * PANEL as u32, step as u32, (step >> 32) as u32],
                    logits: self.executor.output("logits"),
                    actions: &mut self.actions[lanes.clone()],
                    log_probs: &mut self.log_probs[lanes.clone()],
                },
            );
            let (rewards, ended) = (&mut self.rewards[lanes.clone()], &mut self.ended[lanes.clone()]);
            self.world.step(&self.actions[lanes.clone()], &mut self.reached, rewards, ended);
            for lane in (0..LANES).filter(|&lane| ended[lane] != 0 && ended[lane] & TERMINATED == 0) {
                let at = lane / PANEL * PANEL * OBSERVATION + lane % PANEL;
                let reached = std::array::from_fn(|i| self.reached[at + i * PANEL]);
                self.cuts.push(Cut { place: t * LANES + lane, reached });
            }
        }
    }

    /// Values of a batch of observations: `self.values` of the states after the rollout, and the
    /// bootstraps of the episodes that were cut short.
    fn value_ends(&mut self, with: Acting) {
        self.executor.input_mut("observation").copy_from_slice(self.world.observations());
        self.executor.run(with.params, with.packed);
        let last = self.values.len() - LANES;
        self.values[last..].copy_from_slice(self.executor.output("value"));

        self.bootstraps.fill(0.0);
        for cuts in self.cuts.chunks(LANES) {
            let input = self.executor.input_mut("observation");
            for (lane, cut) in cuts.iter().enumerate() {
                let at = lane / PANEL * PANEL * OBSERVATION + lane % PANEL;
                cut.reached.iter().enumerate().for_each(|(i, &x)| input[at + i * PANEL] = x);
            }
            self.executor.run(with.params, with.packed);
            let values = self.executor.output("value");
            cuts.iter().zip(values).for_each(|(cut, &value)| self.bootstraps[cut.place] = value);
        }
    }

    /// Advantages, and the samples in the form in which minibatches gather them.
    fn estimate(&mut self, with: Acting) {
        self.value_ends(with);
        dispatch(
            with.isa,
            Advantages {
                gamma: with.gamma,
                decay: with.gamma * with.lambda,
                rewards: &self.rewards,
                values: &self.values,
                bootstraps: &self.bootstraps,
                ended: &self.ended,
                advantages: &mut self.advantages,
            },
        );
        let steps = self.actions.len() / LANES;
        let count = self.samples.len() / SAMPLE / steps;
        self.moments = [0.0; 4];
        for (row, sample) in self.samples.as_chunks_mut::<SAMPLE>().0.iter_mut().enumerate() {
            let (t, lane) = (row / count, row % count);
            let panel = &self.observations[(t * LANES + lane / PANEL * PANEL) * OBSERVATION..];
            let at = t * LANES + lane;
            let (advantage, value) = (self.advantages[at], self.values[at]);
            *sample = [
                panel[lane % PANEL],
                panel[lane % PANEL + PANEL],
                panel[lane % PANEL + 2 * PANEL],
                panel[lane % PANEL + 3 * PANEL],
                self.actions[at],
                self.log_probs[at],
                advantage,
                value,
            ];
            let (error, target) = (f64::from(advantage), f64::from(advantage + value));
            for (sum, x) in self.moments.iter_mut().zip([target, target * target, error, error * error]) {
                *sum += x;
            }
        }
    }
}

/// Draws an action for each of 128 environments: right where a uniform number is below π(right|s). A
/// random block gives four words; word w of lane l is for environment l of panel w.
struct Sample<'a> {
    key: [u32; 4],
    /// First lane, and the step's number.
    counter: [u32; 3],
    /// `[LANES/PANEL][ACTIONS][PANEL]`
    logits: &'a [f32],
    actions: &'a mut [f32],
    log_probs: &'a mut [f32],
}

impl Kernel for Sample<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let (zero, one) = (s.splat(0.0), s.splat(1.0));
        let [lane, low, high] = self.counter;
        for l in (0..PANEL).step_by(S::LANES) {
            let counter = [s.count_u(lane + l as u32), s.splat_u(low), s.splat_u(high), s.splat_u(0)];
            let words = rng::threefry(s, self.key, counter);
            for (panel, word) in words.into_iter().enumerate() {
                let at = panel * PANEL + l;
                let left = s.load(&self.logits[2 * panel * PANEL + l..]);
                let right = s.load(&self.logits[(2 * panel + 1) * PANEL + l..]);
                // With d the difference of the logits, π(right) = 1/(1 + exp(-d)); the exponent is
                // kept below 0.
                let d = s.sub(right, left);
                let e = poly::exp(s, s.neg(s.abs(d)));
                let sum = s.add(one, e);
                let push_right = s.div(s.select(s.gt(d, zero), one, e), sum);
                let to_right = s.lt(rng::uniform(s, word), push_right);
                let z = s.select(to_right, d, s.neg(d));
                let log_prob = s.sub(s.min(z, zero), poly::ln(s, sum));
                s.store(s.select(to_right, one, zero), &mut self.actions[at..]);
                s.store(log_prob, &mut self.log_probs[at..]);
            }
        }
    }
}

/// Backwards through the rollout: δ = r + γ·V' - V, A = δ + γλ·A'. Where an episode ended, A' is 0 and
/// V' the bootstrap.
struct Advantages<'a> {
    gamma: f32,
    /// γλ
    decay: f32,
    rewards: &'a [f32],
    values: &'a [f32],
    bootstraps: &'a [f32],
    ended: &'a [u32],
    advantages: &'a mut [f32],
}

impl Kernel for Advantages<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let zero = s.splat(0.0);
        let (gamma, decay) = (s.splat(self.gamma), s.splat(self.decay));
        for lane in (0..LANES).step_by(S::LANES) {
            let mut later = zero;
            for at in (0..self.ended.len() / LANES).rev().map(|t| t * LANES + lane) {
                let going = s.eq_u(s.load_u(&self.ended[at..]), s.splat_u(0));
                let next = s.load(&self.values[at + LANES..]);
                let next = s.select(going, next, s.load(&self.bootstraps[at..]));
                let delta =
                    s.sub(s.mul_add(gamma, next, s.load(&self.rewards[at..])), s.load(&self.values[at..]));
                later = s.mul_add(decay, s.select(going, later, zero), delta);
                s.store(later, &mut self.advantages[at..]);
            }
        }
    }
}

// ---- learning ----

/// Works on some shards of each minibatch, one after the other.
struct Learner {
    executor: Executor,
    /// Sum over this learner's shards.
    grads: Vec<f32>,
    metrics: [f64; METRICS.len()],
}

/// What all learners share in a minibatch.
#[derive(Clone, Copy)]
struct Learning<'a> {
    config: &'a PpoConfig,
    params: &'a Params,
    packed: &'a Packed,
    actors: &'a [Actor],
    /// Samples of an actor, but for the last.
    actor_samples: usize,
    /// Mean and 1/spread of the advantages.
    advantages: (f32, f32),
}

impl Learning<'_> {
    fn sample(&self, index: u32) -> &[f32; SAMPLE] {
        let (actor, row) = (index as usize / self.actor_samples, index as usize % self.actor_samples);
        &self.actors[actor].samples.as_chunks::<SAMPLE>().0[row]
    }
}

impl Learner {
    fn new(plan: &Arc<Plan>, len: usize) -> Self {
        Self { executor: Executor::new(plan), grads: vec![0.0; len], metrics: [0.0; METRICS.len()] }
    }

    /// Gradients and metrics of these samples, `rows` at a time.
    fn learn(&mut self, with: Learning, indices: &[u32], rows: usize) {
        self.metrics = [0.0; METRICS.len()];
        let config = with.config;
        for (name, value) in [
            ("clip", config.clip),
            ("value_range", if config.clip_value { config.clip } else { f32::MAX }),
            ("entropy_coef", config.entropy),
            ("value_coef", config.value_coef),
        ] {
            self.executor.input_mut(name)[0] = value;
        }
        for (shard, indices) in indices.chunks_exact(rows).enumerate() {
            self.gather(with, indices);
            self.executor.train(with.params, with.packed, &mut self.grads, shard > 0);
            for (sum, name) in self.metrics.iter_mut().zip(METRICS) {
                *sum += f64::from(self.executor.output(name)[0]);
            }
        }
    }

    fn gather(&mut self, with: Learning, indices: &[u32]) {
        let observation = self.executor.input_mut("observation").as_chunks_mut::<OBSERVATION>().0;
        for (to, &index) in observation.iter_mut().zip(indices) {
            to.copy_from_slice(&with.sample(index)[..OBSERVATION]);
        }
        let (mean, scale) = with.advantages;
        let mut column = |name, of: &dyn Fn(&[f32; SAMPLE]) -> f32| {
            for (to, &index) in self.executor.input_mut(name).iter_mut().zip(indices) {
                *to = of(with.sample(index));
            }
        };
        column("action", &|s| s[4]);
        column("old_log_prob", &|s| s[5]);
        column("advantage", &|s| (s[6] - mean) * scale);
        column("return", &|s| s[6] + s[7]);
        column("old_value", &|s| s[7]);
    }
}

/// Fills with random words: word i is a function of (key, fill, i).
struct Words<'a> {
    key: [u32; 4],
    fill: u64,
    words: &'a mut [u32],
}

impl Kernel for Words<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for (block, words) in self.words.chunks_mut(64).enumerate() {
            let mut all = [0; 64];
            for l in (0..16).step_by(S::LANES) {
                let counter = [
                    s.count_u((block * 16 + l) as u32),
                    s.splat_u(self.fill as u32),
                    s.splat_u((self.fill >> 32) as u32),
                    s.splat_u(0),
                ];
                for (w, word) in rng::threefry(s, self.key, counter).into_iter().enumerate() {
                    s.store_u(word, &mut all[16 * w + l..]);
                }
            }
            words.copy_from_slice(&all[..words.len()]);
        }
    }
}

// ---- judging ----

/// Plays fresh episodes greedily, a panel at a time.
struct Judge {
    world: CartPoles,
    executor: Executor,
    actions: Vec<f32>,
    reached: Vec<f32>,
    rewards: Vec<f32>,
    ended: Vec<u32>,
    lengths: [u32; PANEL],
}

impl Judge {
    fn new(plan: &Arc<Plan>, isa: Isa) -> Self {
        Self {
            world: CartPoles::new(isa, 0, 0, PANEL),
            executor: Executor::new(plan),
            actions: vec![0.0; PANEL],
            reached: vec![0.0; PANEL * OBSERVATION],
            rewards: vec![0.0; PANEL],
            ended: vec![0; PANEL],
            lengths: [0; PANEL],
        }
    }

    /// Plays one episode in each lane.
    fn play(&mut self, params: &Params, packed: &Packed, seed: u32, first: u32) {
        self.world.reset(seed, first);
        self.lengths = [0; PANEL];
        while self.lengths.contains(&0) {
            self.executor.input_mut("observation").copy_from_slice(self.world.observations());
            self.executor.run(params, packed);
            let (left, right) = self.executor.output("logits").split_at(PANEL);
            for ((action, left), right) in self.actions.iter_mut().zip(left).zip(right) {
                *action = f32::from(right > left);
            }
            self.world.step(&self.actions, &mut self.reached, &mut self.rewards, &mut self.ended);
            for (length, end) in self.lengths.iter_mut().zip(&self.ended) {
                if *length == 0 {
                    *length = end >> LENGTH_SHIFT;
                }
            }
        }
    }
}

// ---- the algorithm ----

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Act { step: usize },
    Learn { epoch: usize, minibatch: usize },
}

pub struct Ppo {
    config: PpoConfig,
    isa: Isa,
    seed: u32,
    params: Params,
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
    /// The samples in the order of this epoch, and the random words that shuffle them.
    order: Vec<u32>,
    words: Vec<u32>,
    phase: Phase,
    progress: PpoProgress,
    /// Environment steps when a setting was last changed: the learning rate cools down from there.
    rate_set_at: u64,
    /// Lengths of the last episodes, which are their returns too: every step of CartPole is worth 1.
    /// Episode n stands at n modulo 100.
    recent: [u32; RECENT],
    stats: IterationStats,
    /// Of the metrics and the gradient's length, over the minibatches of this iteration.
    sums: [f64; METRICS.len() + 1],
    trail: Trail,
}

impl Ppo {
    pub fn new(config: PpoConfig, seed: u32, isa: Isa) -> Result<Self, PpoError> {
        config.check()?;
        let samples = config.envs * config.rollout_steps;
        let minibatch = samples / config.minibatches;
        let shards = minibatch.div_ceil(SHARD);
        let rows = minibatch / shards;
        let acting_plan = plan_acting(config.hidden, LANES, isa)?;
        let judging_plan = plan_acting(config.hidden, PANEL, isa)?;
        let learning_plan = plan_learning(config.hidden, rows, isa)?;
        let params = Params::new(learning_plan.table(), seed);
        let len = params.values().len();
        let actor = |first| {
            let count = LANES.min(config.envs - first);
            Actor::new(&acting_plan, isa, seed, first, count, config.rollout_steps)
        };
        Ok(Self {
            isa,
            seed,
            optimizer: Optimizer::new(&params),
            actors: (0..config.envs).step_by(LANES).map(actor).collect(),
            learners: (0..shards.min(GROUPS)).map(|_| Learner::new(&learning_plan, len)).collect(),
            judges: (0..JUDGES).map(|_| Judge::new(&judging_plan, isa)).collect(),
            acting_packed: Packed::new(&acting_plan, &params),
            judging_packed: Packed::new(&judging_plan, &params),
            learning_packed: Packed::new(&learning_plan, &params),
            rows,
            shards,
            grads: vec![0.0; len],
            order: (0..samples as u32).collect(),
            words: vec![0; samples],
            phase: Phase::Act { step: 0 },
            progress: PpoProgress::default(),
            rate_set_at: 0,
            recent: [0; RECENT],
            stats: IterationStats::default(),
            sums: [0.0; METRICS.len() + 1],
            trail: Trail::new(SHOWN.min(config.envs)),
            params,
            acting_plan,
            learning_plan,
            config,
        })
    }

    /// One slice of work, a few milliseconds with the preset.
    pub fn advance(&mut self) -> Slice {
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
                if minibatch == 0 {
                    self.shuffle(epoch);
                }
                self.learn(minibatch);
                self.phase = if minibatch + 1 < self.config.minibatches {
                    Phase::Learn { epoch, minibatch: minibatch + 1 }
                } else if epoch + 1 < self.config.epochs {
                    Phase::Learn { epoch: epoch + 1, minibatch: 0 }
                } else {
                    return Slice::Iteration(self.end_iteration(epoch));
                };
                Slice::Update
            }
        }
    }

    /// Between two iterations: the only place to save, or to change settings.
    pub fn at_boundary(&self) -> bool {
        self.phase == Phase::Act { step: 0 }
    }

    fn acting(&mut self) -> (Acting<'_>, &mut [Actor]) {
        let with = Acting {
            isa: self.isa,
            params: &self.params,
            packed: &self.acting_packed,
            rng: Rng::new(self.seed, ACT),
            first_step: self.progress.iterations * self.config.rollout_steps as u64,
            gamma: self.config.gamma,
            lambda: self.config.lambda,
        };
        (with, &mut self.actors)
    }

    fn act(&mut self, from: usize, to: usize) {
        let (with, actors) = self.acting();
        par::each_mut(actors, |_, actor| actor.act(with, from, to));
        let before = self.progress.episodes;
        for t in from..to {
            for (i, actor) in self.actors.iter().enumerate() {
                let count = LANES.min(self.config.envs - i * LANES);
                for end in actor.ended[t * LANES..][..count].iter().filter(|&&end| end != 0) {
                    self.recent[(self.progress.episodes % RECENT as u64) as usize] = end >> LENGTH_SHIFT;
                    self.progress.episodes += 1;
                }
            }
            self.trail.push(&self.actors, t);
        }
        self.stats.episodes += self.progress.episodes - before;
        self.progress.env_steps += ((to - from) * self.config.envs) as u64;
    }

    fn estimate(&mut self) {
        let (with, actors) = self.acting();
        par::each_mut(actors, |_, actor| actor.estimate(with));
        let mut moments = [0.0; 4];
        for actor in &self.actors {
            moments.iter_mut().zip(actor.moments).for_each(|(sum, part)| *sum += part);
        }
        let n = self.order.len() as f64;
        let variance = |sum: f64, squares: f64| squares / n - (sum / n) * (sum / n);
        let spread = variance(moments[0], moments[1]);
        let unexplained = variance(moments[2], moments[3]);
        self.stats.explained_variance = if spread > 0.0 { (1.0 - unexplained / spread) as f32 } else { 0.0 };
        self.order.iter_mut().enumerate().for_each(|(i, place)| *place = i as u32);
    }

    /// Fisher and Yates, with the epoch's own random words.
    fn shuffle(&mut self, epoch: usize) {
        let key = Rng::new(self.seed, SHUFFLE).key;
        let fill = self.progress.iterations << 16 | epoch as u64;
        dispatch(self.isa, Words { key, fill, words: &mut self.words });
        for i in (1..self.order.len()).rev() {
            let j = (u64::from(self.words[i]) * (i as u64 + 1)) >> 32;
            self.order.swap(i, j as usize);
        }
    }

    fn learn(&mut self, minibatch: usize) {
        let (rows, shards, groups) = (self.rows, self.shards, self.learners.len());
        let size = self.order.len() / self.config.minibatches;
        let indices = &self.order[minibatch * size..][..rows * shards];
        let mut with = Learning {
            config: &self.config,
            params: &self.params,
            packed: &self.learning_packed,
            actors: &self.actors,
            actor_samples: LANES * self.config.rollout_steps,
            advantages: (0.0, 1.0),
        };
        if self.config.normalize_advantage {
            let (mut sum, mut squares) = (0.0, 0.0);
            for &index in indices {
                let advantage = f64::from(with.sample(index)[6]);
                sum += advantage;
                squares += advantage * advantage;
            }
            let mean = sum / indices.len() as f64;
            let spread = (squares / indices.len() as f64 - mean * mean).max(0.0).sqrt();
            with.advantages = (mean as f32, (1.0 / (spread + 1e-8)) as f32);
        }
        par::each_mut(&mut self.learners, |group, learner| {
            let of = |group: usize| group * shards / groups * rows;
            learner.learn(with, &indices[of(group)..of(group + 1)], rows);
        });

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
        self.learning_packed.pack(&self.params);
    }

    /// The learning rate in force.
    fn lr(&self) -> f32 {
        let PpoConfig { lr, anneal_steps, .. } = self.config;
        let left = 1.0 - (self.progress.env_steps - self.rate_set_at) as f32 / anneal_steps;
        if anneal_steps > 0.0 { lr * left.max(LR_FLOOR) } else { lr }
    }

    fn end_iteration(&mut self, last_epoch: usize) -> IterationStats {
        let updates = ((last_epoch + 1) * self.config.minibatches) as f64;
        let [policy_loss, value_loss, entropy, approx_kl, clip_fraction, grad_norm] =
            std::mem::take(&mut self.sums).map(|sum| (sum / updates) as f32);
        let mean = self.mean_length();
        self.progress.iterations += 1;
        self.phase = Phase::Act { step: 0 };
        self.pack();
        IterationStats {
            mean_return: mean,
            mean_length: mean,
            policy_loss,
            value_loss,
            entropy,
            approx_kl,
            clip_fraction,
            grad_norm,
            lr: self.lr(),
            ..std::mem::take(&mut self.stats)
        }
    }

    fn mean_length(&self) -> Option<f32> {
        let count = self.progress.episodes.min(RECENT as u64) as usize;
        let sum: u32 = self.recent[..count].iter().sum();
        (count > 0).then(|| sum as f32 / count as f32)
    }

    fn pack(&mut self) {
        self.acting_packed.pack(&self.params);
        self.judging_packed.pack(&self.params);
        self.learning_packed.pack(&self.params);
    }

    /// Takes the settings that may change while training goes on; call it at a boundary.
    pub fn set_live(&mut self, config: &PpoConfig) {
        let PpoConfig { envs, rollout_steps, minibatches, hidden, .. } = self.config;
        let config = &PpoConfig { envs, rollout_steps, minibatches, hidden, ..config.clone() };
        // Whoever turns a knob wants to see it act: a rate that has cooled down would hide it.
        if *config != self.config {
            self.rate_set_at = self.progress.env_steps;
        }
        self.config = config.clone();
    }

    /// Plays fresh episodes greedily. At a boundary it judges the newest weights; between two, those
    /// that the rollout acts with.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Evaluation {
        let (mut sum, mut min, mut max) = (0u64, u32::MAX, 0);
        for first in (0..episodes).step_by(JUDGES * PANEL) {
            let (params, packed) = (&self.params, &self.judging_packed);
            let left = |judge: usize| (episodes - first).saturating_sub((judge * PANEL) as u32) as usize;
            par::each_mut(&mut self.judges, |i, judge| {
                if left(i) > 0 {
                    judge.play(params, packed, seed, JUDGED | (first + (i * PANEL) as u32));
                }
            });
            for (i, judge) in self.judges.iter().enumerate() {
                for &length in judge.lengths.iter().take(left(i)) {
                    (sum, min, max) = (sum + u64::from(length), min.min(length), max.max(length));
                }
            }
        }
        if episodes == 0 {
            return Evaluation::default();
        }
        Evaluation { mean: (sum as f64 / f64::from(episodes)) as f32, min: min as f32, max: max as f32 }
    }

    /// What the policy thinks of one state: probabilities of left and right, and the value.
    pub fn policy(&mut self, observation: [f32; OBSERVATION]) -> ([f32; ACTIONS], f32) {
        let executor = &mut self.judges[0].executor;
        let input = executor.input_mut("observation");
        observation.into_iter().enumerate().for_each(|(i, x)| input[i * PANEL] = x);
        executor.run(&self.params, &self.judging_packed);
        let logits = executor.output("logits");
        // Shown, never learned from: the platform's own exp will do.
        let right = 1.0 / (1.0 + (logits[0] - logits[PANEL]).exp());
        ([1.0 - right, right], executor.output("value")[0])
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
    pub fn trail(&self) -> &Trail {
        &self.trail
    }
    pub fn trail_clear(&mut self) {
        self.trail.steps = 0;
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
        let all = || (0..envs).map(|env| self.actors[env / LANES].world.environment(env % LANES));
        part("environments.state", &[envs, OBSERVATION], Data::F32(all().flat_map(|e| e.0).collect()));
        part("environments.steps", &[envs], Data::U32(all().map(|e| e.1).collect()));
        part("environments.episodes", &[envs], Data::U32(all().map(|e| e.2).collect()));
        part("recent.lengths", &[RECENT], Data::U32(self.recent.to_vec()));
        let PpoProgress { iterations, env_steps, episodes } = self.progress;
        part("progress", &[4], Data::U64(vec![iterations, env_steps, episodes, self.rate_set_at]));
        parts
    }

    /// Goes on exactly from what [`Ppo::state`] gave, with the same settings and seed.
    pub fn restore<'a>(config: PpoConfig, seed: u32, isa: Isa, find: &Find<'a>) -> Result<Self, PpoError> {
        let mut ppo = Self::new(config, seed, isa)?;
        let missing = |name: &str| PpoError::Missing { name: name.into() };
        let bad = |name: &str| PpoError::BadValue { name: name.into() };
        let floats = |name: &str, shape: &[usize]| match find(name) {
            Some((found, Data::F32(values)))
                if found == shape && values.len() == shape.iter().product::<usize>() =>
            {
                if values.iter().all(|v| v.is_finite()) { Ok(values) } else { Err(bad(name)) }
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
        let states = floats("environments.state", &[envs, OBSERVATION])?.as_chunks::<OBSERVATION>().0;
        let steps = words("environments.steps", envs)?;
        let episodes = words("environments.episodes", envs)?;
        for env in 0..envs {
            let world = &mut ppo.actors[env / LANES].world;
            world.set_environment(env % LANES, states[env], steps[env], episodes[env])?;
        }
        ppo.recent.copy_from_slice(words("recent.lengths", RECENT)?);
        if ppo.recent.iter().any(|&length| length > STEP_LIMIT) {
            return Err(bad("recent.lengths"));
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
        ppo.pack();
        Ok(ppo)
    }
}
