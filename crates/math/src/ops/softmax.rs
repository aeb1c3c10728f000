//! Softmax of each row, or the logarithm of the softmax, and their backward passes.

use super::elementwise::{each, hot};
use super::reduce::total;
use crate::isa::{Isa, Simd, kernel};
use crate::{PANEL, poly};

/// Maximum length of a short row. Several short rows are processed together, one row per lane. A longer row is processed alone, with its
/// columns along the lanes.
const NARROW: usize = 32;

/// Computes y = softmax of each row, or the logarithm of the softmax if `log` is true.
pub fn softmax(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32], log: bool) {
    let (x, y) = (&x[..rows * cols], &mut y[..rows * cols]);
    kernel!(isa, |s: S, rows: usize, cols: usize, x: &[f32], y: &mut [f32], log: bool| {
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
    });
}

/// Computes the softmax of each lane over `cols` vectors that are `stride` floats apart, or the logarithm of the softmax if `log` is true.
/// x and y may be the same address.
///
/// # Safety
/// x and y must be valid for `cols` vectors at that stride.
#[inline(always)]
unsafe fn softmax_down<S: Simd>(s: S, cols: usize, x: *const f32, y: *mut f32, stride: usize, log: bool) {
    // SAFETY: guaranteed by the caller.
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

/// Copies at most LANES rows of `cols` numbers to `[cols][16]`, one row per lane.
#[inline(always)]
fn rows_in(rows: usize, cols: usize, x: &[f32], lanes: &mut [f32]) {
    for r in 0..rows {
        for c in 0..cols {
            lanes[c * 16 + r] = x[r * cols + c];
        }
    }
}

/// Returns the maximum of a row of 16 or more numbers.
#[inline(always)]
fn row_max<S: Simd>(s: S, x: &[f32]) -> f32 {
    let mut top = s.load(x);
    for c in (0..x.len()).step_by(S::LANES) {
        // The last vector may overlap the previous one, which does not change a maximum.
        top = s.max(s.load(&x[c.min(x.len() - S::LANES)..]), top);
    }
    let mut lanes = [f32::NEG_INFINITY; 16];
    s.store(top, &mut lanes);
    lanes.iter().fold(f32::NEG_INFINITY, |m, &x| if x > m { x } else { m })
}

/// Computes dx of [`softmax`] from its output y: dx = y·(dy - Σ dy·y), or dx = dy - eʸ·Σ dy if `log` is true.
pub fn softmax_backward(isa: Isa, rows: usize, cols: usize, y: &[f32], dy: &[f32], dx: &mut [f32], log: bool) {
    let n = rows * cols;
    let (y, dy, dx) = (&y[..n], &dy[..n], &mut dx[..n]);
    kernel!(isa, |s: S, rows: usize, cols: usize, y: &[f32], dy: &[f32], dx: &mut [f32], log: bool| {
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
                        dx[(first + r) * cols + c] = dys[c * 16 + r];
                    }
                }
            }
            return;
        }
        for r in 0..rows {
            let row = r * cols..(r + 1) * cols;
            let (y, dy, dx) = (y[row.clone()].as_ptr(), dy[row.clone()].as_ptr(), dx[row].as_mut_ptr());
            // SAFETY: the three rows have `cols` floats.
            unsafe {
                let sum = if log { total!(s, cols, [dy], dy) } else { total!(s, cols, [dy, y], s.mul(dy, y)) };
                let sum = s.splat(sum);
                each!(s, cols, dx, [y = (y, 1), dy = (dy, 1)], slope(y, dy, sum));
            }
        }
    });
}

/// Computes [`softmax`] of a batch in panels.
pub fn softmax_panels(isa: Isa, batch: usize, cols: usize, x: &[f32], y: &mut [f32], log: bool) {
    let n = crate::panels_len(batch, cols);
    let (x, y) = (&x[..n], &mut y[..n]);
    kernel!(isa, |s: S, cols: usize, x: &[f32], y: &mut [f32], log: bool| {
        if cols == 0 {
            return;
        }
        let size = cols * PANEL;
        for (x, y) in x.chunks_exact(size).zip(y.chunks_exact_mut(size)) {
            for lane in (0..PANEL).step_by(S::LANES) {
                // SAFETY: a panel has `cols` rows of PANEL floats, and lane + LANES <= PANEL.
                unsafe {
                    softmax_down(s, cols, x.as_ptr().add(lane), y.as_mut_ptr().add(lane), PANEL, log);
                }
            }
        }
    })
}
