//! AVX2 with FMA, and AVX-512 (F, VL, DQ, BW), detected at run time. The detection also requires the instructions that count and shift bits
//! (POPCNT, LZCNT, BMI), which every processor with AVX2 or AVX-512 has.

use super::simd::{Kernel, Simd};
use std::arch::x86_64::*;

/// Returns true if this processor has all of the given features.
macro_rules! found {
    ($($feature:tt),+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ };
}

pub fn has_avx2() -> bool {
    found!("avx2", "fma", "popcnt", "lzcnt", "bmi1", "bmi2")
}

pub fn has_avx512() -> bool {
    found!("avx512f", "avx512vl", "avx512dq", "avx512bw") && has_avx2()
}

/// Returns true if AVX-512 with bf16 products is available.
pub fn has_bf16() -> bool {
    found!("avx512bf16") && has_avx512()
}

/// Defines a function that runs a kernel with a set's token. The caller must have detected the set.
macro_rules! run {
    ($name:ident, $token:ident, $has:ident, $features:literal) => {
        #[inline]
        pub fn $name<K: Kernel>(kernel: K) -> K::Output {
            #[target_feature(enable = $features)]
            fn inner<K: Kernel>(kernel: K) -> K::Output {
                kernel.run($token(()))
            }
            debug_assert!($has());
            // SAFETY: the only caller, `dispatch`, has checked that the set is available.
            unsafe { inner(kernel) }
        }
    };
}
run!(run_avx2, Avx2, has_avx2, "avx2,fma,popcnt,lzcnt,bmi1,bmi2");
run!(run_avx512, Avx512, has_avx512, "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,popcnt,lzcnt,bmi1,bmi2");

/// Token of AVX2, created only in [`run_avx2`].
#[derive(Clone, Copy)]
pub struct Avx2(());

/// Token of AVX-512, created only in [`run_avx512`].
#[derive(Clone, Copy)]
pub struct Avx512(());

/// Returns the sum of eight lanes: adds lanes i and i+4 first, then i and i+2, then i and i+1.
#[inline(always)]
unsafe fn sum8(x: __m256) -> f32 {
    // SAFETY: the caller's token proves AVX2.
    unsafe {
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps::<1>(x, x)))
    }
}

#[inline(always)]
fn prefetch<const FIRST: bool>(p: *const f32) {
    // SAFETY: a prefetch is a hint and faults at no address.
    unsafe { if FIRST { _mm_prefetch::<_MM_HINT_T0>(p.cast()) } else { _mm_prefetch::<_MM_HINT_T1>(p.cast()) } }
}

#[inline(always)]
unsafe fn transpose4(p: *const f32, stride: usize, q: *mut f32, q_stride: usize) {
    // SAFETY: guaranteed by the caller; SSE is part of x86-64.
    unsafe {
        let mut rows = [_mm_loadu_ps(p), _mm_loadu_ps(p.add(stride)), _mm_loadu_ps(p.add(2 * stride)), _mm_loadu_ps(p.add(3 * stride))];
        let [a, b, c, d] = &mut rows;
        _MM_TRANSPOSE4_PS(a, b, c, d);
        for (c, row) in rows.into_iter().enumerate() {
            _mm_storeu_ps(q.add(c * q_stride), row);
        }
    }
}

impl Simd for Avx2 {
    type F = __m256;
    type U = __m256i;
    type M = __m256;
    const LANES: usize = 8;
    const TILE_ROWS: usize = 6;
    const TILE_VECTORS: usize = 2;
    const PREFETCHES: bool = true;

    #[inline(always)]
    fn prefetch<const FIRST: bool>(self, p: *const f32) {
        prefetch::<FIRST>(p);
    }

