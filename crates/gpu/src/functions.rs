//! WGSL text of functions of one number, applied to scalars or to vectors of four numbers.

use crate::shader::include_wgsl;
use math::{Act, Unary};

/// WGSL text of functions whose built-in version in WGSL does not exist or is not exact enough.
pub const FUNCTIONS: &str = include_wgsl!("functions.wgsl");

pub fn unary(op: Unary, x: &str) -> String {
    match op {
        Unary::Relu => format!("max({x}, 0.0)"),
        Unary::Tanh => format!("tanh_of({x})"),
        Unary::Gelu => format!("gelu_of({x})"),
        Unary::Exp => format!("exp({x})"),
        Unary::Ln => format!("log({x})"),
        Unary::Square => format!("{x} * {x}"),
        Unary::Sqrt => format!("sqrt({x})"),
        Unary::Sigmoid => format!("sigmoid_of({x})"),
        Unary::Silu => format!("{x} * sigmoid_of({x})"),
    }
}

/// Returns WGSL text of `dy` times the derivative of `op`. For gelu, ln, square and silu, `at` is the argument of `op`. For the other
/// functions, `at` is the result of `op`.
pub fn unary_grad(op: Unary, at: &str, dy: &str) -> String {
    match op {
        Unary::Relu => format!("select(0.0, {dy}, {at} > 0.0)"),
        Unary::Tanh => format!("{dy} * (1.0 - {at} * {at})"),
        Unary::Gelu => format!("{dy} * gelu_slope({at})"),
        Unary::Exp => format!("{dy} * {at}"),
        Unary::Ln => format!("{dy} / {at}"),
        Unary::Square => format!("{dy} * 2.0 * {at}"),
        Unary::Sqrt => format!("{dy} * 0.5 / {at}"),
        Unary::Sigmoid => format!("{dy} * {at} * (1.0 - {at})"),
        Unary::Silu => format!("{dy} * sigmoid_of({at}) * (1.0 + {at} * (1.0 - sigmoid_of({at})))"),
    }
}

/// Returns WGSL text of an activation function applied to `y`. If `wide` is true, `y` is a vector of four numbers, else one number.
pub fn activated(act: Act, y: &str, wide: bool) -> String {
    match act.unary() {
        None => format!("({y})"),
        Some(Unary::Relu) if wide => format!("max({y}, vec4<f32>())"),
        Some(op) if wide => of_four(&format!("({y})"), |part| unary(op, part)),
        Some(op) => unary(op, y),
    }
}

/// Does the same as [`unary_grad`]. If `wide` is true, `at` and `dy` are vectors of four numbers.
pub fn sloped(op: Unary, at: &str, dy: &str, wide: bool) -> String {
    match op {
        Unary::Relu if wide => format!("select(vec4<f32>(), {dy}, {at} > vec4<f32>())"),
        Unary::Gelu if wide => format!("{dy} * {}", of_four(at, |part| format!("gelu_slope({part})"))),
        op => unary_grad(op, at, dy),
    }
}

fn of_four(x: &str, f: impl Fn(&str) -> String) -> String {
    let parts = ["x", "y", "z", "w"].map(|part| f(&format!("{x}.{part}")));
    format!("vec4<f32>({})", parts.join(", "))
}
