//! Networks that the benchmarks, the tests and the rooms (the learning tasks of Hothouse) share.

use crate::graph::{Graph, NodeId};
use crate::params::Init;
use math::Act;

/// Appends an activation function; returns x for [`Act::None`].
pub fn activate(g: &mut Graph, x: NodeId, act: Act) -> NodeId {
    match act {
        Act::None => x,
        Act::Relu => g.relu(x),
        Act::Tanh => g.tanh(x),
        Act::Gelu => g.gelu(x),
    }
}

/// Appends one linear layer for each number in `widths`: `name.0` with `widths[0]` outputs, `name.1` with `widths[1]` outputs, and so on.
/// `act` is applied between the layers.
pub fn mlp(g: &mut Graph, x: NodeId, name: &str, widths: &[usize], act: Act) -> NodeId {
    let last = widths.len() - 1;
    widths.iter().enumerate().fold(x, |x, (i, &width)| {
        let y = g.dense(x, &format!("{name}.{i}"), width, Init::FanIn);
        if i < last { activate(g, y, act) } else { y }
    })
}

/// Appends `relu(norm(linear(x)))` with `width` outputs, then `blocks` blocks `relu(x + norm(linear(relu(norm(linear(x))))))`, then a
/// linear layer with `outputs` outputs.
pub fn residual_net(g: &mut Graph, x: NodeId, width: usize, blocks: usize, outputs: usize) -> NodeId {
    let stem = g.dense(x, "stem", width, Init::FanIn);
    let stem = g.norm(stem, "stem.norm");
    let mut x = g.relu(stem);
    for i in 0..blocks {
        let y = g.dense(x, &format!("block.{i}.0"), width, Init::FanIn);
        let y = g.norm(y, &format!("block.{i}.0.norm"));
        let y = g.relu(y);
        let y = g.dense(y, &format!("block.{i}.1"), width, Init::FanIn);
        let y = g.norm(y, &format!("block.{i}.1.norm"));
        let y = g.add(y, x);
        x = g.relu(y);
    }
    g.dense(x, "head", outputs, Init::FanIn)
}
