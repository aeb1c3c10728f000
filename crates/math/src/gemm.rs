//! Matrix products for small neural networks. Weights are packed once per optimiser step, and a batch has tens to thousands of rows.
//!
//! Every product is `C[m][n]` = Σ_k `A[m][k]`·`B[k][n]`. C is computed in register tiles: elements of A are broadcast one at a time, and
//! rows of B are read as whole vectors (Goto and van de Geijn 2008, the inner kernel). Each element of C is one chain: a sequence of
//! multiply-adds in the order of k. A product may be divided into blocks along k. Each block continues the chains from the contents of C,
//! so tile shapes and block sizes do not change the bits. Products of bf16 operands use other chains (`gemm/bf16.rs` and `gemm/amx.rs`).
//!
//! If A exceeds the second-level cache, blocks of A are copied and multiplied one after another. A product with many multiply-adds is
//! divided into pieces of C, which all threads share. The module supports the shapes of layers only; it is not a BLAS.
//!
//! In formulas, (+)= adds to the left side's contents if `accumulate` is true, and replaces the contents otherwise.

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod bf16;
mod product;

use crate::PANEL;
use crate::isa::{Isa, Simd, kernel};
use crate::ops::{self, Unary};
use crate::par;
use product::{K_LARGE, Left, M_LARGE, Product, Right, Start, Target, even};
use std::mem::MaybeUninit;

/// Activation function at the end of a layer.
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

/// Parameters of a layer norm over the features of each row, and destinations for values that the norm's backward pass reads.
pub struct Norm<'a> {
    pub gamma: &'a [f32],
    pub beta: &'a [f32],
    pub eps: f32,
    /// Destination for the norm's input, in the layout of the output, for the backward pass. An empty slice saves nothing.
    pub save_pre: &'a mut [f32],
    /// Destination for the mean and 1/std of each row, `[rows][2]`. An empty slice saves nothing.
    pub save_stats: &'a mut [f32],
}

/// Operations that are applied to a product before the result is stored: act(norm(product + bias) + residual).
#[derive(Default)]
pub struct Epilogue<'a> {
    /// Bias of each output, `[out]`.
    pub bias: Option<&'a [f32]>,
    pub norm: Option<Norm<'a>>,
    /// Addend in the layout of the output.
    pub residual: Option<&'a [f32]>,
    pub act: Act,
    /// Destination for the activation's input, which the gradients of some activations need. An empty slice saves nothing. Only
    /// [`linear_rows`] can save this input.
    pub save: &'a mut [f32],
}

/// Returns the maximum number of floats that [`pack_rows`] writes, or `usize::MAX` if the number overflows.
pub fn packed_rows_len(out: usize, inp: usize) -> usize {
    out.div_ceil(PANEL).saturating_mul(PANEL).saturating_mul(inp)
}

/// Returns the maximum number of floats that [`pack_rows_t`] writes, or `usize::MAX` if the number overflows.
pub fn packed_rows_t_len(out: usize, inp: usize) -> usize {
    inp.div_ceil(PANEL).saturating_mul(PANEL).saturating_mul(out)
}

/// Returns the number of floats that [`pack_panels`] writes, or `usize::MAX` if the number overflows.
pub fn packed_panels_len(out: usize, inp: usize) -> usize {
    out.saturating_mul(inp)
}

/// Packs W for [`linear_rows`] as `[out/width][inp][width]`, padded with zeros. `width` is the width of the register tile; the last block
/// may be narrower. If `isa` is [`Isa::Bf16`] or [`Isa::Amx`] and available, the layout is `[out/PANEL][inp/2][PANEL]`: each word contains
/// two bf16 numbers that are adjacent in `inp`.
pub fn pack_rows(isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    assert!(w.len() >= out * inp && dst.len() >= packed_rows_len(out, inp));
    pack_columns(isa, w, out, inp, (1, inp), dst);
}

/// Packs W for [`linear_rows_dx`] as `[inp/width][out][width]`, padded with zeros. `width` is the width of the register tile; the last
/// block may be narrower. If `isa` is [`Isa::Bf16`] or [`Isa::Amx`] and available, the layout is `[inp/PANEL][out/2][PANEL]`: each word
/// contains two bf16 numbers that are adjacent in `out`.
pub fn pack_rows_t(isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    assert!(w.len() >= out * inp && dst.len() >= packed_rows_t_len(out, inp));
    pack_columns(isa, w, inp, out, (inp, 1), dst);
}

/// Packs W for [`linear_panels`] as `[out/height][inp][height]`. `height` is the height of the register tile; rows after the last whole
/// tile form blocks of fewer rows.
pub fn pack_panels(isa: Isa, w: &[f32], out: usize, inp: usize, dst: &mut [f32]) {
    assert!(w.len() >= out * inp && dst.len() >= out * inp);
    // Number of rows in a piece of the work. The number is a multiple of every tile height.
    let rows = (par::CHUNK / inp.max(1)).max(1).next_multiple_of(M_LARGE);
    par::chunks_mut([&mut dst[..out * inp]], [rows * inp], |i, [dst]| {
        let (m, k, w) = (dst.len() / inp.max(1), inp, &w[i * rows * inp..]);
        kernel!(isa, |s: S, m: usize, k: usize, w: &[f32], dst: &mut [f32]| {
            assert!(w.len() >= m * k && dst.len() >= m * k);
            let mut m0 = 0;
            while m0 < m {
                let rows = tile_rows::<S>(m - m0);
                // SAFETY: the lengths were just checked.
                unsafe {
                    let (w, dst) = (w.as_ptr().add(m0 * k), dst.as_mut_ptr().add(m0 * k));
                    pack_block(s, w, 1, k, k, rows, rows, dst);
                }
                m0 += rows;
            }
        });
    });
}

