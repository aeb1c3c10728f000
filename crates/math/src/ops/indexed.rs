//! Operations with indices: sums of table rows, one column of each row, and windows of a sequence. Indices are integers that are stored as
//! f32, because every tensor is f32. An index beyond the end selects the last row, column or number.

use crate::isa::{Isa, Simd, kernel};
use crate::par::{self, CHUNK};

/// Number of floating-point additions that justifies another thread.
pub const BAG_PIECE: usize = 32 * CHUNK;
/// Maximum number of row offsets that are computed at a time, and length of their buffer.
const PLACES: usize = 1024;
/// Number of floats in a [`Strip`]. A strip is a copy of some columns of all rows of a table, and stays in the first-level cache. In the
/// table itself, these columns would share cache sets.
const STRIP: usize = 12 << 10;
/// Maximum number of columns of a piece of work, in the backward pass and for a packed table. Other pieces have all columns.
const COLUMNS: usize = 64;

/// Computes `y[r]` = bias + Σ_k `table[index[r][k]]`, followed by a relu if `relu` is true. Each row has `k` indices; an index that is
/// below 0 or NaN is skipped. The sum is one chain in the order of k, starting from the bias.
pub fn embedding_bag(isa: Isa, cols: usize, table: &[f32], k: usize, index: &[f32], bias: Option<&[f32]>, relu: bool, y: &mut [f32]) {
    let rows = y.len() / cols;
    let index = &index[..rows * k];
    check(cols, table, k, index);
    let (bias, packed) = (bias.map(|bias| &bias[..cols]), is_packed(table.len() / cols, rows * k));
    let y = Shared(y[..rows * cols].as_mut_ptr());
    let width = if packed { COLUMNS.min(cols) } else { cols };
    let (height, across) = (BAG_PIECE.div_ceil(k * width), cols.div_ceil(width));
    let piece = |i: usize| {
        let (first, c) = (i / across * height, i % across * width);
        let rows = [first, rows.min(first + height)];
        let bag = Bag { cols, table, k, index, bias, relu, packed, rows, columns: [c, cols.min(c + width)], y: &y };
        kernel!(isa, |s: S, bag: Bag<'_>| bag.run(s));
    };
    each(rows * k * cols, rows.div_ceil(height) * across, piece);
}

/// Computes `dtable[index[r][k]]` += `dy[r]`, in the order of r, then of k. An index that is below 0 or NaN is skipped.
pub fn embedding_bag_backward(isa: Isa, cols: usize, k: usize, index: &[f32], dy: &[f32], dtable: &mut [f32]) {
    let rows = dy.len() / cols;
    let index = &index[..rows * k];
    check(cols, dtable, k, index);
    let (n, table) = (dtable.len() / cols, Shared(dtable.as_mut_ptr()));
    let packed = is_packed(n, rows * k);
    // Threads share the columns, so that each sum stays one chain.
    let piece = |i: usize| {
        let columns = [i * COLUMNS, cols.min((i + 1) * COLUMNS)];
        let bag = BagBackward { cols, n, k, index, dy: &dy[..rows * cols], packed, columns, table: &table };
        kernel!(isa, |s: S, bag: BagBackward<'_>| bag.run(s));
    };
    each(rows * k * cols, cols.div_ceil(COLUMNS), piece);
}

/// Address of the output. Each thread writes its own part of the output.
struct Shared(*mut f32);

// SAFETY: each thread writes only its own part.
unsafe impl Sync for Shared {}

fn each(additions: usize, pieces: usize, piece: impl Fn(usize) + Sync) {
    if additions < 2 * BAG_PIECE { (0..pieces).for_each(piece) } else { par::each(pieces, piece) }
}

fn check(cols: usize, table: &[f32], k: usize, index: &[f32]) {
    let rows = table.len() / cols;
    assert!(rows > 0 && k > 0 && table.len() == rows * cols, "a table of whole rows, and lists");
    assert!(u32::try_from(table.len()).is_ok() && rows < 1 << 24 && index.len().is_multiple_of(k));
}

/// Returns true if a table of `rows` rows should be copied into [`Strip`]s. `named` is the number of indices.
fn is_packed(rows: usize, named: usize) -> bool {
    rows * 16 <= STRIP && named >= 4 * rows
}

/// Returns the number of vectors per strip: the largest of 8, 4 and 2 that fits into `cols` columns and, with `rows` rows, into a
/// [`Strip`]; else 1.
fn vectors<S: Simd>(cols: usize, rows: usize) -> usize {
    let fits = |n: &usize| n * S::LANES <= cols && n * S::LANES * rows <= STRIP;
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// Writes the offset of each indexed row to `at`. Rows of the table are `stride` floats apart. Returns false if an index is below 0 or NaN,
/// so that it must be skipped.
#[inline(always)]
fn places<S: Simd>(s: S, rows: usize, stride: usize, index: &[f32], at: &mut [u32; PLACES]) -> bool {
    let (zero, last, stride) = (s.splat(0.0), s.splat((rows - 1) as f32), s.splat_u(stride as u32));
    let every = s.eq(zero, zero);
    let mut known = every;
    for i in (0..index.len()).step_by(S::LANES) {
        let part = &index[i..];
        let x = if part.len() < S::LANES { s.load_part(part, 0.0) } else { s.load(part) };
        known = s.and_mask(known, s.ge(x, zero));
        // NaN becomes 0, so that the offset is valid.
        let row = s.i32_from_f32(s.min(last, s.max(x, zero)));
        s.store_u(s.mul_u(row, stride), &mut at[i..]);
    }
    s.mask_bits(known) == s.mask_bits(every)
}

/// Writes the offsets of the indexed rows to `at`, without skipped indices. Returns the number of offsets.
#[inline(always)]
fn places_named<S: Simd>(s: S, rows: usize, stride: usize, index: &[f32], at: &mut [u32; PLACES]) -> usize {
    if places(s, rows, stride, index, at) {
        return index.len();
    }
    let mut count = 0;
    for i in 0..index.len() {
        at[count] = at[i];
        count += usize::from(index[i] >= 0.0);
    }
    count
}

/// Memory for a strip, aligned to a cache line.
#[repr(align(64))]
struct Strip([f32; STRIP]);

struct Bag<'a> {
    cols: usize,
    table: &'a [f32],
    k: usize,
    index: &'a [f32],
    bias: Option<&'a [f32]>,
    relu: bool,
    packed: bool,
    /// First row of y, and the row after the last.
    rows: [usize; 2],
    /// First column, and the column after the last.
    columns: [usize; 2],
    y: &'a Shared,
}

impl Bag<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let [first, end] = self.columns;
        let whole = first + (end - first) / S::LANES * S::LANES;
        if self.packed {
            self.pack(s, whole);
        } else {
            for r in self.rows[0]..self.rows[1] {
                let mut c = first;
                while c < whole {
                    let vectors = vectors::<S>(whole - c, 0);
                    self.strip(s, vectors, [r, r + 1], c, &self.table[c..], self.cols);
                    c += vectors * S::LANES;
                }
            }
        }
        if whole < end {
            self.rest(s, whole);
        }
    }

    #[inline(always)]
    fn pack<S: Simd>(&self, s: S, whole: usize) {
        let mut strip = Strip([0.0; STRIP]);
        let mut c = self.columns[0];
        while c < whole {
            let vectors = vectors::<S>(whole - c, self.table.len() / self.cols);
            let width = vectors * S::LANES;
            for (to, from) in strip.0.chunks_exact_mut(width).zip(self.table.chunks_exact(self.cols)) {
                to.copy_from_slice(&from[c..][..width]);
            }
            self.strip(s, vectors, self.rows, c, &strip.0, width);
            c += width;
        }
    }

    /// Computes `vectors` vectors of columns, from column `c` on. `from` contains these columns of the table, in rows of `stride` floats.
    #[inline(always)]
    fn strip<S: Simd>(&self, s: S, vectors: usize, rows: [usize; 2], c: usize, from: &[f32], stride: usize) {
        match vectors {
            8 => self.sums::<S, 8, 1>(s, rows, c, from, stride),
            4 if S::LANES == 16 => self.sums::<S, 4, 4>(s, rows, c, from, stride),
            4 => self.sums::<S, 4, 2>(s, rows, c, from, stride),
            2 => self.sums::<S, 2, 4>(s, rows, c, from, stride),
            _ => self.sums::<S, 1, 4>(s, rows, c, from, stride),
        }
    }

    /// Computes N vectors of columns of the output rows from `first` to `end`. R output rows are computed at a time; rows near an index
    /// that must be skipped are computed one at a time.
    #[inline(always)]
    fn sums<S: Simd, const N: usize, const R: usize>(&self, s: S, [first, end]: [usize; 2], c: usize, from: &[f32], stride: usize) {
        let (n, k) = (self.table.len() / self.cols, self.k);
        assert!(from.len() >= (n - 1) * stride + N * S::LANES);
        let from = from.as_ptr();
        let mut at = [0; PLACES];
        let mut start = [s.splat(0.0); N];
        if let Some(bias) = self.bias {
            for v in 0..N {
                start[v] = s.load(&bias[c + v * S::LANES..]);
            }
        }
        let mut r = first;
        let mut one_by_one = 0;
        while r < end {
            let rows = (end - r).min(PLACES / k) / R * R;
            let named = &self.index[r * k..][..rows * k];
            if one_by_one == 0 && rows > 0 && places(s, n, stride, named, &mut at) {
                for at in at[..rows * k].chunks_exact(R * k) {
                    let mut sums = [start; R];
                    // SAFETY: each offset belongs to a table row that has N vectors in `from`.
                    unsafe { add_rows(s, &mut sums, from, at, k) };
                    for i in 0..R {
                        self.store(s, &sums[i], (r + i) * self.cols + c);
                    }
                    r += R;
                }
                continue;
            }
            one_by_one = if one_by_one > 0 { one_by_one - 1 } else { rows.saturating_sub(1) };
            let mut sums = [start; 1];
            for index in self.index[r * k..][..k].chunks(PLACES) {
                let count = places_named(s, n, stride, index, &mut at);
                // SAFETY: each offset belongs to a table row that has N vectors in `from`.
                unsafe { add_rows(s, &mut sums, from, &at[..count], count) };
            }
            self.store(s, &sums[0], r * self.cols + c);
            r += 1;
        }
    }

    #[inline(always)]
    fn floor(&self) -> f32 {
        if self.relu { 0.0 } else { f32::NEG_INFINITY }
    }

    #[inline(always)]
    fn store<S: Simd, const N: usize>(&self, s: S, sums: &[S::F; N], at: usize) {
        let floor = s.splat(self.floor());
        for v in 0..N {
            // SAFETY: only this call writes these rows and columns of y.
            unsafe { s.store_ptr(s.max(floor, sums[v]), self.y.0.add(at + v * S::LANES)) };
        }
    }

    /// Computes the last columns, which do not fill a vector.
    #[inline(always)]
    fn rest<S: Simd>(&self, s: S, first: usize) {
        let (n, width) = (self.table.len() / self.cols, self.columns[1] - first);
        let mut at = [0; PLACES];
        for r in self.rows[0]..self.rows[1] {
            let mut sums = [0.0f32; 16];
            if let Some(bias) = self.bias {
                sums[..width].copy_from_slice(&bias[first..][..width]);
            }
            for index in self.index[r * self.k..][..self.k].chunks(PLACES) {
                let count = places_named(s, n, self.cols, index, &mut at);
                for &at in &at[..count] {
                    let row = &self.table[at as usize + first..][..width];
                    for i in 0..width {
                        sums[i] += row[i];
                    }
                }
            }
            for i in 0..width {
                let y = if self.floor() > sums[i] { self.floor() } else { sums[i] };
                // SAFETY: only this call writes these rows and columns of y.
                unsafe { *self.y.0.add(r * self.cols + first + i) = y };
            }
        }
    }
}

