//! Everything that is not a matrix product: elementwise functions and their slopes, broadcasting, reductions, softmax, layer
//! norm, gathers, layouts and the optimiser's pass. Each works on flat slices of known shape and allocates nothing.

use crate::PANEL;
use crate::isa::{Isa, Kernel, Simd, dispatch};
use crate::par::{self, CHUNK};
use crate::poly;

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

/// Names a closure that must be inlined: the attribute is allowed on a call's argument, not on a `let`.
#[inline(always)]
fn hot<F>(f: F) -> F {
    f
}

// ---- elementwise ----

/// y[i] = f(inputs[..][i]); an input's step is 1, or 0 for one vector that serves every i. y may be one of the inputs.
///
/// # Safety
/// Every input of step 1, and y, must be valid for n floats, an input of step 0 for 16.
#[inline(always)]
unsafe fn map<S: Simd, const N: usize>(
    s: S,
    n: usize,
    inputs: [(*const f32, usize); N],
    y: *mut f32,
    f: impl Fn([S::F; N]) -> S::F,
) {
    // SAFETY: the caller's; the tail goes through buffers.
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

/// [`map`] of an expression over inputs by the names it has for them.
macro_rules! each {
    ($s:expr, $n:expr, $y:expr, [$($x:ident),+], $f:expr) => {
        each!($s, $n, $y, [$($x = $x),+], $f)
    };
    ($s:expr, $n:expr, $y:expr, [$($x:ident = $from:expr),+], $f:expr) => {
        map($s, $n, [$($from),+], $y, #[inline(always)] |[$($x),+]| $f)
    };
}

const GELU_ROOT: f32 = 0.797_884_6; // sqrt(2/π)
const GELU_CUBE: f32 = 0.044_715;

/// tanh(sqrt(2/π)·(x + 0.044715·x³))
#[inline(always)]
fn gelu_tanh<S: Simd>(s: S, x: S::F) -> S::F {
    let cube = s.mul_add(s.mul(s.splat(GELU_CUBE), s.mul(x, x)), x, x);
    poly::tanh(s, s.mul(s.splat(GELU_ROOT), cube))
}

/// y = op(x)
pub fn unary(isa: Isa, op: Unary, x: &[f32], y: &mut [f32]) {
    assert_eq!(x.len(), y.len());
    dispatch(isa, UnaryMap { op, n: y.len(), x: x.as_ptr(), y: y.as_mut_ptr() });
}

/// y = op(y)
pub fn unary_in_place(isa: Isa, op: Unary, y: &mut [f32]) {
    let p = y.as_mut_ptr();
    dispatch(isa, UnaryMap { op, n: y.len(), x: p, y: p });
}

struct UnaryMap {
    op: Unary,
    n: usize,
    x: *const f32,
    y: *mut f32,
}

impl Kernel for UnaryMap {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let UnaryMap { op, n, x, y } = self;
        let x = (x, 1);
        let (zero, one, half) = (s.splat(0.0), s.splat(1.0), s.splat(0.5));
        // SAFETY: both pointers came from slices of n floats, or from the same one.
        unsafe {
            match op {
                Unary::Neg => each!(s, n, y, [x], s.neg(x)),
                Unary::Abs => each!(s, n, y, [x], s.abs(x)),
                Unary::Relu => each!(s, n, y, [x], s.max(zero, x)),
                Unary::Tanh => each!(s, n, y, [x], poly::tanh(s, x)),
                Unary::Gelu => each!(s, n, y, [x], {
                    let h = s.mul(half, x);
                    s.mul_add(h, gelu_tanh(s, x), h)
                }),
                Unary::Exp => each!(s, n, y, [x], poly::exp(s, x)),
                Unary::Ln => each!(s, n, y, [x], poly::ln(s, x)),
                Unary::Square => each!(s, n, y, [x], s.mul(x, x)),
                Unary::Sqrt => each!(s, n, y, [x], s.sqrt(x)),
                Unary::Sigmoid => each!(s, n, y, [x], poly::sigmoid(s, x)),
                Unary::Recip => each!(s, n, y, [x], s.div(one, x)),
            }
        }
    }
}

/// dx (+)= dy · op'(x). Both x and y = op(x) are given; each function reads what it needs.
pub fn unary_backward(
    isa: Isa,
    op: Unary,
    x: &[f32],
    y: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    accumulate: bool,
) {
    let n = dx.len();
    let (x, y, dy) = (x[..n].as_ptr(), y[..n].as_ptr(), dy[..n].as_ptr());
    dispatch(isa, UnaryBackward { op, n, x, y, dy, dx: dx.as_mut_ptr(), accumulate });
}

/// d = d · op'(x): [`unary_backward`] where the slope takes the place of what came in.
pub fn unary_backward_in_place(isa: Isa, op: Unary, x: &[f32], y: &[f32], d: &mut [f32]) {
    let n = d.len();
    let p = d.as_mut_ptr();
    dispatch(
        isa,
        UnaryBackward { op, n, x: x[..n].as_ptr(), y: y[..n].as_ptr(), dy: p, dx: p, accumulate: false },
    );
}

struct UnaryBackward {
    op: Unary,
    n: usize,
    x: *const f32,
    y: *const f32,
    dy: *const f32,
    dx: *mut f32,
    accumulate: bool,
}

impl Kernel for UnaryBackward {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let UnaryBackward { op, n, x, y, dy, dx, accumulate } = self;
        let (x, y, dy, old) = ((x, 1), (y, 1), (dy, 1), (dx.cast_const(), 1));
        let (zero, one, two, half) = (s.splat(0.0), s.splat(1.0), s.splat(2.0), s.splat(0.5));
        let keep = s.splat(f32::from(u8::from(accumulate)));
        let keep = s.gt(keep, zero);
        let kept = hot(
            #[inline(always)]
            |old| s.select(keep, old, zero),
        );
        // SAFETY: the pointers came from slices of n floats, dy and dx perhaps from the same one.
        unsafe {
            match op {
                Unary::Neg => each!(s, n, dx, [dy, old], s.sub(kept(old), dy)),
                Unary::Abs => {
                    each!(s, n, dx, [x, dy, old], s.add(kept(old), s.select(s.lt(x, zero), s.neg(dy), dy)))
                }
                Unary::Relu => {
                    each!(s, n, dx, [y, dy, old], s.add(kept(old), s.select(s.gt(y, zero), dy, zero)))
                }
                Unary::Tanh => {
                    each!(s, n, dx, [y, dy, old], s.mul_add(dy, s.neg_mul_add(y, y, one), kept(old)))
                }
                Unary::Gelu => each!(s, n, dx, [x, dy, old], {
                    // ½(1 + t) + ½x(1 - t²)·√(2/π)(1 + 3·0.044715·x²)
                    let t = gelu_tanh(s, x);
                    let h = s.mul(half, x);
                    let inner =
                        s.mul_add(s.mul(s.splat(3.0 * GELU_CUBE * GELU_ROOT), x), x, s.splat(GELU_ROOT));
                    let left = s.mul_add(half, t, half);
                    let slope = s.mul_add(s.mul(h, s.neg_mul_add(t, t, one)), inner, left);
                    s.mul_add(dy, slope, kept(old))
                }),
                Unary::Exp => each!(s, n, dx, [y, dy, old], s.mul_add(dy, y, kept(old))),
                Unary::Ln => each!(s, n, dx, [x, dy, old], s.add(kept(old), s.div(dy, x))),
                Unary::Square => {
                    each!(s, n, dx, [x, dy, old], s.mul_add(dy, s.mul(two, x), kept(old)))
                }
                Unary::Sqrt => {
                    each!(s, n, dx, [y, dy, old], s.add(kept(old), s.div(s.mul(half, dy), y)))
                }
                Unary::Sigmoid => {
                    each!(s, n, dx, [y, dy, old], s.mul_add(dy, s.neg_mul_add(y, y, y), kept(old)))
                }
                Unary::Recip => {
                    each!(s, n, dx, [y, dy, old], s.neg_mul_add(dy, s.mul(y, y), kept(old)))
                }
            }
        }
    }
}

