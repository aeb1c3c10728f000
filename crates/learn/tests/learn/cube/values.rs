//! Values of the cube's networks in states, for drawings.

use graph::{Graph, Params};
use learn::cube::{Evaluator, Inputs, Judge, NetConfig, Scores};
use learn::internals::cube::{Network, input_name};
use math::{Isa, Rng};
use worlds::cube::{Actions, CODES, Metric, Puzzle, Three, Two};

const ROWS: usize = 40;

/// Checks that the last layer has the outputs that the evaluator of tests and searches computes.
fn agrees<P: Puzzle>(config: &NetConfig, scores: Scores) {
    let (actions, isa) = (Actions::of::<P>(Metric::Half), Isa::best());
    let count = scores.count(actions.count());
    let mut g = Graph::new();
    let active = g.input("active", [1, config.inputs.active::<P>()]);
    config.network::<P>(&mut g, active, count);
    let mut params = Params::new(g.table(), 3);
    // Biases and norms are no longer 0 and 1.
    Rng::new(5, 5).fill_normal(isa, 0, &mut params.values_mut()[..64]);
    let mut numbers = Rng::new(1, 2).sequence(0);
    let states: Vec<P> = std::iter::repeat_with(|| P::drawn(&mut numbers)).take(ROWS).collect();
    let network = Network { config, scores, actions, params: &params, isa };
    let values = network.values(&states).unwrap();
    assert_eq!(values.inputs.len(), config.inputs.active::<P>());
    assert_eq!(values.layers.len(), config.hidden.len() + 2 * config.blocks + 1);
    assert!(values.layers[0].by_input && !values.layers[1].by_input);
    let last = &values.layers.last().unwrap().values;
    assert_eq!(last.len(), ROWS * values.outputs.len(), "{:?}", values.outputs);
    let mut judge = Evaluator::<P>::new(config, scores, count, |_, y| y, params.values(), isa).unwrap();
    let mut expected = vec![0.0; ROWS * count];
    judge.judge(&states, &mut expected);
    for (found, expected) in last.chunks_exact(values.outputs.len()).zip(expected.chunks_exact(count)) {
        let (value, moves) = found.split_at(values.outputs.len() - count);
        let mean = moves.iter().sum::<f32>() / count as f32;
        let score = |x: &f32| value.first().map_or(*x, |value| value + x - mean);
        let found: Vec<f32> = moves.iter().map(score).collect();
        testkit::close("outputs", &found, expected, 1e-3, 1e-3);
    }
}

#[test]
fn last_layer_has_the_outputs_of_the_evaluator() {
    let plain = NetConfig { hidden: vec![64, 32], blocks: 0, norm: false, dueling: false, inputs: Inputs::Stickers };
    let deep = NetConfig { blocks: 2, norm: true, inputs: Inputs::Cubies, ..plain.clone() };
    let dueling = NetConfig { dueling: true, ..deep.clone() };
    for config in [&plain, &deep, &dueling] {
        agrees::<Two>(config, Scores::ActionValues);
        agrees::<Three>(config, Scores::Policy);
    }
    for inputs in [Inputs::Folded, Inputs::Symmetric] {
        agrees::<Two>(&NetConfig { inputs, ..deep.clone() }, Scores::Value);
    }
}

#[test]
fn inputs_have_names() {
    assert_eq!(input_name::<Two>(Inputs::Stickers, 6 * 5 + 2), "R2 is F");
    let cubies = |index| (input_name::<Two>(Inputs::Cubies, index), input_name::<Three>(Inputs::Symmetric, index));
    assert_eq!(cubies(CODES + 3), ("UBR at UFL".into(), "UBR at UFL".into()));
    assert_eq!(cubies(6 * CODES + 8), ("URF at DRB, turned".into(), "URF at DBL, turned".into()));
    assert_eq!(input_name::<Three>(Inputs::Cubies, 9 * CODES + 13), "UF at UF, turned");
}
