//! Greedy evaluation and predictions. They do not affect training.

use super::Ppo;
use super::evaluation::Evaluation;
use super::nets::Head;
use super::sampling::greedy;

impl Ppo {
    /// Plays `episodes` new episodes greedily and returns the result. Replaces an evaluation in progress.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Evaluation {
        self.begin_evaluation(episodes, seed);
        loop {
            if let Some(evaluation) = self.advance_evaluation() {
                return evaluation;
            }
        }
    }

    /// Starts a greedy evaluation of `episodes` episodes. At a boundary, it uses the newest weights and normaliser. Within an iteration, it
    /// uses the weights and the normaliser of the rollout.
    pub fn begin_evaluation(&mut self, episodes: u32, seed: u32) {
        self.evaluators.begin(self.scaling.observations.as_ref(), episodes, seed);
    }

    /// Runs one slice of the evaluation. Returns the result after the last slice, otherwise `None`. If no evaluation was started, returns
    /// the result of 0 episodes.
    pub fn advance_evaluation(&mut self) -> Option<Evaluation> {
        self.evaluators.advance()
    }

    /// Number of values per state that [`Ppo::predict`] writes to `policy`.
    pub fn policy_len(&self) -> usize {
        self.task.policy_len()
    }

    /// Computes policy and critic for states `[n][observation]`. `policy`, `[n][policy_len]`, receives the probability of each choice. For
    /// continuous actions, it receives the mean action and its standard deviation, both in the unit of the environment's actions. `values`,
    /// `[n]`, receives the expected discounted returns.
    pub fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]) {
        let with = (self.scaling.observations.as_ref(), 1.0 / self.reward_scale());
        self.evaluators.predict(with, observations, policy, values);
    }

    /// Returns an observation as the networks read it: normalised, if the settings require it.
    pub fn normalized(&self, observation: &[f64]) -> Vec<f32> {
        let observation = observation.iter().map(|&x| x as f32).enumerate();
        let normalizer = self.scaling.observations.as_ref();
        observation.map(|(i, x)| normalizer.map_or(x, |normalizer| normalizer.normalize(i, x))).collect()
    }

    /// Returns the greedy action for a `policy` that [`Ppo::predict`] returned. A discrete action is returned as its index.
    pub fn greedy(&self, policy: &[f32]) -> f32 {
        match self.task.head {
            Head::Choices(count) => greedy(|i| policy[i], count) as f32,
            Head::Gaussian { .. } => policy[0],
        }
    }
}