/// y[rows][cols] = a (op) b, either of which may be broadcast.
pub fn binary(
    isa: Isa,
    op: Binary,
    rows: usize,
    cols: usize,
    a: (&[f32], Span),
    b: (&[f32], Span),
    y: &mut [f32],
) {
    let y = y[..rows * cols].as_mut_ptr();
    dispatch(
        isa,
        BinaryMap { op, rows, cols, a: Operand::new(rows, cols, a), b: Operand::new(rows, cols, b), y },
    );
}

/// y = y (op) b, b broadcast to [rows][cols].
pub fn binary_in_place(isa: Isa, op: Binary, rows: usize, cols: usize, y: &mut [f32], b: (&[f32], Span)) {
    let y = y[..rows * cols].as_mut_ptr();
    let a = Operand { p: y, row: cols, step: 1 };
    dispatch(isa, BinaryMap { op, rows, cols, a, b: Operand::new(rows, cols, b), y });
}

/// A broadcast operand: element (r, c) is at p[r·row + c·step].
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

    /// Whether the rows follow one another as if they were one long row.
    fn flat(self, rows: usize, cols: usize) -> bool {
        rows == 1 || self.row == cols * self.step
    }
}

struct BinaryMap {
    op: Binary,
    rows: usize,
    cols: usize,
    a: Operand,
    b: Operand,
    y: *mut f32,
}

impl Kernel for BinaryMap {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        if self.cols == 1 {
            // One column: walk down it as along a row.
            (self.rows, self.cols) = (1, self.rows);
            for x in [&mut self.a, &mut self.b] {
                x.step = x.row;
            }
        } else if self.a.flat(self.rows, self.cols) && self.b.flat(self.rows, self.cols) {
            (self.rows, self.cols) = (1, self.rows * self.cols);
        }
        let BinaryMap { op, rows, cols: n, a, b, y } = self;
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
                    Binary::Less => each!(s, n, y, [a, b], s.select(s.lt(a, b), one, zero)),
                }
            }
        }
    }
}

/// y = scale·x + shift
pub fn affine(isa: Isa, scale: f32, shift: f32, x: &[f32], y: &mut [f32]) {
    dispatch(isa, Affine { scale, shift, x: &x[..y.len()], y });
}

struct Affine<'a> {
    scale: f32,
    shift: f32,
    x: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for Affine<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let (scale, shift) = (s.splat(self.scale), s.splat(self.shift));
        // SAFETY: both slices have y's length.
        unsafe {
            each!(
                s,
                self.y.len(),
                self.y.as_mut_ptr(),
                [x = (self.x.as_ptr(), 1)],
                s.mul_add(scale, x, shift)
            );
        }
    }
}

/// y += scale·x
pub fn add_scaled(isa: Isa, scale: f32, x: &[f32], y: &mut [f32]) {
    dispatch(isa, AddScaled { scale, x: &x[..y.len()], y });
}

struct AddScaled<'a> {
    scale: f32,
    x: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for AddScaled<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let scale = s.splat(self.scale);
        let y = self.y.as_mut_ptr();
        // SAFETY: both slices have y's length.
        unsafe {
            each!(
                s,
                self.y.len(),
                y,
                [x = (self.x.as_ptr(), 1), y = (y.cast_const(), 1)],
                s.mul_add(scale, x, y)
            );
        }
    }
}

/// y = x held between lo and hi.
pub fn clamp(isa: Isa, lo: f32, hi: f32, x: &[f32], y: &mut [f32]) {
    dispatch(isa, Clamp { lo, hi, x: &x[..y.len()], y });
}

struct Clamp<'a> {
    lo: f32,
    hi: f32,
    x: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for Clamp<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let (lo, hi) = (s.splat(self.lo), s.splat(self.hi));
        // SAFETY: both slices have y's length.
        unsafe {
            each!(s, self.y.len(), self.y.as_mut_ptr(), [x = (self.x.as_ptr(), 1)], {
                s.min(hi, s.max(lo, x)) // NaN passes
            });
        }
    }
}

/// dx (+)= dy where lo <= x <= hi, else 0.
pub fn clamp_backward(isa: Isa, lo: f32, hi: f32, x: &[f32], dy: &[f32], dx: &mut [f32], accumulate: bool) {
    let n = dx.len();
    dispatch(isa, ClampBackward { lo, hi, x: &x[..n], dy: &dy[..n], dx, accumulate });
}

struct ClampBackward<'a> {
    lo: f32,
    hi: f32,
    x: &'a [f32],
    dy: &'a [f32],
    dx: &'a mut [f32],
    accumulate: bool,
}

impl Kernel for ClampBackward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let (lo, hi, zero) = (s.splat(self.lo), s.splat(self.hi), s.splat(0.0));
        let keep = s.gt(s.splat(f32::from(u8::from(self.accumulate))), zero);
        let dx = self.dx.as_mut_ptr();
        let (x, dy, old) = ((self.x.as_ptr(), 1), (self.dy.as_ptr(), 1), (dx.cast_const(), 1));
        // SAFETY: the three slices have dx's length.
        unsafe {
            each!(s, self.dx.len(), dx, [x, dy, old], {
                let inside = s.and_mask(s.le(lo, x), s.le(x, hi));
                s.add(s.select(keep, old, zero), s.select(inside, dy, zero))
            });
        }
    }
}

