//! Products of bf16 operands with AMX tiles, for [`Isa::Amx`](crate::Isa::Amx). A pair is two numbers that are adjacent in k: the first has
//! an even k, the second has an odd k. The instruction `tdpbf16ps` updates 16 x 16 sums. For each sum, it multiplies 16 pairs of A with 16
//! pairs of B: the products of the first numbers are the even products, those of the second numbers the odd products.
//!
//! Operands are rounded and packed as for `vdpbf16ps`, the instruction of [`Isa::Bf16`](crate::Isa::Bf16). But `tdpbf16ps` sums the even
//! and the odd products separately and adds both sums to C at the end. The bits therefore differ from those of `vdpbf16ps`. The pairs of a
//! sum are always grouped by 16 from the first k on, so neither blocks nor threads change the bits. Incomplete tiles are padded with zeros.
//!
//! The tile instructions are in assembly, because the compiler's intrinsics for tiles are not stable. Tile contents do not persist between
//! assembly blocks. Only the tile shape persists; [`run`] sets and releases it.

use super::bf16::{self, Blocks, PAIRS, PANEL_STRIDE, ROW, TOGETHER};
use super::product::{M_LARGE, Product, Right, Start, even};
use crate::PANEL;
use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Number of rows of a tile, and number of pairs along k in each row.
const SIDE: usize = 16;
/// Number of rows of C in a [`TileBlock`]: two tiles.
const ROWS: usize = 2 * SIDE;
const _: () = assert!(PANEL == 2 * SIDE && PAIRS.is_multiple_of(SIDE));
const _: () = assert!(M_LARGE.next_multiple_of(ROWS) <= M_LARGE + 16);

/// Operand of `ldtilecfg`: all tiles have 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

static SHAPES: Shapes = {
    let (mut row_bytes, mut rows) = ([0; 16], [0; 16]);
    let mut tile = 0;
    while tile < 8 {
        (row_bytes[tile], rows[tile]) = (64, SIDE as u8);
        tile += 1;
    }
    Shapes { palette: 1, start_row: 0, reserved: [0; 14], row_bytes, rows }
};

