//! Acting: environments with the policy that plays them, and what becomes of a rollout: advantages and
//! the samples to learn from. And judging: fresh episodes played greedily.

use super::config::MAX_CHOICES;
use super::nets::{Head, Task, level};
use graph::{Executor, Packed, Params, Plan};
use math::{Isa, Kernel, PANEL, Rng, Simd, dispatch, poly, rng};
use std::f32::consts::{PI, TAU};
use std::sync::Arc;
use worlds::vector::{LENGTH_SHIFT, TERMINATED};
use worlds::{Kind, Vector};

/// Environments an actor steps: as many panels as a random block has words.
pub(super) const LANES: usize = 4 * PANEL;
/// Normalised numbers are cut off here, on both sides.
pub const FARTHEST: f32 = 10.0;

/// Mean and spread of what was seen so far, merged a rollout at a time (Chan, Golub & LeVeque 1979).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    pub count: f64,
    pub mean: f64,
    pub squares: f64,
}

impl Moments {
    /// Adds `count` numbers x by the sums of x - `about` and of its square.
    pub fn merge(&mut self, count: f64, about: f64, sum: f64, sum_of_squares: f64) {
        if count == 0.0 {
            return;
        }
        let (mean, squares) = (about + sum / count, sum_of_squares - sum * sum / count);
        let (all, apart) = (self.count + count, mean - self.mean);
        self.squares += squares.max(0.0) + apart * apart * self.count * count / all;
        self.mean += apart * count / all;
        self.count = all;
    }

    /// What a number is multiplied by to have spread 1.
    pub fn scale(&self) -> f32 {
        if self.count > 0.0 { (1.0 / (self.squares / self.count + 1e-8).sqrt()) as f32 } else { 1.0 }
    }
}

/// How observations are shown to the networks: less `mean`, times `scale`.
#[derive(Clone, Debug)]
pub(super) struct Lens {
    pub mean: Vec<f32>,
    pub scale: Vec<f32>,
}

impl Lens {
    /// Panels of observations as the networks see them.
    pub fn show(lens: Option<&Lens>, isa: Isa, observations: &[f32], to: &mut [f32]) {
        match lens {
            None => to.copy_from_slice(observations),
            Some(lens) => dispatch(isa, Show { lens, observations, to }),
        }
    }
}

struct Show<'a> {
    lens: &'a Lens,
    observations: &'a [f32],
    to: &'a mut [f32],
}

impl Kernel for Show<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let panel = self.lens.mean.len() * PANEL;
        let (low, high) = (s.splat(-FARTHEST), s.splat(FARTHEST));
        for (from, to) in self.observations.chunks_exact(panel).zip(self.to.chunks_exact_mut(panel)) {
            for (i, (&mean, &scale)) in self.lens.mean.iter().zip(&self.lens.scale).enumerate() {
                for l in (i * PANEL..(i + 1) * PANEL).step_by(S::LANES) {
                    let x = s.mul(s.sub(s.load(&from[l..]), s.splat(mean)), s.splat(scale));
                    s.store(s.max(s.min(x, high), low), &mut to[l..]);
                }
            }
        }
    }
}

/// An episode that ended in this slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finished {
    pub total: f32,
    pub length: u32,
}

/// Up to 128 environments and what they lived through in this rollout of T steps. Panels of the last
/// actor that hold no environment are stepped too and never looked at.
pub(super) struct Actor {
    pub world: Box<dyn Vector>,
    executor: Executor,
    /// Index among the actors, and environments that count.
    index: u32,
    count: usize,
    features: usize,
    /// `[T][LANES/PANEL][features][PANEL]`
    pub observations: Vec<f32>,
    /// As the policy drew them, `[T][LANES]`, as the next ones.
    actions: Vec<f32>,
    log_probs: Vec<f32>,
    /// `[T + 1][LANES]`
    values: Vec<f32>,
    pub ended: Vec<u32>,
    /// The critic's value of the state in which an episode was cut short, else 0.
    bootstraps: Vec<f32>,
    advantages: Vec<f32>,
    rewards: Vec<f32>,
    /// What the environments are given, `[LANES]`.
    given: Vec<f32>,
    reached: Vec<f32>,
    /// Places of the rollout at which the time limit cut an episode short: what it would still have earned
    /// is the critic's value of the state it had reached, `[cuts][features]`.
    cuts: Vec<usize>,
    cut_states: Vec<f32>,
    /// Return so far of each lane's episode, and its discounted sum of rewards.
    pub totals: Vec<f32>,
    pub discounted: Vec<f32>,
    pub finished: Vec<Finished>,
    /// `[T][count][features + 4]`: observation, action, log-probability, advantage, value.
    pub samples: Vec<f32>,
    /// Sums over the samples of R, R², R - V and (R - V)².
    pub errors: [f64; 4],
    /// Sums of each number of the observations, less the lens's mean, and of its square.
    pub seen: Vec<[f64; 2]>,
    /// Of the discounted sums of rewards, and of its square.
    pub earned: [f64; 2],
    /// Seconds in the policy and in the world, by the clock that the first actor is given.
    pub spent: [f64; 2],
}

/// What all actors share in a slice.
#[derive(Clone, Copy)]
pub(super) struct Acting<'a> {
    pub isa: Isa,
    pub task: Task,
    pub params: &'a Params,
    pub packed: &'a Packed,
    pub lens: Option<&'a Lens>,
    pub rng: Rng,
    /// Steps every environment had taken when the rollout began.
    pub first_step: u64,
    /// ln σ and σ, where actions are numbers.
    pub spread: (f32, f32),
    pub gamma: f32,
    pub lambda: f32,
    /// What rewards are multiplied by.
    pub reward_scale: f32,
    pub normalize_reward: bool,
    pub clock: fn() -> f64,
}

/// Floats of a sample beside its observation.
pub(super) const SAMPLE: usize = 4;

