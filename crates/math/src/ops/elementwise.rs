//! Functions of one number and their backward passes; functions of two numbers and broadcasting of their operands.

use crate::isa::{Isa, Simd, kernel};
use crate::poly;

/// Functions of one argument. Gelu is the tanh approximation (Hendrycks and Gimpel 2016).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Relu,
    Tanh,
    Gelu,
    Exp,
    Ln,
    Square,
    Sqrt,
    Sigmoid,
    /// x·sigmoid(x)
    Silu,
}

impl Unary {
    pub const ALL: [Unary; 9] =
        [Unary::Relu, Unary::Tanh, Unary::Gelu, Unary::Exp, Unary::Ln, Unary::Square, Unary::Sqrt, Unary::Sigmoid, Unary::Silu];
}

/// Functions of two arguments a and b. Min and Max return b if one argument is NaN. Greater returns 1 if a > b, else 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Greater,
}

impl Binary {
    pub const ALL: [Binary; 7] = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max, Binary::Greater];
}

/// Shape of an operand that is broadcast to `[rows][cols]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Span {
    /// `[rows][cols]`
    Full,
    /// `[cols]`, repeated for every row.
    Row,
    /// `[rows]`, repeated for every column.
    Column,
    /// One number, repeated for every row and column.
    Scalar,
}

/// Returns `f`. Allows `#[inline(always)]` on a closure that is assigned to a variable: Rust accepts the attribute on an argument of a
/// call, but not on a closure in a `let`.
#[inline(always)]
pub(super) fn hot<F>(f: F) -> F {
    f
}

/// Computes `y[i]` = f(`inputs[..][i]`). An input is a pair (address, step). The step is 1, or 0 if the same vector is used for every i. y
/// may be one of the inputs.
///
/// # Safety
/// y and every input of step 1 must be valid for n floats. An input of step 0 must be valid for 16 floats.
#[inline(always)]
pub(super) unsafe fn map<S: Simd, const N: usize>(
    s: S,
    n: usize,
    inputs: [(*const f32, usize); N],
    y: *mut f32,
    f: impl Fn([S::F; N]) -> S::F,
) {
    // SAFETY: guaranteed by the caller; the tail uses buffers.
    unsafe {
        let mut x = [s.splat(0.0); N];
        let mut i = 0;
        while i + S::LANES <= n {
            for j in 0..N {
                x[j] = s.load_ptr(inputs[j].0.add(i * inputs[j].1));
            }
            s.store_ptr(f(x), y.add(i));
            i += S::LANES;
        }
        if i < n {
            let mut lanes = [0.0f32; 16];
            for j in 0..N {
                std::ptr::copy_nonoverlapping(inputs[j].0.add(i * inputs[j].1), lanes.as_mut_ptr(), n - i);
                x[j] = s.load(&lanes);
            }
            s.store(f(x), &mut lanes);
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), y.add(i), n - i);
        }
    }
}

