//! The settings of PPO, their presets, and what is wrong with those that cannot be used.

use worlds::Impossible;

/// Samples of one iteration at most: they take about 100 bytes each.
pub(super) const MAX_SAMPLES: usize = 1 << 22;
/// Choices an agent can have at most.
pub(super) const MAX_CHOICES: usize = 16;

/// Settings. [`PpoConfig::preset`] has those that solve an environment.
#[derive(Clone, Debug, PartialEq)]
pub struct PpoConfig {
    pub envs: usize,
    pub rollout_steps: usize,
    pub epochs: usize,
    pub minibatches: usize,
    /// Units in each of the two hidden layers.
    pub hidden: usize,
    /// Policy and critic stand on the same two hidden layers, instead of each on its own.
    pub shared: bool,
    /// Hyperbolic tangents in the hidden layers, instead of rectified units.
    pub tanh: bool,
    pub lr: f32,
    /// γ
    pub gamma: f32,
    /// λ of the advantage estimate.
    pub lambda: f32,
    /// ε of the surrogate.
    pub clip: f32,
    /// c_e
    pub entropy: f32,
    /// c_v
    pub value_coef: f32,
    pub max_grad_norm: f32,
    /// An iteration's learning ends once a minibatch's divergence is half as much again; 0 lets it go on.
    pub target_kl: f32,
    /// Environment steps over which the learning rate falls to `lr_floor` of itself, counted from when
    /// a setting was last changed; 0 keeps it constant.
    pub anneal_steps: f32,
    /// Share of the learning rate that an annealed one keeps, so that learning goes on whatever the budget.
    pub lr_floor: f32,
    pub clip_value: bool,
    pub normalize_advantage: bool,
    /// Observations are shown to the networks with mean 0 and spread 1, as far as was seen so far.
    pub normalize_observation: bool,
    /// Rewards are divided by the spread of the discounted return.
    pub normalize_reward: bool,
    /// Where actions are numbers: the policy's first spread, in halves of the action's range.
    pub spread: f32,
    /// Where actions are numbers: they are squashed into their range by a hyperbolic tangent, instead of
    /// being cut off at its ends.
    pub squash: bool,
}

impl Default for PpoConfig {
    /// CartPole's.
    fn default() -> Self {
        Self {
            envs: 2048,
            rollout_steps: 16,
            epochs: 4,
            minibatches: 16,
            hidden: 32,
            shared: false,
            tanh: false,
            lr: 0.01,
            gamma: 0.998,
            lambda: 0.97,
            clip: 0.2,
            entropy: 0.01,
            value_coef: 0.5,
            max_grad_norm: 0.5,
            target_kl: 0.0,
            anneal_steps: 5e6,
            // Once every pole stays up, normalised advantages are noise, and a policy that goes on following them drifts until it
            // falls: at 0.005 some seeds did within 25M steps.
            lr_floor: 0.001,
            clip_value: false,
            normalize_advantage: true,
            normalize_observation: false,
            normalize_reward: false,
            spread: 1.0,
            squash: false,
        }
    }
}

impl PpoConfig {
    /// The settings that solve an environment in five of five seeds (`hothouse solve`). What has no preset of
    /// its own gets the general one.
    pub fn preset(id: &str) -> Self {
        let general = Self {
            normalize_observation: true,
            normalize_reward: true,
            hidden: 64,
            tanh: true,
            lr: 0.003,
            lr_floor: 0.1,
            ..Self::default()
        };
        match id {
            "CartPole-v1" => Self::default(),
            // Its flag is found by chance, and then there is much to make of few samples.
            "MountainCar-v0" => Self { epochs: 8, ..general },
            // The flag may be a thousand steps away.
            "MountainCarContinuous-v0" => Self { gamma: 0.999, ..general },
            _ => general,
        }
    }

    /// Whether a learner with these settings can go on with others: networks, plans and buffers stay as they are. It is the only
    /// place that says which settings may change while training goes on.
    pub fn can_become(&self, other: &Self) -> bool {
        let Self { envs, rollout_steps, minibatches, hidden, shared, tanh, .. } = *self;
        let Self { normalize_observation, normalize_reward, spread, squash, .. } = *self;
        let fixed = Self {
            envs,
            rollout_steps,
            minibatches,
            hidden,
            shared,
            tanh,
            normalize_observation,
            normalize_reward,
            spread,
            squash,
            ..other.clone()
        };
        fixed == *other
    }

    /// The learning rate, so many environment steps after a setting was last changed.
    pub fn lr_after(&self, env_steps: u64) -> f32 {
        let Self { lr, anneal_steps, lr_floor, .. } = *self;
        let left = 1.0 - env_steps as f32 / anneal_steps;
        if anneal_steps > 0.0 { lr * left.max(lr_floor) } else { lr }
    }

    pub fn check(&self) -> Result<(), PpoError> {
        let whole = |name, value: usize, min: usize, max: usize| (name, value as f64, min as f64, max as f64);
        let float = |name, value: f32, min: f32, max: f32| (name, value.into(), min.into(), max.into());
        for (name, value, min, max) in [
            whole("envs", self.envs, 1, MAX_SAMPLES),
            whole("rollout_steps", self.rollout_steps, 1, MAX_SAMPLES),
            whole("epochs", self.epochs, 1, 1000),
            whole("minibatches", self.minibatches, 1, MAX_SAMPLES),
            whole("hidden", self.hidden, 1, 4096),
            float("lr", self.lr, 0.0, 1.0),
            float("gamma", self.gamma, 0.0, 1.0),
            float("lambda", self.lambda, 0.0, 1.0),
            float("clip", self.clip, 0.0, 10.0),
            float("entropy", self.entropy, 0.0, 10.0),
            float("value_coef", self.value_coef, 0.0, 100.0),
            float("max_grad_norm", self.max_grad_norm, 0.0, 1e6),
            float("target_kl", self.target_kl, 0.0, 100.0),
            float("anneal_steps", self.anneal_steps, 0.0, 1e18),
            float("lr_floor", self.lr_floor, 0.0, 1.0),
            float("spread", self.spread, 1e-3, 100.0),
        ] {
            // Written so that NaN is out of range.
            if !(value >= min && value <= max) {
                return Err(PpoError::Range { name, value, min, max });
            }
        }
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
    #[error("{name} is {value}, but must lie between {min} and {max}; choose a value in that range")]
    Range { name: &'static str, value: f64, min: f64, max: f64 },
    #[error(
        "{envs} environments times {steps} steps is more than {MAX_SAMPLES} samples an iteration; lower one of the two"
    )]
    TooManySamples { envs: usize, steps: usize },
    #[error(
        "{samples} samples cannot be cut into {minibatches} minibatches; lower minibatches, or raise envs or rollout_steps"
    )]
    TooFewSamples { samples: usize, minibatches: usize },
    #[error("{id} has {choices} choices, more than {MAX_CHOICES}; choose another environment")]
    TooManyChoices { id: &'static str, choices: usize },
    #[error("settings that networks and buffers are made for were changed; begin a new run with them")]
    Fixed,
    #[error(
        "the checkpoint has no {name} of the right kind and shape; load one saved with the same settings"
    )]
    Missing { name: String },
    #[error("{name} of the checkpoint holds a value that cannot be; load an earlier checkpoint")]
    BadValue { name: String },
    #[error(transparent)]
    Impossible(#[from] Impossible),
    #[error(transparent)]
    Plan(#[from] graph::PlanError),
}
