//! The plain twin of every kernel: loops over indices, in f32 or f64, nothing clever. The tests hold the fast kernels to
//! these; nothing on a hot path calls them. Shapes are row-major `[rows][cols]`; weights are `[out][inp]`.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The two float types the twins are written over.
pub trait Real:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    fn of(x: f64) -> Self;
    fn f64(self) -> f64;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn tanh(self) -> Self;
    fn sqrt(self) -> Self;
}

macro_rules! real {
    ($($t:ty)*) => {$(
        impl Real for $t {
            fn of(x: f64) -> Self { x as $t }
            fn f64(self) -> f64 { self as f64 }
            fn exp(self) -> Self { self.exp() }
            fn ln(self) -> Self { self.ln() }
            fn tanh(self) -> Self { self.tanh() }
            fn sqrt(self) -> Self { self.sqrt() }
        }
    )*};
}
real!(f32 f64);

use crate::gemm::Act;
use crate::ops::{Binary, Span, Unary};

/// c[m][n] (+)= Σ_k a[m·rs + k·ks] · b[k·rs + n·cs].
pub fn matmul<T: Real>(
    m: usize,
    n: usize,
    k: usize,
    a: &[T],
    (a_rs, a_ks): (usize, usize),
    b: &[T],
    (b_ks, b_cs): (usize, usize),
    c: &mut [T],
    accumulate: bool,
) {
    for i in 0..m {
        for j in 0..n {
            let mut sum = if accumulate { c[i * n + j] } else { T::of(0.0) };
            for p in 0..k {
                sum = sum + a[i * a_rs + p * a_ks] * b[p * b_ks + j * b_cs];
            }
            c[i * n + j] = sum;
        }
    }
}

/// y[rows][out] = act(norm(x · Wᵀ + bias) + residual); `norm` is (gamma, beta, eps).
pub fn linear<T: Real>(
    rows: usize,
    out: usize,
    inp: usize,
    x: &[T],
    w: &[T],
    bias: Option<&[T]>,
    norm: Option<(&[T], &[T], f64)>,
    residual: Option<&[T]>,
    act: Act,
    y: &mut [T],
) {
    matmul(rows, out, inp, x, (inp, 1), w, (1, inp), y, false);
    if let Some(bias) = bias {
        for i in 0..rows * out {
            y[i] = y[i] + bias[i % out];
        }
    }
    if let Some((gamma, beta, eps)) = norm {
        let pre = y.to_vec();
        layer_norm(rows, out, &pre, gamma, beta, eps, y);
    }
    for i in 0..rows * out {
        let sum = residual.map_or(y[i], |r| y[i] + r[i]);
        y[i] = act.unary().map_or(sum, |op| unary(op, sum));
    }
}

/// One elementwise function.
pub fn unary<T: Real>(op: Unary, x: T) -> T {
    let (zero, one, half) = (T::of(0.0), T::of(1.0), T::of(0.5));
    match op {
        Unary::Relu => {
            if zero > x {
                zero
            } else {
                x
            }
        }
        Unary::Tanh => x.tanh(),
        Unary::Gelu => half * x * (one + gelu_inner(x).tanh()),
        Unary::Exp => x.exp(),
        Unary::Ln => x.ln(),
        Unary::Square => x * x,
        Unary::Sqrt => x.sqrt(),
        Unary::Sigmoid => one / (one + (-x).exp()),
        Unary::Silu => x / (one + (-x).exp()),
    }
}

const GELU_ROOT: f64 = 0.797_884_560_802_865_4; // sqrt(2/π)
const GELU_CUBE: f64 = 0.044_715;

fn gelu_inner<T: Real>(x: T) -> T {
    T::of(GELU_ROOT) * (x + T::of(GELU_CUBE) * x * x * x)
}

/// The derivative of [`unary`] at x.
pub fn unary_slope<T: Real>(op: Unary, x: T) -> T {
    let (zero, one, two, half) = (T::of(0.0), T::of(1.0), T::of(2.0), T::of(0.5));
    match op {
        Unary::Relu => {
            if x > zero {
                one
            } else {
                zero
            }
        }
        Unary::Tanh => one - x.tanh() * x.tanh(),
        Unary::Gelu => {
            let t = gelu_inner(x).tanh();
            let inner = T::of(GELU_ROOT) * (one + T::of(3.0 * GELU_CUBE) * x * x);
            half * (one + t) + half * x * (one - t * t) * inner
        }
        Unary::Exp => x.exp(),
        Unary::Ln => one / x,
        Unary::Square => two * x,
        Unary::Sqrt => half / x.sqrt(),
        Unary::Sigmoid => {
            let y = unary(Unary::Sigmoid, x);
            y * (one - y)
        }
        Unary::Silu => {
            let p = unary(Unary::Sigmoid, x);
            p + x * p * (one - p)
        }
    }
}

