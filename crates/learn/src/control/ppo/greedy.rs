//! Greedy evaluation, and predictions. A greedy action is the choice with the highest probability, or the mean of a continuous action.
//! Evaluation and predictions do not affect training.

use super::Ppo;
use super::evaluation::Evaluation;
use super::nets::Head;
use super::sampling::greedy;
use worlds::control::WorldFault;

impl Ppo {
    /// Plays `episodes` new episodes greedily and returns the result. Replaces an evaluation in progress. If the rules of an environment
    /// raise an error, all numbers of the result are NaN. To receive the error, call [`Ppo::begin_evaluation`] and
    /// [`Ppo::advance_evaluation`] instead.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Evaluation {
        self.begin_evaluation(episodes, seed);
        loop {
            match self.advance_evaluation() {
                Ok(None) => {}
                Ok(Some(evaluation)) => return evaluation,
                Err(_) => return Evaluation { mean: f32::NAN, min: f32::NAN, max: f32::NAN },
            }
        }
    }

    /// Starts a greedy evaluation of `episodes` episodes. Between two iterations, the evaluation uses the latest weights and normaliser.
    /// Within an iteration, the evaluation uses the weights and the normaliser of the rollout.
    pub fn begin_evaluation(&mut self, episodes: u32, seed: u32) {
        self.evaluators.begin(self.scaling.observations.as_ref(), episodes, seed);
    }

    /// Runs one slice of the evaluation. Returns the result after the last slice, otherwise `None`. If no evaluation was started, returns
    /// the result of 0 episodes. An error of an environment's rules ends the evaluation.
    pub fn advance_evaluation(&mut self) -> Result<Option<Evaluation>, WorldFault> {
        self.evaluators.advance()
    }

    /// Returns the number of values per state that [`Ppo::predict`] writes to `policy`.
    pub fn policy_len(&self) -> usize {
        self.task.policy_len()
    }

    /// Computes policy and critic for states `[n][observation]`. `policy`, `[n][policy_len]`, receives the probability of each choice. For
    /// continuous actions, `policy` receives the mean of each number, followed by the standard deviation of each number, in the unit of the
    /// environment's actions. `values`, `[n]`, receives the expected discounted returns.
    pub fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]) {
        let with = (self.scaling.observations.as_ref(), 1.0 / self.reward_scale());
        self.evaluators.predict(with, observations, policy, values);
    }

    /// Returns the network inputs for an observation: the normalised observation if the setting `normalize_observation` is on, otherwise
    /// the observation itself.
    pub fn normalized(&self, observation: &[f64]) -> Vec<f32> {
        let observation = observation.iter().map(|&x| x as f32).enumerate();
        let normalizer = self.scaling.observations.as_ref();
        observation.map(|(i, x)| normalizer.map_or(x, |normalizer| normalizer.normalize(i, x))).collect()
    }

    /// Sets the probabilities of forbidden choices to 0, and scales the other probabilities to the sum 1. `policy` is a result of
    /// [`Ppo::predict`] for one state. `permitted` has one element per choice. If `permitted` is empty, all choices are permitted.
    pub fn restrict(&self, policy: &mut [f32], permitted: &[bool]) {
        if permitted.is_empty() {
            return;
        }
        policy.iter_mut().zip(permitted).filter(|(_, permitted)| !**permitted).for_each(|(p, _)| *p = 0.0);
        let sum: f32 = policy.iter().sum();
        // If all permitted choices have probability 0, they become equally likely.
        let count = permitted.iter().filter(|permitted| **permitted).count() as f32;
        for (p, _) in policy.iter_mut().zip(permitted).filter(|(_, permitted)| **permitted) {
            *p = if sum > 0.0 { *p / sum } else { 1.0 / count };
        }
    }

    /// Returns the greedy action for a `policy` that [`Ppo::predict`] returned. A discrete action is returned as its index.
    pub fn greedy(&self, policy: &[f32]) -> Vec<f64> {
        match self.task.head {
            Head::Choices(count) => vec![greedy(|i| policy[i], count) as f64],
            Head::Gaussian { count, .. } => policy[..count].iter().map(|&mean| mean.into()).collect(),
        }
    }
}
