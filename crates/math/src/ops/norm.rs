//! Layer norm and root mean square norm, with their backward passes. The epilogues of matrix products use parts of this module.

use super::elementwise::{each, hot};
use super::reduce::{STRIP, total};
use crate::PANEL;
use crate::isa::{Isa, Simd, kernel, strips};
use crate::par;

/// Returns the statistics of one row for a root mean square norm: (0, 1/√(mean of x² + eps)).
#[inline(always)]
fn row_scale<S: Simd>(s: S, x: &[f32], eps: f32) -> (f32, f32) {
    // SAFETY: the pointer is valid for x.len() floats.
    let squares = unsafe { total!(s, x.len(), [x = x.as_ptr()], s.mul(x, x)) };
    (0.0, 1.0 / (squares / x.len() as f32 + eps).sqrt())
}

/// Returns the mean and 1/√(variance + eps) of one row.
#[inline(always)]
pub(crate) fn row_stats<S: Simd>(s: S, x: &[f32], eps: f32) -> (f32, f32) {
    let n = x.len() as f32;
    // SAFETY: the pointer is valid for x.len() floats.
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

/// Two adjacent vectors of a panel's row.
pub(crate) type Pair<S> = [<S as Simd>::F; 2];

/// Returns (mean, 1/std) over the features of each lane, for the two vectors at `lane` of a panel. A sum has four chains: feature f belongs
/// to chain f mod 4.
#[inline(always)]
pub(crate) fn column_stats<S: Simd>(s: S, features: usize, x: &[f32], lane: usize, eps: f32) -> (Pair<S>, Pair<S>) {
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

/// Computes two sums, a [`Pair`], over `features` rows that are PANEL floats apart. For each row, replaces sum v by f(vector v of the row,
/// v, sum v).
///
/// # Safety
/// x must be valid for these reads.
#[inline(always)]
unsafe fn sum_down<S: Simd>(s: S, features: usize, x: *const f32, f: impl Fn(S::F, usize, S::F) -> S::F) -> Pair<S> {
    let mut sums = [[s.splat(0.0); 2]; 4];
    let whole = features / 4 * 4;
    // SAFETY: guaranteed by the caller.
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

/// Stores the mean and 1/std of each lane to `stats`, `[lane][2]`.
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

/// Computes `y[features][PANEL]` = max(norm(x) + residual, floor) for the two vectors at `lane`. If `norm` or `residual` is `None`, it is
/// skipped. x and y may be the same address.
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
    // SAFETY: guaranteed by the caller.
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

/// Normalises each row. With a beta, y = (x - mean)·rstd·gamma + beta (layer norm, Ba et al. 2016). Without a beta, y = x/√(mean of x² +
/// eps)·gamma (root mean square norm, Zhang and Sennrich 2019). If `stats` is not empty, writes (mean, rstd) of each row to `stats`,
/// `[rows][2]`. Without a beta, mean is 0 and rstd is 1/√(mean of x² + eps).
pub fn norm(
    isa: Isa,
    rows: usize,
    cols: usize,
    x: &[f32],
    gamma: &[f32],
    beta: Option<&[f32]>,
    eps: f32,
    y: &mut [f32],
    stats: &mut [f32],
) {
    let (x, gamma, beta, y) = (&x[..rows * cols], &gamma[..cols], beta.map(|beta| &beta[..cols]), &mut y[..rows * cols]);
    kernel!(isa, |s: S, cols: usize, x: &[f32], gamma: &[f32], beta: Option<&[f32]>, eps: f32, y: &mut [f32], stats: &mut [f32]| {
        for (r, y) in y.chunks_exact_mut(cols).enumerate() {
            let x = &x[r * cols..][..cols];
            let (mean, rstd) = match beta {
                Some(_) => row_stats(s, x, eps),
                None => row_scale(s, x, eps),
            };
            if !stats.is_empty() {
                (stats[2 * r], stats[2 * r + 1]) = (mean, rstd);
            }
            let (mean, rstd) = (s.splat(mean), s.splat(rstd));
            let (x, gamma, y) = ((x.as_ptr(), 1), (gamma.as_ptr(), 1), y.as_mut_ptr());
            // SAFETY: a row, gamma and beta have `cols` floats.
            unsafe {
                if let Some(beta) = beta {
                    let beta = (beta.as_ptr(), 1);
                    each!(s, cols, y, [x, gamma, beta], s.mul_add(s.mul(s.sub(x, mean), rstd), gamma, beta));
                } else {
                    each!(s, cols, y, [x, gamma], s.mul(s.mul(x, rstd), gamma));
                }
            }
        }
    })
}

/// Computes y = max((y - mean)·rstd·gamma + beta + residual, floor) of one row, where `norm` is (mean, rstd, gamma, beta). A norm or
/// residual that is `None` is skipped.
#[inline(always)]
pub(crate) fn finish_row<S: Simd>(s: S, y: &mut [f32], norm: Option<(f32, f32, &[f32], &[f32])>, residual: Option<&[f32]>, floor: f32) {
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

/// Computes [`row_stats`] and [`finish_row`] of four rows at the same time, which hides the latency of the sums. The bits are the same as
/// for single rows. Requires 16 lanes, and `cols` must be a multiple of 32. Returns (mean, 1/std) of each row.
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
    // SAFETY: guaranteed by the caller.
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

/// Computes the gradients of [`norm`] from its input x and its `stats`. Overwrites dx; adds to dgamma and dbeta.
pub fn norm_backward(
    isa: Isa,
    rows: usize,
    cols: usize,
    x: &[f32],
    gamma: &[f32],
    stats: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    dgamma: &mut [f32],
    dbeta: Option<&mut [f32]>,
) {
    let (n, centred) = (rows * cols, dbeta.is_some());
    let (x, dy, gamma, stats) = (&x[..n], &dy[..n], &gamma[..cols], &stats[..2 * rows]);
    let height = par::share(rows, cols);
    par::chunks_mut([&mut dx[..n]], [height * cols], |i, [dx]| {
        let (first, len) = (i * height, dx.len());
        let (x, dy, stats) = (&x[first * cols..][..len], &dy[first * cols..][..len], &stats[2 * first..]);
        slopes_of_rows(isa, centred, x, gamma, stats, dy, dx);
    });
    let width = STRIP * par::share(cols.div_ceil(STRIP), STRIP * rows);
    let (dbeta, beta_width) = dbeta.map_or((&mut [][..], 0), |dbeta| (&mut dbeta[..cols], width));
    par::chunks_mut([&mut dgamma[..cols], dbeta], [width, beta_width], |i, [dgamma, dbeta]| {
        let sums = LayerNormSums { first: i * width, stride: cols, x, stats, dy, dgamma, dbeta };
        kernel!(isa, |s: S, sums: LayerNormSums<'_>| sums.run(s));
    });
}

fn slopes_of_rows(isa: Isa, centred: bool, x: &[f32], gamma: &[f32], stats: &[f32], dy: &[f32], dx: &mut [f32]) {
    kernel!(isa, |s: S, centred: bool, x: &[f32], gamma: &[f32], stats: &[f32], dy: &[f32], dx: &mut [f32]| {
        let cols = gamma.len();
        let n = cols as f32;
        for r in 0..x.len() / cols.max(1) {
            let row = r * cols..(r + 1) * cols;
            let (x, dy) = (x[row.clone()].as_ptr(), dy[row.clone()].as_ptr());
            let (gamma, dx) = (gamma.as_ptr(), dx[row].as_mut_ptr());
            let (mean, rstd) = (s.splat(stats[2 * r]), s.splat(stats[2 * r + 1]));
            // SAFETY: a row and gamma have `cols` floats.
            unsafe {
                let g = if centred { total!(s, cols, [dy, gamma], s.mul(dy, gamma)) / n } else { 0.0 };
                let gh = total!(s, cols, [dy, gamma, x], s.mul(s.mul(dy, gamma), s.mul(s.sub(x, mean), rstd))) / n;
                let (g, gh) = (s.splat(g), s.splat(gh));
                let (x, dy, gamma) = ((x, 1), (dy, 1), (gamma, 1));
                each!(s, cols, dx, [x, dy, gamma], {
                    let hat = s.mul(s.sub(x, mean), rstd);
                    let inner = s.sub(s.mul(dy, gamma), s.mul_add(hat, gh, g));
                    s.mul(rstd, inner)
                });
            }
        }
    })
}

/// Gradients of gamma and beta for some columns. The rows of each column are added in order: dy·(x - mean)·rstd to gamma's gradient, and dy
/// to beta's gradient. Both sums start from the previous contents of `dgamma` and `dbeta`.
struct LayerNormSums<'a> {
    /// Column of x and dy that belongs to the first number of `dgamma`.
    first: usize,
    /// Number of columns of x and dy.
    stride: usize,
    x: &'a [f32],
    stats: &'a [f32],
    dy: &'a [f32],
    dgamma: &'a mut [f32],
    /// Gradient of beta; empty for a root mean square norm.
    dbeta: &'a mut [f32],
}

impl LayerNormSums<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let cols = self.dgamma.len();
        let mut c = 0;
        strips!(self, s: S, c < cols, [4]);
        while c < cols {
            self.strip::<S, 1>(s, c);
            c += S::LANES;
        }
    }

    /// Sums N vectors of columns, from column c of `dgamma` on. The vectors are summed side by side: their chains are independent, and
    /// adjacent numbers of a row are read together. If N is 1, the vector may extend beyond the last column.
    #[inline(always)]
    fn strip<S: Simd, const N: usize>(&mut self, s: S, c: usize) {
        let width = (N * S::LANES).min(self.dgamma.len() - c);
        let load = hot(
            #[inline(always)]
            |x: &[f32], v: usize| {
                if width < S::LANES { s.load_part(x, 0.0) } else { s.load(&x[v * S::LANES..]) }
            },
        );
        let has_beta = !self.dbeta.is_empty();
        let (mut dgamma, mut dbeta) = ([s.splat(0.0); N], [s.splat(0.0); N]);
        for v in 0..N {
            dgamma[v] = load(&self.dgamma[c..c + width], v);
            if has_beta {
                dbeta[v] = load(&self.dbeta[c..c + width], v);
            }
        }
        let rows = self.x.chunks_exact(self.stride).zip(self.dy.chunks_exact(self.stride));
        for ((x, dy), stats) in rows.zip(self.stats.chunks_exact(2)) {
            let (x, dy) = (&x[self.first + c..][..width], &dy[self.first + c..][..width]);
            let (mean, rstd) = (s.splat(stats[0]), s.splat(stats[1]));
            for v in 0..N {
                let slope = load(dy, v);
                dgamma[v] = s.mul_add(slope, s.mul(s.sub(load(x, v), mean), rstd), dgamma[v]);
                dbeta[v] = s.add(dbeta[v], slope);
            }
        }
        for v in 0..N {
            let part = c + v * S::LANES..c + width.min((v + 1) * S::LANES);
            s.store_part(dgamma[v], &mut self.dgamma[part.clone()]);
            if has_beta {
                s.store_part(dbeta[v], &mut self.dbeta[part]);
            }
        }
    }
}

/// Computes the layer norm of a batch in panels. `stats` receives (mean, 1/std) as `[batch rounded up to whole panels][2]`, unless it is
/// empty.
pub fn layer_norm_panels(
    isa: Isa,
    batch: usize,
    cols: usize,
    x: &[f32],
    gamma: &[f32],
    beta: &[f32],
    eps: f32,
    y: &mut [f32],
    stats: &mut [f32],
) {
    let n = crate::panels_len(batch, cols);
    let (x, gamma, beta, y) = (&x[..n], &gamma[..cols], &beta[..cols], &mut y[..n]);
    kernel!(isa, |s: S, cols: usize, x: &[f32], gamma: &[f32], beta: &[f32], eps: f32, y: &mut [f32], stats: &mut [f32]| {
        let size = cols * PANEL;
        for (panel, y) in y.chunks_exact_mut(size).enumerate() {
            let x = &x[panel * size..][..size];
            for lane in (0..PANEL).step_by(2 * S::LANES) {
                let (means, rstds) = column_stats(s, cols, x, lane, eps);
                if !stats.is_empty() {
                    store_stats(s, means, rstds, &mut stats[2 * (panel * PANEL + lane)..]);
                }
                let norm = Some((means, rstds, gamma.as_ptr(), beta.as_ptr()));
                // SAFETY: x and y are one panel, gamma and beta have `cols` floats.
                unsafe {
                    finish_pair(s, cols, lane, x.as_ptr(), y.as_mut_ptr(), norm, None, f32::NEG_INFINITY);
                }
            }
        }
    });
}
