//! Matrix products for small nets: weights packed once per optimiser step, batches of tens to thousands of rows.
//!
//! One register tile serves every product: C[m][n] = Σ_k A[m][k]·B[k][n], where A is broadcast, one number at a time, and B
//! comes in rows of whole vectors (Goto and van de Geijn 2008, the inner kernel). Each element of C is one chain of
//! multiply-adds in the order of k: blocks over k continue the chain from C, so neither tile shapes nor block sizes change a
//! bit. It refuses to be a BLAS: no threads (the caller cuts the batch), no blocking for matrices far beyond the caches.

use crate::isa::{Isa, Kernel, Simd, dispatch};
use crate::ops::{self, Unary};
use std::mem::MaybeUninit;

/// Rows of a batch that one panel holds.
pub const PANEL: usize = 32;

/// The function at the end of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Act {
    #[default]
    None,
    Relu,
    Tanh,
    Gelu,
}

impl Act {
    pub fn unary(self) -> Option<Unary> {
        match self {
            Act::None => None,
            Act::Relu => Some(Unary::Relu),
            Act::Tanh => Some(Unary::Tanh),
            Act::Gelu => Some(Unary::Gelu),
        }
    }
}

/// Layer norm over the features of each row.
pub struct Norm<'a> {
    pub gamma: &'a [f32],
    pub beta: &'a [f32],
    pub eps: f32,
    /// What went into the norm, in the layout of the output: the backward pass needs it.
    pub save_pre: Option<&'a mut [f32]>,
    /// `[rows][2]`: mean and 1/std of each row.
    pub save_stats: Option<&'a mut [f32]>,
}

/// What happens to a product before it is stored: act(norm(product + bias) + residual).
#[derive(Default)]
pub struct Epilogue<'a> {
    /// `[out]`
    pub bias: Option<&'a [f32]>,
    pub norm: Option<Norm<'a>>,
    /// In the layout of the output.
    pub residual: Option<&'a [f32]>,
    pub act: Act,
}

/// Floats that [`pack_rows`] writes.
pub fn packed_rows_len(out: usize, inp: usize) -> usize {
    out.div_ceil(PANEL) * PANEL * inp
}

/// Floats that [`pack_rows_t`] writes.
pub fn packed_rows_t_len(out: usize, inp: usize) -> usize {
    inp.div_ceil(PANEL) * PANEL * out
}

/// Floats that [`pack_panels`] writes.
pub fn packed_panels_len(out: usize, inp: usize) -> usize {
    out * inp
}

/// W for [`linear_rows`]: blocks of columns as wide as the tile, `[out/width][inp][width]`, padded with zeros.
pub fn pack_rows(isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    dispatch(isa, PackColumns { n: out, k: inp, b: w, ks: 1, cs: inp, dst });
}

/// W for [`linear_rows_dx`]: `[inp/width][out][width]`.
pub fn pack_rows_t(isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    dispatch(isa, PackColumns { n: inp, k: out, b: w, ks: inp, cs: 1, dst });
}

/// W for [`linear_panels`]: blocks of rows as high as the tile, `[out/height][inp][height]`.
pub fn pack_panels(isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    dispatch(isa, PackRows { m: out, k: inp, w, dst });
}