// ---- sums ----

/// Σ_i f(inputs[..][i]) with 16 virtual lanes, twice: the even blocks of 16 and the odd ones.
///
/// # Safety
/// Every input must be valid for n floats.
#[inline(always)]
unsafe fn reduce<S: Simd, const N: usize>(
    s: S,
    n: usize,
    inputs: [*const f32; N],
    f: impl Fn([S::F; N]) -> S::F,
) -> f32 {
    let (mut even, mut odd) = ([s.splat(0.0); 4], [s.splat(0.0); 4]);
    let mut x = [s.splat(0.0); N];
    // SAFETY: the caller's; the tail goes through buffers.
    unsafe {
        let mut i = 0;
        while i + 32 <= n {
            for (sums, i) in [(&mut even, i), (&mut odd, i + 16)] {
                for p in 0..S::PARTS {
                    for j in 0..N {
                        x[j] = s.load_ptr(inputs[j].add(i + p * S::LANES));
                    }
                    sums[p] = s.add(sums[p], f(x));
                }
            }
            i += 32;
        }
        while i < n {
            let count = (n - i).min(16);
            let mut lanes = [[0.0f32; 16]; N];
            for j in 0..N {
                std::ptr::copy_nonoverlapping(inputs[j].add(i), lanes[j].as_mut_ptr(), count);
            }
            let mut terms = [0.0f32; 16];
            for p in 0..S::PARTS {
                for j in 0..N {
                    x[j] = s.load(&lanes[j][p * S::LANES..]);
                }
                s.store(f(x), &mut terms[p * S::LANES..]);
            }
            terms[count..].fill(0.0);
            let sums = if i % 32 == 0 { &mut even } else { &mut odd };
            for p in 0..S::PARTS {
                sums[p] = s.add(sums[p], s.load(&terms[p * S::LANES..]));
            }
            i += 16;
        }
    }
    for p in 0..S::PARTS {
        even[p] = s.add(even[p], odd[p]);
    }
    s.sum_lanes(even)
}

/// [`reduce`] of an expression over inputs by the names it has for them.
macro_rules! total {
    ($s:expr, $n:expr, [$($x:ident),+], $f:expr) => {
        total!($s, $n, [$($x = $x),+], $f)
    };
    ($s:expr, $n:expr, [$($x:ident = $from:expr),+], $f:expr) => {
        reduce($s, $n, [$($from),+], #[inline(always)] |[$($x),+]| $f)
    };
}

/// Σ x
pub fn sum(isa: Isa, x: &[f32]) -> f32 {
    dispatch(isa, Sum { kind: SumOf::Values, a: x, b: x })
}

/// Σ x²; of more than a million numbers as the sum of equal blocks', so that threads can share them.
pub fn sum_of_squares(isa: Isa, x: &[f32]) -> f32 {
    const BLOCKS: usize = 256;
    if x.len() <= 1 << 20 {
        return dot(isa, x, x);
    }
    let size = x.len().div_ceil(BLOCKS).next_multiple_of(32);
    let (mut sums, together) = ([0.0; BLOCKS], CHUNK.div_ceil(size));
    par::chunks_mut([&mut sums], [together], |i, [sums]| {
        for (j, sum) in sums.iter_mut().enumerate() {
            let first = ((i * together + j) * size).min(x.len());
            let block = &x[first..x.len().min(first + size)];
            *sum = dot(isa, block, block);
        }
    });
    self::sum(isa, &sums)
}

/// Σ a·b
pub fn dot(isa: Isa, a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    dispatch(isa, Sum { kind: SumOf::Products, a, b })
}

enum SumOf {
    Values,
    Products,
}

struct Sum<'a> {
    kind: SumOf,
    a: &'a [f32],
    b: &'a [f32],
}

impl Kernel for Sum<'_> {
    type Output = f32;
    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f32 {
        // SAFETY: the slices are equally long.
        unsafe {
            match self.kind {
                SumOf::Values => total!(s, self.a.len(), [x = self.a.as_ptr()], x),
                SumOf::Products => {
                    total!(s, self.a.len(), [a = self.a.as_ptr(), b = self.b.as_ptr()], s.mul(a, b))
                }
            }
        }
    }
}

/// y[r] (+)= Σ_c x[r][c]
pub fn sum_rows(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32], accumulate: bool) {
    dispatch(isa, SumRows { cols, x: &x[..rows * cols], y: &mut y[..rows], accumulate });
}

struct SumRows<'a> {
    cols: usize,
    x: &'a [f32],
    y: &'a mut [f32],
    accumulate: bool,
}

impl Kernel for SumRows<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for (r, y) in self.y.iter_mut().enumerate() {
            let x = &self.x[r * self.cols..][..self.cols];
            let sum = if self.cols < 16 {
                x.iter().fold(0.0, |sum, x| sum + x)
            } else {
                // SAFETY: the row has `cols` floats.
                unsafe { total!(s, self.cols, [x = x.as_ptr()], x) }
            };
            *y = if self.accumulate { *y + sum } else { sum };
        }
    }
}

/// y[c] (+)= Σ_r x[r][c]
pub fn sum_cols(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32], accumulate: bool) {
    if cols == 1 {
        let sum = sum(isa, &x[..rows]);
        y[0] = if accumulate { y[0] + sum } else { sum };
        return;
    }
    let x = &x[..rows * cols];
    let width = (CHUNK / rows.max(1)).max(1).next_multiple_of(STRIP);
    par::chunks_mut([&mut y[..cols]], [width], |i, [y]| {
        dispatch(isa, SumCols { first: i * width, stride: cols, x, y, accumulate });
    });
}

/// Columns that are summed at the same time, at most.
const STRIP: usize = 128;

struct SumCols<'a> {
    /// The first of y's columns in x, and the length of x's rows.
    first: usize,
    stride: usize,
    x: &'a [f32],
    y: &'a mut [f32],
    accumulate: bool,
}

