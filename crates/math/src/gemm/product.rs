//! Description of a matrix product: its operands, its initial values, and its division into pieces.

use crate::PANEL;
use crate::isa::Isa;
use std::ops::Range;

/// Maximum number of rows of a copied block of A. The block stays in the second-level cache while all of B is read.
pub const M_LARGE: usize = 240;
/// Maximum length of a copied block of A along k. With this length, the columns of B for one tile stay in the first-level cache.
pub const K_LARGE: usize = 256;

/// Operand A, whose numbers are broadcast one at a time. `rs` and `ks` are the strides in floats to the next row and to the next k.
#[derive(Clone, Copy)]
pub struct Left {
    pub p: *const f32,
    pub rs: usize,
    pub ks: usize,
    /// True if [`pack_panels`](super::pack_panels) packed the operand. The packed layout then determines the strides, and `rs` and `ks` are
    /// not used.
    pub packed: bool,
}

impl Left {
    pub fn strided(p: *const f32, rs: usize, ks: usize) -> Left {
        Left { p, rs, ks, packed: false }
    }
}

/// Operand B, whose rows are read as vectors.
#[derive(Clone, Copy)]
pub enum Right {
    /// Blocks of columns, packed by `pack_columns`.
    Packed(*const f32),
    /// Blocks of columns, packed as pairs of bf16.
    Pairs(*const u32),
    /// Rows that tiles read in place: the address of the first row, and the stride of the rows in floats ([`PANEL`]).
    Direct(*const f32, usize),
    /// Any layout. Blocks are packed on the stack during the product.
    Strided { p: *const f32, ks: usize, cs: usize },
}

impl Right {
    pub fn of_packed(isa: Isa, packed: &[f32]) -> Right {
        if isa.rounds_to_bf16() && isa.is_available() { Right::Pairs(packed.as_ptr().cast()) } else { Right::Packed(packed.as_ptr()) }
    }
}

#[derive(Clone, Copy)]
pub struct Target {
    pub p: *mut f32,
    pub rs: usize,
    pub cs: usize,
}

impl Target {
    pub fn rows(p: *mut f32, rs: usize) -> Target {
        Target { p, rs, cs: 1 }
    }
}

/// Initial value of each element of C, to which the products are added.
#[derive(Clone, Copy)]
pub enum Start {
    Zero,
    /// The contents of C.
    Target,
    /// One bias per column of C.
    Columns(*const f32),
    /// One bias per row of C.
    Rows(*const f32),
}

impl Start {
    pub fn of(accumulate: bool) -> Start {
        if accumulate { Start::Target } else { Start::Zero }
    }

    /// Returns the initial value of the tile that begins at row `m` and column `n`, in the block of k that begins at `k`. Blocks of k after
    /// the first continue from C.
    ///
    /// # Safety
    /// A bias must be valid at this row or column.
    #[inline(always)]
    pub unsafe fn at(self, m: usize, n: usize, k: usize) -> Start {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                _ if k > 0 => Start::Target,
                Start::Columns(bias) => Start::Columns(bias.add(n)),
                Start::Rows(bias) => Start::Rows(bias.add(m)),
                start => start,
            }
        }
    }
}

/// Matrix product C = start + A·B, then a relu if `relu` is true. In a WebAssembly module, one function computes all products, so that the
/// module contains the code of each tile only once.
#[derive(Clone, Copy)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Left,
    pub b: Right,
    pub c: Target,
    pub start: Start,
    pub relu: bool,
}

// SAFETY: pieces of a product write different elements of C, and no piece writes to an operand.
unsafe impl Sync for Product {}

impl Product {
    pub fn new([m, n, k]: [usize; 3], a: Left, b: Right, c: Target, start: Start) -> Product {
        Product { m, n, k, a, b, c, start, relu: false }
    }

    /// Returns true if A exceeds the second-level cache and is read often enough to justify a copy.
    pub fn large(&self) -> bool {
        // In a transposed A, successive steps of k are far apart and share sets of the first-level cache. A copy therefore pays off with
        // fewer columns of C.
        let apart = self.a.rs == 1 && self.a.ks != 1;
        let least = if apart { 2 * PANEL } else { 8 * PANEL };
        self.m * self.k > M_LARGE * K_LARGE && self.n >= least && !self.a.packed
    }

    /// Returns the part of the product for the rows `m` and columns `n` of C. `n.start` must be the first column of a tile.
    pub fn piece(&self, m: Range<usize>, n: Range<usize>) -> Product {
        // SAFETY: these offsets are within the operands; a packed B has `k` whole rows in each block.
        unsafe {
            Product {
                m: m.len(),
                n: n.len(),
                a: Left { p: self.a.p.add(m.start * self.a.rs), ..self.a },
                b: match self.b {
                    Right::Packed(p) => Right::Packed(p.add(n.start * self.k)),
                    Right::Pairs(p) => Right::Pairs(p.add(n.start * self.k.div_ceil(2))),
                    Right::Direct(p, stride) => Right::Direct(p.add(n.start), stride),
                    Right::Strided { p, ks, cs } => Right::Strided { p: p.add(n.start * cs), ks, cs },
                },
                c: Target { p: self.c.p.add(m.start * self.c.rs + n.start * self.c.cs), ..self.c },
                start: self.start.at(m.start, n.start, 0),
                ..*self
            }
        }
    }
}

/// Divides `n` items into the fewest equal parts of at most `most` items. Returns the length of a part; the last part may be shorter.
#[inline(always)]
pub fn even(n: usize, most: usize) -> usize {
    n.div_ceil(n.div_ceil(most).max(1))
}
