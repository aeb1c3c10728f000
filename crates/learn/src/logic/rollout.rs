//! What a soft rollout is made of.

/// Grids and what is done to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    pub width: usize,
    pub height: usize,
    /// Whether the grid's edges meet; else there are zeros beyond them.
    pub periodic: bool,
    pub steps: usize,
    pub batch: usize,
    /// How likely a cell fires in a step, where not all of them do.
    pub fire_rate: Option<f32>,
}
