/// Copy of a learned policy, which can be used without its learner. The methods take `observations` as a batch of shape
/// `[n][observation_len]`.
pub trait Policy: Send + Sync {
    /// Returns the number of values in an observation.
    fn observation_len(&self) -> usize;
    /// Returns the number of values per state that [`Policy::predict`] writes to `policy`.
    fn policy_len(&self) -> usize;
    /// Returns the number of values in an action; 1 for a discrete action.
    fn action_len(&self) -> usize;
    /// Writes the best action for each observation to `actions`, `[n][action_len]`. A discrete action is written as its index.
    fn act(&mut self, observations: &[f32], actions: &mut [f32]);
    /// Writes the policy to `policy`, `[n][policy_len]`, and the value of each state to `values`, `[n]`. For discrete actions, the policy
    /// of a state consists of the probability of each action. For continuous actions, the policy consists of the mean of each component of
    /// the action, followed by the standard deviation of each component.
    fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]);
}
