//! Causal attention of each head of each sequence, its backward pass, and rotary positions.
//!
//! A row holds one token's query, key and value: `q | k | v`. Within the query, the key and the value, the columns of a head are adjacent.
//! Queries are processed [`PANEL`] at a time, one per lane, and their scores are `[keys][PANEL]`. Each lane computes the softmax of one
//! query, so the full matrix of scores is never stored. Sums over keys are added in the order of the keys, and sums over queries in the
//! order of the queries.

use crate::PANEL;
use crate::gemm::{PIECE, panel_product};
use crate::isa::{Isa, kernel};
use crate::{par, poly};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Maximum number of columns of a head.
pub const HEAD: usize = 256;
/// Number of keys in a block. The scores of one block are in memory at a time.
const KEYS: usize = 128;

/// Computes y = softmax(q·kᵀ/√size)·v of each head, where a query attends to the keys up to its own position. qkv is `[rows][3·cols]` and y
/// is `[rows][cols]`, with `len` rows per sequence. If `lse` is given, it receives the logarithm to base 2 of the sum of exponentials of
/// each softmax, `[rows/len][heads][len]`, for the backward pass.
pub fn causal_attention(isa: Isa, heads: usize, len: usize, cols: usize, qkv: &[f32], y: &mut [f32], lse: Option<&mut [f32]>) {
    let rows = qkv.len() / (3 * cols);
    assert!(rows.is_multiple_of(len) && cols.is_multiple_of(heads) && cols / heads <= HEAD);
    assert!(y.len() >= rows * cols && lse.as_ref().is_none_or(|lse| lse.len() >= rows * heads));
    let to = Shared([y.as_mut_ptr(), lse.map_or(std::ptr::null_mut(), |lse| lse.as_mut_ptr())]);
    pieces(heads, len, rows, 2 * cols, |i| {
        let [y, lse] = to.get();
        // SAFETY: the lengths were just checked in whole rows; no two heads write the same columns of the same rows.
        unsafe {
            let head = Head::of(qkv, heads, len, cols, i);
            let y = y.add(i / heads * len * cols + i % heads * head.size);
            let lse = if lse.is_null() { lse } else { lse.add(i * len) };
            head.forward(isa, 0..len, (y, cols), lse);
        }
    });
}

/// Computes only the last row of y of one sequence, with the same bits as [`causal_attention`]. q is one query, `[cols]`. k and v are
/// `[keys][cols]`; their last row belongs to this query.
pub fn attend_one(isa: Isa, heads: usize, cols: usize, q: &[f32], k: &[f32], v: &[f32], y: &mut [f32]) {
    let keys = k.len() / cols;
    assert!(keys > 0 && cols.is_multiple_of(heads) && cols / heads <= HEAD);
    assert!(q.len() >= cols && v.len() >= keys * cols && y.len() >= cols);
    let (size, before) = (cols / heads, (keys - 1) * cols);
    for h in 0..heads {
        let at = h * size;
        // SAFETY: as in [`causal_attention`]. q and y contain the last row alone, and no other row is accessed.
        unsafe {
            let (k, v) = (k.as_ptr().add(at), v.as_ptr().add(at));
            let (q, y) = (q.as_ptr().add(at).wrapping_sub(before), y.as_mut_ptr().add(at).wrapping_sub(before));
            let head = Head { size, q, k, v, stride: cols };
            head.forward(isa, keys - 1..keys, (y, cols), std::ptr::null_mut());
        }
    }
}

