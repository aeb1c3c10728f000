//! The knobs of PPO; see `crate::knobs`.

use crate::knobs::{Table, float, int};
use crate::protocol::KnobKind;
use crate::{count, number, switch};
use learn::control::PpoConfig;
use worlds::Actions;

/// The knobs of an environment; their defaults are its preset.
pub(super) fn table(env: &str) -> Table<PpoConfig> {
    let table = Table::new(PpoConfig::preset(env), PpoConfig::can_become)
        .with(
            "lr",
            "Learning rate",
            float(1e-5, 0.1, true),
            "",
            number!(lr),
            "How far each update moves the network. Too small and nothing happens; too large and it forgets what it knew.",
        )
        .with(
            "entropy",
            "Entropy bonus",
            float(0.0, 0.2, false),
            "",
            number!(entropy),
            "A reward for staying undecided: exploration. It keeps the agent trying things; too much and it never commits.",
        )
        .with(
            "gamma",
            "Discount γ: patience",
            float(0.8, 0.9999, false),
            "",
            number!(gamma),
            "The discount: how much a reward one step later is still worth now. 0.99 looks about 100 steps ahead.",
        )
        .with(
            "lambda",
            "GAE λ",
            float(0.0, 1.0, false),
            "",
            number!(lambda),
            "How advantages are estimated. At 0 by the critic's values alone (low variance, high bias), at 1 by the rewards that followed (no bias).",
        )
        .with(
            "clip",
            "Clip range ε",
            float(0.02, 0.8, false),
            "",
            number!(clip),
            "How far one update may change the probability of an action, as a ratio, before PPO's objective stops rewarding the change.",
        )
        .with(
            "epochs",
            "Epochs: passes over the data",
            int(1.0, 20.0),
            "",
            count!(epochs),
            "How often each batch of experience is learned from before it is thrown away.",
        )
        .with(
            "value_coef",
            "Value coefficient",
            float(0.0, 2.0, false),
            "",
            number!(value_coef),
            "Weight of the value loss beside the policy's own loss.",
        )
        .with(
            "max_grad_norm",
            "Max gradient norm",
            float(0.05, 10.0, true),
            "",
            number!(max_grad_norm),
            "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network.",
        )
        .with(
            "normalize_advantage",
            "Normalise advantages",
            KnobKind::Bool,
            "",
            switch!(normalize_advantage),
            "Rescale the advantages of every rollout to mean 0 and spread 1, so that the size of the rewards does not matter.",
        )
        .with(
            "clip_value",
            "Value clipping",
            KnobKind::Bool,
            "",
            switch!(clip_value),
            "Keep the value estimate from moving further in one update than the clip range allows.",
        )
        .with(
            "target_kl",
            "Target KL",
            float(0.0, 0.1, false),
            "",
            number!(target_kl),
            "Stop learning from a batch once the policy has moved this far from the one that gathered it (half as much again ends it). 0 lets it go on.",
        )
        .with(
            "anneal_steps",
            "Learning-rate decay",
            float(0.0, 1e8, false),
            "steps",
            number!(anneal_steps),
            "Lower the learning rate linearly to its final share over this many environment steps, counted from your last change of a knob. 0 keeps it constant.",
        )
        .with(
            "lr_floor",
            "Final learning rate",
            float(0.001, 1.0, true),
            "times",
            number!(lr_floor),
            "The share of the learning rate that stays after its decay, so that learning goes on however long the run is.",
        )
        .with(
            "envs",
            "Environments",
            int(32.0, 65536.0),
            "environments",
            count!(envs),
            "How many environments are played at once. All of them share one network.",
        )
        .with(
            "rollout_steps",
            "Rollout steps",
            int(4.0, 1024.0),
            "steps",
            count!(rollout_steps),
            "How many steps every environment takes before the network learns from them.",
        )
        .with(
            "minibatches",
            "Minibatches",
            int(1.0, 64.0),
            "",
            count!(minibatches),
            "Into how many parts the collected experience is cut; the network is updated after each.",
        )
        .with(
            "hidden",
            "Hidden units: width of the network",
            int(8.0, 512.0),
            "units",
            count!(hidden),
            "Units in each of the two hidden layers.",
        )
        .with(
            "shared",
            "Shared trunk",
            KnobKind::Bool,
            "",
            switch!(shared),
            "Policy and critic share their hidden layers: faster, but each pulls at what the other needs.",
        )
        .with(
            "tanh",
            "Tanh activation",
            KnobKind::Bool,
            "",
            switch!(tanh),
            "Hidden units bend smoothly (hyperbolic tangent) instead of at a corner (rectified linear).",
        )
        .with(
            "normalize_observation",
            "Normalise observations",
            KnobKind::Bool,
            "",
            switch!(normalize_observation),
            "Rescale every number of the observation to mean 0 and spread 1 over all that was seen so far.",
        )
        .with(
            "normalize_reward",
            "Normalise rewards",
            KnobKind::Bool,
            "",
            switch!(normalize_reward),
            "Divide rewards by the spread of the return, so that the critic's task has the same size everywhere.",
        );
    if worlds::kind(env).is_some_and(|kind| matches!(kind.spec.actions, Actions::Range(..))) {
        return table
            .with(
                "spread",
                "Initial standard deviation",
                float(0.05, 5.0, true),
                "of half the range",
                number!(spread),
                "How widely the first policy scatters its actions around nothing. It narrows by itself as it learns.",
            )
            .with(
                "squash",
                "Tanh squashing",
                KnobKind::Bool,
                "",
                switch!(squash),
                "Bend actions smoothly into their range instead of cutting them off at its ends.",
            );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::check;
    use crate::protocol::Value;
    use std::collections::BTreeMap;

    #[test]
    fn defaults_lie_in_their_own_ranges_and_survive_the_round_trip() {
        for env in worlds::kinds().iter().map(|kind| kind.spec.id) {
            let table = table(env);
            for entry in &table.entries {
                check(&entry.knob, &entry.knob.default).unwrap();
            }
            let all = table.values(&PpoConfig::preset(env));
            assert_eq!(table.values(&table.settings(&all).unwrap()), all);
        }
    }

    #[test]
    fn each_refusal_names_what_would_do() {
        let table = table("CartPole-v1");
        let refused = |name: &str, value: f64| {
            let knobs = BTreeMap::from([(name.to_string(), Value::Number(value))]);
            table.settings(&knobs).unwrap_err().to_string()
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
        table.set_live(&mut config, "anneal_steps", &1e6.into()).unwrap();
        assert_eq!(
            config,
            PpoConfig { anneal_steps: 1e6, ..PpoConfig::default() },
            "a knob sets what it names alone"
        );
        let live: Vec<&str> = table.knobs().iter().filter(|knob| knob.live).map(|knob| knob.name).collect();
        assert_eq!(
            live.join(" "),
            "lr entropy gamma lambda clip epochs value_coef max_grad_norm normalize_advantage clip_value target_kl anneal_steps lr_floor"
        );
        let mut set = |name: &str, value: Value| table.set_live(&mut config, name, &value);
        assert!(set("envs", 64.0.into()).unwrap_err().to_string().contains("Reset"));
        assert_eq!(set("clip", 0.3.into()).unwrap().1, Value::Number(0.3));
        assert!(set("clip", "wide".into()).unwrap_err().to_string().contains("wrong kind"));
    }
}
