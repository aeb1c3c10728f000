//! A trained model with named inputs and outputs, independent of the formats.

use crate::graph::{Graph, NodeId};
use crate::op::Op;
use crate::params::Params;
use crate::shape::Shape;

/// First bytes of a file in each format. They identify the format.
pub const ONNX_BEGINS: &[u8] = b"\x08\x08\x12\x08hothouse";
pub const C_BEGINS: &[u8] = b"// Model trained with Hothouse, in C99.";
pub const JS_BEGINS: &[u8] = b"// Model trained with Hothouse, as a JavaScript module.";

/// A trained model. If every input of the graph has one row, this row is one item of a batch. ONNX then accepts any number of items.
pub struct Model {
    pub graph: Graph,
    pub params: Params,
    /// All inputs of the graph, in the order of the arguments.
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
}

pub struct Input {
    /// Name of the graph's input, which is also an identifier in C and JavaScript.
    pub name: &'static str,
    /// True if the input consists of integers.
    pub integers: bool,
    /// Description in plain text.
    pub help: String,
    /// Descriptions of the numbers of a row; empty if `help` describes all of them.
    pub numbers: Vec<String>,
}

pub struct Output {
    /// Name of the output, which is also an identifier in C and JavaScript.
    pub name: &'static str,
    pub node: NodeId,
    pub reads: Reads,
    pub help: String,
    /// Descriptions of the numbers of a row; empty if `help` describes all of them.
    pub numbers: Vec<String>,
}

/// Data of a node that an output contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    Numbers,
    /// The index of the largest number in each row. If several numbers are largest, the first index.
    Largest,
}

/// Examples to check an exported model: inputs of some items, and the outputs that the learner's own code computes for these items.
pub struct Examples {
    /// Numbers of all items, for each input of the model.
    pub inputs: Vec<Vec<f32>>,
    /// Numbers of all items, for each output of the model.
    pub outputs: Vec<Vec<f32>>,
}

/// Reason why a model cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    #[error("the operation '{0}' has no form in this format; choose a model without it")]
    Operation(String),
}

impl Model {
    fn shape(&self, name: &str) -> Shape {
        self.graph.inputs().find(|input| input.0 == name).expect("the graph has every input of the model").1
    }

    /// Returns true if every input has one row, which is one item of a batch.
    pub fn is_batched(&self) -> bool {
        self.inputs.iter().all(|input| self.shape(input.name)[0] == 1)
    }

    /// Returns the lengths of an input's axes without the axis of the batch.
    pub fn input_dims(&self, input: &Input) -> Vec<usize> {
        let [rows, cols] = self.shape(input.name);
        match (self.is_batched(), cols) {
            (true, _) => vec![cols],
            (false, 1) => vec![rows],
            (false, _) => vec![rows, cols],
        }
    }

    /// Returns the lengths of an output's axes without the axis of the batch. The list is empty if the output is one index per item of a
    /// batch.
    pub fn output_dims(&self, output: &Output) -> Vec<usize> {
        let [rows, cols] = self.graph.shape(output.node);
        let rows = if self.is_batched() { vec![] } else { vec![rows] };
        let cols = if output.reads == Reads::Numbers { vec![cols] } else { vec![] };
        [rows, cols].concat()
    }

    /// Computes the outputs in f64 with the reference implementation. `inputs` contains the numbers of each input.
    pub fn evaluate(&self, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
        let named: Vec<_> = self.inputs.iter().map(|input| input.name).zip(inputs.iter().copied()).collect();
        let params: Vec<f64> = self.params.values().iter().map(|&x| x.into()).collect();
        let values = crate::reference::evaluate(&self.graph, &named, &params);
        let largest = |row: &[f64]| (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0) as f64;
        let read = |output: &Output| match (output.reads, &values[output.node.index()]) {
            (Reads::Numbers, values) => values.clone(),
            (Reads::Largest, values) => values.chunks(self.graph.shape(output.node)[1]).map(largest).collect(),
        };
        self.outputs.iter().map(read).collect()
    }

    /// Returns, for each node, true if the node is an input or if an output depends on the node.
    pub(super) fn live(&self) -> Vec<bool> {
        let nodes = &self.graph.nodes;
        let mut live: Vec<bool> = nodes.iter().map(|node| matches!(node.op, Op::Input(_))).collect();
        self.outputs.iter().for_each(|output| live[output.node.0] = true);
        for id in (0..nodes.len()).rev() {
            if live[id] {
                nodes[id].inputs.iter().for_each(|input| live[input.0] = true);
            }
        }
        live
    }

    /// Returns the values of a parameter or a constant; `None` for other nodes.
    pub(super) fn fixed(&self, id: usize) -> Option<&[f32]> {
        match &self.graph.nodes[id].op {
            Op::Param(index) => Some(&self.params.values()[self.graph.table.specs()[*index].range()]),
            Op::Constant(values) => Some(values),
            _ => None,
        }
    }
}
