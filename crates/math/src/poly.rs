//! exp, ln, tanh, sigmoid, sin, cos, tan and atan2 written in [`Simd`] operations. A function gives the same bits in every lane, on every
//! instruction set of a class (see [`crate::isa`]), and for single values ([`exp_1`] and so on). No libm guarantees equal bits in these
//! cases.

use crate::isa::{Isa, Simd, kernel};

/// Returns eˣ; 0 for x below -87.34, infinity for x above 88.72.
#[inline(always)]
pub fn exp<S: Simd>(s: S, x: S::F) -> S::F {
    let (p, n) = exp_parts(s, x);
    // 2ⁿ is split into two factors, because n can exceed the range of an exponent.
    let half = s.sub_u(s.shr_u(s.add_u(n, s.splat_u(512)), 1), s.splat_u(256));
    let rest = s.sub_u(n, half);
    let power = |n| s.f32_from_bits(s.shl_u(s.add_u(n, s.splat_u(127)), 23));
    let y = s.mul(s.mul(p, power(half)), power(rest));
    let y = s.select(s.lt(x, s.splat(-87.336_54)), s.splat(0.0), y);
    let y = s.select(s.gt(x, s.splat(88.722_84)), s.splat(f32::INFINITY), y);
    s.select(s.eq(x, x), y, x)
}

/// Returns eˣ for x from -87 to 88. A smaller or larger x is clamped to this range. The function takes two thirds of the work of [`exp`].
#[inline(always)]
pub fn exp_within<S: Simd>(s: S, x: S::F) -> S::F {
    // This order of min and max keeps NaN.
    let x = s.min(s.splat(88.0), s.max(s.splat(-87.0), x));
    let (p, n) = exp_parts(s, x);
    s.mul(p, s.f32_from_bits(s.shl_u(s.add_u(n, s.splat_u(127)), 23)))
}

/// Returns (eʳ, n), where x = n·ln 2 + r and |r| <= ln 2 / 2.
#[inline(always)]
fn exp_parts<S: Simd>(s: S, x: S::F) -> (S::F, S::U) {
    // Adding 1.5·2²³ rounds to n; the low bits of the sum then hold n.
    const MAGIC: f32 = 12_582_912.0;
    let shifted = s.add(s.mul(x, s.splat(std::f32::consts::LOG2_E)), s.splat(MAGIC));
    let n = s.sub(shifted, s.splat(MAGIC));
    let r = s.neg_mul_add(n, s.splat(LN2_HIGH), x);
    let r = s.neg_mul_add(n, s.splat(LN2_LOW), r);
    let mut p = s.splat(EXP[0]);
    for &c in &EXP[1..] {
        p = s.mul_add(p, r, s.splat(c));
    }
    // 1 + r + r²·p, the small terms first.
    let p = s.add(s.mul_add(s.mul(r, r), p, r), s.splat(1.0));
    (p, s.sub_u(s.to_bits(shifted), s.splat_u(MAGIC.to_bits())))
}

/// Returns 2ˣ for x below 1, with a shorter dependency chain than [`exp`]; 0 for x below -125.
#[inline(always)]
pub fn exp2_below<S: Simd>(s: S, x: S::F) -> S::F {
    // x = n + r with |r| <= 1/2; n is rounded as in [`exp_parts`].
    const MAGIC: f32 = 12_582_912.0;
    let shifted = s.add(x, s.splat(MAGIC));
    let r = s.sub(x, s.sub(shifted, s.splat(MAGIC)));
    let r2 = s.mul(r, r);
    let pair = |i: usize| s.mul_add(s.splat(EXP2[i + 1]), r, s.splat(EXP2[i]));
    let p = s.mul_add(s.splat(EXP2[6]), r2, pair(4));
    let p = s.mul_add(s.mul_add(p, r2, pair(2)), r2, pair(0));
    let power = s.add_u(s.to_bits(shifted), s.splat_u(127u32.wrapping_sub(MAGIC.to_bits())));
    let y = s.mul(p, s.f32_from_bits(s.shl_u(power, 23)));
    s.select(s.lt(x, s.splat(-125.0)), s.splat(0.0), y)
}

/// Coefficients of 2ʳ for |r| <= 1/2, lowest power first.
const EXP2: [f32; 7] = [1.0, std::f32::consts::LN_2, 0.240_226_5, 5.550_357e-2, 9.618_083e-3, 1.339_086_3e-3, 1.545_316_3e-4];

const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Coefficients of (eʳ - 1 - r)/r² for |r| <= ln 2 / 2, highest power first.
const EXP: [f32; 6] = [1.987_569_2e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5];