impl Kernel for SumCols<'_> {
    type Output = ();
    /// One chain down each column, in the order of the rows.
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let cols = self.y.len();
        let mut c = 0;
        while c + 8 * S::LANES <= cols {
            self.strip::<S, 8>(s, c);
            c += 8 * S::LANES;
        }
        while c + 2 * S::LANES <= cols {
            self.strip::<S, 2>(s, c);
            c += 2 * S::LANES;
        }
        let old = |y: f32| if self.accumulate { y } else { 0.0 };
        while c < cols {
            let width = S::LANES.min(cols - c);
            let mut sums = [0.0f32; 16];
            for row in self.x.chunks_exact(self.stride) {
                let x = &row[self.first + c..][..width];
                for i in 0..width {
                    sums[i] += x[i];
                }
            }
            for i in 0..width {
                self.y[c + i] = old(self.y[c + i]) + sums[i];
            }
            c += width;
        }
    }
}

impl SumCols<'_> {
    /// N vectors from column c of y on.
    #[inline(always)]
    fn strip<S: Simd, const N: usize>(&mut self, s: S, c: usize) {
        let mut sums = [s.splat(0.0); N];
        for row in self.x.chunks_exact(self.stride) {
            let x = &row[self.first + c..][..N * S::LANES];
            for v in 0..N {
                sums[v] = s.add(sums[v], s.load(&x[v * S::LANES..]));
            }
        }
        for v in 0..N {
            let y = &mut self.y[c + v * S::LANES..][..S::LANES];
            let sum = if self.accumulate { s.add(s.load(y), sums[v]) } else { sums[v] };
            s.store(sum, y);
        }
    }
}

// ---- softmax ----

/// Rows up to this long go down the lanes, a row in each; longer ones along them.
const NARROW: usize = 32;

/// y = softmax of each row.
pub fn softmax(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    dispatch(isa, Softmax { rows, cols, x: &x[..rows * cols], y: &mut y[..rows * cols], log: false });
}

/// y = log softmax of each row.
pub fn log_softmax(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    dispatch(isa, Softmax { rows, cols, x: &x[..rows * cols], y: &mut y[..rows * cols], log: true });
}

struct Softmax<'a> {
    rows: usize,
    cols: usize,
    x: &'a [f32],
    y: &'a mut [f32],
    log: bool,
}

/// Softmax down `cols` vectors that lie `stride` floats apart; in place or not.
///
/// # Safety
/// x and y must be valid for `cols` vectors at that stride.
#[inline(always)]
unsafe fn softmax_down<S: Simd>(s: S, cols: usize, x: *const f32, y: *mut f32, stride: usize, log: bool) {
    // SAFETY: the caller's.
    unsafe {
        let mut top = s.load_ptr(x);
        for c in 1..cols {
            top = s.max(s.load_ptr(x.add(c * stride)), top);
        }
        let mut sum = s.splat(0.0);
        for c in 0..cols {
            let shifted = s.sub(s.load_ptr(x.add(c * stride)), top);
            let e = poly::exp(s, shifted);
            sum = s.add(sum, e);
            s.store_ptr(if log { shifted } else { e }, y.add(c * stride));
        }
        let ln = if log { poly::ln(s, sum) } else { sum };
        for c in 0..cols {
            let p = y.add(c * stride);
            let value = s.load_ptr(p);
            s.store_ptr(if log { s.sub(value, ln) } else { s.div(value, ln) }, p);
        }
    }
}

/// Up to LANES rows of `cols` → `[cols][16]`, and back.
#[inline(always)]
fn rows_in(rows: usize, cols: usize, x: &[f32], lanes: &mut [f32]) {
    for r in 0..rows {
        for c in 0..cols {
            lanes[c * 16 + r] = x[r * cols + c];
        }
    }
}

impl Kernel for Softmax<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Softmax { rows, cols, x, y, log } = self;
        if cols == 0 {
            return;
        }
        if cols <= NARROW {
            let mut lanes = [0.0f32; NARROW * 16];
            for first in (0..rows).step_by(S::LANES) {
                let count = S::LANES.min(rows - first);
                rows_in(count, cols, &x[first * cols..], &mut lanes);
                // SAFETY: the buffer has cols <= NARROW vectors.
                unsafe { softmax_down(s, cols, lanes.as_ptr(), lanes.as_mut_ptr(), 16, log) };
                for r in 0..count {
                    for c in 0..cols {
                        y[(first + r) * cols + c] = lanes[c * 16 + r];
                    }
                }
            }
            return;
        }
        for (x, y) in x.chunks_exact(cols).zip(y.chunks_exact_mut(cols)) {
            let top = row_max(s, x);
            let (p, q) = (x.as_ptr(), y.as_mut_ptr());
            let tops = s.splat(top);
            // SAFETY: both rows have `cols` floats.
            unsafe {
                each!(s, cols, q, [x = (p, 1)], poly::exp(s, s.sub(x, tops)));
                let sum = total!(s, cols, [e = q.cast_const()], e);
                if log {
                    let ln = poly::ln(s, s.splat(sum));
                    each!(s, cols, q, [x = (p, 1)], s.sub(s.sub(x, tops), ln));
                } else {
                    let sum = s.splat(sum);
                    each!(s, cols, q, [e = (q.cast_const(), 1)], s.div(e, sum));
                }
            }
        }
    }
}

/// The largest of a row of 16 or more.
#[inline(always)]
fn row_max<S: Simd>(s: S, x: &[f32]) -> f32 {
    let mut top = s.load(x);
    for c in (0..x.len()).step_by(S::LANES) {
        // The last vector overlaps the one before it, which a maximum does not mind.
        top = s.max(s.load(&x[c.min(x.len() - S::LANES)..]), top);
    }
    let mut lanes = [f32::NEG_INFINITY; 16];
    s.store(top, &mut lanes);
    lanes.iter().fold(f32::NEG_INFINITY, |m, &x| if x > m { x } else { m })
}

/// dx (+)= y·(dy - Σ dy·y), y the softmax.
pub fn softmax_backward(
    isa: Isa,
    rows: usize,
    cols: usize,
    y: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    accumulate: bool,
) {
    softmax_slopes(isa, rows, cols, y, dy, dx, accumulate, false);
}

/// dx (+)= dy - eʸ·Σ dy, y the log softmax.
pub fn log_softmax_backward(
    isa: Isa,
    rows: usize,
    cols: usize,
    y: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    accumulate: bool,
) {
    softmax_slopes(isa, rows, cols, y, dy, dx, accumulate, true);
}

fn softmax_slopes(
    isa: Isa,
    rows: usize,
    cols: usize,
    y: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    accumulate: bool,
    log: bool,
) {
    let n = rows * cols;
    dispatch(
        isa,
        SoftmaxBackward { rows, cols, y: &y[..n], dy: &dy[..n], dx: &mut dx[..n], accumulate, log },
    );
}

