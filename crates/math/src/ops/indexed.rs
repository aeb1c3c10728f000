//! What indices name: rows of a table, a column of each row.

use super::elementwise::add_scaled;
use crate::Isa;

/// The row of a table that an index names. Indices travel as whole f32 numbers, as every tensor does; one outside the table
/// means its nearest row.
fn clamp_index(index: f32, rows: usize) -> usize {
    (index as usize).min(rows - 1)
}

/// y[i] = table[index[i]], table `[·][cols]`.
pub fn gather_rows(_isa: Isa, cols: usize, table: &[f32], index: &[f32], y: &mut [f32]) {
    let rows = table.len() / cols;
    for (&index, y) in index.iter().zip(y.chunks_exact_mut(cols)) {
        y.copy_from_slice(&table[clamp_index(index, rows) * cols..][..cols]);
    }
}

/// dtable[index[i]] += dy[i], in the order of i.
pub fn scatter_add_rows(isa: Isa, cols: usize, dy: &[f32], index: &[f32], dtable: &mut [f32]) {
    let rows = dtable.len() / cols;
    for (&index, dy) in index.iter().zip(dy.chunks_exact(cols)) {
        add_scaled(isa, 1.0, dy, &mut dtable[clamp_index(index, rows) * cols..][..cols]);
    }
}

/// y[r] = x[r][index[r]]
pub fn take_columns(_isa: Isa, rows: usize, cols: usize, x: &[f32], index: &[f32], y: &mut [f32]) {
    for r in 0..rows {
        y[r] = x[r * cols + clamp_index(index[r], cols)];
    }
}

/// dx[r][index[r]] = dy[r]; the other columns are 0.
pub fn take_columns_backward(_isa: Isa, rows: usize, cols: usize, dy: &[f32], index: &[f32], dx: &mut [f32]) {
    dx[..rows * cols].fill(0.0);
    for r in 0..rows {
        dx[r * cols + clamp_index(index[r], cols)] = dy[r];
    }
}
