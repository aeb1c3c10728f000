//! Recorded rollout of an actor's environments.

use math::{Buffer, PANEL};

/// Number of environments per actor: four panels, one for each word of a random block.
pub const LANES: usize = 4 * PANEL;

/// Number of values in a sample besides observation, action and mask: log-probability, advantage and value.
pub const REST: usize = 3;

/// Data of `T` steps of an actor's environments.
pub struct Rollout {
    /// Observations before each step, `[T][LANES/PANEL][features][PANEL]`.
    pub observations: Buffer,
    /// Actions as sampled by the policy, before clamping or squashing, `[T][LANES/PANEL][numbers][PANEL]`.
    pub actions: Buffer,
    /// Masks before each step (1 for a permitted choice, 0 for a forbidden choice), `[T][LANES/PANEL][choices][PANEL]`; empty if the
    /// environments have no masks.
    pub masks: Buffer,
    /// Log-probabilities of the actions. The shape is `[T][LANES]`, as in all fields below except `values`.
    pub log_probs: Buffer,
    /// Critic's values, `[T + 1][LANES]`; the last row belongs to the states after the last step.
    pub values: Buffer,
    /// Length and flags of the episode that the step ended, in the format of `worlds::control::vector`; 0 if no episode ended.
    pub ended: Buffer<u32>,
    /// Critic's value of the last state of the episode that the step truncated; 0 if no episode was truncated.
    pub bootstraps: Buffer,
    pub advantages: Buffer,
    pub rewards: Buffer,
}

impl Rollout {
    /// Creates the memory of `steps` steps with `features` values per observation, `numbers` per action and `mask` per mask.
    pub fn new(steps: usize, features: usize, numbers: usize, mask: usize) -> Self {
        Self {
            observations: Buffer::zeros(steps * LANES * features),
            actions: Buffer::zeros(steps * LANES * numbers),
            masks: Buffer::zeros(steps * LANES * mask),
            log_probs: Buffer::zeros(steps * LANES),
            values: Buffer::zeros((steps + 1) * LANES),
            ended: Buffer::zeros(steps * LANES),
            bootstraps: Buffer::zeros(steps * LANES),
            advantages: Buffer::zeros(steps * LANES),
            rewards: Buffer::zeros(steps * LANES),
        }
    }
}