impl Actor {
    /// Of one that has `count` environments for so many steps.
    pub fn bytes(plan: &Plan, kind: &Kind, isa: Isa, count: usize, steps: usize) -> f64 {
        let features = kind.spec.observation.len() as f64;
        let (lanes, steps, count) = (LANES as f64, steps as f64, count as f64);
        let cuts = lanes * (steps / f64::from(kind.spec.step_limit)).ceil();
        // Observations; seven more numbers of each step; what is finished; then once what a step needs.
        let rollout = lanes * steps * (features + 7.0 + 2.0) + lanes * (features + 4.0);
        let samples = steps * count * (features + SAMPLE as f64);
        let once = (kind.many)(isa, 0, 0, LANES).bytes() + plan.arena_bytes() + size_of::<Self>();
        once as f64 + 4.0 * (rollout + samples) + cuts * (8.0 + 4.0 * features)
    }

    pub fn new(
        plan: &Arc<Plan>,
        kind: &Kind,
        isa: Isa,
        seed: u32,
        first: usize,
        count: usize,
        steps: usize,
    ) -> Self {
        let features = kind.spec.observation.len();
        let cuts = LANES * steps.div_ceil(kind.spec.step_limit as usize);
        Self {
            // All of the lanes, so that buffers have one shape.
            world: (kind.many)(isa, seed, first as u32, LANES),
            executor: Executor::new(plan),
            index: (first / LANES) as u32,
            count,
            features,
            observations: vec![0.0; steps * LANES * features],
            actions: vec![0.0; steps * LANES],
            log_probs: vec![0.0; steps * LANES],
            values: vec![0.0; (steps + 1) * LANES],
            ended: vec![0; steps * LANES],
            bootstraps: vec![0.0; steps * LANES],
            advantages: vec![0.0; steps * LANES],
            rewards: vec![0.0; steps * LANES],
            given: vec![0.0; LANES],
            reached: vec![0.0; LANES * features],
            cuts: Vec::with_capacity(cuts),
            cut_states: Vec::with_capacity(cuts * features),
            totals: vec![0.0; LANES],
            discounted: vec![0.0; LANES],
            finished: Vec::with_capacity(LANES * steps),
            samples: vec![0.0; steps * count * (features + SAMPLE)],
            errors: [0.0; 4],
            seen: vec![[0.0; 2]; features],
            earned: [0.0; 2],
            spent: [0.0; 2],
        }
    }

    /// Takes steps `from..to` of the rollout.
    pub fn act(&mut self, with: Acting, from: usize, to: usize) {
        if from == 0 {
            self.cuts.clear();
            self.cut_states.clear();
        }
        self.finished.clear();
        self.spent = [0.0; 2];
        // A clock costs something: the first actor stands for all.
        let timed = self.index == 0;
        let now = || if timed { (with.clock)() } else { 0.0 };
        let mut began_s = now();
        for t in from..to {
            let lanes = t * LANES..(t + 1) * LANES;
            let observation = &mut self.observations[t * LANES * self.features..][..LANES * self.features];
            observation.copy_from_slice(self.world.observations());
            Lens::show(with.lens, with.isa, observation, self.executor.input_mut("observation"));
            self.executor.run(with.params, with.packed);
            self.values[lanes.clone()].copy_from_slice(self.executor.output("value"));
            let step = with.first_step + t as u64;
            let draw = Draw {
                key: with.rng.key,
                counter: [self.index * PANEL as u32, step as u32, (step >> 32) as u32],
                policy: self.executor.output("policy"),
                actions: &mut self.actions[lanes.clone()],
                log_probs: &mut self.log_probs[lanes.clone()],
            };
            let given = match with.task.head {
                Head::Choices(count) => {
                    dispatch(with.isa, Choose { draw, count });
                    &self.actions[lanes.clone()]
                }
                Head::Level { middle, half, squash } => {
                    let (log_spread, spread) = with.spread;
                    let given = &mut self.given;
                    dispatch(with.isa, Sway { draw, log_spread, spread, middle, half, squash, given });
                    &self.given
                }
            };
            let thought_s = now();
            let (rewards, ended) = (&mut self.rewards[lanes.clone()], &mut self.ended[lanes]);
            self.world.step(given, &mut self.reached, rewards, ended);
            self.totals.iter_mut().zip(&*rewards).for_each(|(total, reward)| *total += reward);
            let stepped_s = now();
            self.spent[0] += thought_s - began_s;
            self.spent[1] += stepped_s - thought_s;
            began_s = stepped_s;
            self.end_episodes(t);
        }
    }

    /// Notes the episodes that ended at step t, and the states in which they were cut short.
    fn end_episodes(&mut self, t: usize) {
        let ended = &self.ended[t * LANES..(t + 1) * LANES];
        for panel in (0..self.count).step_by(PANEL) {
            if ended[panel..panel + PANEL].iter().fold(0, |any, end| any | end) == 0 {
                continue;
            }
            for lane in panel..(panel + PANEL).min(self.count) {
                let end = ended[lane];
                if end == 0 {
                    continue;
                }
                let total = std::mem::take(&mut self.totals[lane]);
                self.finished.push(Finished { total, length: end >> LENGTH_SHIFT });
                if end & TERMINATED == 0 {
                    self.cuts.push(t * LANES + lane);
                    let state = &self.reached[panel * self.features..];
                    self.cut_states.extend((0..self.features).map(|i| state[i * PANEL + lane % PANEL]));
                }
            }
        }
    }

    /// Where the rollout ended in money: the discounted sums of rewards, whose spread rewards are divided
    /// by.
    pub fn count_rewards(&mut self, gamma: f32) {
        self.earned = [0.0; 2];
        for (rewards, ended) in self.rewards.chunks_exact(LANES).zip(self.ended.chunks_exact(LANES)) {
            for lane in 0..self.count {
                let sum = self.discounted[lane] * gamma + rewards[lane];
                self.discounted[lane] = if ended[lane] == 0 { sum } else { 0.0 };
                self.earned[0] += f64::from(sum);
                self.earned[1] += f64::from(sum) * f64::from(sum);
            }
        }
    }

