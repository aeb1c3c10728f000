// Functions of angles as in `worlds::angle`. The errors of sin and cos are at most 2e-7 over a few dozen turns.

// Returns the equivalent angle that is at most half a turn from zero.
fn angle_within_a_turn(angle: f32) -> f32 {
    let turns = round(angle * 0.15915494309189535);
    return fma(turns, -0.0019353071795864769, fma(turns, -6.28125, angle));
}

// Returns an angle minus a number of half turns, as an angle of at most a quarter turn. The number of half turns determines the sign of sin
// and cos.
fn angle_rest(angle: f32, halves: f32) -> f32 {
    return fma(halves, -9.6765358979323846e-4, fma(halves, -3.140625, angle));
}

fn angle_flipped(x: f32, halves: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ (bitcast<u32>(i32(halves)) << 31u));
}

fn angle_small_cos(square: f32) -> f32 {
    let p = fma(fma(2.3194382e-5, square, -1.3855927e-3), square, 4.166399e-2);
    return fma(fma(p, square, -0.4999993), square, 1.0);
}

fn angle_cos(angle: f32) -> f32 {
    let halves = round(angle * 0.31830988618379069);
    let r = angle_rest(angle, halves);
    return angle_flipped(angle_small_cos(r * r), halves);
}

// Returns (sin, cos).
fn angle_sin_cos(angle: f32) -> vec2<f32> {
    let halves = round(angle * 0.31830988618379069);
    let r = angle_rest(angle, halves);
    let square = r * r;
    let p = fma(fma(2.6000543e-6, square, -1.9806615e-4), square, 8.333017e-3);
    let small_sin = fma(fma(p, square, -0.16666657) * square, r, r);
    return vec2<f32>(angle_flipped(small_sin, halves), angle_flipped(angle_small_cos(square), halves));
}

// Maps a random word to a uniform number in `low..low + width`.
fn spread(word: u32, low: f32, width: f32) -> f32 { return uniform_of(word) * width + low; }