/// Computes dqkv of [`causal_attention`] from dy, the input qkv, the output y, and the `lse` of the forward pass.
pub fn causal_attention_backward(
    isa: Isa,
    heads: usize,
    len: usize,
    cols: usize,
    qkv: &[f32],
    y: &[f32],
    lse: &[f32],
    dy: &[f32],
    dqkv: &mut [f32],
) {
    let rows = qkv.len() / (3 * cols);
    assert!(rows.is_multiple_of(len) && cols.is_multiple_of(heads) && cols / heads <= HEAD);
    assert!(y.len() >= rows * cols && dy.len() >= rows * cols);
    assert!(lse.len() >= rows * heads && dqkv.len() >= rows * 3 * cols);
    let to = Shared([dqkv.as_mut_ptr()]);
    pieces(heads, len, rows, 5 * cols, |i| {
        let [dqkv] = to.get();
        let (first, column) = (i / heads * len, i % heads * (cols / heads));
        // SAFETY: the lengths were just checked in whole rows; no two heads write the same columns of the same rows.
        unsafe {
            let dq = dqkv.add(first * 3 * cols + column);
            let slopes = Slopes {
                y: y.as_ptr().add(first * cols + column),
                dy: dy.as_ptr().add(first * cols + column),
                cols,
                lse: lse.as_ptr().add(i * len),
                dqkv: [dq, dq.add(cols), dq.add(2 * cols)],
            };
            Head::of(qkv, heads, len, cols, i).backward(isa, len, &slopes);
        }
    });
}

/// Addresses of the outputs, which the threads share. Each piece of work writes only the columns of its own heads.
struct Shared<const N: usize>([*mut f32; N]);

// SAFETY: a piece of work consists of whole heads. No other piece accesses the columns of these heads in the rows of their sequences.
unsafe impl<const N: usize> Sync for Shared<N> {}

impl<const N: usize> Shared<N> {
    fn get(&self) -> [*mut f32; N] {
        self.0
    }
}

/// Calls `f(i)` for each head i of all sequences. Threads share the heads if there is enough work. The work is estimated as `cols` / 2
/// multiply-adds for each pair of a query and a key of the same sequence.
fn pieces(heads: usize, len: usize, rows: usize, cols: usize, f: impl Fn(usize) + Sync) {
    let (count, work) = (rows / len * heads, rows as u64 * len as u64 * cols as u64 / 2);
    if work < 2 * PIECE as u64 {
        return (0..count).for_each(f);
    }
    let parts = par::evenly(count.min((work / PIECE as u64) as usize));
    par::each(parts, |i| (count * i / parts..count * (i + 1) / parts).for_each(&f));
}

/// One head of one sequence: the number of columns, the addresses of the first row of q, k and v, and the stride of the rows in floats.
struct Head {
    size: usize,
    q: *const f32,
    k: *const f32,
    v: *const f32,
    stride: usize,
}

impl Head {
    unsafe fn of(qkv: &[f32], heads: usize, len: usize, cols: usize, i: usize) -> Head {
        let (size, stride) = (cols / heads, 3 * cols);
        // SAFETY: the caller guarantees that head i exists.
        unsafe {
            let q = qkv.as_ptr().add(i / heads * len * stride + i % heads * size);
            Head { size, q, k: q.add(cols), v: q.add(2 * cols), stride }
        }
    }

    fn scale(&self) -> f32 {
        1.0 / (self.size as f32).sqrt()
    }

    /// Returns the factor that turns q·k into an exponent of 2: exp(x·scale) = 2^(x·scale2).
    fn scale2(&self) -> f32 {
        std::f32::consts::LOG2_E * self.scale()
    }

