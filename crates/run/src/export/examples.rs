//! Inputs and outputs that check an exported model.

use graph::export::{Examples, Model, Reads};

/// Values of one input or one output of a model, for several examples (items).
pub struct Numbers {
    pub name: &'static str,
    /// Lengths of the axes. The first axis counts the items.
    pub shape: Vec<usize>,
    pub integers: bool,
    pub values: Vec<f32>,
}

/// Example inputs of a model, and the outputs that the learner's own code computes for these inputs.
pub struct NamedExamples {
    pub inputs: Vec<Numbers>,
    pub outputs: Vec<Numbers>,
}

impl NamedExamples {
    pub(crate) fn new(model: &Model, count: usize, examples: Examples) -> NamedExamples {
        let numbers = |name, dims: Vec<usize>, integers, values| Numbers { name, shape: [vec![count], dims].concat(), integers, values };
        let inputs = model.inputs.iter().zip(examples.inputs);
        let outputs = model.outputs.iter().zip(examples.outputs);
        NamedExamples {
            inputs: inputs.map(|(of, values)| numbers(of.name, model.input_dims(of), of.integers, values)).collect(),
            outputs: outputs.map(|(of, values)| numbers(of.name, model.output_dims(of), of.reads == Reads::Largest, values)).collect(),
        }
    }
}
