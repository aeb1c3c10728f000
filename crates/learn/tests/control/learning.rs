//! PPO solves every environment with its preset. The limit is a number of environment steps, so the tests do not depend on the speed of the
//! machine. Broken learners must not solve an environment. `hothouse solve` measures the steps to the solution for any number of seeds.

use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Slice};
use math::Isa;
use worlds::control::Kind;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

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

macro_rules! solved {
    ($($(#[$where:meta])* $name:ident: $id:literal, seeds $seeds:expr, within $limit:literal;)*) => {$(
        $(#[$where])*
        #[test]
        fn $name() {
            $seeds.for_each(|seed| preset_solves($id, seed, $limit));
        }
    )*};
}

solved! {
    cart_pole_is_solved_with_every_seed: "CartPole-v1", seeds (1..=5), within 1_500_000;
    acrobot_is_solved: "Acrobot-v1", seeds (1..=1), within 500_000;
    mountain_car_continuous_is_solved: "MountainCarContinuous-v0", seeds (1..=1), within 1_000_000;
    #[cfg(not(target_arch = "wasm32"))] // too long for one thread, like the next two
    pendulum_is_solved: "Pendulum-v1", seeds (1..=1), within 2_000_000;
    #[cfg(not(target_arch = "wasm32"))]
    mountain_car_is_solved: "MountainCar-v0", seeds (2..=2), within 4_000_000;
    #[cfg(not(target_arch = "wasm32"))]
    lunar_lander_is_solved: "LunarLander-v3", seeds (1..=1), within 3_000_000;
}

#[test]
fn initial_weights_solve_no_environment() {
    for kind in worlds::control::kinds() {
        let frozen = PpoConfig { lr: 0.0, envs: 256, ..PpoConfig::preset(kind) };
        assert_eq!(steps_to_solve(kind, frozen, 1, 3 * 256 * 16), None, "{}", kind.spec.id);
    }
}

#[test]
fn cart_pole_stays_solved() {
    let mut ppo = Ppo::new(worlds::control::kind("CartPole-v1").unwrap(), PpoConfig::default(), 1, Isa::best()).unwrap();
    while ppo.progress().env_steps < 6_000_000 {
        ppo.advance();
    }
    while !ppo.at_boundary() {
        ppo.advance();
    }
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

/// Shows that the tests above detect broken learners.
#[test]
fn broken_learners_do_not_solve_cart_pole() {
    let kind = worlds::control::kind("CartPole-v1").unwrap();
    let preset = PpoConfig::default;
    let frozen = PpoConfig { lr: 0.0, ..preset() };
    assert_eq!(steps_to_solve(kind, frozen, 1, 500_000), None);
    let no_gradient = PpoConfig { max_grad_norm: 0.0, ..preset() };
    assert_eq!(steps_to_solve(kind, no_gradient, 1, 500_000), None);
    let short_sighted = PpoConfig { gamma: 0.0, lambda: 0.0, ..preset() };
    assert_eq!(steps_to_solve(kind, short_sighted, 1, 500_000), None);
}
