// Computes exp, ln, tanh, sigmoid, sin and cos with the formulas of `math::poly`. The platform's functions may have errors of 2^-11 and
// differ between adapters. Multiply-adds are explicit, so that a compiler cannot fuse further operations and two kernels agree bit for bit.
// Rounding uses `round`, because a compiler may remove the addition and subtraction of a large number.

// Returns 2^n for n in -126..=127.
fn poly_power(n: i32) -> f32 { return bitcast<f32>(u32(n + 127) << 23u); }

// Returns e^x. x is clamped to the range of `math::poly`, -87.33 to 88.72.
fn poly_exp(given: f32) -> f32 {
    let x = clamp(given, -87.33, 88.72);
    let n = round(x * 1.44269504);
    let r = fma(n, 2.1219444e-4, fma(n, -0.693359375, x));
    var p = fma(1.9875692e-4, r, 1.3981999e-3);
    p = fma(p, r, 8.333452e-3);
    p = fma(p, r, 4.1665796e-2);
    p = fma(p, r, 0.16666666);
    p = fma(p, r, 0.5);
    // 1 + r + r^2 p, with the small terms added first, times 2^n. The factor 2^n is split in two, because n reaches 128 and 2^128
    // overflows.
    let half = i32(n) / 2;
    return (fma(r * r, p, r) + 1.0) * poly_power(half) * poly_power(i32(n) - half);
}

// Returns ln x, for x that is normal and above 0.
fn poly_ln(x: f32) -> f32 {
    // x = 2^e m with m in [sqrt(1/2), sqrt 2).
    let bits = bitcast<u32>(x);
    let exponent = bitcast<i32>(bits - 0x3F3504F3u) >> 23u;
    let e = f32(exponent);
    let r = bitcast<f32>(bits - (bitcast<u32>(exponent) << 23u)) - 1.0;
    var p = fma(7.0376836e-2, r, -0.1151461);
    p = fma(p, r, 0.11676999);
    p = fma(p, r, -0.12420141);
    p = fma(p, r, 0.14249323);
    p = fma(p, r, -0.16668058);
    p = fma(p, r, 0.20000715);
    p = fma(p, r, -0.24999994);
    p = fma(p, r, 0.3333333);
    // r - r^2/2 + r^3 p + e ln 2, where ln 2 has two parts.
    let square = r * r;
    let small = fma(square, -0.5, fma(e, -2.1219444e-4, square * r * p));
    return fma(e, 0.693359375, r + small);
}

fn poly_tanh(x: f32) -> f32 {
    // `large` is 1 - 2/(e^2x + 1).
    let magnitude = min(abs(x), 16.0);
    let square = magnitude * magnitude;
    var p = fma(-5.7049887e-3, square, 2.063909e-2);
    p = fma(p, square, -5.373972e-2);
    p = fma(p, square, 0.13331442);
    p = fma(p, square, -0.3333328);
    let small = fma(p * square, magnitude, magnitude);
    let large = 1.0 - 2.0 / (poly_exp(magnitude + magnitude) + 1.0);
    return poly_with_sign(select(large, small, magnitude < 0.625), x);
}

// Returns y with its sign bit set if the sign bit of x is set. A zero keeps its sign.
fn poly_with_sign(y: f32, x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(y) | (bitcast<u32>(x) & 0x80000000u)); }

fn poly_sigmoid(x: f32) -> f32 { return 1.0 / (1.0 + poly_exp(-x)); }

// Returns (sin x, cos x) for |x| up to a few thousand.
fn poly_sin_cos(x: f32) -> vec2<f32> {
    let n = round(x * 0.636619772);
    let quadrant = bitcast<u32>(i32(n));
    var r = fma(n, -1.5703125, x);
    r = fma(n, -4.837513e-4, r);
    r = fma(n, -7.54979e-8, r);
    let square = r * r;
    let p = fma(fma(-1.9515296e-4, square, 8.332161e-3), square, -0.16666655);
    // The sum of r and the product loses the sign of a zero, and a compiler may lose the sign of r.
    let small_sin = select(fma(p * square, r, r), x, x == 0.0);
    let q = fma(fma(2.4433157e-5, square, -1.3887316e-3), square, 4.1666646e-2);
    let small_cos = fma(q * square, square, fma(-0.5, square, 1.0));
    // An odd quadrant swaps sin and cos. The second bit of `quadrant` is the sign of sin; the second bit of `quadrant` + 1 is the sign of
    // cos.
    let even = (quadrant & 1u) == 0u;
    let sin_bits = bitcast<u32>(select(small_cos, small_sin, even)) ^ ((quadrant & 2u) << 30u);
    let cos_bits = bitcast<u32>(select(small_sin, small_cos, even)) ^ (((quadrant + 1u) & 2u) << 30u);
    return vec2<f32>(bitcast<f32>(sin_bits), bitcast<f32>(cos_bits));
}
