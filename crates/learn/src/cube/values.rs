//! Values of the cube's networks in some states, for drawings and histograms.

use super::{Inputs, NetConfig, Scores};
use crate::network::{InputValue, NetworkValues, layers};
use graph::{Graph, Isa, Params, PlanError};
use worlds::cube::{Actions, CODES, Puzzle};

/// Names of the corners and of the edges, in Kociemba's order.
const CORNERS: [&str; 8] = ["URF", "UFL", "ULB", "UBR", "DFR", "DLF", "DBL", "DRB"];
const EDGES: [&str; 12] = ["UR", "UF", "UL", "UB", "DR", "DF", "DL", "DB", "FR", "FL", "BL", "BR"];

/// Names of the faces, in the order of the facelets and of the colours.
const FACES: [&str; 6] = ["U", "R", "F", "D", "L", "B"];

/// A network of one of the learners.
pub(super) struct Network<'a> {
    pub config: &'a NetConfig,
    pub scores: Scores,
    pub actions: Actions,
    pub params: &'a Params,
    pub isa: Isa,
}

impl Network<'_> {
    /// Returns the values of the network in these states. There is at least one state.
    pub fn values<P: Puzzle>(&self, states: &[P]) -> Result<NetworkValues, PlanError> {
        let Network { config, scores, actions, params, isa } = *self;
        let each = config.inputs.active::<P>();
        let mut active = vec![0; states.len() * each];
        config.inputs.fill(states, &mut active);
        let mut g = Graph::new();
        let indices = g.input("active", [states.len(), each]);
        let output = config.network::<P>(&mut g, indices, scores.count(actions.count()));
        let seen: Vec<f32> = active.iter().map(|&index| f32::from(index)).collect();
        let layers = layers(&g, output, params, &[("active", &seen)], isa)?;
        let input = |&index: &u16| InputValue::at(index.into(), name::<P>(config.inputs, index.into()), 1.0);
        let moves = actions.moves().iter().map(ToString::to_string);
        let outputs = match scores {
            Scores::Value => vec!["normalised value".into()],
            // The head of the value comes before the heads of the advantages.
            _ if config.dueling => std::iter::once("value".into()).chain(moves).collect(),
            _ => moves.collect(),
        };
        Ok(NetworkValues { title: "Network".into(), inputs: active[..each].iter().map(input).collect(), layers, outputs })
    }
}

/// Returns the name of an input: a facelet and its colour, or a cubie and its place.
fn name<P: Puzzle>(inputs: Inputs, index: usize) -> String {
    match inputs {
        Inputs::Stickers | Inputs::Folded => {
            let (facelet, colour) = (index / 6, index % 6);
            let area = P::SIZE * P::SIZE;
            format!("{}{} is {}", FACES[facelet / area], facelet % area + 1, FACES[colour])
        }
        Inputs::Cubies | Inputs::Symmetric => {
            let (place, code) = (index / CODES, index % CODES);
            let (name, cubies): (_, &[&str]) = match places::<P>().nth(place) {
                Some(name) if name.len() == 3 => (name, &CORNERS),
                Some(name) => (name, &EDGES),
                None => return String::new(),
            };
            let turned = if code < cubies.len() { "" } else { ", turned" };
            format!("{} at {name}{turned}", cubies[code % cubies.len()])
        }
    }
}

/// Returns the names of the places whose cubie is not fixed, in the order of the rows of a state.
pub(super) fn places<P: Puzzle>() -> impl Iterator<Item = &'static str> {
    let edges: &[&str] = if P::SIZE == 2 { &[] } else { &EDGES };
    CORNERS.iter().filter(|name| P::SIZE != 2 || **name != "DBL").chain(edges).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cube::{Evaluator, Judge};
    use math::Rng;
    use worlds::cube::{Metric, Three, Two};

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
        assert_eq!(name::<Two>(Inputs::Stickers, 6 * 5 + 2), "R2 is F");
        let cubies = |index| (name::<Two>(Inputs::Cubies, index), name::<Three>(Inputs::Symmetric, index));
        assert_eq!(cubies(CODES + 3), ("UBR at UFL".into(), "UBR at UFL".into()));
        assert_eq!(cubies(6 * CODES + 8), ("URF at DRB, turned".into(), "URF at DBL, turned".into()));
        assert_eq!(name::<Three>(Inputs::Cubies, 9 * CODES + 13), "UF at UF, turned");
    }
}
