//! The knobs of a learner: one table ties each to its field, its range and its words. Nothing else
//! lists them: `--help`, the page, permalinks and checkpoints all read this table. PPO's stands here.

use crate::error::RunError;
use crate::protocol::{Knob, KnobKind};
use learn::PpoConfig;
use std::collections::BTreeMap;
use worlds::Actions;

/// A knob of the settings `C`.
pub(crate) struct Entry<C> {
    pub knob: Knob,
    get: fn(&C) -> f64,
    set: fn(&mut C, f64),
}

/// How a field of the settings is read and written.
pub(crate) type Access<C> = (fn(&C) -> f64, fn(&mut C, f64));

/// The knobs of some settings, which begin as the preset.
pub(crate) struct Table<C> {
    preset: C,
    pub entries: Vec<Entry<C>>,
}

impl<C: Clone> Table<C> {
    pub fn new(preset: C) -> Self {
        Table { preset, entries: Vec::new() }
    }

    /// Its default is what the preset has.
    pub fn with(
        mut self,
        name: &'static str,
        label: &'static str,
        kind: KnobKind,
        unit: &'static str,
        live: bool,
        (get, set): Access<C>,
        help: &'static str,
    ) -> Self {
        // f32 fields shown as the short decimal that names them: 0.003, not 0.003000000026.
        let default = tidy(get(&self.preset));
        self.entries.push(Entry { knob: Knob { name, label, kind, default, unit, help, live }, get, set });
        self
    }

    /// The settings under `knobs`, each checked; what is left out keeps its default.
    pub fn settings(&self, knobs: &BTreeMap<String, f64>) -> Result<C, RunError> {
        let mut config = self.preset.clone();
        for (name, &value) in knobs {
            let entry = self.find(name)?;
            (entry.set)(&mut config, check(&entry.knob, value)?);
        }
        Ok(config)
    }

    /// Every knob with its value in force.
    pub fn values(&self, config: &C) -> BTreeMap<String, f64> {
        self.entries.iter().map(|e| (e.knob.name.to_string(), tidy((e.get)(config)))).collect()
    }

    /// Changes one live knob.
    pub fn set_live(&self, config: &mut C, name: &str, value: f64) -> Result<(f64, f64), RunError> {
        let entry = self.find(name)?;
        let value = check(&entry.knob, value)?;
        if !entry.knob.live {
            return Err(RunError::NotLive { name: name.into() });
        }
        let before = tidy((entry.get)(config));
        (entry.set)(config, value);
        Ok((before, tidy((entry.get)(config))))
    }

    fn find(&self, name: &str) -> Result<&Entry<C>, RunError> {
        self.entries.iter().find(|e| e.knob.name == name).ok_or_else(|| RunError::UnknownKnob {
            name: name.into(),
            known: self.entries.iter().map(|e| e.knob.name).collect::<Vec<_>>().join(", "),
        })
    }
}

/// How a whole number, a float and a switch of some settings are read and written.
macro_rules! count {
    ($field:ident) => {
        (|c| c.$field as f64, |c, v| c.$field = v as _)
    };
}
macro_rules! number {
    ($field:ident) => {
        (|c| f64::from(c.$field), |c, v| c.$field = v as _)
    };
}
macro_rules! switch {
    ($field:ident) => {
        (|c| f64::from(u8::from(c.$field)), |c, v| c.$field = v != 0.0)
    };
}
pub(crate) use {count, number};

pub(crate) fn float(min: f64, max: f64, log: bool) -> KnobKind {
    KnobKind::Float { min, max, log }
}

pub(crate) fn int(min: f64, max: f64) -> KnobKind {
    KnobKind::Int { min, max, log: true }
}