fn pack_columns(isa: Isa, b: &[f32], n: usize, k: usize, (ks, cs): (usize, usize), dst: &mut [f32]) {
    let cols = (par::CHUNK / k.max(1)).max(1).next_multiple_of(PANEL);
    #[cfg(target_arch = "x86_64")]
    if isa.rounds_to_bf16() && isa.is_available() {
        let pairs = k.div_ceil(2);
        return par::chunks_mut([&mut dst[..n.div_ceil(PANEL) * PANEL * pairs]], [cols * pairs], |i, [dst]| {
            let (n0, cols) = (i * cols, cols.min(n - i * cols));
            assert!(k == 0 || b.len() > (n0 + cols - 1) * cs + (k - 1) * ks);
            // SAFETY: the instruction set is available, and both slices are long enough: `b` was just checked, `dst` is divided
            // accordingly.
            unsafe { bf16::pack(b[n0 * cs..].as_ptr(), (ks, cs), k, cols, dst.as_mut_ptr().cast()) };
        });
    }
    par::chunks_mut([&mut dst[..n.div_ceil(PANEL) * PANEL * k]], [cols * k], |i, [dst]| {
        let n0 = i * cols;
        pack_column_blocks(isa, cols.min(n - n0), k, &b[n0 * cs..], ks, cs, dst);
    });
}

/// Computes `y[rows][out]` = epilogue(`x[rows][inp]` · Wᵀ). `packed` is W, packed by [`pack_rows`].
pub fn linear_rows(isa: Isa, rows: usize, out: usize, inp: usize, x: &[f32], packed: &[f32], y: &mut [f32], ep: Epilogue) {
    let (x, y) = (&x[..rows * inp], &mut y[..rows * out]);
    let packed = &packed[..packed_rows_len(out, inp)];
    let finish = Finish::new(&ep);
    let (pre, stats) = ep.norm.map_or((&mut [][..], &mut [][..]), |n| (n.save_pre, n.save_stats));
    let alone = !finish.needed && matches!(ep.act, Act::None | Act::Relu);
    // The epilogue needs whole rows of the output, and runs while these rows are in cache. The product is therefore computed in blocks of
    // rows. If a large product has more than four blocks, each block runs on one thread.
    let large = multiply_adds([rows, out, inp]) >= 2 * PIECE as u64;
    let block_rows = match (alone, large) {
        (true, _) => rows.max(1),
        (_, true) => even_for(rows, M_LARGE.max(PIECE / (out * inp)), tile_height(isa)),
        (_, false) => ROW_BLOCK,
    };
    let run = if large && rows.div_ceil(block_rows) > 4 { run_piece } else { run };
    let piece = |i: usize, [y, pre, stats, save]: [&mut [f32]; 4]| {
        let (first, count) = (i * block_rows, y.len() / out.max(1));
        let saves = !save.is_empty();
        let (x, to) = (&x[first * inp..], if saves { &mut *save } else { &mut *y });
        let start = ep.bias.map_or(Start::Zero, |bias| Start::Columns(bias[..out].as_ptr()));
        let (a, b) = (Left::strided(x.as_ptr(), inp, 1), Right::of_packed(isa, packed));
        let relu = ep.act == Act::Relu && !finish.needed && !saves;
        run(isa, Product { relu, ..Product::new([count, out, inp], a, b, Target::rows(to.as_mut_ptr(), out), start) });
        if finish.needed {
            let finish = Finish { residual: ep.residual.map(|r| &r[first * out..][..to.len()]), ..finish };
            finish_rows(isa, out, to, finish, pre, stats);
        }
        match ep.act.unary() {
            Some(op) if saves => ops::unary(isa, op, save, y),
            _ => finish_act(isa, ep.act, y),
        }
    };
    let sizes = |len: usize| if len == 0 { 0 } else { block_rows };
    let sizes = [block_rows * out, sizes(pre.len()) * out, sizes(stats.len()) * 2, sizes(ep.save.len()) * out];
    let lens = [rows * out, rows * out, 2 * rows, rows * out];
    let mut slices = [y, pre, stats, ep.save];
    for (slice, len) in slices.iter_mut().zip(lens).filter(|(slice, _)| !slice.is_empty()) {
        *slice = &mut std::mem::take(slice)[..len];
    }
    if large {
        par::chunks_mut(slices, sizes, piece);
    } else {
        par::chunks_in_order(slices, sizes, piece);
    }
}

/// Computes `dx[rows][inp]` (+)= `dy[rows][out]` · W. `packed_t` is W, packed by [`pack_rows_t`].
pub fn linear_rows_dx(isa: Isa, rows: usize, out: usize, inp: usize, dy: &[f32], packed_t: &[f32], dx: &mut [f32], accumulate: bool) {
    let (dy, dx) = (&dy[..rows * out], &mut dx[..rows * inp]);
    let (a, b) = (Left::strided(dy.as_ptr(), out, 1), Right::of_packed(isa, &packed_t[..packed_rows_t_len(out, inp)]));
    run(isa, Product::new([rows, inp, out], a, b, Target::rows(dx.as_mut_ptr(), inp), Start::of(accumulate)));
}

/// Computes `dw[out][inp]` (+)= dyᵀ · x.
pub fn linear_rows_dw(isa: Isa, rows: usize, out: usize, inp: usize, dy: &[f32], x: &[f32], dw: &mut [f32], accumulate: bool) {
    matmul(isa, out, inp, rows, dy, (1, out), x, (inp, 1), dw, accumulate);
}

