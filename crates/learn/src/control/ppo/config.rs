//! Settings of PPO, their presets, and errors for invalid settings.

use crate::SavedError;
use crate::settings;
use crate::settings::{SWITCH, SettingError, Settings, count, linear, log};
use worlds::control::{InvalidState, Kind};

/// Maximum number of samples in an iteration. A sample of a built-in environment takes about 100 bytes.
pub(super) const MAX_SAMPLES: usize = 1 << 22;
/// Maximum number of outputs of a policy. There is one output for each choice, or for each number of a continuous action. If an environment
/// has masks, a sample contains one mask value for each choice. The limit therefore also bounds the memory of a sample.
pub(super) const MAX_OUTPUTS: usize = 1024;

settings! {
    /// Settings of PPO. The defaults are the settings for CartPole; [`PpoConfig::preset`] returns the settings that solve an environment.
    /// `spread` and `squash` apply to continuous actions only.
    pub struct PpoConfig {
        live lr: f32 = 0.01, [log(1e-5, 0.1).down_to(0.0), "Learning rate", "",
            "Step size of each update. Too small: learning is slow. Too large: learning becomes unstable."];
        live entropy: f32 = 0.01, [linear(0.0, 0.2), "Entropy bonus", "",
            "Reward for a random policy. It encourages exploration; too much prevents the policy from settling."];
        live gamma: f32 = 0.998, [linear(0.8, 0.9999).down_to(0.0), "Discount γ: patience", "",
            "Weight of a reward one step later. 0.99 looks about 100 steps ahead."];
        live lambda: f32 = 0.97, [linear(0.0, 1.0), "GAE λ", "",
            "Estimator of advantages. 0 uses the critic's values (low variance, high bias), 1 the rewards that \
             followed (high variance, no bias)."];
        live clip: f32 = 0.2, [linear(0.02, 0.8), "Clip range ε", "",
            "Largest change of an action's probability, as a ratio, that PPO's objective rewards in one iteration."];
        live epochs: usize = 4, [count(1.0, 20.0).up_to(1000.0), "Epochs: passes over the data", "",
            "Number of times that each rollout is used for learning."];
        live value_coef: f32 = 0.5, [linear(0.0, 2.0), "Value coefficient", "", "Weight of the value loss beside the policy's own loss."];
        live max_grad_norm: f32 = 0.5, [log(0.05, 10.0).down_to(0.0), "Max gradient norm", "",
            "Longer gradients are scaled down to this length, so that an unusual batch cannot damage the network."];
        live normalize_advantage: bool = true, [SWITCH, "Normalise advantages", "",
            "Rescale the advantages of every rollout to mean 0 and standard deviation 1, so that the scale of rewards does not matter."];
        live clip_value: bool = false, [SWITCH, "Value clipping", "",
            "Limit the change of the value estimate in one iteration to the clip range."];
        live target_kl: f32 = 0.0, [linear(0.0, 0.1), "Target KL", "",
            "End the iteration once the KL divergence from the policy of the rollout exceeds 1.5 times this value. 0 \
             disables the limit."];
        live anneal_steps: f32 = 5e6, [linear(0.0, 1e8), "Learning-rate decay", "steps",
            "Reduce the learning rate linearly to its final share over this many environment steps, counted from the last change of a \
             knob. 0 keeps it constant."];
        // Once the policy balances the pole in every CartPole environment, the normalised advantages are noise. Updates from this noise
        // make the policy drift until it fails. With `lr_floor` at 0.005, some seeds failed within 25M steps.
        live lr_floor: f32 = 0.001, [log(0.001, 1.0), "Final share of learning rate", "",
            "Share of the learning rate that remains after its decay, so that learning continues in long runs."];
        fixed envs: usize = 2048, [count(32.0, 65536.0).down_to(1.0), "Environments", "environments",
            "Number of environments that run in parallel. All share one network."];
        fixed rollout_steps: usize = 16, [count(4.0, 1024.0).down_to(1.0).up_to(MAX_SAMPLES as f64), "Rollout steps", "steps",
            "Steps of every environment in one iteration."];
        fixed minibatches: usize = 16, [count(1.0, 64.0).up_to(MAX_SAMPLES as f64), "Minibatches", "",
            "Number of parts of a rollout; each gives one update per epoch."];
        fixed hidden: usize = 32, [count(8.0, 512.0).down_to(1.0), "Hidden units: width of the network", "units",
            "Units in each of the two hidden layers."];
        fixed shared: bool = false, [SWITCH, "Shared trunk", "",
            "Policy and critic share their hidden layers: faster, but their gradients may conflict."];
        fixed tanh: bool = false, [SWITCH, "Tanh activation", "",
            "Hidden units use the hyperbolic tangent instead of the rectified linear function."];
        fixed normalize_observation: bool = false, [SWITCH, "Normalise observations", "",
            "Rescale every feature of the observation to mean 0 and standard deviation 1 over all observations so far."];
        fixed normalize_reward: bool = false, [SWITCH, "Normalise rewards", "",
            "Divide rewards by the standard deviation of the return, so that values have the same scale in all environments."];
        fixed spread: f32 = 1.0, [log(0.05, 5.0), "Initial standard deviation", "of half the range",
            "Standard deviation of the first policy's actions. It is learned and usually decreases."];
        fixed squash: bool = false, [SWITCH, "Tanh squashing", "",
            "Map actions smoothly into their range instead of clamping them."];
    }
}

impl PpoConfig {
    /// Returns the settings [`PpoConfig::general`] with the changes in `kind.tuned`. With these settings, five of five seeds solved each
    /// built-in environment in `hothouse solve`.
    pub fn preset(kind: &Kind) -> Self {
        let mut preset = Self::general();
        for &(name, value) in &*kind.tuned {
            preset.visit(&mut |setting, field| {
                if setting.name == name {
                    field.set(&value.into());
                }
            });
        }
        preset
    }

    /// Returns settings that solve most environments.
    pub fn general() -> Self {
        Self { normalize_observation: true, normalize_reward: true, hidden: 64, tanh: true, lr: 0.003, lr_floor: 0.1, ..Self::default() }
    }

    /// Returns the learning rate after `env_steps` environment steps, counted from the last change of a setting.
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

/// Error for settings or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PpoError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("{envs} environments times {steps} steps is more than {MAX_SAMPLES} samples per iteration; lower one of the two")]
    TooManySamples { envs: usize, steps: usize },
    #[error("{samples} samples cannot be cut into {minibatches} minibatches; lower minibatches, or raise envs or rollout_steps")]
    TooFewSamples { samples: usize, minibatches: usize },
    #[error("{id} has actions with {outputs} choices or numbers, but 1 to {MAX_OUTPUTS} are possible; choose another environment")]
    Outputs { id: String, outputs: usize },
    #[error("fixed settings cannot change during a run; start a new run with them")]
    Fixed,
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error(transparent)]
    InvalidState(#[from] InvalidState),
    #[error(transparent)]
    Plan(#[from] graph::PlanError),
}
