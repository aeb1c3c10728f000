//! First layer of a network whose inputs are small integers, most of them 0. A nonzero value of an input selects a row of a table. The
//! layer is the sum of the selected rows (efficiently updatable neural networks, Nasu 2018). Rows consist of integers, so sums are exact.
//! After a change of inputs, a sum can therefore be corrected, and the corrected sum has the same bits as a new sum.
//!
//! Training changes vectors called steps, and [`fill`] computes the rows from the steps. In a graded input, the row of a value is the row
//! of the next lower value plus a scaled step. Training on lower values therefore also changes the row of a rare value. A slope is the
//! derivative of the loss with respect to a number of a row or of a step.

use crate::isa::{Isa, Simd, kernel, strips};

/// Integer that represents 1.0 in a row.
const ONE: f32 = 1_048_576.0;
/// Limit for the magnitude of a scaled step, so that sums of a thousand steps fit into 32 bits.
const MOST: f32 = 1.9;

/// Rule that computes one row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grade {
    /// Index of the row's trained step.
    pub step: u32,
    /// Factor of the step.
    pub scale: f32,
    /// True if the row is the sum of the scaled step and the previous row of the table; false if the row is the scaled step alone.
    pub onward: bool,
}

/// Computes the integers of `table[rows][width]` from the trained steps, `steps[·][width]`. The width is a multiple of 16.
pub fn fill(isa: Isa, width: usize, grades: &[Grade], steps: &[f32], table: &mut [u32]) {
    assert!(width.is_multiple_of(16) && table.len() == grades.len() * width);
    assert!(grades.iter().all(|g| (g.step as usize + 1) * width <= steps.len()));
    kernel!(isa, |s: S, width: usize, grades: &[Grade], steps: &[f32], table: &mut [u32]| {
        for c in (0..width).step_by(S::LANES) {
            let mut before = s.splat_u(0);
            for (row, grade) in grades.iter().enumerate() {
                let step = s.load(&steps[grade.step as usize * width + c..]);
                let step = s.mul(step, s.splat(grade.scale));
                let step = s.max(s.min(step, s.splat(MOST)), s.splat(-MOST));
                let step = s.i32_from_f32(s.round(s.mul(step, s.splat(ONE))));
                let from = if grade.onward { before } else { s.splat_u(0) };
                before = s.add_u(from, step);
                s.store_u(before, &mut table[row * width + c..]);
            }
        }
    });
}

/// Computes the slopes of the steps from the slopes of the table's rows. A step contributes to every row whose [`Grade`] names the step,
/// and to the rows that build on these rows. Overwrites `slopes`.
pub fn gather_slopes(isa: Isa, width: usize, grades: &[Grade], rows: &[f32], slopes: &mut [f32]) {
    assert!(width.is_multiple_of(16) && rows.len() == grades.len() * width);
    assert!(grades.iter().all(|g| (g.step as usize + 1) * width <= slopes.len()));
    kernel!(isa, |s: S, width: usize, grades: &[Grade], rows: &[f32], slopes: &mut [f32]| {
        slopes.fill(0.0);
        for c in (0..width).step_by(S::LANES) {
            let mut later = s.splat(0.0);
            for (row, grade) in grades.iter().enumerate().rev() {
                let slope = s.add(later, s.load(&rows[row * width + c..]));
                let at = grade.step as usize * width + c;
                let sum = s.mul_add(slope, s.splat(grade.scale), s.load(&slopes[at..]));
                s.store(sum, &mut slopes[at..]);
                later = if grade.onward { slope } else { s.splat(0.0) };
            }
        }
    });
}

/// Starts from the sum `from` (zeros if empty), adds the table rows listed in `added`, and subtracts the table rows listed in `taken`.
/// Writes the integer sum to `sum`, and relu(sum / `ONE`) as floats to `y`. An empty `sum` or `y` is not written.
pub fn sums(isa: Isa, width: usize, table: &[u32], from: &[u32], added: &[u16], taken: &[u16], sum: &mut [u32], y: &mut [f32]) {
    assert!(width.is_multiple_of(16) && (from.is_empty() || from.len() == width));
    assert!((sum.is_empty() || sum.len() == width) && (y.is_empty() || y.len() == width));
    let rows = table.len() / width;
    assert!(added.iter().chain(taken).all(|&row| usize::from(row) < rows));
    let sums = Sums { width, table, from, added, taken, sum, y };
    kernel!(isa, |s: S, sums: Sums<'_>| {
        let (mut sums, mut first) = (sums, 0);
        strips!(sums, s: S, first < sums.width, [8, 1]);
    });
}

struct Sums<'a> {
    width: usize,
    table: &'a [u32],
    from: &'a [u32],
    added: &'a [u16],
    taken: &'a [u16],
    sum: &'a mut [u32],
    y: &'a mut [f32],
}