/// Computes [`linear_rows`] for a batch in panels: x is `[batch/PANEL][inp][PANEL]`, and y is `[batch/PANEL][out][PANEL]`. `packed` is W,
/// packed by [`pack_panels`]. The saved input of the norm has the layout of y. The saved statistics have the shape `[batch rounded up to
/// whole panels][2]`.
pub fn linear_panels(isa: Isa, batch: usize, out: usize, inp: usize, x: &[f32], packed: &[f32], y: &mut [f32], ep: Epilogue) {
    let (x, y) = (&x[..crate::panels_len(batch, inp)], &mut y[..crate::panels_len(batch, out)]);
    let packed = &packed[..packed_panels_len(out, inp)];
    assert!(ep.save.is_empty(), "panels save no activations");
    let finish = Finish::new(&ep);
    let (pre, stats) = ep.norm.map_or((&mut [][..], &mut [][..]), |n| (n.save_pre, n.save_stats));
    let panel = |i: usize, [y, pre, stats]: [&mut [f32]; 3]| {
        let a = Left { p: packed.as_ptr(), rs: 0, ks: 0, packed: true };
        let b = Right::Direct(x[i * inp * PANEL..].as_ptr(), PANEL);
        let start = ep.bias.map_or(Start::Zero, |bias| Start::Rows(bias[..out].as_ptr()));
        let relu = ep.act == Act::Relu && !finish.needed;
        run(isa, Product { relu, ..Product::new([out, PANEL, inp], a, b, Target::rows(y.as_mut_ptr(), PANEL), start) });
        if finish.needed {
            let finish = Finish { residual: ep.residual.map(|r| &r[i * out * PANEL..][..y.len()]), ..finish };
            finish_panel(isa, out, y, finish, pre, stats);
        }
        finish_act(isa, ep.act, y);
    };
    let size = out * PANEL;
    let sizes = [size, if pre.is_empty() { 0 } else { size }, if stats.is_empty() { 0 } else { 2 * PANEL }];
    // Number of panels whose work justifies another thread.
    let group = (PIECE / (size * inp).max(1)).max(1);
    let slices = [y, pre, stats];
    if batch.div_ceil(PANEL) < 2 * group {
        return par::chunks_in_order(slices, sizes, panel);
    }
    par::chunks_mut(slices, sizes.map(|size| size * group), |i, slices| {
        par::chunks_in_order(slices, sizes, |j, slices| panel(i * group + j, slices));
    });
}

/// Computes `c[m][n]` (+)= Σ_k `a[m·rs + k·ks]` · `b[k·ks + n·cs]`. Each operand has two strides: (to the next row, to the next column).
/// For a transposed operand, the caller swaps the strides. The operands are not packed beforehand.
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
    // The operands are swapped if the rows of A fill the lanes better than the columns of B do. Cᵀ = Bᵀ·Aᵀ has the same chains. After a
    // swap, C is stored transposed, which takes longer, so the swap must save a fifth of the work.
    let swap = !isa.rounds_to_bf16() && 5 * n * padded(m) < 4 * m * padded(n);
    let product = if swap {
        let (a, b) = (Left::strided(b.as_ptr(), b_cs, b_ks), Right::Strided { p: a.as_ptr(), ks: a_ks, cs: a_rs });
        Product::new([n, m, k], a, b, Target { p: c.as_mut_ptr(), rs: 1, cs: n }, Start::of(accumulate))
    } else {
        let (a, b) = (Left::strided(a.as_ptr(), a_rs, a_ks), Right::Strided { p: b.as_ptr(), ks: b_ks, cs: b_cs });
        Product::new([m, n, k], a, b, Target::rows(c.as_mut_ptr(), n), Start::of(accumulate))
    };
    run(isa, product);
}

/// Computes `c[m][n]` (+)= Σ_k `a[m][k]`·`b[k][n]`, on this thread. b is `[k][PANEL]`, and n is at most PANEL. The strides of a are (to the
/// next row, to the next column); one of them is 1.
///
/// # Safety
/// a and c must be valid for m, n and k at their strides, and b for k whole rows.
pub(crate) unsafe fn panel_product(
    isa: Isa,
    [m, n, k]: [usize; 3],
    (a, rs, ks): (*const f32, usize, usize),
    b: *const f32,
    (c, c_rs): (*mut f32, usize),
    accumulate: bool,
) {
    debug_assert!(n <= PANEL && (rs == 1 || ks == 1));
    let product = Product::new([m, n, k], Left::strided(a, rs, ks), Right::Direct(b, PANEL), Target::rows(c, c_rs), Start::of(accumulate));
    run_tiles(isa, product, None);
}

/// Returns the number of lanes that a row of n numbers occupies in vectors of 16 lanes, the widest vectors. In narrower vectors, the row
/// may occupy fewer lanes.
fn padded(n: usize) -> usize {
    n.div_ceil(16) * 16
}

/// Number of rows per block of a small product with an epilogue. The output of a block is still in cache when the epilogue runs.
const ROW_BLOCK: usize = 64;
/// Maximum length along k of a block of B that tiles read in place, so that the block stays in the first-level cache. This limit applies
/// only to products that do not copy A.
const K_BLOCK: usize = 384;
/// Maximum length along k of a block of B that is packed on the stack. This limit applies only to products that do not copy A.
const K_STACK: usize = 128;
/// Maximum number of columns of C per copied block of A, so that the block stays in cache while these columns are computed.
const N_LARGE: usize = 2048;
/// Stride of the rows of a copied block of A, in floats. The stride is one cache line longer than the longest row, so that the rows use
/// different cache sets.
const ROW_LARGE: usize = K_LARGE + 16;
/// Number of multiply-adds that justifies another thread. One thread needs about 60 µs for this number natively, and 250 µs in a browser.
pub const PIECE: usize = 1 << 23;

/// Returns the number of multiply-adds of a product. The type is `u64`, because the number can exceed a browser's `usize`.
fn multiply_adds(sizes: [usize; 3]) -> u64 {
    sizes.map(|size| size as u64).iter().product()
}