    /// Computes the rows `queries` of y. `y` and `lse` are the addresses of row 0; if `lse` is null, no logarithms are written. Never
    /// inlined, because the buffers use much stack.
    #[inline(never)]
    unsafe fn forward(&self, isa: Isa, queries: Range<usize>, (y, y_stride): (*mut f32, usize), lse: *mut f32) {
        /// Buffers, large enough for the widest head.
        #[repr(align(64))]
        struct Scratch {
            /// Queries, transposed: `[size][PANEL]`.
            q: [f32; HEAD * PANEL],
            /// Scores, then exponentials: `[KEYS][PANEL]`.
            scores: [f32; KEYS * PANEL],
            /// Values: `[size/PANEL][KEYS][PANEL]`.
            v: [f32; HEAD * KEYS],
        }
        let mut scratch = MaybeUninit::<Scratch>::uninit();
        let s = scratch.as_mut_ptr();
        let Head { size, stride, .. } = *self;
        // SAFETY: guaranteed by the caller; every buffer is as large as its description says.
        unsafe {
            let (q, scores, v) = (&raw mut (*s).q, &raw mut (*s).scores, &raw mut (*s).v);
            let (q, scores, v) = (q.cast::<f32>(), scores.cast::<f32>(), v.cast::<f32>());
            let mut held = 0..0;
            for first in queries.clone().step_by(PANEL) {
                let count = PANEL.min(queries.end - first);
                let (lanes, end) = (if count <= HALF { HALF } else { PANEL }, first + count);
                let y = y.wrapping_add(first * y_stride);
                let mut sums = Sums::default();
                turn(isa, Rows { p: self.q.wrapping_add(first * stride), stride, count, size }, q);
                for k0 in (0..end).step_by(KEYS) {
                    let (keys, again) = (KEYS.min(end - k0), k0 > 0);
                    let block = Block { keys, diagonal: first - k0, count };
                    for (rows, lane) in block.scores() {
                        let k = (self.k.add((k0 + rows.start) * stride), stride, 1);
                        let to = (scores.add(rows.start * PANEL + lane), PANEL);
                        panel_product(isa, [rows.len(), lanes - lane, size], k, q.add(lane), to, false);
                    }
                    softmax(isa, scores, block, again, self.scale2(), &mut sums);
                    hold(isa, &mut held, k0..k0 + keys, Rows { p: self.v, stride, count: KEYS, size }, v);
                    if again {
                        let by = &sums.factors;
                        scale_rows(isa, y, y_stride, count, size, by, false);
                    }
                    for c in (0..size).step_by(PANEL) {
                        for (queries, keys) in block.queries() {
                            let shape = [queries.len(), PANEL.min(size - c), keys];
                            let (p, v) = ((scores.add(queries.start).cast_const(), 1, PANEL), v.add(c * KEYS));
                            let to = (y.add(queries.start * y_stride + c), y_stride);
                            panel_product(isa, shape, p, v, to, again);
                        }
                    }
                }
                scale_rows(isa, y, y_stride, count, size, &sums.sums, true);
                if !lse.is_null() {
                    logarithms(isa, &mut sums, self.scale2());
                    std::ptr::copy_nonoverlapping(sums.sums.as_ptr(), lse.add(first), count);
                }
            }
        }
    }

