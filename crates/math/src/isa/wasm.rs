//! WebAssembly SIMD. To stay small, a WebAssembly module contains only one form of the multiply-add: the relaxed instruction, or a
//! multiplication and an addition. The page selects the module.

use super::simd::Simd;
use std::arch::wasm32::*;

/// Token of WebAssembly SIMD. No detection is needed, because the engine has validated the module.
#[derive(Clone, Copy)]
pub struct Wasm;

impl Simd for Wasm {
    type F = v128;
    type U = v128;
    type M = v128;
    const LANES: usize = 4;
    const TILE_ROWS: usize = if cfg!(target_feature = "relaxed-simd") { 6 } else { 5 };
    const TILE_VECTORS: usize = 2;

    values! {
        fn splat(x: f32) -> v128 { f32x4_splat(x) }
        fn add(a: v128, b: v128) -> v128 { f32x4_add(a, b) }
        fn sub(a: v128, b: v128) -> v128 { f32x4_sub(a, b) }
        fn mul(a: v128, b: v128) -> v128 { f32x4_mul(a, b) }
        fn div(a: v128, b: v128) -> v128 { f32x4_div(a, b) }
        fn sqrt(a: v128) -> v128 { f32x4_sqrt(a) }
        fn neg(a: v128) -> v128 { f32x4_neg(a) }
        fn abs(a: v128) -> v128 { f32x4_abs(a) }
        // pmin(b, a) is a < b ? a : b in one instruction. f32x4_min, which returns NaN if an operand is NaN, takes several.
        fn min(a: v128, b: v128) -> v128 { f32x4_pmin(b, a) }
        fn max(a: v128, b: v128) -> v128 { f32x4_pmax(b, a) }
        fn round(a: v128) -> v128 { f32x4_nearest(a) }
        fn lt(a: v128, b: v128) -> v128 { f32x4_lt(a, b) }
        fn le(a: v128, b: v128) -> v128 { f32x4_le(a, b) }
        fn eq(a: v128, b: v128) -> v128 { f32x4_eq(a, b) }
        fn select(mask: v128, yes: v128, no: v128) -> v128 { v128_bitselect(yes, no, mask) }
        fn and_mask(a: v128, b: v128) -> v128 { v128_and(a, b) }
        fn or_mask(a: v128, b: v128) -> v128 { v128_or(a, b) }
        fn not_mask(a: v128) -> v128 { v128_not(a) }
        fn mask_bits(a: v128) -> u32 { u32::from(u32x4_bitmask(a)) }
        fn splat_u(x: u32) -> v128 { u32x4_splat(x) }
        fn add_u(a: v128, b: v128) -> v128 { u32x4_add(a, b) }
        fn sub_u(a: v128, b: v128) -> v128 { u32x4_sub(a, b) }
        fn mul_u(a: v128, b: v128) -> v128 { u32x4_mul(a, b) }
        fn xor_u(a: v128, b: v128) -> v128 { v128_xor(a, b) }
        fn and_u(a: v128, b: v128) -> v128 { v128_and(a, b) }
        fn or_u(a: v128, b: v128) -> v128 { v128_or(a, b) }
        fn shl_u(a: v128, n: u32) -> v128 { u32x4_shl(a, n) }
        fn shr_u(a: v128, n: u32) -> v128 { u32x4_shr(a, n) }
        fn eq_u(a: v128, b: v128) -> v128 { u32x4_eq(a, b) }
        fn lt_i(a: v128, b: v128) -> v128 { i32x4_lt(a, b) }
        fn select_u(mask: v128, yes: v128, no: v128) -> v128 { v128_bitselect(yes, no, mask) }
        fn to_bits(a: v128) -> v128 { a }
        fn f32_from_bits(a: v128) -> v128 { a }
        fn f32_from_i32(a: v128) -> v128 { f32x4_convert_i32x4(a) }
        fn i32_from_f32(a: v128) -> v128 { i32x4_trunc_sat_f32x4(a) }
        fn sum_lanes(parts: [v128; 4]) -> f32 {
            let x = f32x4_add(f32x4_add(parts[0], parts[2]), f32x4_add(parts[1], parts[3]));
            let x = f32x4_add(x, i32x4_shuffle::<2, 3, 0, 1>(x, x));
            f32x4_extract_lane::<0>(x) + f32x4_extract_lane::<1>(x)
        }
        fn first(a: v128) -> f32 { f32x4_extract_lane::<0>(a) }
    }

    #[cfg(target_feature = "relaxed-simd")]
    values! {
        fn mul_add(a: v128, b: v128, c: v128) -> v128 { f32x4_relaxed_madd(a, b, c) }
        fn neg_mul_add(a: v128, b: v128, c: v128) -> v128 { f32x4_relaxed_nmadd(a, b, c) }
    }
    #[cfg(not(target_feature = "relaxed-simd"))]
    values! {
        fn mul_add(a: v128, b: v128, c: v128) -> v128 { f32x4_add(f32x4_mul(a, b), c) }
        fn neg_mul_add(a: v128, b: v128, c: v128) -> v128 { f32x4_sub(c, f32x4_mul(a, b)) }
    }

    pointers! {
        fn load_ptr(p: *const f32) -> v128 { v128_load(p.cast()) }
        fn store_ptr(x: v128, p: *mut f32) { v128_store(p.cast(), x) }
        fn load_u_ptr(p: *const u32) -> v128 { v128_load(p.cast()) }
        fn store_u_ptr(x: v128, p: *mut u32) { v128_store(p.cast(), x) }
    }
    #[inline(always)]
    unsafe fn transpose4(self, p: *const f32, stride: usize, q: *mut f32, q_stride: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let load = |r: usize| v128_load(p.add(r * stride).cast());
            let (a, b, c, d) = (load(0), load(1), load(2), load(3));
            let (ab, cd) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<0, 4, 1, 5>(c, d));
            v128_store(q.cast(), i64x2_shuffle::<0, 2>(ab, cd));
            v128_store(q.add(q_stride).cast(), i64x2_shuffle::<1, 3>(ab, cd));
            let (ab, cd) = (i32x4_shuffle::<2, 6, 3, 7>(a, b), i32x4_shuffle::<2, 6, 3, 7>(c, d));
            v128_store(q.add(2 * q_stride).cast(), i64x2_shuffle::<0, 2>(ab, cd));
            v128_store(q.add(3 * q_stride).cast(), i64x2_shuffle::<1, 3>(ab, cd));
        }
    }
}
