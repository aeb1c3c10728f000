//! PPO with an action of two numbers (`point.rs`).

use crate::point;
use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Slice, part};
use math::{Isa, PANEL};
use std::sync::Arc;
use testkit::test;
use worlds::control::{InvalidState, Kind, Vector};

fn config() -> PpoConfig {
    PpoConfig { envs: 256, spread: 0.5, ..PpoConfig::general() }
}

fn iterate(ppo: &mut Ppo) {
    while !matches!(ppo.advance(), Slice::Ended(_)) {}
}

/// Returns the mean return of the greedy policy after 150,000 environment steps.
fn trained(kind: &Kind, seed: u32) -> f32 {
    let mut ppo = Ppo::new(kind, config(), seed, Isa::best()).unwrap();
    while ppo.progress().env_steps < 150_000 {
        iterate(&mut ppo);
    }
    ppo.evaluate(100, 1).mean
}

/// Environments of `point.rs` in which the second number of an action has no effect. The second field contains the changed actions.
struct Deaf(Box<dyn Vector>, Vec<f32>);

impl Vector for Deaf {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn bytes(&self) -> usize {
        self.0.bytes()
    }
    fn observations(&self) -> &[f32] {
        self.0.observations()
    }
    fn reset(&mut self, seed: u32, first: u32) {
        self.0.reset(seed, first);
    }
    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        self.1.copy_from_slice(actions);
        self.1.chunks_exact_mut(2 * PANEL).for_each(|panel| panel[PANEL..].fill(0.0));
        self.0.step(&self.1, reached, rewards, ended);
    }
    fn begin(&mut self, env: usize) {
        self.0.begin(env);
    }
    fn state_len(&self) -> usize {
        self.0.state_len()
    }
    fn environment(&self, env: usize, state: &mut [f32]) -> (u32, u32) {
        self.0.environment(env, state)
    }
    fn set_environment(&mut self, env: usize, state: &[f32], steps: u32, episodes: u32) -> Result<(), InvalidState> {
        self.0.set_environment(env, state, steps, episodes)
    }
}

#[test]
fn ppo_moves_a_point_in_two_dimensions() {
    let kind = point::kind();
    for seed in 1..=2 {
        let mean = trained(&kind, seed);
        assert!(f64::from(mean) >= kind.spec.solved_at, "seed {seed}: {mean}");
    }
}

/// Shows that the test above detects a learner that controls only one dimension.
#[test]
fn one_dimension_alone_does_not_solve_the_task() {
    let kind = point::kind();
    let many = kind.many.clone();
    let deaf = move |isa, seed, first, count| {
        let many = many(isa, seed, first, count);
        let actions = vec![0.0; many.observations().len()];
        Box::new(Deaf(many, actions)) as Box<dyn Vector>
    };
    let deaf = Kind { many: Arc::new(deaf), ..kind };
    let mean = trained(&deaf, 1);
    assert!(f64::from(mean) < 2.0 * deaf.spec.solved_at, "{mean}");
}

#[test]
fn each_number_has_its_own_spread_and_mean() {
    let mut ppo = Ppo::new(&point::kind(), config(), 3, Isa::best()).unwrap();
    let spreads = |ppo: &Ppo| ppo.params().get("policy.spread").unwrap().to_vec();
    assert_eq!(spreads(&ppo).len(), 2);
    assert_eq!(spreads(&ppo)[0], spreads(&ppo)[1]);
    (0..5).for_each(|_| iterate(&mut ppo));
    let [a, b] = spreads(&ppo)[..] else { panic!() };
    assert!(a != b && a.is_finite() && b.is_finite(), "{a} {b}");

    let mut policy = vec![0.0; 2 * ppo.policy_len()];
    ppo.predict(&[0.3, -0.6, -0.6, 0.3], &mut policy, &mut [0.0; 2]);
    assert_eq!(ppo.policy_len(), 4);
    // The range of an action is ±2, so a standard deviation of 1 in the policy is 2 in the unit of the environment's actions.
    for (found, log) in policy[2..4].iter().zip([a, b]) {
        assert!((found - 2.0 * log.exp()).abs() < 1e-5, "{found}");
    }
    assert_eq!(policy[2..4], policy[6..8]);
    assert!(policy[..2] != policy[4..6] && policy[0] != policy[1]);
    let greedy: Vec<f64> = policy[..2].iter().map(|&mean| mean.into()).collect();
    assert_eq!(ppo.greedy(&policy[..4]), greedy);

    let mut actions = [0.0; 4];
    let mut copy = ppo.policy().unwrap();
    assert_eq!(learn::Policy::action_len(&copy), 2);
    learn::Policy::act(&mut copy, &[0.3, -0.6, -0.6, 0.3], &mut actions);
    assert_eq!(actions, [policy[0], policy[1], policy[4], policy[5]]);
}

#[test]
fn a_restored_learner_with_two_numbers_continues_bit_for_bit() {
    let kind = point::kind();
    let mut ppo = Ppo::new(&kind, config(), 3, Isa::best()).unwrap();
    iterate(&mut ppo);
    let parts = ppo.parts();
    let mut again = Ppo::restore(&kind, config(), 3, Isa::best(), &|name| part(&parts, name)).unwrap();
    iterate(&mut ppo);
    iterate(&mut again);
    assert_eq!(ppo.parts(), again.parts());
}
