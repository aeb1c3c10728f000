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
pub struct Network<'a> {
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
pub fn name<P: Puzzle>(inputs: Inputs, index: usize) -> String {
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