/// One two-argument function.
pub fn binary<T: Real>(op: Binary, a: T, b: T) -> T {
    let truth = |yes: bool| T::of(f64::from(u8::from(yes)));
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        Binary::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
        Binary::Greater => truth(a > b),
    }
}

/// Element (r, c) of an operand that is broadcast as `span` says.
pub fn at<T: Copy>(x: &[T], span: Span, cols: usize, r: usize, c: usize) -> T {
    match span {
        Span::Full => x[r * cols + c],
        Span::Row => x[c],
        Span::Column => x[r],
        Span::Scalar => x[0],
    }
}

/// y[r][c] = a (op) b with both operands broadcast to [rows][cols].
pub fn binary_all<T: Real>(op: Binary, rows: usize, cols: usize, a: (&[T], Span), b: (&[T], Span), y: &mut [T]) {
    for r in 0..rows {
        for c in 0..cols {
            y[r * cols + c] = binary(op, at(a.0, a.1, cols, r, c), at(b.0, b.1, cols, r, c));
        }
    }
}

/// y = softmax of each row; with `log`, its logarithm.
pub fn softmax<T: Real>(rows: usize, cols: usize, x: &[T], y: &mut [T], log: bool) {
    for r in 0..rows {
        let x = &x[r * cols..][..cols];
        let top = x.iter().fold(x[0], |m, &v| if v > m { v } else { m });
        let sum = x.iter().fold(T::of(0.0), |s, &v| s + (v - top).exp());
        for c in 0..cols {
            let shifted = x[c] - top;
            y[r * cols + c] = if log { shifted - sum.ln() } else { shifted.exp() / sum };
        }
    }
}

/// dx of softmax (y its output) or, with `log`, of log-softmax.
pub fn softmax_backward<T: Real>(rows: usize, cols: usize, y: &[T], dy: &[T], dx: &mut [T], log: bool) {
    for r in 0..rows {
        let (y, dy) = (&y[r * cols..][..cols], &dy[r * cols..][..cols]);
        let sum = (0..cols).fold(T::of(0.0), |s, c| s + if log { dy[c] } else { dy[c] * y[c] });
        for c in 0..cols {
            dx[r * cols + c] = if log { dy[c] - y[c].exp() * sum } else { y[c] * (dy[c] - sum) };
        }
    }
}

/// Probabilities of one head of one sequence, `[len][len]`: the softmax of q·kᵀ/√size over the keys up to each query's own.
fn attention<T: Real>(len: usize, size: usize, q: impl Fn(usize, usize) -> T, k: impl Fn(usize, usize) -> T) -> Vec<T> {
    let mut p = vec![T::of(0.0); len * len];
    for i in 0..len {
        let score = |j| (0..size).fold(T::of(0.0), |sum, c| sum + q(i, c) * k(j, c)) / T::of(size as f64).sqrt();
        let scores: Vec<T> = (0..=i).map(score).collect();
        softmax(1, i + 1, &scores, &mut p[i * len..][..i + 1], false);
    }
    p
}

/// Attention of rows `q | k | v` of `3·cols`, `len` rows a sequence, the columns of a head together.
pub fn causal_attention<T: Real>(heads: usize, len: usize, cols: usize, qkv: &[T], y: &mut [T]) {
    let (size, stride) = (cols / heads, 3 * cols);
    for (qkv, y) in qkv.chunks(len * stride).zip(y.chunks_mut(len * cols)) {
        for h in 0..heads {
            let at = |part: usize, i: usize, c: usize| qkv[i * stride + part * cols + h * size + c];
            let p = attention(len, size, |i, c| at(0, i, c), |i, c| at(1, i, c));
            for i in 0..len {
                for c in 0..size {
                    y[i * cols + h * size + c] = (0..=i).fold(T::of(0.0), |sum, j| sum + p[i * len + j] * at(2, j, c));
                }
            }
        }
    }
}