/// Computes the product. All threads share the product's pieces if the product has at least 2·[`PIECE`] multiply-adds and A is not packed.
/// Otherwise, the product is a single piece.
fn run(isa: Isa, product: Product) {
    let Product { m, n, k, .. } = product;
    if multiply_adds([m, n, k]) < 2 * PIECE as u64 || product.a.packed {
        return run_piece(isa, product);
    }
    let height = tile_height(isa);
    // Factor for the costs of reading, which are counted in multiply-adds. A faster instruction set performs more multiply-adds in the time
    // of a read.
    let cost = match isa {
        Isa::Amx => 8,
        Isa::Bf16 => 2,
        _ => 1,
    };
    let (of_a, of_b) = if matches!(product.b, Right::Strided { .. }) { (48, 24) } else { (24, 8) };
    let (down, across) = pieces(par::threads(), height, [m, n, k], [of_a * cost, of_b * cost]);
    // The whole tiles are divided evenly among the pieces. With pieces of a fixed size, the last piece could be small, and the thread that
    // computes it would have little work.
    let part = |len: usize, unit: usize, i: usize, count: usize| {
        let at = |i: usize| len.min(len.div_ceil(unit) * i / count * unit);
        at(i)..at(i + 1)
    };
    par::each(down * across, |i| {
        run_piece(isa, product.piece(part(m, height, i / across, down), part(n, PANEL, i % across, across)));
    });
}

/// Returns the numbers of pieces along the rows and along the columns of C for which the least time is lost. If there are several pieces,
/// they have at least [`PIECE`] multiply-adds on average. More pieces read operands more often: one element of A costs as much as `of_a`
/// multiply-adds, one element of B as much as `of_b`. With fewer pieces, threads wait longer for the last piece.
fn pieces(threads: usize, height: usize, [m, n, k]: [usize; 3], [of_a, of_b]: [usize; 2]) -> (usize, usize) {
    const MOST: usize = 64;
    let most = (8 * threads).min(MOST).max(threads);
    let most = (multiply_adds([m, n, k]) / PIECE as u64).clamp(1, most as u64) as usize;
    let lost = |down: usize, across: usize| {
        let count = down * across;
        let idle = count.next_multiple_of(threads) - count;
        let last = if threads > 1 { threads } else { 0 };
        let waits = multiply_adds([m, n, 4 * idle + last]) / (4 * count as u64);
        multiply_adds([of_a, m, across]) + multiply_adds([of_b, n, down]) + waits
    };
    let all =
        (1..=most.min(n.div_ceil(PANEL))).flat_map(|across| (1..=(most / across).min(m.div_ceil(height))).map(move |down| (down, across)));
    all.min_by_key(|&(down, across)| lost(down, across)).unwrap_or((1, 1))
}

fn tile_height(isa: Isa) -> usize {
    if isa == Isa::Amx { PANEL } else { kernel!(isa, |_s: S| -> usize { S::TILE_ROWS }) }
}

fn run_piece(isa: Isa, product: Product) {
    #[cfg(target_arch = "x86_64")]
    if isa.rounds_to_bf16() && isa.is_available() && !product.a.packed {
        // SAFETY: the instruction set is available on this machine; the public functions have checked the operands.
        return unsafe { if isa == Isa::Amx { amx::run(product) } else { bf16::run(product) } };
    }
    if product.large() {
        run_large(isa, product);
    } else {
        run_tiles(isa, product, None);
    }
}

/// Memory for one copied block of A and one copied block of B.
#[repr(align(64))]
struct Blocks {
    a: [MaybeUninit<f32>; M_LARGE * ROW_LARGE],
    b: [MaybeUninit<f32>; K_LARGE * PANEL],
}

/// Runs a product with copied blocks. This is a separate function, because only large products justify this much stack.
#[inline(never)]
fn run_large(isa: Isa, product: Product) {
    let mut blocks = MaybeUninit::<Blocks>::uninit();
    run_tiles(isa, product, Some(&mut blocks));
}

