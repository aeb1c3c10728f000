//! Vectors of four in plain Rust: what runs where no instruction set is known, and the unfused class natively.

use super::Simd;

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

    #[inline(always)]
    fn splat(self, x: f32) -> V {
        [x; 4]
    }
    #[inline(always)]
    unsafe fn load_ptr(self, p: *const f32) -> V {
        // SAFETY: the caller's.
        unsafe { p.cast::<V>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store_ptr(self, x: V, p: *mut f32) {
        // SAFETY: the caller's.
        unsafe { p.cast::<V>().write_unaligned(x) }
    }
    #[inline(always)]
    fn add(self, a: V, b: V) -> V {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: V, b: V) -> V {
        zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: V, b: V) -> V {
        zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: V, b: V) -> V {
        zip(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self, a: V) -> V {
        map(a, f32::sqrt)
    }
    #[inline(always)]
    fn mul_add(self, a: V, b: V, c: V) -> V {
        self.add(self.mul(a, b), c)
    }
    #[inline(always)]
    fn neg_mul_add(self, a: V, b: V, c: V) -> V {
        self.sub(c, self.mul(a, b))
    }
    #[inline(always)]
    fn neg(self, a: V) -> V {
        map(a, |a| -a)
    }
    #[inline(always)]
    fn abs(self, a: V) -> V {
        map(a, f32::abs)
    }
    #[inline(always)]
    fn min(self, a: V, b: V) -> V {
        zip(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, a: V, b: V) -> V {
        zip(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn round(self, a: V) -> V {
        // Adding 2²³ leaves no bits for a fraction; the sign is put back for -0.
        const BIG: f32 = 8_388_608.0;
        map(a, |a| {
            let magnitude = a.abs();
            let whole = if magnitude < BIG { (magnitude + BIG) - BIG } else { magnitude };
            whole.copysign(a)
        })
    }
    #[inline(always)]
    fn lt(self, a: V, b: V) -> B {
        zip(a, b, |a, b| a < b)
    }
    #[inline(always)]
    fn le(self, a: V, b: V) -> B {
        zip(a, b, |a, b| a <= b)
    }
    #[inline(always)]
    fn eq(self, a: V, b: V) -> B {
        zip(a, b, |a, b| a == b)
    }
    #[inline(always)]
    fn select(self, mask: B, yes: V, no: V) -> V {
        pick(mask, yes, no)
    }
    #[inline(always)]
    fn and_mask(self, a: B, b: B) -> B {
        zip(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn or_mask(self, a: B, b: B) -> B {
        zip(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn not_mask(self, a: B) -> B {
        map(a, |a| !a)
    }
    #[inline(always)]
    fn mask_bits(self, a: B) -> u32 {
        (0..4).fold(0, |bits, i| bits | u32::from(a[i]) << i)
    }
    #[inline(always)]
    fn splat_u(self, x: u32) -> W {
        [x; 4]
    }
    #[inline(always)]
    unsafe fn load_u_ptr(self, p: *const u32) -> W {
        // SAFETY: the caller's.
        unsafe { p.cast::<W>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store_u_ptr(self, x: W, p: *mut u32) {
        // SAFETY: the caller's.
        unsafe { p.cast::<W>().write_unaligned(x) }
    }
    #[inline(always)]
    fn add_u(self, a: W, b: W) -> W {
        zip(a, b, u32::wrapping_add)
    }
    #[inline(always)]
    fn sub_u(self, a: W, b: W) -> W {
        zip(a, b, u32::wrapping_sub)
    }
    #[inline(always)]
    fn mul_u(self, a: W, b: W) -> W {
        zip(a, b, u32::wrapping_mul)
    }
    #[inline(always)]
    fn xor_u(self, a: W, b: W) -> W {
        zip(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn and_u(self, a: W, b: W) -> W {
        zip(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn or_u(self, a: W, b: W) -> W {
        zip(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn shl_u(self, a: W, n: u32) -> W {
        map(a, |a| a << n)
    }
    #[inline(always)]
    fn shr_u(self, a: W, n: u32) -> W {
        map(a, |a| a >> n)
    }
    #[inline(always)]
    fn eq_u(self, a: W, b: W) -> B {
        zip(a, b, |a, b| a == b)
    }
    #[inline(always)]
    fn select_u(self, mask: B, yes: W, no: W) -> W {
        pick(mask, yes, no)
    }
    #[inline(always)]
    fn to_bits(self, a: V) -> W {
        map(a, f32::to_bits)
    }
    #[inline(always)]
    fn f32_from_bits(self, a: W) -> V {
        map(a, f32::from_bits)
    }
    #[inline(always)]
    fn f32_from_i32(self, a: W) -> V {
        map(a, |a| a as i32 as f32)
    }
    #[inline(always)]
    fn i32_from_f32(self, a: V) -> W {
        map(a, |a| a as i32 as u32)
    }
    #[inline(always)]
    fn sum_lanes(self, [a, b, c, d]: [V; 4]) -> f32 {
        let s = self.add(self.add(a, c), self.add(b, d));
        (s[0] + s[2]) + (s[1] + s[3])
    }
    #[inline(always)]
    unsafe fn transpose4(self, p: *const f32, stride: usize, q: *mut f32, q_stride: usize) {
        for r in 0..4 {
            for c in 0..4 {
                // SAFETY: the caller's.
                unsafe { *q.add(c * q_stride + r) = *p.add(r * stride + c) }
            }
        }
    }
}