/// Computes the product on this thread: C = start + A·B, then a relu if `p.relu`.
///
/// # Safety
/// [`Isa::Amx`](crate::Isa::Amx) is available, and the operands are valid for the product's sizes and strides.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
#[inline(never)]
pub(super) unsafe fn run(p: Product) {
    let mut blocks = MaybeUninit::<Blocks>::uninit();
    let blocks = blocks.as_mut_ptr();
    // SAFETY: only addresses are taken.
    let (a_block, b_block) = unsafe { ((&raw mut (*blocks).a).cast::<u32>(), (&raw mut (*blocks).b).cast::<u32>()) };
    debug_assert!(p.c.cs == 1 && !p.a.packed);
    // SAFETY: tiles are available, and `SHAPES` is a valid configuration.
    unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const SHAPES, options(nostack, readonly)) };
    let (pairs, m_block) = (p.k.div_ceil(2), even(p.m, M_LARGE).next_multiple_of(ROWS));
    for m_first in (0..p.m).step_by(m_block) {
        let rows = m_block.min(p.m - m_first);
        for first in (0..pairs).step_by(PAIRS) {
            let count = PAIRS.min(pairs - first);
            let (steps, whole) = ((2 * count).min(p.k - 2 * first), count.next_multiple_of(SIDE));
            // SAFETY: guaranteed by the caller. Blocks have room for M_LARGE rows of PAIRS, padded to whole tiles.
            unsafe {
                let from = p.a.p.add(m_first * p.a.rs + 2 * first * p.a.ks);
                if p.a.rs == 1 && p.a.ks != 1 {
                    turn_columns(from, p.a.ks, rows, steps, a_block);
                } else {
                    bf16::copy_rows(from, p.a.rs, p.a.ks, rows, steps, a_block);
                    (0..rows).for_each(|row| clear(a_block.add(row * ROW), count..whole));
                }
                (rows..rows.next_multiple_of(ROWS)).for_each(|row| clear(a_block.add(row * ROW), 0..whole));
                for n0 in (0..p.n).step_by(PANEL) {
                    let b = match p.b {
                        Right::Pairs(b) => {
                            let panel = b.add(n0 * pairs + first * PANEL);
                            if count == whole {
                                panel
                            } else {
                                panel.copy_to_nonoverlapping(b_block, count * PANEL);
                                clear(b_block, count * PANEL..whole * PANEL);
                                b_block.cast_const()
                            }
                        }
                        Right::Strided { p: b, ks, cs } => {
                            if n0.is_multiple_of(TOGETHER) {
                                let cols = TOGETHER.min(p.n - n0);
                                bf16::pack_panels(b.add(2 * first * ks + n0 * cs), ks, cs, steps, cols, b_block);
                                for panel in 0..cols.div_ceil(PANEL) {
                                    clear(b_block.add(panel * PANEL_STRIDE), count * PANEL..whole * PANEL);
                                }
                            }
                            b_block.cast_const().add(n0 % TOGETHER / PANEL * PANEL_STRIDE)
                        }
                        Right::Packed(_) | Right::Direct(..) => unreachable!("packed for another instruction set"),
                    };
                    for m0 in (0..rows).step_by(ROWS) {
                        TileBlock {
                            a: a_block.add(m0 * ROW),
                            b,
                            tiles: whole / SIDE,
                            c: p.c.p.add((m_first + m0) * p.c.rs + n0),
                            c_row: p.c.rs,
                            rows: ROWS.min(rows - m0),
                            cols: PANEL.min(p.n - n0),
                            start: p.start.at(m_first + m0, n0, first),
                            relu: p.relu && first + count == pairs,
                        }
                        .multiply();
                    }
                }
            }
        }
    }
    // SAFETY: releases the tiles that were configured above.
    unsafe { asm!("tilerelease", options(nostack, nomem)) };
}

/// Operands and destination of a block of C with at most [`ROWS`] rows and [`PANEL`] columns: two by two tiles.
struct TileBlock {
    a: *const u32,
    b: *const u32,
    /// Number of tiles along k.
    tiles: usize,
    c: *mut f32,
    c_row: usize,
    rows: usize,
    cols: usize,
    start: Start,
    relu: bool,
}

impl TileBlock {
    #[inline(always)]
    unsafe fn multiply(self) {
        // SAFETY: guaranteed by the caller. Columns beyond the last are masked. An incomplete block of C is computed in a buffer on the
        // stack.
        unsafe {
            let all = if self.cols >= PANEL { u32::MAX } else { (1 << self.cols) - 1 };
            let masks = [all as u16, (all >> 16) as u16];
            let mut edge = [MaybeUninit::<f32>::uninit(); ROWS * PANEL];
            let whole = self.rows == ROWS && self.cols == PANEL;
            let (c, c_row) = if whole { (self.c, self.c_row) } else { (edge.as_mut_ptr().cast(), PANEL) };
            let at = |c: *mut f32, row: usize, m: usize, v: usize| c.wrapping_add(m * row + 16 * v);
            let adds = match self.start {
                Start::Zero => false,
                Start::Target if whole => true,
                start => {
                    for m in 0..ROWS {
                        for v in 0..2 {
                            let x = match start {
                                Start::Columns(bias) => _mm512_maskz_loadu_ps(masks[v], bias.wrapping_add(16 * v)),
                                Start::Rows(bias) if m < self.rows => _mm512_set1_ps(*bias.add(m)),
                                Start::Target if m < self.rows => _mm512_maskz_loadu_ps(masks[v], at(self.c, self.c_row, m, v)),
                                _ => _mm512_setzero_ps(),
                            };
                            _mm512_storeu_ps(at(c, c_row, m, v), x);
                        }
                    }
                    true
                }
            };
            multiply(self.a, self.b, self.tiles, c, c_row, adds);
            if whole && !self.relu {
                return;
            }
            for m in 0..self.rows {
                for v in 0..2 {
                    let mut x = _mm512_loadu_ps(at(c, c_row, m, v));
                    if self.relu {
                        x = _mm512_max_ps(_mm512_setzero_ps(), x);
                    }
                    _mm512_mask_storeu_ps(at(self.c, self.c_row, m, v), masks[v], x);
                }
            }
        }
    }
}

