//! Models as ONNX. The numbers of the fields are from `onnx.proto` (github.com/onnx/onnx). The operators are those of version 17 of ONNX's
//! operator set.

use super::model::{ExportError, Model, Reads};
use super::nodes::Program;
use super::protobuf::Message;
use crate::op::{Op, Sums};
use math::Unary;

const IR_VERSION: i64 = 8;
const OPERATORS: i64 = 17;
/// ONNX's numbers of element types.
const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// Value of an attribute of a node.
enum Attribute<'a> {
    Int(i64),
    Float(f32),
    Ints(&'a [i64]),
}

use Attribute::{Float, Int, Ints};

/// Returns the file of a model. `title` describes the model.
pub fn onnx(model: &Model, title: &str) -> Result<Vec<u8>, ExportError> {
    // All formats support the same models, so ONNX rejects the models that C and JavaScript reject.
    Program::new(model)?;
    let mut writer = Writer { model, names: vec![String::new(); model.graph.nodes.len()], nodes: Vec::new(), fixed: Vec::new(), added: 0 };
    for (id, live) in model.live().into_iter().enumerate() {
        if live {
            writer.lower(id)?;
        }
    }
    for output in &model.outputs {
        let from = writer.names[output.node.0].clone();
        match output.reads {
            Reads::Numbers => writer.node("Identity", &[&from], output.name, &[]),
            Reads::Largest => writer.node("ArgMax", &[&from], output.name, &[("axis", Int(1)), ("keepdims", Int(0))]),
        }
    }
    let input =
        |input: &super::model::Input| value(input.name, if input.integers { INT64 } else { FLOAT }, &model.input_dims(input), model);
    let output = |output: &super::model::Output| {
        value(output.name, if output.reads == Reads::Largest { INT64 } else { FLOAT }, &model.output_dims(output), model)
    };
    let graph = Message::default()
        .each(1, writer.nodes, Message::message)
        .text(2, "model")
        .each(5, writer.fixed, Message::message)
        .text(10, title)
        .each(11, model.inputs.iter().map(input), Message::message)
        .each(12, model.outputs.iter().map(output), Message::message);
    let operators = Message::default().text(1, "").int(2, OPERATORS);
    Ok(Message::default()
        .int(1, IR_VERSION)
        .text(2, "hothouse")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, graph)
        .message(8, operators)
        .done())
}

/// Returns the description of an input or an output. If the model is batched, a first axis of variable length is added.
fn value(name: &str, kind: i64, dims: &[usize], model: &Model) -> Message {
    let dim = |dim: &usize| Message::default().int(1, *dim as i64);
    let batch = model.is_batched().then(|| Message::default().text(2, "batch"));
    let shape = Message::default().each(1, batch.into_iter().chain(dims.iter().map(dim)), Message::message);
    let tensor = Message::default().int(1, kind).message(2, shape);
    Message::default().text(1, name).message(2, Message::default().message(1, tensor))
}

struct Writer<'m> {
    model: &'m Model,
    /// Name of each node's value.
    names: Vec<String>,
    nodes: Vec<Message>,
    /// Constant tensors.
    fixed: Vec<Message>,
    /// Number of additional values, which are not values of a node of the graph.
    added: usize,
}

