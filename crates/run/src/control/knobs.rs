use super::file::OWN;
use crate::knobs::Table;
use learn::control::PpoConfig;
use worlds::control::Actions;

/// Returns the knobs of PPO in the environment `env`. The defaults are the environment's preset, or general values for an unknown
/// environment. The knobs `spread` and `squash` exist only for continuous actions, and for the environment of a file.
pub(super) fn table(env: &str) -> Table<PpoConfig> {
    let kind = worlds::control::kind(env);
    let table = Table::new(kind.map_or_else(PpoConfig::general, PpoConfig::preset));
    match kind.map(|kind| kind.spec.actions) {
        Some(Actions::Box { .. }) => table,
        None if env == OWN => table,
        _ => table.without(&["spread", "squash"]),
    }
}
