//! Wrapper that makes the multiply-adds of an instruction set round twice, so that kernels give the same bits on fused and unfused sets.

use super::simd::Simd;

/// The set `S` with [`Simd::mul_add`] and [`Simd::neg_mul_add`] replaced by a multiplication and an addition, each rounded.
#[derive(Clone, Copy)]
pub struct Unfused<S>(pub S);

/// Defines methods that call the same methods of the set `S`.
macro_rules! forward {
    ($(fn $name:ident($($arg:ident: $t:ty),*) -> $r:ty;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: $t),*) -> $r {
            self.0.$name($($arg),*)
        }
    )*};
}

/// Does the same as [`forward`], for methods that read or write memory at a pointer from the caller.
macro_rules! forward_pointers {
    ($(fn $name:ident($($arg:ident: $t:ty),*) $(-> $r:ty)?;)*) => {$(
        #[inline(always)]
        unsafe fn $name(self, $($arg: $t),*) $(-> $r)? {
            // SAFETY: guaranteed by the caller.
            unsafe { self.0.$name($($arg),*) }
        }
    )*};
}

impl<S: Simd> Simd for Unfused<S> {
    type F = S::F;
    type U = S::U;
    type M = S::M;
    const LANES: usize = S::LANES;
    const TILE_ROWS: usize = S::TILE_ROWS;
    const TILE_VECTORS: usize = S::TILE_VECTORS;

    #[inline(always)]
    fn mul_add(self, a: S::F, b: S::F, c: S::F) -> S::F {
        self.0.add(self.0.mul(a, b), c)
    }
    #[inline(always)]
    fn neg_mul_add(self, a: S::F, b: S::F, c: S::F) -> S::F {
        self.0.sub(c, self.0.mul(a, b))
    }
    #[inline(always)]
    fn add_sums(self, sums: [[S::F; 4]; 4], y: &mut [f32; 16]) {
        self.0.add_sums(sums, y);
    }

    forward! {
        fn splat(x: f32) -> S::F;
        fn add(a: S::F, b: S::F) -> S::F;
        fn sub(a: S::F, b: S::F) -> S::F;
        fn mul(a: S::F, b: S::F) -> S::F;
        fn div(a: S::F, b: S::F) -> S::F;
        fn sqrt(a: S::F) -> S::F;
        fn neg(a: S::F) -> S::F;
        fn abs(a: S::F) -> S::F;
        fn min(a: S::F, b: S::F) -> S::F;
        fn max(a: S::F, b: S::F) -> S::F;
        fn round(a: S::F) -> S::F;
        fn lt(a: S::F, b: S::F) -> S::M;
        fn le(a: S::F, b: S::F) -> S::M;
        fn eq(a: S::F, b: S::F) -> S::M;
        fn select(mask: S::M, yes: S::F, no: S::F) -> S::F;
        fn and_mask(a: S::M, b: S::M) -> S::M;
        fn or_mask(a: S::M, b: S::M) -> S::M;
        fn not_mask(a: S::M) -> S::M;
        fn mask_bits(a: S::M) -> u32;
        fn splat_u(x: u32) -> S::U;
        fn add_u(a: S::U, b: S::U) -> S::U;
        fn sub_u(a: S::U, b: S::U) -> S::U;
        fn mul_u(a: S::U, b: S::U) -> S::U;
        fn xor_u(a: S::U, b: S::U) -> S::U;
        fn and_u(a: S::U, b: S::U) -> S::U;
        fn or_u(a: S::U, b: S::U) -> S::U;
        fn shl_u(a: S::U, n: u32) -> S::U;
        fn shr_u(a: S::U, n: u32) -> S::U;
        fn eq_u(a: S::U, b: S::U) -> S::M;
        fn lt_i(a: S::U, b: S::U) -> S::M;
        fn select_u(mask: S::M, yes: S::U, no: S::U) -> S::U;
        fn to_bits(a: S::F) -> S::U;
        fn f32_from_bits(a: S::U) -> S::F;
        fn f32_from_i32(a: S::U) -> S::F;
        fn i32_from_f32(a: S::F) -> S::U;
        fn sum_lanes(parts: [S::F; 4]) -> f32;
        fn first(a: S::F) -> f32;
    }

    forward_pointers! {
        fn load_ptr(p: *const f32) -> S::F;
        fn store_ptr(x: S::F, p: *mut f32);
        fn load_u_ptr(p: *const u32) -> S::U;
        fn store_u_ptr(x: S::U, p: *mut u32);
        fn transpose4(p: *const f32, stride: usize, q: *mut f32, q_stride: usize);
    }
}