    /// Computes dq of each panel of queries, and the panel's contribution to dk and dv. Key i is used by query i and later queries only.
    /// The panel that contains query i therefore overwrites dk and dv of key i, and later panels add to them. Never inlined, because the
    /// buffers use much stack.
    #[inline(never)]
    unsafe fn backward(&self, isa: Isa, len: usize, slopes: &Slopes) {
        /// Buffers, large enough for the widest head.
        #[repr(align(64))]
        struct Scratch {
            /// Queries, transposed: `[size][PANEL]`.
            q_turned: [f32; HEAD * PANEL],
            /// dy, transposed: `[size][PANEL]`.
            dy_turned: [f32; HEAD * PANEL],
            /// Queries: `[size/PANEL][PANEL][PANEL]`.
            q: [f32; HEAD * PANEL],
            dy: [f32; HEAD * PANEL],
            /// Probabilities: `[KEYS][PANEL]`.
            p: [f32; KEYS * PANEL],
            /// Gradients of the probabilities, then of the scores: `[KEYS][PANEL]`.
            ds: [f32; KEYS * PANEL],
            /// Keys: `[size/PANEL][KEYS][PANEL]`.
            k: [f32; HEAD * KEYS],
        }
        let mut scratch = MaybeUninit::<Scratch>::uninit();
        let s = scratch.as_mut_ptr();
        let Head { size, stride, .. } = *self;
        let (cols, [dq, dk, dv]) = (slopes.cols, slopes.dqkv);
        // SAFETY: guaranteed by the caller; every buffer is as large as its description says.
        unsafe {
            let panels = [&raw mut (*s).q_turned, &raw mut (*s).dy_turned, &raw mut (*s).q, &raw mut (*s).dy];
            let [q_turned, dy_turned, q, dy] = panels.map(|p| p.cast::<f32>());
            let [p, ds] = [&raw mut (*s).p, &raw mut (*s).ds].map(|p| p.cast::<f32>());
            let (k, mut held) = ((&raw mut (*s).k).cast::<f32>(), 0..0);
            for first in (0..len).step_by(PANEL) {
                let count = PANEL.min(len - first);
                let from = Rows { p: self.q.add(first * stride), stride, count, size };
                turn(isa, from, q_turned);
                copy(isa, from, PANEL, q);
                let from = Rows { p: slopes.dy.add(first * cols), stride: cols, count, size };
                turn(isa, from, dy_turned);
                copy(isa, from, PANEL, dy);
                let (mut lse, mut delta) = ([0.0; PANEL], [0.0; PANEL]);
                std::ptr::copy_nonoverlapping(slopes.lse.add(first), lse.as_mut_ptr(), count);
                deltas(isa, from, slopes.y.add(first * cols), &mut delta);
                for k0 in (0..first + count).step_by(KEYS) {
                    let keys = KEYS.min(first + count - k0);
                    let block = Block { keys, diagonal: first - k0, count };
                    let at = k0 * stride;
                    for (from, by, to) in [(self.k, q_turned, p), (self.v, dy_turned, ds)] {
                        for (rows, lane) in block.scores() {
                            let a = (from.add(at + rows.start * stride), stride, 1);
                            let to = (to.add(rows.start * PANEL + lane), PANEL);
                            panel_product(isa, [rows.len(), PANEL - lane, size], a, by.add(lane), to, false);
                        }
                    }
                    let (scale, scale2) = (self.scale(), self.scale2());
                    score_slopes(isa, p, ds, block, scale, scale2, &lse, &delta);
                    hold(isa, &mut held, k0..k0 + keys, Rows { p: self.k, stride, count: KEYS, size }, k);
                    for c in (0..size).step_by(PANEL) {
                        let n = PANEL.min(size - c);
                        for (from, by, to) in [(p, dy, dv), (ds, q, dk)] {
                            for (rows, query) in block.keys() {
                                let a = (from.add(rows.start * PANEL + query).cast_const(), PANEL, 1);
                                let b = by.add(c * PANEL + query * PANEL);
                                let to = (to.add(at + rows.start * stride + c), stride);
                                let adds = rows.start < block.diagonal;
                                panel_product(isa, [rows.len(), n, count - query], a, b, to, adds);
                            }
                        }
                        for (queries, keys) in block.queries() {
                            let a = (ds.add(queries.start).cast_const(), 1, PANEL);
                            let to = (dq.add((first + queries.start) * stride + c), stride);
                            panel_product(isa, [queries.len(), n, keys], a, k.add(c * KEYS), to, k0 > 0);
                        }
                    }
                }
            }
        }
    }
}

/// Inputs and outputs of the backward pass of one head. Each pointer is the address of the head's first row.
struct Slopes {
    y: *const f32,
    dy: *const f32,
    /// Stride of the rows of y and dy, in floats. Rows of dqkv have the stride of the [`Head`].
    cols: usize,
    lse: *const f32,
    dqkv: [*mut f32; 3],
}

/// A block of scores: `keys` keys and a panel of queries. Query i attends to the keys up to `diagonal` + i, counted from the first key of
/// the block; later keys are masked. The scores of a key are computed only for those halves of the panel in which a query attends to the
/// key.
#[derive(Clone, Copy)]
struct Block {
    keys: usize,
    diagonal: usize,
    /// Number of queries.
    count: usize,
}

const HALF: usize = PANEL / 2;

impl Block {
    /// Returns the index of the first key to which only the second half of the queries attends; `keys` if there is no such key.
    fn middle(self) -> usize {
        self.keys.min(self.diagonal + HALF)
    }

    /// Returns ranges of keys, each with the first lane for which the scores of these keys are computed: 0 or [`HALF`].
    fn scores(self) -> impl Iterator<Item = (Range<usize>, usize)> {
        [(0..self.middle(), 0), (self.middle()..self.keys, HALF)].into_iter().filter(|part| !part.0.is_empty())
    }

