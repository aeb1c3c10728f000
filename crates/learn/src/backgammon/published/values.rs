//! Values of the published learner's network in some decisions, for drawings and histograms.

use super::Published;
use super::inputs::{self, Decision, INPUTS};
use super::net::{HEADS, whole};
use crate::network::{InputValue, NetworkValues, layers};
use graph::PlanError;
use worlds::backgammon::{Board, Roll};

/// Outputs of the network before the sigmoid.
const HEAD_NAMES: [&str; HEADS] = ["win", "win gammon", "win backgammon", "lose gammon", "lose backgammon"];

impl Published {
    /// Returns the values of the network's path to the value of each board, seen by the player on roll. The policy is left out, because it
    /// has 676 outputs.
    pub(super) fn values(&self, boards: &[(Board, Roll)]) -> Result<Vec<NetworkValues>, PlanError> {
        let Some((_, roll)) = boards.first() else { return Ok(Vec::new()) };
        let mut seen = vec![0.0; boards.len() * INPUTS];
        for (&(board, roll), seen) in boards.iter().zip(seen.chunks_exact_mut(INPUTS)) {
            inputs::write(&Decision::new(board, roll), seen);
        }
        let (g, _, value) = whole(self.config.shape(), boards.len());
        let layers = layers(&g, value, &self.state().params, &[("inputs", &seen)], self.isa)?;
        let used = seen[..INPUTS].iter().enumerate().filter(|(_, x)| **x != 0.0);
        Ok(vec![NetworkValues {
            title: format!("Value for the roll {}-{}", roll.high(), roll.low()),
            inputs: used.map(|(index, &x)| InputValue::at(index, String::new(), x)).collect(),
            layers,
            outputs: HEAD_NAMES.iter().map(ToString::to_string).collect(),
        }])
    }
}
