//! Products of bf16 operands with f32 sums (AVX512-BF16), for [`Isa::Bf16`](crate::Isa::Bf16).
//!
//! Operands are f32 in memory and are rounded to nearest-even when they are copied into blocks. A weight is rounded once, when it is
//! packed. Two numbers that are adjacent in k form a 32-bit word, called a pair. The number with the even k is in the low half. `vdpbf16ps`
//! adds the two products of a pair to a sum: first the odd product, then the even product. Each addition is rounded once, and denormals
//! count as zero. Each element of C is one chain of these additions in the order of k, so blocks do not change the bits.

use super::product::{M_LARGE, Product, Right, Start, Target, even};
use crate::PANEL;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Maximum length of a block along k, in pairs. With this length, a block of B stays in the first-level cache, and a block of A in the
/// second-level cache.
pub(super) const PAIRS: usize = 256;
/// Stride of the rows in a copied block of A, in words. The stride is one cache line longer than a row, so that the rows use different
/// cache sets.
pub(super) const ROW: usize = PAIRS + 16;
/// Number of rows of a tile.
const HEIGHT: usize = 8;
/// Stride in words of the tiles that [`copy_columns`] writes to a block.
const TILE: usize = HEIGHT * PAIRS + 16;

/// Number of rows between the row that is being copied and the row that is prefetched at the same time.
const AHEAD: usize = 8;
/// Number of columns of an unpacked B that are packed together. These columns stay in the second-level cache while all rows of A are
/// multiplied.
pub(super) const TOGETHER: usize = 16 * PANEL;
/// Stride of the panels in [`Blocks::b`], in words.
pub(super) const PANEL_STRIDE: usize = PAIRS * PANEL + 16;

#[repr(align(64))]
pub(super) struct Blocks {
    pub a: [MaybeUninit<u32>; (M_LARGE + 16) * ROW],
    pub b: [MaybeUninit<u32>; TOGETHER / PANEL * PANEL_STRIDE],
}
const _: () = assert!(M_LARGE.div_ceil(HEIGHT) * TILE <= (M_LARGE + 16) * ROW);

/// Packs `B[k][n]` with any strides as `[n/PANEL][pairs of k][PANEL]`, padded with zeros.
///
/// # Safety
/// The machine has AVX512-BF16, `b` holds k by n numbers at these strides, and `dst` has room for n rounded up to panels.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
pub unsafe fn pack(b: *const f32, (ks, cs): (usize, usize), k: usize, n: usize, dst: *mut u32) {
    for n0 in (0..n).step_by(PANEL) {
        // SAFETY: guaranteed by the caller.
        unsafe { pack_panels(b.add(n0 * cs), ks, cs, k, PANEL.min(n - n0), dst.add(n0 * k.div_ceil(2))) };
    }
}

/// Computes the product on this thread: C = start + A·B, then a relu if `p.relu`. If B is not packed, packs each block of B once and
/// multiplies it by all rows of A. If B is packed, computes a block of rows of C for all of k before the next block, while this block of C
/// is in the cache.
///
/// # Safety
/// The machine has AVX512-BF16, and the operands are valid for the product's sizes and strides.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
#[inline(never)]
pub(super) unsafe fn run(p: Product) {
    let mut blocks = MaybeUninit::<Blocks>::uninit();
    let blocks = blocks.as_mut_ptr();
    // SAFETY: only addresses are taken.
    let (a_block, b_block) = unsafe { ((&raw mut (*blocks).a).cast::<u32>(), (&raw mut (*blocks).b).cast::<u32>()) };
    debug_assert!(p.c.cs == 1 && !p.a.packed);
    let m_block = even(p.m, M_LARGE).next_multiple_of(HEIGHT);
    let strided = matches!(p.b, Right::Strided { .. });
    let (m_outer, n_outer) = if strided { (p.m, TOGETHER) } else { (m_block, p.n) };
    for m_outer in blocks_of(0..p.m, m_outer) {
        for n in blocks_of(0..p.n, n_outer) {
            let mut first = 0;
            while first < p.k || first == 0 {
                let pairs = even((p.k - first).div_ceil(2), PAIRS);
                let k = first..p.k.min(first + 2 * pairs);
                // SAFETY: guaranteed by the caller. The blocks have room for TOGETHER columns and M_LARGE rows of PAIRS.
                unsafe {
                    if let Right::Strided { p: b, ks, cs } = p.b {
                        pack_panels(b.add(k.start * ks + n.start * cs), ks, cs, k.len(), n.len(), b_block);
                    }
                    for m in blocks_of(m_outer.clone(), m_block) {
                        multiply(&p, m, n.clone(), k.clone(), (a_block, b_block));
                    }
                }
                first = k.end.max(1);
            }
        }
    }
}

