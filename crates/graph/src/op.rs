//! Operations of nodes. Each operation has a name and a reference implementation in f64. `gradients.rs` differentiates the operations.
//!
//! The comment of a variant lists the inputs of its node, by these names: x, a and b are values, y is the result of the forward operation,
//! and dy is the gradient of the loss with respect to y.
//!
//! `plan.rs` chooses a fast kernel for each operation. The kernel's results must agree with the reference implementation.

use crate::shape::Shape;
use math::{Binary, Rng, Unary, reference};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// No inputs. The field is the input's name.
    Input(Arc<str>),
    /// No inputs. The field is the index of the parameter in the parameter table.
    Param(usize),
    /// No inputs. The field contains row-major values.
    Constant(Arc<[f32]>),
    /// a, b; either may be transposed
    MatMul { ta: bool, tb: bool },
    /// x. The result is x·scale + shift.
    Affine { scale: f32, shift: f32 },
    /// x
    Unary(Unary),
    /// The result y of the function (for relu, tanh and sigmoid) or its argument x (for other functions), and dy
    UnaryGrad(Unary),
    /// a, b; either may be broadcast
    Binary(Binary),
    /// x
    Sum(Sums),
    /// x, which is a row, a column or a single number
    Broadcast,
    /// x, gamma, and beta if `centred` is true. A layer norm is centred; a root mean square norm is not.
    Norm { eps: f32, centred: bool },
    /// x, gamma, dy, and the node of the forward norm. The kernel of the forward norm saves (mean, 1/std) of each row for this node. The
    /// result is the gradient with respect to `wrt`.
    NormGrad { eps: f32, centred: bool, wrt: Wrt },
    /// qkv, table of cosines and sines. Rotates q and k by angles that depend on the row's position in its sequence. With `back`, rotates
    /// in the opposite direction.
    Rotary { back: bool },
    /// qkv, whose rows are `q | k | v`
    CausalAttention { heads: usize, len: usize },
    /// qkv, the node of the forward attention, dy
    CausalAttentionGrad { heads: usize, len: usize },
    /// x. The result is the softmax of each row. With `log`, the result is the logarithm of the softmax.
    Softmax { log: bool },
    /// y, dy
    SoftmaxGrad { log: bool },
    /// x, index
    Take,
    /// index, dy
    TakeGrad,
    /// table, index
    EmbeddingBag,
    /// index, dy
    EmbeddingBagGrad,
    /// x, w, target. The result is the cross-entropy of each row of x·wᵀ (the logits) with the target class.
    HeadLoss,
    /// x, w, target, dy, and the [`Op::HeadLoss`] node. The result is the gradient with respect to x if `of_x` is true, else to w.
    HeadLossGrad { of_x: bool },
    /// x, step. The gradient applies the same operation to dy.
    Dropout { p: f32, rng: Rng },
    /// corpus, starts. Extracts a window of `len` numbers for each start i. The window begins at position `starts[i] + shift` of the
    /// corpus.
    Windows { len: usize, shift: usize },
    /// a, b. Concatenates columns.
    Concat,
    /// x. Selects the columns from `from` on.
    SliceCols { from: usize },
    /// x. Adds columns of zeros on both sides; `from` is the number of columns on the left.
    PadCols { from: usize },
    /// x, treated as a constant
    StopGradient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    All,
    /// One sum per row.
    Rows,
    /// One sum per column.
    Cols,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrt {
    X,
    Gamma,
    Beta,
}

impl Op {
    pub fn text(&self) -> String {
        let text = match self {
            Op::Input(_) => "input",
            Op::Param(_) => "parameter",
            Op::Constant(_) => "constant",
            Op::MatMul { .. } => "matmul",
            Op::Affine { .. } => "affine",
            Op::Unary(of) => return format!("{of:?}").to_lowercase(),
            Op::UnaryGrad(of) => return format!("{of:?} gradient").to_lowercase(),
            Op::Binary(of) => return format!("{of:?}").to_lowercase(),
            Op::Sum(Sums::All) => "sum",
            Op::Sum(Sums::Rows) => "row sums",
            Op::Sum(Sums::Cols) => "column sums",
            Op::Broadcast => "broadcast",
            Op::Norm { centred: true, .. } => "layer norm",
            Op::Norm { .. } => "rms norm",
            Op::NormGrad { centred: true, .. } => "layer norm gradient",
            Op::NormGrad { .. } => "rms norm gradient",
            Op::Rotary { .. } => "rotary",
            Op::CausalAttention { .. } => "causal attention",
            Op::CausalAttentionGrad { .. } => "causal attention gradient",
            Op::Softmax { log: false } => "softmax",
            Op::Softmax { log: true } => "log softmax",
            Op::SoftmaxGrad { log: false } => "softmax gradient",
            Op::SoftmaxGrad { log: true } => "log softmax gradient",
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
        };
        text.into()
    }

