//! An actor: environments, the policy that acts in them, and the recorded rollout.

use super::advantages::Advantages;
use super::evaluation::Context;
use super::nets::{Head, log_spreads};
use super::normalizer::{NORMALIZED_LIMIT, Normalizer};
use super::rollout::{LANES, REST, Rollout};
use super::sampling::{Draw, SampleChoice, SampleGaussian, SampleMasked};
use super::stats::Episode;
use graph::{Executor, Plan};
use math::{Isa, PANEL, Rng, dispatch};
use std::sync::Arc;
use worlds::control::vector::{LENGTH_SHIFT, TERMINATED};
use worlds::control::{Kind, Vector};

/// Number of multiply-adds of a policy that take about as long as a unit of work of environments; see [`Vector::step_part`].
const MULTIPLY_ADDS: f64 = 128.0;

/// Up to 128 environments and their rollout of T steps. The last actor may have unused lanes. They are stepped as well, but their results
/// are ignored.
pub struct Actor {
    pub world: Box<dyn Vector>,
    executor: Executor,
    /// Index of this actor among all actors.
    index: u32,
    /// Number of environments in use. The results of further lanes are ignored.
    count: usize,
    features: usize,
    /// Number of values in an action.
    numbers: usize,
    /// Number of values in the mask of a state; 0 if all choices are always permitted.
    mask: usize,
    /// Index of the next step, or of the step in progress, in the rollout.
    pub step: usize,
    /// True if the step is in progress: its actions are drawn, but the environments have not completed it.
    acted: bool,
    pub record: Rollout,
    /// Actions in the units of the environment, `[LANES/PANEL][numbers][PANEL]`.
    env_actions: Vec<f32>,
    /// Observations after the latest step, before an ended episode is replaced by a new one. After the rollout, this buffer is scratch
    /// memory.
    next_observations: Vec<f32>,
    /// Index in the rollout, `t * LANES + lane`, of each step at which the time limit truncated an episode.
    truncations: Vec<usize>,
    /// Last state of each truncated episode, `[truncations][features]`. The critic's value of the last state replaces the rewards after the
    /// truncation.
    truncated_states: Vec<f32>,
    /// For each lane, the sum of rewards in the current episode so far.
    pub episode_returns: Vec<f32>,
    /// Discounted reward sum of each lane. A step multiplies the sum by γ and adds the reward. The end of an episode sets the sum to 0.
    pub discounted_returns: Vec<f32>,
    /// Episodes that ended since the latest call of `begin`.
    pub finished: Vec<Episode>,
    /// Samples, `[T][count][Task::sample_len]`: observation, action, log-probability, advantage, value, mask.
    pub samples: Vec<f32>,
    /// Four sums over the samples: of R, of R², of R - V, and of (R - V)². R is the critic's target, and V is the critic's value during the
    /// rollout.
    pub value_errors: [f64; 4],
    /// Two sums over the samples for each feature: of the difference between the observation and the normaliser's mean, and of the square
    /// of this difference.
    pub observation_sums: Vec<[f64; 2]>,
    /// Sum of the discounted reward sums of all samples, and sum of their squares.
    pub return_sums: [f64; 2],
    /// Seconds spent on the policy, then seconds spent on the environments, since the latest call of `begin`. Only the first actor measures
    /// them.
    pub seconds: [f64; 2],
}

/// Inputs that all actors share in a slice.
#[derive(Clone, Copy)]
pub struct RolloutContext<'a> {
    pub acting: Context<'a>,
    pub rng: Rng,
    /// Number of steps that every environment has taken before this rollout.
    pub first_step: u64,
    pub gamma: f32,
    pub lambda: f32,
    /// Factor applied to rewards.
    pub reward_scale: f32,
    pub normalize_reward: bool,
    pub clock: fn() -> f64,
}

