//! A product: its operation and the layout of its factors.

use math::{Act, Unary};

/// Offset of a factor (a or b) in `mem`, and its strides. All numbers are in floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub at: u32,
    /// Stride between rows of a, or between columns of b.
    pub outer: u32,
    /// Stride along k.
    pub inner: u32,
}

impl Side {
    pub fn new(at: u32, outer: usize, inner: usize) -> Side {
        Side { at, outer: outer as u32, inner: inner as u32 }
    }
}

/// Matrix product c `[m][n]` = act(Σ_k a`[m][k]`·b`[k][n]` + bias`[n]` + residual`[m][n]`). With `adds`, the result is added to the
/// contents of c. Gradients use `slope` and `row_sums`, and `save` keeps the numbers that a later gradient needs.
#[derive(Clone, Debug)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Side,
    pub b: Side,
    /// Offset of c, which is row-major. The offset must not equal the offset of a factor, but may equal the offset of the residual.
    pub c: u32,
    pub bias: Option<u32>,
    /// Offset of the residual, in the layout of c.
    pub residual: Option<u32>,
    pub act: Act,
    pub adds: bool,
    /// Powers of two by which a and b are multiplied before they are rounded to f16. The f32 sums are divided by both powers. `None`: the
    /// factors stay f32.
    pub half: Option<[f32; 2]>,
    /// Function f and an offset. The product computes c = f'·(Σ + residual), with the derivative f'. f' is computed from numbers at the
    /// offset, in the layout of c: from the results of f, or from the arguments of f if f is GELU. Not combined with `adds`.
    pub slope: Option<(Unary, u32)>,
    /// Offset of the row sums Σ_k a`[m][k]`, and a flag. If the flag is true, the sums are added to the contents at the offset. If a is the
    /// gradient dy of a layer's output, the sums are the gradient of the layer's bias.
    pub row_sums: Option<(u32, bool)>,
    /// Offset to which the activation's input is saved, in the layout of c.
    pub save: Option<u32>,
}

impl Product {
    /// Creates the product c = a·b, without epilogue.
    pub fn new([m, n, k]: [usize; 3], a: Side, b: Side, c: u32) -> Product {
        let (bias, residual, slope, row_sums, save) = (None, None, None, None, None);
        Product { m, n, k, a, b, c, bias, residual, act: Act::None, adds: false, half: None, slope, row_sums, save }
    }
}
