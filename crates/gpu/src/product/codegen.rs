//! Generates the WGSL text of a product's kernels for one tile, one access pattern per factor, and one epilogue. Loops over registers are
//! unrolled.
//!
//! A tile of each factor is in workgroup memory as `[depth / 4][4][rows or columns / 4]` vectors of four floats. This layout does not
//! depend on the factor's layout in global memory. A tile is read as blocks of 4 x 4, each by one thread, while the previous tile is
//! multiplied. A block is transposed if it is read along k. Adjacent threads access adjacent or equal addresses, so there are no bank
//! conflicts.
//!
//! With f16, factors are rounded when they are written to the tiles, which therefore need only half of the memory. The multiply-adds and
//! sums are f32. Gradients of a mean over thousands of tokens are too small for f16, so a factor can be multiplied by a power of two before
//! it is rounded. The sum is divided by the same power afterwards.
//!
//! In comments, a "row" is a row of a or a column of b.

use super::shape::{Product, Side};
use crate::functions::{FUNCTIONS, activated, sloped};
use crate::program::MAIN;
use crate::tile::Tile;
use math::{Act, Unary};
use std::fmt::Write;

pub(super) struct Made {
    /// True if `mem` consists of vectors of four floats.
    pub vectors: bool,
    pub directives: &'static str,
    pub text: String,
}

/// Access pattern of a factor's reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    /// One vector has four adjacent k of one row.
    Along,
    /// One vector has four adjacent rows at one k.
    Across,
    /// One number at a time. `along` is true if adjacent k are adjacent in memory.
    Single { along: bool },
}

fn reads(side: Side, count: usize, k: usize) -> Reads {
    let aligned = |stride: u32, len: usize| stride.is_multiple_of(4) && side.at.is_multiple_of(4) && len.is_multiple_of(4);
    match (side.outer, side.inner) {
        (outer, 1) if aligned(outer, k) => Reads::Along,
        (1, inner) if aligned(inner, count) => Reads::Across,
        (_, inner) => Reads::Single { along: inner == 1 },
    }
}

/// Access pattern of the writes to c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    /// Vectors of four columns of one row.
    Fours,
    /// Four whole rows per thread, for 1 to 3 columns. With n columns, these are n vectors of four floats.
    Rows,
    /// One number at a time.
    Single,
}

/// One factor of the product in the kernel.
struct Factor {
    /// Name of the factor: `a` or `b`.
    name: char,
    /// Name of the factor's number of rows: `m` or `n`.
    count: char,
    reads: Reads,
    /// Number of rows of a tile, divided by four.
    fours: usize,
    /// Number of blocks of 4 x 4 in a tile.
    blocks: usize,
    /// Power of two that multiplies the factor before it is rounded to f16; `None` without rounding.
    half: Option<f32>,
}

pub(super) fn product(p: &Product, tile: &Tile, split: bool, twins: bool) -> Made {
    let (a, b) = (reads(p.a, p.m, p.k), reads(p.b, p.n, p.k));
    let some_fours = [a, b].iter().any(|reads| !matches!(reads, Reads::Single { .. }));
    let with = [p.residual, p.slope.map(|slope| slope.1), p.row_sums.map(|sums| sums.0), p.save];
    let aligned = p.c.is_multiple_of(4) && with.iter().flatten().all(|at| at.is_multiple_of(4));
    let writes = match p.n {
        n if some_fours && (split || aligned && n.is_multiple_of(4)) => Writes::Fours,
        ..=3 if some_fours && aligned && tile.columns == 4 && p.save.is_none() => Writes::Rows,
        _ => Writes::Single,
    };
    let vectors = writes != Writes::Single;
    // Without vectors in `mem`, four floats cannot be read at once.
    let read = |reads| match reads {
        Reads::Along if !vectors => Reads::Single { along: true },
        Reads::Across if !vectors => Reads::Single { along: false },
        reads => reads,
    };
    let factor = |name, count, reads, side: usize, half: usize| Factor {
        name,
        count,
        reads: read(reads),
        fours: side / 4,
        blocks: side * tile.depth / 16,
        half: p.half.map(|up| up[half]),
    };
    let (a, b) = (factor('a', 'm', a, tile.rows, 0), factor('b', 'n', b, tile.columns, 1));
    let kernel = Kernel { p, tile, a, b, writes, split, twins };
    let directives = if p.half.is_some() { "enable f16;" } else { "" };
    Made { vectors, directives, text: kernel.text() }
}

