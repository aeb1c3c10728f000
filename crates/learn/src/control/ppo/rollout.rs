//! Recorded rollout of an actor's environments.

use math::PANEL;

/// Number of environments per actor: four panels, one for each word of a random block.
pub(super) const LANES: usize = 4 * PANEL;

/// Number of values in a sample besides its observation.
pub(super) const SAMPLE: usize = 4;

/// Data of `T` steps of an actor's environments.
pub(super) struct Rollout {
    /// Observations before each step, `[T][LANES/PANEL][features][PANEL]`.
    pub observations: Vec<f32>,
    /// Actions as sampled by the policy, before clamping or squashing. The shape is `[T][LANES]`, as in all fields below except `values`.
    pub actions: Vec<f32>,
    pub log_probs: Vec<f32>,
    /// Critic's values, `[T + 1][LANES]`; the last row belongs to the states after the last step.
    pub values: Vec<f32>,
    /// If the step ended an episode, the episode's length and flags in the format of `worlds::control::vector`; otherwise 0.
    pub ended: Vec<u32>,
    /// If the step truncated an episode, the critic's value of the episode's last state; otherwise 0.
    pub bootstraps: Vec<f32>,
    pub advantages: Vec<f32>,
    pub rewards: Vec<f32>,
}

impl Rollout {
    pub fn new(steps: usize, features: usize) -> Self {
        Self {
            observations: vec![0.0; steps * LANES * features],
            actions: vec![0.0; steps * LANES],
            log_probs: vec![0.0; steps * LANES],
            values: vec![0.0; (steps + 1) * LANES],
            ended: vec![0; steps * LANES],
            bootstraps: vec![0.0; steps * LANES],
            advantages: vec![0.0; steps * LANES],
            rewards: vec![0.0; steps * LANES],
        }
    }
}