/// dqkv of [`causal_attention`].
pub fn causal_attention_backward<T: Real>(heads: usize, len: usize, cols: usize, qkv: &[T], dy: &[T], dqkv: &mut [T]) {
    let (size, stride) = (cols / heads, 3 * cols);
    let scale = T::of(1.0) / T::of(size as f64).sqrt();
    dqkv.fill(T::of(0.0));
    for ((qkv, dy), dqkv) in qkv.chunks(len * stride).zip(dy.chunks(len * cols)).zip(dqkv.chunks_mut(len * stride)) {
        for h in 0..heads {
            let place = |part: usize, i: usize, c: usize| i * stride + part * cols + h * size + c;
            let at = |part, i, c| qkv[place(part, i, c)];
            let p = attention(len, size, |i, c| at(0, i, c), |i, c| at(1, i, c));
            for i in 0..len {
                let dy = |c| dy[i * cols + h * size + c];
                let dp: Vec<T> = (0..=i).map(|j| (0..size).fold(T::of(0.0), |sum, c| sum + dy(c) * at(2, j, c))).collect();
                let mean = (0..=i).fold(T::of(0.0), |sum, j| sum + p[i * len + j] * dp[j]);
                for j in 0..=i {
                    let ds = p[i * len + j] * (dp[j] - mean) * scale;
                    for c in 0..size {
                        let mut add = |part, row, x: T| dqkv[place(part, row, c)] = dqkv[place(part, row, c)] + x;
                        add(0, i, ds * at(1, j, c));
                        add(1, j, ds * at(0, i, c));
                        add(2, j, p[i * len + j] * dy(c));
                    }
                }
            }
        }
    }
}

/// y[r] = bias + the sum of the rows of a table that r's `k` indices name: none below 0, the last beyond it.
pub fn embedding_bag<T: Real>(cols: usize, table: &[T], k: usize, index: &[f32], bias: Option<&[T]>, y: &mut [T]) {
    for (index, y) in index.chunks(k).zip(y.chunks_mut(cols)) {
        for c in 0..cols {
            y[c] = bias.map_or(T::of(0.0), |bias| bias[c]);
            for row in named(index, table.len() / cols) {
                y[c] = y[c] + table[row * cols + c];
            }
        }
    }
}

