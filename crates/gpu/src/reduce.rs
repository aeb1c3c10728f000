//! Sums and maxima over the threads of a workgroup, by two methods. Both methods add in the same order, so they give the same bits. Without
//! subgroups, the whole tree of sums is in workgroup memory, with a barrier for each level. With subgroups, only the upper levels are in
//! workgroup memory; in the lower levels, threads of a subgroup exchange numbers without barriers.
//!
//! A level of the tree adds the number of thread i + `half` to the number of thread i. `half` is halved from level to level, down to 1.
//! With subgroups, each thread first adds the numbers of the upper levels, in which `half` is at least the width of a subgroup.
//! `subgroupShuffleXor` adds the numbers of the lower levels. After the last level, every thread has the sum, because a + b equals b + a
//! exactly.
//!
//! The mapping of threads to subgroups is unknown, so each subgroup reserves a range of places (positions in the tree) from a counter. A
//! thread's place is the subgroup's first place plus the thread's index in the subgroup. Places can differ between runs. A thread processes
//! the data of its place, so the result does not depend on the mapping. This method needs full subgroups, so `open.rs` tests each adapter
//! for them.

use std::fmt::Write;

/// Number of threads of most workgroups that reduce.
pub(crate) const THREADS: usize = 256;
/// Minimum width of subgroups in a reduction. With narrower subgroups, the method would save too little time.
const NARROWEST: u32 = 8;
/// Maximum width of subgroups in a reduction. The smallest workgroup that reduces has 64 threads and would not fill a wider subgroup.
const WIDEST: u32 = 64;

/// Method of reduction on an adapter: with subgroups of at least `width` threads, or without subgroups if `width` is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reduce {
    width: Option<usize>,
    /// True if a kernel must begin with `enable subgroups;`, as in a browser. wgpu's own WGSL parser supports subgroups but not this
    /// directive.
    needs_directive: bool,
}

impl Reduce {
    pub const PLAIN: Reduce = Reduce { width: None, needs_directive: false };

    /// Returns the method for an adapter with these minimum and maximum subgroup sizes. If the sizes are unsuitable, the method uses no
    /// subgroups.
    pub fn by_subgroups(least: u32, most: u32, in_browser: bool) -> Reduce {
        let fits = least.is_power_of_two() && least >= NARROWEST && most <= WIDEST;
        Reduce { width: fits.then_some(least as usize), needs_directive: in_browser }
    }

    pub fn has_subgroups(self) -> bool {
        self.width.is_some()
    }

    /// Returns the WGSL directives that a kernel with reductions needs.
    pub fn directives(self) -> &'static str {
        if self.width.is_some() && self.needs_directive { "enable subgroups;" } else { "" }
    }

    /// Returns the parameters of `main` that [`Reduce::place`] needs.
    pub fn builtins(self) -> &'static str {
        match self.width {
            None => "@builtin(local_invocation_index) index: u32",
            Some(_) => {
                "@builtin(local_invocation_index) index: u32,
        @builtin(subgroup_invocation_id) in_subgroup: u32, @builtin(subgroup_size) subgroup_len: u32"
            }
        }
    }

    /// Returns the first lines of `main`, which define `local` as the place of this thread.
    pub fn place(self) -> &'static str {
        match self.width {
            None => "    let local = index;\n",
            Some(_) => {
                "    if (index == 0u) { atomicStore(&places_taken, 0u); }
    workgroupBarrier();
    var places_begin = 0u;
    if (in_subgroup == 0u) { places_begin = atomicAdd(&places_taken, subgroup_len); }
    let local = subgroupBroadcastFirst(places_begin) + in_subgroup;
"
            }
        }
    }

    /// Returns the text of a WGSL function `fn NAME(x: f32, local: u32) -> f32` for each pair (NAME, operation). The operation is `+` or
    /// the name of a WGSL function. The function reduces over the threads in `lanes` adjacent places; `local` is the place of the calling
    /// thread. All threads of the workgroup must call the function.
    pub fn across(self, lanes: usize, names: &[(&str, &str)]) -> String {
        let mut text = self.declared();
        text += "var<workgroup> reduce_lanes: array<f32, 256>;\n";
        for (name, op) in names {
            let _ = writeln!(text, "fn {name}(x: f32, local: u32) -> f32 {{");
            match self.width {
                None => text += &tree(lanes, op),
                Some(width) if lanes <= width => {
                    text += "    var y = x;\n";
                    text += &exchanges(lanes, op);
                    text += "    return y;\n";
                }
                Some(width) => {
                    let upper = upper_levels(width, lanes, op, "reduce_lanes", "first");
                    let _ = write!(
                        text,
                        "    reduce_lanes[local] = x;
    workgroupBarrier();
    let first = local - local % {lanes}u + local % {width}u;
    var y = {upper};
    workgroupBarrier();
{}    return y;
",
                        exchanges(width, op)
                    );
                }
            }
            text += "}\n";
        }
        text
    }

    /// Returns the text of `fn reduce_segments(local: u32)`, for workgroups of `threads` threads. The function reads the workgroup's array
    /// `sums`, which has `count` segments of `len` numbers. It writes the sum of each segment to the segment's first number. The workgroup
    /// may write `sums` directly before the call.
    pub fn segments(self, count: usize, len: usize, threads: usize) -> String {
        let mut text = self.declared();
        text += "fn reduce_segments(local: u32) {\n    workgroupBarrier();\n";
        match self.width {
            Some(width) if len > width => {
                let blocks = threads / width;
                let upper = upper_levels(width, len, "+", "sums", "first");
                let _ = write!(
                    text,
                    "    for (var pass_index = 0u; pass_index < {passes}u; pass_index++) {{
        let segment = pass_index * {blocks}u + local / {width}u;
        let first = segment * {len}u + local % {width}u;
        var y = 0.0;
        if (segment < {count}u) {{ y = {upper}; }}
{exchanges}        if (segment < {count}u && local % {width}u == 0u) {{ sums[first] = y; }}
    }}
    workgroupBarrier();
",
                    passes = count.div_ceil(blocks),
                    exchanges = exchanges(width, "+"),
                );
            }
            Some(_) => {
                let all = count * len;
                let _ = write!(
                    text,
                    "    for (var pass_index = 0u; pass_index < {passes}u; pass_index++) {{
        let at = pass_index * {threads}u + local;
        var y = 0.0;
        if (at < {all}u) {{ y = sums[at]; }}
{exchanges}        if (at < {all}u && at % {len}u == 0u) {{ sums[at] = y; }}
    }}
    workgroupBarrier();
