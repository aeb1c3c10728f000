//! Plain `f64` reference of every kernel: simple loops over indices. Tests compare the fast kernels with these loops; no hot path calls
//! them. Shapes are row-major `[rows][cols]`; weights are `[out][inp]`.

use crate::gemm::Act;
use crate::ops::{Binary, Span, Unary};
use std::ops::Add;

/// Computes `c[m][n]` (+)= Σ_k `a[m·rs + k·ks]` · `b[k·ks + n·cs]`, where each operand has its own strides (rs, ks) or (ks, cs).
pub fn matmul(
    m: usize,
    n: usize,
    k: usize,
    a: &[f64],
    (a_rs, a_ks): (usize, usize),
    b: &[f64],
    (b_ks, b_cs): (usize, usize),
    c: &mut [f64],
    accumulate: bool,
) {
    for i in 0..m {
        for j in 0..n {
            let mut sum = if accumulate { c[i * n + j] } else { 0.0 };
            for p in 0..k {
                sum += a[i * a_rs + p * a_ks] * b[p * b_ks + j * b_cs];
            }
            c[i * n + j] = sum;
        }
    }
}

/// Computes `y[rows][out]` = act(norm(x · Wᵀ + bias) + residual); `norm` is (gamma, beta, eps).
pub fn linear(
    rows: usize,
    out: usize,
    inp: usize,
    x: &[f64],
    w: &[f64],
    bias: Option<&[f64]>,
    norm: Option<(&[f64], &[f64], f64)>,
    residual: Option<&[f64]>,
    act: Act,
    y: &mut [f64],
) {
    matmul(rows, out, inp, x, (inp, 1), w, (1, inp), y, false);
    if let Some(bias) = bias {
        for i in 0..rows * out {
            y[i] += bias[i % out];
        }
    }
    if let Some((gamma, beta, eps)) = norm {
        let pre = y.to_vec();
        self::norm(rows, out, &pre, gamma, Some(beta), eps, y);
    }
    for i in 0..rows * out {
        let sum = residual.map_or(y[i], |r| y[i] + r[i]);
        y[i] = act.unary().map_or(sum, |op| unary(op, sum));
    }
}

/// Returns the value of an elementwise function at x.
pub fn unary(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Relu if 0.0 > x => 0.0,
        Unary::Relu => x,
        Unary::Tanh => x.tanh(),
        Unary::Gelu => 0.5 * x * (1.0 + gelu_inner(x).tanh()),
        Unary::Exp => x.exp(),
        Unary::Ln => x.ln(),
        Unary::Square => x * x,
        Unary::Sqrt => x.sqrt(),
        Unary::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Unary::Silu => x / (1.0 + (-x).exp()),
    }
}

const GELU_ROOT: f64 = 0.797_884_560_802_865_4; // sqrt(2/π)
const GELU_CUBE: f64 = 0.044_715;

fn gelu_inner(x: f64) -> f64 {
    GELU_ROOT * (x + GELU_CUBE * x * x * x)
}

/// Returns the derivative of [`unary`] at x.
pub fn unary_slope(op: Unary, x: f64) -> f64 {
    let y = unary(op, x);
    match op {
        Unary::Relu => f64::from(u8::from(x > 0.0)),
        Unary::Tanh => 1.0 - y * y,
        Unary::Gelu => {
            let t = gelu_inner(x).tanh();
            0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * GELU_ROOT * (1.0 + 3.0 * GELU_CUBE * x * x)
        }
        Unary::Exp => y,
        Unary::Ln => 1.0 / x,
        Unary::Square => 2.0 * x,
        Unary::Sqrt => 0.5 / y,
        Unary::Sigmoid => y * (1.0 - y),
        Unary::Silu => {
            let p = unary(Unary::Sigmoid, x);
            p + x * p * (1.0 - p)
        }
    }
}