/// The knobs of an environment; their defaults are its preset.
pub(crate) fn table(env: &str) -> Table<PpoConfig> {
    let table = Table::new(PpoConfig::preset(env))
        .with(
            "lr",
            "Learning rate",
            float(1e-5, 0.1, true),
            "",
            true,
            number!(lr),
            "How far each update moves the network. Too small and nothing happens; too large and it forgets what it knew.",
        )
        .with(
            "entropy",
            "Curiosity",
            float(0.0, 0.2, false),
            "",
            true,
            number!(entropy),
            "A reward for staying undecided (the entropy bonus). It keeps the agent trying things; too much and it never commits.",
        )
        .with(
            "gamma",
            "Patience",
            float(0.8, 0.9999, false),
            "",
            true,
            number!(gamma),
            "The discount: how much a reward one step later is still worth now. 0.99 looks about 100 steps ahead.",
        )
        .with(
            "lambda",
            "Trust in the critic",
            float(0.0, 1.0, false),
            "",
            true,
            number!(lambda),
            "Lambda of the advantage estimate. At 0 the critic's guess decides alone, at 1 only what really happened counts.",
        )
        .with(
            "clip",
            "Step limit",
            float(0.02, 0.8, false),
            "",
            true,
            number!(clip),
            "How far one update may change the odds of an action before PPO stops rewarding the change.",
        )
        .with(
            "epochs",
            "Passes over the data",
            int(1.0, 20.0),
            "",
            true,
            count!(epochs),
            "How often each batch of experience is learned from before it is thrown away.",
        )
        .with(
            "value_coef",
            "Weight of the critic",
            float(0.0, 2.0, false),
            "",
            true,
            number!(value_coef),
            "How much the error of the value estimate counts beside the policy's own loss.",
        )
        .with(
            "max_grad_norm",
            "Gradient limit",
            float(0.05, 10.0, true),
            "",
            true,
            number!(max_grad_norm),
            "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network.",
        )
        .with(
            "normalize_advantage",
            "Normalise advantages",
            KnobKind::Bool,
            "",
            true,
            switch!(normalize_advantage),
            "Rescale the advantages of every rollout to mean 0 and spread 1, so that the size of the rewards does not matter.",
        )
        .with(
            "clip_value",
            "Limit the critic too",
            KnobKind::Bool,
            "",
            true,
            switch!(clip_value),
            "Keep the value estimate from moving further in one update than the step limit allows.",
        )
        .with(
            "target_kl",
            "Leash",
            float(0.0, 0.1, false),
            "",
            true,
            number!(target_kl),
            "Stop learning from a batch once the policy has moved this far from the one that gathered it (half as much again ends it). 0 lets it go on.",
        )
        .with(
            "anneal_steps",
            "Cool down over",
            float(0.0, 1e8, false),
            "steps",
            true,
            // Whoever names it, as all do that were saved before there was a floor, gets the schedule that ends at almost nothing.
            (|c| f64::from(c.anneal_steps), |c, v| {
                (c.anneal_steps, c.lr_floor) = (v as f32, learn::ppo::LR_FLOOR);
            }),
            "Lower the learning rate evenly to almost nothing over this many environment steps, counted from your last change of a knob. 0 keeps it constant.",
        )
        .with(
            "lr_floor",
            "Learning rate in the end",
            float(0.001, 1.0, true),
            "times",
            true,
            number!(lr_floor),
            "The share of the learning rate that stays after it has cooled down, so that learning goes on however long the run is.",
        )
        .with(
            "envs",
            "Environments",
            int(32.0, 65536.0),
            "environments",
            false,
            count!(envs),
            "How many environments are played at once. All of them share one network.",
        )
        .with(
            "rollout_steps",
            "Steps a rollout",
            int(4.0, 1024.0),
            "steps",
            false,
            count!(rollout_steps),
            "How many steps every environment takes before the network learns from them.",
        )
        .with(
            "minibatches",
            "Minibatches",
            int(1.0, 64.0),
            "",
            false,
            count!(minibatches),
            "Into how many parts the collected experience is cut; the network is updated after each.",
        )
        .with(
            "hidden",
            "Width of the network",
            int(8.0, 512.0),
            "units",
            false,
            count!(hidden),
            "Units in each of the two hidden layers.",
        )
        .with(
            "shared",
            "One trunk",
            KnobKind::Bool,
            "",
            false,
            switch!(shared),
            "Policy and critic share their hidden layers: faster, but each pulls at what the other needs.",
        )
        .with(
            "tanh",
            "Smooth units",
            KnobKind::Bool,
            "",
            false,
            switch!(tanh),
            "Hidden units bend smoothly (hyperbolic tangent) instead of at a corner (rectified linear).",
        )
        .with(
            "normalize_observation",
            "Normalise what it sees",
            KnobKind::Bool,
            "",
            false,
            switch!(normalize_observation),
            "Rescale every number of the observation to mean 0 and spread 1 over all that was seen so far.",
        )
        .with(
            "normalize_reward",
            "Normalise rewards",
            KnobKind::Bool,
            "",
            false,
            switch!(normalize_reward),
            "Divide rewards by the spread of the return, so that the critic's task has the same size everywhere.",
        );
    if worlds::kind(env).is_some_and(|kind| matches!(kind.spec.actions, Actions::Range(..))) {
        return table
            .with(
                "spread",
                "First spread",
                float(0.05, 5.0, true),
                "of half the range",
                false,
                number!(spread),
                "How widely the first policy scatters its actions around nothing. It narrows by itself as it learns.",
            )
            .with(
                "squash",
                "Squash actions",
                KnobKind::Bool,
                "",
                false,
                switch!(squash),
                "Bend actions smoothly into their range instead of cutting them off at its ends.",
            );
    }
    table
}

