//! The matrix product with what follows it, c = act(a·b + bias + residual), as one kernel; or, where there are few
//! tiles and many k, as two: partial sums by stretches of k, then their sum in a fixed order.
//!
//! A product names where its factors lie and by which strides; which tile computes it is decided here, by a rule or by
//! what [`Gpu::tune`](crate::Gpu::tune) measured on this adapter, and its text is made in `product/text.rs`. A tile is
//! decided when a program is built and stays for as long as that program lives. No bit depends on it: the tiles to choose
//! from add each number's k in the same order, and the stretches of a product that is split are those of the rule's tile.

mod matrices;
mod text;
mod tune;

use crate::device::lock;
use crate::program::{Program, Space, groups};
use math::{Act, Unary};
pub use matrices::{Cooperation, Matrices};
#[cfg(not(target_family = "wasm"))]
pub(crate) use matrices::{WORKGROUP_BYTES, experimental, listed, proven};
pub(crate) use text::is_read_by_fours;
pub use tune::Timing;
pub(crate) use tune::Tuned;
pub(crate) use tune::{best_s, noise, product_s, replay_s};

/// Functions that the platform's own are too coarse for.
pub(crate) const FUNCTIONS: &str = include_str!("functions.wgsl");

/// Where a factor lies in `mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub at: u32,
    /// From one row of a, or one column of b, to the next.
    pub outer: u32,
    /// From one k to the next.
    pub inner: u32,
}

/// c `[m][n]` = act(Σ_k a`[m][k]`·b`[k][n]` + bias`[n]` + residual`[m][n]`), added to what is there where it `adds`.
#[derive(Clone, Debug)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Side,
    pub b: Side,
    /// Row-major. Neither factor may lie here; the residual may.
    pub c: u32,
    pub bias: Option<u32>,
    /// Row-major as c.
    pub residual: Option<u32>,
    pub act: Act,
    pub adds: bool,
}

/// What else a product does in passing, for gradients.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passing {
    /// c is multiplied by the slope of a function where it gave y (GELU: where it was given x), which lies like c:
    /// act' (y)·(Σ + residual). Nothing is added to what is there.
    pub slope: Option<(Unary, u32)>,
    /// Σ_k a`[m][k]` goes there, in place of what is there or added to it: dy in a is summed for the bias.
    pub row_sums: Option<(u32, bool)>,
    /// What lies in `words`, two numbers of 16 bits a word.
    pub halves: Halves,
}

/// What of a product is stored in 16 bits, for [`Precision::Half`]: its place is then counted in such numbers from the
/// beginning of `words`. Factors are read by fours, so their rows are multiples of four, as are those of c, which the same
/// dispatch has to sum to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Halves {
    pub a: bool,
    pub b: bool,
    pub c: bool,
    pub slope: bool,
}

impl Halves {
    fn any(self) -> bool {
        self != Halves::default()
    }
}

/// Whether a product's result can be stored so: in whole fours, and by the kernel that sums all of k.
pub(crate) fn gives_halves(p: &Product) -> bool {
    let fours = is_read_by_fours(p.a, p.m, p.k) || is_read_by_fours(p.b, p.n, p.k);
    fours && p.n.is_multiple_of(4) && !p.adds && split(p, &class(p.m, p.n, p.k).rule(), 1).0 == 1
}

/// What the factors are while they are multiplied; sums are of 32 bits always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    #[default]
    Single,
    /// Rounded to 16 bits: half the workgroup memory, three digits. For adapters with [`About::f16`](crate::About).
    Half,
}

/// How a product is cut: a workgroup computes `rows` x `columns` of c over `depth` k at a time, a thread `thread_rows` x
/// `thread_columns` of them. The workgroup has as many such sets of threads as it has `slices`, each with its share
/// of the k, for products of few rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
    pub thread_rows: usize,
    pub thread_columns: usize,
    pub slices: usize,
}

const fn tile(
    (rows, columns): (usize, usize),
    depth: usize,
    (thread_rows, thread_columns): (usize, usize),
    slices: usize,
) -> Tile {
    Tile { rows, columns, depth, thread_rows, thread_columns, slices }
}

