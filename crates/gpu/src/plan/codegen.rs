//! Generates the WGSL text of a group's kernels. Registers are named in order of appearance, and offsets are arguments, so groups with the
//! same computation have the same text and share a pipeline.

use super::dataflow::{Dataflow, Location, Op};
use super::fusion::{GroupKind, Groups};
use crate::functions::{FUNCTIONS, unary, unary_grad};
use crate::program::{MAIN, Program, Region, Space, groups as spread};
use crate::reduce::Reduce;
use crate::shader::include_wgsl;
use graph::{Call, ColumnSpan, Sums};
use math::{Binary, Span};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum number of arguments of a kernel; further offsets become constants in the text.
const MOST_ARGS: usize = 60;
/// Number of threads of a small workgroup, such as that of a kernel without sums.
const SMALL: usize = 64;
/// Number of threads of a large workgroup, such as that of a kernel with many sums.
const LARGE: usize = 256;
/// If a group has at most this number of threads, a single workgroup computes its sums.
const ROWS_OF_ONE: usize = 1024;
/// Maximum number of workgroups in the first pass of a sum.
const MOST_PARTS: usize = 1024;
/// Maximum number of rows per thread in a group of kind [`GroupKind::Walk`], unless [`MOST_PARTS`] limits the number of workgroups. In that
/// case, a thread has more rows.
const WALK: usize = 16;

const RANDOM: [&str; 3] = [include_wgsl!("../poly.wgsl"), include_wgsl!("../rng.wgsl"), include_wgsl!("dropout.wgsl")];

/// Returns the first lines of `main` in a kernel that reduces over threads.
fn main_of(reduce: Reduce) -> String {
    format!(
        "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        {}) {{
{}",
        reduce.builtins(),
        reduce.place()
    )
}

pub(super) struct Writer<'a> {
    pub dataflow: &'a Dataflow,
    pub groups: &'a Groups,
    /// Offset of each value in `mem`.
    pub places: &'a [u32],
    /// Tells of each value whether it is written to memory.
    pub stored: &'a [bool],
}

/// Kernel whose text is being generated.
struct Kernel<'a> {
    of: &'a Writer<'a>,
    args: Vec<(String, u32)>,
    /// Expression of a value's offset in `mem`, for each value that the text uses.
    bases: BTreeMap<usize, String>,
    /// First part of the text of `main`, which loads numbers that are equal for all threads.
    head: String,
    body: String,
    /// Names of the registers that hold the thread's elements of each value that was loaded or computed.
    registers: BTreeMap<usize, Vec<String>>,
    /// Name of the register of each loaded value that is a single number.
    singles: BTreeMap<usize, String>,
    /// For values that are a single row: the name of the register of each loaded column. The key is (value, column).
    rows: BTreeMap<(usize, usize), String>,
    names: usize,
    threads: usize,
    /// True if the kernel draws random numbers.
    draws: bool,
}

/// A sum over all threads. The sum is element `column` of the value with the index `value`. `term` is the expression that each thread adds.
struct Sum {
    value: usize,
    column: usize,
    term: String,
}