    /// Values of a batch of observations: `self.values` of the states after the rollout, and the
    /// bootstraps of the episodes that were cut short.
    fn value_ends(&mut self, with: Acting) {
        let Self { executor, features, .. } = self;
        Lens::show(with.lens, with.isa, self.world.observations(), executor.input_mut("observation"));
        executor.run(with.params, with.packed);
        let last = self.values.len() - LANES;
        self.values[last..].copy_from_slice(executor.output("value"));

        self.bootstraps.fill(0.0);
        for (cuts, states) in self.cuts.chunks(LANES).zip(self.cut_states.chunks(LANES * *features)) {
            for (lane, state) in states.chunks_exact(*features).enumerate() {
                let at = lane / PANEL * PANEL * *features + lane % PANEL;
                state.iter().enumerate().for_each(|(i, &x)| self.reached[at + i * PANEL] = x);
            }
            Lens::show(with.lens, with.isa, &self.reached, executor.input_mut("observation"));
            executor.run(with.params, with.packed);
            let values = executor.output("value");
            cuts.iter().zip(values).for_each(|(&place, &value)| self.bootstraps[place] = value);
        }
    }

    /// Advantages, and the samples in the form in which minibatches gather them.
    pub fn estimate(&mut self, with: Acting) {
        self.value_ends(with);
        dispatch(
            with.isa,
            Advantages {
                gamma: with.gamma,
                decay: with.gamma * with.lambda,
                scale: with.reward_scale,
                limit: if with.normalize_reward { FARTHEST } else { f32::MAX },
                rewards: &self.rewards,
                values: &self.values,
                bootstraps: &self.bootstraps,
                ended: &self.ended,
                advantages: &mut self.advantages,
            },
        );
        // Loops of known length are a few moves a sample.
        match self.features {
            2 => self.write_samples::<2>(with),
            3 => self.write_samples::<3>(with),
            4 => self.write_samples::<4>(with),
            6 => self.write_samples::<6>(with),
            8 => self.write_samples::<8>(with),
            _ => self.write_samples::<0>(with),
        }
    }

    /// `F` is the number of features, or 0 for any.
    fn write_samples<const F: usize>(&mut self, with: Acting) {
        let mut errors = [0.0; 4];
        self.seen.fill([0.0; 2]);
        let (count, features) = (self.count, if F > 0 { F } else { self.features });
        let shown = &mut self.reached;
        let rows = self.samples.chunks_exact_mut(count * (features + SAMPLE));
        for (t, rows) in rows.enumerate() {
            let observations = &self.observations[t * LANES * features..][..LANES * features];
            if let Some(lens) = with.lens {
                for (lane, i) in (0..count).flat_map(|lane| (0..features).map(move |i| (lane, i))) {
                    let at = (lane / PANEL * features + i) * PANEL + lane % PANEL;
                    let apart = f64::from(observations[at]) - f64::from(lens.mean[i]);
                    self.seen[i][0] += apart;
                    self.seen[i][1] += apart * apart;
                }
                Lens::show(with.lens, with.isa, observations, shown);
            }
            let shown = if with.lens.is_some() { &*shown } else { observations };
            let lanes = t * LANES..(t + 1) * LANES;
            let (actions, log_probs) = (&self.actions[lanes.clone()], &self.log_probs[lanes.clone()]);
            let (advantages, values) = (&self.advantages[lanes.clone()], &self.values[lanes]);
            for (lane, sample) in rows.chunks_exact_mut(features + SAMPLE).enumerate() {
                let panel = &shown[lane / PANEL * PANEL * features..][..PANEL * features];
                let (advantage, value) = (advantages[lane], values[lane]);
                let (observation, rest) = sample.split_at_mut(features);
                for i in 0..features {
                    observation[i] = panel[i * PANEL + lane % PANEL];
                }
                rest.copy_from_slice(&[actions[lane], log_probs[lane], advantage, value]);
                let (error, target) = (f64::from(advantage), f64::from(advantage + value));
                for (sum, x) in errors.iter_mut().zip([target, target * target, error, error * error]) {
                    *sum += x;
                }
            }
        }
        self.errors = errors;
    }
}

/// Draws an action for each of 128 environments. A random block gives four words; word w of lane l is for
/// environment l of panel w.
struct Draw<'a> {
    key: [u32; 4],
    /// First lane, and the step's number.
    counter: [u32; 3],
    /// `[LANES/PANEL][outputs][PANEL]`
    policy: &'a [f32],
    actions: &'a mut [f32],
    log_probs: &'a mut [f32],
}

impl Draw<'_> {
    #[inline(always)]
    fn words<S: Simd>(&self, s: S, l: usize) -> [S::U; 4] {
        let [lane, low, high] = self.counter;
        let counter = [s.count_u(lane + l as u32), s.splat_u(low), s.splat_u(high), s.splat_u(0)];
        rng::threefry(s, self.key, counter)
    }
}

/// One of `count` choices: the first whose cumulative probability is above a uniform number.
struct Choose<'a> {
    draw: Draw<'a>,
    count: usize,
}

impl Kernel for Choose<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { draw, count } = self;
        let (zero, one) = (s.splat(0.0), s.splat(1.0));
        for l in (0..PANEL).step_by(S::LANES) {
            for (panel, word) in draw.words(s, l).into_iter().enumerate() {
                let logit = |i: usize| s.load(&draw.policy[(count * panel + i) * PANEL + l..]);
                let mut top = logit(0);
                for i in 1..count {
                    top = s.max(top, logit(i));
                }
                let mut reached = [zero; MAX_CHOICES];
                let mut sum = zero;
                for i in 0..count {
                    sum = s.add(sum, poly::exp(s, s.sub(logit(i), top)));
                    reached[i] = sum;
                }
                let target = s.mul(rng::uniform(s, word), sum);
                let (mut choice, mut chosen) = (zero, logit(0));
                for i in 1..count {
                    let beyond = s.ge(target, reached[i - 1]);
                    choice = s.add(choice, s.select(beyond, one, zero));
                    chosen = s.select(beyond, logit(i), chosen);
                }
                let at = panel * PANEL + l;
                s.store(choice, &mut draw.actions[at..]);
                s.store(s.sub(s.sub(chosen, top), poly::ln(s, sum)), &mut draw.log_probs[at..]);
            }
        }
    }
}

