//! Tiles of products: the available tiles, the candidates for a shape, and the fastest measured tiles.

/// Division of a matrix product c = a·b among workgroups and threads. A workgroup computes `rows` x `columns` numbers of c, and processes
/// `depth` values of the summed index k at a time. A thread computes `thread_rows` x `thread_columns` of the workgroup's numbers. For some
/// products with few rows or columns, the workgroup has `slices` sets of threads; each set sums its own part of k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
    pub thread_rows: usize,
    pub thread_columns: usize,
    pub slices: usize,
}

const fn tile((rows, columns): (usize, usize), depth: usize, (thread_rows, thread_columns): (usize, usize), slices: usize) -> Tile {
    Tile { rows, columns, depth, thread_rows, thread_columns, slices }
}

// Reasons for these tiles, on a GPU with 128 f32 lanes per multiprocessor and one instruction per lane and clock:
// - A thread of 8 x 8 numbers needs 4 reads of 16 bytes from workgroup memory for 64 multiply-adds: 94% of its instructions are
//   multiply-adds. This share is 96% for 8 x 16, 91% for 8 x 4 and 89% for 4 x 4.
// - Lanes that read the same bytes share the read. With 8 x 8 numbers per thread, 8 x 4 lanes read 384 different bytes for 2048
//   multiply-adds. These reads need 24 bytes per clock, of 128 available. They need 16 bytes per clock for 8 x 16, 40 for 8 x 4 and 48 for
//   4 x 4.
// - A thread's registers hold its sums, 16 to 32 pending loads, 8 to 24 factors and about 20 addresses. A thread needs about 120 registers
//   for 8 x 8 (16 warps fit), 210 for 8 x 16 (8 warps) and 75 for 8 x 4 (24 warps).
// - A tile of 128 x 128 has 16 multiply-adds per byte read from global memory, and a tile of 64 x 64 has 8. A result of 4096 x 256 has 64
//   tiles of 128 x 128, which occupy fewer than half of 132 multiprocessors. The same result has 256 tiles of 64 x 64.
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

/// All tiles that a rule or a measurement can select.
pub const TILES: [Tile; 12] =
    [LARGE, LARGE_WIDE, MIDDLE, MIDDLE_FINE, MIDDLE_COARSE, NARROW, SMALL, COLUMNS_16, COLUMNS_4, ROWS_16, ROWS_4, CORNER];

impl Tile {
    /// Returns a name such as `128x32 by 8x4`.
    pub fn name(&self) -> String {
        let Tile { rows, columns, thread_rows, thread_columns, .. } = self;
        format!("{rows}x{columns} by {thread_rows}x{thread_columns}")
    }

    pub(crate) fn count(&self, m: usize, n: usize) -> usize {
        m.div_ceil(self.rows) * n.div_ceil(self.columns)
    }

    /// Returns the number of threads of one slice.
    pub(crate) fn threads(&self) -> usize {
        self.rows / self.thread_rows * (self.columns / self.thread_columns)
    }
}

/// Class of products that share candidate tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Products whose result has at least `ENOUGH_TILES` large tiles.
    Large,
    /// Products whose result has too few large tiles, such as a layer applied to a batch.
    Batch,
    /// Products with many rows and 17 to 32 columns.
    Narrow,
    /// Products with few rows and columns and large k, such as the gradient of a weight.
    Gradient,
    /// Products with a single suitable tile.
    Other(Tile),
}

/// Number of workgroups that fill a large GPU. It is somewhat larger than the number of multiprocessors.
const ENOUGH_TILES: usize = 192;
/// Minimum k that counts as large.
const DEEP: usize = 1024;

/// Returns the class of an m x n x k product, by a fixed rule.
pub fn class(m: usize, n: usize, k: usize) -> Class {
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
    /// Returns the tiles worth timing. The first tile is used without a measurement. All candidates of a class have the same depth and
    /// slices, because depth and slices determine the order of sums.
    pub fn candidates(self) -> Vec<Tile> {
        match self {
            Class::Large => vec![LARGE, LARGE_WIDE, MIDDLE, MIDDLE_COARSE],
            Class::Batch => vec![MIDDLE, MIDDLE_FINE, MIDDLE_COARSE, NARROW, LARGE],
            Class::Narrow => vec![NARROW, MIDDLE],
            Class::Gradient => vec![MIDDLE, MIDDLE_COARSE, LARGE],
            Class::Other(tile) => vec![tile],
        }
    }

    /// Returns the tile that is used without a measurement. This tile also determines how a product is split, even if another tile computes
    /// the product.
    pub fn rule(self) -> Tile {
        self.candidates()[0]
    }
}

/// Fastest measured tile of each class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tuned(Vec<(Class, Tile)>);

impl Tuned {
    pub fn get(&self, class: Class) -> Option<Tile> {
        self.0.iter().find(|(of, _)| *of == class).map(|(_, tile)| *tile)
    }

    pub fn set(&mut self, class: Class, tile: Tile) {
        self.0.retain(|(of, _)| *of != class);
        self.0.push((class, tile));
    }
}