/// Returns the derivative of [`unary`], computed from `at`: the result y for relu, tanh and sigmoid, else the argument x.
pub fn unary_slope_at(op: Unary, at: f64) -> f64 {
    match op {
        Unary::Relu => f64::from(u8::from(at > 0.0)),
        Unary::Tanh => 1.0 - at * at,
        Unary::Sigmoid => at * (1.0 - at),
        _ => unary_slope(op, at),
    }
}

/// Returns the value of a two-argument function at (a, b).
pub fn binary(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Min if a < b => a,
        Binary::Max if a > b => a,
        Binary::Min | Binary::Max => b,
        Binary::Greater => f64::from(u8::from(a > b)),
    }
}

/// Returns the element (r, c) of an operand that is broadcast according to `span`.
pub fn at(x: &[f64], span: Span, cols: usize, r: usize, c: usize) -> f64 {
    match span {
        Span::Full => x[r * cols + c],
        Span::Row => x[c],
        Span::Column => x[r],
        Span::Scalar => x[0],
    }
}

/// Computes `y[r][c]` = a (op) b with both operands broadcast to `[rows][cols]`.
pub fn binary_all(op: Binary, rows: usize, cols: usize, a: (&[f64], Span), b: (&[f64], Span), y: &mut [f64]) {
    for r in 0..rows {
        for c in 0..cols {
            y[r * cols + c] = binary(op, at(a.0, a.1, cols, r, c), at(b.0, b.1, cols, r, c));
        }
    }
}

/// Computes y = softmax of each row, or the logarithm of the softmax if `log` is true.
pub fn softmax(rows: usize, cols: usize, x: &[f64], y: &mut [f64], log: bool) {
    for r in 0..rows {
        let x = &x[r * cols..][..cols];
        let top = x.iter().fold(x[0], |m, &v| if v > m { v } else { m });
        let sum: f64 = x.iter().map(|v| (v - top).exp()).sum();
        for c in 0..cols {
            let shifted = x[c] - top;
            y[r * cols + c] = if log { shifted - sum.ln() } else { shifted.exp() / sum };
        }
    }
}

/// Computes dx of [`softmax`] from its output y.
pub fn softmax_backward(rows: usize, cols: usize, y: &[f64], dy: &[f64], dx: &mut [f64], log: bool) {
    for r in 0..rows {
        let (y, dy) = (&y[r * cols..][..cols], &dy[r * cols..][..cols]);
        let sum = (0..cols).fold(0.0, |s, c| s + if log { dy[c] } else { dy[c] * y[c] });
        for c in 0..cols {
            dx[r * cols + c] = if log { dy[c] - y[c].exp() * sum } else { y[c] * (dy[c] - sum) };
        }
    }
}

/// Returns the probabilities of one head of one sequence, `[len][len]`: for each query, the softmax of q·kᵀ/√size over the keys up to the
/// query's own position.
fn attention(len: usize, size: usize, q: impl Fn(usize, usize) -> f64, k: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut p = vec![0.0; len * len];
    for i in 0..len {
        let score = |j| (0..size).fold(0.0, |sum, c| sum + q(i, c) * k(j, c)) / (size as f64).sqrt();
        let scores: Vec<f64> = (0..=i).map(score).collect();
        softmax(1, i + 1, &scores, &mut p[i * len..][..i + 1], false);
    }
    p
}

/// Computes attention. A row of qkv is `q | k | v` with 3·cols columns, in which the columns of a head are adjacent. A sequence has `len`
/// rows.
pub fn causal_attention(heads: usize, len: usize, cols: usize, qkv: &[f64], y: &mut [f64]) {
    let (size, stride) = (cols / heads, 3 * cols);
    for (qkv, y) in qkv.chunks(len * stride).zip(y.chunks_mut(len * cols)) {
        for h in 0..heads {
            let at = |part: usize, i: usize, c: usize| qkv[i * stride + part * cols + h * size + c];
            let p = attention(len, size, |i, c| at(0, i, c), |i, c| at(1, i, c));
            for i in 0..len {
                for c in 0..size {
                    y[i * cols + h * size + c] = (0..=i).fold(0.0, |sum, j| sum + p[i * len + j] * at(2, j, c));
                }
            }
        }
    }
}