    /// Returns ranges of queries, each with the number of keys to process for these queries.
    fn queries(self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let half = if self.middle() == self.keys { self.count } else { HALF };
        [(0..half, self.middle()), (half..self.count, self.keys)].into_iter().filter(|part| !part.0.is_empty())
    }

    /// Returns ranges of keys, each with the first query to process for these keys. The keys before the diagonal are a separate range,
    /// because their gradients are added to those of earlier panels.
    fn keys(self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let diagonal = self.keys.min(self.diagonal);
        let parts = [(0..diagonal, 0), (diagonal..self.middle(), 0), (self.middle()..self.keys, HALF)];
        parts.into_iter().filter(|part| !part.0.is_empty())
    }
}

/// Rows of one head: `count` rows of `size` columns, `stride` floats apart.
#[derive(Clone, Copy)]
struct Rows {
    p: *const f32,
    stride: usize,
    count: usize,
    size: usize,
}

/// Transposes rows to `[size][PANEL]`, one row per lane. Lanes without a row are zero.
unsafe fn turn(isa: Isa, rows: Rows, to: *mut f32) {
    kernel!(isa, |s: S, rows: Rows, to: *mut f32| {
        let Rows { p, stride, count, size } = rows;
        let (whole, fours) = (count / S::LANES * S::LANES, size / 4 * 4);
        // SAFETY: the caller guarantees `size` panels at `to`.
        unsafe {
            for r in (0..whole).step_by(S::LANES) {
                for c in (0..fours).step_by(4) {
                    s.transpose_fours(p.add(r * stride + c), stride, to.add(c * PANEL + r), PANEL);
                }
            }
            for c in 0..size {
                for r in if c < fours { whole } else { 0 }..PANEL {
                    *to.add(c * PANEL + r) = if r < count { *p.add(r * stride + c) } else { 0.0 };
                }
            }
        }
    });
}

/// Copies rows to panels of `[height][PANEL]`. Columns beyond the last are zero. Rows beyond the last are not written.
unsafe fn copy(isa: Isa, rows: Rows, height: usize, to: *mut f32) {
    kernel!(isa, |s: S, rows: Rows, height: usize, to: *mut f32| {
        let Rows { p, stride, count, size } = rows;
        // SAFETY: the caller guarantees `height` rows at `to`, of as many panels as cover the columns.
        unsafe {
            for c in (0..size).step_by(PANEL) {
                let (p, to) = (p.add(c), to.add(c * height));
                for r in 0..count {
                    let (p, to) = (p.add(r * stride), to.add(r * PANEL));
                    if size - c < PANEL {
                        std::ptr::copy_nonoverlapping(p, to, size - c);
                        std::ptr::write_bytes(to.add(size - c), 0, PANEL - (size - c));
                        continue;
                    }
                    for lane in (0..PANEL).step_by(S::LANES) {
                        s.store_ptr(s.load_ptr(p.add(lane)), to.add(lane));
                    }
                }
            }
        }
    });
}

/// Ensures that `to` contains the rows `wanted` in the layout of [`copy`]. `held` is the range of rows that `to` already contains. If both
/// ranges begin at the same row, only the missing rows are copied. `all` begins at row 0.
unsafe fn hold(isa: Isa, held: &mut Range<usize>, wanted: Range<usize>, all: Rows, to: *mut f32) {
    if held.start != wanted.start {
        *held = wanted.start..wanted.start;
    }
    let from = held.end.min(wanted.end);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let rows = Rows { p: all.p.add(from * all.stride), count: wanted.end - from, ..all };
        copy(isa, rows, all.count, to.add((from - wanted.start) * PANEL));
    }
    held.end = held.end.max(wanted.end);
}

/// Index of each lane: 0, 1, 2, …
const LANE: [f32; PANEL] = {
    let mut lanes = [0.0; PANEL];
    let mut i = 0;
    while i < PANEL {
        lanes[i] = i as f32;
        i += 1;
    }
    lanes
};

/// State of each query's softmax over the blocks of keys so far: the highest score, the sum of the exponentials, and the factor that
/// corrects earlier sums after a change of the highest score.
#[derive(Default)]
struct Sums {
    tops: [f32; PANEL],
    sums: [f32; PANEL],
    factors: [f32; PANEL],
}