struct SoftmaxBackward<'a> {
    rows: usize,
    cols: usize,
    y: &'a [f32],
    dy: &'a [f32],
    dx: &'a mut [f32],
    accumulate: bool,
    log: bool,
}

impl Kernel for SoftmaxBackward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let SoftmaxBackward { rows, cols, y, dy, dx, accumulate, log } = self;
        let slope = hot(
            #[inline(always)]
            |y, dy, sum| {
                if log { s.neg_mul_add(poly::exp(s, y), sum, dy) } else { s.mul(y, s.sub(dy, sum)) }
            },
        );
        if cols <= NARROW {
            let (mut ys, mut dys) = ([0.0f32; NARROW * 16], [0.0f32; NARROW * 16]);
            for first in (0..rows).step_by(S::LANES) {
                let count = S::LANES.min(rows - first);
                rows_in(count, cols, &y[first * cols..], &mut ys);
                rows_in(count, cols, &dy[first * cols..], &mut dys);
                let mut sum = s.splat(0.0);
                for c in 0..cols {
                    let (y, dy) = (s.load(&ys[16 * c..]), s.load(&dys[16 * c..]));
                    sum = if log { s.add(sum, dy) } else { s.mul_add(dy, y, sum) };
                }
                for c in 0..cols {
                    let (y, dy) = (s.load(&ys[16 * c..]), s.load(&dys[16 * c..]));
                    s.store(slope(y, dy, sum), &mut dys[16 * c..]);
                }
                for r in 0..count {
                    for c in 0..cols {
                        let dx = &mut dx[(first + r) * cols + c];
                        *dx = dys[c * 16 + r] + if accumulate { *dx } else { 0.0 };
                    }
                }
            }
            return;
        }
        let keep = s.gt(s.splat(f32::from(u8::from(accumulate))), s.splat(0.0));
        for r in 0..rows {
            let row = r * cols..(r + 1) * cols;
            let (y, dy, dx) = (y[row.clone()].as_ptr(), dy[row.clone()].as_ptr(), dx[row].as_mut_ptr());
            // SAFETY: the three rows have `cols` floats.
            unsafe {
                let sum =
                    if log { total!(s, cols, [dy], dy) } else { total!(s, cols, [dy, y], s.mul(dy, y)) };
                let sum = s.splat(sum);
                each!(
                    s,
                    cols,
                    dx,
                    [y = (y, 1), dy = (dy, 1), old = (dx.cast_const(), 1)],
                    s.add(slope(y, dy, sum), s.select(keep, old, s.splat(0.0)))
                );
            }
        }
    }
}

/// [`softmax`] of a batch in panels.
pub fn softmax_panels(isa: Isa, batch: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    let n = crate::panels_len(batch, cols);
    dispatch(isa, SoftmaxPanels { cols, x: &x[..n], y: &mut y[..n], log: false });
}

/// [`log_softmax`] of a batch in panels.
pub fn log_softmax_panels(isa: Isa, batch: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    let n = crate::panels_len(batch, cols);
    dispatch(isa, SoftmaxPanels { cols, x: &x[..n], y: &mut y[..n], log: true });
}

struct SoftmaxPanels<'a> {
    cols: usize,
    x: &'a [f32],
    y: &'a mut [f32],
    log: bool,
}

impl Kernel for SoftmaxPanels<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        if self.cols == 0 {
            return;
        }
        let size = self.cols * PANEL;
        for (x, y) in self.x.chunks_exact(size).zip(self.y.chunks_exact_mut(size)) {
            for lane in (0..PANEL).step_by(S::LANES) {
                // SAFETY: a panel has `cols` rows of PANEL floats, and lane + LANES <= PANEL.
                unsafe {
                    softmax_down(
                        s,
                        self.cols,
                        x.as_ptr().add(lane),
                        y.as_mut_ptr().add(lane),
                        PANEL,
                        self.log,
                    );
                }
            }
        }
    }
}

// ---- layer norm ----

/// (mean, 1/std) of one row.
#[inline(always)]
pub(crate) fn row_stats<S: Simd>(s: S, x: &[f32], eps: f32) -> (f32, f32) {
    let n = x.len() as f32;
    // SAFETY: the pointer is to x.len() floats.
    unsafe {
        let mean = total!(s, x.len(), [x = x.as_ptr()], x) / n;
        let centre = s.splat(mean);
        let squares = total!(s, x.len(), [x = x.as_ptr()], {
            let d = s.sub(x, centre);
            s.mul(d, d)
        });
        (mean, 1.0 / (squares / n + eps).sqrt())
    }
}

/// Two neighbouring vectors.
pub(crate) type Pair<S> = [<S as Simd>::F; 2];

/// (mean, 1/std) down the features of the two vectors at `lane` of a panel: four chains, the feature's number mod 4.
#[inline(always)]
pub(crate) fn column_stats<S: Simd>(
    s: S,
    features: usize,
    x: &[f32],
    lane: usize,
    eps: f32,
) -> (Pair<S>, Pair<S>) {
    assert!(x.len() >= features * PANEL && lane + 2 * S::LANES <= PANEL);
    let x = x.as_ptr();
    let mut means = [s.splat(0.0); 2];
    let mut rstds = means;
    // SAFETY: feature f's two vectors end before (f + 1)·PANEL.
    unsafe {
        let sums = sum_down(
            s,
            features,
            x.add(lane),
            #[inline(always)]
            |x, _, sum| s.add(sum, x),
        );
        for v in 0..2 {
            means[v] = s.div(sums[v], s.splat(features as f32));
        }
        let sums = sum_down(
            s,
            features,
            x.add(lane),
            #[inline(always)]
            |x, v, sum| {
                let d = s.sub(x, means[v]);
                s.mul_add(d, d, sum)
            },
        );
        for v in 0..2 {
            let var = s.div(sums[v], s.splat(features as f32));
            rstds[v] = s.div(s.splat(1.0), s.sqrt(s.add(var, s.splat(eps))));
        }
    }
    (means, rstds)
}

