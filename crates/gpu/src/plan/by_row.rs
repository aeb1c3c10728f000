//! Kernels in which several adjacent threads process one row.

use crate::functions::FUNCTIONS;
use crate::program::{Program, groups};
use crate::shader::include_wgsl;

const ROWS: &str = include_wgsl!("rows.wgsl");
pub(super) const SIZE: usize = 256;

/// Returns the number of threads per row.
fn lanes(cols: usize) -> usize {
    (cols / 4).next_power_of_two().clamp(4, SIZE)
}

/// Appends a kernel. `text` is the body of the kernel's WGSL function `row_of`, which processes one row. `names` and `at` are the names and
/// values of the kernel's arguments after `rows`.
pub(super) fn rows(program: &mut Program, label: &str, [rows, cols]: [usize; 2], names: &[&str], at: &[u32], text: &str) {
    let (lanes, reduce) = (lanes(cols), program.gpu().shared.reduce);
    let main = ROWS.replace("#BUILTINS", reduce.builtins()).replace("#PLACE", reduce.place());
    let reductions = reduce.across(lanes, &[("sum_of", "+"), ("top_of", "max")]);
    let fields: String = names.iter().map(|name| format!(" {name}: u32,")).collect();
    let text = format!(
        "struct Args {{ rows: u32,{fields} }}
const LANES = {lanes}u;
const COLS = {cols}u;
{FUNCTIONS}{reductions}{main}
fn row_of(row: u32, mine: bool, lane: u32, local: u32) {{
    let first = row * COLS;
{text}}}
"
    );
    let kernel = program.kernel_with(label, reduce.directives(), false, &text);
    let args: Vec<u32> = [rows as u32].into_iter().chain(at.iter().copied()).collect();
    program.dispatch(&kernel, &args, groups(rows, SIZE / lanes));
}