impl Writer<'_> {
    pub fn emit(&self, index: usize, program: &mut Program, space: &mut Space) {
        match self.groups.groups[index].kind {
            GroupKind::Threads(count) => self.threads(index, count, program, space),
            GroupKind::Walk { rows, cols } => self.walk(index, [rows, cols], program, space),
            GroupKind::Own => unreachable!("it has a kernel of its own"),
        }
    }

    fn kernel(&self, threads: usize) -> Kernel<'_> {
        Kernel {
            of: self,
            args: Vec::new(),
            bases: BTreeMap::new(),
            head: String::new(),
            body: String::new(),
            registers: BTreeMap::new(),
            singles: BTreeMap::new(),
            rows: BTreeMap::new(),
            names: 0,
            threads,
            draws: false,
        }
    }

    fn threads(&self, index: usize, count: usize, program: &mut Program, space: &mut Space) {
        let group = &self.groups.groups[index];
        let mut kernel = self.kernel(count);
        let total = kernel.arg("count", count as u32);
        let sums = kernel.nodes(&group.nodes);
        if sums.is_empty() {
            let text = format!(
                "@compute @workgroup_size({SMALL})
{MAIN} {{
    let t = group_index(group, many) * {SMALL}u + local;
    if (t >= {total}) {{ return; }}
{}{}}}
",
                kernel.head, kernel.body
            );
            return kernel.dispatch(program, "rows", &text, spread(count, SMALL));
        }
        let reduce = program.gpu().shared.reduce;
        let width = sums.len();
        let size = if count <= ROWS_OF_ONE || count > SMALL * MOST_PARTS { LARGE } else { SMALL };
        let parts = if count <= ROWS_OF_ONE { 1 } else { count.div_ceil(size).min(MOST_PARTS) };
        let mut text = format!(
            "var<workgroup> sums: array<f32, {}>;
{}@compute @workgroup_size({size})
{}{}",
            width * size,
            reduce.segments(width, size, size),
            main_of(reduce),
            kernel.head
        );
        for i in 0..width {
            let _ = writeln!(text, "    var sum_{i} = 0.0;");
        }
        let _ = writeln!(text, "    for (var t = group.x * {size}u + local; t < {total}; t += many.x * {size}u) {{\n{}", kernel.body);
        for (i, sum) in sums.iter().enumerate() {
            let _ = writeln!(text, "        sum_{i} += {};", sum.term);
        }
        text += "    }\n";
        for i in 0..width {
            let _ = writeln!(text, "    sums[{}u + local] = sum_{i};", i * size);
        }
        text += "    reduce_segments(local);\n";
        if parts == 1 {
            text += "    storageBarrier();\n    if (local == 0u) {\n";
            text += &kernel.tail(index, &sums, size);
            text += "    }\n}\n";
            return kernel.dispatch_reducing(program, "rows and sums", &text, [1, 1, 1]);
        }
        let region = space.floats(parts * width);
        let partial = kernel.arg("partial", region.at);
        let _ = write!(
            text,
            "    if (local < {width}u) {{ mem[{partial} + group.x * {width}u + local] = sums[local * {size}u]; }}
}}
"
        );
        kernel.dispatch_reducing(program, "rows and sums", &text, [parts as u32, 1, 1]);
        self.total(index, &sums, region, parts, program);
    }

    /// Appends a kernel that adds up the partial sums of the workgroups and computes the values that depend on the totals.
    fn total(&self, index: usize, sums: &[Sum], partial: Region, parts: usize, program: &mut Program) {
        let width = sums.len();
        let lanes = LARGE / width.next_power_of_two();
        let mut kernel = self.kernel(1);
        let (from, count) = (kernel.arg("partial", partial.at), kernel.arg("parts", parts as u32));
        let tail = kernel.tail(index, sums, lanes);
        let reduce = program.gpu().shared.reduce;
        let text = format!(
            "var<workgroup> sums: array<f32, {LARGE}>;
{}@compute @workgroup_size({LARGE})
{}    let column = local / {lanes}u;
    let lane = local % {lanes}u;
    var sum = 0.0;
    if (column < {width}u) {{
        for (var part = lane; part < {count}; part += {lanes}u) {{
            sum += mem[{from} + part * {width}u + column];
        }}
    }}
    sums[local] = sum;
    reduce_segments(local);
    if (local == 0u) {{
{tail}    }}
}}
",
            reduce.segments(LARGE / lanes, lanes, LARGE),
            main_of(reduce),
        );
        kernel.dispatch_reducing(program, "sums", &text, [1, 1, 1]);
    }

    fn walk(&self, index: usize, [rows, cols]: [usize; 2], program: &mut Program, space: &mut Space) {
        let mut kernel = self.kernel(rows * cols);
        let sums = kernel.nodes(&self.groups.groups[index].nodes);
        let (wide, high) = walk_shape(cols);
        let across = cols.div_ceil(wide);
        let parts = rows.div_ceil(high * WALK).clamp(1, MOST_PARTS.div_ceil(across));
        let mut ends = Vec::new();
        let to = sums.iter().map(|sum| {
            let adds = matches!(self.dataflow.values[sum.value].location, Location::Grad { adds: true, .. });
            let end = (self.places[sum.value], adds);
            if parts == 1 {
                return end;
            }
            let partial = space.floats(parts * cols);
            ends.push((partial.at, end));
            (partial.at, false)
        });
        let to: Vec<(u32, bool)> = to.collect();
        let terms: Vec<String> = sums.into_iter().map(|sum| sum.term).collect();
        kernel.walk(program, [rows, cols], &terms, &to, parts);
        for (partial, to) in ends {
            let mut kernel = self.kernel(parts * cols);
            let x = kernel.arg("x", partial);
            kernel.walk(program, [parts, cols], &[format!("mem[{x} + t]")], &[to], 1);
        }
    }
}