impl Writer<'_> {
    fn node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, Attribute)]) {
        let attribute = |(name, of): &(&str, Attribute)| {
            let message = Message::default().text(1, name);
            match of {
                Float(number) => message.float(2, *number).int(20, 1),
                Int(number) => message.int(3, *number).int(20, 2),
                Ints(numbers) => message.each(8, numbers.iter().copied(), Message::int).int(20, 7),
            }
        };
        let node = Message::default().each(1, inputs, |node, field, input| node.text(field, input)).text(2, output).text(4, operator);
        self.nodes.push(node.each(5, attributes.iter().map(attribute), Message::message));
    }

    fn fresh(&mut self) -> String {
        self.added += 1;
        format!("v{}", self.added)
    }

    /// Adds an ONNX node and a new name for its result. Returns the name.
    fn step(&mut self, operator: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> String {
        let name = self.fresh();
        self.node(operator, inputs, &name, attributes);
        name
    }

    fn tensor(&mut self, name: &str, dims: &[usize], kind: i64, bytes: &[u8]) {
        let tensor = Message::default().each(1, dims, |tensor, field, dim| tensor.int(field, *dim as i64));
        self.fixed.push(tensor.int(2, kind).text(8, name).bytes(9, bytes));
    }

    fn number(&mut self, number: f32) -> String {
        let name = self.fresh();
        self.tensor(&name, &[], FLOAT, &number.to_le_bytes());
        name
    }

    fn integers(&mut self, numbers: &[i64]) -> String {
        let name = self.fresh();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.tensor(&name, &[numbers.len()], INT64, &bytes);
        name
    }

    /// Adds a node that selects the columns `first..end`.
    fn columns(&mut self, from: &str, first: usize, end: usize) -> String {
        let [first, end, axis] = [first as i64, end as i64, 1].map(|number| self.integers(&[number]));
        self.step("Slice", &[from, &first, &end, &axis], &[])
    }

    fn reshape(&mut self, from: &str, dims: &[usize]) -> String {
        let dims = self.integers(&dims.iter().map(|&dim| dim as i64).collect::<Vec<_>>());
        self.step("Reshape", &[from, &dims], &[])
    }

    fn lower(&mut self, id: usize) -> Result<(), ExportError> {
        let model = self.model;
        let node = &model.graph.nodes[id];
        let [rows, cols] = node.shape;
        if let Some(values) = model.fixed(id) {
            self.names[id] = match node.op {
                Op::Param(index) => model.graph.table.specs()[index].name.to_string(),
                _ => format!("c{id}"),
            };
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let name = self.names[id].clone();
            self.tensor(&name, &[rows, cols], FLOAT, &bytes);
            return Ok(());
        }
        let from: Vec<String> = node.inputs.iter().map(|input| self.names[input.0].clone()).collect();
        let from: Vec<&str> = from.iter().map(String::as_str).collect();
        let shape = |i: usize| model.graph.shape(node.inputs[i]);
        self.names[id] = match &node.op {
            Op::Input(name) => self.input(name),
            &Op::MatMul { ta: false, tb } if model.fixed(node.inputs[1].0).is_some() => {
                self.step("Gemm", &from, &[("transB", Int(tb.into()))])
            }
            &Op::Affine { scale, shift } => {
                let scale = self.number(scale);
                let scaled = self.step("Mul", &[from[0], &scale], &[]);
                let shift = self.number(shift);
                self.step("Add", &[&scaled, &shift], &[])
            }
            Op::Unary(of) => self.unary(*of, from[0]),
            Op::Binary(of) => self.step(&format!("{of:?}"), &from, &[]),
            Op::Sum(Sums::Rows) => {
                let axis = self.integers(&[1]);
                self.step("ReduceSum", &[from[0], &axis], &[])
            }
            &Op::Norm { eps, centred: true } => self.step("LayerNormalization", &from, &[("axis", Int(-1)), ("epsilon", Float(eps))]),
            &Op::Norm { eps, .. } => self.rms_norm(&from, eps),
            Op::Softmax { log } => self.step(if *log { "LogSoftmax" } else { "Softmax" }, &from, &[("axis", Int(1))]),
            Op::EmbeddingBag => {
                let index = self.step("Cast", &[from[1]], &[("to", Int(INT64))]);
                let (found, axis) = (self.step("Gather", &[from[0], &index], &[]), self.integers(&[1]));
                self.step("ReduceSum", &[&found, &axis], &[("keepdims", Int(0))])
            }
            &Op::SliceCols { from: first } => self.columns(from[0], first, first + cols),
            Op::StopGradient => from[0].into(),
            Op::Rotary { back: false } if shape(1)[0] == rows => self.rotary(&from, [rows, cols], shape(1)[1]),
            &Op::CausalAttention { heads, len } if len == rows => self.attention(from[0], [rows, cols], heads),
            op => return Err(ExportError::Operation(op.text())),
        };
        Ok(())
    }

    /// Adds the nodes that convert an input to a matrix of floats.
    fn input(&mut self, name: &str) -> String {
        let input = self.model.inputs.iter().find(|input| input.name == name).expect("the model describes every input");
        let dims = self.model.input_dims(input);
        let value = if input.integers { self.step("Cast", &[name], &[("to", Int(FLOAT))]) } else { name.into() };
        match (self.model.is_batched(), &dims[..]) {
            (false, &[rows]) => self.reshape(&value, &[rows, 1]),
            _ => value,
        }
    }

    fn unary(&mut self, of: Unary, x: &str) -> String {
        match of {
            Unary::Ln => self.step("Log", &[x], &[]),
            Unary::Silu => {
                let share = self.step("Sigmoid", &[x], &[]);
                self.step("Mul", &[x, &share], &[])
            }
            Unary::Gelu => {
                let [half, one, root, third] = [0.5, 1.0, 0.797_884_6, 0.044_715].map(|number| self.number(number));
                let square = self.step("Mul", &[x, x], &[]);
                let square = self.step("Mul", &[&square, &third], &[]);
                let inner = self.step("Add", &[&square, &one], &[]);
                let inner = self.step("Mul", &[&inner, x], &[]);
                let inner = self.step("Mul", &[&inner, &root], &[]);
                let tanh = self.step("Tanh", &[&inner], &[]);
                let share = self.step("Add", &[&tanh, &one], &[]);
                let share = self.step("Mul", &[&share, &half], &[]);
                self.step("Mul", &[x, &share], &[])
            }
            Unary::Square => self.step("Mul", &[x, x], &[]),
            // ONNX has these functions under the same names.
            Unary::Relu | Unary::Tanh | Unary::Exp | Unary::Sqrt | Unary::Sigmoid => self.step(&format!("{of:?}"), &[x], &[]),
        }
    }

    fn rms_norm(&mut self, from: &[&str], eps: f32) -> String {
        let square = self.step("Mul", &[from[0], from[0]], &[]);
        let mean = self.step("ReduceMean", &[&square], &[("axes", Ints(&[1]))]);
        let eps = self.number(eps);
        let mean = self.step("Add", &[&mean, &eps], &[]);
        let root = self.step("Sqrt", &[&mean], &[]);
        let normal = self.step("Div", &[from[0], &root], &[]);
        self.step("Mul", &[&normal, from[1]], &[])
    }

    /// Adds the nodes that rotate the queries and the keys. The first half of the table's columns has cosines, the second half has sines.
    fn rotary(&mut self, from: &[&str], [rows, cols]: [usize; 2], size: usize) -> String {
        let (turned, half) = (cols / 3 * 2, size / 2);
        let pairs = self.columns(from[0], 0, turned);
        let pairs = self.reshape(&pairs, &[rows, turned / size, size]);
        let [cos, sin] = [0, half].map(|first| {
            let part = self.columns(from[1], first, first + half);
            self.reshape(&part, &[rows, 1, half])
        });
        let [a, b] = [0, half].map(|first| {
            let [first, end, axis] = [first, first + half, 2].map(|number| self.integers(&[number as i64]));
            self.step("Slice", &[&pairs, &first, &end, &axis], &[])
        });
        let mut products = [(&a, &cos), (&b, &sin), (&b, &cos), (&a, &sin)].into_iter();
        let mut product = || products.next().map(|(x, by)| self.step("Mul", &[x, by], &[])).expect("one of four");
        let (a_cos, b_sin, b_cos, a_sin) = (product(), product(), product(), product());
        let first = self.step("Sub", &[&a_cos, &b_sin], &[]);
        let second = self.step("Add", &[&b_cos, &a_sin], &[]);
        let rotated = self.step("Concat", &[&first, &second], &[("axis", Int(2))]);
        let rotated = self.reshape(&rotated, &[rows, turned]);
        let values = self.columns(from[0], turned, cols);
        self.step("Concat", &[&rotated, &values], &[("axis", Int(1))])
    }

    fn attention(&mut self, qkv: &str, [rows, width]: [usize; 2], heads: usize) -> String {
        let size = width / heads;
        // Queries and values are [heads][rows][size], and keys are [heads][size][rows].
        let [queries, keys, values] = [(0, [1, 0, 2]), (1, [1, 2, 0]), (2, [1, 0, 2])].map(|(part, axes)| {
            let columns = self.columns(qkv, part * width, (part + 1) * width);
            let by_head = self.reshape(&columns, &[rows, heads, size]);
            self.step("Transpose", &[&by_head], &[("perm", Ints(&axes))])
        });
        let scores = self.step("MatMul", &[&queries, &keys], &[]);
        let scale = self.number(1.0 / (size as f32).sqrt());
        let scores = self.step("Mul", &[&scores, &scale], &[]);
        let hidden: Vec<u8> = (0..rows * rows).flat_map(|i| if i % rows > i / rows { -1e9f32 } else { 0.0 }.to_le_bytes()).collect();
        let mask = self.fresh();
        self.tensor(&mask, &[rows, rows], FLOAT, &hidden);
        let scores = self.step("Add", &[&scores, &mask], &[]);
        let shares = self.step("Softmax", &[&scores], &[("axis", Int(2))]);
        let sums = self.step("MatMul", &[&shares, &values], &[]);
        let sums = self.step("Transpose", &[&sums], &[("perm", Ints(&[1, 0, 2]))]);
        self.reshape(&sums, &[rows, width])
    }
}