/// Replaces each score of a block by 2^((score - highest)·scale), where `highest` is the query's highest score so far. If `again`, the sums
/// and the highest scores continue from the previous block of keys.
fn softmax(isa: Isa, scores: *mut f32, block: Block, again: bool, scale: f32, sums: &mut Sums) {
    kernel!(isa, |s: S, scores: *mut f32, block: Block, again: bool, scale: f32, sums: &mut Sums| {
        let Sums { tops, sums, factors } = sums;
        let diagonal = block.diagonal;
        let (scale, nothing) = (s.splat(scale), s.splat(f32::NEG_INFINITY));
        for lane in (0..block.count).step_by(S::LANES) {
            let keys = if lane < HALF { block.middle() } else { block.keys };
            // SAFETY: the caller guarantees a row of a panel per key.
            unsafe {
                let own = s.load(&LANE[lane..]);
                let before = if again { s.load(&tops[lane..]) } else { nothing };
                let mut top = before;
                for k in 0..keys.min(diagonal) {
                    top = s.max(s.load_ptr(scores.add(k * PANEL + lane)), top);
                }
                for k in keys.min(diagonal)..keys {
                    let p = scores.add(k * PANEL + lane);
                    let seen = s.le(s.splat((k - diagonal) as f32), own);
                    let score = s.select(seen, s.load_ptr(p), nothing);
                    s.store_ptr(score, p);
                    top = s.max(score, top);
                }
                let shift = s.neg(s.mul(top, scale));
                let mut sum = s.splat(0.0);
                if again {
                    let factor = poly::exp2_below(s, s.mul_add(before, scale, shift));
                    s.store(factor, &mut factors[lane..]);
                    sum = s.mul(s.load(&sums[lane..]), factor);
                }
                for k in 0..keys {
                    let p = scores.add(k * PANEL + lane);
                    let e = poly::exp2_below(s, s.mul_add(s.load_ptr(p), scale, shift));
                    s.store_ptr(e, p);
                    sum = s.add(sum, e);
                }
                s.store(top, &mut tops[lane..]);
                s.store(sum, &mut sums[lane..]);
            }
        }
    })
}

/// Replaces `sums` by the logarithm to base 2 of each query's sum of exponentials of unshifted scores: tops·scale + log₂ sums.
fn logarithms(isa: Isa, sums: &mut Sums, scale: f32) {
    kernel!(isa, |s: S, sums: &mut Sums, scale: f32| {
        for lane in (0..PANEL).step_by(S::LANES) {
            let (top, sum) = (s.load(&sums.tops[lane..]), &mut sums.sums[lane..]);
            let log = s.mul(poly::ln(s, s.load(sum)), s.splat(std::f32::consts::LOG2_E));
            s.store(s.mul_add(top, s.splat(scale), log), sum);
        }
    })
}

/// Multiplies row r by `by[r]`, or by 1/`by[r]` if `divide` is true.
fn scale_rows(isa: Isa, y: *mut f32, stride: usize, count: usize, size: usize, by: &[f32; PANEL], divide: bool) {
    kernel!(isa, |s: S, y: *mut f32, stride: usize, count: usize, size: usize, by: &[f32; PANEL], divide: bool| {
        for r in 0..count {
            let by = if divide { 1.0 / by[r] } else { by[r] };
            // SAFETY: guaranteed by the caller.
            unsafe {
                let y = std::slice::from_raw_parts_mut(y.add(r * stride), size);
                let mut parts = y.chunks_exact_mut(S::LANES);
                for y in &mut parts {
                    s.store(s.mul(s.load(y), s.splat(by)), y);
                }
                parts.into_remainder().iter_mut().for_each(|y| *y *= by);
            }
        }
    })
}

