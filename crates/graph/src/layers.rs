//! Layers of a network, for drawings.

use crate::graph::{Graph, NodeId};
use crate::op::Op;

/// A layer of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer<'a> {
    /// Name of the layer's weight matrix.
    pub weight: &'a str,
    /// True if a row of the weight matrix belongs to an input of the layer, false if it belongs to an output.
    pub by_input: bool,
    /// Outputs of the layer, after its activation function.
    pub outputs: NodeId,
}

impl Graph {
    /// Returns the layers between an input and `output`, from the first to the last. A residual block counts as a chain: its skip
    /// connection belongs to the activation function of its last layer.
    pub fn layers(&self, output: NodeId) -> Vec<Layer<'_>> {
        let (mut layers, mut outputs, mut at) = (Vec::new(), output, output);
        while let Some(&first) = self.nodes[at.0].inputs.first() {
            let node = &self.nodes[at.0];
            let (weights, from, by_input) = match node.op {
                Op::MatMul { tb, .. } => (node.inputs[1], first, !tb),
                Op::EmbeddingBag => (first, node.inputs[1], true),
                _ => {
                    // A selection of columns, such as one of two heads, is not part of the activation function.
                    if self.shape(first)[1] != self.shape(outputs)[1] {
                        outputs = first;
                    }
                    at = first;
                    continue;
                }
            };
            if let Op::Param(index) = self.nodes[weights.0].op {
                layers.push(Layer { weight: &self.table.specs()[index].name, by_input, outputs });
                outputs = from;
            }
            at = from;
        }
        layers.reverse();
        layers
    }
}
