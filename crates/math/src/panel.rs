//! Panels: the memory layout of a batch in inference and rollouts.

/// Number of rows of a batch in one panel.
pub const PANEL: usize = 32;

/// Returns the number of floats of `rows` rows of `features` numbers in panels, including the padding.
pub fn panels_len(rows: usize, features: usize) -> usize {
    rows.div_ceil(PANEL) * PANEL * features
}
