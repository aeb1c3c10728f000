//! Size of a tensor: rows and columns, number of floats, bytes.

/// `[rows, cols]`
pub type Shape = [usize; 2];

/// Returns the number of floats of a tensor, as a u64 because the number may exceed a usize.
pub(crate) const fn product(rows: usize, cols: usize) -> u64 {
    (rows as u64).saturating_mul(cols as u64)
}

/// Returns the size of `floats` floats, in bytes.
pub(crate) const fn bytes(floats: u64) -> u64 {
    floats.saturating_mul(size_of::<f32>() as u64)
}
