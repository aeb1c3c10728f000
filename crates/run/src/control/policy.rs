//! What was learned, apart from its run.

use crate::room::Policy;
use learn::control::ppo;

impl Policy for ppo::Policy {
    fn observation_len(&self) -> usize {
        self.observation_len()
    }

    fn policy_len(&self) -> usize {
        self.policy_len()
    }

    fn act(&mut self, observations: &[f32], actions: &mut [f32]) {
        self.act(observations, actions);
    }

    fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]) {
        self.predict(observations, policy, values);
    }
}