    pub(crate) fn passes_gradient(&self) -> bool {
        !matches!(self, Op::StopGradient | Op::Windows { .. } | Op::Binary(Binary::Greater))
    }

    /// Computes the node's value with the reference implementation. `inputs` are the row-major values and the shape of each input.
    pub(crate) fn reference(&self, shape: Shape, inputs: &[(&[f64], Shape)]) -> Vec<f64> {
        let [rows, cols] = shape;
        let mut y = vec![0.0; rows * cols];
        // Returns element (i, j) of an input. The input may be a row, a column or a scalar, which is broadcast.
        let at = |input: usize, i: usize, j: usize| -> f64 {
            let (values, [r, c]) = inputs[input];
            values[if r == 1 { 0 } else { i } * c + if c == 1 { 0 } else { j }]
        };
        let values = |input: usize| inputs[input].0;
        let whole = |input: usize| values(input).iter().map(|&x| x as f32).collect::<Vec<f32>>();
        let index = |input: usize, i: usize, len: usize| -> usize { (inputs[input].0[i].max(0.0) as usize).min(len - 1) };
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
            &Op::Affine { scale, shift } => each(&|i, j| at(0, i, j) * f64::from(scale) + f64::from(shift)),
            &Op::Unary(of) => each(&|i, j| reference::unary(of, at(0, i, j))),
            &Op::UnaryGrad(of) => each(&|i, j| at(1, i, j) * reference::unary_slope_at(of, at(0, i, j))),
            &Op::Binary(of) => each(&|i, j| reference::binary(of, at(0, i, j), at(1, i, j))),
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
            &Op::Norm { eps, centred } => {
                let beta = centred.then(|| values(2));
                reference::norm(rows, cols, values(0), values(1), beta, f64::from(eps), &mut y);
            }
            &Op::NormGrad { eps, centred, wrt } => {
                let ([r, c], eps) = (inputs[0].1, f64::from(eps));
                let [mut dx, mut dgamma, mut dbeta] = [r * c, c, c].map(|len| vec![0.0; len]);
                let (x, gamma, dy) = (values(0), values(1), values(2));
                let of_beta = centred.then_some(&mut dbeta[..]);
                reference::norm_backward(r, c, x, gamma, eps, dy, &mut dx, &mut dgamma, of_beta);
                y = match wrt {
                    Wrt::X => dx,
                    Wrt::Gamma => dgamma,
                    Wrt::Beta => dbeta,
                };
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
            &Op::CausalAttention { heads, len } => reference::causal_attention(heads, len, cols, inputs[0].0, &mut y),
            &Op::CausalAttentionGrad { heads, len } => {
                let (qkv, dy) = (inputs[0].0, inputs[2].0);
                reference::causal_attention_backward(heads, len, cols / 3, qkv, dy, &mut y);
            }
            &Op::Softmax { log } => reference::softmax(rows, cols, values(0), &mut y, log),
            &Op::SoftmaxGrad { log } => reference::softmax_backward(rows, cols, values(0), values(1), &mut y, log),
            Op::Take => each(&|i, _| at(0, i, index(1, i, inputs[0].1[1]))),
            Op::TakeGrad => each(&|i, j| if index(0, i, cols) == j { at(1, i, 0) } else { 0.0 }),
            Op::EmbeddingBag => reference::embedding_bag(cols, values(0), inputs[1].1[1], &whole(1), None, &mut y),
            Op::EmbeddingBagGrad => reference::embedding_bag_backward(cols, inputs[0].1[1], &whole(0), values(1), &mut y),
            Op::HeadLoss | Op::HeadLossGrad { .. } => {
                let ([n, inp], [vocab, _]) = (inputs[0].1, inputs[1].1);
                let upstream = if *self == Op::HeadLoss { &vec![0.0; n] } else { values(3) };
                let [mut loss, mut dx, mut dw] = [n, n * inp, vocab * inp].map(|len| vec![0.0; len]);
                let (x, w, target) = (values(0), values(1), whole(2));
                let [of_loss, of_x, of_w] = [&mut loss, &mut dx, &mut dw];
                reference::head_loss([n, vocab, inp], x, w, &target, upstream, of_loss, of_x, of_w);
                y = match self {
                    Op::HeadLoss => loss,
                    Op::HeadLossGrad { of_x: true } => dx,
                    _ => dw,
                };
            }
            &Op::Dropout { p, rng } => {
                let mut chances = vec![0.0; rows * cols];
                rng.fill_uniform(math::Isa::Portable, inputs[1].0[0] as u32, &mut chances);
                let scale = 1.0 / (1.0 - f64::from(p));
                each(&|i, j| if chances[i * cols + j] < p { 0.0 } else { at(0, i, j) * scale });
            }
            &Op::Windows { len, shift } => {
                let corpus = inputs[0].0;
                each(&|i, _| corpus[(index(1, i / len, corpus.len()) + i % len + shift).min(corpus.len() - 1)]);
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
