//! Causal attention and its gradient. A workgroup processes 32 rows of one head of one sequence. In the forward pass and for the gradients
//! of queries, the rows are queries, and the workgroup loops over the keys up to each query's own position. For the gradients of keys and
//! values, the rows are keys, and the workgroup loops over the queries from each key's own position on. Each number of the result is
//! therefore a sum that one workgroup computes in a fixed order. Scores are not stored. For each query and head, only the logarithm of the
//! sum of the scores' exponentials is stored.
//!
//! A head with more than 32 columns has several tiles of sums. The generated WGSL unrolls the loop over these tiles, so that a thread keeps
//! its sums in registers.

use crate::program::{MAIN, Program, groups};
use crate::shader::include_wgsl;
use std::fmt::Write;

const TEXT: &str = include_wgsl!("attention.wgsl");
/// Number of rows and of columns of a tile.
const TILE: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub rows: usize,
    /// Number of columns of q, for all heads together. k and v have the same number.
    pub cols: usize,
    pub heads: usize,
    /// Number of rows of a sequence.
    pub len: usize,
}

impl Shape {
    /// Returns the number of per-row statistics: one for each row and head. Each sequence is padded to whole tiles.
    pub fn statistics(&self) -> usize {
        self.rows / self.len * self.heads * self.len.next_multiple_of(TILE)
    }

    fn size(&self) -> usize {
        self.cols / self.heads
    }

    fn workgroups(&self) -> usize {
        self.statistics() / TILE
    }

    /// Returns one copy of `text` for each tile of a head's columns. In each copy, `#` is replaced by the tile's index, and `COLUMN` by the
    /// index of the tile's first column.
    fn tiles(&self, text: &str) -> String {
        let tiles = self.size().div_ceil(TILE);
        (0..tiles).map(|i| text.replace('#', &i.to_string()).replace("COLUMN", &format!("{}u", i * TILE))).collect()
    }

    /// Returns WGSL text that computes `to` = `before` + product for each tile of sums. The product's first factor is in the workgroup's
    /// array `made`; its second factor is a tile of the matrix `rows`.
    fn add_made(&self, to: &str, before: &str, rows: &str) -> String {
        self.tiles(&format!(
            "        workgroupBarrier();
        load_right({rows}, COLUMN, local);
        workgroupBarrier();
        {to} = add_made({before}, down, across);
"
        ))
    }

    fn dispatch(&self, label: &str, names: &[&str], at: &[u32], body: &str, program: &mut Program) {
        let &Shape { cols, heads, len, .. } = self;
        let size = self.size();
        let fours = size.is_multiple_of(4) && at.iter().all(|at| at.is_multiple_of(4));
        let mut text = String::from("struct Args {");
        names.iter().for_each(|name| _ = write!(text, " {name}: u32,"));
        let _ = write!(
            text,
            " }}
const LEN = {len}u;
const HEADS = {heads}u;
const COLS = {cols}u;
const SIZE = {size}u;
const BLOCKS = {}u;
const SCALE = {:?};
{}{TEXT}
@compute @workgroup_size(64)
{MAIN} {{
    let index = group_index(group, many);
    if (index >= {}u) {{ return; }}
    let sequence = index / (HEADS * BLOCKS);
    let head = index / BLOCKS % HEADS;
    let down = local / 8u;
    let across = local % 8u;
    let own = 4u * across;
    // Row width of qkv, then the offsets of this head in qkv, in y, and in the per-row statistics.
    let wide = 3u * COLS;
    let base = sequence * LEN * wide + head * SIZE;
    let base_y = sequence * LEN * COLS + head * SIZE;
    let base_rows = (sequence * HEADS + head) * BLOCKS * 32u;
{body}}}
",
            len.div_ceil(TILE),
            1.0 / (size as f32).sqrt(),
            if fours { FOURS } else { SINGLE },
            self.workgroups(),
        );
        let kernel = program.kernel_with(label, "", fours, &text);
        program.dispatch(&kernel, at, groups(self.workgroups(), 1));
    }
}