/// The sums over rows of dy for each row of the table that they name, added to what `dtable` holds.
pub fn embedding_bag_backward<T: Real>(cols: usize, k: usize, index: &[f32], dy: &[T], dtable: &mut [T]) {
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

/// (mean, 1/std) of one row, the variance biased as in layer norm.
pub fn stats<T: Real>(x: &[T], eps: f64) -> (T, T) {
    let n = T::of(x.len() as f64);
    let mean = x.iter().fold(T::of(0.0), |s, &v| s + v) / n;
    let var = x.iter().fold(T::of(0.0), |s, &v| s + (v - mean) * (v - mean)) / n;
    (mean, T::of(1.0) / (var + T::of(eps)).sqrt())
}

/// Layer norm of each row (Ba et al. 2016).
pub fn layer_norm<T: Real>(rows: usize, cols: usize, x: &[T], gamma: &[T], beta: &[T], eps: f64, y: &mut [T]) {
    for r in 0..rows {
        let (mean, rstd) = stats(&x[r * cols..][..cols], eps);
        for c in 0..cols {
            y[r * cols + c] = (x[r * cols + c] - mean) * rstd * gamma[c] + beta[c];
        }
    }
}

/// dx, and the sums over rows dgamma and dbeta (added to what they hold).
pub fn layer_norm_backward<T: Real>(
    rows: usize,
    cols: usize,
    x: &[T],
    gamma: &[T],
    eps: f64,
    dy: &[T],
    dx: &mut [T],
    dgamma: &mut [T],
    dbeta: &mut [T],
) {
    let n = T::of(cols as f64);
    for r in 0..rows {
        let (x, dy) = (&x[r * cols..][..cols], &dy[r * cols..][..cols]);
        let (mean, rstd) = stats(x, eps);
        let hat = |c: usize| (x[c] - mean) * rstd;
        let (mut g_sum, mut gh_sum) = (T::of(0.0), T::of(0.0));
        for c in 0..cols {
            let g = dy[c] * gamma[c];
            g_sum = g_sum + g;
            gh_sum = gh_sum + g * hat(c);
            dgamma[c] = dgamma[c] + dy[c] * hat(c);
            dbeta[c] = dbeta[c] + dy[c];
        }
        for c in 0..cols {
            dx[r * cols + c] = rstd * (dy[c] * gamma[c] - g_sum / n - hat(c) * gh_sum / n);
        }
    }
}

/// Root mean square norm of each row (Zhang and Sennrich 2019).
pub fn rms_norm<T: Real>(rows: usize, cols: usize, x: &[T], gamma: &[T], eps: f64, y: &mut [T]) {
    for r in 0..rows {
        let scale = rms(&x[r * cols..][..cols], eps);
        for c in 0..cols {
            y[r * cols + c] = x[r * cols + c] * scale * gamma[c];
        }
    }
}

/// 1/√(mean of x² + eps)
pub fn rms<T: Real>(x: &[T], eps: f64) -> T {
    let mean = x.iter().fold(T::of(0.0), |s, &v| s + v * v) / T::of(x.len() as f64);
    T::of(1.0) / (mean + T::of(eps)).sqrt()
}

/// dx, and the sums over rows dgamma (added to what it holds).
pub fn rms_norm_backward<T: Real>(rows: usize, cols: usize, x: &[T], gamma: &[T], eps: f64, dy: &[T], dx: &mut [T], dgamma: &mut [T]) {
    for r in 0..rows {
        let (x, dy) = (&x[r * cols..][..cols], &dy[r * cols..][..cols]);
        let scale = rms(x, eps);
        let sum = (0..cols).fold(T::of(0.0), |s, c| s + dy[c] * gamma[c] * x[c]);
        for c in 0..cols {
            dgamma[c] = dgamma[c] + dy[c] * x[c] * scale;
            let along = x[c] * sum * scale * scale / T::of(cols as f64);
            dx[r * cols + c] = scale * (dy[c] * gamma[c] - along);
        }
    }
}

/// The loss of each row of `logits` = x·wᵀ, and with the upstream gradient of each loss dx and dw (added to what it holds).
pub fn head_loss<T: Real>(
    [rows, vocab, inp]: [usize; 3],
    x: &[T],
    w: &[T],
    target: &[f32],
    upstream: &[T],
    loss: &mut [T],
    dx: &mut [T],
    dw: &mut [T],
) {
    let mut slopes = vec![T::of(0.0); vocab];
    for r in 0..rows {
        let x = &x[r * inp..][..inp];
        linear(1, vocab, inp, x, w, None, None, None, Act::None, &mut slopes);
        let (target, mut log_p) = ((target[r].max(0.0) as usize).min(vocab - 1), slopes.clone());
        softmax(1, vocab, &slopes, &mut log_p, true);
        loss[r] = -log_p[target];
        for v in 0..vocab {
            slopes[v] = upstream[r] * (log_p[v].exp() - T::of(f64::from(u8::from(v == target))));
            for c in 0..inp {
                dw[v * inp + c] = dw[v * inp + c] + slopes[v] * x[c];
            }
        }
        matmul(1, inp, vocab, &slopes, (vocab, 1), w, (inp, 1), &mut dx[r * inp..][..inp], false);
    }
}

/// Row r, feature c of a batch of rows → its place in `[batch/PANEL][feature][PANEL]`.
pub fn panel_index(cols: usize, r: usize, c: usize) -> usize {
    (r / crate::PANEL * cols + c) * crate::PANEL + r % crate::PANEL
}

/// One Adam/AdamW step of one parameter (Kingma & Ba 2015; Loshchilov & Hutter 2019): returns (param, m, v).
pub fn adam<T: Real>(param: T, grad: T, m: T, v: T, step: &crate::ops::AdamStep) -> (T, T, T) {
    let of = |x: f32| T::of(f64::from(x));
    let one = T::of(1.0);
    let grad = grad * of(step.grad_scale);
    let m = of(step.beta1) * m + (one - of(step.beta1)) * grad;
    let v = of(step.beta2) * v + (one - of(step.beta2)) * grad * grad;
    let hat = (m / of(step.correction1)) / ((v / of(step.correction2)).sqrt() + of(step.eps));
    (param - of(step.lr) * (hat + of(step.weight_decay) * param), m, v)
}