/// Computes a product tile by tile. Without copied blocks, the loops from the outermost to the innermost are: columns of tiles, blocks of
/// k, tiles of a column. With copied blocks, the loops are: blocks of rows, blocks of columns, blocks of k (each copies a block of A),
/// tiles of the block. The function is never inlined, so that a WebAssembly module contains the tiles once.
#[inline(never)]
fn run_tiles(isa: Isa, p: Product, blocks: Option<&mut MaybeUninit<Blocks>>) {
    kernel!(isa, |s: S, p: Product, blocks: Option<&mut MaybeUninit<Blocks>>| {
        let mut stack = [MaybeUninit::<f32>::uninit(); K_STACK * PANEL];
        let large = blocks.is_some();
        // SAFETY: only addresses are taken.
        let (a_block, b_block) = blocks.map_or((std::ptr::null_mut(), stack.as_mut_ptr().cast::<f32>()), |b| unsafe {
            let b = b.as_mut_ptr();
            ((&raw mut (*b).a).cast::<f32>(), (&raw mut (*b).b).cast::<f32>())
        });
        let k_block = match p.b {
            _ if large => K_LARGE,
            Right::Strided { .. } => K_STACK,
            _ => K_BLOCK,
        };
        let m_block = if large { even(p.m, M_LARGE).next_multiple_of(S::TILE_ROWS) } else { p.m.max(1) };
        // SAFETY: the public functions have checked every operand against m, n and k; tiles of fewer columns than lanes
        // touch C through a buffer, a packed B is padded to whole vectors, and a block of A has room for m_block rows.
        unsafe {
            for m_first in (0..p.m).step_by(m_block) {
                let m_end = p.m.min(m_first + m_block);
                let mut n_first = 0;
                while n_first < p.n {
                    let n_end = if large { p.n.min(n_first + N_LARGE) } else { n_first + 1 };
                    let mut n_next = n_end;
                    let mut k0 = 0;
                    while k0 < p.k || k0 == 0 {
                        let steps = even(p.k - k0, k_block);
                        let mut a = (p.a.p.add(m_first * p.a.rs + k0 * p.a.ks), p.a.rs, p.a.ks);
                        let by_tiles = large && p.a.rs == 1;
                        if by_tiles {
                            copy_tiles::<S>(a.0, a.2, m_end - m_first, steps, a_block);
                        } else if large {
                            a = copy_rows(a, m_end - m_first, steps, a_block);
                        }
                        // Prefetches the next block of A while this block is in use.
                        let k_next = k0 + steps;
                        let tiles = (m_end - m_first).div_ceil(S::TILE_ROWS);
                        let panels = (n_end - n_first).div_ceil(S::TILE_VECTORS * S::LANES);
                        let mut a_ahead = Ahead::none();
                        if S::PREFETCHES && large && k_next < p.k {
                            let next = even(p.k - k_next, k_block);
                            let (count, len) = if by_tiles { (next, m_end - m_first) } else { (m_end - m_first, next) };
                            let from = p.a.p.add(m_first * p.a.rs + k_next * p.a.ks);
                            a_ahead = Ahead::new(from, p.a.rs.max(p.a.ks), count, len, tiles * panels);
                        }
                        let mut n0 = n_first;
                        while n0 < n_end {
                            let vectors = tile_vectors::<S>(p.n - n0);
                            let width = vectors * S::LANES;
                            let cols = width.min(p.n - n0);
                            let (mut b, mut b_ks, mut copy) = match p.b {
                                Right::Packed(b) => (b.add(n0 * p.k + k0 * width), width, None),
                                Right::Direct(b, stride) => (b.add(k0 * stride + n0), stride, None),
                                Right::Pairs(_) => unreachable!("has tiles of its own"),
                                // The first tile copies B while it reads B for its multiply-adds. For browsers, B is packed beforehand, so
                                // that the module contains fewer tiles.
                                Right::Strided { p: b, ks, cs: 1 }
                                    if S::PREFETCHES && cols == S::TILE_VECTORS * S::LANES && m_end - m_first >= S::TILE_ROWS =>
                                {
                                    (b.add(k0 * ks + n0), ks, Some(b_block))
                                }
                                Right::Strided { p: b, ks, cs } => {
                                    pack_block(s, b.add(k0 * ks + n0 * cs), ks, cs, steps, cols, width, b_block);
                                    (b_block.cast_const(), width, None)
                                }
                            };
                            let mut bias = [0.0; PANEL];
                            let mut m0 = m_first;
                            while m0 < m_end {
                                let rows = tile_rows::<S>(m_end - m0);
                                let (a, a_rs, a_ks) = if p.a.packed {
                                    (p.a.p.add(m0 * p.k + k0 * rows), 1, rows)
                                } else if by_tiles {
                                    {
                                        let (tile, row) = ((m0 - m_first) / S::TILE_ROWS, (m0 - m_first) % S::TILE_ROWS);
                                        (a_block.cast_const().add(tile * tile_stride::<S>(steps) + row * steps), 1, rows)
                                    }
                                } else {
                                    (a.0.add((m0 - m_first) * a.1), a.1, a.2)
                                };
                                let start = match p.start.at(m0, n0, k0) {
                                    Start::Columns(p) if cols < width => {
                                        std::ptr::copy_nonoverlapping(p, bias.as_mut_ptr(), cols);
                                        Start::Columns(bias.as_ptr())
                                    }
                                    start => start,
                                };
                                let c = Target { p: p.c.p.add(m0 * p.c.rs + n0 * p.c.cs), ..p.c };
                                let mut ahead = TileAhead::none();
                                if S::PREFETCHES && large {
                                    a_ahead.ask(s);
                                    let (m_next, n_next) = if m0 + rows < m_end { (m0 + rows, n0) } else { (m_first, n0 + width) };
                                    ahead.every = steps.div_ceil(rows);
                                    if n_next < n_end {
                                        ahead.c = p.c.p.add(m_next * p.c.rs + n_next * p.c.cs);
                                        (ahead.c_rs, ahead.c_cs) = (p.c.rs, p.c.cs);
                                    }
                                    if n0 + width < p.n {
                                        let row = (m0 - m_first) / S::TILE_ROWS * steps / tiles;
                                        (ahead.b, ahead.b_ks) = match p.b {
                                            Right::Packed(b) => (b.wrapping_add((n0 + width) * p.k + (k0 + row) * width), width),
                                            Right::Strided { p: b, ks, cs: 1 } => (b.wrapping_add((k0 + row) * ks + n0 + width), ks),
                                            _ => (ahead.b, 0),
                                        };
                                    }
                                }
                                let relu = p.relu && k0 + steps == p.k;
                                tile_of(s, rows, vectors, &Tile { a, a_rs, a_ks, b, b_ks, copy, steps, c, cols, start, relu, ahead });
                                if copy.take().is_some() {
                                    (b, b_ks) = (b_block.cast_const(), width);
                                }
                                m0 += rows;
                            }
                            n0 += width;
                        }
                        n_next = n0;
                        k0 += steps.max(1);
                    }
                    n_first = n_next;
                }
            }
        }
    });
}

/// Returns the width in vectors of the next tile if `cols` columns are left: 1, 2 or the maximum.
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

/// Returns the height of the next tile if `rows` rows are left: 1, 2, 4 or the maximum.
#[inline(always)]
fn tile_rows<S: Simd>(rows: usize) -> usize {
    match rows {
        1 => 1,
        2 | 3 => 2,
        rows if rows >= S::TILE_ROWS => S::TILE_ROWS,
        _ => 4,
    }
}