/// Returns the natural logarithm; -infinity at 0, NaN below 0.
#[inline(always)]
pub fn ln<S: Simd>(s: S, x: S::F) -> S::F {
    // Scales subnormals to normal numbers first.
    let tiny = s.lt(x, s.splat(f32::MIN_POSITIVE));
    let scaled = s.select(tiny, s.mul(x, s.splat(8_388_608.0)), x);
    // x = 2ᵉ·m with m in [√½, √2).
    let bits = s.to_bits(scaled);
    let offset = s.sub_u(bits, s.splat_u(ROOT_HALF_BITS));
    let exponent_bits = s.and_u(offset, s.splat_u(0xFF80_0000));
    let m = s.f32_from_bits(s.sub_u(bits, exponent_bits));
    // Divides by 2²³ instead of shifting right by 23 bits. The low 23 bits are zero, so the conversion to f32 is exact.
    let e = s.mul(s.f32_from_i32(exponent_bits), s.splat(1.0 / 8_388_608.0));
    let e = s.sub(e, s.select(tiny, s.splat(23.0), s.splat(0.0)));
    let r = s.sub(m, s.splat(1.0));
    let r2 = s.mul(r, r);
    let mut p = s.splat(LN[0]);
    for &c in &LN[1..] {
        p = s.mul_add(p, r, s.splat(c));
    }
    // e·ln 2 + r - r²/2 + r³·p, where e·ln 2 is added in two parts.
    let y = s.mul(s.mul(r2, r), p);
    let y = s.mul_add(e, s.splat(LN2_LOW), y);
    let y = s.neg_mul_add(r2, s.splat(0.5), y);
    let y = s.mul_add(e, s.splat(LN2_HIGH), s.add(r, y));
    let y = s.select(s.eq(x, s.splat(f32::INFINITY)), x, y);
    let y = s.select(s.eq(x, s.splat(0.0)), s.splat(f32::NEG_INFINITY), y);
    s.select(s.ge(x, s.splat(0.0)), y, s.splat(f32::NAN))
}

const ROOT_HALF_BITS: u32 = 0x3F35_04F3;
/// Coefficients of (ln(1+r) - r + r²/2)/r³ for r in [√½-1, √2-1], highest power first.
const LN: [f32; 9] = [
    7.037_683_6e-2,
    -1.151_461e-1,
    1.167_699_9e-1,
    -1.242_014_1e-1,
    1.424_932_3e-1,
    -1.666_805_8e-1,
    2.000_071_5e-1,
    -2.499_999_4e-1,
    0.333_333_3,
];

/// Returns the hyperbolic tangent. It has the sign of x, also for zeros.
#[inline(always)]
pub fn tanh<S: Simd>(s: S, x: S::F) -> S::F {
    let magnitude = s.abs(x);
    // For small |x|: |x| + |x|³·p(x²). For large |x|: 1 - 2/(e²ˣ + 1).
    let x2 = s.mul(x, x);
    let mut p = s.splat(TANH[0]);
    for &c in &TANH[1..] {
        p = s.mul_add(p, x2, s.splat(c));
    }
    let small = s.mul_add(s.mul(p, x2), magnitude, magnitude);
    let e = exp(s, s.add(magnitude, magnitude));
    let large = s.sub(s.splat(1.0), s.div(s.splat(2.0), s.add(e, s.splat(1.0))));
    with_sign_of(s, s.select(s.lt(magnitude, s.splat(0.625)), small, s.select(s.eq(x, x), large, x)), x)
}

/// Returns y with its sign bit set if the sign bit of x is set.
#[inline(always)]
fn with_sign_of<S: Simd>(s: S, y: S::F, x: S::F) -> S::F {
    s.f32_from_bits(s.or_u(s.to_bits(y), s.and_u(s.to_bits(x), s.splat_u(1 << 31))))
}

const TANH: [f32; 5] = [-5.704_988_7e-3, 2.063_909e-2, -5.373_972e-2, 1.333_144_2e-1, -3.333_328e-1];

/// Returns 1/(1 + e⁻ˣ).
#[inline(always)]
pub fn sigmoid<S: Simd>(s: S, x: S::F) -> S::F {
    let e = exp(s, s.neg(x));
    s.div(s.splat(1.0), s.add(s.splat(1.0), e))
}

/// Returns (sin x, cos x) for x in rad and |x| up to a few thousand. For larger |x|, the reduction by π/2 loses digits. The sine of a zero
/// has the sign of the zero.
#[inline(always)]
pub fn sin_cos<S: Simd>(s: S, x: S::F) -> (S::F, S::F) {
    const MAGIC: f32 = 12_582_912.0;
    let shifted = s.add(s.mul(x, s.splat(std::f32::consts::FRAC_2_PI)), s.splat(MAGIC));
    let n = s.sub(shifted, s.splat(MAGIC));
    let quadrant = s.to_bits(shifted);
    let r = s.neg_mul_add(n, s.splat(HALF_PI[0]), x);
    let r = s.neg_mul_add(n, s.splat(HALF_PI[1]), r);
    let r = s.neg_mul_add(n, s.splat(HALF_PI[2]), r);
    let r2 = s.mul(r, r);
    let p = s.mul_add(s.splat(-1.951_529_6e-4), r2, s.splat(8.332_161e-3));
    let p = s.mul_add(p, r2, s.splat(-1.666_665_5e-1));
    // The sum of r and the product loses the sign of a zero.
    let sin = with_sign_of(s, s.mul_add(s.mul(p, r2), r, r), r);
    let q = s.mul_add(s.splat(2.443_315_7e-5), r2, s.splat(-1.388_731_6e-3));
    let q = s.mul_add(q, r2, s.splat(4.166_664_6e-2));
    let cos = s.mul_add(s.mul(q, r2), r2, s.neg_mul_add(s.splat(0.5), r2, s.splat(1.0)));
    // Odd quadrants swap sine and cosine. The sign of the sine is the second bit of the quadrant's number; the sign of the cosine is the
    // second bit of the next number.
    let odd = s.eq_u(s.and_u(quadrant, s.splat_u(1)), s.splat_u(1));
    let (sin, cos) = (s.select(odd, cos, sin), s.select(odd, sin, cos));
    let sign = |bits| s.shl_u(s.and_u(bits, s.splat_u(2)), 30);
    let flip = |x, bits| s.f32_from_bits(s.xor_u(s.to_bits(x), sign(bits)));
    (flip(sin, quadrant), flip(cos, s.add_u(quadrant, s.splat_u(1))))
}