/// Computes dqkv of [`causal_attention`].
pub fn causal_attention_backward(heads: usize, len: usize, cols: usize, qkv: &[f64], dy: &[f64], dqkv: &mut [f64]) {
    let (size, stride) = (cols / heads, 3 * cols);
    let scale = 1.0 / (size as f64).sqrt();
    dqkv.fill(0.0);
    for ((qkv, dy), dqkv) in qkv.chunks(len * stride).zip(dy.chunks(len * cols)).zip(dqkv.chunks_mut(len * stride)) {
        for h in 0..heads {
            let place = |part: usize, i: usize, c: usize| i * stride + part * cols + h * size + c;
            let at = |part, i, c| qkv[place(part, i, c)];
            let p = attention(len, size, |i, c| at(0, i, c), |i, c| at(1, i, c));
            for i in 0..len {
                let dy = |c| dy[i * cols + h * size + c];
                let dp: Vec<f64> = (0..=i).map(|j| (0..size).fold(0.0, |sum, c| sum + dy(c) * at(2, j, c))).collect();
                let mean = (0..=i).fold(0.0, |sum, j| sum + p[i * len + j] * dp[j]);
                for j in 0..=i {
                    let ds = p[i * len + j] * (dp[j] - mean) * scale;
                    for c in 0..size {
                        let mut add = |part, row, x: f64| dqkv[place(part, row, c)] += x;
                        add(0, i, ds * at(1, j, c));
                        add(1, j, ds * at(0, i, c));
                        add(2, j, p[i * len + j] * dy(c));
                    }
                }
            }
        }
    }
}

/// Computes `y[r]` = bias + the sum of the table rows that the `k` indices of row r select. Indices below 0 are skipped; indices beyond the
/// table select its last row.
pub fn embedding_bag<T: Copy + Default + Add<Output = T>>(
    cols: usize,
    table: &[T],
    k: usize,
    index: &[f32],
    bias: Option<&[T]>,
    y: &mut [T],
) {
    for (index, y) in index.chunks(k).zip(y.chunks_mut(cols)) {
        for c in 0..cols {
            y[c] = bias.map_or(T::default(), |bias| bias[c]);
            for row in named(index, table.len() / cols) {
                y[c] = y[c] + table[row * cols + c];
            }
        }
    }
}

/// Adds row r of dy to the rows of `dtable` that the `k` indices of row r select.
pub fn embedding_bag_backward<T: Copy + Default + Add<Output = T>>(cols: usize, k: usize, index: &[f32], dy: &[T], dtable: &mut [T]) {
    let rows = dtable.len() / cols;
    for (index, dy) in index.chunks(k).zip(dy.chunks(cols)) {
        for row in named(index, rows) {
            for c in 0..cols {
                dtable[row * cols + c] = dtable[row * cols + c] + dy[c];
            }
        }
    }
}

fn named(index: &[f32], rows: usize) -> impl Iterator<Item = usize> {
    index.iter().filter(|i| **i >= 0.0).map(move |i| (*i as usize).min(rows - 1))
}

/// Returns (mean, 1/√(variance + eps)) of one row, where the variance is a mean over the whole row. If not `centred`, returns (0, 1/√(mean
/// square + eps)).
pub fn stats(x: &[f64], eps: f64, centred: bool) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = if centred { x.iter().sum::<f64>() / n } else { 0.0 };
    let var = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    (mean, 1.0 / (var + eps).sqrt())
}

