//! The size of a tensor: in rows and columns, in floats, in bytes.

/// `[rows, cols]`
pub type Shape = [usize; 2];

/// Floats of a tensor, which may be more than this machine counts to.
pub(crate) const fn product(rows: usize, cols: usize) -> u64 {
    (rows as u64).saturating_mul(cols as u64)
}

/// Bytes of so many floats.
pub(crate) const fn bytes(floats: u64) -> u64 {
    floats.saturating_mul(size_of::<f32>() as u64)
}