/// Adds table rows to R sums, which are independent chains of N vectors. Each sum takes the next `k` offsets of `at`.
///
/// # Safety
/// `at` must have R·k offsets, and `from` must be valid for N vectors at each.
#[inline(always)]
unsafe fn add_rows<S: Simd, const N: usize, const R: usize>(s: S, sums: &mut [[S::F; N]; R], from: *const f32, at: &[u32], k: usize) {
    let mut x = *sums;
    // SAFETY: guaranteed by the caller.
    unsafe {
        for i in 0..k {
            for r in 0..R {
                let row = from.add(*at.get_unchecked(r * k + i) as usize);
                for v in 0..N {
                    x[r][v] = s.add(x[r][v], s.load_ptr(row.add(v * S::LANES)));
                }
            }
        }
    }
    *sums = x;
}

struct BagBackward<'a> {
    cols: usize,
    /// Number of rows of the table.
    n: usize,
    k: usize,
    index: &'a [f32],
    dy: &'a [f32],
    packed: bool,
    /// First column, and the column after the last.
    columns: [usize; 2],
    table: &'a Shared,
}

impl BagBackward<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let [first, end] = self.columns;
        let whole = first + (end - first) / S::LANES * S::LANES;
        let mut c = first;
        while c < whole {
            let vectors = vectors::<S>(whole - c, if self.packed { self.n } else { 0 });
            match vectors {
                8 => self.strip::<S, 8>(s, c),
                4 => self.strip::<S, 4>(s, c),
                2 => self.strip::<S, 2>(s, c),
                _ => self.strip::<S, 1>(s, c),
            }
            c += vectors * S::LANES;
        }
        if whole < end {
            self.rest(s, whole);
        }
    }

    /// Adds the gradients of N vectors of columns to the table, from column `c` on.
    #[inline(always)]
    fn strip<S: Simd, const N: usize>(&self, s: S, c: usize) {
        // SAFETY: only this thread accesses these columns of the table.
        unsafe {
            let to = self.table.0.add(c);
            if !self.packed {
                return self.add::<S, N>(s, c, to, self.cols);
            }
            let mut strip = Strip([0.0; STRIP]);
            let (width, strip) = (N * S::LANES, strip.0.as_mut_ptr());
            for r in 0..self.n {
                std::ptr::copy_nonoverlapping(to.add(r * self.cols), strip.add(r * width), width);
            }
            self.add::<S, N>(s, c, strip, width);
            for r in 0..self.n {
                std::ptr::copy_nonoverlapping(strip.add(r * width), to.add(r * self.cols), width);
            }
        }
    }

    /// Adds the gradients of N vectors of columns to `to`, which holds these columns of the table in rows of `stride` floats.
    ///
    /// # Safety
    /// `to` must be valid for N vectors at each row.
    #[inline(always)]
    unsafe fn add<S: Simd, const N: usize>(&self, s: S, c: usize, to: *mut f32, stride: usize) {
        let mut at = [0; PLACES];
        for (index, dy) in self.index.chunks_exact(self.k).zip(self.dy.chunks_exact(self.cols)) {
            let mut d = [s.splat(0.0); N];
            for v in 0..N {
                d[v] = s.load(&dy[c + v * S::LANES..]);
            }
            for index in index.chunks(PLACES) {
                let count = places_named(s, self.n, stride, index, &mut at);
                for &at in &at[..count] {
                    // SAFETY: guaranteed by the caller.
                    unsafe {
                        let row = to.add(at as usize);
                        for v in 0..N {
                            let p = row.add(v * S::LANES);
                            s.store_ptr(s.add(s.load_ptr(p), d[v]), p);
                        }
                    }
                }
            }
        }
    }

    /// Adds the gradients of the last columns, which do not fill a vector.
    #[inline(always)]
    fn rest<S: Simd>(&self, s: S, first: usize) {
        let mut at = [0; PLACES];
        for (index, dy) in self.index.chunks_exact(self.k).zip(self.dy.chunks_exact(self.cols)) {
            for index in index.chunks(PLACES) {
                let count = places_named(s, self.n, self.cols, index, &mut at);
                for &at in &at[..count] {
                    for c in first..self.columns[1] {
                        // SAFETY: only this thread accesses this column of the table.
                        unsafe { *self.table.0.add(at as usize + c) += dy[c] };
                    }
                }
            }
        }
    }
}

