//! That PPO learns, counted in environment steps so that no machine is too slow, and that what breaks
//! a learner shows. Solved is Gymnasium's threshold: a mean return of 475 over 100 fresh episodes.

use learn::{Ppo, PpoConfig, Slice};
use math::Isa;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;
#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Environment steps until the greedy policy solves the task, if it does within `limit`.
fn steps_to_solve(config: PpoConfig, seed: u32, limit: u64) -> Option<u64> {
    let mut ppo = Ppo::new(worlds::kind("CartPole-v1").unwrap(), config, seed, Isa::best()).unwrap();
    while ppo.progress().env_steps < limit {
        if let Slice::Iteration(stats) = ppo.advance() {
            let promising = stats.mean_return.is_some_and(|mean| mean >= 100.0);
            if promising && ppo.evaluate(100, seed).mean >= 475.0 {
                return Some(ppo.progress().env_steps);
            }
        }
    }
    None
}

#[test]
fn the_preset_solves_every_seed() {
    for seed in 1..=5 {
        let steps = steps_to_solve(PpoConfig::default(), seed, 1_500_000);
        assert!(steps.is_some(), "seed {seed}");
    }
}

#[test]
fn the_preset_stays_solved() {
    let mut ppo =
        Ppo::new(worlds::kind("CartPole-v1").unwrap(), PpoConfig::default(), 1, Isa::best()).unwrap();
    while ppo.progress().env_steps < 6_000_000 {
        ppo.advance();
    }
    while !ppo.at_boundary() {
        ppo.advance();
    }
    let evaluation = ppo.evaluate(100, 1);
    assert!(evaluation.mean >= 475.0, "{evaluation:?}");
}

#[test]
fn unfused_arithmetic_learns_too() {
    let mut portable = Ppo::new(
        worlds::kind("CartPole-v1").unwrap(),
        PpoConfig { epochs: 2, ..PpoConfig::default() },
        1,
        Isa::Portable,
    )
    .unwrap();
    let mut first = None;
    let mut last = None;
    while portable.progress().env_steps < 200_000 {
        if let Slice::Iteration(stats) = portable.advance() {
            first = first.or(stats.mean_return);
            last = stats.mean_return;
        }
    }
    assert!(last.unwrap() > 2.0 * first.unwrap(), "{first:?} -> {last:?}");
}

/// What a broken learner looks like: the tests above would see it.
#[test]
fn a_learner_that_cannot_learn_does_not_solve_it() {
    let preset = PpoConfig::default;
    let frozen = PpoConfig { lr: 0.0, ..preset() };
    assert_eq!(steps_to_solve(frozen, 1, 500_000), None);
    let no_gradient = PpoConfig { max_grad_norm: 0.0, ..preset() };
    assert_eq!(steps_to_solve(no_gradient, 1, 500_000), None);
    let short_sighted = PpoConfig { gamma: 0.0, lambda: 0.0, ..preset() };
    assert_eq!(steps_to_solve(short_sighted, 1, 500_000), None);
}