/// y[rows][out] = epilogue(x[rows][inp] · Wᵀ).
pub fn linear_rows(
    isa: Isa,
    rows: usize,
    out: usize,
    inp: usize,
    x: &[f32],
    packed: &[f32],
    y: &mut [f32],
    ep: Epilogue,
) {
    let (x, y) = (&x[..rows * inp], &mut y[..rows * out]);
    let packed = &packed[..packed_rows_len(out, inp)];
    let mut finish = Finish::new(&ep);
    let (mut pre, mut stats) = ep.norm.map_or((None, None), |n| (n.save_pre, n.save_stats));
    let alone = !finish.needed && matches!(ep.act, Act::None | Act::Relu);
    let block_rows = if alone { rows.max(1) } else { ROW_BLOCK };
    for first in (0..rows).step_by(block_rows) {
        let count = block_rows.min(rows - first);
        let block = first * out..(first + count) * out;
        let y = &mut y[block.clone()];
        run(
            isa,
            Product {
                m: count,
                n: out,
                k: inp,
                a: Left { p: x[first * inp..].as_ptr(), rs: inp, ks: 1, packed: false },
                b: Right::Packed(packed.as_ptr()),
                c: Target { p: y.as_mut_ptr(), rs: out, cs: 1 },
                start: ep.bias.map_or(Start::Zero, |bias| Start::Columns(bias[..out].as_ptr())),
                relu: ep.act == Act::Relu && !finish.needed,
            },
        );
        if finish.needed {
            finish.residual = ep.residual.map(|r| &r[block.clone()]);
            let pre = pre.as_deref_mut().map(|p| &mut p[block]);
            let stats = stats.as_deref_mut().map(|s| &mut s[2 * first..2 * (first + count)]);
            dispatch(isa, FinishRows { cols: out, y, finish, pre, stats });
        }
        finish_act(isa, ep.act, y);
    }
}

/// dx[rows][inp] (+)= dy[rows][out] · W.
pub fn linear_rows_dx(
    isa: Isa,
    rows: usize,
    out: usize,
    inp: usize,
    dy: &[f32],
    packed_t: &[f32],
    dx: &mut [f32],
    accumulate: bool,
) {
    let (dy, dx) = (&dy[..rows * out], &mut dx[..rows * inp]);
    run(
        isa,
        Product {
            m: rows,
            n: inp,
            k: out,
            a: Left { p: dy.as_ptr(), rs: out, ks: 1, packed: false },
            b: Right::Packed(packed_t[..packed_rows_t_len(out, inp)].as_ptr()),
            c: Target { p: dx.as_mut_ptr(), rs: inp, cs: 1 },
            start: if accumulate { Start::Target } else { Start::Zero },
            relu: false,
        },
    );
}

/// dw[out][inp] (+)= dyᵀ · x.
pub fn linear_rows_dw(
    isa: Isa,
    rows: usize,
    out: usize,
    inp: usize,
    dy: &[f32],
    x: &[f32],
    dw: &mut [f32],
    accumulate: bool,
) {
    matmul(isa, out, inp, rows, dy, (1, out), x, (inp, 1), dw, accumulate);
}

/// [`linear_rows`] for a batch in panels: x is `[batch/PANEL][inp][PANEL]`, y `[batch/PANEL][out][PANEL]`. What the norm
/// saves has the layout of y; its statistics are `[batch, rounded up to whole panels][2]`.
pub fn linear_panels(
    isa: Isa,
    batch: usize,
    out: usize,
    inp: usize,
    x: &[f32],
    packed: &[f32],
    y: &mut [f32],
    ep: Epilogue,
) {
    let (x, y) = (&x[..crate::panels_len(batch, inp)], &mut y[..crate::panels_len(batch, out)]);
    let packed = &packed[..packed_panels_len(out, inp)];
    let mut finish = Finish::new(&ep);
    let (mut pre, mut stats) = ep.norm.map_or((None, None), |n| (n.save_pre, n.save_stats));
    for panel in 0..batch.div_ceil(PANEL) {
        let block = panel * out * PANEL..(panel + 1) * out * PANEL;
        let y = &mut y[block.clone()];
        run(
            isa,
            Product {
                m: out,
                n: PANEL,
                k: inp,
                a: Left { p: packed.as_ptr(), rs: 0, ks: 0, packed: true },
                b: Right::Direct(x[panel * inp * PANEL..].as_ptr(), PANEL),
                c: Target { p: y.as_mut_ptr(), rs: PANEL, cs: 1 },
                start: ep.bias.map_or(Start::Zero, |bias| Start::Rows(bias[..out].as_ptr())),
                relu: ep.act == Act::Relu && !finish.needed,
            },
        );
        if finish.needed {
            finish.residual = ep.residual.map(|r| &r[block.clone()]);
            let pre = pre.as_deref_mut().map(|p| &mut p[block]);
            let stats = stats.as_deref_mut().map(|s| &mut s[2 * panel * PANEL..2 * (panel + 1) * PANEL]);
            dispatch(isa, FinishPanel { features: out, y, finish, pre, stats });
        }
        finish_act(isa, ep.act, y);
    }
}

