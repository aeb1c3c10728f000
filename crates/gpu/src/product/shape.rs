//! A product: its operation and the layout of its factors.

use math::{Act, Unary};

/// Location of a factor in `mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub at: u32,
    /// Stride between rows of a, or columns of b.
    pub outer: u32,
    /// Stride along k.
    pub inner: u32,
}

impl Side {
    pub fn new(at: u32, outer: usize, inner: usize) -> Side {
        Side { at, outer: outer as u32, inner: inner as u32 }
    }
}

/// c `[m][n]` = act(Σ_k a`[m][k]`·b`[k][n]` + bias`[n]` + residual`[m][n]`), added to the contents if `adds`. The last three fields are for
/// gradients.
#[derive(Clone, Debug)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Side,
    pub b: Side,
    /// Row-major. No factor may be at this location; the residual may.
    pub c: u32,
    pub bias: Option<u32>,
    /// Row-major as c.
    pub residual: Option<u32>,
    pub act: Act,
    pub adds: bool,
    /// Both factors are multiplied by these powers of two and rounded to f16; the f32 sums are divided by both.
    pub half: Option<[f32; 2]>,
    /// c is multiplied by the slope of a function at its result y (for GELU at its argument x), which has the layout of c: act'(y)·(Σ +
    /// residual). Nothing is added to the contents.
    pub slope: Option<(Unary, u32)>,
    /// Destination of Σ_k a`[m][k]`, which replaces the contents or is added: dy in a is summed for the bias.
    pub row_sums: Option<(u32, bool)>,
    /// Destination of the activation's input, in the layout of c.
    pub save: Option<u32>,
}

impl Product {
    /// c = a·b.
    pub fn new([m, n, k]: [usize; 3], a: Side, b: Side, c: u32) -> Product {
        let (bias, residual, slope, row_sums, save) = (None, None, None, None, None);
        Product { m, n, k, a, b, c, bias, residual, act: Act::None, adds: false, half: None, slope, row_sums, save }
    }
}
