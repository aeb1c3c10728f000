//! What of a run can be saved before its iteration ends.

use crate::checkpoint::Snapshot;

/// Seconds of an iteration after which nobody waits for its end to stop or to save.
pub(super) const LONG_S: f64 = 0.9;

#[derive(Default)]
pub(super) struct Saves {
    /// Somebody waits for a file.
    pub wanted: bool,
    /// As this iteration began, where nothing else can be saved and it may be a long one.
    pub began: Option<Snapshot>,
    /// The iteration before was over soon, with the knobs as they are.
    pub is_brief: bool,
}
