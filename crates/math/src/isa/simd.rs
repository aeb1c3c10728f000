//! The trait [`Kernel`] for code that runs on any instruction set, and the trait [`Simd`] for the vectors of one set.

/// Code that is compiled once for every instruction set. Mark `run`, and every function that takes the token `s`, as `#[inline(always)]`:
/// only code that is inlined into the trampoline may use the set's instructions. Write loops instead of closures that are passed to std (as
/// in `[F; N]::map`), because such a closure costs a call per vector.
pub trait Kernel {
    type Output;
    fn run<S: Simd>(self, s: S) -> Self::Output;
}

/// Vector operations of one instruction set. A value of the implementing type is a token: it proves that the machine has the set. Only
/// [`dispatch`](super::dispatch) creates tokens.
///
/// `F` holds [`Simd::LANES`] f32, `U` the same number of u32, and `M` the same number of booleans. Comparisons with NaN are false.
pub trait Simd: Copy + Send + Sync + 'static {
    type F: Copy + Send + Sync;
    type U: Copy + Send + Sync;
    type M: Copy + Send + Sync;

    /// Number of lanes of a vector: 4, 8 or 16.
    const LANES: usize;
    /// Number of vectors that hold the 16 virtual lanes (partial sums) of a horizontal sum.
    const PARTS: usize = 16 / Self::LANES;
    /// Number of rows of the GEMM register tile: 8, 6, 5 or 4.
    const TILE_ROWS: usize;
    /// Width of the GEMM register tile in vectors: 4 or 2.
    const TILE_VECTORS: usize;
    /// True if [`Simd::prefetch`] has an effect.
    const PREFETCHES: bool = false;

    fn splat(self, x: f32) -> Self::F;
    /// # Safety
    /// `p` must be valid for reading [`Simd::LANES`] f32; any alignment.
    unsafe fn load_ptr(self, p: *const f32) -> Self::F;
    /// # Safety
    /// `p` must be valid for writing [`Simd::LANES`] f32; any alignment.
    unsafe fn store_ptr(self, x: Self::F, p: *mut f32);
    /// Prefetches a cache line into the first-level cache if `FIRST`, else into the second-level cache. Has no effect if the set lacks the
    /// instruction. Any address is valid.
    #[inline(always)]
    fn prefetch<const FIRST: bool>(self, p: *const f32) {
        let _ = p;
    }

    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    fn sqrt(self, a: Self::F) -> Self::F;
    /// Computes a·b + c, rounded once or twice: see [`Isa::fused`](super::Isa::fused).
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// Computes c - a·b, rounded as [`Simd::mul_add`].
    fn neg_mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    fn neg(self, a: Self::F) -> Self::F;
    fn abs(self, a: Self::F) -> Self::F;
    /// Returns a if a < b, else b. If either is NaN, the result is b.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    /// Returns a if a > b, else b. If either is NaN, the result is b.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    /// Rounds to the nearest whole number, ties to even.
    fn round(self, a: Self::F) -> Self::F;

    fn lt(self, a: Self::F, b: Self::F) -> Self::M;
    fn le(self, a: Self::F, b: Self::F) -> Self::M;
    fn eq(self, a: Self::F, b: Self::F) -> Self::M;
    #[inline(always)]
    fn gt(self, a: Self::F, b: Self::F) -> Self::M {
        self.lt(b, a)
    }
    #[inline(always)]
    fn ge(self, a: Self::F, b: Self::F) -> Self::M {
        self.le(b, a)
    }
    /// Returns, in each lane, `yes` if the mask is true, else `no`.
    fn select(self, mask: Self::M, yes: Self::F, no: Self::F) -> Self::F;
    fn and_mask(self, a: Self::M, b: Self::M) -> Self::M;
    fn or_mask(self, a: Self::M, b: Self::M) -> Self::M;
    fn not_mask(self, a: Self::M) -> Self::M;
    /// Returns the mask's lanes as bits; lane 0 is the lowest bit.
    fn mask_bits(self, a: Self::M) -> u32;

    fn splat_u(self, x: u32) -> Self::U;
    /// # Safety
    /// `p` must be valid for reading [`Simd::LANES`] u32; any alignment.
    unsafe fn load_u_ptr(self, p: *const u32) -> Self::U;
    /// # Safety
    /// `p` must be valid for writing [`Simd::LANES`] u32; any alignment.
    unsafe fn store_u_ptr(self, x: Self::U, p: *mut u32);
    fn add_u(self, a: Self::U, b: Self::U) -> Self::U;
    fn sub_u(self, a: Self::U, b: Self::U) -> Self::U;
    /// Returns the low 32 bits of each lane's product.
    fn mul_u(self, a: Self::U, b: Self::U) -> Self::U;
    fn xor_u(self, a: Self::U, b: Self::U) -> Self::U;
    fn and_u(self, a: Self::U, b: Self::U) -> Self::U;
    fn or_u(self, a: Self::U, b: Self::U) -> Self::U;
    /// Shifts each lane to the left by a constant in 0..32.
    fn shl_u(self, a: Self::U, n: u32) -> Self::U;
    /// Shifts each lane to the right by a constant in 0..32, and fills with zeros.
    fn shr_u(self, a: Self::U, n: u32) -> Self::U;
    fn eq_u(self, a: Self::U, b: Self::U) -> Self::M;
    /// Returns true in each lane where a < b, with both read as i32.
    fn lt_i(self, a: Self::U, b: Self::U) -> Self::M;
    fn select_u(self, mask: Self::M, yes: Self::U, no: Self::U) -> Self::U;
    /// Rotates each lane to the left by a constant in 1..32.
    #[inline(always)]
    fn rotl_u(self, a: Self::U, n: u32) -> Self::U {
        self.or_u(self.shl_u(a, n), self.shr_u(a, 32 - n))
    }
    /// Returns the bits of the lanes, read as u32.
    fn to_bits(self, a: Self::F) -> Self::U;
    /// Returns the bits of the lanes, read as f32.
    fn f32_from_bits(self, a: Self::U) -> Self::F;
    /// Reads the lanes as i32 and converts each to the nearest f32.
    fn f32_from_i32(self, a: Self::U) -> Self::F;
    /// Converts each lane to an i32, rounded towards zero. The value must fit into an i32.
    fn i32_from_f32(self, a: Self::F) -> Self::U;

    /// Returns the sum of the 16 virtual lanes, which the first [`Simd::PARTS`] vectors hold. Adds lanes i and i+8 first, then i and i+4,
    /// then i and i+2, then i and i+1.
    fn sum_lanes(self, parts: [Self::F; 4]) -> f32;

    /// Reduces each of four sums to four numbers, and adds the numbers to `y`. A sum consists of 16 virtual lanes, in its first
    /// [`Simd::PARTS`] vectors. For sum i, `y[4i + j]` += (lane j + lane j+8) + (lane j+4 + lane j+12).
    #[inline(always)]
    fn add_sums(self, sums: [[Self::F; 4]; 4], y: &mut [f32; 16]) {
        assert_eq!(Self::LANES, 4);
        for (i, x) in sums.into_iter().enumerate() {
            let x = self.add(self.add(x[0], x[2]), self.add(x[1], x[3]));
            self.store(self.add(self.load(&y[4 * i..]), x), &mut y[4 * i..]);
        }
    }

    /// Transposes a block of 4 by 4: `p[r·stride + c]` for r, c < 4 is written to `q[c·q_stride + r]`.
    /// # Safety
    /// Both blocks must be valid, and must not overlap.
    unsafe fn transpose4(self, p: *const f32, stride: usize, q: *mut f32, q_stride: usize);

    /// Transposes [`Simd::LANES`] rows of four: `p[r·stride + c]` for r < LANES, c < 4 is written to `q[c·q_stride + r]`.
    /// # Safety
    /// Both blocks must be valid, and must not overlap.
    #[inline(always)]
    unsafe fn transpose_fours(self, p: *const f32, stride: usize, q: *mut f32, q_stride: usize) {
        for r in (0..Self::LANES).step_by(4) {
            // SAFETY: guaranteed by the caller.
            unsafe { self.transpose4(p.add(r * stride), stride, q.add(r), q_stride) };
        }
    }

    /// Returns lane 0 of the vector.
    fn first(self, a: Self::F) -> f32;
    #[inline(always)]
    fn first_u(self, a: Self::U) -> u32 {
        let mut lanes = [0; 16];
        self.store_u(a, &mut lanes);
        lanes[0]
    }
    /// Loads the first [`Simd::LANES`] numbers of a slice. Panics if the slice is shorter.
    #[inline(always)]
    fn load(self, x: &[f32]) -> Self::F {
        assert!(x.len() >= Self::LANES);
        // SAFETY: the length was just checked.
        unsafe { self.load_ptr(x.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, x: Self::F, y: &mut [f32]) {
        assert!(y.len() >= Self::LANES);
        // SAFETY: the length was just checked.
        unsafe { self.store_ptr(x, y.as_mut_ptr()) }
    }
    #[inline(always)]
    fn load_u(self, x: &[u32]) -> Self::U {
        assert!(x.len() >= Self::LANES);
        // SAFETY: the length was just checked.
        unsafe { self.load_u_ptr(x.as_ptr()) }
    }
    #[inline(always)]
    fn store_u(self, x: Self::U, y: &mut [u32]) {
        assert!(y.len() >= Self::LANES);
        // SAFETY: the length was just checked.
        unsafe { self.store_u_ptr(x, y.as_mut_ptr()) }
    }
    /// Loads a slice that may be shorter than a vector; the missing lanes are `fill`.
    #[inline(always)]
    fn load_part(self, x: &[f32], fill: f32) -> Self::F {
        let mut lanes = [fill; 16];
        let n = x.len().min(Self::LANES);
        lanes[..n].copy_from_slice(&x[..n]);
        self.load(&lanes)
    }
    /// Stores the first `y.len()` lanes; all lanes if `y` is longer than a vector.
    #[inline(always)]
    fn store_part(self, x: Self::F, y: &mut [f32]) {
        let mut lanes = [0.0; 16];
        self.store(x, &mut lanes);
        let n = y.len().min(Self::LANES);
        y[..n].copy_from_slice(&lanes[..n]);
    }
    /// Returns a vector whose lane i is `start` + i.
    #[inline(always)]
    fn count_u(self, start: u32) -> Self::U {
        const RAMP: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        self.add_u(self.load_u(&RAMP), self.splat_u(start))
    }
}
