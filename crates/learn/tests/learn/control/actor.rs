//! An actor's rollout and samples, compared with a scalar reference.

use super::close;
use graph::{Packed, Params};
use learn::control::PpoConfig;
use learn::control::ppo::Head;
use learn::internals::ppo::{Actor, Context, LANES, Normalizer, REST, RolloutContext, Task, plan_acting};
use math::{Isa, PANEL, Rng};
use std::borrow::Cow;
use std::sync::Arc;
use worlds::control::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use worlds::control::{Actions, InvalidState, Kind, Make, Spec, Vector};
use worlds::texts;

const FEATURES: usize = 2;

/// Number of steps of a rollout. It is an odd number.
const STEPS: usize = 17;

/// Number of environments in use. It is not a multiple of `PANEL`.
const COUNT: usize = 100;

/// Deterministic environments that ignore actions. Observations, rewards and episode ends can be computed without stepping.
struct Clocks {
    /// For each lane, the number of the episode and the number of the step in this episode.
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

    /// Returns the flags of a step. An episode terminates after a number of steps that depends on lane and episode. The time limit
    /// truncates the episode after `LIMIT` steps. Some episodes terminate in the step in which they reach the limit.
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
    fn step(&mut self, _actions: &[f32], next_observations: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        for (lane, (episode, step)) in self.at.iter_mut().enumerate() {
            rewards[lane] = Self::reward(lane, *step);
            *step += 1;
            Self::write(next_observations, lane, Self::shown(lane, *episode, *step));
            let flags = Self::end(lane, *episode, *step);
            ended[lane] = if flags == 0 { 0 } else { flags | (*step << LENGTH_SHIFT) };
            if flags != 0 {
                (*episode, *step) = (*episode + 1, 0);
            }
            Self::write(&mut self.observations, lane, Self::shown(lane, *episode, *step));
        }
    }
    fn begin(&mut self, env: usize) {
        self.at[env] = (self.at[env].0 + 1, 0);
    }
    fn state_len(&self) -> usize {
        0
    }
    fn environment(&self, env: usize, _state: &mut [f32]) -> (u32, u32) {
        (self.at[env].1, self.at[env].0)
    }
    fn set_environment(&mut self, env: usize, _: &[f32], steps: u32, episodes: u32) -> Result<(), InvalidState> {
        self.at[env] = (episodes, steps);
        Ok(())
    }
}

static SPEC: Spec = Spec {
    id: Cow::Borrowed("Clocks"),
    summary: Cow::Borrowed("time passes"),
    actions: Actions::Choices(2),
    choices: texts!["wait", "hope"],
    state: texts![],
    observation: texts!["time", "step"],
    step_limit: Clocks::LIMIT,
    solved_at: 0.0,
    returns: [0.0, 1.0],
};

fn kind() -> Kind {
    let many: Make = Arc::new(|_, seed, first, _| {
        let mut clocks = Clocks { at: [(0, 0); LANES], observations: vec![0.0; LANES * FEATURES] };
        clocks.reset(seed, first);
        Box::new(clocks)
    });
    Kind::new(SPEC.clone(), Arc::new(|| (worlds::control::kinds()[0].twin)()), many)
}