/// Folds f(x, vector, sum) down `features` pairs of vectors that lie PANEL floats apart.
///
/// # Safety
/// x must be valid for that.
#[inline(always)]
unsafe fn sum_down<S: Simd>(
    s: S,
    features: usize,
    x: *const f32,
    f: impl Fn(S::F, usize, S::F) -> S::F,
) -> Pair<S> {
    let mut sums = [[s.splat(0.0); 2]; 4];
    let whole = features / 4 * 4;
    // SAFETY: the caller's.
    unsafe {
        for first in (0..whole).step_by(4) {
            for i in 0..4 {
                for v in 0..2 {
                    sums[i][v] = f(s.load_ptr(x.add((first + i) * PANEL + v * S::LANES)), v, sums[i][v]);
                }
            }
        }
        for i in 0..3 {
            if whole + i < features {
                for v in 0..2 {
                    sums[i][v] = f(s.load_ptr(x.add((whole + i) * PANEL + v * S::LANES)), v, sums[i][v]);
                }
            }
        }
    }
    let mut total = [s.splat(0.0); 2];
    for v in 0..2 {
        total[v] = s.add(s.add(sums[0][v], sums[1][v]), s.add(sums[2][v], sums[3][v]));
    }
    total
}

/// (mean, 1/std) of each lane, one pair after the other.
#[inline(always)]
pub(crate) fn store_stats<S: Simd>(s: S, means: Pair<S>, rstds: Pair<S>, stats: &mut [f32]) {
    let mut lanes = [[0.0; 16]; 2];
    for v in 0..2 {
        s.store(means[v], &mut lanes[0]);
        s.store(rstds[v], &mut lanes[1]);
        for l in 0..S::LANES {
            let at = 2 * (v * S::LANES + l);
            (stats[at], stats[at + 1]) = (lanes[0][l], lanes[1][l]);
        }
    }
}

/// y[features][PANEL] = max(norm(x) + residual, floor) in the two vectors at `lane`; what is absent is left out. x may be y.
///
/// # Safety
/// Every pointer must be valid for its shape: gamma and beta `[features]`, the others `[features][PANEL]`.
#[inline(always)]
pub(crate) unsafe fn finish_pair<S: Simd>(
    s: S,
    features: usize,
    lane: usize,
    x: *const f32,
    y: *mut f32,
    norm: Option<(Pair<S>, Pair<S>, *const f32, *const f32)>,
    residual: Option<*const f32>,
    floor: f32,
) {
    let floor = s.splat(floor);
    // SAFETY: the caller's.
    unsafe {
        for f in 0..features {
            let at = f * PANEL + lane;
            for v in 0..2 {
                let mut value = s.load_ptr(x.add(at + v * S::LANES));
                if let Some((means, rstds, gamma, beta)) = norm {
                    let hat = s.mul(s.sub(value, means[v]), rstds[v]);
                    value = s.mul_add(hat, s.splat(*gamma.add(f)), s.splat(*beta.add(f)));
                }
                if let Some(residual) = residual {
                    value = s.add(value, s.load_ptr(residual.add(at + v * S::LANES)));
                }
                s.store_ptr(s.max(floor, value), y.add(at + v * S::LANES));
            }
        }
    }
}

/// y = (x - mean)·rstd·gamma + beta of each row (Ba et al. 2016); `stats` takes `[rows][2]`, mean and 1/std.
pub fn layer_norm(
    isa: Isa,
    rows: usize,
    cols: usize,
    x: &[f32],
    gamma: &[f32],
    beta: &[f32],
    eps: f32,
    y: &mut [f32],
    stats: Option<&mut [f32]>,
) {
    let n = rows * cols;
    let stats = stats.map(|s| &mut s[..2 * rows]);
    dispatch(
        isa,
        LayerNorm {
            cols,
            x: &x[..n],
            gamma: &gamma[..cols],
            beta: &beta[..cols],
            eps,
            y: &mut y[..n],
            stats,
        },
    );
}

struct LayerNorm<'a> {
    cols: usize,
    x: &'a [f32],
    gamma: &'a [f32],
    beta: &'a [f32],
    eps: f32,
    y: &'a mut [f32],
    stats: Option<&'a mut [f32]>,
}

impl Kernel for LayerNorm<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        for (r, y) in self.y.chunks_exact_mut(self.cols).enumerate() {
            let x = &self.x[r * self.cols..][..self.cols];
            let (mean, rstd) = row_stats(s, x, self.eps);
            if let Some(stats) = &mut self.stats {
                stats[2 * r] = mean;
                stats[2 * r + 1] = rstd;
            }
            let (mean, rstd) = (s.splat(mean), s.splat(rstd));
            let x = (x.as_ptr(), 1);
            let (gamma, beta) = ((self.gamma.as_ptr(), 1), (self.beta.as_ptr(), 1));
            let y = y.as_mut_ptr();
            // SAFETY: a row, gamma and beta have `cols` floats.
            unsafe {
                each!(s, self.cols, y, [x, gamma, beta], s.mul_add(s.mul(s.sub(x, mean), rstd), gamma, beta));
            }
        }
    }
}

/// y = max(norm(y)·gamma + beta + residual, floor) of one row whose mean and 1/std are known; what is absent is left out.
#[inline(always)]
pub(crate) fn finish_row<S: Simd>(
    s: S,
    y: &mut [f32],
    norm: Option<(f32, f32, &[f32], &[f32])>,
    residual: Option<&[f32]>,
    floor: f32,
) {
    let (n, floor) = (y.len(), s.splat(floor));
    let p = y.as_mut_ptr();
    let (y, nothing) = ((p.cast_const(), 1), [0.0; 16]);
    let residual = residual.map_or((nothing.as_ptr(), 0), |x| (x[..n].as_ptr(), 1));
    // SAFETY: every slice was cut to the row's length; the absent residual has 16 lanes and step 0.
    unsafe {
        if let Some((mean, rstd, gamma, beta)) = norm {
            let (mean, rstd) = (s.splat(mean), s.splat(rstd));
            let (gamma, beta) = ((gamma[..n].as_ptr(), 1), (beta[..n].as_ptr(), 1));
            each!(s, n, p, [x = y, gamma = gamma, beta = beta, residual = residual], {
                let x = s.mul_add(s.mul(s.sub(x, mean), rstd), gamma, beta);
                s.max(floor, s.add(x, residual))
            });
        } else {
            each!(s, n, p, [x = y, residual = residual], s.max(floor, s.add(x, residual)));
        }
    }
}

