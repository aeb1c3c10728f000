//! Matrix products.

use crate::isa::Isa;
use crate::ops::Unary;
use crate::reference;

/// Rows of a batch that one panel holds.
pub const PANEL: usize = 32;

/// The function at the end of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Act {
    #[default]
    None,
    Relu,
    Tanh,
    Gelu,
}

impl Act {
    pub fn unary(self) -> Option<Unary> {
        match self {
            Act::None => None,
            Act::Relu => Some(Unary::Relu),
            Act::Tanh => Some(Unary::Tanh),
            Act::Gelu => Some(Unary::Gelu),
        }
    }
}

/// Layer norm over the features of each row.
pub struct Norm<'a> {
    pub gamma: &'a [f32],
    pub beta: &'a [f32],
    pub eps: f32,
    /// What went into the norm, in the layout of the output: the backward pass needs it.
    pub save_pre: Option<&'a mut [f32]>,
    /// `[rows][2]`: mean and 1/std of each row.
    pub save_stats: Option<&'a mut [f32]>,
}

/// What happens to a product before it is stored: act(norm(product + bias) + residual).
#[derive(Default)]
pub struct Epilogue<'a> {
    /// `[out]`
    pub bias: Option<&'a [f32]>,
    pub norm: Option<Norm<'a>>,
    /// In the layout of the output.
    pub residual: Option<&'a [f32]>,
    pub act: Act,
}

pub fn packed_rows_len(out: usize, inp: usize) -> usize {
    out.div_ceil(PANEL) * PANEL * inp
}

pub fn packed_rows_t_len(out: usize, inp: usize) -> usize {
    inp.div_ceil(PANEL) * PANEL * out
}

pub fn packed_panels_len(out: usize, inp: usize) -> usize {
    out * inp
}

/// W for [`linear_rows`].
pub fn pack_rows(_isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    dst[..out * inp].copy_from_slice(&w[..out * inp]);
}

/// W for [`linear_rows_dx`].
pub fn pack_rows_t(_isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    dst[..out * inp].copy_from_slice(&w[..out * inp]);
}

/// W for [`linear_panels`].
pub fn pack_panels(_isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    dst[..out * inp].copy_from_slice(&w[..out * inp]);
}

/// y[rows][out] = epilogue(x[rows][inp] · Wᵀ).
pub fn linear_rows(
    _isa: Isa,
    rows: usize,
    out: usize,
    inp: usize,
    x: &[f32],
    packed: &[f32],
    y: &mut [f32],
    ep: Epilogue,
) {
    reference::matmul(rows, out, inp, x, (inp, 1), packed, (1, inp), y, false);
    for r in 0..rows {
        let y = &mut y[r * out..][..out];
        if let Some(bias) = ep.bias {
            (0..out).for_each(|c| y[c] += bias[c]);
        }
    }
    if let Some(norm) = ep.norm {
        let pre = y[..rows * out].to_vec();
        reference::layer_norm(rows, out, &pre, norm.gamma, norm.beta, f64::from(norm.eps), y);
        if let Some(save) = norm.save_stats {
            for r in 0..rows {
                let (mean, rstd) = reference::stats(&pre[r * out..][..out], f64::from(norm.eps));
                save[2 * r] = mean;
                save[2 * r + 1] = rstd;
            }
        }
        if let Some(save) = norm.save_pre {
            save[..rows * out].copy_from_slice(&pre);
        }
    }
    for i in 0..rows * out {
        let sum = ep.residual.map_or(y[i], |r| y[i] + r[i]);
        y[i] = ep.act.unary().map_or(sum, |op| reference::unary(op, sum));
    }
}

/// dx[rows][inp] (+)= dy[rows][out] · W.
pub fn linear_rows_dx(
    _isa: Isa,
    rows: usize,
    out: usize,
    inp: usize,
    dy: &[f32],
    packed_t: &[f32],
    dx: &mut [f32],
    accumulate: bool,
) {
    reference::matmul(rows, inp, out, dy, (out, 1), packed_t, (inp, 1), dx, accumulate);
}

/// dw[out][inp] (+)= dyᵀ · x.
pub fn linear_rows_dw(
    _isa: Isa,
    rows: usize,
    out: usize,
    inp: usize,
    dy: &[f32],
    x: &[f32],
    dw: &mut [f32],
    accumulate: bool,
) {
    reference::matmul(out, inp, rows, dy, (1, out), x, (inp, 1), dw, accumulate);
}

/// [`linear_rows`] for a batch in panels: x is `[batch/PANEL][inp][PANEL]`, y `[batch/PANEL][out][PANEL]`.
pub fn linear_panels(
    isa: Isa,
    batch: usize,
    out: usize,
    inp: usize,
    x: &[f32],
    packed: &[f32],
    y: &mut [f32],
    ep: Epilogue,
) {
    let rows = batch.div_ceil(PANEL) * PANEL;
    let (mut x_rows, mut y_rows) = (vec![0.0; rows * inp], vec![0.0; rows * out]);
    let (mut pre_rows, mut residual_rows) = (y_rows.clone(), y_rows.clone());
    crate::ops::panels_to_rows(isa, rows, inp, x, &mut x_rows);
    if let Some(r) = ep.residual {
        crate::ops::panels_to_rows(isa, rows, out, r, &mut residual_rows);
    }
    let mut save = None;
    let norm = ep.norm.map(|norm| {
        save = norm.save_pre;
        Norm {
            gamma: norm.gamma,
            beta: norm.beta,
            eps: norm.eps,
            save_pre: Some(&mut pre_rows),
            save_stats: norm.save_stats,
        }
    });
    let inner = Epilogue { bias: ep.bias, norm, residual: ep.residual.map(|_| &residual_rows[..]), act: ep.act };
    linear_rows(isa, rows, out, inp, &x_rows, packed, &mut y_rows, inner);
    crate::ops::rows_to_panels(isa, rows, out, &y_rows, y);
    if let Some(save) = save {
        crate::ops::rows_to_panels(isa, rows, out, &pre_rows, save);
    }
}

/// c[m][n] (+)= Σ_k a[m·rs + k·ks] · b[k·rs + n·cs], strides given as (per row, per column) of each operand: a transposed
/// operand has its strides swapped. Nothing is packed beforehand.
pub fn matmul(
    _isa: Isa,
    m: usize,
    n: usize,
    k: usize,
    a: &[f32],
    a_strides: (usize, usize),
    b: &[f32],
    b_strides: (usize, usize),
    c: &mut [f32],
    accumulate: bool,
) {
    reference::matmul(m, n, k, a, a_strides, b, b_strides, c, accumulate);
}