/// c[m][n] (+)= Σ_k a[m·rs + k·ks] · b[k·rs + n·cs]; the strides of an operand are (to the next row, to the next column), so
/// a transposed operand has its strides swapped. Nothing is packed beforehand.
pub fn matmul(
    isa: Isa,
    m: usize,
    n: usize,
    k: usize,
    a: &[f32],
    (a_rs, a_ks): (usize, usize),
    b: &[f32],
    (b_ks, b_cs): (usize, usize),
    c: &mut [f32],
    accumulate: bool,
) {
    if m * n == 0 {
        return;
    }
    let c = &mut c[..m * n];
    if k == 0 {
        if !accumulate {
            c.fill(0.0);
        }
        return;
    }
    assert!(a.len() > (m - 1) * a_rs + (k - 1) * a_ks && b.len() > (k - 1) * b_ks + (n - 1) * b_cs);
    let start = if accumulate { Start::Target } else { Start::Zero };
    // The lanes go along the side that fills them better: Cᵀ = Bᵀ·Aᵀ has the same chains.
    // The swap stores C turned, so it must save a quarter.
    let swap = 5 * n * padded(m) < 4 * m * padded(n);
    let product = if swap {
        Product {
            m: n,
            n: m,
            k,
            a: Left { p: b.as_ptr(), rs: b_cs, ks: b_ks, packed: false },
            b: Right::Strided { p: a.as_ptr(), ks: a_ks, cs: a_rs },
            c: Target { p: c.as_mut_ptr(), rs: 1, cs: n },
            start,
            relu: false,
        }
    } else {
        Product {
            m,
            n,
            k,
            a: Left { p: a.as_ptr(), rs: a_rs, ks: a_ks, packed: false },
            b: Right::Strided { p: b.as_ptr(), ks: b_ks, cs: b_cs },
            c: Target { p: c.as_mut_ptr(), rs: n, cs: 1 },
            start,
            relu: false,
        }
    };
    run(isa, product);
}

/// A side as the lanes see it, give or take an instruction set.
fn padded(n: usize) -> usize {
    n.div_ceil(16) * 16
}

/// Rows whose output is still in cache when its epilogue comes.
const ROW_BLOCK: usize = 64;
/// Steps of k for which a block of B stays in the first cache.
const K_BLOCK: usize = 384;
/// The same, where B is packed on the stack as it is met.
const K_STACK: usize = 128;

/// The operand that is broadcast.
#[derive(Clone, Copy)]
struct Left {
    p: *const f32,
    rs: usize,
    ks: usize,
    /// By [`pack_panels`]; the strides follow from the tile.
    packed: bool,
}

/// The operand whose rows fill vectors.
#[derive(Clone, Copy)]
enum Right {
    /// Blocks of columns, by [`PackColumns`].
    Packed(*const f32),
    /// Rows of whole tiles, and the stride between them.
    Direct(*const f32, usize),
    /// Anything; packed on the stack, block by block.
    Strided { p: *const f32, ks: usize, cs: usize },
}

#[derive(Clone, Copy)]
struct Target {
    p: *mut f32,
    rs: usize,
    cs: usize,
}

/// What the chains start from.
#[derive(Clone, Copy)]
enum Start {
    Zero,
    /// What C holds.
    Target,
    /// A bias for each column.
    Columns(*const f32),
    /// A bias for each row.
    Rows(*const f32),
}

/// One product of any kind: the only kernel that holds tiles, so that a module carries each tile once.
struct Product {
    m: usize,
    n: usize,
    k: usize,
    a: Left,
    b: Right,
    c: Target,
    start: Start,
    relu: bool,
}

/// Never inlined, so that a module carries the tiles once.
#[inline(never)]
fn run(isa: Isa, product: Product) {
    dispatch(isa, product);
}

/// Vectors across the tile that covers `cols` columns, or as many as there are.
#[inline(always)]
fn tile_vectors<S: Simd>(cols: usize) -> usize {
    if cols <= S::LANES {
        1
    } else if cols <= 2 * S::LANES {
        2
    } else {
        S::TILE_VECTORS
    }
}

