//! Inputs and outputs that check an exported model.

use crate::RunError;
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

/// Maximum number of numbers in all examples of a call.
const MOST_NUMBERS: usize = 1 << 24;

impl NamedExamples {
    /// Returns an error unless `count` examples of the model have at least one and at most [`MOST_NUMBERS`] numbers.
    pub(crate) fn check(model: &Model, count: usize) -> Result<(), RunError> {
        let inputs = model.inputs.iter().map(|input| model.input_dims(input));
        let dims = inputs.chain(model.outputs.iter().map(|output| model.output_dims(output)));
        let each: usize = dims.map(|dims| dims.iter().product::<usize>()).sum();
        let most = (MOST_NUMBERS / each).max(1);
        if (1..=most).contains(&count) {
            return Ok(());
        }
        Err(RunError::OutOfRange { name: "count".into(), value: count.to_string(), range: format!("1 to {most}") })
    }

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