/// Computes the sum of dy·y of each row. This sum equals the sum of p·dp over the row's keys, where p are the probabilities and dp their
/// gradients. A row's sum has sixteen lanes, which are added in the order of [`sum_lanes`](crate::Simd::sum_lanes), for all rows at the
/// same time.
fn deltas(isa: Isa, dy: Rows, y: *const f32, delta: &mut [f32; PANEL]) {
    kernel!(isa, |s: S, dy: Rows, y: *const f32, delta: &mut [f32; PANEL]| {
        let Rows { p, stride, count, size } = dy;
        let (mut lanes, mut turned) = ([0.0f32; 16 * PANEL], [0.0f32; 16 * PANEL]);
        // SAFETY: guaranteed by the caller; both buffers hold sixteen numbers per row.
        unsafe {
            for r in 0..count {
                let (dy, y) = (p.add(r * stride), y.add(r * stride));
                for lane in (0..16).step_by(S::LANES) {
                    let mut sum = s.splat(0.0);
                    for c in (lane..size).step_by(16) {
                        let (dy, y) = (dy.add(c), y.add(c));
                        sum = if c + S::LANES <= size {
                            s.mul_add(s.load_ptr(dy), s.load_ptr(y), sum)
                        } else {
                            let [dy, y] = [dy, y].map(|p| std::slice::from_raw_parts(p, size - c));
                            s.mul_add(s.load_part(dy, 0.0), s.load_part(y, 0.0), sum)
                        };
                    }
                    s.store(sum, &mut lanes[16 * r + lane..]);
                }
            }
            for r in (0..PANEL).step_by(S::LANES) {
                for c in (0..16).step_by(4) {
                    s.transpose_fours(lanes.as_ptr().add(16 * r + c), 16, turned.as_mut_ptr().add(c * PANEL + r), PANEL);
                }
            }
        }
        for lane in (0..PANEL).step_by(S::LANES) {
            let mut sums = [s.splat(0.0); 16];
            for i in 0..16 {
                sums[i] = s.load(&turned[i * PANEL + lane..]);
            }
            for half in [8, 4, 2, 1] {
                for i in 0..half {
                    sums[i] = s.add(sums[i], sums[i + half]);
                }
            }
            s.store(sums[0], &mut delta[lane..]);
        }
    })
}

/// Replaces the scores in `p` by probabilities, and the gradients of the probabilities in `ds` by the gradients of q·k.
fn score_slopes(isa: Isa, p: *mut f32, ds: *mut f32, block: Block, scale: f32, scale2: f32, lse: &[f32; PANEL], delta: &[f32; PANEL]) {
    kernel!(isa, |s: S, p: *mut f32, ds: *mut f32, block: Block, scale: f32, scale2: f32, lse: &[f32; PANEL], delta: &[f32; PANEL]| {
        let (scale, scale2) = (s.splat(scale), s.splat(scale2));
        for lane in (0..PANEL).step_by(S::LANES) {
            let own = s.load(&LANE[lane..]);
            let shift = s.neg(s.load(&lse[lane..]));
            let delta = s.neg(s.mul(s.load(&delta[lane..]), scale));
            for k in 0..if lane < HALF { block.middle() } else { block.keys } {
                // SAFETY: the caller guarantees a row of a panel per key.
                unsafe {
                    let (p, ds) = (p.add(k * PANEL + lane), ds.add(k * PANEL + lane));
                    let mut e = poly::exp2_below(s, s.mul_add(s.load_ptr(p), scale2, shift));
                    if k >= block.diagonal {
                        e = s.select(s.le(s.splat((k - block.diagonal) as f32), own), e, s.splat(0.0));
                    }
                    s.store_ptr(e, p);
                    s.store_ptr(s.mul(e, s.mul_add(s.load_ptr(ds), scale, delta)), ds);
                }
            }
        }
    })
}