/// Returns WGSL text that adds a product to `to`, which is one tile of sums. The factors are a tile of the matrix `rows` and a transposed
/// tile of the matrix `turned`.
fn add_left(to: &str, rows: &str, turned: &str) -> String {
    format!(
        "            workgroupBarrier();
            load_left({rows}, column, local);
            load_right_turned({turned}, column, local);
            workgroupBarrier();
            {to} = add_left({to}, down, across);
"
    )
}

/// Appends the kernel of the forward pass. `reads` and `writes` are offsets in `mem`.
pub(super) fn emit(shape: &Shape, reads: &[u32], writes: &[u32], program: &mut Program) {
    let save = writes.get(1).is_some();
    let names: &[&str] = if save { &["qkv", "y", "logs"] } else { &["qkv", "y"] };
    let body = format!(
        " // The longest loop first.
    let first = (BLOCKS - 1u - index % BLOCKS) * 32u;
    let row = first + 4u * down;
    let q = args.qkv + base;
    var top = vec4<f32>(LEAST);
    var sum = vec4<f32>();
{}    for (var key = 0u; key <= first; key += 32u) {{
        var s = Tile();
        for (var column = 0u; column < SIZE; column += 32u) {{
{}        }}
        s = Tile(
            scores(s.a, row, key + own),
            scores(s.b, row + 1u, key + own),
            scores(s.c, row + 2u, key + own),
            scores(s.d, row + 3u, key + own)
        );
        let tops = vec4<f32>(largest(s.a), largest(s.b), largest(s.c), largest(s.d));
        let higher = max(top, top_of_rows(tops, down, across));
        let shrink = exp(top - higher);
        top = higher;
        s = Tile(exp(s.a - top.x), exp(s.b - top.y), exp(s.c - top.z), exp(s.d - top.w));
        sum = fma(sum, shrink, sums(s));
        make(s, down, across);
{}    }}
    let total = sum_rows(sum, down, across);
    let share = 1.0 / total;
{}{}",
        shape.tiles("    var y# = Tile();\n"),
        add_left("s", "q, wide, first", "q + COLS, wide, key"),
        shape.add_made("y#", "scaled(y#, shrink)", "q + 2u * COLS, wide, key"),
        shape.tiles("    set_tile(args.y + base_y, COLS, row, COLUMN + own, scaled(y#, share));\n"),
        if save { "    if (across == 0u) { set_whole(args.logs + base_rows + row, top + log(total)); }\n" } else { "" },
    );
    shape.dispatch("attention", names, &[reads, writes].concat(), &body, program);
}