/// π/2 in three parts of few bits, so that products with small whole numbers are exact.
const HALF_PI: [f32; 3] = [1.570_312_5, 4.837_513e-4, 7.549_79e-8];

/// Returns the tangent of x in rad: the quotient of the results of [`sin_cos`].
#[inline(always)]
pub fn tan<S: Simd>(s: S, x: S::F) -> S::F {
    let (sin, cos) = sin_cos(s, x);
    s.div(sin, cos)
}

/// Returns the angle of the point (x, y) in rad, from -π to π. The sign of a zero counts, as in IEEE 754.
#[inline(always)]
pub fn atan2<S: Simd>(s: S, y: S::F, x: S::F) -> S::F {
    let (ax, ay) = (s.abs(x), s.abs(y));
    let steep = s.gt(ay, ax);
    let (small, large) = (s.select(steep, ax, ay), s.select(steep, ay, ax));
    let ratio = s.div(small, large);
    // The ratio of two equal numbers is 1, even if both are infinite. The ratio of two zeros is 0.
    let ratio = s.select(s.eq(small, large), s.splat(1.0), ratio);
    let ratio = s.select(s.eq(large, s.splat(0.0)), s.splat(0.0), ratio);
    // Above tan(π/8): atan t = π/4 + atan((t - 1)/(t + 1)).
    let upper = s.gt(ratio, s.splat(0.414_213_57));
    let one = s.splat(1.0);
    let t = s.select(upper, s.div(s.sub(ratio, one), s.add(ratio, one)), ratio);
    let t2 = s.mul(t, t);
    let mut p = s.splat(ATAN[0]);
    for &c in &ATAN[1..] {
        p = s.mul_add(p, t2, s.splat(c));
    }
    let angle = s.mul_add(s.mul(p, t2), t, t);
    let angle = s.add(angle, s.select(upper, s.splat(std::f32::consts::FRAC_PI_4), s.splat(0.0)));
    let angle = s.select(steep, s.sub(s.splat(std::f32::consts::FRAC_PI_2), angle), angle);
    let sign = s.splat_u(1 << 31);
    let left = s.eq_u(s.and_u(s.to_bits(x), sign), sign);
    let angle = s.select(left, s.sub(s.splat(std::f32::consts::PI), angle), angle);
    let angle = with_sign_of(s, angle, y);
    s.select(s.eq(x, x), s.select(s.eq(y, y), angle, y), x)
}

/// Coefficients of (atan t - t)/t³ in t² for |t| <= tan(π/8), highest power first.
const ATAN: [f32; 5] = [-6.083_445_6e-2, 0.105_959_98, -0.142_438_49, 0.199_984_9, -0.333_333_16];

macro_rules! single {
    ($($(#[$doc:meta])* $name:ident = $vector:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(isa: Isa, x: f32) -> f32 {
            kernel!(isa, |s: S, x: f32| -> f32 { s.first($vector(s, s.splat(x))) })
        }
    )*};
}
single! {
    /// Computes [`exp`] of one value.
    exp_1 = exp;
    /// Computes [`exp2_below`] of one value.
    exp2_below_1 = exp2_below;
    /// Computes [`exp_within`] of one value.
    exp_within_1 = exp_within;
    /// Computes [`ln`] of one value.
    ln_1 = ln;
    /// Computes [`tanh`] of one value.
    tanh_1 = tanh;
    /// Computes [`sigmoid`] of one value.
    sigmoid_1 = sigmoid;
    /// Computes [`tan`] of one value.
    tan_1 = tan;
}

/// Computes [`sin_cos`] of one value.
pub fn sin_cos_1(isa: Isa, x: f32) -> (f32, f32) {
    kernel!(isa, |s: S, x: f32| -> (f32, f32) {
        let (sin, cos) = sin_cos(s, s.splat(x));
        (s.first(sin), s.first(cos))
    })
}

/// Computes [`atan2`] of two single values.
pub fn atan2_1(isa: Isa, y: f32, x: f32) -> f32 {
    kernel!(isa, |s: S, y: f32, x: f32| -> f32 { s.first(atan2(s, s.splat(y), s.splat(x))) })
}