    values! {
        fn splat(x: f32) -> __m256 { _mm256_set1_ps(x) }
        fn add(a: __m256, b: __m256) -> __m256 { _mm256_add_ps(a, b) }
        fn sub(a: __m256, b: __m256) -> __m256 { _mm256_sub_ps(a, b) }
        fn mul(a: __m256, b: __m256) -> __m256 { _mm256_mul_ps(a, b) }
        fn div(a: __m256, b: __m256) -> __m256 { _mm256_div_ps(a, b) }
        fn sqrt(a: __m256) -> __m256 { _mm256_sqrt_ps(a) }
        fn mul_add(a: __m256, b: __m256, c: __m256) -> __m256 { _mm256_fmadd_ps(a, b, c) }
        fn neg_mul_add(a: __m256, b: __m256, c: __m256) -> __m256 { _mm256_fnmadd_ps(a, b, c) }
        fn neg(a: __m256) -> __m256 { _mm256_xor_ps(a, _mm256_set1_ps(-0.0)) }
        fn abs(a: __m256) -> __m256 { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
        fn min(a: __m256, b: __m256) -> __m256 { _mm256_min_ps(a, b) }
        fn max(a: __m256, b: __m256) -> __m256 { _mm256_max_ps(a, b) }
        fn round(a: __m256) -> __m256 { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
        fn lt(a: __m256, b: __m256) -> __m256 { _mm256_cmp_ps::<_CMP_LT_OQ>(a, b) }
        fn le(a: __m256, b: __m256) -> __m256 { _mm256_cmp_ps::<_CMP_LE_OQ>(a, b) }
        fn eq(a: __m256, b: __m256) -> __m256 { _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b) }
        fn select(mask: __m256, yes: __m256, no: __m256) -> __m256 { _mm256_blendv_ps(no, yes, mask) }
        fn and_mask(a: __m256, b: __m256) -> __m256 { _mm256_and_ps(a, b) }
        fn or_mask(a: __m256, b: __m256) -> __m256 { _mm256_or_ps(a, b) }
        fn not_mask(a: __m256) -> __m256 { _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1))) }
        fn mask_bits(a: __m256) -> u32 { _mm256_movemask_ps(a) as u32 }
        fn splat_u(x: u32) -> __m256i { _mm256_set1_epi32(x as i32) }
        fn add_u(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi32(a, b) }
        fn sub_u(a: __m256i, b: __m256i) -> __m256i { _mm256_sub_epi32(a, b) }
        fn mul_u(a: __m256i, b: __m256i) -> __m256i { _mm256_mullo_epi32(a, b) }
        fn xor_u(a: __m256i, b: __m256i) -> __m256i { _mm256_xor_si256(a, b) }
        fn and_u(a: __m256i, b: __m256i) -> __m256i { _mm256_and_si256(a, b) }
        fn or_u(a: __m256i, b: __m256i) -> __m256i { _mm256_or_si256(a, b) }
        fn shl_u(a: __m256i, n: u32) -> __m256i { _mm256_sll_epi32(a, _mm_cvtsi32_si128(n as i32)) }
        fn shr_u(a: __m256i, n: u32) -> __m256i { _mm256_srl_epi32(a, _mm_cvtsi32_si128(n as i32)) }
        fn eq_u(a: __m256i, b: __m256i) -> __m256 { _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)) }
        fn lt_i(a: __m256i, b: __m256i) -> __m256 { _mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a)) }
        fn select_u(mask: __m256, yes: __m256i, no: __m256i) -> __m256i {
            _mm256_blendv_epi8(no, yes, _mm256_castps_si256(mask))
        }
        fn to_bits(a: __m256) -> __m256i { _mm256_castps_si256(a) }
        fn f32_from_bits(a: __m256i) -> __m256 { _mm256_castsi256_ps(a) }
        fn f32_from_i32(a: __m256i) -> __m256 { _mm256_cvtepi32_ps(a) }
        fn i32_from_f32(a: __m256) -> __m256i { _mm256_cvttps_epi32(a) }
        fn sum_lanes(parts: [__m256; 4]) -> f32 { sum8(_mm256_add_ps(parts[0], parts[1])) }
        fn first(a: __m256) -> f32 { _mm256_cvtss_f32(a) }
    }

    #[inline(always)]
    fn add_sums(self, sums: [[__m256; 4]; 4], y: &mut [f32; 16]) {
        for i in [0, 2] {
            let a = self.add(sums[i][0], sums[i][1]);
            let b = self.add(sums[i + 1][0], sums[i + 1][1]);
            // SAFETY: guaranteed by the token.
            let (low, high) = unsafe { (_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b)) };
            self.store(self.add(self.load(&y[4 * i..]), self.add(low, high)), &mut y[4 * i..]);
        }
    }
    pointers! {
        fn load_ptr(p: *const f32) -> __m256 { _mm256_loadu_ps(p) }
        fn store_ptr(x: __m256, p: *mut f32) { _mm256_storeu_ps(p, x) }
        fn load_u_ptr(p: *const u32) -> __m256i { _mm256_loadu_si256(p.cast()) }
        fn store_u_ptr(x: __m256i, p: *mut u32) { _mm256_storeu_si256(p.cast(), x) }
        fn transpose4(p: *const f32, stride: usize, q: *mut f32, q_stride: usize) { transpose4(p, stride, q, q_stride) }
    }
    #[inline(always)]
    unsafe fn transpose_fours(self, p: *const f32, stride: usize, q: *mut f32, q_stride: usize) {
        // SAFETY: guaranteed by the caller and by the token.
        unsafe {
            // A vector holds row r in its lower half and row r+4 in its upper half. Four vectors are transposed within halves.
            let mut rows = [_mm256_setzero_ps(); 4];
            for (r, row) in rows.iter_mut().enumerate() {
                let half = |i: usize| _mm_loadu_ps(p.add((r + 4 * i) * stride));
                *row = _mm256_set_m128(half(1), half(0));
            }
            let low = |a, b| _mm256_castps_pd(_mm256_unpacklo_ps(a, b));
            let high = |a, b| _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
            let [a, b, c, d] = rows;
            let (ab, cd) = (low(a, b), low(c, d));
            _mm256_storeu_ps(q, _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)));
            _mm256_storeu_ps(q.add(q_stride), _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)));
            let (ab, cd) = (high(a, b), high(c, d));
            _mm256_storeu_ps(q.add(2 * q_stride), _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)));
            _mm256_storeu_ps(q.add(3 * q_stride), _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)));
        }
    }
}

