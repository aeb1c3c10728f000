//! The operations: for each its text, its gradient as a graph, and its plain definition in f64.
//!
//! The fast form of an operation is chosen in `plan.rs` and must agree with the definition here.
//! Nothing here is fast.

use crate::graph::{Graph, NodeId, Shape};
use math::{Rng, reference};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Input(Arc<str>),
    /// Index into the parameter table.
    Param(usize),
    Constant(Arc<[f32]>),
    MatMul {
        ta: bool,
        tb: bool,
    },
    Map(Map),
    Zip(Zip),
    Sum(Sums),
    Broadcast,
    /// x, gamma, beta
    LayerNorm {
        eps: f32,
    },
    /// x, gamma, dy, and the layer norm's own node, whose kernel leaves the statistics
    LayerNormGrad {
        eps: f32,
        wrt: Wrt,
    },
    /// qkv, table of cosines and sines: q and k turned, each row by its place in its sequence
    Rotary {
        back: bool,
    },
    /// qkv
    CausalAttention {
        heads: usize,
        len: usize,
    },
    /// qkv, the attention's own node, dy
    CausalAttentionGrad {
        heads: usize,
        len: usize,
    },
    /// x, gamma
    RmsNorm {
        eps: f32,
    },
    /// As [`Op::LayerNormGrad`].
    RmsNormGrad {
        eps: f32,
        wrt: Wrt,
    },
    Softmax,
    LogSoftmax,
    /// y, dy
    SoftmaxGrad,
    /// y, dy
    LogSoftmaxGrad,
    /// x, index
    Take,
    /// index, dy
    TakeGrad,
    /// table, index
    EmbeddingBag,
    /// index, dy
    EmbeddingBagGrad,
    /// x, w, target
    HeadLoss,
    /// x, w, target, dy, and the loss's own node: the gradient of x or of w
    HeadLossGrad {
        of_x: bool,
    },
    /// x, step; its own gradient
    Dropout {
        p: f32,
        rng: Rng,
    },
    /// corpus, starts
    Windows {
        len: usize,
        shift: usize,
    },
    Concat,
    SliceCols {
        from: usize,
    },
    /// Zeros on both sides of x.
    PadCols {
        from: usize,
    },
    StopGradient,
}

/// One value to one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Map {
    Affine { scale: f32, shift: f32 },
    Relu,
    Tanh,
    Gelu,
    Sigmoid,
    Silu,
    Exp,
    Ln,
    Square,
    Sqrt,
}

/// Two values to one. The last five take the value that the derivative is simplest in, and dy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zip {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Greater,
    /// y, dy
    ReluGrad,
    /// y, dy
    TanhGrad,
    /// x, dy
    GeluGrad,
    /// y, dy
    SigmoidGrad,
    /// x, dy
    SiluGrad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    All,
    /// One for each row.
    Rows,
    /// One for each column.
    Cols,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrt {
    X,
    Gamma,
    Beta,
}

/// `gelu(x) = x/2·(1 + tanh(GELU_A·(x + GELU_B·x³)))`, Hendrycks & Gimpel 2016.
const GELU_A: f64 = 0.797_884_560_802_865_4; // √(2/π)
const GELU_B: f64 = 0.044_715;

