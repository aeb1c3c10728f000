//! Exports the strong learner's networks as one model for other programs. Each row of the model's tables is a sum of trained steps. The
//! tables also have a row of zeros for the value 0 of every input.

use super::{NETS, Network, Shape, Valuer, inputs, open};
use crate::backgammon::outcomes::OUTCOMES;
use crate::backgammon::random_play;
use graph::export::{Examples, Input, Model, Output, Reads};
use graph::{Graph, NodeId, Params};
use worlds::backgammon::Board;

/// Integer in a network's table that represents 1.
const ONE: f64 = 1_048_576.0;
/// Number that is subtracted from the logits of impossible outcomes.
const IMPOSSIBLE: f32 = 1e9;

pub fn model(network: &Network, weights: &[f32]) -> Model {
    let mut g = Graph::new();
    let features = g.input("features", [1, inputs::layout().used()]);
    let race = g.input("race", [1, 1]);
    let possible = g.input("possible", [1, OUTCOMES]);
    let [contact, racing] = std::array::from_fn(|net| logits(&mut g, network, net, weights, features));
    let difference = g.sub(racing, contact);
    let chosen = g.mul(difference, race);
    let logits = g.add(contact, chosen);
    let shift = g.affine(possible, IMPOSSIBLE, -IMPOSSIBLE);
    let logits = g.add(logits, shift);
    let chances = g.softmax(logits);
    let input = |name, integers, help: &str, numbers| Input { name, integers, help: help.into(), numbers };
    let outcomes: Vec<String> = ["won", "lost"].iter().flat_map(|end| KINDS.map(|kind| format!("{kind} {end}"))).collect();
    Model {
        params: Params::new(g.table(), 0),
        inputs: vec![
            input("features", true, "The board after a move, from the point of view of the player who moved.", names()),
            input("race", false, "0 while the sides are in contact, 1 after they have passed each other.", Vec::new()),
            input("possible", false, POSSIBLE, outcomes.clone()),
        ],
        outputs: vec![Output {
            name: "chances",
            node: chances,
            reads: Reads::Numbers,
            help: "Probability of each outcome, for the player who moved.".into(),
            numbers: outcomes,
        }],
        graph: g,
    }
}

const KINDS: [&str; 3] = ["single game", "gammon", "backgammon"];
const POSSIBLE: &str = "1 for each outcome that is still possible, otherwise 0. A single game is always possible. A gammon is \
    possible if its loser has borne off no checker; a backgammon also requires contact, or a checker of the loser on the bar or in \
    the winner's home.";

/// Appends the logits of one network.
fn logits(g: &mut Graph, network: &Network, net: usize, weights: &[f32], features: NodeId) -> NodeId {
    let (shape, layout) = (network.shape, inputs::layout());
    let wide = shape.hidden;
    let row = |row: usize| network.nets[net].table[row * wide..][..wide].iter().map(|&sum| (f64::from(sum as i32) / ONE) as f32);
    let (mut table, mut first) = (Vec::new(), Vec::new());
    for rows in layout.rows_of() {
        first.push((table.len() / wide) as f32);
        table.resize(table.len() + wide, 0.0);
        rows.for_each(|at| table.extend(row(at)));
    }
    let always = g.constant(&row(usize::from(inputs::ALWAYS)).collect::<Vec<f32>>(), [1, wide]);
    let table = g.constant(&table, [table.len() / wide, wide]);
    let first = g.constant(&first, [1, first.len()]);
    let rows = g.add(features, first);
    let sums = g.embedding_bag(table, rows);
    let mut x = g.add(sums, always);
    let (_, upper) = weights[net * shape.net_len()..][..shape.net_len()].split_at(shape.steps_len());
    for layer in shape.upper(upper) {
        x = g.relu(x);
        let w = g.constant(layer.w, [layer.out, layer.inp]);
        let b = g.constant(layer.b, [1, layer.out]);
        x = g.linear(x, w, b);
    }
    x
}

/// Returns the meaning of each feature.
fn names() -> Vec<String> {
    let places = std::iter::once("borne off".into()).chain((1..=24).map(|point| format!("on point {point}"))).chain(["on the bar".into()]);
    let side: Vec<String> = places.map(|place| format!("checkers {place}")).chain(inputs::NAMES.map(String::from)).collect();
    let of = |who: &'static str| side.iter().map(move |name| format!("{who}: {name}"));
    of("player who moved").chain(of("other player")).chain(inputs::NAMES_TOGETHER.map(String::from)).collect()
}

/// Returns `count` boards of random play as inputs of the model, with the results of the learner's code.
pub fn examples(network: &Network, count: usize, seed: u32) -> Examples {
    // The bear-off table is not in the model.
    let network = Network { shape: Shape { bearoff: false, ..network.shape }, ..network.clone() };
    let (mut boards, mut nets): (Vec<Board>, _) = (Vec::new(), [0; NETS]);
    random_play::play(40 * count, [seed, 0x4558], |_, _, results, _| {
        let net = usize::from(!results[0].contact());
        if results[0].points() == 0 && nets[net] < count.div_ceil(NETS) {
            nets[net] += 1;
            boards.push(results[0]);
        }
    });
    boards.truncate(count);
    let mut valuer = Valuer::default();
    valuer.value(&network, &Board::START, &boards);
    let used = inputs::layout().used();
    let features = valuer.inputs.iter().take(boards.len()).flat_map(|inputs| inputs[..used].iter().map(|&x| f32::from(x)));
    let race = boards.iter().map(|board| f32::from(u8::from(!board.contact())));
    let possible = boards.iter().flat_map(|board| (0..OUTCOMES).map(|outcome| f32::from(open(board) >> outcome & 1)));
    Examples {
        inputs: vec![features.collect(), race.collect(), possible.collect()],
        outputs: vec![valuer.probs.iter().flatten().copied().collect()],
    }
}