impl Simd for Avx512 {
    type F = __m512;
    type U = __m512i;
    type M = __mmask16;
    const LANES: usize = 16;
    const TILE_ROWS: usize = 8;
    const TILE_VECTORS: usize = 2;
    const PREFETCHES: bool = true;

    #[inline(always)]
    fn prefetch<const FIRST: bool>(self, p: *const f32) {
        prefetch::<FIRST>(p);
    }

    values! {
        fn splat(x: f32) -> __m512 { _mm512_set1_ps(x) }
        fn add(a: __m512, b: __m512) -> __m512 { _mm512_add_ps(a, b) }
        fn sub(a: __m512, b: __m512) -> __m512 { _mm512_sub_ps(a, b) }
        fn mul(a: __m512, b: __m512) -> __m512 { _mm512_mul_ps(a, b) }
        fn div(a: __m512, b: __m512) -> __m512 { _mm512_div_ps(a, b) }
        fn sqrt(a: __m512) -> __m512 { _mm512_sqrt_ps(a) }
        fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 { _mm512_fmadd_ps(a, b, c) }
        fn neg_mul_add(a: __m512, b: __m512, c: __m512) -> __m512 { _mm512_fnmadd_ps(a, b, c) }
        fn neg(a: __m512) -> __m512 { _mm512_xor_ps(a, _mm512_set1_ps(-0.0)) }
        fn abs(a: __m512) -> __m512 { _mm512_abs_ps(a) }
        fn min(a: __m512, b: __m512) -> __m512 { _mm512_min_ps(a, b) }
        fn max(a: __m512, b: __m512) -> __m512 { _mm512_max_ps(a, b) }
        fn round(a: __m512) -> __m512 {
            _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a)
        }
        fn lt(a: __m512, b: __m512) -> __mmask16 { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
        fn le(a: __m512, b: __m512) -> __mmask16 { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b) }
        fn eq(a: __m512, b: __m512) -> __mmask16 { _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b) }
        fn select(mask: __mmask16, yes: __m512, no: __m512) -> __m512 { _mm512_mask_blend_ps(mask, no, yes) }
        fn and_mask(a: __mmask16, b: __mmask16) -> __mmask16 { a & b }
        fn or_mask(a: __mmask16, b: __mmask16) -> __mmask16 { a | b }
        fn not_mask(a: __mmask16) -> __mmask16 { !a }
        fn mask_bits(a: __mmask16) -> u32 { u32::from(a) }
        fn splat_u(x: u32) -> __m512i { _mm512_set1_epi32(x as i32) }
        fn add_u(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi32(a, b) }
        fn sub_u(a: __m512i, b: __m512i) -> __m512i { _mm512_sub_epi32(a, b) }
        fn mul_u(a: __m512i, b: __m512i) -> __m512i { _mm512_mullo_epi32(a, b) }
        fn xor_u(a: __m512i, b: __m512i) -> __m512i { _mm512_xor_si512(a, b) }
        fn and_u(a: __m512i, b: __m512i) -> __m512i { _mm512_and_si512(a, b) }
        fn or_u(a: __m512i, b: __m512i) -> __m512i { _mm512_or_si512(a, b) }
        fn shl_u(a: __m512i, n: u32) -> __m512i { _mm512_sll_epi32(a, _mm_cvtsi32_si128(n as i32)) }
        fn shr_u(a: __m512i, n: u32) -> __m512i { _mm512_srl_epi32(a, _mm_cvtsi32_si128(n as i32)) }
        fn rotl_u(a: __m512i, n: u32) -> __m512i { _mm512_rolv_epi32(a, _mm512_set1_epi32(n as i32)) }
        fn eq_u(a: __m512i, b: __m512i) -> __mmask16 { _mm512_cmpeq_epi32_mask(a, b) }
        fn lt_i(a: __m512i, b: __m512i) -> __mmask16 { _mm512_cmplt_epi32_mask(a, b) }
        fn select_u(mask: __mmask16, yes: __m512i, no: __m512i) -> __m512i {
            _mm512_mask_blend_epi32(mask, no, yes)
        }
        fn to_bits(a: __m512) -> __m512i { _mm512_castps_si512(a) }
        fn f32_from_bits(a: __m512i) -> __m512 { _mm512_castsi512_ps(a) }
        fn f32_from_i32(a: __m512i) -> __m512 { _mm512_cvtepi32_ps(a) }
        fn i32_from_f32(a: __m512) -> __m512i { _mm512_cvttps_epi32(a) }
        fn sum_lanes(parts: [__m512; 4]) -> f32 {
            let x = parts[0];
            sum8(_mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps::<1>(x)))
        }
        fn first(a: __m512) -> f32 { _mm512_cvtss_f32(a) }
    }

    #[inline(always)]
    fn add_sums(self, sums: [[__m512; 4]; 4], y: &mut [f32; 16]) {
        let [a, b, c, d] = [sums[0][0], sums[1][0], sums[2][0], sums[3][0]];
        // SAFETY: guaranteed by the token.
        let sum = unsafe {
            let ab = _mm512_add_ps(_mm512_shuffle_f32x4::<0x44>(a, b), _mm512_shuffle_f32x4::<0xEE>(a, b));
            let cd = _mm512_add_ps(_mm512_shuffle_f32x4::<0x44>(c, d), _mm512_shuffle_f32x4::<0xEE>(c, d));
            // Sums over lanes 0..4 and 8..12, plus sums over lanes 4..8 and 12..16.
            _mm512_add_ps(_mm512_shuffle_f32x4::<0x88>(ab, cd), _mm512_shuffle_f32x4::<0xDD>(ab, cd))
        };
        self.store(self.add(self.load(y), sum), y);
    }
    pointers! {
        fn load_ptr(p: *const f32) -> __m512 { _mm512_loadu_ps(p) }
        fn store_ptr(x: __m512, p: *mut f32) { _mm512_storeu_ps(p, x) }
        fn load_u_ptr(p: *const u32) -> __m512i { _mm512_loadu_si512(p.cast()) }
        fn store_u_ptr(x: __m512i, p: *mut u32) { _mm512_storeu_si512(p.cast(), x) }
        fn transpose4(p: *const f32, stride: usize, q: *mut f32, q_stride: usize) { transpose4(p, stride, q, q_stride) }
    }
    #[inline(always)]
    unsafe fn transpose_fours(self, p: *const f32, stride: usize, q: *mut f32, q_stride: usize) {
        // SAFETY: guaranteed by the caller and by the token.
        unsafe {
            // The quarters of a vector hold the rows r, r+4, r+8 and r+12. Four vectors are transposed within quarters.
            let mut rows = [_mm512_setzero_ps(); 4];
            for (r, row) in rows.iter_mut().enumerate() {
                let quarter = |i: usize| _mm_loadu_ps(p.add((r + 4 * i) * stride));
                *row = _mm512_castps128_ps512(quarter(0));
                *row = _mm512_mask_broadcast_f32x4(*row, 0x00F0, quarter(1));
                *row = _mm512_mask_broadcast_f32x4(*row, 0x0F00, quarter(2));
                *row = _mm512_mask_broadcast_f32x4(*row, 0xF000, quarter(3));
            }
            let low = |a, b| _mm512_castps_pd(_mm512_unpacklo_ps(a, b));
            let high = |a, b| _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
            let [a, b, c, d] = rows;
            let (ab, cd) = (low(a, b), low(c, d));
            _mm512_storeu_ps(q, _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)));
            _mm512_storeu_ps(q.add(q_stride), _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
            let (ab, cd) = (high(a, b), high(c, d));
            _mm512_storeu_ps(q.add(2 * q_stride), _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)));
            _mm512_storeu_ps(q.add(3 * q_stride), _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
        }
    }
    #[inline(always)]
    fn load_part(self, x: &[f32], fill: f32) -> __m512 {
        let n = x.len().min(16);
        // SAFETY: the mask selects only numbers of the slice; the token proves the instructions.
        unsafe { _mm512_mask_loadu_ps(_mm512_set1_ps(fill), ((1u32 << n) - 1) as u16, x.as_ptr()) }
    }
    #[inline(always)]
    fn store_part(self, x: __m512, y: &mut [f32]) {
        let n = y.len().min(16);
        // SAFETY: the mask selects only numbers of the slice; the token proves the instructions.
        unsafe { _mm512_mask_storeu_ps(y.as_mut_ptr(), ((1u32 << n) - 1) as u16, x) }
    }
}
