//! Panels: the memory layout of a batch in inference and rollouts, `[rows/PANEL][features][PANEL]`.

/// Number of rows of a batch in one panel.
pub const PANEL: usize = 32;

/// Returns the length in floats of a batch in panels: `rows` rows of `features` numbers, and the padding of the last panel.
pub fn panels_len(rows: usize, features: usize) -> usize {
    rows.div_ceil(PANEL) * PANEL * features
}