/// Returns the number of columns and the number of rows that a workgroup processes at the same time in a [`GroupKind::Walk`] kernel.
fn walk_shape(cols: usize) -> (usize, usize) {
    let wide = if cols <= 16 { 16 } else { 32 };
    (wide, LARGE / wide)
}

impl Kernel<'_> {
    fn dispatch(self, program: &mut Program, label: &str, text: &str, groups: [u32; 3]) {
        self.dispatch_with(program, label, "", text, groups);
    }

    fn dispatch_reducing(self, program: &mut Program, label: &str, text: &str, groups: [u32; 3]) {
        let directives = program.gpu().shared.reduce.directives();
        self.dispatch_with(program, label, directives, text, groups);
    }

    fn dispatch_with(self, program: &mut Program, label: &str, directives: &str, text: &str, groups: [u32; 3]) {
        let mut whole = String::from("struct Args {\n");
        for (name, _) in &self.args {
            let _ = writeln!(whole, "    {name}: u32,");
        }
        whole += "}\n";
        whole += FUNCTIONS;
        if self.draws {
            RANDOM.iter().for_each(|text| whole += text);
        }
        whole += text;
        let kernel = program.kernel_with(label, directives, false, &whole);
        let args: Vec<u32> = self.args.iter().map(|arg| arg.1).collect();
        program.dispatch(&kernel, &args, groups);
    }

    /// Appends a kernel that sums the columns of each term over the rows. The rows are divided among `parts` workgroups. For each term,
    /// `to` contains the offset of the sums. The flag in `to` is true if the sums are added to the contents at this offset.
    fn walk(mut self, program: &mut Program, [rows, cols]: [usize; 2], terms: &[String], to: &[(u32, bool)], parts: usize) {
        let (wide, high) = walk_shape(cols);
        let total = self.arg("rows", rows as u32);
        let mut text = format!(
            "var<workgroup> sums: array<f32, {LARGE}>;
@compute @workgroup_size({LARGE})
{MAIN} {{
    let column = group.x * {wide}u + local % {wide}u;
    let lane = local / {wide}u;
{}",
            self.head
        );
        for i in 0..terms.len() {
            let _ = writeln!(text, "    var sum_{i} = 0.0;");
        }
        let _ = writeln!(
            text,
            "    if (column < {cols}u) {{
        for (var row = group.y * {high}u + lane; row < {total}; row += many.y * {high}u) {{
        let t = row * {cols}u + column;
{}",
            self.body
        );
        for (i, term) in terms.iter().enumerate() {
            let _ = writeln!(text, "        sum_{i} += {term};");
        }
        text += "        }\n    }\n";
        for (i, &(place, adds)) in to.iter().enumerate() {
            let base = self.arg(&format!("to_{i}"), place);
            let _ = write!(
                text,
                "    sums[local] = sum_{i};
    workgroupBarrier();
    for (var half = {}u; half > 0u; half >>= 1u) {{
        if (lane < half) {{ sums[local] += sums[local + half * {wide}u]; }}
        workgroupBarrier();
    }}
    if (lane == 0u && column < {cols}u) {{ mem[{base} + group.y * {cols}u + column] {} sums[local]; }}
    workgroupBarrier();
",
                high / 2,
                if adds { "+=" } else { "=" }
            );
        }
        text += "}\n";
        let across = cols.div_ceil(wide) as u32;
        self.dispatch(program, "column sums", &text, [across, parts as u32, 1]);
    }

    fn arg(&mut self, name: &str, bits: u32) -> String {
        if self.args.len() >= MOST_ARGS {
            return format!("{bits}u");
        }
        self.args.push((name.into(), bits));
        format!("args.{name}")
    }

    /// Returns the expression of a value's offset in memory.
    fn base(&mut self, value: usize) -> String {
        if let Some(base) = self.bases.get(&value) {
            return base.clone();
        }
        let base = self.arg(&format!("at_{}", self.bases.len()), self.of.places[value]);
        self.bases.insert(value, base.clone());
        base
    }

    fn float(&mut self, x: f32) -> String {
        let arg = self.arg(&format!("float_{}", self.args.len()), x.to_bits());
        format!("bitcast<f32>({arg})")
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    /// Returns the expression of a value that is a single number.
    fn single(&mut self, value: usize) -> String {
        if let Some([name]) = self.registers.get(&value).map(Vec::as_slice) {
            return name.clone();
        }
        if let Some(name) = self.singles.get(&value) {
            return name.clone();
        }
        let (dataflow, given) = (self.of.dataflow, self.of.groups.given[value]);
        let text = match &dataflow.values[value].location {
            Location::Constant(x) => self.float(x[0]),
            Location::Arena if given => {
                let maker = dataflow.nodes.iter().find(|node| node.writes[0] == value);
                let maker = maker.expect("arithmetic that leads there");
                let reads: Vec<String> = maker.reads.iter().map(|&v| self.single(v)).collect();
                let Op::Call(call) = &maker.op else { unreachable!("arithmetic") };
                self.element(call, &reads)
            }
            _ => format!("mem[{}]", self.base(value)),
        };
        let name = self.name();
        let _ = writeln!(self.head, "    let {name} = {text};");
        self.singles.insert(value, name.clone());
        name
    }

    /// Loads a thread's elements of `value` into registers, unless registers hold them already. Returns the names of the registers.
    fn own(&mut self, value: usize) -> Vec<String> {
        if let Some(names) = self.registers.get(&value) {
            return names.clone();
        }
        let len = self.of.dataflow.len(value);
        if len == 1 {
            return vec![self.single(value)];
        }
        let (base, width) = (self.base(value), len / self.threads);
        let mut names = Vec::new();
        for i in 0..width {
            let name = self.name();
            let _ = writeln!(self.body, "        let {name} = mem[{base} + {}];", place(width, i));
            names.push(name);
        }
        self.registers.insert(value, names.clone());
        names
    }

    /// Returns the WGSL expression of the operand `value` at the thread's element with index `i`. `span` is the shape of the operand before
    /// it is broadcast to `[rows, cols]`.
    fn operand(&mut self, value: usize, span: Span, [rows, cols]: [usize; 2], i: usize) -> String {
        let a_row = self.threads == rows;
        match span {
            _ if self.of.dataflow.len(value) == 1 => self.single(value),
            Span::Full | Span::Scalar => self.own(value).swap_remove(i),
            Span::Column if a_row => self.own(value).swap_remove(0),
            Span::Column => format!("mem[{} + t / {cols}u]", self.base(value)),
            Span::Row if a_row => {
                if let Some(name) = self.rows.get(&(value, i)) {
                    return name.clone();
                }
                let (name, base) = (self.name(), self.base(value));
                let _ = writeln!(self.head, "    let {name} = mem[{base} + {i}u];");
                self.rows.insert((value, i), name.clone());
                name
            }
            Span::Row => format!("mem[{} + t % {cols}u]", self.base(value)),
        }
    }

    /// Returns the WGSL expression of the element of `value` for the thread's row. `value` must have one element per row. The thread may
    /// process the whole row, or only one element of the row.
    fn of_row(&mut self, value: usize, rows: usize, cols: usize) -> String {
        self.operand(value, Span::Column, [rows, cols], 0)
    }

    /// Returns WGSL expressions of column indices. If a thread computes a whole row, each column has an expression. Otherwise, the only
    /// expression is the column of the thread's element.
    fn columns(&self, rows: usize, cols: usize) -> Vec<String> {
        if self.threads == rows { (0..cols).map(|i| format!("{i}u")).collect() } else { vec![format!("t % {cols}u")] }
    }

    /// Returns the expression of one element of an elementwise call's result. `x` holds the expressions of the call's inputs.
    fn element(&mut self, call: &Call, x: &[String]) -> String {
        match *call {
            Call::Collect => x[0].clone(),
            Call::Affine { scale, shift: 0.0 } => format!("{} * {}", x[0], self.float(scale)),
            Call::Affine { scale: 1.0, shift } => format!("{} + {}", x[0], self.float(shift)),
            Call::Affine { scale, shift } => format!("fma({}, {}, {})", x[0], self.float(scale), self.float(shift)),
            Call::Unary(op) => unary(op, &x[0]),
            Call::UnaryGrad(op) => unary_grad(op, &x[0], &x[1]),
            Call::Binary { op, .. } => binary(op, &x[0], &x[1]),
            _ => unreachable!("not elementwise"),
        }
    }

    /// Appends the text of the nodes that the threads of a group compute. Returns the sums over all threads, which another part of the
    /// kernel computes.
    fn nodes(&mut self, nodes: &[usize]) -> Vec<Sum> {
        let mut sums = Vec::new();
        for &n in nodes {
            let node = &self.of.dataflow.nodes[n];
            match node.op {
                Op::Call(Call::Sum { of: Sums::All, .. }) => {
                    let term = self.own(node.reads[0]).join(" + ");
                    sums.push(Sum { value: node.writes[0], column: 0, term });
                }
                Op::Call(Call::Sum { of: Sums::Cols, .. }) => {
                    let terms = self.own(node.reads[0]);
                    let terms = terms.into_iter().enumerate();
                    sums.extend(terms.map(|(column, term)| Sum { value: node.writes[0], column, term }));
                }
                _ => self.node(n),
            }
        }
        sums
    }

    fn node(&mut self, n: usize) {
        let node = &self.of.dataflow.nodes[n];
        let (reads, y) = (&node.reads, node.writes[0]);
        let width = self.of.dataflow.len(y) / self.threads;
        let texts: Vec<String> = match &node.op {
            &Op::Normed { cols } => {
                let (x, base) = (self.own(reads[0]).swap_remove(0), self.base(reads[1]));
                let row = format!("{base} + t / {cols}u * 2u");
                vec![format!("({x} - mem[{row}]) * mem[{row} + 1u]")]
            }
            Op::Call(call) => self.call(call, reads, width),
            _ => unreachable!("not a node of a group"),
        };
        let names: Vec<String> = texts.into_iter().map(|text| self.keep(text)).collect();
        if self.of.stored[y] {
            self.store(y, &names);
        }
        self.registers.insert(y, names);
    }

    /// Returns the expressions of a call's results, one for each of a thread's `width` elements.
    fn call(&mut self, call: &Call, reads: &[usize], width: usize) -> Vec<String> {
        let threads = self.threads;
        let of_row = |rows: usize| threads == rows;
        match *call {
            Call::Binary { rows, cols, a, b, .. } => {
                // A binary call with one row is elementwise, so its shape does not matter.
                let shape = if rows == 1 { [0, 1] } else { [rows, cols] };
                (0..width)
                    .map(|i| {
                        let x = [0, 1].map(|side| self.operand(reads[side], [a, b][side].0, shape, i));
                        self.element(call, &x)
                    })
                    .collect()
            }
            Call::Collect | Call::Affine { .. } | Call::Unary(_) | Call::UnaryGrad(_) => {
                let sides: Vec<Vec<String>> = reads.iter().map(|&v| self.own(v)).collect();
                let of = |i: usize| sides.iter().map(|side| side[i].clone()).collect::<Vec<_>>();
                (0..width).map(|i| self.element(call, &of(i))).collect()
            }
            Call::Sum { .. } => vec![self.own(reads[0]).join(" + ")],
            Call::Softmax { log, .. } => {
                let x = self.own(reads[0]);
                let top = self.keep(x[1..].iter().fold(x[0].clone(), |top, x| format!("max({top}, {x})")));
                let powers: Vec<String> = x.iter().map(|x| self.keep(format!("exp({x} - {top})"))).collect();
                let sum = self.keep(powers.join(" + "));
                if log {
                    let less = self.keep(format!("{top} + log({sum})"));
                    x.iter().map(|x| format!("{x} - {less}")).collect()
                } else {
                    powers.iter().map(|power| format!("{power} / {sum}")).collect()
                }
            }
            Call::SoftmaxGrad { log, .. } => {
                let (y, dy) = (self.own(reads[0]), self.own(reads[1]));
                if log {
                    let sum = self.keep(dy.join(" + "));
                    y.iter().zip(&dy).map(|(y, dy)| format!("{dy} - exp({y}) * {sum}")).collect()
                } else {
                    let terms: Vec<String> = y.iter().zip(&dy).map(|(y, dy)| format!("{y} * {dy}")).collect();
                    let sum = self.keep(terms.join(" + "));
                    y.iter().zip(&dy).map(|(y, dy)| format!("{y} * ({dy} - {sum})")).collect()
                }
            }
            Call::Take { cols, .. } => {
                let index = self.own(reads[1]).swap_remove(0);
                let index = self.keep(whole(&index, cols));
                match self.registers.get(&reads[0]) {
                    Some(x) => {
                        let last = x.len() - 1;
                        let pick = |rest: String, i: usize| format!("select({rest}, {}, {index} == {i}u)", x[i]);
                        vec![(0..last).rev().fold(x[last].clone(), pick)]
                    }
                    None => vec![format!("mem[{} + t * {cols}u + {index}]", self.base(reads[0]))],
                }
            }
            Call::TakeGrad { rows, cols } => {
                let (index, dy) = (self.of_row(reads[0], rows, cols), self.of_row(reads[1], rows, cols));
                let index = self.keep(whole(&index, cols));
                self.columns(rows, cols).iter().map(|column| format!("select(0.0, {dy}, {index} == {column})")).collect()
            }
            Call::EmbeddingBag { rows, cols, k, .. } => {
                let table = self.of.dataflow.len(reads[0]) / cols;
                let (base, lists) = (self.base(reads[0]), self.base(reads[1]));
                let row = if of_row(rows) { "t".into() } else { format!("t / {cols}u") };
                let columns = self.columns(rows, cols);
                let sums: Vec<String> = columns.iter().map(|_| self.name()).collect();
                let mut text: String = sums.iter().map(|sum| format!("        var {sum} = 0.0;\n")).collect();
                let _ = writeln!(
                    text,
                    "        for (var k = 0u; k < {k}u; k++) {{
        let index = mem[{lists} + {row} * {k}u + k];
        if (index >= 0.0) {{
        let row = {base} + {} * {cols}u;",
                    whole("index", table)
                );
                for (sum, column) in sums.iter().zip(&columns) {
                    let _ = writeln!(text, "        {sum} += mem[row + {column}];");
                }
                self.body += &text;
                self.body += "        }\n        }\n";
                sums
            }
            Call::Columns { rows, cols, ref parts } if of_row(rows) => (0..cols)
                .map(|i| {
                    // If several entries of `parts` contain the column, the last entry counts.
                    let found = parts.iter().zip(reads).rfind(|(p, _)| (p.at..p.at + p.width).contains(&i));
                    let Some((part, &x)) = found else { return "0.0".into() };
                    let from = part.from + i - part.at;
                    match self.registers.get(&x) {
                        Some(x) => x[from].clone(),
                        None => format!("mem[{} + t * {}u + {from}u]", self.base(x), part.of),
                    }
                })
                .collect(),
            Call::Columns { cols, ref parts, .. } => {
                let y = self.name();
                let mut text = format!("        var {y} = 0.0;\n        let {y}_at = t % {cols}u;\n");
                for (part, &x) in parts.iter().zip(reads) {
                    let base = self.base(x);
                    let ColumnSpan { of, from, width, at } = *part;
                    let _ = writeln!(
                        text,
                        "        if ({y}_at >= {at}u && {y}_at < {}u) \
                         {{ {y} = mem[{base} + t / {cols}u * {of}u + {from}u + {y}_at - {at}u]; }}",
                        at + width
                    );
                }
                self.body += &text;
                vec![y]
            }
            Call::Rotary { cols, size, back, .. } => {
                let len = self.of.dataflow.len(reads[1]) / size;
                let ([x, table], half) = ([self.base(reads[0]), self.base(reads[1])], size / 2);
                let y = self.name();
                // The rotation subtracts the second number's term from the first number of a pair, and adds the first number's term to the
                // second number. The inverse rotation swaps these signs.
                let sides = if back { "-turned, turned" } else { "turned, -turned" };
                let _ = write!(
                    self.body,
                    "        var {y} = mem[{x} + t];
        if (t % {cols}u < {}u) {{
        let part = t % {cols}u % {size}u;
        let angle = {table} + t / {cols}u % {len}u * {size}u + part % {half}u;
        let is_first = part < {half}u;
        let turned = mem[angle + {half}u] * mem[{x} + select(t - {half}u, t + {half}u, is_first)];
        {y} = fma({y}, mem[angle], select({sides}, is_first));
        }}
",
                    cols / 3 * 2
                );
                vec![y]
            }
            Call::Dropout { p, rng } => {
                self.draws = true;
                let (x, step) = (self.own(reads[0]), self.single(reads[1]));
                let (p, scale) = (self.float(p), self.float(1.0 / (1.0 - p)));
                let key = rng.key.map(|word| self.arg(&format!("key_{}", self.args.len()), word)).join(", ");
                let drop = |(i, x): (usize, &String)| {
                    let at = place(width, i);
                    format!("dropped({x}, {at}, {p}, {scale}, vec4<u32>({key}), u32({step}))")
                };
                x.iter().enumerate().map(drop).collect()
            }
            Call::Windows { len, shift } => {
                let last = self.of.dataflow.len(reads[0]) - 1;
                let (corpus, starts) = (self.base(reads[0]), self.base(reads[1]));
                vec![format!("mem[{corpus} + min(u32(max(mem[{starts} + t / {len}u], 0.0)) + t % {len}u + {shift}u, {last}u)]")]
            }
            _ => unreachable!("not a node of a group"),
        }
    }

    /// Assigns an expression to a new register; returns the register's name.
    fn keep(&mut self, text: String) -> String {
        let name = self.name();
        let _ = writeln!(self.body, "        let {name} = {text};");
        name
    }

    fn store(&mut self, value: usize, names: &[String]) {
        let adds = matches!(self.of.dataflow.values[value].location, Location::Grad { adds: true, .. });
        let (base, sign) = (self.base(value), if adds { "+=" } else { "=" });
        for (i, name) in names.iter().enumerate() {
            let at = if self.threads == 1 { format!("{i}u") } else { place(names.len(), i) };
            let _ = writeln!(self.body, "        mem[{base} + {at}] {sign} {name};");
        }
    }

    /// Returns the text that one thread executes when the sums are complete. The WGSL array `sums` contains one sum at every `stride`-th
    /// element.
    fn tail(&mut self, index: usize, sums: &[Sum], stride: usize) -> String {
        self.body.clear();
        self.head.clear();
        self.registers.clear();
        self.threads = 1;
        let mut columns: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (i, sum) in sums.iter().enumerate() {
            let name = self.keep(format!("sums[{}u]", i * stride));
            let names = columns.entry(sum.value).or_default();
            debug_assert_eq!(names.len(), sum.column);
            names.push(name);
        }
        self.registers = columns;
        for &n in &self.of.groups.groups[index].finish {
            let node = &self.of.dataflow.nodes[n];
            match (&node.op, self.registers.get(&node.writes[0]).cloned()) {
                (Op::Call(Call::Sum { of: Sums::All | Sums::Cols, .. }), Some(names)) => {
                    if self.of.stored[node.writes[0]] {
                        self.store(node.writes[0], &names);
                    }
                }
                _ => self.node(n),
            }
        }
        format!("{}{}", self.head, self.body)
    }
}

/// Returns the expression of an element's offset in its value. The element has index `i` among the thread's `width` elements.
fn place(width: usize, i: usize) -> String {
    match (width, i) {
        (1, _) => "t".into(),
        (_, 0) => format!("t * {width}u"),
        _ => format!("t * {width}u + {i}u"),
    }
}

/// Returns the expression of `x` as an integer from 0 to `count - 1`.
fn whole(x: &str, count: usize) -> String {
    format!("u32(clamp({x}, 0.0, {}.0))", count - 1)
}

fn binary(op: Binary, a: &str, b: &str) -> String {
    match op {
        Binary::Add => format!("{a} + {b}"),
        Binary::Sub => format!("{a} - {b}"),
        Binary::Mul => format!("{a} * {b}"),
        Binary::Div => format!("{a} / {b}"),
        Binary::Min => format!("min({a}, {b})"),
        Binary::Max => format!("max({a}, {b})"),
        Binary::Greater => format!("select(0.0, 1.0, {a} > {b})"),
    }
}
