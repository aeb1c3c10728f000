//! What a product computes and where its factors lie.

use math::{Act, Unary};

/// Where a factor lies in `mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub at: u32,
    /// From one row of a, or one column of b, to the next.
    pub outer: u32,
    /// From one k to the next.
    pub inner: u32,
}

impl Side {
    pub fn new(at: u32, outer: usize, inner: usize) -> Side {
        Side { at, outer: outer as u32, inner: inner as u32 }
    }
}

/// c `[m][n]` = act(Σ_k a`[m][k]`·b`[k][n]` + bias`[n]` + residual`[m][n]`), added to what is there where it `adds`. The last three
/// are for gradients.
#[derive(Clone, Debug)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Side,
    pub b: Side,
    /// Row-major. Neither factor may lie here; the residual may.
    pub c: u32,
    pub bias: Option<u32>,
    /// Row-major as c.
    pub residual: Option<u32>,
    pub act: Act,
    pub adds: bool,
    /// Both factors are rounded to f16, multiplied by these powers of two before; the sums are f32's and divided by both.
    pub half: Option<[f32; 2]>,
    /// c is multiplied by the slope of a function where it gave y (GELU: where it was given x), which lies like c:
    /// act' (y)·(Σ + residual). Nothing is added to what is there.
    pub slope: Option<(Unary, u32)>,
    /// Σ_k a`[m][k]` goes there, in place of what is there or added to it: dy in a is summed for the bias.
    pub row_sums: Option<(u32, bool)>,
    /// What the activation reads goes there too, lying like c.
    pub save: Option<u32>,
}

impl Product {
    /// c = a·b.
    pub fn new([m, n, k]: [usize; 3], a: Side, b: Side, c: u32) -> Product {
        let (bias, residual, slope, row_sums, save) = (None, None, None, None, None);
        Product { m, n, k, a, b, c, bias, residual, act: Act::None, adds: false, half: None, slope, row_sums, save }
    }
}