struct Kernel<'p> {
    p: &'p Product,
    tile: &'p Tile,
    a: Factor,
    b: Factor,
    writes: Writes,
    split: bool,
    /// True if the dispatch computes two products; the index of the workgroup in the third dimension selects the product.
    twins: bool,
}

const ARGS: &str = "\
struct Args {
    m: u32, n: u32, k: u32,
    a: u32, a_outer: u32, a_inner: u32,
    b: u32, b_outer: u32, b_inner: u32,
    c: u32, bias: u32, residual: u32,
    tiles_n: u32, tiles: u32, chunk: u32, c_row: u32, c_split: u32,
    slope: u32, row_sums: u32, save: u32,
";

/// WGSL function that rounds numbers to f16, clamped to the range of f16. NaN stays NaN, because every comparison with NaN is false. The
/// optimiser skips a step whose gradients contain NaN.
const HALF: &str = "\
fn half_of(x: vec4<f32>) -> vec4<f16> {
    let most = vec4<f32>(65504.0);
    return vec4<f16>(select(x, sign(x) * most, abs(x) > most));
}
";

/// Returns WGSL that ends the struct `Args`. With `twins` (two products in one dispatch), the struct has one more field for each offset:
/// the distance from the first product's offset to the second's. The text then also defines the function `of_product`, which returns the
/// arguments of one of the products.
fn end_of_args(places: &[&str], twins: bool) -> String {
    if !twins {
        return "}\n".into();
    }
    let mut text: String = places.iter().map(|place| format!("    {place}_step: u32,\n")).collect();
    text += "}\nfn of_product(which: u32) -> Args {\n    var moved = args;\n";
    places.iter().for_each(|place| _ = writeln!(text, "    moved.{place} += which * args.{place}_step;"));
    text + "    return moved;\n}\n"
}

/// Returns text that replaces `args` by the arguments of the product that the workgroup computes. Without `twins`, the text is empty.
fn choose(twins: bool) -> &'static str {
    if twins { "let args = of_product(group.z);" } else { "" }
}

