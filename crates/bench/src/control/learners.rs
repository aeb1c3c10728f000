//! Learners of the benchmarks, and the time of their iterations.

use crate::measure::{Clock, iterate};
use learn::Fault;
use learn::control::{Ppo, PpoConfig};
use math::Isa;
use worlds::control::Kind;

/// Returns the default configuration of PPO, but with 64 hidden units per layer and exactly 4 epochs.
pub fn medium() -> PpoConfig {
    PpoConfig { hidden: 64, epochs: 4, ..PpoConfig::default() }
}

pub fn learner(kind: &Kind, config: PpoConfig, seed: u32, isa: Isa) -> Ppo {
    Ppo::new(kind, config, seed, isa).expect("the settings are in range")
}

pub fn iteration_s(ppo: &mut Ppo, now: Clock) -> Result<f64, Fault> {
    let began_s = now();
    iterate(ppo)?;
    Ok(now() - began_s)
}

/// Returns the number of environment steps in an iteration.
pub fn samples(ppo: &Ppo) -> f64 {
    (ppo.config().envs * ppo.config().rollout_steps) as f64
}

/// Returns the environment steps per second, measured over a few iterations.
pub fn iterations_rate(ppo: &mut Ppo, now: Clock) -> f64 {
    const ITERATIONS: usize = 3;
    let all_s: f64 = (0..ITERATIONS).map(|_| iteration_s(ppo, now).expect("nothing is offloaded")).sum();
    ITERATIONS as f64 * samples(ppo) / all_s
}
