//! Output head of a language model: the product with the whole vocabulary, and the cross-entropy. One tile of rows is computed at a time,
//! so that the full matrix of logits is never stored. The gradients are computed in the same pass, so the logits are computed only once.

use super::elementwise::each;
use crate::gemm::{Epilogue, linear_rows, linear_rows_dw, linear_rows_dx};
use crate::isa::{Isa, Simd, kernel};
use crate::par::{self, CHUNK};
use crate::poly;

/// Approximate maximum number of logits in a tile. A tile stays in the last-level cache, and each tile reads and writes dw only once.
const TILE: usize = 1 << 22;

/// Returns the number of rows of a tile, for `rows` rows of `vocab` logits.
pub fn head_tile(rows: usize, vocab: usize) -> usize {
    let most = (TILE / vocab.max(1)).max(8);
    // Tiles have equal height, a multiple of 8 (the largest `Simd::TILE_ROWS`). The last tile may be lower.
    rows.div_ceil(rows.div_ceil(most).max(1)).next_multiple_of(8).min(rows)
}

/// Inputs and destinations for the gradients of [`head_loss`].
pub struct HeadSlopes<'a> {
    /// W, packed by `pack_rows_t`.
    pub packed_t: &'a [f32],
    /// Factor of each row's loss in the total loss; `None` for the factor 1. The gradient of the total loss with respect to a row's loss is
    /// `scale` times the row's factor.
    pub upstream: Option<&'a [f32]>,
    pub scale: f32,
    /// Destination for the gradient of x, `[rows][inp]`. If it is empty, this gradient is not computed.
    pub dx: &'a mut [f32],
    /// Destination for the gradient of w, `[vocab][inp]`. If it is empty, this gradient is not computed.
    pub dw: &'a mut [f32],
    /// True if the gradient of w is added to the contents of `dw`; false if the gradient replaces them.
    pub adds: bool,
}

/// Computes `loss[r]` = ln Σ_v exp(`x[r]`·`w[v]`) - `x[r]`·`w[target[r]]`, and its gradients if `slopes` is given. w is `[vocab][inp]`,
/// packed by `pack_rows`. Targets are indices as in [`super::take_columns`]. If `loss` is empty, no loss is written. `tile` must have room
/// for [`head_tile`] rows of logits.
pub fn head_loss(
    isa: Isa,
    [rows, vocab, inp]: [usize; 3],
    x: &[f32],
    packed: &[f32],
    target: &[f32],
    loss: &mut [f32],
    tile: &mut [f32],
    slopes: Option<HeadSlopes>,
) {
    let height = head_tile(rows, vocab);
    let (mut loss, mut slopes) = (if loss.is_empty() { loss } else { &mut loss[..rows] }, slopes);
    for first in (0..rows).step_by(height.max(1)) {
        let count = height.min(rows - first);
        let x = &x[first * inp..][..count * inp];
        let tile = &mut tile[..count * vocab];
        linear_rows(isa, count, vocab, inp, x, packed, tile, Epilogue::default());
        let (now, rest) = loss.split_at_mut(count.min(loss.len()));
        loss = rest;
        let upstream = slopes.as_ref().map(|s| (s.upstream.map(|u| &u[first..]), s.scale));
        let height = CHUNK.div_ceil(vocab);
        let losses = if now.is_empty() { 0 } else { height };
        par::chunks_mut([&mut *tile, now], [height * vocab, losses], |i, [logits, loss]| {
            let target = &target[first + i * height..];
            let upstream = upstream.map(|(rows, scale)| (rows.map(|rows| &rows[i * height..]), scale));
            cross_entropy(isa, vocab, logits, target, loss, upstream);
        });
        let Some(slopes) = &mut slopes else { continue };
        if !slopes.dx.is_empty() {
            let dx = &mut slopes.dx[first * inp..][..count * inp];
            linear_rows_dx(isa, count, vocab, inp, tile, slopes.packed_t, dx, false);
        }
        if !slopes.dw.is_empty() {
            linear_rows_dw(isa, count, vocab, inp, tile, x, slopes.dw, slopes.adds || first > 0);
        }
    }
}