fn blocks_of(all: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = all.end;
    all.step_by(size.max(1)).map(move |first| first..end.min(first + size))
}

/// Copies the rows `m` and the steps `k` of A to `a_block`, and multiplies this block by the columns `n` of B. If B is not packed, the
/// caller has packed these columns into `b_block`. `k.start` is even.
#[inline(always)]
unsafe fn multiply(p: &Product, m: Range<usize>, n: Range<usize>, k: Range<usize>, (a_block, b_block): (*mut u32, *const u32)) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let from = p.a.p.add(m.start * p.a.rs + k.start * p.a.ks);
        let by_columns = p.a.rs == 1 && p.a.ks != 1;
        if by_columns {
            copy_columns(from, p.a.ks, m.len(), k.len(), a_block);
        } else {
            copy_rows(from, p.a.rs, p.a.ks, m.len(), k.len(), a_block);
        }
        for n0 in n.clone().step_by(PANEL) {
            let b = match p.b {
                Right::Pairs(b) => b.add(n0 * p.k.div_ceil(2) + k.start / 2 * PANEL),
                Right::Strided { .. } => b_block.add((n0 - n.start) / PANEL * PANEL_STRIDE),
                Right::Packed(_) | Right::Direct(..) => unreachable!("packed for another instruction set"),
            };
            let mut m0 = m.start;
            while m0 < m.end {
                let height = match m.end - m0 {
                    left if left >= 8 => 8,
                    left if left >= 4 => 4,
                    left if left >= 2 => 2,
                    _ => 1,
                };
                let row = m0 - m.start;
                let (m_next, n_next) = if m0 + height < m.end { (m0 + height, n0) } else { (m.start, n0 + PANEL) };
                let t = Tile {
                    a: a_block.add(if by_columns { row / HEIGHT * TILE + row % HEIGHT } else { row * ROW }),
                    b,
                    count: k.len().div_ceil(2),
                    c: Target { p: p.c.p.add(m0 * p.c.rs + n0), ..p.c },
                    cols: PANEL.min(n.end - n0),
                    start: p.start.at(m0, n0, k.start),
                    relu: p.relu && k.end == p.k,
                    next: p.c.p.wrapping_add(m_next * p.c.rs + n_next),
                };
                match (height, by_columns) {
                    (8, false) => tile::<8, false>(&t),
                    (4, false) => tile::<4, false>(&t),
                    (2, false) => tile::<2, false>(&t),
                    (_, false) => tile::<1, false>(&t),
                    (8, true) => tile::<8, true>(&t),
                    (4, true) => tile::<4, true>(&t),
                    (2, true) => tile::<2, true>(&t),
                    (_, true) => tile::<1, true>(&t),
                }
                m0 += height;
            }
        }
    }
}

struct Tile {
    a: *const u32,
    b: *const u32,
    count: usize,
    c: Target,
    cols: usize,
    start: Start,
    relu: bool,
    /// Next tile of C, which is prefetched row by row while this tile is computed.
    next: *const f32,
}