/// Computes the layer norm of each row (Ba et al. 2016). Without a beta, computes the root mean square norm (Zhang and Sennrich 2019).
pub fn norm(rows: usize, cols: usize, x: &[f64], gamma: &[f64], beta: Option<&[f64]>, eps: f64, y: &mut [f64]) {
    for r in 0..rows {
        let (mean, rstd) = stats(&x[r * cols..][..cols], eps, beta.is_some());
        for c in 0..cols {
            y[r * cols + c] = (x[r * cols + c] - mean) * rstd * gamma[c] + beta.map_or(0.0, |beta| beta[c]);
        }
    }
}

/// Computes dx of [`norm`], and adds to dgamma and dbeta, which are sums over the rows.
pub fn norm_backward(
    rows: usize,
    cols: usize,
    x: &[f64],
    gamma: &[f64],
    eps: f64,
    dy: &[f64],
    dx: &mut [f64],
    dgamma: &mut [f64],
    mut dbeta: Option<&mut [f64]>,
) {
    let (n, centred) = (cols as f64, dbeta.is_some());
    for r in 0..rows {
        let (x, dy) = (&x[r * cols..][..cols], &dy[r * cols..][..cols]);
        let (mean, rstd) = stats(x, eps, centred);
        let hat = |c: usize| (x[c] - mean) * rstd;
        let (mut g_sum, mut gh_sum) = (0.0, 0.0);
        for c in 0..cols {
            let g = dy[c] * gamma[c];
            g_sum += if centred { g } else { 0.0 };
            gh_sum += g * hat(c);
            dgamma[c] += dy[c] * hat(c);
            if let Some(dbeta) = &mut dbeta {
                dbeta[c] += dy[c];
            }
        }
        for c in 0..cols {
            dx[r * cols + c] = rstd * (dy[c] * gamma[c] - g_sum / n - hat(c) * gh_sum / n);
        }
    }
}

/// Computes the cross-entropy of each row of the logits x·wᵀ. Also computes dx, and adds the gradient of w to dw. `upstream` holds the
/// gradient of the total loss with respect to each row's loss.
pub fn head_loss(
    [rows, vocab, inp]: [usize; 3],
    x: &[f64],
    w: &[f64],
    target: &[f32],
    upstream: &[f64],
    loss: &mut [f64],
    dx: &mut [f64],
    dw: &mut [f64],
) {
    let mut slopes = vec![0.0; vocab];
    for r in 0..rows {
        let x = &x[r * inp..][..inp];
        linear(1, vocab, inp, x, w, None, None, None, Act::None, &mut slopes);
        let (target, mut log_p) = ((target[r].max(0.0) as usize).min(vocab - 1), slopes.clone());
        softmax(1, vocab, &slopes, &mut log_p, true);
        loss[r] = -log_p[target];
        for v in 0..vocab {
            slopes[v] = upstream[r] * (log_p[v].exp() - f64::from(u8::from(v == target)));
            for c in 0..inp {
                dw[v * inp + c] += slopes[v] * x[c];
            }
        }
        matmul(1, inp, vocab, &slopes, (vocab, 1), w, (inp, 1), &mut dx[r * inp..][..inp], false);
    }
}

/// Returns the index of row r, feature c of a batch in `[batch/PANEL][feature][PANEL]`.
pub fn panel_index(cols: usize, r: usize, c: usize) -> usize {
    (r / crate::PANEL * cols + c) * crate::PANEL + r % crate::PANEL
}

/// Computes one Adam or AdamW step of one parameter (Kingma & Ba 2015; Loshchilov & Hutter 2019). Returns (param, m, v).
pub fn adam(param: f64, grad: f64, m: f64, v: f64, step: &crate::ops::AdamStep) -> (f64, f64, f64) {
    let of = |x: f32| f64::from(x);
    let grad = grad * of(step.grad_scale);
    let m = of(step.beta1) * m + (1.0 - of(step.beta1)) * grad;
    let v = of(step.beta2) * v + (1.0 - of(step.beta2)) * grad * grad;
    let hat = (m / of(step.correction1)) / ((v / of(step.correction2)).sqrt() + of(step.eps));
    (param - of(step.lr) * (hat + of(step.weight_decay) * param), m, v)
}