/// Rows of the tile that begins a block of `rows` rows.
#[inline(always)]
fn tile_rows<S: Simd>(rows: usize) -> usize {
    match rows {
        1 => 1,
        2 | 3 => 2,
        rows if rows >= S::TILE_ROWS => S::TILE_ROWS,
        _ => 4,
    }
}

impl Kernel for Product {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let mut stack = [MaybeUninit::<f32>::uninit(); K_STACK * PANEL];
        let stack = stack.as_mut_ptr().cast::<f32>();
        let k_block = if matches!(self.b, Right::Strided { .. }) { K_STACK } else { K_BLOCK };
        // SAFETY: the public functions have checked every operand against m, n and k; tiles of fewer columns than lanes
        // touch C through a buffer, and a packed B is padded to whole vectors.
        unsafe {
            let mut n0 = 0;
            while n0 < self.n {
                let vectors = tile_vectors::<S>(self.n - n0);
                let width = vectors * S::LANES;
                let cols = width.min(self.n - n0);
                let mut bias = [0.0; PANEL];
                let mut k0 = 0;
                while k0 < self.k || k0 == 0 {
                    let left = self.k - k0;
                    let steps = left.div_ceil(left.div_ceil(k_block).max(1));
                    let (b, b_ks) = match self.b {
                        Right::Packed(p) => (p.add(n0 * self.k + k0 * width), width),
                        Right::Direct(p, stride) => (p.add(k0 * stride + n0), stride),
                        Right::Strided { p, ks, cs } => {
                            pack_block(s, p.add(k0 * ks + n0 * cs), ks, cs, steps, cols, width, stack);
                            (stack.cast_const(), width)
                        }
                    };
                    let mut m0 = 0;
                    while m0 < self.m {
                        let rows = tile_rows::<S>(self.m - m0);
                        let (a, a_rs, a_ks) = if self.a.packed {
                            (self.a.p.add(m0 * self.k + k0 * rows), 1, rows)
                        } else {
                            (self.a.p.add(m0 * self.a.rs + k0 * self.a.ks), self.a.rs, self.a.ks)
                        };
                        let start = match self.start {
                            _ if k0 > 0 => Start::Target,
                            Start::Columns(p) if cols < width => {
                                std::ptr::copy_nonoverlapping(p.add(n0), bias.as_mut_ptr(), cols);
                                Start::Columns(bias.as_ptr())
                            }
                            Start::Columns(p) => Start::Columns(p.add(n0)),
                            Start::Rows(p) => Start::Rows(p.add(m0)),
                            start => start,
                        };
                        let tile = Tile {
                            a,
                            a_rs,
                            a_ks,
                            b,
                            b_ks,
                            steps,
                            c: Target { p: self.c.p.add(m0 * self.c.rs + n0 * self.c.cs), ..self.c },
                            cols,
                            start,
                            relu: self.relu && k0 + steps == self.k,
                        };
                        tile_of(s, rows, vectors, &tile);
                        m0 += rows;
                    }
                    k0 += steps.max(1);
                }
                n0 += width;
            }
        }
    }
}

struct Tile {
    a: *const f32,
    a_rs: usize,
    a_ks: usize,
    b: *const f32,
    b_ks: usize,
    steps: usize,
    c: Target,
    cols: usize,
    start: Start,
    relu: bool,
}

/// The tile of a given shape; shapes that the instruction set never asks for are not compiled.
#[inline(always)]
unsafe fn tile_of<S: Simd>(s: S, rows: usize, vectors: usize, t: &Tile) {
    // SAFETY: the caller's.
    unsafe {
        if S::TILE_VECTORS == 4 && vectors == 4 {
            tile_high::<S, 4>(s, rows, t);
        } else if vectors == 2 {
            tile_high::<S, 2>(s, rows, t);
        } else {
            tile_high::<S, 1>(s, rows, t);
        }
    }
}

