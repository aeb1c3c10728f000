//! Everything that is not a matrix product: elementwise functions and their slopes, broadcasting, reductions, softmax, layer
//! norm, gathers, layouts and the optimiser's pass. Each works on flat slices of known shape and allocates nothing.

use crate::PANEL;
use crate::isa::Isa;
use crate::reference;

/// Functions of one argument. Gelu is the tanh form (Hendrycks and Gimpel 2016).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Neg,
    Abs,
    Relu,
    Tanh,
    Gelu,
    Exp,
    Ln,
    Square,
    Sqrt,
    Sigmoid,
    Recip,
}

impl Unary {
    pub const ALL: [Unary; 11] = [
        Unary::Neg,
        Unary::Abs,
        Unary::Relu,
        Unary::Tanh,
        Unary::Gelu,
        Unary::Exp,
        Unary::Ln,
        Unary::Square,
        Unary::Sqrt,
        Unary::Sigmoid,
        Unary::Recip,
    ];
}

/// Functions of two arguments. Min and Max give b where one is NaN; Greater and Less give 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Greater,
    Less,
}

impl Binary {
    pub const ALL: [Binary; 8] = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Div,
        Binary::Min,
        Binary::Max,
        Binary::Greater,
        Binary::Less,
    ];
}

/// How an operand covers `[rows][cols]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Span {
    /// `[rows][cols]`
    Full,
    /// `[cols]`, the same for every row.
    Row,
    /// `[rows]`, the same for every column.
    Column,
    /// One number.
    Scalar,
}

/// y = op(x)
pub fn unary(_isa: Isa, op: Unary, x: &[f32], y: &mut [f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = reference::unary(op, x);
    }
}

/// y = op(y)
pub fn unary_in_place(_isa: Isa, op: Unary, y: &mut [f32]) {
    for y in y {
        *y = reference::unary(op, *y);
    }
}

/// dx (+)= dy · op'(x). Both x and y = op(x) are given; each function reads what it needs.
pub fn unary_backward(_isa: Isa, op: Unary, x: &[f32], _y: &[f32], dy: &[f32], dx: &mut [f32], accumulate: bool) {
    for i in 0..dx.len() {
        let d = dy[i] * reference::unary_slope(op, x[i]);
        dx[i] = if accumulate { dx[i] + d } else { d };
    }
}

/// y[rows][cols] = a (op) b, either of which may be broadcast.
pub fn binary(
    _isa: Isa,
    op: Binary,
    rows: usize,
    cols: usize,
    a: (&[f32], Span),
    b: (&[f32], Span),
    y: &mut [f32],
) {
    reference::binary_all(op, rows, cols, a, b, y);
}

/// y = y (op) b, b broadcast to [rows][cols].
pub fn binary_in_place(_isa: Isa, op: Binary, rows: usize, cols: usize, y: &mut [f32], b: (&[f32], Span)) {
    for r in 0..rows {
        for c in 0..cols {
            let at = reference::at(b.0, b.1, cols, r, c);
            y[r * cols + c] = reference::binary(op, y[r * cols + c], at);
        }
    }
}

/// y = scale·x + shift
pub fn affine(_isa: Isa, scale: f32, shift: f32, x: &[f32], y: &mut [f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = scale * x + shift;
    }
}