impl Map {
    pub fn text(self) -> &'static str {
        match self {
            Map::Affine { .. } => "affine",
            Map::Relu => "relu",
            Map::Tanh => "tanh",
            Map::Gelu => "gelu",
            Map::Sigmoid => "sigmoid",
            Map::Silu => "silu",
            Map::Exp => "exp",
            Map::Ln => "ln",
            Map::Square => "square",
            Map::Sqrt => "sqrt",
        }
    }

    pub fn of(self, x: f64) -> f64 {
        match self {
            Map::Affine { scale, shift } => x * f64::from(scale) + f64::from(shift),
            Map::Relu => x.max(0.0),
            Map::Tanh => x.tanh(),
            Map::Gelu => 0.5 * x * (1.0 + (GELU_A * (x + GELU_B * x * x * x)).tanh()),
            Map::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Map::Silu => x / (1.0 + (-x).exp()),
            Map::Exp => x.exp(),
            Map::Ln => x.ln(),
            Map::Square => x * x,
            Map::Sqrt => x.sqrt(),
        }
    }

    fn gradient(self, g: &mut Graph, x: NodeId, y: NodeId, dy: NodeId) -> NodeId {
        let shape = g.shape(x);
        let slope = |g: &mut Graph, at: NodeId, zip: Zip| {
            let dy = g.broadcast(dy, shape);
            g.zip(at, dy, zip)
        };
        match self {
            Map::Affine { scale, .. } => g.affine(dy, scale, 0.0),
            Map::Relu => slope(g, y, Zip::ReluGrad),
            Map::Tanh => slope(g, y, Zip::TanhGrad),
            Map::Gelu => slope(g, x, Zip::GeluGrad),
            Map::Sigmoid => slope(g, y, Zip::SigmoidGrad),
            Map::Silu => slope(g, x, Zip::SiluGrad),
            Map::Exp => g.mul(y, dy),
            Map::Ln => g.div(dy, x),
            Map::Square => {
                let half = g.mul(x, dy);
                g.affine(half, 2.0, 0.0)
            }
            Map::Sqrt => {
                let half = g.affine(dy, 0.5, 0.0);
                g.div(half, y)
            }
        }
    }
}

impl Zip {
    pub fn text(self) -> &'static str {
        match self {
            Zip::Add => "add",
            Zip::Sub => "sub",
            Zip::Mul => "mul",
            Zip::Div => "div",
            Zip::Min => "min",
            Zip::Max => "max",
            Zip::Greater => "greater",
            Zip::ReluGrad => "relu gradient",
            Zip::TanhGrad => "tanh gradient",
            Zip::GeluGrad => "gelu gradient",
            Zip::SigmoidGrad => "sigmoid gradient",
            Zip::SiluGrad => "silu gradient",
        }
    }

    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Zip::Add => a + b,
            Zip::Sub => a - b,
            Zip::Mul => a * b,
            Zip::Div => a / b,
            Zip::Min => a.min(b),
            Zip::Max => a.max(b),
            Zip::Greater => f64::from(u8::from(a > b)),
            Zip::ReluGrad => b * f64::from(u8::from(a > 0.0)),
            Zip::TanhGrad => b * (1.0 - a * a),
            Zip::SigmoidGrad => b * a * (1.0 - a),
            Zip::SiluGrad => {
                let p = Map::Sigmoid.of(a);
                b * (p + a * p * (1.0 - p))
            }
            Zip::GeluGrad => {
                let t = (GELU_A * (a + GELU_B * a * a * a)).tanh();
                let slope = GELU_A * (1.0 + 3.0 * GELU_B * a * a);
                b * (0.5 * (1.0 + t) + 0.5 * a * (1.0 - t * t) * slope)
            }
        }
    }

    /// Adjoints of the two sides, still of the shape of the result.
    fn gradient(self, g: &mut Graph, [a, b]: [NodeId; 2], y: NodeId, dy: NodeId) -> [NodeId; 2] {
        match self {
            Zip::Add => [dy, dy],
            Zip::Sub => [dy, g.neg(dy)],
            Zip::Mul => [g.mul(b, dy), g.mul(a, dy)],
            Zip::Div => {
                let da = g.div(dy, b);
                let slope = g.mul(y, da);
                [da, g.neg(slope)]
            }
            Zip::Min | Zip::Max => {
                let takes_b = if self == Zip::Min { g.greater(a, b) } else { g.greater(b, a) };
                let db = g.mul(takes_b, dy);
                [g.sub(dy, db), db]
            }
            Zip::Greater => unreachable!("stops gradients"),
            Zip::ReluGrad | Zip::TanhGrad | Zip::GeluGrad | Zip::SigmoidGrad | Zip::SiluGrad => {
                panic!("{} is not differentiated again", self.text())
            }
        }
    }
}