impl Actor {
    /// Returns the memory in bytes of an actor with `count` environments and `steps` steps.
    pub fn bytes(plan: &Plan, kind: &Kind, isa: Isa, count: usize, steps: usize) -> f64 {
        let (features, numbers) = (kind.spec.observation.len() as f64, (kind.spec.actions.numbers() + kind.mask_len()) as f64);
        let (lanes, steps, count) = (LANES as f64, steps as f64, count as f64);
        let truncations = lanes * (steps / f64::from(kind.spec.step_limit)).ceil();
        // Counts observations, actions, masks, six more numbers per step, two numbers per finished episode, and the buffers of a single
        // step.
        let rollout = lanes * steps * (features + numbers + 6.0 + 2.0) + lanes * (features + numbers + 3.0);
        let samples = steps * count * (features + numbers + REST as f64);
        let once = (kind.many)(isa, 0, 0, LANES).bytes() + size_of::<Self>();
        plan.arena_bytes() as f64 + once as f64 + 4.0 * (rollout + samples) + truncations * (8.0 + 4.0 * features)
    }

    pub fn new(plan: &Arc<Plan>, kind: &Kind, isa: Isa, seed: u32, first: usize, count: usize, steps: usize) -> Self {
        let (features, numbers, mask) = (kind.spec.observation.len(), kind.spec.actions.numbers(), kind.mask_len());
        let truncations = LANES * steps.div_ceil(kind.spec.step_limit as usize);
        Self {
            // The world always has all lanes, so that buffers have one shape.
            world: (kind.many)(isa, seed, first as u32, LANES),
            executor: Executor::new(plan),
            index: (first / LANES) as u32,
            count,
            features,
            numbers,
            mask,
            step: 0,
            acted: false,
            record: Rollout::new(steps, features, numbers, mask),
            env_actions: vec![0.0; LANES * numbers],
            next_observations: vec![0.0; LANES * features],
            truncations: Vec::with_capacity(truncations),
            truncated_states: Vec::with_capacity(truncations * features),
            episode_returns: vec![0.0; LANES],
            discounted_returns: vec![0.0; LANES],
            finished: Vec::with_capacity(LANES * steps),
            samples: vec![0.0; steps * count * (features + numbers + REST + mask)],
            value_errors: [0.0; 4],
            observation_sums: vec![[0.0; 2]; features],
            return_sums: [0.0; 2],
            seconds: [0.0; 2],
        }
    }

    /// Begins the part of the rollout that begins with step `from`.
    pub fn begin(&mut self, from: usize) {
        if from == 0 {
            self.truncations.clear();
            self.truncated_states.clear();
        }
        self.finished.clear();
        self.seconds = [0.0; 2];
        (self.step, self.acted) = (from, false);
    }

    /// Runs the steps before step `to`, until `work` is used up; see [`Vector::step_part`]. [`MULTIPLY_ADDS`] of the policy count as 1.
    pub fn rollout(&mut self, with: RolloutContext, to: usize, mut work: u64) {
        // Reading the clock is slow, so only the first actor is timed.
        let timed = self.index == 0;
        let now = || if timed { (with.clock)() } else { 0.0 };
        let mut began_s = now();
        while self.step < to && work > 0 {
            if !self.acted {
                self.act(with);
                work = work.saturating_sub((self.executor.plan().multiply_adds() / MULTIPLY_ADDS) as u64).max(1);
            }
            let policy_s = now();
            self.acted = !self.step_world(with, &mut work);
            let stepped_s = now();
            self.seconds[0] += policy_s - began_s;
            self.seconds[1] += stepped_s - policy_s;
            began_s = stepped_s;
            if !self.acted {
                self.record_episodes(self.step);
                self.step += 1;
            }
        }
    }

