//! The matrix product with what follows it, c = act(a·b + bias + residual), as one kernel.

use crate::program::{Program, Space, groups};
use math::Act;

/// Functions that the platform's own are too coarse for.
pub(crate) const FUNCTIONS: &str = include_str!("functions.wgsl");

/// Where a factor lies in `mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub at: u32,
    /// From one row of a, or one column of b, to the next.
    pub outer: u32,
    /// From one k to the next.
    pub inner: u32,
}

/// c `[m][n]` = act(Σ_k a[m][k]·b[k][n] + bias[n] + residual`[m][n]`), added to what is there where it `adds`.
#[derive(Clone, Debug)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Side,
    pub b: Side,
    /// Row-major. Neither factor may lie here; the residual may.
    pub c: u32,
    pub bias: Option<u32>,
    /// Row-major as c.
    pub residual: Option<u32>,
    pub act: Act,
    pub adds: bool,
}

/// Appends a product to a program.
pub fn product(program: &mut Program, _space: &mut Space, p: &Product) {
    let text = format!("{FUNCTIONS}{}{PLAIN}", epilogue(p));
    let kernel = program.kernel("product", &text);
    let args = [
        p.m as u32,
        p.n as u32,
        p.k as u32,
        p.a.at,
        p.a.outer,
        p.a.inner,
        p.b.at,
        p.b.outer,
        p.b.inner,
        p.c,
        p.bias.unwrap_or(0),
        p.residual.unwrap_or(0),
    ];
    program.dispatch(&kernel, &args, groups(p.m * p.n, 64));
}

/// `fn finish(sum: f32, row: u32, column: u32)`, which writes.
fn epilogue(p: &Product) -> String {
    let mut y = String::from("sum");
    if p.bias.is_some() {
        y += " + mem[args.bias + column]";
    }
    if p.residual.is_some() {
        y += " + mem[args.residual + at]";
    }
    y = match p.act {
        Act::None => y,
        Act::Relu => format!("max({y}, 0.0)"),
        Act::Tanh => format!("tanh_of({y})"),
        Act::Gelu => format!("gelu_of({y})"),
    };
    let old = if p.adds { "mem[args.c + at] + " } else { "" };
    format!(
        "fn finish(sum: f32, row: u32, column: u32) {{
    let at = row * args.n + column;
    mem[args.c + at] = {old}{y};
}}
"
    )
}

const PLAIN: &str = "\
struct Args {
    m: u32, n: u32, k: u32,
    a: u32, a_outer: u32, a_inner: u32,
    b: u32, b_outer: u32, b_inner: u32,
    c: u32, bias: u32, residual: u32,
}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let i = group_index(group, many) * 64u + local;
    if (i >= args.m * args.n) { return; }
    let row = i / args.n;
    let column = i % args.n;
    var sum = 0.0;
    for (var k = 0u; k < args.k; k++) {
        let a = mem[args.a + row * args.a_outer + k * args.a_inner];
        sum = fma(a, mem[args.b + column * args.b_outer + k * args.b_inner], sum);
    }
    finish(sum, row, column);
}
";
