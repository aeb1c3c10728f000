//! The cube's networks as models for other programs.

use super::net::Inputs;
use super::values::places;
use super::{Cube, CubeLearner, Judge, NetConfig, Scores};
use graph::export::{Examples, Input, Model, Output, Reads};
use graph::{Graph, NodeId, Params, PlanError};
use math::Rng;
use worlds::cube::{Actions, CODES, Puzzle};

/// Random stream of the examples.
const EXAMPLES: u32 = 0x4558_414d;

/// Function that adds the nodes that convert the network's outputs to [`Scores`].
pub(super) type Read<'a> = &'a dyn Fn(&mut Graph, NodeId) -> NodeId;

/// Returns the number of integers in an input of the model: one for each sticker or cubie.
fn input_len<P: Puzzle>(inputs: Inputs) -> usize {
    inputs.active::<P>()
}

/// Returns the number of possible values of each integer in an input of the model.
fn input_values(inputs: Inputs) -> usize {
    match inputs {
        Inputs::Stickers | Inputs::Folded => 6,
        Inputs::Cubies | Inputs::Symmetric => CODES,
    }
}

const FACELETS: &str =
    "Colour of each sticker: 0 to 5 for the colours of the faces U R F D L B. The faces are in this order, each row by row.";
const CUBIES: &str = "Code of the cubie at each place: the number of the piece, plus 8 for each clockwise third of a turn of a \
    corner, or plus 12 for a flipped edge. Corners and edges are numbered from 0 in Kociemba's order: URF UFL ULB UBR DFR DLF DBL \
    DRB, and UR UF UL UB DR DF DL DB FR FL BL BR.";
const HELD: &str = " The cube is held so that the corner at DBL is solved; turns of R, U and F reach all states.";
const FOLDED: &str = " The input must be the state that represents up to six equivalent states: the state itself, its rotations \
    about the diagonal through the corner DBL, and its reflections that keep this corner, all with renamed colours. It is the one \
    whose list of pieces at URF UFL ULB UBR DFR DLF DRB is lexicographically first, and whose list of twists at these places is \
    first if the pieces are equal. The outputs name the turns of this state.";
const SYMMETRIC: &str = " The input must be the state that represents up to 96 states of equal distance: the images of a state and \
    of its inverse under the 48 rotations and reflections of the cube, with renamed colours. It is the one whose list of codes is \
    lexicographically first. On the 2x2x2, only images with a solved corner at DBL count.";

/// Returns the model of a network with these weights.
pub(super) fn model<P: Cube>(net: &NetConfig, scores: Scores, actions: Actions, read: Read, weights: &[f32]) -> Model {
    let (len, values) = (input_len::<P>(net.inputs), input_values(net.inputs));
    let input = input::<P>(net.inputs);
    let mut g = Graph::new();
    let integers = g.input(input.name, [1, len]);
    // Each integer of the input selects one row of the weight table. The range of rows of integer i begins at row `i * values`.
    let first: Vec<f32> = (0..len).map(|i| (i * values) as f32).collect();
    let first = g.constant(&first, [1, len]);
    let active = g.add(integers, first);
    let y = net.network::<P>(&mut g, active, scores.count(actions.count()));
    let y = read(&mut g, y);
    let outputs = outputs(&mut g, y, scores, actions);
    let mut params = Params::new(g.table(), 0);
    params.values_mut().copy_from_slice(weights);
    Model { graph: g, params, inputs: vec![input], outputs }
}

fn input<P: Puzzle>(inputs: Inputs) -> Input {
    let (name, help) = match inputs {
        Inputs::Stickers | Inputs::Folded => ("facelets", FACELETS),
        Inputs::Cubies | Inputs::Symmetric => ("cubies", CUBIES),
    };
    let held = if P::SIZE == 2 { HELD } else { "" };
    let represents = match inputs {
        Inputs::Folded if P::SIZE == 2 => FOLDED,
        Inputs::Symmetric => SYMMETRIC,
        _ => "",
    };
    let numbers = if name == "facelets" { Vec::new() } else { places::<P>().map(|place| format!("place {place}")).collect() };
    Input { name, integers: true, help: format!("{help}{held}{represents}"), numbers }
}

fn outputs(g: &mut Graph, y: NodeId, scores: Scores, actions: Actions) -> Vec<Output> {
    let names: Vec<String> = actions.moves().iter().map(|action| action.to_string()).collect();
    let output = |name, node, reads, help: &str, numbers| Output { name, node, reads, help: help.into(), numbers };
    match scores {
        Scores::Value => vec![output("value", y, Reads::Numbers, "Estimated number of moves to the solved cube.", Vec::new())],
        Scores::ActionValues => {
            let best = g.neg(y);
            vec![
                output("moves", y, Reads::Numbers, "Estimated number of moves to the solved cube, if this turn is next.", names),
                output("action", best, Reads::Largest, "Index of the turn with the smallest estimate.", Vec::new()),
            ]
        }
        Scores::Policy => {
            let probabilities = g.exp(y);
            vec![
                output("probabilities", probabilities, Reads::Numbers, "Probability that this turn begins a solution.", names),
                output("action", y, Reads::Largest, "Index of the most probable turn.", Vec::new()),
            ]
        }
    }
}

/// Returns `count` random states as inputs of the model, with the results of the learner's judge.
pub(super) fn examples<P: Cube>(
    learner: &(impl CubeLearner<Cube = P> + ?Sized),
    inputs: Inputs,
    count: usize,
    seed: u32,
) -> Result<Examples, PlanError> {
    let mut judge = learner.judge()?;
    let mut numbers = Rng::new(seed, EXAMPLES).sequence(0);
    // The model expects folded states, so the examples are folded.
    let state = |_| {
        let state = P::drawn(&mut numbers);
        if inputs == Inputs::Folded { state.folded().0 } else { state }
    };
    let states: Vec<P> = (0..count).map(state).collect();
    let (len, values) = (input_len::<P>(inputs), input_values(inputs));
    let mut active = vec![0; count * len];
    inputs.fill(&states, &mut active);
    let integers = active.iter().enumerate().map(|(i, &active)| f32::from(active) - (i % len * values) as f32).collect();
    let each = judge.scores().count(learner.actions().count());
    let mut scores = vec![0.0; count * each];
    judge.judge(&states, &mut scores);
    let best = |sign: f32| {
        let best = move |row: &[f32]| (0..each).rev().max_by(|&a, &b| (sign * row[a]).total_cmp(&(sign * row[b]))).unwrap_or(0) as f32;
        scores.chunks_exact(each).map(best).collect::<Vec<f32>>()
    };
    let outputs = match judge.scores() {
        Scores::Value => vec![scores],
        Scores::ActionValues => vec![scores.clone(), best(-1.0)],
        Scores::Policy => vec![scores.iter().map(|score| score.exp()).collect(), best(1.0)],
    };
    Ok(Examples { inputs: vec![integers], outputs })
}
