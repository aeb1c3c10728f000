//! Vectors of four numbers in plain Rust, for machines without a supported instruction set, for single values, and for tests of the unfused
//! class on native machines.

use super::simd::Simd;

#[derive(Clone, Copy)]
pub struct Portable;

type V = [f32; 4];
type W = [u32; 4];
type B = [bool; 4];

#[inline(always)]
fn map<A: Copy, R>(a: [A; 4], f: impl Fn(A) -> R) -> [R; 4] {
    [f(a[0]), f(a[1]), f(a[2]), f(a[3])]
}
#[inline(always)]
fn zip<A: Copy, C: Copy, R>(a: [A; 4], b: [C; 4], f: impl Fn(A, C) -> R) -> [R; 4] {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}
#[inline(always)]
fn pick<A: Copy>(m: B, a: [A; 4], b: [A; 4]) -> [A; 4] {
    std::array::from_fn(|i| if m[i] { a[i] } else { b[i] })
}

impl Simd for Portable {
    type F = V;
    type U = W;
    type M = B;
    const LANES: usize = 4;
    const TILE_ROWS: usize = 4;
    const TILE_VECTORS: usize = 2;

    values! {
        fn splat(x: f32) -> V { [x; 4] }
        fn add(a: V, b: V) -> V { zip(a, b, |a, b| a + b) }
        fn sub(a: V, b: V) -> V { zip(a, b, |a, b| a - b) }
        fn mul(a: V, b: V) -> V { zip(a, b, |a, b| a * b) }
        fn div(a: V, b: V) -> V { zip(a, b, |a, b| a / b) }
        fn sqrt(a: V) -> V { map(a, f32::sqrt) }
        fn mul_add(a: V, b: V, c: V) -> V { zip(zip(a, b, |a, b| a * b), c, |ab, c| ab + c) }
        fn neg_mul_add(a: V, b: V, c: V) -> V { zip(c, zip(a, b, |a, b| a * b), |c, ab| c - ab) }
        fn neg(a: V) -> V { map(a, |a| -a) }
        fn abs(a: V) -> V { map(a, f32::abs) }
        fn min(a: V, b: V) -> V { zip(a, b, |a, b| if a < b { a } else { b }) }
        fn max(a: V, b: V) -> V { zip(a, b, |a, b| if a > b { a } else { b }) }
        fn round(a: V) -> V {
            // Adding 2²³ to the magnitude removes the fraction. The sign is restored at the end, so -0 stays -0.
            const BIG: f32 = 8_388_608.0;
            map(a, |a| {
                let magnitude = a.abs();
                let whole = if magnitude < BIG { (magnitude + BIG) - BIG } else { magnitude };
                whole.copysign(a)
            })
        }
        fn lt(a: V, b: V) -> B { zip(a, b, |a, b| a < b) }
        fn le(a: V, b: V) -> B { zip(a, b, |a, b| a <= b) }
        fn eq(a: V, b: V) -> B { zip(a, b, |a, b| a == b) }
        fn select(mask: B, yes: V, no: V) -> V { pick(mask, yes, no) }
        fn and_mask(a: B, b: B) -> B { zip(a, b, |a, b| a & b) }
        fn or_mask(a: B, b: B) -> B { zip(a, b, |a, b| a | b) }
        fn not_mask(a: B) -> B { map(a, |a| !a) }
        fn mask_bits(a: B) -> u32 { (0..4).fold(0, |bits, i| bits | u32::from(a[i]) << i) }
        fn splat_u(x: u32) -> W { [x; 4] }
        fn add_u(a: W, b: W) -> W { zip(a, b, u32::wrapping_add) }
        fn sub_u(a: W, b: W) -> W { zip(a, b, u32::wrapping_sub) }
        fn mul_u(a: W, b: W) -> W { zip(a, b, u32::wrapping_mul) }
        fn xor_u(a: W, b: W) -> W { zip(a, b, |a, b| a ^ b) }
        fn and_u(a: W, b: W) -> W { zip(a, b, |a, b| a & b) }
        fn or_u(a: W, b: W) -> W { zip(a, b, |a, b| a | b) }
        fn shl_u(a: W, n: u32) -> W { map(a, |a| a << n) }
        fn shr_u(a: W, n: u32) -> W { map(a, |a| a >> n) }
        fn eq_u(a: W, b: W) -> B { zip(a, b, |a, b| a == b) }
        fn lt_i(a: W, b: W) -> B { zip(a, b, |a, b| (a as i32) < b as i32) }
        fn select_u(mask: B, yes: W, no: W) -> W { pick(mask, yes, no) }
        fn to_bits(a: V) -> W { map(a, f32::to_bits) }
        fn f32_from_bits(a: W) -> V { map(a, f32::from_bits) }
        fn f32_from_i32(a: W) -> V { map(a, |a| a as i32 as f32) }
        fn i32_from_f32(a: V) -> W { map(a, |a| a as i32 as u32) }
        fn sum_lanes(parts: [V; 4]) -> f32 {
            let [a, b, c, d] = parts;
            let s = zip(zip(a, c, |a, c| a + c), zip(b, d, |b, d| b + d), |ac, bd| ac + bd);
            (s[0] + s[2]) + (s[1] + s[3])
        }
        fn first(a: V) -> f32 { a[0] }
    }

    pointers! {
        fn load_ptr(p: *const f32) -> V { p.cast::<V>().read_unaligned() }
        fn store_ptr(x: V, p: *mut f32) { p.cast::<V>().write_unaligned(x) }
        fn load_u_ptr(p: *const u32) -> W { p.cast::<W>().read_unaligned() }
        fn store_u_ptr(x: W, p: *mut u32) { p.cast::<W>().write_unaligned(x) }
    }
    #[inline(always)]
    unsafe fn transpose4(self, p: *const f32, stride: usize, q: *mut f32, q_stride: usize) {
        for r in 0..4 {
            for c in 0..4 {
                // SAFETY: guaranteed by the caller.
                unsafe { *q.add(c * q_stride + r) = *p.add(r * stride + c) }
            }
        }
    }
}