#[inline(always)]
unsafe fn tile_high<S: Simd, const NV: usize>(s: S, rows: usize, t: &Tile) {
    // SAFETY: the caller's.
    unsafe {
        if S::TILE_ROWS == 8 && rows == 8 {
            tile::<S, 8, NV>(s, t);
        } else if S::TILE_ROWS == 6 && rows == 6 {
            tile::<S, 6, NV>(s, t);
        } else if S::TILE_ROWS == 5 && rows == 5 {
            tile::<S, 5, NV>(s, t);
        } else if rows == 4 {
            tile::<S, 4, NV>(s, t);
        } else if rows == 2 {
            tile::<S, 2, NV>(s, t);
        } else {
            tile::<S, 1, NV>(s, t);
        }
    }
}

/// C[MR][NV vectors] = start + Σ_k A·B, held in registers.
#[inline(always)]
unsafe fn tile<S: Simd, const MR: usize, const NV: usize>(s: S, t: &Tile) {
    // SAFETY: the caller's.
    unsafe {
        let whole = t.cols == NV * S::LANES && t.c.cs == 1;
        let mut buffer = [0.0f32; 8 * PANEL];
        let mut acc = [[s.splat(0.0); NV]; MR];
        match t.start {
            Start::Zero => {}
            Start::Columns(bias) => {
                for m in 0..MR {
                    for v in 0..NV {
                        acc[m][v] = s.load_ptr(bias.add(v * S::LANES));
                    }
                }
            }
            Start::Rows(bias) => {
                for m in 0..MR {
                    acc[m] = [s.splat(*bias.add(m)); NV];
                }
            }
            Start::Target => {
                let (mut from, mut stride) = (t.c.p.cast_const(), t.c.rs);
                if !whole {
                    for m in 0..MR {
                        for c in 0..t.cols {
                            buffer[m * PANEL + c] = *t.c.p.add(m * t.c.rs + c * t.c.cs);
                        }
                    }
                    (from, stride) = (buffer.as_ptr(), PANEL);
                }
                for m in 0..MR {
                    for v in 0..NV {
                        acc[m][v] = s.load_ptr(from.add(m * stride + v * S::LANES));
                    }
                }
            }
        }
        // Strides known beforehand leave a browser's compiler enough registers for the loop.
        let width = NV * S::LANES;
        if t.b_ks != width {
            chains::<S, MR, NV>(s, t, 1, MR, PANEL, &mut acc);
        } else if t.a_rs == 1 {
            chains::<S, MR, NV>(s, t, 1, t.a_ks, width, &mut acc);
        } else if t.a_ks == 1 {
            chains::<S, MR, NV>(s, t, t.a_rs, 1, width, &mut acc);
        } else {
            chains::<S, MR, NV>(s, t, t.a_rs, t.a_ks, width, &mut acc);
        }
        if t.relu {
            for m in 0..MR {
                for v in 0..NV {
                    acc[m][v] = s.max(s.splat(0.0), acc[m][v]);
                }
            }
        }
        let (to, stride) = if whole { (t.c.p, t.c.rs) } else { (buffer.as_mut_ptr(), PANEL) };
        for m in 0..MR {
            for v in 0..NV {
                s.store_ptr(acc[m][v], to.add(m * stride + v * S::LANES));
            }
        }
        if !whole {
            for m in 0..MR {
                for c in 0..t.cols {
                    *t.c.p.add(m * t.c.rs + c * t.c.cs) = buffer[m * PANEL + c];
                }
            }
        }
    }
}

/// acc[m] += Σ_k A[m][k]·B[k].
#[inline(always)]
unsafe fn chains<S: Simd, const MR: usize, const NV: usize>(
    s: S,
    t: &Tile,
    a_rs: usize,
    a_ks: usize,
    b_ks: usize,
    acc: &mut [[S::F; NV]; MR],
) {
    // SAFETY: the caller's.
    unsafe {
        let mut rows = [t.a; MR];
        for m in 1..MR {
            rows[m] = t.a.add(m * a_rs);
            if cfg!(target_arch = "wasm32") && a_rs != 1 {
                // Rows known to be evenly spaced become one pointer and many sums, which costs a tenth of the speed.
                rows[m] = std::hint::black_box(rows[m]);
            }
        }
        let (mut b, mut at) = (t.b, 0);
        for _ in 0..t.steps {
            let mut columns = [s.splat(0.0); NV];
            for v in 0..NV {
                columns[v] = s.load_ptr(b.add(v * S::LANES));
            }
            for m in 0..MR {
                let x = s.splat(*rows[m].add(at));
                for v in 0..NV {
                    acc[m][v] = s.mul_add(x, columns[v], acc[m][v]);
                }
            }
            b = b.add(b_ks);
            at += a_ks;
        }
    }
}