    /// Draws the actions of the current step.
    fn act(&mut self, with: RolloutContext) {
        let t = self.step;
        let lanes = t * LANES..(t + 1) * LANES;
        let observation = &mut self.record.observations[t * LANES * self.features..][..LANES * self.features];
        observation.copy_from_slice(self.world.observations());
        with.acting.run_panels(&mut self.executor, observation);
        self.record.values[lanes.clone()].copy_from_slice(self.executor.output("value"));
        let step = with.first_step + t as u64;
        let masks = &mut self.record.masks[lanes.start * self.mask..lanes.end * self.mask];
        if self.mask > 0 {
            masks.copy_from_slice(self.world.masks());
        }
        let draw = Draw {
            key: with.rng.key,
            counter: [self.index * PANEL as u32, step as u32, (step >> 32) as u32],
            policy: self.executor.output("policy"),
            actions: &mut self.record.actions[lanes.start * self.numbers..lanes.end * self.numbers],
            log_probs: &mut self.record.log_probs[lanes],
        };
        match with.acting.task.head {
            Head::Choices(count) if self.mask > 0 => dispatch(with.acting.isa, SampleMasked { draw, count, masks }),
            Head::Choices(count) => dispatch(with.acting.isa, SampleChoice { draw, count }),
            Head::Gaussian { middle, half, squash, .. } => {
                let (log_spreads, env_actions) = (log_spreads(with.acting.params), &mut self.env_actions);
                dispatch(with.acting.isa, SampleGaussian { draw, log_spreads, middle, half, squash, env_actions });
            }
        }
    }

    /// Takes the current step, or a part of it. Returns true if the step is complete.
    fn step_world(&mut self, with: RolloutContext, work: &mut u64) -> bool {
        let lanes = self.step * LANES..(self.step + 1) * LANES;
        let env_actions = match with.acting.task.head {
            Head::Choices(_) => &self.record.actions[lanes.start * self.numbers..lanes.end * self.numbers],
            Head::Gaussian { .. } => &self.env_actions,
        };
        let (rewards, ended) = (&mut self.record.rewards[lanes.clone()], &mut self.record.ended[lanes]);
        let is_complete = self.world.step_part(work, env_actions, &mut self.next_observations, rewards, ended);
        if is_complete {
            self.episode_returns.iter_mut().zip(&*rewards).for_each(|(total, reward)| *total += reward);
        }
        is_complete
    }

    /// Records the episodes that ended at step `t`, and the last states of truncated episodes.
    fn record_episodes(&mut self, t: usize) {
        let ended = &self.record.ended[t * LANES..(t + 1) * LANES];
        for panel in (0..self.count).step_by(PANEL) {
            if ended[panel..panel + PANEL].iter().fold(0, |any, end| any | end) == 0 {
                continue;
            }
            for lane in panel..(panel + PANEL).min(self.count) {
                let end = ended[lane];
                if end == 0 {
                    continue;
                }
                let total = std::mem::take(&mut self.episode_returns[lane]);
                self.finished.push(Episode { total, length: end >> LENGTH_SHIFT });
                if end & TERMINATED == 0 {
                    self.truncations.push(t * LANES + lane);
                    let state = &self.next_observations[panel * self.features..];
                    self.truncated_states.extend((0..self.features).map(|i| state[i * PANEL + lane % PANEL]));
                }
            }
        }
    }

    /// Updates the discounted reward sums, whose standard deviation normalises rewards.
    pub fn accumulate_returns(&mut self, gamma: f32) {
        self.return_sums = [0.0; 2];
        for (rewards, ended) in self.record.rewards.chunks_exact(LANES).zip(self.record.ended.chunks_exact(LANES)) {
            for lane in 0..self.count {
                let sum = self.discounted_returns[lane] * gamma + rewards[lane];
                self.discounted_returns[lane] = if ended[lane] == 0 { sum } else { 0.0 };
                self.return_sums[0] += f64::from(sum);
                self.return_sums[1] += f64::from(sum) * f64::from(sum);
            }
        }
    }

    /// Computes the critic's values of two kinds of states. The values of the states after the last step are written to the last row of
    /// `record.values`. The values of the last states of truncated episodes are written to `record.bootstraps`.
    fn bootstrap(&mut self, with: RolloutContext) {
        let Self { executor, features, .. } = self;
        with.acting.run_panels(executor, self.world.observations());
        let last = self.record.values.len() - LANES;
        self.record.values[last..].copy_from_slice(executor.output("value"));

        self.record.bootstraps.fill(0.0);
        for (truncations, states) in self.truncations.chunks(LANES).zip(self.truncated_states.chunks(LANES * *features)) {
            for (lane, state) in states.chunks_exact(*features).enumerate() {
                let at = lane / PANEL * PANEL * *features + lane % PANEL;
                state.iter().enumerate().for_each(|(i, &x)| self.next_observations[at + i * PANEL] = x);
            }
            with.acting.run_panels(executor, &self.next_observations);
            let values = executor.output("value");
            truncations.iter().zip(values).for_each(|(&place, &value)| self.record.bootstraps[place] = value);
        }
    }

