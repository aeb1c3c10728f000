//! PPO with an observation of 1024 numbers and the largest number of choices.

use learn::control::{Ppo, PpoConfig, PpoError};
use learn::{Learner, Slice};
use math::{Isa, PANEL};
use std::sync::Arc;
use testkit::test;
use worlds::control::vector::{LENGTH_SHIFT, TERMINATED};
use worlds::control::{Actions, InvalidState, Kind, Spec, Text, Vector};

const WIDTH: usize = 1024;

/// Environments whose episodes have one step. The reward is 1 if the choice is even.
struct Wide {
    count: usize,
    episodes: u32,
    shown: Vec<f32>,
}

impl Wide {
    fn show(&mut self) {
        let at = self.episodes as usize;
        self.shown.iter_mut().enumerate().for_each(|(i, x)| *x = ((i / PANEL * 7 + i % PANEL + at * 13) % 29) as f32 / 29.0);
    }
}

impl Vector for Wide {
    fn count(&self) -> usize {
        self.count
    }
    fn bytes(&self) -> usize {
        4 * self.shown.len()
    }
    fn observations(&self) -> &[f32] {
        &self.shown
    }
    fn reset(&mut self, _: u32, _: u32) {
        self.episodes = 0;
        self.show();
    }
    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        reached.copy_from_slice(&self.shown);
        for (reward, &action) in rewards.iter_mut().zip(actions) {
            assert!(action.fract() == 0.0 && (0.0..WIDTH as f32).contains(&action), "{action}");
            *reward = if action % 2.0 == 0.0 { 1.0 } else { 0.0 };
        }
        ended.fill(TERMINATED | (1 << LENGTH_SHIFT));
        self.episodes += 1;
        self.show();
    }
    fn begin(&mut self, _: usize) {}
    fn state_len(&self) -> usize {
        1
    }
    fn environment(&self, _: usize, state: &mut [f32]) -> (u32, u32) {
        state[0] = 0.0;
        (0, self.episodes)
    }
    fn set_environment(&mut self, _: usize, _: &[f32], _: u32, episodes: u32) -> Result<(), InvalidState> {
        self.episodes = episodes;
        self.show();
        Ok(())
    }
}

fn kind(choices: u32) -> Kind {
    let names: Vec<Text> = (0..WIDTH).map(|i| format!("number {i}").into()).collect();
    let spec = Spec {
        id: "Wide-v0".into(),
        summary: "choose an even number".into(),
        actions: Actions::Choices(choices),
        choices: names.clone().into(),
        state: vec!["nothing".into()].into(),
        observation: names.into(),
        step_limit: 2,
        solved_at: 0.9,
        returns: [0.0, 1.0],
    };
    let many = |_, seed, first, count: usize| {
        let mut wide = Wide { count, episodes: 0, shown: vec![0.0; count.next_multiple_of(PANEL) * WIDTH] };
        wide.reset(seed, first);
        Box::new(wide) as Box<dyn Vector>
    };
    Kind::new(spec, Arc::new(|| (worlds::control::kinds()[0].twin)()), Arc::new(many))
}

#[test]
fn a_thousand_observations_and_choices_are_learned() {
    let config = PpoConfig { envs: 128, rollout_steps: 8, minibatches: 4, hidden: 32, lr: 0.003, ..PpoConfig::general() };
    let mut ppo = Ppo::new(&kind(WIDTH as u32), config.clone(), 1, Isa::best()).unwrap();
    let mut means = Vec::new();
    for _ in 0..40 {
        means.push(loop {
            if let Slice::Ended(stats) = ppo.advance() {
                assert!(stats.is_finite());
                break stats.mean_return.unwrap();
            }
        });
    }
    assert!((0.3..0.7).contains(&means[0]) && means[39] > 0.9, "{means:?}");
    assert!(ppo.progress().env_steps == 40 * 128 * 8);
    assert!(config.bytes(&kind(WIDTH as u32)) > 4 * 128 * 8 * WIDTH as u64, "the estimate contains the samples");
}

#[test]
fn more_choices_are_rejected_with_the_bound() {
    for choices in [0, WIDTH as u32 + 1] {
        let error = Ppo::new(&kind(choices), PpoConfig::general(), 1, Isa::best()).err().unwrap();
        assert!(matches!(error, PpoError::Outputs { .. }) && error.to_string().contains("1024"), "{error}");
    }
}