/// Cache lines to prefetch during other work. Each call of [`Ahead::ask`] prefetches a few of the lines.
struct Ahead {
    p: *const f32,
    stride: usize,
    /// Number of cache lines in each row.
    lines: usize,
    rows: usize,
    line: usize,
    /// Number of cache lines per call of [`Ahead::ask`].
    quota: usize,
}

impl Ahead {
    #[inline(always)]
    fn none() -> Ahead {
        Ahead { p: std::ptr::null(), stride: 0, lines: 0, rows: 0, line: 0, quota: 0 }
    }

    /// Prepares to prefetch `rows` rows of `len` floats in `times` calls of [`Ahead::ask`].
    #[inline(always)]
    fn new(p: *const f32, stride: usize, rows: usize, len: usize, times: usize) -> Ahead {
        let lines = len.div_ceil(16);
        Ahead { p, stride, lines, rows, line: 0, quota: (rows * lines).div_ceil(times) }
    }

    #[inline(always)]
    fn ask<S: Simd>(&mut self, s: S) {
        for _ in 0..self.quota {
            if self.rows == 0 {
                return;
            }
            s.prefetch::<false>(self.p.wrapping_add(16 * self.line));
            self.line += 1;
            if self.line == self.lines {
                (self.line, self.rows, self.p) = (0, self.rows - 1, self.p.wrapping_add(self.stride));
            }
        }
    }
}

/// Returns the number of rows per block if threads share `rows` rows. Each thread gets the same number of blocks, as far as the height of
/// tiles permits. A block has at most `most` rows, rounded up to a multiple of the tile height `height`.
fn even_for(rows: usize, most: usize, height: usize) -> usize {
    rows.div_ceil(rows.div_ceil(most).next_multiple_of(par::threads()).max(1)).next_multiple_of(height)
}

/// Copies rows of A to a block, `[rows][ROW_LARGE]`. Returns the copy's address and strides.
#[inline(always)]
unsafe fn copy_rows((a, rs, ks): (*const f32, usize, usize), rows: usize, steps: usize, to: *mut f32) -> (*const f32, usize, usize) {
    // SAFETY: the caller guarantees rows <= M_LARGE and steps <= K_LARGE.
    unsafe {
        for r in 0..rows {
            let (a, to) = (a.add(r * rs), to.add(r * ROW_LARGE));
            if ks == 1 {
                std::ptr::copy_nonoverlapping(a, to, steps);
            } else {
                for k in 0..steps {
                    *to.add(k) = *a.add(k * ks);
                }
            }
        }
    }
    (to.cast_const(), ROW_LARGE, 1)
}

/// Returns the stride in floats of the tiles that [`copy_tiles`] writes. A tile is padded by one cache line, so that the tiles use
/// different cache sets.
#[inline(always)]
fn tile_stride<S: Simd>(steps: usize) -> usize {
    S::TILE_ROWS * steps + 16
}

/// Copies the columns of a transposed A in the order in which the tiles read them, `[rows/height][steps][height]`. Tiles are
/// [`tile_stride`] apart. Rows after the last whole tile form blocks of fewer rows.
#[inline(always)]
unsafe fn copy_tiles<S: Simd>(a: *const f32, ks: usize, rows: usize, steps: usize, to: *mut f32) {
    // SAFETY: the caller guarantees rows <= M_LARGE and steps <= K_LARGE. The padding of tiles takes less room than the padding of rows in
    // [`copy_rows`].
    unsafe {
        let stride = tile_stride::<S>(steps);
        for first in (0..steps).step_by(4) {
            for tile in 0..rows / S::TILE_ROWS {
                for k in first..steps.min(first + 4) {
                    let (from, to) = (a.add(k * ks + tile * S::TILE_ROWS), to.add(tile * stride + k * S::TILE_ROWS));
                    // A copy of constant length compiles to one or two moves.
                    std::ptr::copy_nonoverlapping(from, to, S::TILE_ROWS);
                }
            }
        }
        let mut m0 = rows / S::TILE_ROWS * S::TILE_ROWS;
        while m0 < rows {
            let height = tile_rows::<S>(rows - m0);
            let to = to.add(m0 / S::TILE_ROWS * stride + m0 % S::TILE_ROWS * steps);
            for k in 0..steps {
                for r in 0..height {
                    *to.add(k * height + r) = *a.add(k * ks + m0 + r);
                }
            }
            m0 += height;
        }
    }
}

struct Tile {
    a: *const f32,
    a_rs: usize,
    a_ks: usize,
    b: *const f32,
    b_ks: usize,
    /// Destination for a copy of B, which the tile writes row by row; `None` if the tile makes no copy.
    copy: Option<*mut f32>,
    steps: usize,
    c: Target,
    cols: usize,
    start: Start,
    relu: bool,
    ahead: TileAhead,
}

/// Cache lines that a tile's loop prefetches. The loop prefetches a few lines at a time, because many prefetches at once would delay the
/// loop's own loads. Every `every` steps, the loop prefetches one row of the next tile of C, and two rows of B for the next column of
/// tiles.
#[derive(Clone, Copy)]
struct TileAhead {
    every: usize,
    c: *const f32,
    c_rs: usize,
    c_cs: usize,
    b: *const f32,
    b_ks: usize,
}

impl TileAhead {
    #[inline(always)]
    fn none() -> TileAhead {
        let nowhere = std::ptr::null();
        TileAhead { every: usize::MAX, c: nowhere, c_rs: 0, c_cs: 0, b: nowhere, b_ks: 0 }
    }

