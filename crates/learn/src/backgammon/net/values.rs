//! Values of the strong learner's networks on some boards, for drawings and histograms.

use super::{NAMES, Shape, Source, source};
use crate::backgammon::inputs;
use crate::backgammon::outcomes::OUTCOMES;
use crate::network::{NetworkValues, layers};
use graph::{Graph, Init, Isa, NodeId, Params, PlanError};
use worlds::backgammon::Board;

const OUTCOME_NAMES: [&str; OUTCOMES] = ["win", "win gammon", "win backgammon", "lose", "lose gammon", "lose backgammon"];

/// Returns the values of each network on the boards that it evaluates. A board is seen by the player who moved. Ended games have no
/// values. `weights` are the weights of both networks.
pub fn values(shape: Shape, weights: &[f32], boards: &[Board], isa: Isa) -> Result<Vec<NetworkValues>, PlanError> {
    let mut found = Vec::new();
    for (net, title) in ["Network for contact", "Network for races"].into_iter().enumerate() {
        let own = |board: &&Board| matches!(source(board, false), Source::Net(by) if by == net);
        let boards: Vec<Board> = boards.iter().filter(own).copied().collect();
        if boards.is_empty() {
            continue;
        }
        let mut read = vec![[0; inputs::INPUTS]; boards.len()];
        inputs::read(isa, shape.handmade, &boards, &mut read);
        let inputs: Vec<_> = read.iter().map(|inputs| inputs::layout().values(inputs)).collect();
        let steps = inputs::layout().steps;
        let mut sums = vec![0.0; boards.len() * steps];
        for (inputs, sums) in inputs.iter().zip(sums.chunks_exact_mut(steps)) {
            inputs.iter().flat_map(|input| &input.terms).for_each(|&(step, scale)| sums[step] += scale);
        }
        let mut g = Graph::new();
        let x = g.input("steps", [boards.len(), steps]);
        let output = network(&mut g, shape, net, x);
        let mut params = Params::new(g.table(), 0);
        let mut rest = &weights[net * shape.net_len()..];
        for spec in g.table().specs() {
            let own = rest.split_off(..spec.len()).expect("the weights of a network have its layers");
            params.values_mut()[spec.range()].copy_from_slice(own);
        }
        let layers = layers(&g, output, &params, &[("steps", &sums)], isa)?;
        let (inputs, outputs) = (inputs.into_iter().next().unwrap_or_default(), OUTCOME_NAMES.iter().map(ToString::to_string).collect());
        found.push(NetworkValues { title: title.into(), inputs, layers, outputs });
    }
    Ok(found)
}

/// Appends the network `net`. `steps` has the factors of all learned steps. Returns the logits of the outcomes.
fn network(g: &mut Graph, shape: Shape, net: usize, steps: NodeId) -> NodeId {
    let name = NAMES[net];
    let first = g.param(&format!("{name}.0.weight"), [inputs::layout().steps, shape.hidden], Init::Zeros);
    let mut x = g.matmul(steps, first, false, false);
    for (i, (out, _)) in shape.layers().enumerate() {
        x = g.relu(x);
        x = g.dense(x, &format!("{name}.{}", i + 1), out, Init::Zeros);
    }
    x
}