/// y += scale·x
pub fn add_scaled(_isa: Isa, scale: f32, x: &[f32], y: &mut [f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

/// y = x held between lo and hi.
pub fn clamp(_isa: Isa, lo: f32, hi: f32, x: &[f32], y: &mut [f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = reference::binary(Binary::Min, reference::binary(Binary::Max, x, lo), hi);
    }
}

/// dx (+)= dy where lo <= x <= hi, else 0.
pub fn clamp_backward(_isa: Isa, lo: f32, hi: f32, x: &[f32], dy: &[f32], dx: &mut [f32], accumulate: bool) {
    for i in 0..dx.len() {
        let d = if lo <= x[i] && x[i] <= hi { dy[i] } else { 0.0 };
        dx[i] = if accumulate { dx[i] + d } else { d };
    }
}

/// Σ x
pub fn sum(_isa: Isa, x: &[f32]) -> f32 {
    x.iter().sum()
}

/// Σ x²
pub fn sum_of_squares(_isa: Isa, x: &[f32]) -> f32 {
    x.iter().map(|x| x * x).sum()
}

/// Σ a·b
pub fn dot(_isa: Isa, a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// y[r] (+)= Σ_c x[r][c]
pub fn sum_rows(_isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32], accumulate: bool) {
    for r in 0..rows {
        let sum: f32 = x[r * cols..][..cols].iter().sum();
        y[r] = if accumulate { y[r] + sum } else { sum };
    }
}

/// y[c] (+)= Σ_r x[r][c]
pub fn sum_cols(_isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32], accumulate: bool) {
    for c in 0..cols {
        let sum: f32 = (0..rows).map(|r| x[r * cols + c]).sum();
        y[c] = if accumulate { y[c] + sum } else { sum };
    }
}

/// y = softmax of each row.
pub fn softmax(_isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    reference::softmax(rows, cols, x, y, false);
}

/// y = log softmax of each row.
pub fn log_softmax(_isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    reference::softmax(rows, cols, x, y, true);
}

/// dx (+)= y·(dy - Σ dy·y), y the softmax.
pub fn softmax_backward(
    _isa: Isa,
    rows: usize,
    cols: usize,
    y: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    accumulate: bool,
) {
    backward_rows(rows, cols, y, dy, dx, accumulate, false);
}

/// dx (+)= dy - eʸ·Σ dy, y the log softmax.
pub fn log_softmax_backward(
    _isa: Isa,
    rows: usize,
    cols: usize,
    y: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    accumulate: bool,
) {
    backward_rows(rows, cols, y, dy, dx, accumulate, true);
}

fn backward_rows(rows: usize, cols: usize, y: &[f32], dy: &[f32], dx: &mut [f32], accumulate: bool, log: bool) {
    let mut d = vec![0.0; rows * cols];
    reference::softmax_backward(rows, cols, y, dy, &mut d, log);
    for i in 0..rows * cols {
        dx[i] = if accumulate { dx[i] + d[i] } else { d[i] };
    }
}

/// [`softmax`] of a batch in panels.
pub fn softmax_panels(isa: Isa, batch: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    panels(isa, batch, cols, x, y, |x, y| reference::softmax(batch, cols, x, y, false));
}

/// [`log_softmax`] of a batch in panels.
pub fn log_softmax_panels(isa: Isa, batch: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    panels(isa, batch, cols, x, y, |x, y| reference::softmax(batch, cols, x, y, true));
}

/// y = (x - mean)/sqrt(var + eps)·gamma + beta of each row (Ba et al. 2016); `stats` takes `[rows][2]`, mean and 1/std.
pub fn layer_norm(
    _isa: Isa,
    rows: usize,
    cols: usize,
    x: &[f32],
    gamma: &[f32],
    beta: &[f32],
    eps: f32,
    y: &mut [f32],
    stats: Option<&mut [f32]>,
) {
    reference::layer_norm(rows, cols, x, gamma, beta, f64::from(eps), y);
    if let Some(save) = stats {
        for r in 0..rows {
            let (mean, rstd) = reference::stats(&x[r * cols..][..cols], f64::from(eps));
            save[2 * r] = mean;
            save[2 * r + 1] = rstd;
        }
    }
}

/// dx (+)=, dgamma += and dbeta += of [`layer_norm`], from its input x and its `stats`.
pub fn layer_norm_backward(
    _isa: Isa,
    rows: usize,
    cols: usize,
    x: &[f32],
    gamma: &[f32],
    stats: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    dgamma: &mut [f32],
    dbeta: &mut [f32],
    accumulate: bool,
) {
    for r in 0..rows {
        let (x, dy) = (&x[r * cols..][..cols], &dy[r * cols..][..cols]);
        let (mean, rstd) = (stats[2 * r], stats[2 * r + 1]);
        let hat = |c: usize| (x[c] - mean) * rstd;
        let g: f32 = (0..cols).map(|c| dy[c] * gamma[c]).sum::<f32>() / cols as f32;
        let gh: f32 = (0..cols).map(|c| dy[c] * gamma[c] * hat(c)).sum::<f32>() / cols as f32;
        for c in 0..cols {
            dgamma[c] += dy[c] * hat(c);
            dbeta[c] += dy[c];
            let d = rstd * (dy[c] * gamma[c] - g - hat(c) * gh);
            let dx = &mut dx[r * cols + c];
            *dx = if accumulate { *dx + d } else { d };
        }
    }
}

/// [`layer_norm`] of a batch in panels; `stats` takes `[batch, rounded up to whole panels][2]`.
pub fn layer_norm_panels(
    isa: Isa,
    batch: usize,
    cols: usize,
    x: &[f32],
    gamma: &[f32],
    beta: &[f32],
    eps: f32,
    y: &mut [f32],
    stats: Option<&mut [f32]>,
) {
    let rows = batch.div_ceil(PANEL) * PANEL;
    panels(isa, rows, cols, x, y, |x, y| layer_norm(isa, rows, cols, x, gamma, beta, eps, y, stats));
}

fn panels(isa: Isa, batch: usize, cols: usize, x: &[f32], y: &mut [f32], f: impl FnOnce(&[f32], &mut [f32])) {
    let (mut x_rows, mut y_rows) = (vec![0.0; batch * cols], vec![0.0; batch * cols]);
    panels_to_rows(isa, batch, cols, x, &mut x_rows);
    f(&x_rows, &mut y_rows);
    rows_to_panels(isa, batch, cols, &y_rows, y);
}

/// The row of a table that an index names. Indices travel as whole f32 numbers, as every tensor does; one outside the table
/// means its nearest row.
fn clamp_index(index: f32, rows: usize) -> usize {
    (index as usize).min(rows - 1)
}

/// y[i] = table[index[i]], table `[·][cols]`.
pub fn gather_rows(_isa: Isa, cols: usize, table: &[f32], index: &[f32], y: &mut [f32]) {
    for (&index, y) in index.iter().zip(y.chunks_exact_mut(cols)) {
        y.copy_from_slice(&table[clamp_index(index, table.len() / cols) * cols..][..cols]);
    }
}

/// dtable[index[i]] += dy[i], in the order of i.
pub fn scatter_add_rows(_isa: Isa, cols: usize, dy: &[f32], index: &[f32], dtable: &mut [f32]) {
    let rows = dtable.len() / cols;
    for (&index, dy) in index.iter().zip(dy.chunks_exact(cols)) {
        let row = &mut dtable[clamp_index(index, rows) * cols..][..cols];
        row.iter_mut().zip(dy).for_each(|(t, d)| *t += d);
    }
}

/// y[r] = x[r][index[r]]
pub fn take_columns(_isa: Isa, rows: usize, cols: usize, x: &[f32], index: &[f32], y: &mut [f32]) {
    for r in 0..rows {
        y[r] = x[r * cols + clamp_index(index[r], cols)];
    }
}

/// dx[r][index[r]] (+)= dy[r]; the other columns are 0 (or kept, when accumulating).
pub fn take_columns_backward(
    _isa: Isa,
    rows: usize,
    cols: usize,
    dy: &[f32],
    index: &[f32],
    dx: &mut [f32],
    accumulate: bool,
) {
    if !accumulate {
        dx[..rows * cols].fill(0.0);
    }
    for r in 0..rows {
        dx[r * cols + clamp_index(index[r], cols)] += dy[r];
    }
}

/// `[rows][cols]` → `[rows/PANEL][cols][PANEL]`; the last panel's missing rows are 0.
pub fn rows_to_panels(_isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    y[..crate::panels_len(rows, cols)].fill(0.0);
    for r in 0..rows {
        for c in 0..cols {
            y[reference::panel_index(cols, r, c)] = x[r * cols + c];
        }
    }
}

/// `[rows/PANEL][cols][PANEL]` → `[rows][cols]`.
pub fn panels_to_rows(_isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    for r in 0..rows {
        for c in 0..cols {
            y[r * cols + c] = x[reference::panel_index(cols, r, c)];
        }
    }
}

/// The numbers of one Adam or AdamW step, the same for every parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    pub lr: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub eps: f32,
    /// Decoupled, as in AdamW.
    pub weight_decay: f32,
    /// Multiplies every gradient: the global-norm clip, or 1/batch.
    pub grad_scale: f32,
    /// 1 - beta1ᵗ
    pub correction1: f32,
    /// 1 - beta2ᵗ
    pub correction2: f32,
}

impl AdamStep {
    /// The t-th step (t counts from 1), with no weight decay and gradients as they are.
    pub fn new(t: u64, lr: f32, beta1: f32, beta2: f32, eps: f32) -> AdamStep {
        AdamStep {
            lr,
            beta1,
            beta2,
            eps,
            weight_decay: 0.0,
            grad_scale: 1.0,
            correction1: (1.0 - power(f64::from(beta1), t)) as f32,
            correction2: (1.0 - power(f64::from(beta2), t)) as f32,
        }
    }
}

/// xᵗ by squaring: the same bits everywhere, which `powi` does not promise.
fn power(mut x: f64, mut t: u64) -> f64 {
    let mut y = 1.0;
    while t > 0 {
        if t & 1 == 1 {
            y *= x;
        }
        x *= x;
        t >>= 1;
    }
    y
}

/// One Adam/AdamW step over equally long slices.
pub fn adam(_isa: Isa, params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], step: &AdamStep) {
    for i in 0..params.len() {
        (params[i], m[i], v[i]) = reference::adam(params[i], grads[i], m[i], v[i], step);
    }
}
