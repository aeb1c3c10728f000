//! PPO with masks, on the environment in `rooms.rs`: forbidden choices are never taken, and the task is learned.

use crate::rooms;
use learn::control::{IterationStats, Ppo, PpoConfig, PpoError};
use learn::{Data, Learner, Parts, Slice, part};
use math::Isa;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::test;
use worlds::control::Kind;

fn config() -> PpoConfig {
    PpoConfig { envs: 256, ..PpoConfig::general() }
}

/// Returns the kind of the environment `Rooms-v0`, and the counter of its forbidden choices.
fn counted() -> (Kind, Arc<AtomicU32>) {
    let forbidden = Arc::default();
    (rooms::kind("Rooms-v0", &forbidden, None), forbidden)
}

fn iterate(ppo: &mut Ppo) -> IterationStats {
    loop {
        if let Slice::Ended(stats) = ppo.advance() {
            return stats;
        }
    }
}

#[test]
fn ppo_learns_with_masks_and_never_takes_a_forbidden_choice() {
    for seed in 1..=2 {
        let (kind, forbidden) = counted();
        let mut ppo = Ppo::new(&kind, config(), seed, Isa::best()).unwrap();
        let before = ppo.evaluate(100, 1).mean;
        while ppo.progress().env_steps < 150_000 {
            iterate(&mut ppo);
        }
        let mean = ppo.evaluate(100, 1).mean;
        assert!(f64::from(mean) >= kind.spec.solved_at && before < 15.0, "seed {seed}: {before}, then {mean}");
        assert_eq!(forbidden.load(Ordering::Relaxed), 0);
    }
}

/// Shows that the test above detects a policy that ignores the masks.
#[test]
fn a_policy_without_masks_takes_forbidden_choices() {
    let (kind, forbidden) = counted();
    let mut ppo = Ppo::new(&Kind { masked: false, ..kind }, config(), 1, Isa::best()).unwrap();
    ppo.evaluate(100, 1);
    let greedy = forbidden.swap(0, Ordering::Relaxed);
    iterate(&mut ppo);
    let sampled = forbidden.load(Ordering::Relaxed);
    assert!(greedy > 0 && sampled > 1000, "{greedy} {sampled}");
}

/// Acting and learning must compute the same probabilities of masked policies. Without masks, the entropy of a policy with six choices
/// would be near ln 6.
#[test]
fn the_first_minibatch_uses_the_masked_policy() {
    let (kind, _) = counted();
    for tanh in [false, true] {
        let config = PpoConfig { epochs: 1, minibatches: 1, tanh, shared: tanh, ..config() };
        let mut ppo = Ppo::new(&kind, config, 7, Isa::best()).unwrap();
        for _ in 0..3 {
            let stats = iterate(&mut ppo);
            assert_eq!(stats.clip_fraction, 0.0);
            assert!(stats.approx_kl.abs() < 1e-6 && stats.grad_norm > 0.0, "{stats:?}");
            assert!(stats.entropy < 3f32.ln() + 1e-3 && stats.entropy > 0.9, "{stats:?}");
        }
    }
}

#[test]
fn predictions_can_be_restricted_to_permitted_choices() {
    let (kind, _) = counted();
    let ppo = Ppo::new(&kind, config(), 1, Isa::best()).unwrap();
    let mut policy = [0.1, 0.4, 0.2, 0.1, 0.1, 0.1];
    ppo.restrict(&mut policy, &[]);
    assert_eq!(policy[1], 0.4);
    ppo.restrict(&mut policy, &[true, false, true, false, false, true]);
    for (p, expected) in policy.into_iter().zip([0.25, 0.0, 0.5, 0.0, 0.0, 0.25]) {
        assert!((p - expected).abs() < 1e-6, "{policy:?}");
    }
    assert_eq!(ppo.greedy(&policy), [2.0]);
    let mut policy = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    ppo.restrict(&mut policy, &[false, false, true, false, true, false]);
    assert_eq!(policy, [0.0, 0.0, 0.5, 0.0, 0.5, 0.0]);
}

fn restore(kind: &Kind, parts: &Parts) -> Result<Ppo, PpoError> {
    Ppo::restore(kind, config(), 3, Isa::best(), &|name| part(parts, name))
}

#[test]
fn a_restored_learner_with_masks_continues_bit_for_bit() {
    let (kind, _) = counted();
    let mut ppo = Ppo::new(&kind, config(), 3, Isa::best()).unwrap();
    iterate(&mut ppo);
    let mut again = restore(&kind, &ppo.parts()).unwrap();
    iterate(&mut ppo);
    iterate(&mut again);
    assert_eq!(ppo.parts(), again.parts());
}

#[test]
fn errors_name_a_kind_that_was_created_at_run_time() {
    let kind = rooms::kind(&format!("Own-v{}", 3), &Arc::default(), None);
    let mut parts = Ppo::new(&kind, config(), 3, Isa::best()).unwrap().parts();
    parts.iter_mut().find(|part| part.0 == "environments.state").unwrap().2 = Data::F32(vec![99.0; 512]);
    let error = restore(&kind, &parts).err().unwrap().to_string();
    assert!(error.contains("Own-v3"), "{error}");
}
