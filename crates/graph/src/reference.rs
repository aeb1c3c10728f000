//! Interpreter of graphs. It computes every node's value in f64 with the reference implementations in `op.rs`. Tests of the planner, the
//! kernels and the gradients compare with these values.

use crate::graph::{Graph, NodeId};
use crate::op::Op;

/// Computes the row-major values of all nodes. `inputs` are pairs of an input's name and its values. `params` has the layout of the graph's
/// parameter table.
///
/// # Panics
/// If an input of the graph is missing or has the wrong length.
pub fn evaluate(graph: &Graph, inputs: &[(&str, &[f64])], params: &[f64]) -> Vec<Vec<f64>> {
    let mut values: Vec<Vec<f64>> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let len = node.shape[0] * node.shape[1];
        let value = match &node.op {
            Op::Input(name) => {
                let found = inputs.iter().find(|(other, _)| **other == **name);
                let (_, given) = found.unwrap_or_else(|| panic!("no input {name}"));
                assert_eq!(given.len(), len, "input {name}");
                given.to_vec()
            }
            Op::Param(index) => {
                let offset = graph.table.specs()[*index].offset;
                params[offset..offset + len].to_vec()
            }
            op => {
                let read = |&NodeId(i): &NodeId| (values[i].as_slice(), graph.nodes[i].shape);
                op.reference(node.shape, &node.inputs.iter().map(read).collect::<Vec<_>>())
            }
        };
        values.push(value);
    }
    values
}
