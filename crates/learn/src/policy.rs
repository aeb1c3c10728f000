/// What was learned by a moment, apart from its learner: it acts on batches of observations, `[n][observation]`.
pub trait Policy: Send + Sync {
    /// Numbers of an observation.
    fn observation_len(&self) -> usize;
    /// Numbers that [`Policy::predict`] gives of the policy in a state.
    fn policy_len(&self) -> usize;
    /// The best action in each state: a choice as a whole number.
    fn act(&mut self, observations: &[f32], actions: &mut [f32]);
    /// The probability of every choice, or the mean action and its spread, `[n][policy_len]`; and what a state is worth, `[n]`.
    fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]);
}