// Of a GPU with 128 lanes of f32 a multiprocessor, one instruction a lane and clock, a thread of 8 x 8 spends 64
// multiply-adds on 4 reads of 16 bytes from workgroup memory: 94% of what it does is multiplying. Lanes that want the same
// bytes share them: 8 x 4 lanes read 384 different bytes for 2048 multiply-adds, 24 a clock of the 128 that such memory
// gives. 8 x 16: 96%, 16 bytes a clock. 8 x 4: 91%, 40 bytes. 4 x 4: 89%, 48 bytes. Registers a thread: as many as sums,
// 16 to 32 for what is on its way from global memory, 8 to 24 factors, some 20 addresses: about 120 for 8 x 8, so that 16
// warps have room; 210 for 8 x 16, 8 warps; 75 for 8 x 4, 24 warps. A tile of 128 x 128 reads a byte from global memory
// for 16 multiply-adds, 64 x 64 for 8. 4096 x 256 has 64 tiles of the one, for fewer than half of 132 multiprocessors,
// and 256 of the other.
const LARGE: Tile = tile((128, 128), 16, (8, 8), 1);
const LARGE_WIDE: Tile = tile((128, 128), 16, (8, 16), 1);
const MIDDLE: Tile = tile((64, 64), 16, (8, 4), 1);
const MIDDLE_FINE: Tile = tile((64, 64), 16, (4, 4), 1);
const MIDDLE_COARSE: Tile = tile((64, 64), 16, (8, 8), 1);
const NARROW: Tile = tile((128, 32), 16, (8, 4), 1);
const SMALL: Tile = tile((32, 32), 32, (4, 4), 4);
const COLUMNS_16: Tile = tile((128, 16), 16, (4, 4), 1);
const COLUMNS_4: Tile = tile((256, 4), 8, (4, 4), 1);
const ROWS_16: Tile = tile((16, 64), 32, (4, 4), 2);
const ROWS_4: Tile = tile((4, 64), 32, (4, 4), 8);
const CORNER: Tile = tile((64, 4), 32, (4, 4), 8);

/// All there are.
pub const TILES: [Tile; 12] = [
    LARGE,
    LARGE_WIDE,
    MIDDLE,
    MIDDLE_FINE,
    MIDDLE_COARSE,
    NARROW,
    SMALL,
    COLUMNS_16,
    COLUMNS_4,
    ROWS_16,
    ROWS_4,
    CORNER,
];

impl Tile {
    /// `128x32 by 8x4`
    pub fn name(&self) -> String {
        let Tile { rows, columns, thread_rows, thread_columns, .. } = self;
        format!("{rows}x{columns} by {thread_rows}x{thread_columns}")
    }

    fn count(&self, m: usize, n: usize) -> usize {
        m.div_ceil(self.rows) * n.div_ceil(self.columns)
    }

    /// Threads of one slice.
    fn threads(&self) -> usize {
        self.rows / self.thread_rows * (self.columns / self.thread_columns)
    }
}

/// Products that want the same tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Many large tiles.
    Large,
    /// Not so many: a batch through a layer.
    Batch,
    /// Rows as many as there are, up to 32 columns.
    Narrow,
    /// Few rows and columns and many k: the gradient of a weight.
    Gradient,
    /// Whatever has one tile that fits it.
    Other(Tile),
}

/// Workgroups that fill a large GPU: some more than it has multiprocessors.
const ENOUGH_TILES: usize = 192;
/// Many k.
const DEEP: usize = 1024;

/// The rule.
pub(crate) fn class(m: usize, n: usize, k: usize) -> Class {
    let few_rows = m <= 256 && k >= DEEP;
    match (m, n) {
        (_, ..=4) if few_rows => Class::Other(CORNER),
        (_, ..=4) => Class::Other(COLUMNS_4),
        (..=4, _) => Class::Other(ROWS_4),
        (..=16, _) => Class::Other(ROWS_16),
        (33.., ..=16) => Class::Other(COLUMNS_16),
        (..=32, _) | (_, ..=32) if few_rows => Class::Other(SMALL),
        (65.., ..=32) => Class::Narrow,
        _ if LARGE.count(m, n) >= ENOUGH_TILES => Class::Large,
        _ if few_rows && n <= 512 => Class::Gradient,
        (512.., 33..) => Class::Batch,
        _ if MIDDLE.count(m, n) < ENOUGH_TILES / 3 => Class::Other(SMALL),
        _ => Class::Batch,
    }
}

