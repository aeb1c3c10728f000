//! Lowers a model to calls of the functions in `helpers.rs`. A call has the same text in C and in JavaScript.

use super::helpers::{HELPERS, Helper};
use super::model::{ExportError, Model, Reads};
use crate::op::{Op, Sums};
use crate::shape::Shape;

/// A model as statements on arrays of floats. The array of a node has the name `t` and the node's index, such as `t5`. An array of weights
/// has the name `w` and the array's index.
pub struct Program<'m> {
    pub model: &'m Model,
    pub weights: Vec<&'m [f32]>,
    /// Name and length of each array that is not constant: arrays of inputs, and arrays that the statements fill.
    pub arrays: Vec<(String, usize)>,
    pub statements: Vec<String>,
    /// Name of the array of each node.
    names: Vec<String>,
    used: Vec<&'static str>,
}

impl<'m> Program<'m> {
    pub fn new(model: &'m Model) -> Result<Program<'m>, ExportError> {
        let mut program = Program {
            model,
            weights: Vec::new(),
            arrays: Vec::new(),
            statements: Vec::new(),
            names: vec![String::new(); model.graph.nodes.len()],
            used: Vec::new(),
        };
        for (id, live) in model.live().into_iter().enumerate() {
            if live {
                program.lower(id)?;
            }
        }
        if model.outputs.iter().any(|output| output.reads == Reads::Largest && !model.is_batched()) {
            return Err(ExportError::Operation("largest".into()));
        }
        if model.outputs.iter().any(|output| output.reads == Reads::Largest) {
            program.used.push("largest");
        }
        Ok(program)
    }

    /// Returns the functions that the statements call.
    pub fn helpers(&self) -> impl Iterator<Item = &'static Helper> {
        HELPERS.iter().filter(|helper| self.used.contains(&helper.name))
    }

    /// Returns the name of an input's array.
    pub fn input(&self, name: &str) -> &str {
        let is_input = |op: &Op| matches!(op, Op::Input(other) if **other == *name);
        let id = self.model.graph.nodes.iter().position(|node| is_input(&node.op)).expect("the graph has every input of the model");
        &self.names[id]
    }

    /// Returns the name and the length of the array of output `at`.
    pub fn output(&self, at: usize) -> (&str, usize) {
        let node = self.model.outputs[at].node;
        let [rows, cols] = self.model.graph.shape(node);
        (&self.names[node.0], rows * cols)
    }

    /// Adds a call that fills the array of node `id`.
    fn call(&mut self, id: usize, helper: &'static str, arguments: &[&dyn std::fmt::Display]) {
        let arguments: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
        self.statements.push(format!("{helper}({}, {});", self.names[id], arguments.join(", ")));
        self.used.push(helper);
    }

    fn lower(&mut self, id: usize) -> Result<(), ExportError> {
        let model = self.model;
        let node = &model.graph.nodes[id];
        if let Some(values) = model.fixed(id) {
            self.names[id] = format!("w{}", self.weights.len());
            self.weights.push(values);
            return Ok(());
        }
        if node.op == Op::StopGradient {
            self.names[id] = self.names[node.inputs[0].0].clone();
            return Ok(());
        }
        self.names[id] = format!("t{id}");
        let [rows, cols] = node.shape;
        self.arrays.push((self.names[id].clone(), rows * cols));
        let shape = |i: usize| model.graph.shape(node.inputs[i]);
        let from: Vec<String> = node.inputs.iter().map(|input| self.names[input.0].clone()).collect();
        let len = rows * cols;
        match &node.op {
            Op::Input(_) => {}
            &Op::MatMul { ta: false, tb: true } => self.call(id, "product", &[&from[0], &from[1], &rows, &cols, &shape(0)[1]]),
            Op::Affine { scale, shift } => {
                self.call(id, "affine", &[&from[0], &len, &format_args!("{scale:e}"), &format_args!("{shift:e}")]);
            }
            Op::Unary(of) => self.call(id, helper("unary", of)?, &[&from[0], &len]),
            Op::Binary(of) => {
                let [a, b] = [shape(0), shape(1)].map(steps);
                self.call(id, helper("binary", of)?, &[&rows, &cols, &from[0], &a[0], &a[1], &from[1], &b[0], &b[1]]);
            }
            Op::Sum(Sums::Rows) => self.call(id, "sum_rows", &[&from[0], &rows, &shape(0)[1]]),
            Op::Norm { eps, centred: true } => {
                self.call(id, "layer_norm", &[&from[0], &from[1], &from[2], &rows, &cols, &format_args!("{eps:e}")]);
            }
            Op::Norm { eps, .. } => self.call(id, "rms_norm", &[&from[0], &from[1], &rows, &cols, &format_args!("{eps:e}")]),
            Op::Softmax { log: false } => self.call(id, "softmax", &[&from[0], &rows, &cols]),
            Op::Softmax { log: true } => self.call(id, "log_softmax", &[&from[0], &rows, &cols]),
            Op::EmbeddingBag => self.call(id, "sum_of_rows", &[&from[0], &from[1], &rows, &shape(1)[1], &cols]),
            Op::SliceCols { from: first } => self.call(id, "columns", &[&from[0], &rows, &shape(0)[1], first, &cols]),
            Op::Rotary { back: false } if shape(1)[0] == rows => {
                self.call(id, "rotate", &[&from[0], &from[1], &rows, &cols, &shape(1)[1]]);
            }
            Op::CausalAttention { heads, len } if *len == rows => self.call(id, "attend", &[&from[0], &rows, &cols, heads]),
            op => return Err(ExportError::Operation(op.text())),
        }
        Ok(())
    }
}

/// Returns the distance between rows and the distance between columns of an operand. The distance is 0 along an axis on which the operand
/// is repeated.
fn steps([rows, cols]: Shape) -> [usize; 2] {
    [if rows == 1 { 0 } else { cols }, usize::from(cols > 1)]
}

/// Returns the name of the helper function that computes an elementwise operation.
fn helper(kind: &str, of: &impl std::fmt::Debug) -> Result<&'static str, ExportError> {
    let name = format!("{kind}_{of:?}").to_lowercase();
    HELPERS.iter().map(|helper| helper.name).find(|known| *known == name).ok_or(ExportError::Operation(name))
}
