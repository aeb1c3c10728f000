//! Converts the network's plan to plain data, for a drawing of the network.

use super::protocol::{PlanNode, PlanView};
use learn::control::Ppo;

pub(crate) fn view(ppo: &Ppo) -> PlanView {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let bytes = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let nodes = ppo.plan().describe().iter().map(|node| PlanNode {
        name: node.name.clone(),
        op: node.op.clone(),
        shape: node.shape.map(count),
        parameters: count(node.parameters),
        reads: node.reads.iter().map(|&i| count(i)).collect(),
    });
    PlanView {
        nodes: nodes.collect(),
        parameters: count(ppo.params().count()),
        arena_bytes: bytes(ppo.training_plan().arena_bytes()),
        unshared_bytes: bytes(ppo.training_plan().unshared_bytes()),
    }
}