/// Computes one tile in registers: `C[MR][PANEL]` = start + Σ A·B, then a relu if `t.relu`. The block of A was written by [`copy_columns`]
/// if `COLUMNS`, else by [`copy_rows`].
#[inline(always)]
unsafe fn tile<const MR: usize, const COLUMNS: bool>(t: &Tile) {
    // SAFETY: guaranteed by the caller. Columns beyond the last are masked.
    unsafe {
        let all = if t.cols >= PANEL { u32::MAX } else { (1 << t.cols) - 1 };
        let masks = [all as u16, (all >> 16) as u16];
        let mut acc = [[_mm512_setzero_ps(); 2]; MR];
        match t.start {
            Start::Zero => {}
            Start::Columns(bias) => {
                let bias = [0, 1].map(|v| load_part(bias.wrapping_add(16 * v), masks[v]));
                acc = [bias; MR];
            }
            Start::Rows(bias) => {
                for m in 0..MR {
                    acc[m] = [_mm512_set1_ps(*bias.add(m)); 2];
                }
            }
            Start::Target => {
                for m in 0..MR {
                    for v in 0..2 {
                        acc[m][v] = load_part(t.c.p.wrapping_add(m * t.c.rs + 16 * v), masks[v]);
                    }
                }
            }
        }
        let (mut a, mut b) = (t.a, t.b);
        let (mut left, mut next, every) = (t.count, t.next, t.count.div_ceil(MR));
        while left > 0 {
            for v in 0..2 {
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(16 * v).cast());
            }
            next = next.wrapping_add(t.c.rs);
            let count = every.min(left);
            for _ in 0..count {
                let columns: [__m512bh; 2] = [load(b), load(b.add(16))];
                for m in 0..MR {
                    let at = if COLUMNS { m } else { m * ROW };
                    let x: __m512bh = std::mem::transmute(_mm512_set1_epi32(a.add(at).cast::<i32>().read()));
                    for v in 0..2 {
                        acc[m][v] = _mm512_dpbf16_ps(acc[m][v], x, columns[v]);
                    }
                }
                b = b.add(PANEL);
                a = a.add(if COLUMNS { HEIGHT } else { 1 });
            }
            left -= count;
        }
        for m in 0..MR {
            for v in 0..2 {
                if t.relu {
                    acc[m][v] = _mm512_max_ps(_mm512_setzero_ps(), acc[m][v]);
                }
                store(t.c.p.wrapping_add(m * t.c.rs + 16 * v), masks[v], acc[m][v]);
            }
        }
    }
}

/// Loads the lanes whose bits in the mask are set; the other lanes are 0. A full mask uses an unmasked load, which is faster.
#[inline(always)]
unsafe fn load_part(p: *const f32, mask: u16) -> __m512 {
    // SAFETY: the caller guarantees a number for each bit of the mask.
    unsafe { if mask == u16::MAX { _mm512_loadu_ps(p) } else { _mm512_maskz_loadu_ps(mask, p) } }
}

#[inline(always)]
unsafe fn store(p: *mut f32, mask: u16, x: __m512) {
    // SAFETY: the caller guarantees room for each bit of the mask.
    unsafe { if mask == u16::MAX { _mm512_storeu_ps(p, x) } else { _mm512_mask_storeu_ps(p, mask, x) } }
}

#[inline(always)]
unsafe fn load(p: *const u32) -> __m512bh {
    // SAFETY: the caller guarantees sixteen words.
    unsafe { std::mem::transmute(_mm512_loadu_si512(p.cast())) }
}

/// Copies rows of A as pairs of bf16: `[rows][ROW]`.
#[inline(always)]
pub(super) unsafe fn copy_rows(a: *const f32, rs: usize, ks: usize, rows: usize, steps: usize, to: *mut u32) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        for r in 0..rows {
            let (a, to) = (a.add(r * rs), to.add(r * ROW));
            let mut k = 0;
            if ks == 1 {
                while k + 32 <= steps {
                    let pairs = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(a.add(k + 16)), _mm512_loadu_ps(a.add(k)));
                    _mm512_storeu_si512(to.add(k / 2).cast(), std::mem::transmute::<__m512bh, __m512i>(pairs));
                    k += 32;
                }
            }
            while k < steps {
                let odd = if k + 1 < steps { *a.add((k + 1) * ks) } else { 0.0 };
                *to.add(k / 2) = pair(*a.add(k * ks), odd);
                k += 2;
            }
        }
    }
}