    #[inline(always)]
    fn ask<S: Simd, const NV: usize>(&mut self, s: S) {
        for v in 0..NV {
            s.prefetch::<true>(self.c.wrapping_add(v * S::LANES * self.c_cs));
        }
        self.c = self.c.wrapping_add(self.c_rs);
        for _ in 0..2 {
            for column in (0..NV * S::LANES).step_by(16) {
                s.prefetch::<false>(self.b.wrapping_add(column));
            }
            self.b = self.b.wrapping_add(self.b_ks);
        }
    }
}

/// Computes a tile with the function that is compiled for `rows` rows and `vectors` vectors. Only the shapes that the instruction set needs
/// are compiled.
#[inline(always)]
unsafe fn tile_of<S: Simd>(s: S, rows: usize, vectors: usize, t: &Tile) {
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: guaranteed by the caller.
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

/// Computes one tile in registers: `C[MR][NV vectors]` = start + Σ_k A·B, then a relu if `t.relu`.
#[inline(always)]
unsafe fn tile<S: Simd, const MR: usize, const NV: usize>(s: S, t: &Tile) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let whole = t.cols == NV * S::LANES && t.c.cs == 1;
        let mut buffer = [MaybeUninit::<f32>::uninit(); 8 * PANEL];
        let buffer = buffer.as_mut_ptr().cast::<f32>();
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
                            *buffer.add(m * PANEL + c) = *t.c.p.add(m * t.c.rs + c * t.c.cs);
                        }
                    }
                    (from, stride) = (buffer.cast_const(), PANEL);
                }
                for m in 0..MR {
                    for v in 0..NV {
                        acc[m][v] = s.load_ptr(from.add(m * stride + v * S::LANES));
                    }
                }
            }
        }
        // With constant strides, a browser's compiler has enough registers for the loop.
        let (width, nowhere) = (NV * S::LANES, std::ptr::null_mut());
        if S::PREFETCHES
            && MR == S::TILE_ROWS
            && NV == S::TILE_VECTORS
            && let Some(copy) = t.copy
        {
            chains::<S, MR, NV, true>(s, t, t.a_rs, t.a_ks, t.b_ks, copy, &mut acc);
        } else if t.b_ks != width {
            if t.a_rs == 1 && t.a_ks == MR {
                chains::<S, MR, NV, false>(s, t, 1, MR, PANEL, nowhere, &mut acc);
            } else if t.a_ks == 1 {
                chains::<S, MR, NV, false>(s, t, t.a_rs, 1, PANEL, nowhere, &mut acc);
            } else {
                chains::<S, MR, NV, false>(s, t, 1, t.a_ks, PANEL, nowhere, &mut acc);
            }
        } else if t.a_rs == 1 {
            chains::<S, MR, NV, false>(s, t, 1, t.a_ks, width, nowhere, &mut acc);
        } else if t.a_ks == 1 {
            chains::<S, MR, NV, false>(s, t, t.a_rs, 1, width, nowhere, &mut acc);
        } else {
            chains::<S, MR, NV, false>(s, t, t.a_rs, t.a_ks, width, nowhere, &mut acc);
        }
        if t.relu {
            for m in 0..MR {
                for v in 0..NV {
                    acc[m][v] = s.max(s.splat(0.0), acc[m][v]);
                }
            }
        }
        let (to, stride) = if whole { (t.c.p, t.c.rs) } else { (buffer, PANEL) };
        for m in 0..MR {
            for v in 0..NV {
                s.store_ptr(acc[m][v], to.add(m * stride + v * S::LANES));
            }
        }
        if !whole {
            for m in 0..MR {
                for c in 0..t.cols {
                    *t.c.p.add(m * t.c.rs + c * t.c.cs) = *buffer.add(m * PANEL + c);
                }
            }
        }
    }
}