impl Class {
    /// Those worth timing, what is taken unmeasured first. They are alike in what decides the order of sums: depth and
    /// slices.
    pub(crate) fn candidates(self) -> Vec<Tile> {
        match self {
            Class::Large => vec![LARGE, LARGE_WIDE, MIDDLE, MIDDLE_COARSE],
            Class::Batch => vec![MIDDLE, MIDDLE_FINE, MIDDLE_COARSE, NARROW, LARGE],
            Class::Narrow => vec![NARROW, MIDDLE],
            Class::Gradient => vec![MIDDLE, MIDDLE_COARSE, LARGE],
            Class::Other(tile) => vec![tile],
        }
    }

    /// The tile of the rule, by which products are split whatever tile computes them.
    fn rule(self) -> Tile {
        self.candidates()[0]
    }
}

/// Appends a product to a program.
pub fn product(program: &mut Program, space: &mut Space, p: &Product) {
    product_passing(program, space, p, &Passing::default());
}

/// A product that does something else in passing.
pub fn product_passing(program: &mut Program, space: &mut Space, p: &Product, passing: &Passing) {
    products(program, space, &[(p.clone(), *passing)]);
}

/// Products that are alike but for where things lie, two at a time in one dispatch. None reads what another writes.
pub fn products(program: &mut Program, space: &mut Space, all: &[(Product, Passing)]) {
    let mut rest = all;
    while let [first, others @ ..] = rest {
        let together = if others.first().is_some_and(|second| are_alike(first, second)) { 2 } else { 1 };
        let (now, later) = rest.split_at(together);
        let class = class(first.0.m, first.0.n, first.0.k);
        let tuned = lock(&program.gpu().shared.tuned).get(class);
        append(program, space, now, [tuned.unwrap_or(class.rule()), class.rule()]);
        rest = later;
    }
}

/// The same by a tile that the caller chose.
pub fn product_by(program: &mut Program, space: &mut Space, p: &Product, tile: &Tile) {
    product_passing_by(program, space, p, &Passing::default(), tile);
}

/// [`product_passing`] by a tile that the caller chose.
pub fn product_passing_by(
    program: &mut Program,
    space: &mut Space,
    p: &Product,
    passing: &Passing,
    tile: &Tile,
) {
    append(program, space, &[(p.clone(), *passing)], [*tile; 2]);
}

/// Where things lie: a, b, c, bias, residual, what the slope is taken at, sums of rows.
fn places((p, passing): &(Product, Passing)) -> [Option<u32>; 7] {
    let (slope, sums) = (passing.slope.map(|slope| slope.1), passing.row_sums.map(|sums| sums.0));
    [Some(p.a.at), Some(p.b.at), Some(p.c), p.bias, p.residual, slope, sums]
}

/// One text serves both.
fn are_alike(one: &(Product, Passing), other: &(Product, Passing)) -> bool {
    let shape = |(p, passing): &(Product, Passing)| {
        let strides = [p.a.outer, p.a.inner, p.b.outer, p.b.inner];
        let passing =
            (passing.slope.map(|slope| slope.0), passing.row_sums.map(|sums| sums.1), passing.halves);
        ([p.m, p.n, p.k], strides, p.act, p.adds, passing)
    };
    let aligned = |of| places(of).map(|at| at.map(|at| at % 4));
    shape(one) == shape(other) && aligned(one) == aligned(other)
}