impl Kernel<'_> {
    fn text(&self) -> String {
        let tile = self.tile;
        let threads = tile.threads() * tile.slices;
        let mut text = String::from(ARGS);
        text += &end_of_args(&["a", "b", "c", "bias", "residual", "slope", "row_sums", "save"], self.twins);
        if !self.split {
            text += functions(self.p);
        }
        text += if self.writes == Writes::Single {
            "fn read(at: u32) -> f32 { return mem[at]; }\n"
        } else {
            "fn read(at: u32) -> f32 { return mem[at >> 2u][at & 3u]; }\n"
        };
        let summed = self.p.row_sums.is_some();
        let depths = tile.depth / 4;
        let element = if self.p.half.is_some() { "f16" } else { "f32" };
        for Factor { name, fours, .. } in [&self.a, &self.b] {
            let _ = writeln!(text, "var<workgroup> {name}_tile: array<array<array<vec4<{element}>, {fours}>, 4>, {depths}>;");
        }
        if self.p.half.is_some() {
            text += HALF;
            if summed {
                let fours = self.a.fours;
                let _ = writeln!(text, "var<workgroup> kept: array<array<vec4<f32>, {fours}>, {depths}>;");
            }
        }
        if tile.slices > 1 {
            let len = tile.slices / 2 * tile.rows * tile.columns / 4;
            let _ = writeln!(text, "var<workgroup> sums: array<vec4<f32>, {len}>;");
        }
        let (slots, threads_of_slice) = (self.slots(threads), tile.threads());
        let _ = writeln!(
            text,
            "@compute @workgroup_size({threads})
{MAIN} {{
    {chosen}
    let index = group_index(group, many);
    let part = index / args.tiles;
    let k_begin = part * args.chunk;
    if (k_begin >= args.k) {{ return; }}
    let k_end = min(args.k, k_begin + args.chunk);
    let first_m = (index % args.tiles) / args.tiles_n * {rows}u;
    let first_n = (index % args.tiles) % args.tiles_n * {columns}u;
    let slice = local / {threads_of_slice}u;
    let thread = local % {threads_of_slice}u;",
            rows = tile.rows,
            columns = tile.columns,
            chosen = choose(self.twins),
        );
        text += &self.fragments();
        for row in 0..tile.thread_rows {
            for four in 0..tile.thread_columns / 4 {
                let _ = writeln!(text, "var c{row}_{four} = vec4<f32>();");
            }
        }
        for slot in 0..slots.len() {
            let _ = writeln!(text, "var at{slot} = vec4<u32>(); var four{slot} = 0u; var deep{slot} = 0u;");
            (0..4).for_each(|i| _ = writeln!(text, "var x{slot}_{i} = vec4<f32>();"));
            if summed {
                let _ = writeln!(text, "var row_sum{slot} = vec4<f32>();");
            }
        }
        let each = |what: &dyn Fn(&Factor, usize, &str) -> String| -> String {
            let chosen = |slot: usize, choices: &[Choice]| -> String {
                let texts: Vec<String> = choices
                    .iter()
                    .map(|choice| {
                        let body = what(self.factor(choice), slot, &choice.block);
                        choice.condition.as_ref().map_or(format!("{{ {body} }}"), |c| format!("if ({c}) {{ {body} }}"))
                    })
                    .collect();
                texts.join(" else ") + "\n"
            };
            slots.iter().enumerate().map(|(slot, choices)| chosen(slot, choices)).collect()
        };
        text += &each(&|factor, slot, block| self.place(factor, slot, block));
        let load = each(&|factor, slot, _| self.load(factor, slot));
        let store = each(&|factor, slot, _| self.store(factor, slot) + &self.sum_rows(factor, slot));
        let depth = tile.depth;
        let multiply = self.multiply();
        let _ = writeln!(
            text,
            "var k0 = k_begin;
loop {{
if (k0 < k_end) {{
{load}
}}
if (k0 > k_begin) {{
{multiply}
}}
if (k0 >= k_end) {{ break; }}
workgroupBarrier();
{store}
workgroupBarrier();
k0 += {depth}u;
}}"
        );
        if summed {
            text += &self.finish_rows(&each(&|factor, slot, _| self.keep_rows(factor, slot)));
        }
        text += &self.move_down();
        text += &self.join();
        text += &self.finish();
        text + "}\n"
    }

    // ---- row sums of a, from the numbers that each thread reads into the tile ----

    fn sum_rows(&self, factor: &Factor, slot: usize) -> String {
        if factor.name != 'a' || self.p.row_sums.is_none() {
            return String::new();
        }
        match factor.reads {
            Reads::Along => {
                let of = |i: usize| format!("dot(x{slot}_{i}, vec4<f32>(1.0))");
                format!("row_sum{slot} += vec4<f32>({});", [0, 1, 2, 3].map(of).join(", "))
            }
            _ => format!("row_sum{slot} += (x{slot}_0 + x{slot}_1) + (x{slot}_2 + x{slot}_3);"),
        }
    }

    /// Returns the expression of the workgroup memory for partial row sums: the tile of a if the tile is f32, else a separate array.
    fn of_rows(&self, depth: &str, four: &str) -> String {
        match self.p.half {
            Some(_) => format!("kept[{depth}][{four}]"),
            None => format!("a_tile[{depth}][0][{four}]"),
        }
    }

    fn keep_rows(&self, factor: &Factor, slot: usize) -> String {
        if factor.name != 'a' {
            return String::new();
        }
        let kept = self.of_rows(&format!("(deep{slot} / 4u)"), &format!("four{slot}"));
        format!("{kept} = row_sum{slot};")
    }

    /// Returns text that adds up and writes the row sums. All workgroups along n compute the same partial row sums, but only the first
    /// workgroup adds them up and writes them.
    fn finish_rows(&self, keep: &str) -> String {
        let Kernel { tile, split, .. } = self;
        let fours = self.a.fours;
        let threads = tile.threads() * tile.slices;
        let adds = self.p.row_sums.is_some_and(|sums| sums.1);
        let single = |to: &str| match (self.writes, split) {
            (Writes::Single, true) => format!("mem[{to}] = sum[i];"),
            (Writes::Single, false) => format!("mem[{to}] {} sum[i];", if adds { "+=" } else { "=" }),
            _ => format!("mem[({to}) >> 2u] = vec4<f32>(sum[i], 0.0, 0.0, 0.0);"),
        };
        let write = if !split && self.writes != Writes::Single {
            // The vector may extend beyond the last row. Its floats beyond the last row keep their old contents.
            format!(
                "let to = (args.row_sums + row) >> 2u;
let old = mem[to];
mem[to] = select(old, {}sum, row + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(args.m));",
                if adds { "old + " } else { "" }
            )
        } else {
            // In the partial sums of a split product, the row sums are in four additional columns at the end.
            let to =
                if *split { "args.c + part * args.c_split + (row + i) * args.c_row + args.c_row - 4u" } else { "args.row_sums + row + i" };
            format!("for (var i = 0u; i < 4u; i++) {{ if (row + i < args.m) {{ {} }} }}", single(to))
        };
        format!(
            "if (first_n == 0u) {{
workgroupBarrier();
{keep}workgroupBarrier();
for (var four = local; four < {fours}u; four += {threads}u) {{
    let row = first_m + four * 4u;
    if (row >= args.m) {{ break; }}
    var sum = vec4<f32>();
    for (var i = 0u; i < {depths}u; i++) {{ sum += {kept}; }}
    {write}
}}
}}
",
            depths = tile.depth / 4,
            kept = self.of_rows("i", "four"),
        )
    }

    fn factor(&self, choice: &Choice) -> &Factor {
        if choice.of_a { &self.a } else { &self.b }
    }

    /// Returns, for each slot of a thread, the blocks that the thread may read into the slot as alternatives. A slot is the registers for
    /// one block.
    ///
    /// A thread has one slot if there are at most as many blocks as threads, and the number of blocks of `a` is a multiple of 32. The first
    /// threads then read the blocks of `a`, the next threads read the blocks of `b`, and the other threads read nothing. Otherwise, each
    /// slot belongs to either `a` or `b`.
    fn slots(&self, threads: usize) -> Vec<Vec<Choice>> {
        let (of_a, of_b) = (self.a.blocks, self.b.blocks);
        if of_a.is_multiple_of(32) && of_a + of_b <= threads {
            let all = of_a + of_b;
            let below = (all < threads).then(|| format!("local < {all}u"));
            let condition = Some(format!("local < {of_a}u"));
            return vec![vec![
                Choice { of_a: true, condition, block: "local".into() },
                Choice { of_a: false, condition: below, block: format!("(local - {of_a}u)") },
            ]];
        }
        let some = |of_a: bool, blocks: usize| {
            (0..blocks.div_ceil(threads)).map(move |i| {
                let block = format!("(local + {}u)", i * threads);
                let condition = ((i + 1) * threads > blocks).then(|| format!("{block} < {blocks}u"));
                vec![Choice { of_a, condition, block }]
            })
        };
        some(true, of_a).chain(some(false, of_b)).collect()
    }

    /// Returns text that computes the offsets of a thread's vectors in the tiles. The threads are arranged in rectangles of 32 adjacent
    /// threads (a warp on most GPUs): 8 x 4 threads if the tile permits.
    fn fragments(&self) -> String {
        let tile = self.tile;
        let (down, across) = (tile.rows / tile.thread_rows, tile.columns / tile.thread_columns);
        let lanes_across = across.min(32 / down.min(8));
        let lanes_down = down.min(32 / lanes_across);
        let lanes = lanes_down * lanes_across;
        let rectangles_down = down / lanes_down;
        let a_step = lanes_down * (tile.thread_rows / 4);
        let b_step = lanes_across * (tile.thread_columns / 4);
        format!(
            "let rectangle = thread / {lanes}u;
let a_four = (rectangle % {rectangles_down}u) * {a_step}u + thread % {lanes_down}u;
let b_four = (rectangle / {rectangles_down}u) * {b_step}u + thread % {lanes}u / {lanes_down}u;
"
        )
    }

    /// Returns the distances between successive vectors of a thread, in vectors: first in the tile of `a`, then in the tile of `b`.
    fn steps(&self) -> (usize, usize) {
        let tile = self.tile;
        let (down, across) = (tile.rows / tile.thread_rows, tile.columns / tile.thread_columns);
        let lanes_across = across.min(32 / down.min(8));
        (down.min(32 / lanes_across), lanes_across)
    }

    /// Returns text that computes the location of the block with index `block`. The text sets the variables `four`, `deep` and `at` of the
    /// slot. `four` is the index of the block's four rows in the tile. `deep` is the block's first k in the tile. `at` contains the offsets
    /// of the four rows in `mem`. For [`Reads::Across`], all four numbers of `at` are the offset of the first row.
    fn place(&self, factor: &Factor, slot: usize, block: &str) -> String {
        let &Factor { name, count, fours, reads, .. } = factor;
        let deep = self.tile.depth / 4;
        let along = matches!(reads, Reads::Along | Reads::Single { along: true });
        let (four, deep) = if along && fours >= 8 {
            // In this order of blocks, a warp reads 64 adjacent bytes of each row, which are whole memory sectors.
            let wide = 8 * deep;
            (format!("{block} % 8u + {block} / {wide}u * 8u"), format!("{block} / 8u % {deep}u"))
        } else {
            (format!("{block} % {fours}u"), format!("{block} / {fours}u"))
        };
        // Beyond the last row, the last row is read again. The results of such rows are never written.
        let at = match reads {
            Reads::Across => format!("vec4<u32>(args.{name} + min(first_{count} + four{slot} * 4u, args.{count} - 4u))"),
            _ => format!(
                "min(first_{count} + four{slot} * 4u + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(args.{count} - 1u)) * \
                 args.{name}_outer + args.{name}"
            ),
        };
        format!("four{slot} = {four}; deep{slot} = {deep} * 4u; at{slot} = {at};")
    }

    /// Returns text that reads a block into the registers `x`; numbers beyond the last k are 0.
    fn load(&self, factor: &Factor, slot: usize) -> String {
        let name = factor.name;
        let fours = |at: &str| format!("mem[({at}) >> 2u]");
        let mut text = format!("let k = k0 + deep{slot};");
        match factor.reads {
            Reads::Along => {
                text += "let near = min(k, k_end - 4u);";
                for (i, row) in "xyzw".chars().enumerate() {
                    let _ = write!(text, "x{slot}_{i} = select(vec4<f32>(), {}, k < k_end);", fours(&format!("at{slot}.{row} + near")));
                }
            }
            Reads::Across => {
                for i in 0..4 {
                    let _ = write!(
                        text,
                        "x{slot}_{i} = select(vec4<f32>(), {}, k + {i}u < k_end);",
                        fours(&format!("at{slot}.x + min(k + {i}u, k_end - 1u) * args.{name}_inner"))
                    );
                }
            }
            Reads::Single { .. } => {
                for i in 0..4 {
                    let _ = write!(
                        text,
                        "{{ let at = at{slot} + min(k + {i}u, k_end - 1u) * args.{name}_inner;
x{slot}_{i} = select(vec4<f32>(), vec4<f32>(read(at.x), read(at.y), read(at.z), read(at.w)), k + {i}u < k_end); }}\n"
                    );
                }
            }
        }
        text
    }

    /// Returns text that stores a block in the tile, one vector per k.
    fn store(&self, factor: &Factor, slot: usize) -> String {
        let name = factor.name;
        let mut text = String::new();
        for (i, k) in "xyzw".chars().enumerate() {
            let value = match factor.reads {
                Reads::Along => format!("vec4<f32>(x{slot}_0.{k}, x{slot}_1.{k}, x{slot}_2.{k}, x{slot}_3.{k})"),
                _ => format!("x{slot}_{i}"),
            };
            let value = match factor.half {
                Some(up) => format!("half_of({value} * {up:?})"),
                None => value,
            };
            let to = format!("{name}_tile[deep{slot} / 4u][{i}][four{slot}]");
            let _ = write!(text, "{to} = {value};");
        }
        text
    }

    /// Returns text that multiplies the contents of the tiles. The loop over k is unrolled four times, because further unrolling would cost
    /// as much compilation time as it saves run time. Compilers insert a bounds check for every index into workgroup memory. With this
    /// loop, one check is enough for four k, and the other checks run before the loops.
    fn multiply(&self) -> String {
        let tile = self.tile;
        let (a_step, b_step) = self.steps();
        let wide = if self.p.half.is_some() { "vec4<f32>" } else { "" };
        let value = |name: char, k: usize, step: usize| format!("{wide}({name}_tile[deep][{k}][{name}_four + {step}u])");
        let mut body = String::new();
        for k in 0..4 {
            body += "{";
            for i in 0..tile.thread_rows / 4 {
                let _ = write!(body, "let a{i} = {};", value('a', k, i * a_step));
            }
            for i in 0..tile.thread_columns / 4 {
                let _ = write!(body, "let b{i} = {};", value('b', k, i * b_step));
            }
            for row in 0..tile.thread_rows {
                let (a, part) = (row / 4, ["x", "y", "z", "w"][row % 4]);
                for four in 0..tile.thread_columns / 4 {
                    let _ = write!(body, "c{row}_{four} = fma(vec4<f32>(a{a}.{part}), b{four}, c{row}_{four});");
                }
            }
            body += "}\n";
        }
        match (tile.depth / 4 / tile.slices, tile.slices) {
            (1, 1) => format!("let deep = 0u;\n{body}"),
            (1, _) => format!("let deep = slice;\n{body}"),
            (own, 1) => format!("for (var deep = 0u; deep < {own}u; deep++) {{\n{body}}}\n"),
            (own, _) => format!("for (var i = 0u; i < {own}u; i++) {{ let deep = slice * {own}u + i;\n{body}}}\n"),
        }
    }

    /// Returns text that divides the sums by the powers of two of both factors.
    fn move_down(&self) -> String {
        let up = self.p.half.map_or(1.0, |[a, b]| a * b);
        let fours = self.tile.thread_columns / 4;
        let sums = (0..self.tile.thread_rows * fours).map(|i| format!("c{}_{}", i / fours, i % fours));
        if up == 1.0 { String::new() } else { sums.map(|c| format!("{c} *= {:?};\n", 1.0 / up)).collect() }
    }

    /// Returns text that adds up the sums of the slices. Each stage adds one half of the slices to the other half, until one slice remains.
    /// The threads of the other slices then end.
    fn join(&self) -> String {
        let tile = self.tile;
        let (threads, fours) = (tile.threads(), tile.thread_columns / 4);
        let held = tile.thread_rows * fours;
        let mut text = String::new();
        let mut half = tile.slices / 2;
        while half > 0 {
            let moved = |what: &dyn Fn(String, String) -> String| -> String {
                let at = |i| format!("sums[at + {}u]", i * threads);
                (0..held).map(|i| what(format!("c{}_{}", i / fours, i % fours), at(i))).collect()
            };
            let give = moved(&|sum, at| format!("{at} = {sum};"));
            let take = moved(&|sum, at| format!("{sum} += {at};"));
            let all = held * threads;
            let _ = writeln!(
                text,
                "if (slice >= {half}u && slice < {whole}u) {{ let at = (slice - {half}u) * {all}u + thread; {give} }}
workgroupBarrier();
if (slice < {half}u) {{ let at = slice * {all}u + thread; {take} }}
workgroupBarrier();",
                whole = 2 * half,
            );
            half /= 2;
        }
        if tile.slices > 1 {
            text += "if (slice > 0u) { return; }\n";
        }
        text
    }

    /// Returns the expression of the epilogue's result for a sum. `read` takes the name of an array (`c`, `residual` or `slope`) and
    /// returns the expression of the array's number at the sum's index. If `wide` is true, each expression is a vector of four numbers,
    /// which begins at this index.
    fn value(&self, sum: String, read: &dyn Fn(&str) -> String, wide: bool) -> String {
        let p = self.p;
        if self.split {
            return sum;
        }
        if self.p.save.is_some() {
            return activated(p.act, "before", wide);
        }
        let y = if p.residual.is_some() { format!("{sum} + {}", read("residual")) } else { sum };
        let y = activated(p.act, &y, wide);
        if let Some((of, _)) = self.p.slope {
            return sloped(of, &read("slope"), &y, wide);
        }
        if p.adds { format!("{} + {y}", read("c")) } else { y }
    }

    /// Returns text that computes the activation's input and writes this input to memory. The text is empty for a split product and for a
    /// product that does not save this input.
    fn save(&self, sum: &str, read: &dyn Fn(&str) -> String) -> String {
        if self.split || self.p.save.is_none() {
            return String::new();
        }
        let more = if self.p.residual.is_some() { format!(" + {}", read("residual")) } else { String::new() };
        format!("let before = {sum}{more};\n{} = before;\n", read("save"))
    }

    fn finish(&self) -> String {
        let tile = self.tile;
        let (a_step, b_step) = self.steps();
        let fours = tile.thread_columns / 4;
        let biased = self.p.bias.is_some() && !self.split;
        let mut text = String::new();
        for four in 0..fours {
            let _ = writeln!(text, "let column{four} = first_n + (b_four + {}u) * 4u;", four * b_step);
            if biased {
                // The bias is read before any write, because a compiler must assume that a write changes the bias.
                let one = |i| format!("read(args.bias + min(column{four} + {i}u, args.n - 1u))");
                let bias = [0, 1, 2, 3].map(one).join(", ");
                let _ = writeln!(text, "let bias{four} = vec4<f32>({bias});");
                (0..tile.thread_rows).for_each(|row| _ = writeln!(text, "c{row}_{four} += bias{four};"));
            }
        }
        for i in 0..tile.thread_rows / 4 {
            let _ = writeln!(text, "{{ let row = first_m + (a_four + {}u) * 4u;", i * a_step);
            match self.writes {
                Writes::Fours => (0..4 * fours).for_each(|j| text += &self.write_four(4 * i, j / fours, j % fours)),
                Writes::Rows => text += &self.write_rows(4 * i),
                Writes::Single => (0..4 * fours).for_each(|j| text += &self.write_single(4 * i, j / fours, j % fours)),
            }
            text += "}\n";
        }
        text
    }

    /// Returns text that writes four adjacent columns of row `row + j`. Their sums are in the register `c{first + j}_{four}`.
    fn write_four(&self, first: usize, j: usize, four: usize) -> String {
        let (sum, read) = (format!("c{}_{four}", first + j), |of: &str| format!("mem[(args.{of} + at) >> 2u]"));
        let (saved, value) = (self.save(&sum, &read), self.value(sum, &read, true));
        format!(
            "if (row + {j}u < args.m && column{four} < args.n) {{
let at = part * args.c_split + (row + {j}u) * args.c_row + column{four};
{saved}mem[(args.c + at) >> 2u] = {value};
}}\n"
        )
    }

    /// Returns text like [`Self::write_four`], but the text writes one number at a time.
    fn write_single(&self, first: usize, j: usize, four: usize) -> String {
        let mut text = format!("if (row + {j}u < args.m) {{\n");
        for (e, part) in "xyzw".chars().enumerate() {
            let sum = format!("c{}_{four}.{part}", first + j);
            let read = |of: &str| format!("mem[args.{of} + at]");
            let (saved, value) = (self.save(&sum, &read), self.value(sum, &read, false));
            let _ = writeln!(
                text,
                "if (column{four} + {e}u < args.n) {{
let at = part * args.c_split + (row + {j}u) * args.c_row + column{four} + {e}u;
{saved}mem[args.c + at] = {value};
}}"
            );
        }
        text + "}\n"
    }

    /// Returns WGSL that writes four rows of a result with fewer than four columns. The floats of the four rows are contiguous. If some of
    /// these rows do not exist, the text writes the old contents of their floats back. This write is safe, because no other thread writes
    /// these floats in this dispatch.
    fn write_rows(&self, first: usize) -> String {
        let n = self.p.n;
        let mut text = String::new();
        for v in 0..n {
            let all = 4 * v..4 * v + 4;
            let part = |i: usize| format!("c{}_0.{}", first + i / n, ["x", "y", "z"][i % n]);
            let sums: Vec<String> = all.clone().map(part).collect();
            let exists: Vec<String> = all.map(|i| format!("row + {}u < args.m", i / n)).collect();
            let read = |of: &str| format!("mem[((args.{of} + row * {n}u) >> 2u) + {v}u]");
            let value = self.value(format!("vec4<f32>({})", sums.join(", ")), &read, true);
            let _ = writeln!(
                text,
                "if ({}) {{
var y = {value};
if (row + 4u > args.m) {{ y = select({}, y, vec4<bool>({})); }}
{} = y;
}}",
                exists[0],
                read("c"),
                exists.join(", "),
                read("c"),
            );
        }
        text
    }
}