/// Returns the table for [`rotary`]: for each of `len` positions, `size/2` cosines and then `size/2` sines of the angles
/// position·10000^(-2i/size). Only basic arithmetic is used, so every platform computes the same bits.
pub fn rotary_table(len: usize, size: usize) -> Vec<f32> {
    let half = size / 2;
    let mut table = vec![0.0; len * size];
    for i in 0..half {
        let x = -2.0 * i as f64 / size as f64 * std::f64::consts::LN_10 * 4.0 / 1024.0;
        let angle = series(1.0, 20, |n| x / n);
        // The series computes the 1024th root of `angle`; ten squarings compute `angle`.
        let angle = (0..10).fold(angle, |x, _| x * x);
        // Cosine and sine of `angle`, and then of its multiples in ascending order.
        let cosine = series(1.0, 12, |n| -angle * angle / ((2.0 * n - 1.0) * 2.0 * n));
        let sine = series(angle, 12, |n| -angle * angle / (2.0 * n * (2.0 * n + 1.0)));
        let (mut cos, mut sin) = (1.0, 0.0);
        for row in table.chunks_exact_mut(size) {
            (row[i], row[half + i]) = (cos as f32, sin as f32);
            (cos, sin) = (cos * cosine - sin * sine, sin * cosine + cos * sine);
        }
    }
    table
}

/// Returns the sum of the first `count` terms of a power series. Term n is the previous term times `ratio(n)`.
fn series(first: f64, count: i32, ratio: impl Fn(f64) -> f64) -> f64 {
    let mut term = first;
    (1..count).fold(first, |sum, n| {
        term *= ratio(f64::from(n));
        sum + term
    })
}

/// Rotates pairs of columns by angles that depend on the row's position (rotary positions). The first `turned` of `cols` columns are heads
/// of `size` columns. The i-th angle rotates columns i and i + size/2 of a head, in the opposite direction if `back` is true. Row r has
/// position (`first` + r) modulo the number of positions in the table. The columns from `turned` on are not rotated. If `x` is `None`, y is
/// rotated in place.
pub fn rotary(isa: Isa, [turned, cols, size]: [usize; 3], table: &[f32], first: usize, x: Option<&[f32]>, y: &mut [f32], back: bool) {
    assert!(x.is_none_or(|x| x.len() == y.len()) && size.is_multiple_of(2) && turned.is_multiple_of(size));
    let x = x.map_or(y.as_ptr(), |x| x.as_ptr());
    kernel!(isa, |s: S, turned: usize, cols: usize, size: usize, table: &[f32], first: usize, x: *const f32, y: &mut [f32], back: bool| {
        let (half, len) = (size / 2, table.len() / size);
        for (r, y) in y.chunks_exact_mut(cols).enumerate() {
            let table = &table[(first + r) % len * size..][..size];
            // SAFETY: x is as long as y, or x is y itself.
            unsafe {
                let (x, y) = (x.add(r * cols), y.as_mut_ptr());
                for c in (0..turned).step_by(size) {
                    for i in (0..half).step_by(S::LANES) {
                        let at = c + i;
                        if i + S::LANES <= half {
                            let (cos, sin) = (s.load(&table[i..]), s.load(&table[half + i..]));
                            let sin = if back { s.neg(sin) } else { sin };
                            let (a, b) = (s.load_ptr(x.add(at)), s.load_ptr(x.add(at + half)));
                            s.store_ptr(s.neg_mul_add(b, sin, s.mul(a, cos)), y.add(at));
                            s.store_ptr(s.mul_add(a, sin, s.mul(b, cos)), y.add(at + half));
                            continue;
                        }
                        let mut lanes = [[0.0f32; 16]; 4];
                        for j in 0..half - i {
                            lanes[0][j] = table[i + j];
                            lanes[1][j] = table[half + i + j];
                            lanes[2][j] = *x.add(at + j);
                            lanes[3][j] = *x.add(at + half + j);
                        }
                        let [cos, sin, a, b] = [s.load(&lanes[0]), s.load(&lanes[1]), s.load(&lanes[2]), s.load(&lanes[3])];
                        let sin = if back { s.neg(sin) } else { sin };
                        s.store(s.neg_mul_add(b, sin, s.mul(a, cos)), &mut lanes[2]);
                        s.store(s.mul_add(a, sin, s.mul(b, cos)), &mut lanes[3]);
                        for j in 0..half - i {
                            *y.add(at + j) = lanes[2][j];
                            *y.add(at + half + j) = lanes[3][j];
                        }
                    }
                }
                if !std::ptr::eq(x, y) {
                    std::ptr::copy_nonoverlapping(x.add(turned), y.add(turned), cols - turned);
                }
            }
        }
    });
}
