//! Values of the published learner's network in decisions, for drawings.

use graph::Params;
use learn::backgammon::published::{Decision, Evaluator, HEADS, INPUTS, Weights, each_input, plan_search};
use learn::backgammon::{Published, PublishedConfig, SelfTaught, positions};
use learn::{Learner, NetworkValues};
use math::Isa;

/// The sigmoid of the last layer equals the value that the search's evaluator computes.
#[test]
fn last_layer_has_the_values_of_the_evaluator() {
    const ROWS: usize = 50;
    let config = PublishedConfig { width: 32, blocks: 2, ..PublishedConfig::default() };
    let learner = Published::new(config, 3, Isa::best()).unwrap();
    let boards = positions(ROWS);
    let found = learner.networks(&boards).unwrap();
    let NetworkValues { layers, inputs, .. } = &found[0];
    assert_eq!(layers.len(), 1 + 2 * 2 + 3, "stem, blocks and value");
    let plan = plan_search(learner.config().shape(), ROWS, Isa::best()).unwrap();
    let mut params = Params::new(plan.table(), 0);
    params.values_mut().copy_from_slice(learner.weights());
    let (weights, mut evaluator) = (Weights::new(&plan, &params), Evaluator::new(&plan, ROWS));
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
    each_input(&Decision::new(boards[0].0, boards[0].1), |input, x| expected[input] = x);
    assert_eq!(seen, expected);
}