/// dst[steps][width] = b[k·ks + c·cs], the columns from `cols` on 0.
#[inline(always)]
unsafe fn pack_block<S: Simd>(
    s: S,
    b: *const f32,
    ks: usize,
    cs: usize,
    steps: usize,
    cols: usize,
    width: usize,
    dst: *mut f32,
) {
    // SAFETY: the caller's: b holds [steps][cols] at these strides, dst [steps][width].
    unsafe {
        if cols < width {
            for k in 0..steps {
                for c in cols..width {
                    *dst.add(k * width + c) = 0.0;
                }
            }
        }
        if cs == 1 && cols == width && width.is_multiple_of(S::LANES) {
            for k in 0..steps {
                for v in (0..width).step_by(S::LANES) {
                    s.store_ptr(s.load_ptr(b.add(k * ks + v)), dst.add(k * width + v));
                }
            }
            return;
        }
        // Where k is the contiguous side, four rows by four are transposed at a time.
        let (steps4, cols4) = if ks == 1 { (steps / 4 * 4, cols / 4 * 4) } else { (0, 0) };
        for k in (0..steps4).step_by(4) {
            for c in (0..cols4).step_by(4) {
                s.transpose4(b.add(c * cs + k), cs, dst.add(k * width + c), width);
            }
        }
        for k in 0..steps {
            for c in if k < steps4 { cols4 } else { 0 }..cols {
                *dst.add(k * width + c) = *b.add(k * ks + c * cs);
            }
        }
    }
}

/// B[k][n] at any strides → `[n/width][k][width]`.
struct PackColumns<'a> {
    n: usize,
    k: usize,
    b: &'a [f32],
    ks: usize,
    cs: usize,
    dst: &'a mut [f32],
}

impl Kernel for PackColumns<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        assert!(self.b.len() >= self.n * self.k && self.dst.len() >= self.n.div_ceil(PANEL) * PANEL * self.k);
        let mut n0 = 0;
        while n0 < self.n {
            let width = tile_vectors::<S>(self.n - n0) * S::LANES;
            let cols = width.min(self.n - n0);
            // SAFETY: the lengths were just checked; a block begins after n0 whole columns of k.
            unsafe {
                let (b, dst) = (self.b.as_ptr().add(n0 * self.cs), self.dst.as_mut_ptr().add(n0 * self.k));
                pack_block(s, b, self.ks, self.cs, self.k, cols, width, dst);
            }
            n0 += width;
        }
    }
}

/// W[m][k] → `[m/height][k][height]`, the last blocks lower.
struct PackRows<'a> {
    m: usize,
    k: usize,
    w: &'a [f32],
    dst: &'a mut [f32],
}

impl Kernel for PackRows<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        assert!(self.w.len() >= self.m * self.k && self.dst.len() >= self.m * self.k);
        let mut m0 = 0;
        while m0 < self.m {
            let rows = tile_rows::<S>(self.m - m0);
            // SAFETY: the lengths were just checked.
            unsafe {
                let (w, dst) = (self.w.as_ptr().add(m0 * self.k), self.dst.as_mut_ptr().add(m0 * self.k));
                pack_block(s, w, 1, self.k, self.k, rows, rows, dst);
            }
            m0 += rows;
        }
    }
}

/// The part of an epilogue that needs a whole row: norm, residual, and a relu after them.
#[derive(Clone, Copy)]
struct Finish<'a> {
    needed: bool,
    /// gamma, beta, eps
    norm: Option<(&'a [f32], &'a [f32], f32)>,
    residual: Option<&'a [f32]>,
    /// 0 for relu, else -infinity.
    floor: f32,
}