/// Copies columns of a transposed A as pairs of bf16, in the order in which the tiles read them. Each tile is `[pairs][HEIGHT]`. Tiles
/// begin [`TILE`] words apart. If the last tile is incomplete, its missing rows are 0.
#[inline(always)]
unsafe fn copy_columns(a: *const f32, ks: usize, rows: usize, steps: usize, to: *mut u32) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        for k in (0..steps).step_by(2) {
            let (a, to) = (a.add(k * ks), to.add(k / 2 * HEIGHT));
            let odd = (k + 1 < steps).then(|| a.add(ks));
            for m in (0..rows).step_by(16) {
                for row in AHEAD..AHEAD + 2 {
                    _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(row * ks + m).cast());
                }
                let pairs = pairs_of(a.add(m), odd.map(|odd| odd.add(m)), rows - m);
                let to = to.add(m / HEIGHT * TILE);
                _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(pairs));
                if rows - m > HEIGHT {
                    _mm256_storeu_si256(to.add(TILE).cast(), _mm512_extracti64x4_epi64::<1>(pairs));
                }
            }
        }
    }
}

/// Packs columns of B as panels of `[pairs][PANEL]`, [`PANEL_STRIDE`] words apart. Columns beyond the last are 0.
#[inline(always)]
pub(super) unsafe fn pack_panels(b: *const f32, ks: usize, cs: usize, steps: usize, cols: usize, to: *mut u32) {
    // SAFETY: guaranteed by the caller. If there are several panels, `to` is [`Blocks::b`], which has room for their stride.
    unsafe {
        if cs != 1 {
            for n0 in (0..cols).step_by(PANEL) {
                let to = to.add(n0 / PANEL * PANEL_STRIDE);
                turn_panel(b.add(n0 * cs), ks, cs, steps, PANEL.min(cols - n0), to);
            }
            return;
        }
        for k in (0..steps).step_by(2) {
            let (b, to) = (b.add(k * ks), to.add(k / 2 * PANEL));
            let odd = (k + 1 < steps).then(|| b.add(ks));
            for n0 in (0..cols).step_by(PANEL) {
                let (to, count) = (to.add(n0 / PANEL * PANEL_STRIDE), PANEL.min(cols - n0));
                for row in AHEAD..AHEAD + 2 {
                    for half in 0..2 {
                        _mm_prefetch::<_MM_HINT_T0>(b.wrapping_add(row * ks + n0 + 16 * half).cast());
                    }
                }
                interleave(b.add(n0), odd.map(|odd| odd.add(n0)), count, to);
                for c in count..PANEL {
                    *to.add(c) = 0;
                }
            }
        }
    }
}

/// Packs one panel of the matrix B, which may have any strides. If B is contiguous along k and the panel has all its columns, a faster path
/// transposes blocks of 16 columns by 16 pairs.
#[inline(always)]
unsafe fn turn_panel(b: *const f32, ks: usize, cs: usize, steps: usize, cols: usize, to: *mut u32) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut k = 0;
        if ks == 1 && cols == PANEL {
            while k + 32 <= steps {
                for half in 0..2 {
                    let mut block = [_mm512_setzero_si512(); 16];
                    for (c, column) in block.iter_mut().enumerate() {
                        let b = b.add((16 * half + c) * cs + k);
                        let pairs = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(b.add(16)), _mm512_loadu_ps(b));
                        *column = std::mem::transmute::<__m512bh, __m512i>(pairs);
                    }
                    transpose(&mut block);
                    for (i, row) in block.iter().enumerate() {
                        _mm512_storeu_si512(to.add((k / 2 + i) * PANEL + 16 * half).cast(), *row);
                    }
                }
                k += 32;
            }
        }
        while k < steps {
            for c in 0..PANEL {
                let b = b.wrapping_add(k * ks + c * cs);
                let odd = if c < cols && k + 1 < steps { *b.add(ks) } else { 0.0 };
                *to.add(k / 2 * PANEL + c) = if c < cols { pair(*b, odd) } else { 0 };
            }
            k += 2;
        }
    }
}