/// A number from a Gaussian (Box & Muller 1958), and what the environment is given for it.
struct Sway<'a> {
    draw: Draw<'a>,
    log_spread: f32,
    spread: f32,
    middle: f32,
    half: f32,
    squash: bool,
    given: &'a mut [f32],
}

impl Kernel for Sway<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { draw, log_spread, spread, middle, half, squash, given } = self;
        let constant = s.splat(-log_spread - 0.5 * LN_TAU);
        for l in (0..PANEL).step_by(S::LANES) {
            let [a, b, c, d] = draw.words(s, l);
            let [a, b] = normals(s, a, b);
            let [c, d] = normals(s, c, d);
            for (panel, noise) in [a, b, c, d].into_iter().enumerate() {
                let at = panel * PANEL + l;
                let drawn = s.mul_add(noise, s.splat(spread), s.load(&draw.policy[at..]));
                s.store(drawn, &mut draw.actions[at..]);
                s.store(level(s, drawn, middle, half, squash), &mut given[at..]);
                let log_prob = s.mul_add(s.mul(noise, noise), s.splat(-0.5), constant);
                s.store(log_prob, &mut draw.log_probs[at..]);
            }
        }
    }
}

/// ln 2π
const LN_TAU: f32 = 1.837_877_1;

/// Two independent normal numbers from two words.
#[inline(always)]
fn normals<S: Simd>(s: S, a: S::U, b: S::U) -> [S::F; 2] {
    // 1 - u lies above 0.
    let log = poly::ln(s, s.sub(s.splat(1.0), rng::uniform(s, a)));
    let radius = s.sqrt(s.mul(s.splat(-2.0), log));
    let angle = s.sub(s.mul(rng::uniform(s, b), s.splat(TAU)), s.splat(PI));
    let (sin, cos) = poly::sin_cos(s, angle);
    [s.mul(radius, cos), s.mul(radius, sin)]
}

/// Backwards through the rollout: δ = r + γ·V' - V, A = δ + γλ·A'. Where an episode ended, A' is 0 and
/// V' the bootstrap.
struct Advantages<'a> {
    gamma: f32,
    /// γλ
    decay: f32,
    scale: f32,
    /// Of a scaled reward, either way.
    limit: f32,
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
        let (scale, limit) = (s.splat(self.scale), s.splat(self.limit));
        for lane in (0..LANES).step_by(S::LANES) {
            let mut later = zero;
            for at in (0..self.ended.len() / LANES).rev().map(|t| t * LANES + lane) {
                let going = s.eq_u(s.load_u(&self.ended[at..]), s.splat_u(0));
                let next = s.load(&self.values[at + LANES..]);
                let next = s.select(going, next, s.load(&self.bootstraps[at..]));
                let reward = s.mul(s.load(&self.rewards[at..]), scale);
                let reward = s.max(s.min(reward, limit), s.neg(limit));
                let delta = s.sub(s.mul_add(gamma, next, reward), s.load(&self.values[at..]));
                later = s.mul_add(decay, s.select(going, later, zero), delta);
                s.store(later, &mut self.advantages[at..]);
            }
        }
    }
}

// ---- judging ----

/// Plays fresh episodes greedily, a panel at a time.
pub(super) struct Judge {
    world: Box<dyn Vector>,
    pub executor: Executor,
    actions: Vec<f32>,
    reached: Vec<f32>,
    rewards: Vec<f32>,
    ended: Vec<u32>,
    done: [bool; PANEL],
    pub totals: [f32; PANEL],
}

impl Judge {
    /// Of one: its environments and a policy for them.
    pub fn bytes(plan: &Plan, kind: &Kind, isa: Isa) -> f64 {
        let lanes = PANEL * (kind.spec.observation.len() + 3);
        ((kind.many)(isa, 0, 0, PANEL).bytes() + plan.arena_bytes() + 4 * lanes) as f64
    }

    pub fn new(plan: &Arc<Plan>, kind: &Kind, isa: Isa) -> Self {
        Self {
            world: (kind.many)(isa, 0, 0, PANEL),
            executor: Executor::new(plan),
            actions: vec![0.0; PANEL],
            reached: vec![0.0; PANEL * kind.spec.observation.len()],
            rewards: vec![0.0; PANEL],
            ended: vec![0; PANEL],
            done: [false; PANEL],
            totals: [0.0; PANEL],
        }
    }

    /// Plays one episode in each of the first `count` lanes.
    pub fn play(&mut self, with: &Judging, seed: u32, first: u32, count: usize) {
        self.world.reset(seed, first);
        self.totals = [0.0; PANEL];
        self.done = std::array::from_fn(|lane| lane >= count);
        // Counted: as compiled for SIMD128 without threads, a search for a false in `done` never ended.
        let mut going = count.min(PANEL);
        while going > 0 {
            let input = self.executor.input_mut("observation");
            Lens::show(with.lens, with.isa, self.world.observations(), input);
            self.executor.run(with.params, with.packed);
            let policy = self.executor.output("policy");
            match with.task.head {
                Head::Choices(choices) => {
                    for (lane, action) in self.actions.iter_mut().enumerate() {
                        *action = greedy(|i| policy[i * PANEL + lane], choices) as f32;
                    }
                }
                Head::Level { middle, half, squash } => {
                    dispatch(
                        with.isa,
                        Steer { means: policy, middle, half, squash, given: &mut self.actions },
                    );
                }
            }
            self.world.step(&self.actions, &mut self.reached, &mut self.rewards, &mut self.ended);
            for lane in 0..PANEL {
                if !self.done[lane] {
                    self.totals[lane] += self.rewards[lane];
                    self.done[lane] = self.ended[lane] != 0;
                    going -= usize::from(self.done[lane]);
                }
            }
        }
    }
}

/// What all judges share.
pub(super) struct Judging<'a> {
    pub isa: Isa,
    pub task: Task,
    pub params: &'a Params,
    pub packed: &'a Packed,
    pub lens: Option<&'a Lens>,
}

/// The choice with the highest logit; the first of equals.
pub(super) fn greedy(logit: impl Fn(usize) -> f32, count: usize) -> usize {
    (1..count).fold(0, |best, i| if logit(i) > logit(best) { i } else { best })
}

