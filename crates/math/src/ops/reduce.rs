//! Sums of all numbers, of each row, and of each column.

use crate::isa::{Isa, Simd, kernel, strips};
use crate::par::{self, CHUNK};

/// Returns Σ_i f(`inputs[..][i]`), where f receives element i of every input. The sum has two sets of 16 virtual lanes: one for even and
/// one for odd blocks of 16 numbers.
///
/// # Safety
/// Every input must be valid for n floats.
#[inline(always)]
pub(super) unsafe fn reduce<S: Simd, const N: usize>(s: S, n: usize, inputs: [*const f32; N], f: impl Fn([S::F; N]) -> S::F) -> f32 {
    let (mut even, mut odd) = ([s.splat(0.0); 4], [s.splat(0.0); 4]);
    let mut x = [s.splat(0.0); N];
    // SAFETY: guaranteed by the caller. The numbers after the last whole pair of blocks are copied to buffers.
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

/// Calls [`reduce`] with an expression over named inputs.
macro_rules! total {
    ($s:expr, $n:expr, [$($x:ident),+], $f:expr) => {
        $crate::ops::reduce::total!($s, $n, [$($x = $x),+], $f)
    };
    ($s:expr, $n:expr, [$($x:ident = $from:expr),+], $f:expr) => {
        $crate::ops::reduce::reduce($s, $n, [$($from),+], #[inline(always)] |[$($x),+]| $f)
    };
}
pub(super) use total;

/// Returns Σ x.
pub fn sum(isa: Isa, x: &[f32]) -> f32 {
    // SAFETY: the pointer is valid for x.len() floats.
    kernel!(isa, |s: S, x: &[f32]| -> f32 { unsafe { total!(s, x.len(), [x = x.as_ptr()], x) } })
}

/// Returns Σ x². If there are more than 2²⁰ numbers, they are summed in blocks of equal size, which threads can share.
pub fn sum_of_squares(isa: Isa, x: &[f32]) -> f32 {
    const BLOCKS: usize = 256;
    if x.len() <= 1 << 20 {
        return squares(isa, x);
    }
    let size = x.len().div_ceil(BLOCKS).next_multiple_of(32);
    let (mut sums, together) = ([0.0; BLOCKS], CHUNK.div_ceil(size));
    par::chunks_mut([&mut sums], [together], |i, [sums]| {
        for (j, sum) in sums.iter_mut().enumerate() {
            let first = ((i * together + j) * size).min(x.len());
            let block = &x[first..x.len().min(first + size)];
            *sum = squares(isa, block);
        }
    });
    self::sum(isa, &sums)
}

fn squares(isa: Isa, x: &[f32]) -> f32 {
    // SAFETY: the pointer is valid for x.len() floats.
    kernel!(isa, |s: S, x: &[f32]| -> f32 { unsafe { total!(s, x.len(), [x = x.as_ptr()], s.mul(x, x)) } })
}

/// Computes `y[r]` = Σ_c `x[r][c]`.
pub fn sum_rows(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    let (x, y) = (&x[..rows * cols], &mut y[..rows]);
    kernel!(isa, |s: S, cols: usize, x: &[f32], y: &mut [f32]| {
        for (r, y) in y.iter_mut().enumerate() {
            let x = &x[r * cols..][..cols];
            *y = if cols < 16 {
                x.iter().fold(0.0, |sum, x| sum + x)
            } else {
                // SAFETY: the row has `cols` floats.
                unsafe { total!(s, cols, [x = x.as_ptr()], x) }
            };
        }
    });
}

/// Computes `y[c]` (+)= Σ_r `x[r][c]`.
pub fn sum_cols(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32], accumulate: bool) {
    if cols == 1 {
        let sum = sum(isa, &x[..rows]);
        y[0] = if accumulate { y[0] + sum } else { sum };
        return;
    }
    let x = &x[..rows * cols];
    let width = STRIP * par::share(cols.div_ceil(STRIP), STRIP * rows);
    par::chunks_mut([&mut y[..cols]], [width], |i, [y]| {
        let sums = SumCols { first: i * width, stride: cols, x, y, accumulate };
        kernel!(isa, |s: S, sums: SumCols<'_>| sums.run(s));
    });
}

/// Minimum number of columns per piece of work; the last piece may have fewer.
pub(super) const STRIP: usize = 64;

struct SumCols<'a> {
    /// Column of x that belongs to the first number of `y`.
    first: usize,
    /// Number of columns of x.
    stride: usize,
    x: &'a [f32],
    y: &'a mut [f32],
    accumulate: bool,
}

impl SumCols<'_> {
    /// Sums each column in one chain of additions, in the order of the rows.
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let cols = self.y.len();
        let mut c = 0;
        strips!(self, s: S, c < cols, [8, 4, 2]);
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

    /// Computes the sums of N vectors of columns, from column c of y on.
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
