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
const FARTHEST: f32 = 10.0;

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
        self.errors = [0.0; 4];
        self.seen.fill([0.0; 2]);
        let (count, features) = (self.count, self.features);
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
            for (lane, sample) in rows.chunks_exact_mut(features + SAMPLE).enumerate() {
                let panel = &shown[lane / PANEL * PANEL * features + lane % PANEL..];
                let at = t * LANES + lane;
                let (advantage, value) = (self.advantages[at], self.values[at]);
                let (observation, rest) = sample.split_at_mut(features);
                observation.iter_mut().enumerate().for_each(|(i, x)| *x = panel[i * PANEL]);
                rest.copy_from_slice(&[self.actions[at], self.log_probs[at], advantage, value]);
                let (error, target) = (f64::from(advantage), f64::from(advantage + value));
                for (sum, x) in self.errors.iter_mut().zip([target, target * target, error, error * error]) {
                    *sum += x;
                }
            }
        }
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
        while self.done.contains(&false) {
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