/// What environments are given for the policy's means.
pub(super) struct Steer<'a> {
    pub means: &'a [f32],
    pub middle: f32,
    pub half: f32,
    pub squash: bool,
    pub given: &'a mut [f32],
}

impl Kernel for Steer<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { means, middle, half, squash, given } = self;
        for l in (0..given.len()).step_by(S::LANES) {
            let mean = s.load(&means[l..]);
            s.store(level(s, mean, middle, half, squash), &mut given[l..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::PpoConfig;
    use super::super::nets::plan_acting;
    use super::*;
    use math::rng::uniform_from_word;
    use serde_json::Value;
    use worlds::vector::TRUNCATED;
    use worlds::{Actions, Axis, Impossible, Of, Plane, Spec};

    const FEATURES: usize = 2;
    /// Steps of a rollout, and lanes that count: neither a multiple of what it is cut into.
    const STEPS: usize = 17;
    const COUNT: usize = 100;

    /// A world without chance, in which nothing that is done matters: what every lane shows, earns and when its
    /// episodes end can be told without stepping.
    struct Clocks {
        /// Episodes and steps of each lane.
        at: [(u32, u32); LANES],
        observations: Vec<f32>,
    }

    impl Clocks {
        const LIMIT: u32 = 5;

        fn shown(lane: usize, episode: u32, step: u32) -> [f32; FEATURES] {
            [1.0 + 0.25 * lane as f32 + step as f32 + 20.0 * episode as f32, -(step as f32)]
        }

        fn reward(lane: usize, step: u32) -> f32 {
            1.5 - 0.5 * step as f32 - 0.01 * lane as f32
        }

        /// Some episodes end by themselves, some of those just when their time is over, and others by time alone.
        fn end(lane: usize, episode: u32, length: u32) -> u32 {
            let own = [2, 5, 9, 4, 7][(lane + episode as usize) % 5];
            (u32::from(length == own) * TERMINATED) | (u32::from(length == Self::LIMIT) * TRUNCATED)
        }

        fn write(to: &mut [f32], lane: usize, shown: [f32; FEATURES]) {
            for (i, x) in shown.into_iter().enumerate() {
                to[(lane / PANEL * FEATURES + i) * PANEL + lane % PANEL] = x;
            }
        }
    }

    impl Vector for Clocks {
        fn bytes(&self) -> usize {
            4 * self.observations.len()
        }

        fn count(&self) -> usize {
            LANES
        }
        fn observations(&self) -> &[f32] {
            &self.observations
        }
        fn reset(&mut self, _seed: u32, _first: u32) {
            self.at = [(0, 0); LANES];
            (0..LANES).for_each(|lane| Self::write(&mut self.observations, lane, Self::shown(lane, 0, 0)));
        }
        fn step(&mut self, _actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
            for (lane, (episode, step)) in self.at.iter_mut().enumerate() {
                rewards[lane] = Self::reward(lane, *step);
                *step += 1;
                Self::write(reached, lane, Self::shown(lane, *episode, *step));
                let flags = Self::end(lane, *episode, *step);
                ended[lane] = if flags == 0 { 0 } else { flags | (*step << LENGTH_SHIFT) };
                if flags != 0 {
                    (*episode, *step) = (*episode + 1, 0);
                }
                Self::write(&mut self.observations, lane, Self::shown(lane, *episode, *step));
            }
        }
        fn state_len(&self) -> usize {
            0
        }
        fn environment(&self, env: usize, _state: &mut [f32]) -> (u32, u32) {
            (self.at[env].1, self.at[env].0)
        }
        fn set_environment(
            &mut self,
            env: usize,
            _: &[f32],
            steps: u32,
            episodes: u32,
        ) -> Result<(), Impossible> {
            self.at[env] = (episodes, steps);
            Ok(())
        }
    }

    const AXIS: Axis = Axis { name: "time", low: 0.0, high: 1.0, of: Of::Number(0) };
    static SPEC: Spec = Spec {
        id: "Clocks",
        summary: "time passes",
        actions: Actions::Choices(2),
        choices: &["wait", "hope"],
        state: &[],
        observation: &["time", "step"],
        step_limit: Clocks::LIMIT,
        solved_at: 0.0,
        returns: [0.0, 1.0],
        shown_step_s: 1.0,
        plane: Plane { x: AXIS, y: AXIS, base: &[0.0; FEATURES] },
    };
    static KIND: Kind = Kind {
        spec: &SPEC,
        twin: || (worlds::kinds()[0].twin)(),
        many: |_, seed, first, _| {
            let mut clocks = Clocks { at: [(0, 0); LANES], observations: vec![0.0; LANES * FEATURES] };
            clocks.reset(seed, first);
            Box::new(clocks)
        },
    };

    #[track_caller]
    fn close(what: &str, found: f32, expected: f64, tolerance: f64) {
        let error = (f64::from(found) - expected).abs() / expected.abs().max(1.0);
        assert!(error < tolerance, "{what} is {found}, not {expected}");
    }

    /// All that becomes of two rollouts, against what is known of the world: episodes that end stop what flows back,
    /// those that time cuts short go on at the value of the state that was reached, and never at the next one's.
    #[test]
    fn a_rollout_becomes_the_samples_that_it_should() {
        let (gamma, lambda, reward_scale) = (0.9, 0.8, 8.0);
        let lens = Lens { mean: vec![0.5, 0.0], scale: vec![0.125, 1.0] };
        let config = PpoConfig { hidden: 1, ..PpoConfig::default() };
        let task = Task { observation: FEATURES, head: Head::Choices(2) };
        for (isa, lens) in Isa::available().into_iter().flat_map(|isa| [(isa, None), (isa, Some(&lens))]) {
            // The critic gives back the first number that it is shown; no choice is better than another.
            let plan = plan_acting(task, &config, LANES, graph::Layout::Panels, isa).unwrap();
            let mut params = Params::new(plan.table(), 0);
            params.values_mut().fill(0.0);
            params.get_mut("critic.0.weight").unwrap()[0] = 1.0;
            params.get_mut("critic.1.weight").unwrap()[0] = 1.0;
            params.get_mut("critic.2.weight").unwrap()[0] = 1.0;
            let value = |lane, episode, step| {
                let x = f64::from(Clocks::shown(lane, episode, step)[0]);
                if lens.is_some() { ((x - 0.5) * 0.125).min(10.0) } else { x }
            };
            let packed = Packed::new(&plan, &params);
            let mut actor = Actor::new(&plan, &KIND, isa, 0, 0, COUNT, STEPS);
            let mut at = [(0, 0); COUNT];
            let mut discounted = [0.0; COUNT];
            let mut totals = [0.0; COUNT];
            for rollout in 0..2 {
                let with = Acting {
                    isa,
                    task,
                    params: &params,
                    packed: &packed,
                    lens,
                    rng: Rng::new(1, 2),
                    first_step: rollout * STEPS as u64,
                    spread: (0.0, 1.0),
                    gamma: gamma as f32,
                    lambda: lambda as f32,
                    reward_scale: reward_scale as f32,
                    normalize_reward: lens.is_some(),
                    clock: || 0.0,
                };
                let mut finished = Vec::new();
                for (from, to) in [(0, 7), (7, STEPS)] {
                    actor.act(with, from, to);
                    finished.extend(actor.finished.iter().map(|e| (e.length, e.total)));
                }
                actor.count_rewards(gamma as f32);
                actor.estimate(with);

                let (mut earned, mut errors, mut ends) = ([0.0; 2], [0.0; 4], Vec::new());
                let mut seen = [[0.0; 2]; FEATURES];
                for lane in 0..COUNT {
                    let mut lived = Vec::new();
                    for t in 0..STEPS {
                        let (episode, step) = at[lane];
                        let flags = Clocks::end(lane, episode, step + 1);
                        let reward = f64::from(Clocks::reward(lane, step));
                        let sum = discounted[lane] * gamma + reward;
                        earned = [earned[0] + sum, earned[1] + sum * sum];
                        totals[lane] += reward;
                        discounted[lane] = if flags == 0 { sum } else { 0.0 };
                        let after =
                            if flags & TERMINATED != 0 { 0.0 } else { value(lane, episode, step + 1) };
                        let reward = reward * reward_scale;
                        let reward = if lens.is_some() { reward.clamp(-10.0, 10.0) } else { reward };
                        let mean = lens.map_or(0.0, |lens| f64::from(lens.mean[0]));
                        for (i, x) in Clocks::shown(lane, episode, step).into_iter().enumerate() {
                            let apart = f64::from(x) - if i == 0 { mean } else { 0.0 };
                            seen[i] = [seen[i][0] + apart, seen[i][1] + apart * apart];
                        }
                        lived.push((
                            reward + gamma * after - value(lane, episode, step),
                            flags,
                            episode,
                            step,
                        ));
                        at[lane] = if flags == 0 { (episode, step + 1) } else { (episode + 1, 0) };
                        if flags != 0 {
                            ends.push((t, lane, step + 1, std::mem::take(&mut totals[lane])));
                        }
                    }
                    let mut later = 0.0;
                    for (t, &(delta, flags, episode, step)) in lived.iter().enumerate().rev() {
                        later = delta + if flags == 0 { gamma * lambda * later } else { 0.0 };
                        let sample =
                            &actor.samples[(t * COUNT + lane) * (FEATURES + SAMPLE)..][..FEATURES + SAMPLE];
                        let what = |what| format!("{}: {what} of lane {lane} at step {t}", isa.name());
                        let v = value(lane, episode, step);
                        close(&what("the advantage"), sample[FEATURES + 2], later, 1e-5);
                        close(&what("the value"), sample[FEATURES + 3], v, 1e-6);
                        close(&what("the observation"), sample[0], v, 1e-6);
                        close(&what("the log-probability"), sample[FEATURES + 1], -(2f64.ln()), 1e-6);
                        assert!([0.0, 1.0].contains(&sample[FEATURES]));
                        let target = later + v;
                        for (sum, x) in errors.iter_mut().zip([target, target * target, later, later * later])
                        {
                            *sum += x;
                        }
                    }
                }
                for (found, expected) in actor.earned.into_iter().zip(earned) {
                    assert!((found / expected - 1.0).abs() < 1e-5, "{found}, not {expected}");
                }
                for (found, expected) in actor.errors.into_iter().zip(errors) {
                    assert!((found / expected - 1.0).abs() < 1e-5, "{found}, not {expected}");
                }
                if lens.is_some() {
                    assert_eq!(actor.seen, seen);
                }
                ends.sort_by_key(|&(t, lane, ..)| (t, lane));
                assert!(ends.len() > LANES, "several batches of bootstraps");
                assert_eq!(finished.len(), ends.len());
                for (found, (t, lane, length, total)) in finished.into_iter().zip(ends) {
                    assert_eq!(found.0, length, "lane {lane} at step {t}");
                    close("a return", found.1, total, 1e-5);
                }
            }
        }
    }

    /// The definition, each sum from scratch, in NumPy (`tests/golden/ppo_loss.py`), and its recursion in f64 under
    /// scaled and limited rewards.
    #[test]
    fn advantages_are_as_they_are_defined() {
        let golden: Value =
            serde_json::from_str(include_str!("../../../../../tests/golden/ppo_loss.json")).unwrap();
        let golden = &golden["advantages"];
        let list = |name: &str| -> Vec<f64> {
            golden[name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let (gamma, lambda) = (golden["gamma"].as_f64().unwrap(), golden["lambda"].as_f64().unwrap());
        let [rewards, values, reached, ends] = ["rewards", "values", "reached", "ends"].map(list);
        let steps = rewards.len();
        // Lane l is the golden one, begun l steps later; the beginning follows the end.
        let turned = |list: &[f64], lane: usize, t: usize| list[(t + lane) % steps] as f32;
        let grid = |list: &[f64]| -> Vec<f32> {
            (0..steps * LANES).map(|i| turned(list, i % LANES, i / LANES)).collect()
        };
        let (rewards, bootstraps) = (grid(&rewards), grid(&reached));
        let ended: Vec<u32> = grid(&ends).iter().map(|&end| end as u32).collect();
        let mut all_values = grid(&values);
        all_values.extend((0..LANES).map(|lane| if lane == 0 { values[steps] as f32 } else { 0.25 }));
        for isa in Isa::available() {
            let run = |scale, limit| {
                let mut advantages = vec![0.0; steps * LANES];
                let kernel = Advantages {
                    gamma: gamma as f32,
                    decay: (gamma * lambda) as f32,
                    scale,
                    limit,
                    rewards: &rewards,
                    values: &all_values,
                    bootstraps: &bootstraps,
                    ended: &ended,
                    advantages: &mut advantages,
                };
                dispatch(isa, kernel);
                advantages
            };
            for (t, expected) in list("advantages").into_iter().enumerate() {
                close(&format!("step {t}"), run(1.0, f32::MAX)[t * LANES], expected, 2e-6);
            }
            let (scale, limit) = (0.7, 0.9);
            let found = run(scale as f32, limit as f32);
            for lane in 0..LANES {
                let mut later = 0.0;
                for at in (0..steps).rev().map(|t| t * LANES + lane) {
                    let reward = (f64::from(rewards[at]) * scale).clamp(-limit, limit);
                    let going = ended[at] == 0;
                    let next = if going { all_values[at + LANES] } else { bootstraps[at] };
                    let delta = reward + gamma * f64::from(next) - f64::from(all_values[at]);
                    later = delta + if going { gamma * lambda * later } else { 0.0 };
                    close(&format!("lane {lane}"), found[at], later, 2e-6);
                }
            }
        }
    }

    // ---- drawing ----

    const KEY: Rng = Rng { key: [11, 22, 33, 44] };
    /// Above 2³², so that both words count.
    const FIRST: u64 = (1 << 33) + 5;
    const LANE: u32 = 96;

    /// The words of a step, `[LANES]`.
    fn words(step: u64) -> [u32; LANES] {
        std::array::from_fn(|at| {
            let lane = LANE + (at % PANEL) as u32;
            KEY.block([lane, step as u32, (step >> 32) as u32, 0])[at / PANEL]
        })
    }

    fn draw<'a>(step: u64, policy: &'a [f32], actions: &'a mut [f32], log_probs: &'a mut [f32]) -> Draw<'a> {
        Draw { key: KEY.key, counter: [LANE, step as u32, (step >> 32) as u32], policy, actions, log_probs }
    }

    /// What frequencies are off by, beside what chance makes of it: Σ (found - expected)² / expected.
    fn chi_square(found: &[u32], probabilities: &[f64]) -> f64 {
        let n = f64::from(found.iter().sum::<u32>());
        found.iter().zip(probabilities).map(|(&f, p)| (f64::from(f) - n * p).powi(2) / (n * p)).sum()
    }

    #[test]
    fn choices_are_drawn_by_their_probabilities() {
        let logits = [[0.3, -0.4, 1.1, -1.6], [-20.0, 3.0, 3.5, 2.0], [0.0; 4], [60.0, 59.0, -60.0, 58.0]];
        // Of 1 to 3 degrees of freedom, 1 in 1000 is beyond.
        let beyond = [10.8, 13.8, 16.3];
        for isa in Isa::available() {
            for (logits, count) in logits.iter().flat_map(|logits| (2..=4).map(move |n| (logits, n))) {
                let top = logits[..count].iter().fold(f64::MIN, |top: f64, &x| top.max(x));
                let sum: f64 = logits[..count].iter().map(|x| (x - top).exp()).sum();
                let probabilities: Vec<f64> = logits[..count].iter().map(|x| (x - top).exp() / sum).collect();
                let policy: Vec<f32> = (0..LANES * count).map(|i| logits[i / PANEL % count] as f32).collect();
                let (mut actions, mut log_probs) = ([9.0; LANES], [9.0; LANES]);
                let mut found = vec![0; count];
                for step in FIRST..FIRST + 300 {
                    dispatch(isa, Choose { draw: draw(step, &policy, &mut actions, &mut log_probs), count });
                    for (at, word) in words(step).into_iter().enumerate() {
                        let choice = actions[at] as usize;
                        found[choice] += 1;
                        let below: f64 = probabilities[..choice].iter().sum();
                        let u = f64::from(uniform_from_word(word));
                        let (low, high) = (below - 1e-6, below + probabilities[choice] + 1e-6);
                        assert!((low..=high).contains(&u), "{u} is not of choice {choice} of {logits:?}");
                        close("the log-probability", log_probs[at], probabilities[choice].ln(), 2e-6);
                    }
                }
                // What is not to be expected once in all draws does not happen.
                let rare = |p: f64| p * 300.0 * (LANES as f64) < 1e-3;
                let impossible: u32 =
                    found.iter().zip(&probabilities).filter(|(_, p)| rare(**p)).map(|(f, _)| f).sum();
                assert_eq!(impossible, 0, "{logits:?}");
                let (found, expected): (Vec<u32>, Vec<f64>) =
                    found.iter().zip(&probabilities).filter(|(_, p)| !rare(**p)).unzip();
                let apart = chi_square(&found, &expected);
                assert!(
                    found.len() < 2 || apart < beyond[found.len() - 2],
                    "{apart}: {found:?} for {expected:?}"
                );
            }
        }
    }

    #[test]
    fn lanes_panels_and_steps_draw_apart() {
        let policy = [0.0; LANES * 2];
        let steps: Vec<[f32; LANES]> = (0..400)
            .map(|step| {
                let (mut actions, mut log_probs) = ([0.0; LANES], [0.0; LANES]);
                let draw = draw(step, &policy, &mut actions, &mut log_probs);
                dispatch(Isa::best(), Choose { draw, count: 2 });
                actions
            })
            .collect();
        // Neighbours in the panel, in the next panel, and in time: the four pairs of coins are as frequent.
        for (name, lanes, ahead) in [("lane", 1, 0), ("panel", PANEL, 0), ("step", 0, 1)] {
            let mut found = [0; 4];
            for t in 0..steps.len() - ahead {
                for lane in 0..LANES - lanes {
                    found[(steps[t][lane] + 2.0 * steps[t + ahead][lane + lanes]) as usize] += 1;
                }
            }
            let apart = chi_square(&found, &[0.25; 4]);
            assert!(apart < 16.3, "{name}: {apart}, {found:?}");
        }
    }

    /// The error function, by its series: good to 1e-12 where it is asked here.
    fn erf(x: f64) -> f64 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-17 {
            n += 1.0;
            term *= -x * x / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn numbers_are_drawn_from_the_gaussian() {
        let (middle, half) = (1.0, 3.0);
        let means: Vec<f32> = (0..LANES).map(|lane| -1.5 + 0.025 * lane as f32).collect();
        for (isa, squash, spread) in
            Isa::available().into_iter().flat_map(|isa| [(isa, false, 0.5f32), (isa, true, 1.25)])
        {
            let log_spread = spread.ln();
            let (mut actions, mut log_probs, mut given) = ([9.0; LANES], [9.0; LANES], [9.0; LANES]);
            let mut noises = Vec::new();
            for step in FIRST..FIRST + 400 {
                let draw = draw(step, &means, &mut actions, &mut log_probs);
                dispatch(isa, Sway { draw, log_spread, spread, middle, half, squash, given: &mut given });
                let words = words(step).map(|word| f64::from(uniform_from_word(word)));
                for at in 0..LANES {
                    // Panels 0 and 1 make a pair, and so do 2 and 3.
                    let pair = at / PANEL / 2 * 2 * PANEL + at % PANEL;
                    let radius = (-2.0 * (1.0 - words[pair]).ln()).sqrt();
                    let angle = std::f64::consts::TAU * words[pair + PANEL] - std::f64::consts::PI;
                    let noise =
                        radius * if (at / PANEL).is_multiple_of(2) { angle.cos() } else { angle.sin() };
                    let drawn = f64::from(means[at]) + f64::from(spread) * noise;
                    close("the number", actions[at], drawn, 3e-6);
                    let density =
                        -0.5 * noise * noise - f64::from(log_spread) - 0.5 * std::f64::consts::TAU.ln();
                    close("the log-probability", log_probs[at], density, 5e-6);
                    let within = if squash { drawn.tanh() } else { drawn.clamp(-1.0, 1.0) };
                    close("what is given", given[at], f64::from(middle) + f64::from(half) * within, 5e-6);
                    assert!((-2.0..=4.0).contains(&given[at]), "{}", given[at]);
                    noises.push((f64::from(actions[at]) - f64::from(means[at])) / f64::from(spread));
                }
            }
            let n = noises.len() as f64;
            let mean = |power: i32| noises.iter().map(|x| x.powi(power)).sum::<f64>() / n;
            // Each moment lies within 3.3 of its own spreads: √1, √2, √15 and √96 parts of √n.
            for (power, expected, spread) in [(1, 0.0, 1.0f64), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
            {
                let apart = (mean(power) - expected).abs() / (spread / n).sqrt();
                assert!(apart < 3.3, "moment {power} is {}", mean(power));
            }
            // Kolmogorov and Smirnov: 1 in 1000 is further than 1.95/√n from the normal distribution.
            noises.sort_by(f64::total_cmp);
            let farthest = noises.iter().enumerate().fold(0.0, |far: f64, (i, x)| {
                let below = 0.5 * (1.0 + erf(x / 2f64.sqrt()));
                far.max((below - i as f64 / n).abs()).max((below - (i + 1) as f64 / n).abs())
            });
            assert!(farthest * n.sqrt() < 1.95, "{farthest}");
        }
    }

    // ---- normalising ----

    #[test]
    fn merged_moments_are_those_of_all_together() {
        for (offset, tolerance) in [(0.0, 1e-12), (-3.0, 1e-12), (1e4, 1e-7), (-1e6, 1e-3)] {
            let rng = Rng::new(5, 6);
            let numbers: Vec<f64> = (0..9000)
                .map(|i| {
                    offset + f64::from(uniform_from_word(rng.block([i, 0, 0, 0])[0])) + f64::from(i) * 1e-4
                })
                .collect();
            let mut merged = Moments::default();
            assert_eq!(merged.scale(), 1.0, "nothing was seen yet");
            let (mut from, mut about) = (0, 0.0);
            for count in [1, 2, 997, 3000, 0, 5000] {
                let part = &numbers[from..from + count];
                let sum = part.iter().map(|x| x - about).sum();
                let squares = part.iter().map(|x| (x - about).powi(2)).sum();
                merged.merge(count as f64, about, sum, squares);
                // As a lens does: from the second part on, about what was the mean.
                (from, about) = (from + count, f64::from(merged.mean as f32));
            }
            assert_eq!(from, numbers.len());
            let n = numbers.len() as f64;
            let mean = numbers.iter().sum::<f64>() / n;
            let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            assert_eq!(merged.count, n);
            assert!((merged.mean - mean).abs() < 1e-12 * offset.abs().max(1.0), "{} of {mean}", merged.mean);
            let found = merged.squares / n;
            assert!((found / variance - 1.0).abs() < tolerance, "{offset}: {found}, not {variance}");
            close("the scale", merged.scale(), 1.0 / (variance + 1e-8).sqrt(), tolerance.max(1e-6));
        }
    }

    #[test]
    fn a_lens_shows_less_the_mean_over_the_spread() {
        let lens = Lens { mean: vec![0.5, -30.0, 0.0], scale: vec![4.0, 0.1, 1000.0] };
        let observations: Vec<f32> = (0..2 * 3 * PANEL).map(|i| (i as f32 - 90.0) * 0.07).collect();
        for isa in Isa::available() {
            let mut shown = vec![0.0; observations.len()];
            Lens::show(Some(&lens), isa, &observations, &mut shown);
            for (at, (&x, &y)) in observations.iter().zip(&shown).enumerate() {
                let i = at / PANEL % 3;
                let expected = (f64::from(x) - f64::from(lens.mean[i])) * f64::from(lens.scale[i]);
                close("a number", y, expected.clamp(-10.0, 10.0), 1e-6);
            }
            assert!(shown.contains(&10.0) && shown.contains(&-10.0));
            Lens::show(None, isa, &observations, &mut shown);
            assert_eq!(shown, observations);
        }
    }
}
