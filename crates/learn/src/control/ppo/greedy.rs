//! What was learned, played greedily in fresh episodes and asked about states. It leaves no trace in the training.

use super::Ppo;
use super::evaluation::Evaluation;
use super::nets::Head;
use super::sampling::greedy;

impl Ppo {
    /// Plays fresh episodes greedily, from the first to the last. It replaces an evaluation under way.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Evaluation {
        self.begin_evaluation(episodes, seed);
        loop {
            if let Some(evaluation) = self.advance_evaluation() {
                return evaluation;
            }
        }
    }

    /// Begins to play fresh episodes greedily, with the weights and the normaliser of this moment. At a boundary these are the newest
    /// weights; between two, those that the rollout acts with.
    pub fn begin_evaluation(&mut self, episodes: u32, seed: u32) {
        self.evaluators.begin(self.scaling.observations.as_ref(), episodes, seed);
    }

    /// One slice of the evaluation; gives the result after the last one. Without an evaluation under way it is that of no episodes.
    pub fn advance_evaluation(&mut self) -> Option<Evaluation> {
        self.evaluators.advance()
    }

    /// Numbers that [`Ppo::predict`] gives of the policy in a state.
    pub fn policy_len(&self) -> usize {
        self.task.policy_len()
    }

    /// What policy and critic give for some states `[n][observation]`: for each the probability of every choice, or the action that
    /// its mean stands for and its spread in the same unit, `[n][policy_len]`; and the discounted return that the critic expects, `[n]`.
    pub fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]) {
        let with = (self.scaling.observations.as_ref(), 1.0 / self.reward_scale());
        self.evaluators.predict(with, observations, policy, values);
    }

    /// The action that an evaluation takes by what [`Ppo::predict`] gave of the policy.
    pub fn greedy(&self, policy: &[f32]) -> f32 {
        match self.task.head {
            Head::Choices(count) => greedy(|i| policy[i], count) as f32,
            Head::Gaussian { .. } => policy[0],
        }
    }
}