    /// Computes the advantages, and writes `samples`, from which minibatches are gathered.
    pub fn estimate_advantages(&mut self, with: RolloutContext) {
        self.bootstrap(with);
        dispatch(
            with.acting.isa,
            Advantages {
                gamma: with.gamma,
                decay: with.gamma * with.lambda,
                scale: with.reward_scale,
                limit: if with.normalize_reward { NORMALIZED_LIMIT } else { f32::MAX },
                rewards: &self.record.rewards,
                values: &self.record.values,
                bootstraps: &self.record.bootstraps,
                ended: &self.record.ended,
                advantages: &mut self.record.advantages,
            },
        );
        // With a constant number of features, the loop over features compiles to a few moves per sample.
        match if self.numbers == 1 && self.mask == 0 { self.features } else { 0 } {
            2 => self.write_samples::<2>(with),
            3 => self.write_samples::<3>(with),
            4 => self.write_samples::<4>(with),
            6 => self.write_samples::<6>(with),
            8 => self.write_samples::<8>(with),
            _ => self.write_samples::<0>(with),
        }
    }

    /// Writes `samples` and the sums over the samples. `F` is the number of features, if it is not 0; an action is then one number, and
    /// there are no masks. If `F` is 0, all of these sizes are read at run time.
    fn write_samples<const F: usize>(&mut self, with: RolloutContext) {
        let mut value_errors = [0.0; 4];
        self.observation_sums.fill([0.0; 2]);
        let count = self.count;
        let [features, numbers, mask] = if F > 0 { [F, 1, 0] } else { [self.features, self.numbers, self.mask] };
        let width = features + numbers + REST + mask;
        let shown = &mut self.next_observations;
        let rows = self.samples.chunks_exact_mut(count * width);
        for (t, rows) in rows.enumerate() {
            let observations = &self.record.observations[t * LANES * features..][..LANES * features];
            if let Some(normalizer) = with.acting.normalizer {
                for (lane, i) in (0..count).flat_map(|lane| (0..features).map(move |i| (lane, i))) {
                    let at = (lane / PANEL * features + i) * PANEL + lane % PANEL;
                    let apart = f64::from(observations[at]) - f64::from(normalizer.mean[i]);
                    self.observation_sums[i][0] += apart;
                    self.observation_sums[i][1] += apart * apart;
                }
                Normalizer::apply(with.acting.normalizer, with.acting.isa, observations, shown);
            }
            let shown = if with.acting.normalizer.is_some() { &*shown } else { observations };
            let lanes = t * LANES..(t + 1) * LANES;
            let actions = &self.record.actions[lanes.start * numbers..lanes.end * numbers];
            let masks = &self.record.masks[lanes.start * mask..lanes.end * mask];
            let log_probs = &self.record.log_probs[lanes.clone()];
            let (advantages, values) = (&self.record.advantages[lanes.clone()], &self.record.values[lanes]);
            for (lane, sample) in rows.chunks_exact_mut(width).enumerate() {
                let panel = &shown[lane / PANEL * PANEL * features..][..PANEL * features];
                let (advantage, value) = (advantages[lane], values[lane]);
                let (observation, rest) = sample.split_at_mut(features);
                for i in 0..features {
                    observation[i] = panel[i * PANEL + lane % PANEL];
                }
                for i in 0..numbers {
                    rest[i] = actions[(lane / PANEL * numbers + i) * PANEL + lane % PANEL];
                }
                rest[numbers..numbers + REST].copy_from_slice(&[log_probs[lane], advantage, value]);
                for i in 0..mask {
                    rest[numbers + REST + i] = masks[(lane / PANEL * mask + i) * PANEL + lane % PANEL];
                }
                let (error, target) = (f64::from(advantage), f64::from(advantage + value));
                for (sum, x) in value_errors.iter_mut().zip([target, target * target, error, error * error]) {
                    *sum += x;
                }
            }
        }
        self.value_errors = value_errors;
    }
}
