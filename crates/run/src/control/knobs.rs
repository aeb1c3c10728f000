//! The knobs of PPO; see `crate::knobs`.

use crate::knobs::Table;
use learn::control::PpoConfig;
use worlds::control::Actions;

/// The knobs of an environment; their defaults are its preset.
pub(super) fn table(env: &str) -> Table<PpoConfig> {
    let kind = worlds::control::kind(env);
    let table = Table::new(kind.map_or_else(PpoConfig::general, PpoConfig::preset));
    match kind.map(|kind| kind.spec.actions) {
        Some(Actions::Range(..)) => table,
        _ => table.without(&["spread", "squash"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::check_live;
    use crate::protocol::Value;
    use learn::settings::changed;
    use std::collections::BTreeMap;

    #[test]
    fn each_refusal_names_what_would_do() {
        let table = table("CartPole-v1");
        let refused = |name: &str, value: f64| {
            let knobs = BTreeMap::from([(name.to_string(), Value::Number(value))]);
            table.settings(&knobs).unwrap_err().to_string()
        };
        assert!(refused("lr", 7.0).contains("out of range. Choose a number from 0.00001 to 0.1"), "{}", refused("lr", 7.0));
        assert!(refused("lr", f64::NAN).contains("out of range"));
        assert!(refused("envs", 64.5).contains("whole number"));
        assert!(refused("learning_rate", 0.1).contains("lr, entropy"));
        let live = |name: &str, value: Value| check_live(&table.knobs(), name, &value);
        assert!(live("clip", 0.3.into()).is_ok());
        assert!(live("envs", 64.0.into()).unwrap_err().to_string().contains("Reset"));
        assert!(live("clip", "wide".into()).unwrap_err().to_string().contains("wrong kind"));
        assert!(live("learning_rate", 0.1.into()).unwrap_err().to_string().contains("lr, entropy"));
        let changed = changed(&PpoConfig::default(), "anneal_steps", &1e6.into()).unwrap();
        assert_eq!(changed, PpoConfig { anneal_steps: 1e6, ..PpoConfig::default() }, "a knob sets what it names alone");
    }
}
