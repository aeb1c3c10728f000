/// A learned policy, independent of its learner. It acts on batches of observations, `[n][observation]`.
pub trait Policy: Send + Sync {
    /// Number of values in an observation.
    fn observation_len(&self) -> usize;
    /// Number of policy values per state in [`Policy::predict`].
    fn policy_len(&self) -> usize;
    /// Writes the best action for each state; a discrete action is written as a whole number.
    fn act(&mut self, observations: &[f32], actions: &mut [f32]);
    /// Writes the policy, `[n][policy_len]`, and the value of each state, `[n]`. The policy is the probability of each choice, or the mean
    /// action and its standard deviation.
    fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]);
}