impl Op {
    pub fn text(&self) -> &'static str {
        match self {
            Op::Input(_) => "input",
            Op::Param(_) => "parameter",
            Op::Constant(_) => "constant",
            Op::MatMul { .. } => "matmul",
            Op::Map(map) => map.text(),
            Op::Zip(zip) => zip.text(),
            Op::Sum(Sums::All) => "sum",
            Op::Sum(Sums::Rows) => "row sums",
            Op::Sum(Sums::Cols) => "column sums",
            Op::Broadcast => "broadcast",
            Op::LayerNorm { .. } => "layer norm",
            Op::LayerNormGrad { .. } => "layer norm gradient",
            Op::Rotary { .. } => "rotary",
            Op::CausalAttention { .. } => "causal attention",
            Op::CausalAttentionGrad { .. } => "causal attention gradient",
            Op::RmsNorm { .. } => "rms norm",
            Op::RmsNormGrad { .. } => "rms norm gradient",
            Op::Softmax => "softmax",
            Op::LogSoftmax => "log softmax",
            Op::SoftmaxGrad => "softmax gradient",
            Op::LogSoftmaxGrad => "log softmax gradient",
            Op::Take => "take",
            Op::TakeGrad => "take gradient",
            Op::EmbeddingBag => "embedding bag",
            Op::EmbeddingBagGrad => "embedding bag gradient",
            Op::HeadLoss => "head loss",
            Op::HeadLossGrad { .. } => "head loss gradient",
            Op::Dropout { .. } => "dropout",
            Op::Windows { .. } => "windows",
            Op::Concat => "concat",
            Op::SliceCols { .. } => "slice",
            Op::PadCols { .. } => "pad",
            Op::StopGradient => "stop gradient",
        }
    }

    pub(crate) fn passes_gradient(&self) -> bool {
        !matches!(self, Op::StopGradient | Op::Windows { .. } | Op::Zip(Zip::Greater))
    }

    /// The definition: what the node holds, from what its inputs hold, row-major.
    pub(crate) fn reference(&self, shape: Shape, inputs: &[(&[f64], Shape)]) -> Vec<f64> {
        let [rows, cols] = shape;
        let mut y = vec![0.0; rows * cols];
        // Element (i, j) of an input that may be a row, a column or a scalar.
        let at = |input: usize, i: usize, j: usize| -> f64 {
            let (values, [r, c]) = inputs[input];
            values[if r == 1 { 0 } else { i } * c + if c == 1 { 0 } else { j }]
        };
        let index = |input: usize, i: usize, len: usize| -> usize {
            (inputs[input].0[i].max(0.0) as usize).min(len - 1)
        };
        let mut each = |f: &dyn Fn(usize, usize) -> f64| {
            for i in 0..rows {
                for j in 0..cols {
                    y[i * cols + j] = f(i, j);
                }
            }
        };
        match self {
            Op::Input(_) | Op::Param(_) => unreachable!("leaves are given"),
            Op::Constant(values) => each(&|i, j| f64::from(values[i * cols + j])),
            Op::Map(map) => each(&|i, j| map.of(at(0, i, j))),
            Op::Zip(zip) => each(&|i, j| zip.of(at(0, i, j), at(1, i, j))),
            Op::Broadcast | Op::StopGradient => each(&|i, j| at(0, i, j)),
            &Op::MatMul { ta, tb } => {
                let depth = inputs[0].1[usize::from(!ta)];
                let a = |i, k| if ta { at(0, k, i) } else { at(0, i, k) };
                let b = |k, j| if tb { at(1, j, k) } else { at(1, k, j) };
                each(&|i, j| (0..depth).map(|k| a(i, k) * b(k, j)).sum());
            }
            Op::Sum(of) => {
                let [r, c] = inputs[0].1;
                each(&|i, j| match of {
                    Sums::All => inputs[0].0.iter().sum(),
                    Sums::Rows => (0..c).map(|k| at(0, i, k)).sum(),
                    Sums::Cols => (0..r).map(|k| at(0, k, j)).sum(),
                });
            }
            &Op::LayerNorm { eps } => each(&|i, j| {
                let (mean, inv_std) = row_stats(inputs[0], i, eps);
                (at(0, i, j) - mean) * inv_std * at(1, 0, j) + at(2, 0, j)
            }),
            &Op::LayerNormGrad { eps, wrt } => {
                let [r, c] = inputs[0].1;
                let normed = |i, j| {
                    let (mean, inv_std) = row_stats(inputs[0], i, eps);
                    (at(0, i, j) - mean) * inv_std
                };
                each(&|i, j| match wrt {
                    Wrt::Beta => (0..r).map(|k| at(2, k, j)).sum(),
                    Wrt::Gamma => (0..r).map(|k| at(2, k, j) * normed(k, j)).sum(),
                    Wrt::X => {
                        // With g = dy·gamma and n the normed x: (g - mean(g) - n·mean(g·n))/std.
                        let g = |j| at(2, i, j) * at(1, 0, j);
                        let mean_g = (0..c).map(g).sum::<f64>() / c as f64;
                        let mean_gn = (0..c).map(|j| g(j) * normed(i, j)).sum::<f64>() / c as f64;
                        (g(j) - mean_g - normed(i, j) * mean_gn) * row_stats(inputs[0], i, eps).1
                    }
                });
            }
            &Op::Rotary { back } => {
                let [len, size] = inputs[1].1;
                each(&|i, j| {
                    let (first, part) = (j / size * size, j % size % (size / 2));
                    let (a, b) = (at(0, i, first + part), at(0, i, first + part + size / 2));
                    let (cos, sin) = (at(1, i % len, part), at(1, i % len, part + size / 2));
                    let sin = if back { -sin } else { sin };
                    match (j < cols / 3 * 2, j == first + part) {
                        (false, _) => at(0, i, j),
                        (true, true) => a * cos - b * sin,
                        (true, false) => b * cos + a * sin,
                    }
                });
            }
            &Op::CausalAttention { heads, len } => {
                reference::causal_attention(heads, len, cols, inputs[0].0, &mut y);
            }
            &Op::CausalAttentionGrad { heads, len } => {
                let (qkv, dy) = (inputs[0].0, inputs[2].0);
                reference::causal_attention_backward(heads, len, cols / 3, qkv, dy, &mut y);
            }
            &Op::RmsNorm { eps } => each(&|i, j| at(0, i, j) * row_scale(inputs[0], i, eps) * at(1, 0, j)),
            &Op::RmsNormGrad { eps, wrt } => {
                let [r, c] = inputs[0].1;
                let scale: Vec<f64> = (0..r).map(|i| row_scale(inputs[0], i, eps)).collect();
                each(&|i, j| match wrt {
                    Wrt::X => {
                        let g = |j| at(2, i, j) * at(1, 0, j);
                        let mean = (0..c).map(|j| g(j) * at(0, i, j) * scale[i]).sum::<f64>() / c as f64;
                        (g(j) - at(0, i, j) * scale[i] * mean) * scale[i]
                    }
                    Wrt::Gamma => (0..r).map(|k| at(2, k, j) * at(0, k, j) * scale[k]).sum(),
                    Wrt::Beta => unreachable!("there is none"),
                });
            }
            Op::Softmax | Op::LogSoftmax => each(&|i, j| {
                let top = (0..cols).map(|k| at(0, i, k)).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = (0..cols).map(|k| (at(0, i, k) - top).exp()).sum();
                let log = at(0, i, j) - top - sum.ln();
                if *self == Op::Softmax { log.exp() } else { log }
            }),
            Op::SoftmaxGrad => each(&|i, j| {
                let dot: f64 = (0..cols).map(|k| at(0, i, k) * at(1, i, k)).sum();
                at(0, i, j) * (at(1, i, j) - dot)
            }),
            Op::LogSoftmaxGrad => each(&|i, j| {
                let sum: f64 = (0..cols).map(|k| at(1, i, k)).sum();
                at(1, i, j) - at(0, i, j).exp() * sum
            }),
            Op::Take => each(&|i, _| at(0, i, index(1, i, inputs[0].1[1]))),
            Op::TakeGrad => each(&|i, j| if index(0, i, cols) == j { at(1, i, 0) } else { 0.0 }),
            Op::EmbeddingBag => {
                let ([entries, width], (lists, [_, k])) = (inputs[0].1, inputs[1]);
                each(&|i, j| {
                    let named = lists[i * k..][..k].iter().filter(|x| **x >= 0.0);
                    named.map(|x| inputs[0].0[(*x as usize).min(entries - 1) * width + j]).sum()
                });
            }
            Op::EmbeddingBagGrad => {
                let (lists, [_, k]) = inputs[0];
                let mut sums = vec![0.0; rows * cols];
                for (place, x) in lists.iter().enumerate().filter(|(_, x)| **x >= 0.0) {
                    let row = (*x as usize).min(rows - 1);
                    for j in 0..cols {
                        sums[row * cols + j] += inputs[1].0[place / k * cols + j];
                    }
                }
                y = sums;
            }
            Op::HeadLoss | Op::HeadLossGrad { .. } => {
                let ((x, [n, inp]), (w, [vocab, _])) = (inputs[0], inputs[1]);
                let of =
                    |i: usize, v: usize| -> f64 { (0..inp).map(|c| x[i * inp + c] * w[v * inp + c]).sum() };
                let (mut losses, mut slopes) = (vec![0.0; n], vec![0.0; n * vocab]);
                for i in 0..n {
                    let (logits, target) = (&mut slopes[i * vocab..][..vocab], index(2, i, vocab));
                    logits.iter_mut().enumerate().for_each(|(v, logit)| *logit = of(i, v));
                    let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let whole = top + logits.iter().map(|x| (x - top).exp()).sum::<f64>().ln();
                    losses[i] = whole - logits[target];
                    logits.iter_mut().for_each(|logit| *logit = (*logit - whole).exp());
                    logits[target] -= 1.0;
                }
                let slope = |i: usize, v: usize| slopes[i * vocab + v] * inputs[3].0[i];
                each(&|i, j| match self {
                    Op::HeadLoss => losses[i],
                    Op::HeadLossGrad { of_x: true } => (0..vocab).map(|v| slope(i, v) * w[v * inp + j]).sum(),
                    _ => (0..n).map(|k| slope(k, i) * x[k * inp + j]).sum(),
                });
            }
            &Op::Dropout { p, rng } => {
                let mut chances = vec![0.0; rows * cols];
                rng.fill_uniform(math::Isa::Portable, inputs[1].0[0] as u32, &mut chances);
                let scale = 1.0 / (1.0 - f64::from(p));
                each(&|i, j| if chances[i * cols + j] < p { 0.0 } else { at(0, i, j) * scale });
            }
            &Op::Windows { len, shift } => {
                let corpus = inputs[0].0;
                each(&|i, _| {
                    corpus[(index(1, i / len, corpus.len()) + i % len + shift).min(corpus.len() - 1)]
                });
            }
            Op::Concat => {
                let left = inputs[0].1[1];
                each(&|i, j| if j < left { at(0, i, j) } else { inputs[1].0[i * (cols - left) + j - left] });
            }
            Op::SliceCols { from } => each(&|i, j| inputs[0].0[i * inputs[0].1[1] + j + from]),
            &Op::PadCols { from } => {
                let width = inputs[0].1[1];
                let inside = |j| (from..from + width).contains(&j);
                each(&|i, j| if inside(j) { inputs[0].0[i * width + j - from] } else { 0.0 });
            }
        }
        y
    }
}

