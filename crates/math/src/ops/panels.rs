//! Conversion of a batch between rows and panels.

use crate::PANEL;
use crate::isa::{Isa, kernel};

/// Converts `[rows][cols]` to `[rows/PANEL][cols][PANEL]`. The last panel's missing rows are 0.
pub fn rows_to_panels(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    let (x, y) = (&x[..rows * cols], &mut y[..crate::panels_len(rows, cols)]);
    if !rows.is_multiple_of(PANEL) {
        let last = y.len() - cols * PANEL;
        y[last..].fill(0.0);
    }
    move_numbers(isa, rows, cols, x.as_ptr(), y.as_mut_ptr(), false);
}

/// Converts `[rows/PANEL][cols][PANEL]` to `[rows][cols]`.
pub fn panels_to_rows(isa: Isa, rows: usize, cols: usize, x: &[f32], y: &mut [f32]) {
    let (x, y) = (&x[..crate::panels_len(rows, cols)], &mut y[..rows * cols]);
    move_numbers(isa, rows, cols, x.as_ptr(), y.as_mut_ptr(), true);
}

fn move_numbers(isa: Isa, rows: usize, cols: usize, from: *const f32, to: *mut f32, back: bool) {
    kernel!(isa, |s: S, rows: usize, cols: usize, from: *const f32, to: *mut f32, back: bool| {
        let cols4 = cols / 4 * 4;
        for r in (0..rows).step_by(4) {
            let count = 4.min(rows - r);
            let (row, panel) = (r * cols, r / PANEL * PANEL * cols + r % PANEL);
            let whole = if count == 4 { cols4 } else { 0 };
            // SAFETY: the callers cut both slices to [rows][cols] and to whole panels; 4 divides PANEL, so four rows lie in
            // one panel.
            unsafe {
                for c in (0..whole).step_by(4) {
                    if back {
                        s.transpose4(from.add(panel + c * PANEL), PANEL, to.add(row + c), cols);
                    } else {
                        s.transpose4(from.add(row + c), cols, to.add(panel + c * PANEL), PANEL);
                    }
                }
                for i in 0..count {
                    for c in whole..cols {
                        let (row, panel) = (row + i * cols + c, panel + c * PANEL + i);
                        if back {
                            *to.add(row) = *from.add(panel);
                        } else {
                            *to.add(panel) = *from.add(row);
                        }
                    }
                }
            }
        }
    })
}
