//! Sine, cosine and reduction to ±π of f32 angles, for environments. The absolute error of sine and cosine is at most 2e-7 for angles of up
//! to a few dozen turns. These functions cost half as much as `math::poly::sin_cos`. Networks and samplers need a small relative error and
//! use `math::poly` instead.

use math::Simd;
use std::f64::consts::TAU;

/// 2π as a sum of two parts. The first part has few bits, so its product with a small integer is exact.
const TURN: [f64; 2] = [6.28125, TAU - 6.28125];

/// Adds whole turns to an angle, so that the result is within ±π.
#[inline(always)]
pub(crate) fn within_a_turn<S: Simd>(s: S, angle: S::F) -> S::F {
    let turns = s.round(s.mul(angle, s.splat((1.0 / TAU) as f32)));
    let angle = s.neg_mul_add(turns, s.splat(TURN[0] as f32), angle);
    s.neg_mul_add(turns, s.splat(TURN[1] as f32), angle)
}

#[inline(always)]
pub(crate) fn cos<S: Simd>(s: S, angle: S::F) -> S::F {
    let (r, sign) = half_turns_off(s, angle);
    flip(s, small_cos(s, s.mul(r, r)), sign)
}

#[inline(always)]
pub(crate) fn sin_cos<S: Simd>(s: S, angle: S::F) -> (S::F, S::F) {
    let (r, sign) = half_turns_off(s, angle);
    let square = s.mul(r, r);
    (flip(s, small_sin(s, r, square), sign), flip(s, small_cos(s, square), sign))
}

/// Computes (sin, cos) of one angle, for scalar code. No multiply-add is fused, so the bits are the same on every platform.
#[inline]
pub(crate) fn sin_cos_1(angle: f32) -> (f32, f32) {
    const MAGIC: f32 = 12_582_912.0;
    let shifted = angle * (2.0 / TAU) as f32 + MAGIC;
    let halves = shifted - MAGIC;
    let r = angle - halves * (0.5 * TURN[0]) as f32 - halves * (0.5 * TURN[1]) as f32;
    let square = r * r;
    let sin = (((SIN[0] * square + SIN[1]) * square + SIN[2]) * square + SIN[3]) * square * r + r;
    let cos = (((COS[0] * square + COS[1]) * square + COS[2]) * square + COS[3]) * square + COS[4];
    let sign = shifted.to_bits() << 31;
    (f32::from_bits(sin.to_bits() ^ sign), f32::from_bits(cos.to_bits() ^ sign))
}

#[inline(always)]
fn flip<S: Simd>(s: S, x: S::F, sign: S::U) -> S::F {
    s.f32_from_bits(s.xor_u(s.to_bits(x), sign))
}

/// Reduces an angle to ±π/2 by half turns. Returns the reduced angle, and the sign bit that must be applied to its sine and cosine.
#[inline(always)]
fn half_turns_off<S: Simd>(s: S, angle: S::F) -> (S::F, S::U) {
    // Adding 1.5·2²³ rounds the number of half turns to an integer. The lowest bit of the mantissa is then the lowest bit of this integer.
    let magic = s.splat(12_582_912.0);
    let shifted = s.mul_add(angle, s.splat((2.0 / TAU) as f32), magic);
    let halves = s.sub(shifted, magic);
    let r = s.neg_mul_add(halves, s.splat((0.5 * TURN[0]) as f32), angle);
    let r = s.neg_mul_add(halves, s.splat((0.5 * TURN[1]) as f32), r);
    (r, s.shl_u(s.to_bits(shifted), 31))
}

#[inline(always)]
fn small_sin<S: Simd>(s: S, r: S::F, square: S::F) -> S::F {
    let mut p = s.splat(SIN[0]);
    for &c in &SIN[1..] {
        p = s.mul_add(p, square, s.splat(c));
    }
    s.mul_add(s.mul(p, square), r, r)
}

#[inline(always)]
fn small_cos<S: Simd>(s: S, square: S::F) -> S::F {
    let mut p = s.splat(COS[0]);
    for &c in &COS[1..] {
        p = s.mul_add(p, square, s.splat(c));
    }
    p
}

/// Coefficients of a polynomial in r², highest power first: the minimax approximation of (sin r - r)/r³ for |r| <= π/2. Its error is 5e-9.
const SIN: [f32; 4] = [2.600_054_3e-6, -1.980_661_5e-4, 8.333_017e-3, -0.166_666_57];
/// Coefficients of a polynomial in r², highest power first: the minimax approximation of cos r for |r| <= π/2. Its error is 5e-8.
const COS: [f32; 5] = [2.319_438_2e-5, -1.385_592_7e-3, 4.166_399e-2, -0.499_999_3, 1.0];