/// One dispatch, or two, for one product or two that are alike, split as the second tile has it.
fn append(
    program: &mut Program,
    space: &mut Space,
    all: &[(Product, Passing)],
    [tile, splitting]: [Tile; 2],
) {
    let (p, passing) = &all[0];
    assert!(p.m > 0 && p.n > 0 && p.k > 0, "a product of nothing: {p:?}");
    let by = program.matrices().filter(|by| by.suit(p.m, p.n, p.k));
    let [tile, splitting] = if by.is_some() { [matrices::TILE; 2] } else { [tile, splitting] };
    // A few k need not be padded to many.
    let pads = tile.slices > 1 || by.is_some();
    let depth = if pads { tile.depth } else { tile.depth.min(p.k.next_multiple_of(4)) };
    let tile = Tile { depth, ..tile };
    assert!(!passing.halves.c || gives_halves(p), "a result that cannot be of halves: {p:?}");
    let (splits, chunk) = match passing.halves.c {
        true => (1, p.k.next_multiple_of(tile.depth)),
        false => split(p, &splitting, all.len()),
    };
    // Rows of partial sums begin where four floats can be written at once.
    let padded = p.n.next_multiple_of(4) + if passing.row_sums.is_some() { 4 } else { 0 };
    let partial: Vec<u32> =
        all.iter().map(|_| if splits > 1 { space.floats(splits * p.m * padded).at } else { 0 }).collect();
    let made = text::product(p, passing, &tile, splits > 1, program.precision(), by, all.len() > 1);
    let label = format!("product {}", tile.name());
    let kernel = match made.vectors {
        true => program.kernel_of_vectors_with(&label, made.directives, &made.text),
        false => program.kernel_with(&label, made.directives, &made.text),
    };
    let mut at: Vec<[u32; 7]> = all.iter().map(|one| places(one).map(Option::unwrap_or_default)).collect();
    // From the first product's place to the second's, around the end of the numbers if need be.
    let steps = |at: &[[u32; 7]]| -> Vec<u32> {
        at.get(1).map_or(Vec::new(), |second| (0..7).map(|i| second[i].wrapping_sub(at[0][i])).collect())
    };
    let (ends, sums_step) = (at.clone(), partial.last().zip(partial.first()));
    if splits > 1 {
        at.iter_mut().zip(&partial).for_each(|(at, &partial)| at[2] = partial);
    }
    let tiles = tile.count(p.m, p.n);
    let [a, b, c, bias, residual, slope, row_sums] = at[0];
    let c_row = if splits > 1 { padded } else { p.n };
    let mut args = vec![
        p.m as u32,
        p.n as u32,
        p.k as u32,
        a,
        p.a.outer,
        p.a.inner,
        b,
        p.b.outer,
        p.b.inner,
        c,
        bias,
        residual,
        p.n.div_ceil(tile.columns) as u32,
        tiles as u32,
        chunk as u32,
        c_row as u32,
        (p.m * padded) as u32,
        slope,
        row_sums,
    ];
    args.extend(steps(&at));
    let [x, y, _] = groups(tiles * splits, 1);
    program.dispatch(&kernel, &args, [x, y, all.len() as u32]);
    if splits > 1 {
        let kernel = program.kernel("sum of products", &text::sum(p, passing, splits, all.len() > 1));
        let [_, _, c, bias, residual, slope, row_sums] = ends[0];
        let mut args = vec![p.m as u32, p.n as u32, splits as u32, padded as u32];
        args.extend([partial[0], c, bias, residual, slope, row_sums]);
        if all.len() > 1 {
            args.extend(sums_step.map(|(last, first)| last.wrapping_sub(*first)));
            args.extend(&steps(&ends)[2..]);
        }
        let columns = p.n + usize::from(passing.row_sums.is_some());
        let [x, y, _] = groups(p.m * columns, text::outputs_a_group(splits));
        program.dispatch(&kernel, &args, [x, y, all.len() as u32]);
    }
}

/// Into how many stretches of how many k a product is split, so that there are enough workgroups and each has enough to
/// do.
fn split(p: &Product, tile: &Tile, products: usize) -> (usize, usize) {
    const WORKGROUPS: usize = 512;
    const LEAST_K: usize = 256;
    /// Floats of partial sums: 16 MiB.
    const MOST_SUMS: usize = 1 << 22;
    let tiles = tile.count(p.m, p.n) * products;
    if tiles > WORKGROUPS / 4 || p.k < 2 * LEAST_K {
        return (1, p.k.next_multiple_of(tile.depth));
    }
    let wanted = WORKGROUPS / tiles;
    let room = MOST_SUMS / (p.m * (p.n.next_multiple_of(4) + 4));
    let splits = wanted.min(p.k / LEAST_K).min(room).max(1);
    let chunk = p.k.div_ceil(splits).next_multiple_of(tile.depth);
    (p.k.div_ceil(chunk), chunk)
}