/// Computes `C[32][32]` = A·B, or `C[32][32]` += A·B if `adds` is true. `tiles` is the number of tiles along k, at least 1. Rows of C are
/// `c_row` floats apart.
#[inline(always)]
unsafe fn multiply(a: *const u32, b: *const u32, tiles: usize, c: *mut f32, c_row: usize, adds: bool) {
    // SAFETY: the caller guarantees 32 rows of ROW words in A, 16 rows of PANEL words per tile in B, and 32 rows in C.
    unsafe {
        asm!(
            "test {adds:e}, {adds:e}",
            "jnz 2f",
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "jmp 3f",
            "2:",
            "tileloadd tmm0, [{c} + {c_row}]",
            "tileloadd tmm1, [{c} + {c_row} + 64]",
            "tileloadd tmm2, [{c2} + {c_row}]",
            "tileloadd tmm3, [{c2} + {c_row} + 64]",
            "3:",
            "tileloadd tmm6, [{b} + {b_row}]",
            "tileloadd tmm4, [{a} + {a_row}]",
            "tileloadd tmm7, [{b} + {b_row} + 64]",
            "tileloadd tmm5, [{a2} + {a_row}]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "add {a}, 64",
            "add {a2}, 64",
            "add {b}, 2048",
            "dec {tiles}",
            "jnz 3b",
            "tilestored [{c} + {c_row}], tmm0",
            "tilestored [{c} + {c_row} + 64], tmm1",
            "tilestored [{c2} + {c_row}], tmm2",
            "tilestored [{c2} + {c_row} + 64], tmm3",
            adds = in(reg) u32::from(adds),
            a = inout(reg) a => _,
            a2 = inout(reg) a.add(SIDE * ROW) => _,
            a_row = in(reg) 4 * ROW,
            b = inout(reg) b => _,
            b_row = in(reg) 4 * PANEL,
            c = in(reg) c,
            c2 = in(reg) c.add(SIDE * c_row),
            c_row = in(reg) 4 * c_row,
            tiles = inout(reg) tiles => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }
}

/// Converts columns of a transposed A into rows of pairs: `[rows][ROW]`, padded with zeros to whole tiles.
#[inline(always)]
unsafe fn turn_columns(a: *const f32, ks: usize, rows: usize, steps: usize, to: *mut u32) {
    // SAFETY: guaranteed by the caller. Rows beyond the last are masked, and k beyond the last is not read.
    unsafe {
        for k0 in (0..steps).step_by(2 * SIDE) {
            for m0 in (0..rows).step_by(SIDE) {
                let mut block = [_mm512_setzero_si512(); SIDE];
                let count = SIDE.min(rows - m0);
                for (i, pairs) in block.iter_mut().enumerate() {
                    let k = k0 + 2 * i;
                    if k < steps {
                        let even = a.add(k * ks + m0);
                        *pairs = bf16::pairs_of(even, (k + 1 < steps).then(|| even.add(ks)), count);
                    }
                }
                bf16::transpose(&mut block);
                for (m, row) in block.iter().enumerate() {
                    _mm512_storeu_si512(to.add((m0 + m) * ROW + k0 / 2).cast(), *row);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn clear(words: *mut u32, range: std::ops::Range<usize>) {
    // SAFETY: guaranteed by the caller.
    unsafe { words.add(range.start).write_bytes(0, range.len()) };
}