/// Computes `acc[m]` += Σ_k `A[m][k]`·`B[k]`. With `COPY`, also copies the rows of B to `copy`, without gaps.
#[inline(always)]
unsafe fn chains<S: Simd, const MR: usize, const NV: usize, const COPY: bool>(
    s: S,
    t: &Tile,
    a_rs: usize,
    a_ks: usize,
    b_ks: usize,
    mut copy: *mut f32,
    acc: &mut [[S::F; NV]; MR],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut rows = [t.a; MR];
        for m in 1..MR {
            rows[m] = t.a.add(m * a_rs);
            if cfg!(target_arch = "wasm32") && a_rs != 1 {
                // Hides from the compiler that the rows are evenly spaced. A compiler that knows the spacing computes each address from one
                // pointer, which costs a tenth of the speed.
                rows[m] = std::hint::black_box(rows[m]);
            }
        }
        let (mut b, mut at) = (t.b, 0);
        let (mut left, mut ahead) = (t.steps, t.ahead);
        while left > 0 {
            let mut steps = left;
            if S::PREFETCHES && ahead.every < t.steps {
                steps = left.min(ahead.every);
                ahead.ask::<S, NV>(s);
            }
            for _ in 0..steps {
                let mut columns = [s.splat(0.0); NV];
                for v in 0..NV {
                    columns[v] = s.load_ptr(b.add(v * S::LANES));
                    if COPY {
                        s.store_ptr(columns[v], copy.add(v * S::LANES));
                    }
                }
                if COPY {
                    copy = copy.add(NV * S::LANES);
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
            left -= steps;
        }
    }
}

/// Packs columns of B: `dst[steps][width]` = `b[k·ks + c·cs]`. The columns of `dst` from `cols` on are 0.
#[inline(always)]
unsafe fn pack_block<S: Simd>(s: S, b: *const f32, ks: usize, cs: usize, steps: usize, cols: usize, width: usize, dst: *mut f32) {
    // SAFETY: the caller guarantees that b holds [steps][cols] at these strides, and dst [steps][width].
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
        // If B is contiguous along k, blocks of 4 by 4 are transposed.
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

/// Packs a B with any strides as `[n/width][k][width]`, padded with zeros. `width` is the width of the register tile; the last block may be
/// narrower.
fn pack_column_blocks(isa: Isa, n: usize, k: usize, b: &[f32], ks: usize, cs: usize, dst: &mut [f32]) {
    kernel!(isa, |s: S, n: usize, k: usize, b: &[f32], ks: usize, cs: usize, dst: &mut [f32]| {
        let Some(last) = (n * k).checked_sub(1).map(|_| (n - 1) * cs + (k - 1) * ks) else { return };
        assert!(b.len() > last && dst.len() >= n.div_ceil(PANEL) * PANEL * k);
        let mut n0 = 0;
        while n0 < n {
            let width = tile_vectors::<S>(n - n0) * S::LANES;
            let cols = width.min(n - n0);
            // SAFETY: the lengths were just checked; a block begins after n0 whole columns of k.
            unsafe {
                let (b, dst) = (b.as_ptr().add(n0 * cs), dst.as_mut_ptr().add(n0 * k));
                pack_block(s, b, ks, cs, k, cols, width, dst);
            }
            n0 += width;
        }
    })
}

/// Operations of an epilogue that are applied row by row: norm, residual, and a relu after both.
#[derive(Clone, Copy)]
struct Finish<'a> {
    needed: bool,
    /// (gamma, beta, eps)
    norm: Option<(&'a [f32], &'a [f32], f32)>,
    residual: Option<&'a [f32]>,
    /// Lower bound of the result: 0 for a relu whose input is not saved, otherwise -infinity.
    floor: f32,
}

impl<'a> Finish<'a> {
    fn new(ep: &Epilogue<'a>) -> Finish<'a> {
        Finish {
            needed: ep.norm.is_some() || ep.residual.is_some(),
            norm: ep.norm.as_ref().map(|n| (n.gamma, n.beta, n.eps)),
            residual: ep.residual,
            floor: if ep.act == Act::Relu && ep.save.is_empty() { 0.0 } else { f32::NEG_INFINITY },
        }
    }
}

/// Applies tanh or gelu in a separate pass over data that is still in cache. Does nothing for a relu, which is part of an earlier pass.
fn finish_act(isa: Isa, act: Act, y: &mut [f32]) {
    if matches!(act, Act::Tanh | Act::Gelu)
        && let Some(op) = act.unary()
    {
        ops::unary_in_place(isa, op, y);
    }
}

/// Computes `y[rows][cols]` = max(norm(y) + residual, floor). Saves the norm's input to `pre` and the norm's statistics to `stats`, unless
/// `pre` or `stats` is empty.
fn finish_rows(isa: Isa, cols: usize, y: &mut [f32], finish: Finish, pre: &mut [f32], stats: &mut [f32]) {
    kernel!(isa, |s: S, cols: usize, y: &mut [f32], finish: Finish<'_>, pre: &mut [f32], stats: &mut [f32]| {
        if !pre.is_empty() {
            pre.copy_from_slice(y);
        }
        let Finish { norm, residual, floor, .. } = finish;
        let mut done = 0;
        if let Some((gamma, beta, eps)) = norm
            && S::LANES == 16
            && cols.is_multiple_of(32)
        {
            let (gamma, beta) = (gamma[..cols].as_ptr(), beta[..cols].as_ptr());
            for (i, y) in y.chunks_exact_mut(4 * cols).enumerate() {
                let residual = residual.map(|x| x[4 * i * cols..][..4 * cols].as_ptr());
                // SAFETY: y and the residual were cut to four rows, gamma and beta to one row.
                let rows = unsafe { ops::finish_four_rows(s, cols, y.as_mut_ptr(), gamma, beta, eps, residual, floor) };
                if !stats.is_empty() {
                    for (stats, row) in stats[8 * i..].chunks_exact_mut(2).zip(rows) {
                        (stats[0], stats[1]) = row;
                    }
                }
                done += 4;
            }
        }
        for (r, y) in y.chunks_exact_mut(cols).enumerate().skip(done) {
            let norm = norm.map(
                #[inline(always)]
                |(gamma, beta, eps)| {
                    let (mean, rstd) = ops::row_stats(s, y, eps);
                    if !stats.is_empty() {
                        (stats[2 * r], stats[2 * r + 1]) = (mean, rstd);
                    }
                    (mean, rstd, gamma, beta)
                },
            );
            let residual = residual.map(|x| &x[r * cols..][..cols]);
            ops::finish_row(s, y, norm, residual, floor);
        }
    })
}

/// Does the same as [`finish_rows`] for one panel, `y[features][PANEL]`: the norm is over the features of each lane.
fn finish_panel(isa: Isa, features: usize, y: &mut [f32], finish: Finish, pre: &mut [f32], stats: &mut [f32]) {
    kernel!(isa, |s: S, features: usize, y: &mut [f32], finish: Finish<'_>, pre: &mut [f32], stats: &mut [f32]| {
        if !pre.is_empty() {
            pre.copy_from_slice(y);
        }
        let Finish { norm, residual, floor, .. } = finish;
        let residual = residual.map(|x| x[..y.len()].as_ptr());
        for lane in (0..PANEL).step_by(2 * S::LANES) {
            let norm = match norm {
                None => None,
                Some((gamma, beta, eps)) => {
                    let (means, rstds) = ops::column_stats(s, features, y, lane, eps);
                    if !stats.is_empty() {
                        ops::store_stats(s, means, rstds, &mut stats[2 * lane..]);
                    }
                    Some((means, rstds, gamma[..features].as_ptr(), beta[..features].as_ptr()))
                }
            };
            let y = y.as_mut_ptr();
            // SAFETY: y and the residual are whole panels; gamma and beta were cut to the number of features.
            unsafe { ops::finish_pair(s, features, lane, y, y, norm, residual, floor) };
        }
    })
}