/// Computes the loss of each row of logits. If `upstream` is given, overwrites the logits with their gradient.
fn cross_entropy(isa: Isa, vocab: usize, logits: &mut [f32], target: &[f32], loss: &mut [f32], upstream: Option<(Option<&[f32]>, f32)>) {
    kernel!(isa, |s: S, vocab: usize, logits: &mut [f32], target: &[f32], loss: &mut [f32], upstream: Option<(Option<&[f32]>, f32)>| {
        for (r, row) in logits.chunks_exact_mut(vocab).enumerate() {
            let top = largest(s, row);
            let target = super::indexed::clamp_index(target[r], vocab);
            let said = row[target];
            let tops = s.splat(top);
            // SAFETY: the row has `vocab` floats.
            unsafe {
                let sum = map_total(
                    s,
                    row,
                    #[inline(always)]
                    |x| poly::exp_within(s, s.sub(x, tops)),
                );
                if let Some(loss) = loss.get_mut(r) {
                    *loss = s.first(poly::ln(s, s.splat(sum))) + (top - said);
                }
                if let Some((rows, scale)) = upstream {
                    let upstream = rows.map_or(scale, |rows| scale * rows[r]);
                    let share = s.splat(upstream / sum);
                    let p = row.as_mut_ptr(); // not earlier: a new borrow of the row would invalidate it
                    each!(s, vocab, p, [e = (p.cast_const(), 1)], s.mul(e, share));
                    row[target] -= upstream;
                }
            }
        }
    })
}

/// Returns the maximum of a row. A long row has four independent chains; its last vector may overlap the previous ones, which does not
/// change a maximum.
#[inline(always)]
fn largest<S: Simd>(s: S, x: &[f32]) -> f32 {
    let (n, mut lanes) = (x.len(), [f32::NEG_INFINITY; 16]);
    if n < 4 * S::LANES {
        return x.iter().fold(f32::NEG_INFINITY, |m, &x| if x > m { x } else { m });
    }
    let mut top = [s.splat(f32::NEG_INFINITY); 4];
    for first in (0..n).step_by(4 * S::LANES) {
        for i in 0..4 {
            let at = (first + i * S::LANES).min(n - S::LANES);
            top[i] = s.max(s.load(&x[at..]), top[i]);
        }
    }
    s.store(s.max(s.max(top[0], top[1]), s.max(top[2], top[3])), &mut lanes);
    lanes.iter().fold(f32::NEG_INFINITY, |m, &x| if x > m { x } else { m })
}

/// Replaces each number x of a row by f(x), and returns the sum of the results. The sum has two sets of 16 virtual lanes: one for even and
/// one for odd blocks of 16 numbers.
#[inline(always)]
fn map_total<S: Simd>(s: S, x: &mut [f32], f: impl Fn(S::F) -> S::F) -> f32 {
    let mut sums = [[s.splat(0.0); 4]; 2];
    let mut blocks = x.chunks_exact_mut(32);
    for block in &mut blocks {
        for half in 0..2 {
            for p in 0..S::PARTS {
                let part = &mut block[16 * half + p * S::LANES..];
                let y = f(s.load(part));
                s.store(y, part);
                sums[half][p] = s.add(sums[half][p], y);
            }
        }
    }
    for (half, part) in blocks.into_remainder().chunks_mut(16).enumerate() {
        let (n, mut lanes) = (part.len(), [0.0; 16]);
        lanes[..n].copy_from_slice(part);
        for p in 0..S::PARTS {
            let lanes = &mut lanes[p * S::LANES..];
            s.store(f(s.load(lanes)), lanes);
        }
        part.copy_from_slice(&lanes[..n]);
        lanes[n..].fill(0.0);
        for p in 0..S::PARTS {
            sums[half][p] = s.add(sums[half][p], s.load(&lanes[p * S::LANES..]));
        }
    }
    for p in 0..S::PARTS {
        sums[0][p] = s.add(sums[0][p], sums[1][p]);
    }
    s.sum_lanes(sums[0])
}