/// Compares two rollouts with a scalar reference. Rewards after the end of an episode must not affect the episode's advantages. After a
/// truncation, the next value is the critic's value of the episode's last state, not of the next episode's first state.
#[test]
fn rollout_samples_match_a_scalar_reference() {
    let (gamma, lambda, reward_scale) = (0.9, 0.8, 8.0);
    let normalizer = Normalizer { moments: Vec::new(), mean: vec![0.5, 0.0], scale: vec![0.125, 1.0] };
    let config = PpoConfig { hidden: 1, ..PpoConfig::default() };
    let task = Task { observation: FEATURES, head: Head::Choices(2), mask: 0 };
    for (isa, normalizer) in Isa::available().into_iter().flat_map(|isa| [(isa, None), (isa, Some(&normalizer))]) {
        // The critic returns the first observation feature; the policy is uniform.
        let plan = plan_acting(task, &config, LANES, graph::Layout::Panels, isa).unwrap();
        let mut params = Params::new(plan.table(), 0);
        params.values_mut().fill(0.0);
        params.get_mut("critic.0.weight").unwrap()[0] = 1.0;
        params.get_mut("critic.1.weight").unwrap()[0] = 1.0;
        params.get_mut("critic.2.weight").unwrap()[0] = 1.0;
        let value = |lane, episode, step| {
            let x = f64::from(Clocks::shown(lane, episode, step)[0]);
            if normalizer.is_some() { ((x - 0.5) * 0.125).min(10.0) } else { x }
        };
        let packed = Packed::new(&plan, &params);
        let mut actor = Actor::new(&plan, &kind(), isa, 0, 0, COUNT, STEPS);
        let mut at = [(0, 0); COUNT];
        let mut discounted_returns = [0.0; COUNT];
        let mut episode_returns = [0.0; COUNT];
        for rollout in 0..2 {
            let with = RolloutContext {
                acting: Context { isa, task, params: &params, packed: &packed, normalizer },
                rng: Rng::new(1, 2),
                first_step: rollout * STEPS as u64,
                gamma: gamma as f32,
                lambda: lambda as f32,
                reward_scale: reward_scale as f32,
                normalize_reward: normalizer.is_some(),
                clock: || 0.0,
            };
            let mut finished = Vec::new();
            for (from, to) in [(0, 7), (7, STEPS)] {
                actor.begin(from);
                actor.rollout(with, to, u64::MAX);
                finished.extend(actor.finished.iter().map(|e| (e.length, e.total)));
            }
            actor.accumulate_returns(gamma as f32);
            actor.estimate_advantages(with);

            let (mut return_sums, mut value_errors, mut ends) = ([0.0; 2], [0.0; 4], Vec::new());
            let mut observation_sums = [[0.0; 2]; FEATURES];
            for lane in 0..COUNT {
                let mut steps = Vec::new();
                for t in 0..STEPS {
                    let (episode, step) = at[lane];
                    let flags = Clocks::end(lane, episode, step + 1);
                    let reward = f64::from(Clocks::reward(lane, step));
                    let sum = discounted_returns[lane] * gamma + reward;
                    return_sums = [return_sums[0] + sum, return_sums[1] + sum * sum];
                    episode_returns[lane] += reward;
                    discounted_returns[lane] = if flags == 0 { sum } else { 0.0 };
                    let after = if flags & TERMINATED != 0 { 0.0 } else { value(lane, episode, step + 1) };
                    let reward = reward * reward_scale;
                    let reward = if normalizer.is_some() { reward.clamp(-10.0, 10.0) } else { reward };
                    let mean = normalizer.map_or(0.0, |normalizer| f64::from(normalizer.mean[0]));
                    for (i, x) in Clocks::shown(lane, episode, step).into_iter().enumerate() {
                        let apart = f64::from(x) - if i == 0 { mean } else { 0.0 };
                        observation_sums[i] = [observation_sums[i][0] + apart, observation_sums[i][1] + apart * apart];
                    }
                    steps.push((reward + gamma * after - value(lane, episode, step), flags, episode, step));
                    at[lane] = if flags == 0 { (episode, step + 1) } else { (episode + 1, 0) };
                    if flags != 0 {
                        ends.push((t, lane, step + 1, std::mem::take(&mut episode_returns[lane])));
                    }
                }
                let mut later = 0.0;
                for (t, &(delta, flags, episode, step)) in steps.iter().enumerate().rev() {
                    later = delta + if flags == 0 { gamma * lambda * later } else { 0.0 };
                    let sample = &actor.samples[(t * COUNT + lane) * (FEATURES + 1 + REST)..][..FEATURES + 1 + REST];
                    let what = |what| format!("{}: {what} of lane {lane} at step {t}", isa.name());
                    let v = value(lane, episode, step);
                    close(&what("the advantage"), sample[FEATURES + 2], later, 1e-5);
                    close(&what("the value"), sample[FEATURES + 3], v, 1e-6);
                    close(&what("the observation"), sample[0], v, 1e-6);
                    close(&what("the log-probability"), sample[FEATURES + 1], -(2f64.ln()), 1e-6);
                    assert!([0.0, 1.0].contains(&sample[FEATURES]));
                    let target = later + v;
                    for (sum, x) in value_errors.iter_mut().zip([target, target * target, later, later * later]) {
                        *sum += x;
                    }
                }
            }
            for (found, expected) in actor.return_sums.into_iter().zip(return_sums) {
                assert!((found / expected - 1.0).abs() < 1e-5, "{found}, not {expected}");
            }
            for (found, expected) in actor.value_errors.into_iter().zip(value_errors) {
                assert!((found / expected - 1.0).abs() < 1e-5, "{found}, not {expected}");
            }
            if normalizer.is_some() {
                assert_eq!(actor.observation_sums, observation_sums);
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
