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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::published::PublishedConfig;
    use crate::backgammon::published::net::{Evaluator, Weights, plan_search};
    use crate::backgammon::random_play::positions;
    use math::Isa;

    /// The sigmoid of the last layer equals the value that the search's evaluator computes.
    #[test]
    fn last_layer_has_the_values_of_the_evaluator() {
        const ROWS: usize = 50;
        let config = PublishedConfig { width: 32, blocks: 2, ..PublishedConfig::default() };
        let learner = Published::new(config, 3, Isa::best()).unwrap();
        let boards = positions(ROWS);
        let found = learner.values(&boards).unwrap();
        let NetworkValues { layers, inputs, .. } = &found[0];
        assert_eq!(layers.len(), 1 + 2 * 2 + 3, "stem, blocks and value");
        let plan = plan_search(learner.config.shape(), ROWS, learner.isa).unwrap();
        let (weights, mut evaluator) = (Weights::new(&plan, &learner.state().params), Evaluator::new(&plan, ROWS));
        evaluator.clear();
        boards.iter().for_each(|&(board, roll)| evaluator.see(&Decision::new(board, roll)));
        evaluator.run(&weights);
        for (row, logits) in layers.last().unwrap().values.as_chunks::<HEADS>().0.iter().enumerate() {
            let chances = logits.map(|x| 1.0 / (1.0 + (-x).exp()));
            testkit::close("value", &chances, &evaluator.heads(row), 1e-4, 1e-4);
        }
        // The drawn inputs are those of the first decision, without zeros.
        let mut seen = vec![0.0; INPUTS];
        inputs.iter().for_each(|input| seen[input.terms[0].0] = input.value);
        let mut expected = vec![0.0; INPUTS];
        inputs::write(&Decision::new(boards[0].0, boards[0].1), &mut expected);
        assert_eq!(seen, expected);
    }
}