impl Sums<'_> {
    #[inline(always)]
    fn strip<S: Simd, const N: usize>(&mut self, s: S, first: usize) {
        let Sums { width, table, from, added, taken, .. } = *self;
        // SAFETY: `sums` has checked that every listed row is in the table, and the strip is within the width. `from`, `sum` and `y` are
        // empty or as long as the width.
        unsafe {
            let mut x = [s.splat_u(0); N];
            if !from.is_empty() {
                for i in 0..N {
                    x[i] = s.load_u_ptr(from.as_ptr().add(first + i * S::LANES));
                }
            }
            for &row in added {
                let row = table.as_ptr().add(usize::from(row) * width + first);
                for i in 0..N {
                    x[i] = s.add_u(x[i], s.load_u_ptr(row.add(i * S::LANES)));
                }
            }
            for &row in taken {
                let row = table.as_ptr().add(usize::from(row) * width + first);
                for i in 0..N {
                    x[i] = s.sub_u(x[i], s.load_u_ptr(row.add(i * S::LANES)));
                }
            }
            if !self.sum.is_empty() {
                for i in 0..N {
                    s.store_u_ptr(x[i], self.sum.as_mut_ptr().add(first + i * S::LANES));
                }
            }
            if !self.y.is_empty() {
                for i in 0..N {
                    let float = s.mul(s.f32_from_i32(x[i]), s.splat(1.0 / ONE));
                    s.store_ptr(s.max(float, s.splat(0.0)), self.y.as_mut_ptr().add(first + i * S::LANES));
                }
            }
        }
    }
}

/// Adds `d` to each row of the table whose index is in `rows`.
pub fn scatter(isa: Isa, width: usize, d: &[f32], rows: &[u16], table: &mut [f32]) {
    assert!(width.is_multiple_of(16) && d.len() == width);
    let known = table.len() / width;
    assert!(rows.iter().all(|&row| usize::from(row) < known));
    let scatter = Scatter { width, d, rows, table };
    kernel!(isa, |s: S, scatter: Scatter<'_>| {
        let (mut scatter, mut first) = (scatter, 0);
        strips!(scatter, s: S, first < scatter.width, [8, 1]);
    });
}

struct Scatter<'a> {
    width: usize,
    d: &'a [f32],
    rows: &'a [u16],
    table: &'a mut [f32],
}

impl Scatter<'_> {
    #[inline(always)]
    fn strip<S: Simd, const N: usize>(&mut self, s: S, first: usize) {
        // SAFETY: `scatter` has checked that every listed row is in the table, and the strip is within the width.
        unsafe {
            let mut d = [s.splat(0.0); N];
            for i in 0..N {
                d[i] = s.load_ptr(self.d.as_ptr().add(first + i * S::LANES));
            }
            for &row in self.rows {
                let row = self.table.as_mut_ptr().add(usize::from(row) * self.width + first);
                for i in 0..N {
                    let p = row.add(i * S::LANES);
                    s.store_ptr(s.add(s.load_ptr(p), d[i]), p);
                }
            }
        }
    }
}

/// Maximum number of columns of [`softmax_open`].
pub const MOST_OPEN: usize = 8;

/// Computes `y[r]` = softmax(`x[r]`) over the columns c for which bit c of `open[r]` is set; the other columns are 0. Rows of x are
/// `stride` floats apart; y is `[rows][cols]`. If no bit is set, the row is all 0.
pub fn softmax_open(isa: Isa, cols: usize, stride: usize, x: &[f32], open: &[u8], y: &mut [f32]) {
    let rows = open.len();
    assert!((1..=MOST_OPEN).contains(&cols) && cols <= stride);
    assert!(rows == 0 || x.len() >= (rows - 1) * stride + cols);
    assert!(y.len() >= rows * cols);
    kernel!(isa, |s: S, cols: usize, stride: usize, x: &[f32], open: &[u8], y: &mut [f32]| {
        const CLOSED: f32 = -1e30;
        for first in (0..open.len()).step_by(S::LANES) {
            let count = S::LANES.min(open.len() - first);
            let mut turned = [[CLOSED; 16]; MOST_OPEN];
            for r in 0..count {
                let row = &x[(first + r) * stride..];
                for c in 0..cols {
                    turned[c][r] = if open[first + r] >> c & 1 == 1 { row[c] } else { CLOSED };
                }
            }
            let mut most = s.splat(CLOSED);
            for c in 0..cols {
                most = s.max(s.load(&turned[c]), most);
            }
            let mut sum = s.splat(0.0);
            for c in 0..cols {
                let logit = s.load(&turned[c]);
                let share = crate::poly::exp(s, s.sub(logit, most));
                let share = s.select(s.gt(logit, s.splat(CLOSED)), share, s.splat(0.0));
                sum = s.add(sum, share);
                s.store(share, &mut turned[c]);
            }
            let sum = s.max(sum, s.splat(f32::MIN_POSITIVE));
            for c in 0..cols {
                s.store(s.div(s.load(&turned[c]), sum), &mut turned[c]);
            }
            for r in 0..count {
                for c in 0..cols {
                    y[(first + r) * cols + c] = turned[c][r];
                }
            }
        }
    });
}

/// Moves y towards x: y += share · (x - y).
pub fn approach(isa: Isa, share: f32, x: &[f32], y: &mut [f32]) {
    assert_eq!(x.len(), y.len());
    kernel!(isa, |s: S, share: f32, x: &[f32], y: &mut [f32]| {
        let share = s.splat(share);
        for (x, y) in x.chunks(S::LANES).zip(y.chunks_mut(S::LANES)) {
            if y.len() == S::LANES {
                let old = s.load(y);
                s.store(s.mul_add(share, s.sub(s.load(x), old), old), y);
            } else {
                let old = s.load_part(y, 0.0);
                s.store_part(s.mul_add(share, s.sub(s.load_part(x, 0.0), old), old), y);
            }
        }
    });
}