/// Writes `count` pairs of bf16. `even` and `odd` are two rows of numbers; a missing `odd` counts as zeros.
#[inline(always)]
unsafe fn interleave(even: *const f32, odd: Option<*const f32>, count: usize, to: *mut u32) {
    // SAFETY: guaranteed by the caller. Columns beyond the last are masked.
    unsafe {
        for i in (0..count).step_by(16) {
            let left = count - i;
            let pairs = pairs_of(even.add(i), odd.map(|odd| odd.add(i)), left);
            store(to.add(i).cast(), first(left), _mm512_castsi512_ps(pairs));
        }
    }
}

#[inline(always)]
fn first(count: usize) -> u16 {
    if count >= 16 { u16::MAX } else { (1 << count) - 1 }
}

/// Loads 16 pairs of bf16. `even` and `odd` are two rows of numbers; a missing `odd`, and numbers from `count` on, count as zeros.
#[inline(always)]
pub(super) unsafe fn pairs_of(even: *const f32, odd: Option<*const f32>, count: usize) -> __m512i {
    // SAFETY: guaranteed by the caller. Numbers beyond the last are masked.
    unsafe {
        let order = _mm512_set_epi16(
            31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0,
        );
        let x = load_part(even, first(count));
        let y = odd.map_or(_mm512_setzero_ps(), |odd| load_part(odd, first(count)));
        let both = std::mem::transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(y, x));
        _mm512_permutexvar_epi16(order, both)
    }
}

/// Rounds two numbers to a pair of bf16, as the vector instructions do.
#[inline(always)]
unsafe fn pair(even: f32, odd: f32) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let pairs = _mm512_cvtne2ps_pbh(_mm512_set1_ps(odd), _mm512_set1_ps(even));
        let words = std::mem::transmute::<__m512bh, __m512i>(pairs);
        let even = _mm512_cvtsi512_si32(words) as u32 & 0xffff;
        let odd = _mm512_cvtsi512_si32(_mm512_shuffle_i64x2::<0b10_10_10_10>(words, words)) as u32 & 0xffff;
        even | odd << 16
    }
}

/// Transposes 16 rows of 16 words.
#[inline(always)]
pub(super) unsafe fn transpose(rows: &mut [__m512i; 16]) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut t = *rows;
        for i in 0..8 {
            t[2 * i] = _mm512_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]);
            t[2 * i + 1] = _mm512_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]);
        }
        let mut u = t;
        for i in 0..4 {
            u[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
            u[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
            u[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
            u[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
        }
        // The 128-bit lane l of u[4g + j] holds column 4l + j of rows 4g..4g+4.
        for j in 0..4 {
            let low = _mm512_shuffle_i32x4::<0b01_00_01_00>(u[j], u[4 + j]);
            let high = _mm512_shuffle_i32x4::<0b11_10_11_10>(u[j], u[4 + j]);
            let low2 = _mm512_shuffle_i32x4::<0b01_00_01_00>(u[8 + j], u[12 + j]);
            let high2 = _mm512_shuffle_i32x4::<0b11_10_11_10>(u[8 + j], u[12 + j]);
            rows[j] = _mm512_shuffle_i32x4::<0b10_00_10_00>(low, low2);
            rows[4 + j] = _mm512_shuffle_i32x4::<0b11_01_11_01>(low, low2);
            rows[8 + j] = _mm512_shuffle_i32x4::<0b10_00_10_00>(high, high2);
            rows[12 + j] = _mm512_shuffle_i32x4::<0b11_01_11_01>(high, high2);
        }
    }
}
