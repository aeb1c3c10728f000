//! The rollout of an actor's environments, as it is recorded.

use math::PANEL;

/// Environments an actor steps: as many panels as a random block has words.
pub(super) const LANES: usize = 4 * PANEL;

/// Floats of a sample beside its observation.
pub(super) const SAMPLE: usize = 4;

/// T steps of an actor's environments.
pub(super) struct Rollout {
    /// `[T][LANES/PANEL][features][PANEL]`
    pub observations: Vec<f32>,
    /// As the policy drew them, `[T][LANES]`, as the next ones.
    pub actions: Vec<f32>,
    pub log_probs: Vec<f32>,
    /// `[T + 1][LANES]`
    pub values: Vec<f32>,
    pub ended: Vec<u32>,
    /// The critic's value of the state in which an episode was cut short, else 0.
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
