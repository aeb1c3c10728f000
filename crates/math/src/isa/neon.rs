//! NEON, available on every 64-bit Arm processor.

use super::simd::{Kernel, Simd};
use std::arch::aarch64::*;

/// Runs a kernel. The caller must have detected NEON.
#[inline]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[target_feature(enable = "neon")]
    fn inner<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Neon(()))
    }
    // SAFETY: the only caller, `dispatch`, has checked for NEON.
    unsafe { inner(kernel) }
}

/// Token of NEON, created only in [`run`].
#[derive(Clone, Copy)]
pub struct Neon(());

type V = float32x4_t;
type W = uint32x4_t;

impl Simd for Neon {
    type F = V;
    type U = W;
    type M = W;
    const LANES: usize = 4;
    const TILE_ROWS: usize = 6;
    const TILE_VECTORS: usize = 4;

    values! {
        fn splat(x: f32) -> V { vdupq_n_f32(x) }
        fn add(a: V, b: V) -> V { vaddq_f32(a, b) }
        fn sub(a: V, b: V) -> V { vsubq_f32(a, b) }
        fn mul(a: V, b: V) -> V { vmulq_f32(a, b) }
        fn div(a: V, b: V) -> V { vdivq_f32(a, b) }
        fn sqrt(a: V) -> V { vsqrtq_f32(a) }
        fn mul_add(a: V, b: V, c: V) -> V { vfmaq_f32(c, a, b) }
        fn neg_mul_add(a: V, b: V, c: V) -> V { vfmsq_f32(c, a, b) }
        fn neg(a: V) -> V { vnegq_f32(a) }
        fn abs(a: V) -> V { vabsq_f32(a) }
        fn min(a: V, b: V) -> V { vbslq_f32(vcltq_f32(a, b), a, b) }
        fn max(a: V, b: V) -> V { vbslq_f32(vcgtq_f32(a, b), a, b) }
        fn round(a: V) -> V { vrndnq_f32(a) }
        fn lt(a: V, b: V) -> W { vcltq_f32(a, b) }
        fn le(a: V, b: V) -> W { vcleq_f32(a, b) }
        fn eq(a: V, b: V) -> W { vceqq_f32(a, b) }
        fn select(mask: W, yes: V, no: V) -> V { vbslq_f32(mask, yes, no) }
        fn and_mask(a: W, b: W) -> W { vandq_u32(a, b) }
        fn or_mask(a: W, b: W) -> W { vorrq_u32(a, b) }
        fn not_mask(a: W) -> W { vmvnq_u32(a) }
        fn mask_bits(a: W) -> u32 {
            let weights: [u32; 4] = [1, 2, 4, 8];
            vaddvq_u32(vandq_u32(a, vld1q_u32(weights.as_ptr())))
        }
        fn splat_u(x: u32) -> W { vdupq_n_u32(x) }
        fn add_u(a: W, b: W) -> W { vaddq_u32(a, b) }
        fn sub_u(a: W, b: W) -> W { vsubq_u32(a, b) }
        fn mul_u(a: W, b: W) -> W { vmulq_u32(a, b) }
        fn xor_u(a: W, b: W) -> W { veorq_u32(a, b) }
        fn and_u(a: W, b: W) -> W { vandq_u32(a, b) }
        fn or_u(a: W, b: W) -> W { vorrq_u32(a, b) }
        fn shl_u(a: W, n: u32) -> W { vshlq_u32(a, vdupq_n_s32(n as i32)) }
        fn shr_u(a: W, n: u32) -> W { vshlq_u32(a, vdupq_n_s32(-(n as i32))) }
        fn eq_u(a: W, b: W) -> W { vceqq_u32(a, b) }
        fn lt_i(a: W, b: W) -> W { vcltq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)) }
        fn select_u(mask: W, yes: W, no: W) -> W { vbslq_u32(mask, yes, no) }
        fn to_bits(a: V) -> W { vreinterpretq_u32_f32(a) }
        fn f32_from_bits(a: W) -> V { vreinterpretq_f32_u32(a) }
        fn f32_from_i32(a: W) -> V { vcvtq_f32_s32(vreinterpretq_s32_u32(a)) }
        fn i32_from_f32(a: V) -> W { vreinterpretq_u32_s32(vcvtq_s32_f32(a)) }
        fn sum_lanes(parts: [V; 4]) -> f32 {
            let x = vaddq_f32(vaddq_f32(parts[0], parts[2]), vaddq_f32(parts[1], parts[3]));
            let x = vadd_f32(vget_low_f32(x), vget_high_f32(x));
            vget_lane_f32::<0>(vpadd_f32(x, x))
        }
        fn first(a: V) -> f32 { vgetq_lane_f32::<0>(a) }
    }

    pointers! {
        fn load_ptr(p: *const f32) -> V { vld1q_f32(p) }
        fn store_ptr(x: V, p: *mut f32) { vst1q_f32(p, x) }
        fn load_u_ptr(p: *const u32) -> W { vld1q_u32(p) }
        fn store_u_ptr(x: W, p: *mut u32) { vst1q_u32(p, x) }
    }
    #[inline(always)]
    unsafe fn transpose4(self, p: *const f32, stride: usize, q: *mut f32, q_stride: usize) {
        // SAFETY: guaranteed by the caller and by the token.
        unsafe {
            let ab = vtrnq_f32(vld1q_f32(p), vld1q_f32(p.add(stride)));
            let cd = vtrnq_f32(vld1q_f32(p.add(2 * stride)), vld1q_f32(p.add(3 * stride)));
            let columns = [
                vcombine_f32(vget_low_f32(ab.0), vget_low_f32(cd.0)),
                vcombine_f32(vget_low_f32(ab.1), vget_low_f32(cd.1)),
                vcombine_f32(vget_high_f32(ab.0), vget_high_f32(cd.0)),
                vcombine_f32(vget_high_f32(ab.1), vget_high_f32(cd.1)),
            ];
            for (c, column) in columns.into_iter().enumerate() {
                vst1q_f32(q.add(c * q_stride), column);
            }
        }
    }
}