/// Appends the kernels of the gradient. `reads` and `writes` are offsets in `mem`.
pub(super) fn emit_grad(shape: &Shape, reads: &[u32], writes: &[u32], program: &mut Program) {
    let names = ["qkv", "y", "logs", "dy", "dqkv", "deltas"];
    let at = [reads, writes].concat();
    let of_queries = format!(
        "    let first = (BLOCKS - 1u - index % BLOCKS) * 32u;
    let row = first + 4u * down;
    let q = args.qkv + base;
    var product = vec4<f32>();
    for (var column = own; column < SIZE; column += 32u) {{
        let y = tile_at(args.y + base_y, COLS, row, column);
        let dy = tile_at(args.dy + base_y, COLS, row, column);
        product += vec4<f32>(dot(y.a, dy.a), dot(y.b, dy.b), dot(y.c, dy.c), dot(y.d, dy.d));
    }}
    let delta = sum_rows(product, down, across);
    if (across == 0u) {{ set_whole(args.deltas + base_rows + row, delta); }}
    let logs = whole_at(args.logs + base_rows + row);
{}    for (var key = 0u; key <= first; key += 32u) {{
        var s = Tile();
        var dp = Tile();
        for (var column = 0u; column < SIZE; column += 32u) {{
{}{}        }}
        s = Tile(
            exp(scores(s.a, row, key + own) - logs.x) * (dp.a - delta.x) * SCALE,
            exp(scores(s.b, row + 1u, key + own) - logs.y) * (dp.b - delta.y) * SCALE,
            exp(scores(s.c, row + 2u, key + own) - logs.z) * (dp.c - delta.z) * SCALE,
            exp(scores(s.d, row + 3u, key + own) - logs.w) * (dp.d - delta.w) * SCALE
        );
        make(s, down, across);
{}    }}
{}",
        shape.tiles("    var dq# = Tile();\n"),
        add_left("s", "q, wide, first", "q + COLS, wide, key"),
        add_left("dp", "args.dy + base_y, COLS, first", "q + 2u * COLS, wide, key"),
        shape.add_made("dq#", "dq#", "q + COLS, wide, key"),
        shape.tiles("    set_tile(args.dqkv + base, wide, row, COLUMN + own, dq#);\n"),
    );
    shape.dispatch("attention gradient of queries", &names, &at, &of_queries, program);
    let of_keys = format!(
        "    let first = index % BLOCKS * 32u;
    let row = first + 4u * down;
    let q = args.qkv + base;
    let k = q + COLS;
{}    for (var query = first; query < LEN; query += 32u) {{
        var s = Tile();
        var dp = Tile();
        for (var column = 0u; column < SIZE; column += 32u) {{
{}{}        }}
        let logs = whole_at(args.logs + base_rows + query + own);
        let delta = whole_at(args.deltas + base_rows + query + own);
        s = Tile(
            exp(scores_of_key(s.a, query + own, row) - logs),
            exp(scores_of_key(s.b, query + own, row + 1u) - logs),
            exp(scores_of_key(s.c, query + own, row + 2u) - logs),
            exp(scores_of_key(s.d, query + own, row + 3u) - logs)
        );
        make(s, down, across);
{}        s = Tile(
            s.a * (dp.a - delta) * SCALE,
            s.b * (dp.b - delta) * SCALE,
            s.c * (dp.c - delta) * SCALE,
            s.d * (dp.d - delta) * SCALE
        );
        workgroupBarrier();
        make(s, down, across);
{}    }}
{}",
        shape.tiles("    var dk# = Tile();\n    var dv# = Tile();\n"),
        add_left("s", "k, wide, first", "q, wide, query"),
        add_left("dp", "k + COLS, wide, first", "args.dy + base_y, COLS, query"),
        shape.add_made("dv#", "dv#", "args.dy + base_y, COLS, query"),
        shape.add_made("dk#", "dk#", "q, wide, query"),
        shape.tiles(
            "    set_tile(args.dqkv + base + COLS, wide, row, COLUMN + own, dk#);
    set_tile(args.dqkv + base + 2u * COLS, wide, row, COLUMN + own, dv#);
"
        ),
    );
    shape.dispatch("attention gradient of keys", &names, &at, &of_keys, program);
}

/// Functions that access four adjacent floats as a vector. Reads have no branches: some compilers would take minutes for the unrolled
/// branches.
const FOURS: &str = "\
fn four_at(at: u32, column: u32, exists: bool) -> vec4<f32> {
    return select(vec4<f32>(), mem[(at + min(column, SIZE - 4u)) >> 2u], exists && column < SIZE);
}
fn set_four(at: u32, column: u32, exists: bool, x: vec4<f32>) {
    if (exists && column < SIZE) { mem[(at + column) >> 2u] = x; }
}
fn whole_at(at: u32) -> vec4<f32> { return mem[at >> 2u]; }
fn set_whole(at: u32, x: vec4<f32>) { mem[at >> 2u] = x; }
";

const SINGLE: &str = "\
fn four_at(at: u32, column: u32, exists: bool) -> vec4<f32> {
    let columns = column + vec4<u32>(0u, 1u, 2u, 3u);
    let there = at + min(columns, vec4<u32>(SIZE - 1u));
    let x = vec4<f32>(mem[there.x], mem[there.y], mem[there.z], mem[there.w]);
    return select(vec4<f32>(), x, columns < vec4<u32>(select(0u, SIZE, exists)));
}
fn set_four(at: u32, column: u32, exists: bool, x: vec4<f32>) {
    if (exists) {
        for (var i = 0u; i < min(4u, max(SIZE, column) - column); i++) { mem[at + column + i] = x[i]; }
    }
}
fn whole_at(at: u32) -> vec4<f32> { return vec4<f32>(mem[at], mem[at + 1u], mem[at + 2u], mem[at + 3u]); }
fn set_whole(at: u32, x: vec4<f32>) {
    mem[at] = x.x;
    mem[at + 1u] = x.y;
    mem[at + 2u] = x.z;
    mem[at + 3u] = x.w;
}
";