/// Mean and 1/std of a row.
fn row_stats((x, [_, cols]): (&[f64], Shape), row: usize, eps: f32) -> (f64, f64) {
    let x = &x[row * cols..][..cols];
    let mean = x.iter().sum::<f64>() / cols as f64;
    let variance = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / cols as f64;
    (mean, 1.0 / (variance + f64::from(eps)).sqrt())
}

/// 1/root of the mean square of a row.
fn row_scale((x, [_, cols]): (&[f64], Shape), row: usize, eps: f32) -> f64 {
    let mean = x[row * cols..][..cols].iter().map(|v| v * v).sum::<f64>() / cols as f64;
    1.0 / (mean + f64::from(eps)).sqrt()
}

impl Graph {
    /// The backward nodes of one node: pairs of input slot and adjoint. An adjoint may be a row, a
    /// column or a scalar that stands for the input's full shape.
    pub(crate) fn backward(&mut self, y: NodeId, dy: NodeId) -> Vec<(usize, NodeId)> {
        let node = self.nodes[y.0].clone();
        let shape = node.shape;
        let input = |slot: usize| node.inputs[slot];
        match node.op {
            Op::Map(map) => vec![(0, map.gradient(self, input(0), y, dy))],
            Op::Zip(zip) => {
                let parts = zip.gradient(self, [input(0), input(1)], y, dy);
                [0, 1].map(|slot| (slot, self.reduce(parts[slot], shape, input(slot)))).to_vec()
            }
            Op::Sum(_) => vec![(0, dy)],
            Op::Broadcast => vec![(0, self.reduce(dy, shape, input(0)))],
            op => {
                let dy = self.broadcast(dy, shape);
                self.backward_full(&op, &node.inputs, y, dy)
            }
        }
    }

