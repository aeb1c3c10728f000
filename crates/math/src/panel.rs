//! Panels: how a batch lies in memory in inference and rollouts.

/// Rows of a batch that one panel holds.
pub const PANEL: usize = 32;

/// Floats that `rows` rows of `features` take in panels.
pub fn panels_len(rows: usize, features: usize) -> usize {
    rows.div_ceil(PANEL) * PANEL * features
}