/// The shortest decimal that a 32-bit float prints as.
fn tidy(value: f64) -> f64 {
    (value as f32).to_string().parse().unwrap_or(value)
}

/// PPO's settings under `knobs`.
pub(crate) fn settings(env: &str, knobs: &BTreeMap<String, f64>) -> Result<PpoConfig, RunError> {
    table(env).settings(knobs)
}

pub(crate) fn values(env: &str, config: &PpoConfig) -> BTreeMap<String, f64> {
    table(env).values(config)
}

pub(crate) fn set_live(
    env: &str,
    config: &mut PpoConfig,
    name: &str,
    value: f64,
) -> Result<(f64, f64), RunError> {
    table(env).set_live(config, name, value)
}

fn check(knob: &Knob, value: f64) -> Result<f64, RunError> {
    let (min, max, whole) = match knob.kind {
        KnobKind::Float { min, max, .. } => (min, max, false),
        KnobKind::Int { min, max, .. } => (min, max, true),
        KnobKind::Bool => (0.0, 1.0, true),
    };
    if value >= min && value <= max && (!whole || value.fract() == 0.0) {
        return Ok(value);
    }
    let kind = if whole { "a whole number" } else { "a number" };
    let range = format!("{kind} from {min} to {max}");
    Err(RunError::OutOfRange { name: knob.name.into(), value, range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_lie_in_their_own_ranges_and_survive_the_round_trip() {
        for env in worlds::kinds().iter().map(|kind| kind.spec.id) {
            for entry in &table(env).entries {
                check(&entry.knob, entry.knob.default).unwrap();
            }
            let all = values(env, &PpoConfig::preset(env));
            assert_eq!(values(env, &settings(env, &all).unwrap()), all);
        }
    }

    #[test]
    fn each_refusal_names_what_would_do() {
        let refused = |name: &str, value| {
            settings("CartPole-v1", &BTreeMap::from([(name.to_string(), value)])).unwrap_err().to_string()
        };
        assert!(
            refused("lr", 7.0).contains("out of range. Choose a number from 0.00001 to 0.1"),
            "{}",
            refused("lr", 7.0)
        );
        assert!(refused("lr", f64::NAN).contains("out of range"));
        assert!(refused("envs", 64.5).contains("whole number"));
        assert!(refused("learning_rate", 0.1).contains("lr, entropy"));
        let mut config = PpoConfig::default();
        assert!(
            set_live("CartPole-v1", &mut config, "envs", 64.0).unwrap_err().to_string().contains("Reset")
        );
        assert_eq!(set_live("CartPole-v1", &mut config, "clip", 0.3).unwrap().1, 0.3);
    }
}