/// [`row_stats`] and [`finish_row`] of four rows side by side, which hides the latency of the sums; the same bits. For 16
/// lanes and whole blocks of 32 columns. Returns (mean, 1/std) of each row.
///
/// # Safety
/// y (and the residual) must be valid for `[4][cols]`, gamma and beta for `[cols]`.
#[inline(always)]
pub(crate) unsafe fn finish_four_rows<S: Simd>(
    s: S,
    cols: usize,
    y: *mut f32,
    gamma: *const f32,
    beta: *const f32,
    eps: f32,
    residual: Option<*const f32>,
    floor: f32,
) -> [(f32, f32); 4] {
    let zero = s.splat(0.0);
    let n = cols as f32;
    let mut stats = [(0.0, 0.0); 4];
    let (mut means, mut rstds) = ([zero; 4], [zero; 4]);
    // SAFETY: the caller's.
    unsafe {
        for squares in [false, true] {
            let mut sums = [[zero; 2]; 4];
            for c in (0..cols).step_by(32) {
                for r in 0..4 {
                    for half in 0..2 {
                        let x = s.sub(s.load_ptr(y.add(r * cols + c + 16 * half)), means[r]);
                        sums[r][half] = s.add(sums[r][half], if squares { s.mul(x, x) } else { x });
                    }
                }
            }
            for r in 0..4 {
                let sum = s.sum_lanes([s.add(sums[r][0], sums[r][1]), zero, zero, zero]);
                if squares {
                    stats[r].1 = 1.0 / (sum / n + eps).sqrt();
                    rstds[r] = s.splat(stats[r].1);
                } else {
                    stats[r].0 = sum / n;
                    means[r] = s.splat(stats[r].0);
                }
            }
        }
        let floor = s.splat(floor);
        for c in (0..cols).step_by(16) {
            let (gamma, beta) = (s.load_ptr(gamma.add(c)), s.load_ptr(beta.add(c)));
            for r in 0..4 {
                let hat = s.mul(s.sub(s.load_ptr(y.add(r * cols + c)), means[r]), rstds[r]);
                let mut x = s.mul_add(hat, gamma, beta);
                x = s.add(
                    x,
                    residual.map_or(
                        zero,
                        #[inline(always)]
                        |p| s.load_ptr(p.add(r * cols + c)),
                    ),
                );
                s.store_ptr(s.max(floor, x), y.add(r * cols + c));
            }
        }
    }
    stats
}

/// dx (+)=, dgamma += and dbeta += of [`layer_norm`], from its input x and its `stats`.
pub fn layer_norm_backward(
    isa: Isa,
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
    let n = rows * cols;
    let (x, dy, gamma, stats) = (&x[..n], &dy[..n], &gamma[..cols], &stats[..2 * rows]);
    let height = CHUNK.div_ceil(cols.max(1));
    par::chunks_mut([&mut dx[..n]], [height * cols], |i, [dx]| {
        let (first, len) = (i * height, dx.len());
        let (x, dy, stats) = (&x[first * cols..][..len], &dy[first * cols..][..len], &stats[2 * first..]);
        dispatch(isa, LayerNormBackward { x, gamma, stats, dy, dx, accumulate });
    });
    let width = (CHUNK / rows.max(1)).max(1).next_multiple_of(64);
    par::chunks_mut([&mut dgamma[..cols], &mut dbeta[..cols]], [width; 2], |i, [dgamma, dbeta]| {
        dispatch(isa, LayerNormSums { first: i * width, stride: cols, x, stats, dy, dgamma, dbeta });
    });
}

struct LayerNormBackward<'a> {
    x: &'a [f32],
    gamma: &'a [f32],
    stats: &'a [f32],
    dy: &'a [f32],
    dx: &'a mut [f32],
    accumulate: bool,
}

impl Kernel for LayerNormBackward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let cols = self.gamma.len();
        let n = cols as f32;
        let keep = s.gt(s.splat(f32::from(u8::from(self.accumulate))), s.splat(0.0));
        for r in 0..self.x.len() / cols.max(1) {
            let row = r * cols..(r + 1) * cols;
            let (x, dy) = (self.x[row.clone()].as_ptr(), self.dy[row.clone()].as_ptr());
            let (gamma, dx) = (self.gamma.as_ptr(), self.dx[row].as_mut_ptr());
            let (mean, rstd) = (s.splat(self.stats[2 * r]), s.splat(self.stats[2 * r + 1]));
            // SAFETY: a row and gamma have `cols` floats.
            unsafe {
                let g = total!(s, cols, [dy, gamma], s.mul(dy, gamma)) / n;
                let gh =
                    total!(s, cols, [dy, gamma, x], s.mul(s.mul(dy, gamma), s.mul(s.sub(x, mean), rstd))) / n;
                let (g, gh) = (s.splat(g), s.splat(gh));
                let (x, dy, gamma, old) = ((x, 1), (dy, 1), (gamma, 1), (dx.cast_const(), 1));
                each!(s, cols, dx, [x, dy, gamma, old], {
                    let hat = s.mul(s.sub(x, mean), rstd);
                    let inner = s.sub(s.mul(dy, gamma), s.mul_add(hat, gh, g));
                    s.mul_add(rstd, inner, s.select(keep, old, s.splat(0.0)))
                });
            }
        }
    }
}

/// The parameters' sums: down the columns, in the order of the rows.
struct LayerNormSums<'a> {
    /// The first of these columns in x and dy, and the length of their rows.
    first: usize,
    stride: usize,
    x: &'a [f32],
    stats: &'a [f32],
    dy: &'a [f32],
    dgamma: &'a mut [f32],
    dbeta: &'a mut [f32],
}

impl Kernel for LayerNormSums<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let cols = self.dgamma.len();
        for c in (0..cols).step_by(S::LANES) {
            let width = S::LANES.min(cols - c);
            let part = c..c + width;
            let mut dgamma = s.load_part(&self.dgamma[part.clone()], 0.0);
            let mut dbeta = s.load_part(&self.dbeta[part.clone()], 0.0);
            for r in 0..self.stats.len() / 2 {
                let at = r * self.stride + self.first + c..r * self.stride + self.first + c + width;
                let (x, dy) = if width == S::LANES {
                    (s.load(&self.x[at.clone()]), s.load(&self.dy[at]))
                } else {
                    (s.load_part(&self.x[at.clone()], 0.0), s.load_part(&self.dy[at], 0.0))
                };
                let (mean, rstd) = (s.splat(self.stats[2 * r]), s.splat(self.stats[2 * r + 1]));
                dgamma = s.mul_add(dy, s.mul(s.sub(x, mean), rstd), dgamma);
                dbeta = s.add(dbeta, dy);
            }
            s.store_part(dgamma, &mut self.dgamma[part.clone()]);
            s.store_part(dbeta, &mut self.dbeta[part]);
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
    let n = crate::panels_len(batch, cols);
    let stats = stats.map(|s| &mut s[..crate::panels_len(batch, 2)]);
    dispatch(
        isa,
        LayerNormPanels {
            cols,
            x: &x[..n],
            gamma: &gamma[..cols],
            beta: &beta[..cols],
            eps,
            y: &mut y[..n],
            stats,
        },
    );
}

