//! Recorded rollout of an actor's environments.

use math::PANEL;

/// Environments per actor: one panel for each word of a random block.
pub(super) const LANES: usize = 4 * PANEL;

/// Floats of a sample besides its observation.
pub(super) const SAMPLE: usize = 4;

/// `T` steps of an actor's environments.
pub(super) struct Rollout {
    /// `[T][LANES/PANEL][features][PANEL]`
    pub observations: Vec<f32>,
    /// Actions as sampled by the policy, before clamping or squashing, `[T][LANES]`; the following fields have the same shape.
    pub actions: Vec<f32>,
    pub log_probs: Vec<f32>,
    /// `[T + 1][LANES]`
    pub values: Vec<f32>,
    pub ended: Vec<u32>,
    /// Critic's value of the last state of an episode that was truncated, otherwise 0.
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
