//! The settings of PPO, their presets, and what is wrong with those that cannot be used.

use crate::SavedError;
use crate::settings;
use crate::settings::{SWITCH, SettingError, Settings, count, linear, log};
use worlds::control::{Impossible, Kind};

/// Samples of one iteration at most: they take about 100 bytes each.
pub(super) const MAX_SAMPLES: usize = 1 << 22;
/// Choices an agent can have at most.
pub(super) const MAX_CHOICES: usize = 16;

settings! {
    /// Settings; the defaults are CartPole's, and [`PpoConfig::preset`] has those that solve an environment. Those of the actions' spread
    /// count where actions are numbers.
    pub struct PpoConfig {
        live lr: f32 = 0.01, [log(1e-5, 0.1).down_to(0.0), "Learning rate", "",
            "How far each update moves the network. Too small and nothing happens; too large and it forgets what it knew."];
        live entropy: f32 = 0.01, [linear(0.0, 0.2), "Entropy bonus", "",
            "A reward for staying undecided: exploration. It keeps the agent trying things; too much and it never commits."];
        live gamma: f32 = 0.998, [linear(0.8, 0.9999).down_to(0.0), "Discount γ: patience", "",
            "The discount: how much a reward one step later is still worth now. 0.99 looks about 100 steps ahead."];
        live lambda: f32 = 0.97, [linear(0.0, 1.0), "GAE λ", "",
            "How advantages are estimated. At 0 by the critic's values alone (low variance, high bias), at 1 by the rewards that \
             followed (no bias)."];
        live clip: f32 = 0.2, [linear(0.02, 0.8), "Clip range ε", "",
            "How far one update may change the probability of an action, as a ratio, before PPO's objective stops rewarding the change."];
        live epochs: usize = 4, [count(1.0, 20.0).up_to(1000.0), "Epochs: passes over the data", "",
            "How often each batch of experience is learned from before it is thrown away."];
        live value_coef: f32 = 0.5, [linear(0.0, 2.0), "Value coefficient", "", "Weight of the value loss beside the policy's own loss."];
        live max_grad_norm: f32 = 0.5, [log(0.05, 10.0).down_to(0.0), "Max gradient norm", "",
            "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network."];
        live normalize_advantage: bool = true, [SWITCH, "Normalise advantages", "",
            "Rescale the advantages of every rollout to mean 0 and spread 1, so that the size of the rewards does not matter."];
        live clip_value: bool = false, [SWITCH, "Value clipping", "",
            "Keep the value estimate from moving further in one update than the clip range allows."];
        live target_kl: f32 = 0.0, [linear(0.0, 0.1), "Target KL", "",
            "Stop learning from a batch once the policy has moved this far from the one that gathered it (half as much again ends it). 0 \
             lets it go on."];
        live anneal_steps: f32 = 5e6, [linear(0.0, 1e8), "Learning-rate decay", "steps",
            "Lower the learning rate linearly to its final share over this many environment steps, counted from your last change of a \
             knob. 0 keeps it constant."];
        // Once every pole stays up, normalised advantages are noise, and a policy that goes on following them drifts until it
        // falls: at 0.005 some seeds did within 25M steps.
        live lr_floor: f32 = 0.001, [log(0.001, 1.0), "Final learning rate", "times",
            "The share of the learning rate that stays after its decay, so that learning goes on however long the run is."];
        fixed envs: usize = 2048, [count(32.0, 65536.0).down_to(1.0), "Environments", "environments",
            "How many environments are played at once. All of them share one network."];
        fixed rollout_steps: usize = 16, [count(4.0, 1024.0).down_to(1.0).up_to(MAX_SAMPLES as f64), "Rollout steps", "steps",
            "How many steps every environment takes before the network learns from them."];
        fixed minibatches: usize = 16, [count(1.0, 64.0).up_to(MAX_SAMPLES as f64), "Minibatches", "",
            "Into how many parts the collected experience is cut; the network is updated after each."];
        fixed hidden: usize = 32, [count(8.0, 512.0).down_to(1.0), "Hidden units: width of the network", "units",
            "Units in each of the two hidden layers."];
        fixed shared: bool = false, [SWITCH, "Shared trunk", "",
            "Policy and critic share their hidden layers: faster, but each pulls at what the other needs."];
        fixed tanh: bool = false, [SWITCH, "Tanh activation", "",
            "Hidden units bend smoothly (hyperbolic tangent) instead of at a corner (rectified linear)."];
        fixed normalize_observation: bool = false, [SWITCH, "Normalise observations", "",
            "Rescale every number of the observation to mean 0 and spread 1 over all that was seen so far."];
        fixed normalize_reward: bool = false, [SWITCH, "Normalise rewards", "",
            "Divide rewards by the spread of the return, so that the critic's task has the same size everywhere."];
        fixed spread: f32 = 1.0, [log(0.05, 5.0), "Initial standard deviation", "of half the range",
            "How widely the first policy scatters its actions around nothing. It narrows by itself as it learns."];
        fixed squash: bool = false, [SWITCH, "Tanh squashing", "",
            "Bend actions smoothly into their range instead of cutting them off at its ends."];
    }
}

impl PpoConfig {
    /// The settings that solve an environment in five of five seeds (`hothouse solve`): the general ones, and what it says of itself.
    pub fn preset(kind: &Kind) -> Self {
        let mut preset = Self::general();
        for &(name, value) in kind.tuned {
            preset.visit(&mut |setting, field| {
                if setting.name == name {
                    field.set(&value.into());
                }
            });
        }
        preset
    }

    /// Those that solve most environments.
    pub fn general() -> Self {
        Self { normalize_observation: true, normalize_reward: true, hidden: 64, tanh: true, lr: 0.003, lr_floor: 0.1, ..Self::default() }
    }

    /// The learning rate, so many environment steps after a setting was last changed.
    pub fn lr_after(&self, env_steps: u64) -> f32 {
        let Self { lr, anneal_steps, lr_floor, .. } = *self;
        let left = 1.0 - env_steps as f32 / anneal_steps;
        if anneal_steps > 0.0 { lr * left.max(lr_floor) } else { lr }
    }

    pub fn check(&self) -> Result<(), PpoError> {
        self.in_range()?;
        let (envs, steps) = (self.envs, self.rollout_steps);
        let samples = envs.saturating_mul(steps);
        if samples > MAX_SAMPLES {
            return Err(PpoError::TooManySamples { envs, steps });
        }
        if samples / self.minibatches < 2 {
            return Err(PpoError::TooFewSamples { samples, minibatches: self.minibatches });
        }
        Ok(())
    }
}

/// Settings or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PpoError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("{envs} environments times {steps} steps is more than {MAX_SAMPLES} samples an iteration; lower one of the two")]
    TooManySamples { envs: usize, steps: usize },
    #[error("{samples} samples cannot be cut into {minibatches} minibatches; lower minibatches, or raise envs or rollout_steps")]
    TooFewSamples { samples: usize, minibatches: usize },
    #[error("{id} has {choices} choices, more than {MAX_CHOICES}; choose another environment")]
    TooManyChoices { id: &'static str, choices: usize },
    #[error("settings that networks and buffers are made for were changed; begin a new run with them")]
    Fixed,
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error(transparent)]
    Impossible(#[from] Impossible),
    #[error(transparent)]
    Plan(#[from] graph::PlanError),
}