/// Calls [`map`] with an expression over named inputs.
macro_rules! each {
    ($s:expr, $n:expr, $y:expr, [$($x:ident),+], $f:expr) => {
        $crate::ops::elementwise::each!($s, $n, $y, [$($x = $x),+], $f)
    };
    ($s:expr, $n:expr, $y:expr, [$($x:ident = $from:expr),+], $f:expr) => {
        $crate::ops::elementwise::map($s, $n, [$($from),+], $y, #[inline(always)] |[$($x),+]| $f)
    };
}
pub(super) use each;

const GELU_ROOT: f32 = 0.797_884_6; // sqrt(2/π)
const GELU_CUBE: f32 = 0.044_715;

/// Returns 1 + e⁻ˣ, the denominator of a sigmoid; `minus_x` is -x.
#[inline(always)]
fn one_and_exp<S: Simd>(s: S, minus_x: S::F) -> S::F {
    s.add(s.splat(1.0), poly::exp_within(s, minus_x))
}

/// Returns -2u, where u = sqrt(2/π)·(x + 0.044715·x³). A gelu is x·sigmoid(2u), because (1 + tanh u)/2 = sigmoid(2u).
#[inline(always)]
fn gelu_inner<S: Simd>(s: S, x: S::F) -> S::F {
    let square = s.mul(x, x);
    s.mul(x, s.mul_add(s.splat(-2.0 * GELU_ROOT * GELU_CUBE), square, s.splat(-2.0 * GELU_ROOT)))
}

/// Computes y = op(x).
pub fn unary(isa: Isa, op: Unary, x: &[f32], y: &mut [f32]) {
    assert_eq!(x.len(), y.len());
    map_unary(isa, op, y.len(), x.as_ptr(), y.as_mut_ptr());
}

/// Computes y = op(y).
pub fn unary_in_place(isa: Isa, op: Unary, y: &mut [f32]) {
    let p = y.as_mut_ptr();
    map_unary(isa, op, y.len(), p, p);
}

fn map_unary(isa: Isa, op: Unary, n: usize, x: *const f32, y: *mut f32) {
    kernel!(isa, |s: S, op: Unary, n: usize, x: *const f32, y: *mut f32| {
        let x = (x, 1);
        let zero = s.splat(0.0);
        // SAFETY: x and y come from slices of n floats; they may be the same slice.
        unsafe {
            match op {
                Unary::Relu => each!(s, n, y, [x], s.max(zero, x)),
                Unary::Tanh => each!(s, n, y, [x], poly::tanh(s, x)),
                Unary::Gelu => each!(s, n, y, [x], s.div(x, one_and_exp(s, gelu_inner(s, x)))),
                Unary::Exp => each!(s, n, y, [x], poly::exp(s, x)),
                Unary::Ln => each!(s, n, y, [x], poly::ln(s, x)),
                Unary::Square => each!(s, n, y, [x], s.mul(x, x)),
                Unary::Sqrt => each!(s, n, y, [x], s.sqrt(x)),
                Unary::Sigmoid => each!(s, n, y, [x], poly::sigmoid(s, x)),
                Unary::Silu => each!(s, n, y, [x], s.div(x, one_and_exp(s, s.neg(x)))),
            }
        }
    })
}

/// Computes dx = dy · op'(x). The caller passes both x and y = op(x); the derivative of each function reads only x or only y.
pub fn unary_backward(isa: Isa, op: Unary, x: &[f32], y: &[f32], dy: &[f32], dx: &mut [f32]) {
    let n = dx.len();
    let (x, y, dy) = (x[..n].as_ptr(), y[..n].as_ptr(), dy[..n].as_ptr());
    map_slope(isa, op, n, x, y, dy, dx.as_mut_ptr());
}

/// Computes d = d · op'(x): [`unary_backward`] in place.
pub fn unary_backward_in_place(isa: Isa, op: Unary, x: &[f32], y: &[f32], d: &mut [f32]) {
    let n = d.len();
    let p = d.as_mut_ptr();
    map_slope(isa, op, n, x[..n].as_ptr(), y[..n].as_ptr(), p, p);
}

fn map_slope(isa: Isa, op: Unary, n: usize, x: *const f32, y: *const f32, dy: *const f32, dx: *mut f32) {
    kernel!(isa, |s: S, op: Unary, n: usize, x: *const f32, y: *const f32, dy: *const f32, dx: *mut f32| {
        let (x, y, dy) = ((x, 1), (y, 1), (dy, 1));
        let (zero, one, two, half) = (s.splat(0.0), s.splat(1.0), s.splat(2.0), s.splat(0.5));
        // SAFETY: the pointers come from slices of n floats; dy and dx may be the same slice.
        unsafe {
            match op {
                Unary::Relu => each!(s, n, dx, [y, dy], s.select(s.gt(y, zero), dy, zero)),
                Unary::Tanh => each!(s, n, dx, [y, dy], s.mul(dy, s.neg_mul_add(y, y, one))),
                Unary::Gelu => each!(s, n, dx, [x, dy], {
                    // op'(x) = p + x·p(1 - p)·2√(2/π)(1 + 3·0.044715·x²)
                    let p = s.div(one, one_and_exp(s, gelu_inner(s, x)));
                    let square = s.mul(x, x);
                    let slope = s.mul_add(s.splat(6.0 * GELU_CUBE * GELU_ROOT), square, s.splat(2.0 * GELU_ROOT));
                    s.mul(dy, s.mul_add(s.mul(x, slope), s.neg_mul_add(p, p, p), p))
                }),
                Unary::Exp => each!(s, n, dx, [y, dy], s.mul(dy, y)),
                Unary::Ln => each!(s, n, dx, [x, dy], s.div(dy, x)),
                Unary::Square => each!(s, n, dx, [x, dy], s.mul(dy, s.mul(two, x))),
                Unary::Sqrt => each!(s, n, dx, [y, dy], s.div(s.mul(half, dy), y)),
                Unary::Sigmoid => each!(s, n, dx, [y, dy], s.mul(dy, s.neg_mul_add(y, y, y))),
                Unary::Silu => each!(s, n, dx, [x, dy], {
                    // op'(x) = p + x·p(1 - p)
                    let p = s.div(one, one_and_exp(s, s.neg(x)));
                    s.mul(dy, s.mul_add(x, s.neg_mul_add(p, p, p), p))
                }),
            }
        }
    })
}

/// Computes `y[rows][cols]` = a (op) b. Either operand may be broadcast.
pub fn binary(isa: Isa, op: Binary, rows: usize, cols: usize, a: (&[f32], Span), b: (&[f32], Span), y: &mut [f32]) {
    let y = y[..rows * cols].as_mut_ptr();
    map_binary(isa, op, rows, cols, Operand::new(rows, cols, a), Operand::new(rows, cols, b), y);
}

/// Computes y = y (op) b, where b is broadcast to `[rows][cols]`.
pub fn binary_in_place(isa: Isa, op: Binary, rows: usize, cols: usize, y: &mut [f32], b: (&[f32], Span)) {
    let y = y[..rows * cols].as_mut_ptr();
    let a = Operand { p: y, row: cols, step: 1 };
    map_binary(isa, op, rows, cols, a, Operand::new(rows, cols, b), y);
}

/// A broadcast operand: element (r, c) is at `p[r·row + c·step]`.
#[derive(Clone, Copy)]
struct Operand {
    p: *const f32,
    row: usize,
    step: usize,
}

impl Operand {
    fn new(rows: usize, cols: usize, (x, span): (&[f32], Span)) -> Operand {
        let (len, row, step) = match span {
            Span::Full => (rows * cols, cols, 1),
            Span::Row => (cols, 0, 1),
            Span::Column => (rows, 1, 0),
            Span::Scalar => (1, 0, 0),
        };
        Operand { p: x[..len].as_ptr(), row, step }
    }

    /// Returns true if the rows can be processed as one long row.
    fn flat(self, rows: usize, cols: usize) -> bool {
        rows == 1 || self.row == cols * self.step
    }
}

fn map_binary(isa: Isa, op: Binary, rows: usize, cols: usize, mut a: Operand, mut b: Operand, y: *mut f32) {
    let (mut rows, mut n) = (rows, cols);
    if cols == 1 {
        // A single column is processed as a single row.
        (rows, n) = (1, rows);
        (a.step, b.step) = (a.row, b.row);
    } else if a.flat(rows, cols) && b.flat(rows, cols) {
        (rows, n) = (1, rows * cols);
    }
    kernel!(isa, |s: S, op: Binary, rows: usize, n: usize, a: Operand, b: Operand, y: *mut f32| {
        let (zero, one) = (s.splat(0.0), s.splat(1.0));
        for r in 0..rows {
            let (mut a_lanes, mut b_lanes) = ([0.0; 16], [0.0; 16]);
            // SAFETY: `Operand::new` checked the lengths; an operand of step 0 is spread over 16 lanes.
            unsafe {
                let spread = |x: Operand, lanes: &mut [f32; 16]| {
                    let p = x.p.add(r * x.row);
                    if x.step == 1 {
                        return (p, 1);
                    }
                    *lanes = [*p; 16];
                    (lanes.as_ptr(), 0)
                };
                let (a, b) = (spread(a, &mut a_lanes), spread(b, &mut b_lanes));
                let y = y.add(r * n);
                match op {
                    Binary::Add => each!(s, n, y, [a, b], s.add(a, b)),
                    Binary::Sub => each!(s, n, y, [a, b], s.sub(a, b)),
                    Binary::Mul => each!(s, n, y, [a, b], s.mul(a, b)),
                    Binary::Div => each!(s, n, y, [a, b], s.div(a, b)),
                    Binary::Min => each!(s, n, y, [a, b], s.min(a, b)),
                    Binary::Max => each!(s, n, y, [a, b], s.max(a, b)),
                    Binary::Greater => each!(s, n, y, [a, b], s.select(s.gt(a, b), one, zero)),
                }
            }
        }
    })
}

/// Computes y = scale·x + shift.
pub fn affine(isa: Isa, scale: f32, shift: f32, x: &[f32], y: &mut [f32]) {
    let x = &x[..y.len()];
    kernel!(isa, |s: S, scale: f32, shift: f32, x: &[f32], y: &mut [f32]| {
        let (scale, shift) = (s.splat(scale), s.splat(shift));
        // SAFETY: both slices have y's length.
        unsafe {
            each!(s, y.len(), y.as_mut_ptr(), [x = (x.as_ptr(), 1)], s.mul_add(scale, x, shift));
        }
    });
}

/// Computes y += scale·x.
pub fn add_scaled(isa: Isa, scale: f32, x: &[f32], y: &mut [f32]) {
    let x = &x[..y.len()];
    kernel!(isa, |s: S, scale: f32, x: &[f32], y: &mut [f32]| {
        let scale = s.splat(scale);
        let (n, y) = (y.len(), y.as_mut_ptr());
        // SAFETY: both slices have y's length.
        unsafe {
            each!(s, n, y, [x = (x.as_ptr(), 1), y = (y.cast_const(), 1)], s.mul_add(scale, x, y));
        }
    });
}
