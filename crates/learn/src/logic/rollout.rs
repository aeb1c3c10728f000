//! Parameters of a rollout, which simulates a batch of grids for some steps.

/// Grid size, number of steps and batch size.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    pub width: usize,
    pub height: usize,
    /// True if opposite edges are joined; otherwise cells beyond an edge are 0.
    pub periodic: bool,
    pub steps: usize,
    pub batch: usize,
    /// Probability that a cell fires (changes its state) in a step; `None` if all cells fire.
    pub fire_rate: Option<f32>,
}