/// Block that a thread may read: the factor, the condition under which the thread reads the block, and the block's index. If there is no
/// condition, the thread always reads the block.
struct Choice {
    of_a: bool,
    condition: Option<String>,
    block: String,
}

/// Returns the text of the functions that [`activated`] and [`sloped`] need.
fn functions(p: &Product) -> &'static str {
    let sloped = matches!(p.slope, Some((Unary::Gelu, _)));
    if matches!(p.act, Act::Tanh | Act::Gelu) || sloped { FUNCTIONS } else { "" }
}

/// Returns the number of threads that add the partial sums of one output.
fn adders(splits: usize) -> usize {
    if splits > 32 { 16 } else { 4 }
}

const THREADS: usize = 256;

/// Returns the number of outputs that one workgroup of the kernel [`sum`] computes.
pub(super) fn outputs_a_group(splits: usize) -> usize {
    THREADS / adders(splits)
}

/// Returns the text of the kernel that adds the partial sums of a split product, always in the same order, and applies the epilogue.
pub(super) fn sum(p: &Product, splits: usize, twins: bool) -> String {
    let (adders, outputs) = (adders(splits), outputs_a_group(splits));
    let mut y = String::from("total");
    if p.bias.is_some() {
        y += " + mem[args.bias + i % args.n]";
    }
    if p.residual.is_some() {
        y += " + mem[args.residual + i]";
    }
    let mut saved = String::new();
    if p.save.is_some() {
        saved = format!("let before = {y};\n        mem[args.save + i] = before;\n        ");
        y = "before".into();
    }
    let mut y = activated(p.act, &y, false);
    if let Some((of, _)) = p.slope {
        y = sloped(of, "mem[args.slope + i]", &y, false);
    }
    let old = if p.adds { "mem[args.c + i] + " } else { "" };
    let functions = functions(p);
    let sums_write = match p.row_sums {
        None => String::new(),
        Some((_, adds)) => {
            format!("if (column == args.n) {{ mem[args.row_sums + row] {} total; return; }}\n        ", if adds { "+=" } else { "=" })
        }
    };
    // The row sums are column n of the outputs. In the partial sums, they are after the padding.
    let (columns, from_column) = match p.row_sums {
        None => ("args.n", "column"),
        Some(_) => ("(args.n + 1u)", "select(column, args.padded - 4u, column == args.n)"),
    };
    format!(
        "{functions}struct Args {{ m: u32, n: u32, splits: u32, padded: u32, sums: u32, c: u32, bias: u32, residual: u32, slope: u32,
    row_sums: u32, save: u32,
{end}var<workgroup> shares: array<f32, {THREADS}>;
@compute @workgroup_size({THREADS})
{MAIN} {{
    {chosen}
    let output = group_index(group, many) * {outputs}u + local % {outputs}u;
    let row = output / {columns};
    let column = output % {columns};
    let i = row * args.n + column;
    let first = args.sums + row * args.padded + {from_column};
    let step = args.m * args.padded;
    var share = vec4<f32>();
    if (row < args.m) {{
        for (var part = local / {outputs}u; part < args.splits; part += {all}u) {{
            // Reads four sums at once, to hide the latency of memory.
            let parts = part + vec4<u32>(0u, {adders}u, {twice}u, {thrice}u);
            let at = first + min(parts, vec4<u32>(args.splits - 1u)) * step;
            let sums = vec4<f32>(mem[at.x], mem[at.y], mem[at.z], mem[at.w]);
            share += select(vec4<f32>(), sums, parts < vec4<u32>(args.splits));
        }}
    }}
    shares[local] = (share.x + share.y) + (share.z + share.w);
    workgroupBarrier();
    if (local < {outputs}u && row < args.m) {{
        var total = 0.0;
        for (var adder = 0u; adder < {adders}u; adder++) {{ total += shares[local + adder * {outputs}u]; }}
        {sums_write}{saved}mem[args.c + i] = {old}{y};
    }}
}}
",
        all = 4 * adders,
        twice = 2 * adders,
        thrice = 3 * adders,
        end = end_of_args(&["sums", "c", "bias", "residual", "slope", "row_sums", "save"], twins),
        chosen = choose(twins),
    )
}