pub(super) fn clamp_index(index: f32, rows: usize) -> usize {
    (index as usize).min(rows - 1)
}

/// Computes `y[r]` = `x[r][index[r]]`.
pub fn take_columns(_isa: Isa, rows: usize, cols: usize, x: &[f32], index: &[f32], y: &mut [f32]) {
    for r in 0..rows {
        y[r] = x[r * cols + clamp_index(index[r], cols)];
    }
}

/// Computes `dx[r][index[r]]` = `dy[r]`; the other columns are set to 0.
pub fn take_columns_backward(_isa: Isa, rows: usize, cols: usize, dy: &[f32], index: &[f32], dx: &mut [f32]) {
    dx[..rows * cols].fill(0.0);
    for r in 0..rows {
        dx[r * cols + clamp_index(index[r], cols)] = dy[r];
    }
}

/// Extracts windows of a sequence: `y[b·len + t]` = `x[starts[b] + t + shift]`. Positions beyond the end of x select its last number.
pub fn windows(x: &[f32], starts: &[f32], len: usize, shift: usize, y: &mut [f32]) {
    for (&start, y) in starts.iter().zip(y.chunks_exact_mut(len)) {
        for (t, y) in y.iter_mut().enumerate() {
            *y = x[(start as usize + t + shift).min(x.len() - 1)];
        }
    }
}