",
                    passes = all.div_ceil(threads),
                    exchanges = exchanges(len, "+"),
                );
            }
            None => {
                let _ = write!(
                    text,
                    "    for (var half = {half}u; half > 0u; half >>= 1u) {{
        for (var i = local; i < {all}u; i += {threads}u) {{
            if (i % {len}u < half) {{ sums[i] += sums[i + half]; }}
        }}
        workgroupBarrier();
    }}
",
                    half = len / 2,
                    all = count * len,
                );
            }
        }
        text + "}\n"
    }

    fn declared(self) -> String {
        match self.width {
            None => String::new(),
            Some(_) => "var<workgroup> places_taken: atomic<u32>;\n".into(),
        }
    }
}

fn joined(op: &str, a: &str, b: &str) -> String {
    if op == "+" { format!("({a} + {b})") } else { format!("{op}({a}, {b})") }
}

/// Returns the WGSL text that computes the whole tree in workgroup memory.
fn tree(lanes: usize, op: &str) -> String {
    format!(
        "    reduce_lanes[local] = x;
    workgroupBarrier();
    for (var half = {}u; half > 0u; half >>= 1u) {{
        if (local % {lanes}u < half) {{ reduce_lanes[local] = {}; }}
        workgroupBarrier();
    }}
    let y = reduce_lanes[local - local % {lanes}u];
    workgroupBarrier();
    return y;
",
        lanes / 2,
        joined(op, "reduce_lanes[local]", "reduce_lanes[local + half]")
    )
}

/// Returns a WGSL expression that computes the upper levels of the tree. The expression reduces `lanes / width` numbers of `array`, at the
/// indices `first`, `first + width`, and so on.
fn upper_levels(width: usize, lanes: usize, op: &str, array: &str, first: &str) -> String {
    /// Returns the expression of the number with index `at` among the `count` numbers that remain at this level.
    fn left(at: usize, count: usize, all: usize, op: &str, one: &dyn Fn(usize) -> String) -> String {
        if count == all {
            return one(at);
        }
        let (a, b) = (left(at, 2 * count, all, op, one), left(at + count, 2 * count, all, op, one));
        joined(op, &a, &b)
    }
    let all = lanes / width;
    left(0, 1, all, op, &|i| format!("{array}[{first} + {}u]", i * width))
}

/// Returns the WGSL text of the lower levels of the tree, in which the threads of a subgroup exchange numbers.
fn exchanges(lanes: usize, op: &str) -> String {
    let mut text = String::new();
    let mut half = lanes / 2;
    while half > 0 {
        let _ = writeln!(text, "    y = {};", joined(op, "y", &format!("subgroupShuffleXor(y, {half}u)")));
        half /= 2;
    }
    text
}