    /// The operations whose gradient needs dy in full shape.
    fn backward_full(&mut self, op: &Op, inputs: &[NodeId], y: NodeId, dy: NodeId) -> Vec<(usize, NodeId)> {
        let width = |g: &Graph, slot: usize| g.shape(inputs[slot])[1];
        match *op {
            Op::MatMul { ta, tb } => {
                let (a, b) = (inputs[0], inputs[1]);
                let da = if ta { self.matmul(b, dy, tb, true) } else { self.matmul(dy, b, false, !tb) };
                let db = if tb { self.matmul(dy, a, true, ta) } else { self.matmul(a, dy, !ta, false) };
                vec![(0, da), (1, db)]
            }
            Op::LayerNorm { eps } => [Wrt::X, Wrt::Gamma, Wrt::Beta]
                .into_iter()
                .enumerate()
                .map(|(slot, wrt)| (slot, self.layer_norm_grad([inputs[0], inputs[1], dy, y], eps, wrt)))
                .collect(),
            Op::Rotary { back } => vec![(0, self.rotary(dy, inputs[1], !back))],
            Op::CausalAttention { heads, len } => {
                vec![(0, self.causal_attention_grad([inputs[0], y, dy], heads, len))]
            }
            Op::RmsNorm { eps } => [Wrt::X, Wrt::Gamma]
                .into_iter()
                .enumerate()
                .map(|(slot, wrt)| (slot, self.rms_norm_grad([inputs[0], inputs[1], dy, y], eps, wrt)))
                .collect(),
            Op::HeadLoss => {
                let inputs = [inputs[0], inputs[1], inputs[2], dy, y];
                [true, false].map(|of_x| (usize::from(!of_x), self.head_loss_grad(inputs, of_x))).to_vec()
            }
            Op::Dropout { p, rng } => vec![(0, self.dropout(dy, p, rng, inputs[1]))],
            Op::Softmax => vec![(0, self.softmax_grad(y, dy, false))],
            Op::LogSoftmax => vec![(0, self.softmax_grad(y, dy, true))],
            Op::Take => {
                let cols = width(self, 0);
                vec![(0, self.take_grad(inputs[1], dy, cols))]
            }
            Op::EmbeddingBag => {
                let shape = self.shape(inputs[0]);
                vec![(0, self.embedding_bag_grad(inputs[1], dy, shape))]
            }
            Op::Concat => {
                let (left, right) = (width(self, 0), width(self, 1));
                vec![(0, self.slice_cols(dy, 0, left)), (1, self.slice_cols(dy, left, left + right))]
            }
            Op::SliceCols { from } => {
                let cols = width(self, 0);
                vec![(0, self.pad_cols(dy, from, cols))]
            }
            Op::PadCols { from } => {
                let cols = width(self, 0);
                vec![(0, self.slice_cols(dy, from, from + cols))]
            }
            ref op => panic!("{} is not differentiated again", op.text()),
        }
    }

    /// Sums an adjoint that stands for `shape` down to the shape of an operand that was repeated.
    fn reduce(&mut self, dy: NodeId, shape: Shape, operand: NodeId) -> NodeId {
        let to = self.shape(operand);
        let mut repeats = 1;
        let mut sum = dy;
        for axis in 0..2 {
            if to[axis] == 1 && shape[axis] > 1 {
                match (self.shape(sum)[axis], axis) {
                    (1, _) => repeats *= shape[axis],
                    (_, 0) => sum = self.sum_cols(sum),
                    _ => sum = self.sum_rows(sum),
                }
            }
        }
        self.affine(sum, repeats as f32, 0.0)
    }
}
