// Functions for epilogues and plans, which are evaluated millions of times. The platform's exp takes one instruction, so these functions
// use it where it is exact enough. They use the formulas of the crate `math` where the platform's functions overflow or lose small numbers.
// Environments and random draws use poly.wgsl instead, because their numbers must match the CPU.

// A zero keeps its sign.
fn tanh_of(x: f32) -> f32 {
    let magnitude = abs(x);
    let x2 = x * x;
    var p = fma(-5.7049887e-3, x2, 2.063909e-2);
    p = fma(p, x2, -5.373972e-2);
    p = fma(p, x2, 1.3331442e-1);
    p = fma(p, x2, -3.333328e-1);
    let small = fma(p * x2, magnitude, magnitude);
    let large = 1.0 - 2.0 / (exp(min(2.0 * magnitude, 40.0)) + 1.0);
    let y = select(large, small, magnitude < 0.625);
    return bitcast<f32>(bitcast<u32>(y) | (bitcast<u32>(x) & 0x80000000u));
}

/// Computes the tanh approximation of GELU (Hendrycks and Gimpel 2016).
fn gelu_of(x: f32) -> f32 {
    let half = 0.5 * x;
    return fma(half, tanh_of(0.7978846 * fma(0.044715 * x * x, x, x)), half);
}

fn gelu_slope(x: f32) -> f32 {
    let t = tanh_of(0.7978846 * fma(0.044715 * x * x, x, x));
    let inner = 0.7978846 * fma(0.134145 * x, x, 1.0);
    return fma(0.5 * x * (1.0 - t * t), inner, 0.5 * (1.0 + t));
}

fn sigmoid_of(x: f32) -> f32 {
    return 1.0 / (1.0 + exp(min(-x, 88.0)));
}