impl<'a> Finish<'a> {
    fn new(ep: &Epilogue<'a>) -> Finish<'a> {
        Finish {
            needed: ep.norm.is_some() || ep.residual.is_some(),
            norm: ep.norm.as_ref().map(|n| (n.gamma, n.beta, n.eps)),
            residual: ep.residual,
            floor: if ep.act == Act::Relu { 0.0 } else { f32::NEG_INFINITY },
        }
    }
}

/// The dear functions have a pass of their own, over what is still in cache.
fn finish_act(isa: Isa, act: Act, y: &mut [f32]) {
    if matches!(act, Act::Tanh | Act::Gelu)
        && let Some(op) = act.unary()
    {
        ops::unary_in_place(isa, op, y);
    }
}

/// y[rows][cols] = max(norm(y) + residual, floor)
struct FinishRows<'a, 'b> {
    cols: usize,
    y: &'b mut [f32],
    finish: Finish<'a>,
    pre: Option<&'b mut [f32]>,
    stats: Option<&'b mut [f32]>,
}

impl Kernel for FinishRows<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let cols = self.cols;
        if let Some(pre) = &mut self.pre {
            pre.copy_from_slice(self.y);
        }
        let Finish { norm, residual, floor, .. } = self.finish;
        let mut done = 0;
        if let Some((gamma, beta, eps)) = norm
            && S::LANES == 16
            && cols.is_multiple_of(32)
        {
            let (gamma, beta) = (gamma[..cols].as_ptr(), beta[..cols].as_ptr());
            for (i, y) in self.y.chunks_exact_mut(4 * cols).enumerate() {
                let residual = residual.map(|x| x[4 * i * cols..][..4 * cols].as_ptr());
                // SAFETY: every slice was cut to four rows, or to one.
                let rows = unsafe {
                    ops::finish_four_rows(s, cols, y.as_mut_ptr(), gamma, beta, eps, residual, floor)
                };
                if let Some(stats) = &mut self.stats {
                    for (stats, row) in stats[8 * i..].chunks_exact_mut(2).zip(rows) {
                        (stats[0], stats[1]) = row;
                    }
                }
                done += 4;
            }
        }
        for (r, y) in self.y.chunks_exact_mut(cols).enumerate().skip(done) {
            let norm = norm.map(
                #[inline(always)]
                |(gamma, beta, eps)| {
                    let (mean, rstd) = ops::row_stats(s, y, eps);
                    if let Some(stats) = &mut self.stats {
                        stats[2 * r] = mean;
                        stats[2 * r + 1] = rstd;
                    }
                    (mean, rstd, gamma, beta)
                },
            );
            let residual = residual.map(|x| &x[r * cols..][..cols]);
            ops::finish_row(s, y, norm, residual, floor);
        }
    }
}

/// y[features][PANEL] = max(norm(y) + residual, floor), the norm down the columns.
struct FinishPanel<'a, 'b> {
    features: usize,
    y: &'b mut [f32],
    finish: Finish<'a>,
    pre: Option<&'b mut [f32]>,
    stats: Option<&'b mut [f32]>,
}

impl Kernel for FinishPanel<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        if let Some(pre) = &mut self.pre {
            pre.copy_from_slice(self.y);
        }
        let Finish { norm, residual, floor, .. } = self.finish;
        let residual = residual.map(|x| x[..self.y.len()].as_ptr());
        for lane in (0..PANEL).step_by(2 * S::LANES) {
            let norm = match norm {
                None => None,
                Some((gamma, beta, eps)) => {
                    let (means, rstds) = ops::column_stats(s, self.features, self.y, lane, eps);
                    if let Some(stats) = &mut self.stats {
                        ops::store_stats(s, means, rstds, &mut stats[2 * lane..]);
                    }
                    Some((means, rstds, gamma[..self.features].as_ptr(), beta[..self.features].as_ptr()))
                }
            };
            let y = self.y.as_mut_ptr();
            // SAFETY: every slice was cut to the panel's shape.
            unsafe { ops::finish_pair(s, self.features, lane, y, y, norm, residual, floor) };
        }
    }
}
