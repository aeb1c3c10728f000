//! Values of a learner's networks in some states, for drawings and histograms.

use graph::{Executor, Graph, Isa, Layout, NodeId, Packed, Params, Plan, PlanError};
use std::sync::Arc;

/// A network of a learner, with its values in one or more states.
#[derive(Clone, Debug)]
pub struct NetworkValues {
    pub title: String,
    /// Inputs in the first state. A network with many inputs lists only those that are not 0.
    pub inputs: Vec<InputValue>,
    /// Layers from the first hidden layer to the outputs.
    pub layers: Vec<LayerValues>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
}

/// An input of a network in one state.
#[derive(Clone, Debug)]
pub struct InputValue {
    /// Name of the input; empty if the input has no short name.
    pub name: String,
    pub value: f32,
    /// Weights of the input in the first layer. A weight is a sum of terms. Each term is an index of an input of the weight matrix, and a
    /// factor.
    pub terms: Vec<(usize, f32)>,
}

impl InputValue {
    /// Returns the input with the index `index` in the weight matrix.
    pub fn at(index: usize, name: String, value: f32) -> InputValue {
        InputValue { name, value, terms: vec![(index, 1.0)] }
    }
}

/// Outputs of a layer.
#[derive(Clone, Debug)]
pub struct LayerValues {
    /// Name of the tensor of the layer's weights.
    pub weight: String,
    /// True if a row of the weights belongs to an input of the layer, false if it belongs to an output.
    pub by_input: bool,
    /// Outputs after the activation function, `[states][units]`.
    pub values: Vec<f32>,
}

/// Computes the outputs of all layers between an input and `output`. `inputs` are pairs of an input's name and its values.
pub(crate) fn layers(
    graph: &Graph,
    output: NodeId,
    params: &Params,
    inputs: &[(&str, &[f32])],
    isa: Isa,
) -> Result<Vec<LayerValues>, PlanError> {
    let layers = graph.layers(output);
    let outputs: Vec<_> = layers.iter().map(|layer| (layer.weight, layer.outputs)).collect();
    let plan = Arc::new(Plan::new(graph, &outputs, Layout::Rows, isa)?);
    let mut executor = Executor::new(&plan);
    for (name, values) in inputs {
        executor.input_mut(name).copy_from_slice(values);
    }
    executor.run(params, &Packed::new(&plan, params));
    let values = |layer: graph::Layer| LayerValues {
        weight: layer.weight.into(),
        by_input: layer.by_input,
        values: executor.output(layer.weight).to_vec(),
    };
    Ok(layers.into_iter().map(values).collect())
}
