//! PPO solves every environment with its preset. The limit is a number of environment steps, so the tests do not depend on the speed of the
//! machine. Broken learners must not solve an environment. `hothouse solve` measures the steps to the solution for any number of seeds.

use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Slice};
use math::Isa;
use testkit::test;
use worlds::control::Kind;

/// Number of episodes per evaluation.
const EPISODES: u32 = 100;

/// Returns the number of environment steps after which the greedy policy solves the task, or `None` if the policy needs more than `limit`
/// steps. A second evaluation on other episodes confirms the result, because an evaluation sometimes passes by luck.
pub(crate) fn steps_to_solve(kind: &Kind, config: PpoConfig, seed: u32, limit: u64) -> Option<u64> {
    let mut ppo = Ppo::new(kind, config, seed, Isa::best()).unwrap();
    let mut next = 0;
    while ppo.progress().env_steps < limit {
        if let Slice::Ended(stats) = ppo.advance() {
            let steps = ppo.progress().env_steps;
            if steps < next {
                continue;
            }
            let mut solved = |with| f64::from(ppo.evaluate(EPISODES, with).mean) >= kind.spec.solved_at;
            if solved(steps as u32) && solved(!seed) {
                return Some(steps);
            }
            // The next evaluation is postponed, so that the evaluations take fewer environment steps than the training.
            next = steps + (2.0 * EPISODES as f32 * stats.mean_length.unwrap_or(0.0)) as u64;
        }
    }
    None
}

fn preset_solves(id: &str, seed: u32, limit: u64) {
    let kind = worlds::control::kind(id).unwrap();
    let steps = steps_to_solve(kind, PpoConfig::preset(kind), seed, limit);
    assert!(steps.is_some(), "{id}, seed {seed}");
}

#[test]
fn cart_pole_is_solved_with_every_seed() {
    let seeds = if testkit::all() { 5 } else { 2 };
    (1..=seeds).for_each(|seed| preset_solves("CartPole-v1", seed, 1_500_000));
}

#[test]
fn acrobot_is_solved() {
    preset_solves("Acrobot-v1", 1, 500_000);
}

#[test]
fn mountain_car_continuous_is_solved() {
    preset_solves("MountainCarContinuous-v0", 1, 1_000_000);
}

#[cfg(not(target_arch = "wasm32"))] // too long for one thread, like the next two
#[test]
#[ignore = "all: mountain_car_continuous_is_solved"]
fn pendulum_is_solved() {
    preset_solves("Pendulum-v1", 1, 2_000_000);
}

#[cfg(not(target_arch = "wasm32"))]
#[test]
#[ignore = "all: acrobot_is_solved"]
fn mountain_car_is_solved() {
    preset_solves("MountainCar-v0", 2, 4_000_000);
}

#[cfg(not(target_arch = "wasm32"))]
#[test]
#[ignore = "all: acrobot_is_solved"]
fn lunar_lander_is_solved() {
    preset_solves("LunarLander-v3", 1, 3_000_000);
}

#[test]
fn initial_weights_solve_no_environment() {
    for kind in worlds::control::kinds() {
        let frozen = PpoConfig { lr: 0.0, envs: 256, ..PpoConfig::preset(kind) };
        assert_eq!(steps_to_solve(kind, frozen, 1, 3 * 256 * 16), None, "{}", kind.spec.id);
    }
}

/// Trains with the preset of CartPole for at least `steps` environment steps, up to the end of an iteration.
fn trained_on_cart_pole(steps: u64) -> Ppo {
    let mut ppo = Ppo::new(worlds::control::kind("CartPole-v1").unwrap(), PpoConfig::default(), 1, Isa::best()).unwrap();
    while ppo.progress().env_steps < steps || !ppo.at_boundary() {
        ppo.advance();
    }
    ppo
}

/// The policy solves CartPole after about 500,000 steps. A policy that drifts afterwards fails this test.
#[test]
fn cart_pole_stays_solved_for_two_million_steps() {
    let evaluation = trained_on_cart_pole(2_000_000).evaluate(100, 1);
    assert!(evaluation.mean >= 475.0, "{evaluation:?}");
}

/// The critic's values approach their limit slowly, because a rollout has only 16 steps. After two million steps, they can still be too low
/// for this test. `rollout_samples_match_a_scalar_reference` is the short test of the time limit.
#[test]
#[ignore = "all: cart_pole_stays_solved_for_two_million_steps"]
fn cart_pole_stays_solved_and_its_value_ignores_the_time_limit() {
    let mut ppo = trained_on_cart_pole(6_000_000);
    let evaluation = ppo.evaluate(100, 1);
    assert!(evaluation.mean >= 475.0, "{evaluation:?}");
    // A pole that is balanced forever has value 1/(1 - γ) = 500. If the critic treated the time limit as a failure, the value of an episode
    // of 500 steps would be (1 - γ⁵⁰⁰)/(1 - γ) = 316.
    let mut value = [0.0];
    ppo.predict(&[0.0; 4], &mut [0.0; 2], &mut value);
    assert!((420.0..600.0).contains(&value[0]), "{value:?}");
}

#[test]
fn unfused_arithmetic_learns_too() {
    let mut portable =
        Ppo::new(worlds::control::kind("CartPole-v1").unwrap(), PpoConfig { epochs: 2, ..PpoConfig::default() }, 1, Isa::Portable).unwrap();
    let mut first = None;
    let mut last = None;
    while portable.progress().env_steps < 200_000 {
        if let Slice::Ended(stats) = portable.advance() {
            first = first.or(stats.mean_return);
            last = stats.mean_return;
        }
    }
    assert!(last.unwrap() > 2.0 * first.unwrap(), "{first:?} -> {last:?}");
}

/// Shows that the tests above detect broken learners. The number of steps exceeds the 459,000 that a working learner needs
/// (docs/benchmarks.md). Learners whose weights stay the same are left to `--all`, because `initial_weights_solve_no_environment` evaluates
/// such weights.
#[test]
fn broken_learners_do_not_solve_cart_pole() {
    let kind = worlds::control::kind("CartPole-v1").unwrap();
    let preset = PpoConfig::default;
    let mut broken = vec![PpoConfig { gamma: 0.0, lambda: 0.0, ..preset() }];
    if testkit::all() {
        broken.extend([PpoConfig { lr: 0.0, ..preset() }, PpoConfig { max_grad_norm: 0.0, ..preset() }]);
    }
    for config in broken {
        assert_eq!(steps_to_solve(kind, config.clone(), 1, 500_000), None, "{config:?}");
    }
}
