//! Kernels of nodes that cannot be fused: operations on wide rows, and the gradient of an embedding table. Products are in `product.rs`.

use super::by_row::{SIZE, rows};
use super::dataflow::Op;
use crate::functions::activated;
use crate::program::{Program, groups};
use crate::shader::include_wgsl;
use graph::Call;

const TABLE: &str = include_wgsl!("embedding_grad.wgsl");

/// Appends the kernel of one node; `reads` and `writes` are offsets in `mem`.
pub(super) fn emit(op: &Op, reads: &[u32], writes: &[u32], program: &mut Program) {
    let at: Vec<u32> = reads.iter().chain(writes).copied().collect();
    match *op {
        Op::Call(Call::Sum { rows: r, cols, .. }) => rows(program, "row sums", [r, cols], &["x", "y"], &at, SUM_ROWS),
        Op::Call(Call::Softmax { rows: r, cols, log, .. }) => {
            let end = if log { "x - top - log(sum)" } else { "exp(x - top) / sum" };
            rows(program, "softmax", [r, cols], &["x", "y"], &at, &SOFTMAX.replace("END", end));
        }
        Op::Call(Call::SoftmaxGrad { rows: r, cols, log }) => {
            let (term, end) = if log { ("dy", "dy - exp(y) * sum") } else { ("y * dy", "y * (dy - sum)") };
            let text = SOFTMAX_GRAD.replace("TERM", term).replace("END", end);
            rows(program, "softmax gradient", [r, cols], &["y", "dy", "dx"], &at, &text);
        }
        Op::Norm { rows: r, cols, eps, centred, residual, act } => {
            let mut names = vec!["x", "gamma"];
            let mut y = String::from("(x - mean) * scale * mem[args.gamma + i]");
            if centred {
                names.push("beta");
                y += " + mem[args.beta + i]";
            }
            if residual {
                names.push("residual");
                y += " + mem[args.residual + first + i]";
            }
            let y = activated(act, &y, false);
            names.push("y");
            let mut text = String::from(if centred { MEAN } else { "    let mean = 0.0;\n" });
            text += &NORM.replace("END", &y);
            if writes.len() > 1 {
                names.push("stats");
                text += SAVE;
            }
            names.push("eps");
            let at: Vec<u32> = at.into_iter().chain([eps.to_bits()]).collect();
            rows(program, "layer norm", [r, cols], &names, &at, &text);
        }
        Op::NormGrad { rows: r, cols, centred } => {
            let names = ["x", "gamma", "stats", "dy", "dx"];
            let text = NORM_GRAD.replace("MEAN", if centred { "sum_of(sum, local) / f32(COLS)" } else { "0.0" });
            rows(program, "layer norm gradient", [r, cols], &names, &at, &text);
        }
        _ => unreachable!("groups take all others"),
    }
}

/// Appends kernels that compute the gradient of an embedding table, which has `table` rows. With `adds`, the gradient is added to the
/// contents. Each workgroup processes one table row, or one index if there are fewer indices than table rows. A workgroup processes at most
/// `SIZE` columns.
pub(super) fn embedding_bag_grad([rows, cols, table, k]: [usize; 4], at: [u32; 3], adds: bool, program: &mut Program) {
    let indices = rows * k;
    let by_index = indices < table;
    let args = [at[0], at[1], at[2], indices as u32, cols as u32, table as u32, k as u32];
    if by_index && !adds {
        program.for_each("clear a table", false, &[("to", at[2])], table * cols, "mem[args.to + i] = 0.0;");
    }
    let text = format!("const BY_INDEX = {by_index};\nconst ADDS = {};\n{TABLE}", adds || by_index);
    let kernel = program.kernel("gradient of a table", &text);
    let [x, y, _] = groups(if by_index { indices } else { table }, 1);
    program.dispatch(&kernel, &args, [x, y, cols.div_ceil(SIZE) as u32]);
}

const SUM_ROWS: &str = "\
    var sum = 0.0;
    for (var i = lane; i < COLS; i += LANES) { sum += mem[args.x + first + i]; }
    sum = sum_of(sum, local);
    if (mine && lane == 0u) { mem[args.y + row] = sum; }
";

const SOFTMAX: &str = "\
    // Every lane has a column: there are fewer lanes than columns.
    var top = mem[args.x + first + lane];
    for (var i = lane; i < COLS; i += LANES) { top = max(top, mem[args.x + first + i]); }
    top = top_of(top, local);
    var sum = 0.0;
    for (var i = lane; i < COLS; i += LANES) { sum += exp(mem[args.x + first + i] - top); }
    sum = sum_of(sum, local);
    if (mine) {
        for (var i = lane; i < COLS; i += LANES) {
            let x = mem[args.x + first + i];
            mem[args.y + first + i] = END;
        }
    }
";

const SOFTMAX_GRAD: &str = "\
    var sum = 0.0;
    for (var i = lane; i < COLS; i += LANES) {
        let y = mem[args.y + first + i];
        let dy = mem[args.dy + first + i];
        sum += TERM;
    }
    sum = sum_of(sum, local);
    if (mine) {
        for (var i = lane; i < COLS; i += LANES) {
            let y = mem[args.y + first + i];
            let dy = mem[args.dy + first + i];
            mem[args.dx + first + i] = END;
        }
    }
";

const MEAN: &str = "\
    var sum = 0.0;
    for (var i = lane; i < COLS; i += LANES) { sum += mem[args.x + first + i]; }
    let mean = sum_of(sum, local) / f32(COLS);
";

const NORM: &str = "\
    var squares = 0.0;
    for (var i = lane; i < COLS; i += LANES) {
        let off = mem[args.x + first + i] - mean;
        squares = fma(off, off, squares);
    }
    let variance = sum_of(squares, local) / f32(COLS);
    let scale = 1.0 / sqrt(variance + bitcast<f32>(args.eps));
    if (mine) {
        for (var i = lane; i < COLS; i += LANES) {
            let x = mem[args.x + first + i];
            mem[args.y + first + i] = END;
        }
    }
";

const SAVE: &str = "\
    if (mine && lane == 0u) {
        mem[args.stats + 2u * row] = mean;
        mem[args.stats + 2u * row + 1u] = scale;
    }
";

const NORM_GRAD: &str = "\
    let mean = mem[args.stats + 2u * row];
    let scale = mem[args.stats + 2u * row + 1u];
    var sum = 0.0;
    var products = 0.0;
    for (var i = lane; i < COLS; i += LANES) {
        let g = mem[args.dy + first + i] * mem[args.gamma + i];
        sum += g;
        products = fma(g, (mem[args.x + first + i] - mean) * scale, products);
    }
    sum = MEAN;
    products = sum_of(products, local) / f32(COLS);
    if (mine) {
        for (var i = lane; i < COLS; i += LANES) {
            let g = mem[args.dy + first + i] * mem[args.gamma + i];
            let normed = (mem[args.x + first + i] - mean) * scale;
            mem[args.dx + first + i] = (g - sum - normed * products) * scale;
        }
    }
";