struct LayerNormPanels<'a> {
    cols: usize,
    x: &'a [f32],
    gamma: &'a [f32],
    beta: &'a [f32],
    eps: f32,
    y: &'a mut [f32],
    stats: Option<&'a mut [f32]>,
}

impl Kernel for LayerNormPanels<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let size = self.cols * PANEL;
        for (panel, y) in self.y.chunks_exact_mut(size).enumerate() {
            let x = &self.x[panel * size..][..size];
            for lane in (0..PANEL).step_by(2 * S::LANES) {
                let (means, rstds) = column_stats(s, self.cols, x, lane, self.eps);
                if let Some(stats) = &mut self.stats {
                    store_stats(s, means, rstds, &mut stats[2 * (panel * PANEL + lane)..]);
                }
                let norm = Some((means, rstds, self.gamma.as_ptr(), self.beta.as_ptr()));
                // SAFETY: x and y are one panel, gamma and beta have `cols` floats.
                unsafe {
                    finish_pair(
                        s,
                        self.cols,
                        lane,
                        x.as_ptr(),
                        y.as_mut_ptr(),
                        norm,
                        None,
                        f32::NEG_INFINITY,
                    );
                }
            }
        }
    }
}

// ---- gathers and layouts ----

/// The row of a table that an index names. Indices travel as whole f32 numbers, as every tensor does; one outside the table
/// means its nearest row.
fn clamp_index(index: f32, rows: usize) -> usize {
    (index as usize).min(rows - 1)
}

/// y[i] = table[index[i]], table `[·][cols]`.
pub fn gather_rows(_isa: Isa, cols: usize, table: &[f32], index: &[f32], y: &mut [f32]) {
    let rows = table.len() / cols;
    for (&index, y) in index.iter().zip(y.chunks_exact_mut(cols)) {
        y.copy_from_slice(&table[clamp_index(index, rows) * cols..][..cols]);
    }
}

/// dtable[index[i]] += dy[i], in the order of i.
pub fn scatter_add_rows(isa: Isa, cols: usize, dy: &[f32], index: &[f32], dtable: &mut [f32]) {
    let rows = dtable.len() / cols;
    for (&index, dy) in index.iter().zip(dy.chunks_exact(cols)) {
        add_scaled(isa, 1.0, dy, &mut dtable[clamp_index(index, rows) * cols..][..cols]);
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
pub fn rows_to_panels(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    let (x, y) = (&x[..rows * cols], &mut y[..crate::panels_len(rows, cols)]);
    if !rows.is_multiple_of(PANEL) {
        let last = y.len() - cols * PANEL;
        y[last..].fill(0.0);
    }
    dispatch(isa, Panels { rows, cols, from: x.as_ptr(), to: y.as_mut_ptr(), back: false });
}

/// `[rows/PANEL][cols][PANEL]` → `[rows][cols]`.
pub fn panels_to_rows(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    let (x, y) = (&x[..crate::panels_len(rows, cols)], &mut y[..rows * cols]);
    dispatch(isa, Panels { rows, cols, from: x.as_ptr(), to: y.as_mut_ptr(), back: true });
}

struct Panels {
    rows: usize,
    cols: usize,
    from: *const f32,
    to: *mut f32,
    back: bool,
}

impl Kernel for Panels {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Panels { rows, cols, from, to, back } = self;
        let cols4 = cols / 4 * 4;
        for r in (0..rows).step_by(4) {
            let count = 4.min(rows - r);
            let (row, panel) = (r * cols, r / PANEL * PANEL * cols + r % PANEL);
            let whole = if count == 4 { cols4 } else { 0 };
            // SAFETY: the callers cut both slices to [rows][cols] and to whole panels; 4 divides PANEL, so four rows lie in
            // one panel.
            unsafe {
                for c in (0..whole).step_by(4) {
                    if back {
                        s.transpose4(from.add(panel + c * PANEL), PANEL, to.add(row + c), cols);
                    } else {
                        s.transpose4(from.add(row + c), cols, to.add(panel + c * PANEL), PANEL);
                    }
                }
                for i in 0..count {
                    for c in whole..cols {
                        let (row, panel) = (row + i * cols + c, panel + c * PANEL + i);
                        if back {
                            *to.add(row) = *from.add(panel);
                        } else {
                            *to.add(panel) = *from.add(row);
                        }
                    }
                }
            }
        }
    }
}

// ---- the optimiser's pass ----

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
pub fn adam(isa: Isa, params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], step: &AdamStep) {
    let n = params.len();
    assert!(grads.len() == n && m.len() == n && v.len() == n);
    par::chunks_mut([params, m, v], [CHUNK; 3], |i, [params, m, v]| {
        dispatch(isa, Adam { grads: &grads[i * CHUNK..][..params.len()], params, m, v, step });
    });
}

struct Adam<'a> {
    params: &'a mut [f32],
    grads: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
    step: &'a AdamStep,
}

impl Kernel for Adam<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let step = self.step;
        let (lr, beta1, beta2) = (s.splat(step.lr), s.splat(step.beta1), s.splat(step.beta2));
        let (rest1, rest2) = (s.splat(1.0 - step.beta1), s.splat(1.0 - step.beta2));
        let (unbias1, unbias2) = (s.splat(1.0 / step.correction1), s.splat(1.0 / step.correction2));
        let (eps, decay, scale) = (s.splat(step.eps), s.splat(step.weight_decay), s.splat(step.grad_scale));
        let n = self.params.len();
        for i in (0..n).step_by(S::LANES) {
            let end = (i + S::LANES).min(n);
            let whole = end - i == S::LANES;
            let load = hot(
                #[inline(always)]
                |x: &[f32]| {
                    if whole { s.load(&x[i..]) } else { s.load_part(&x[i..end], 0.0) }
                },
            );
            let grad = s.mul(load(self.grads), scale);
            let param = load(self.params);
            let m = s.mul_add(beta1, load(self.m), s.mul(rest1, grad));
            let v = s.mul_add(beta2, load(self.v), s.mul(s.mul(rest2, grad), grad));
            let root = s.add(s.sqrt(s.mul(v, unbias2)), eps);
            let change = s.mul_add(decay, param, s.div(s.mul(m, unbias1), root));
            let param = s.neg_mul_add(lr, change, param);
            for (x, slice) in [(param, &mut *self.params), (m, &mut *self.m), (v, &mut *self.v)] {
                if whole {
                    s.store(x, &mut slice[i..]);
                } else {
                    s.store_part(x, &mut slice[i..end]);
                }
            }
        }
    }
}
