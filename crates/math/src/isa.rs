//! Instruction sets, and the traits [`Kernel`] and [`Simd`] for code that runs on every set.
//!
//! A kernel is the body of [`kernel!`](crate::kernel), or a struct that implements [`Kernel`]. A kernel is compiled once for each
//! instruction set, and [`dispatch`] runs it on the requested set. The pattern is that of the `pulp` crate: one `#[target_feature]`
//! trampoline, and everything below it `#[inline(always)]`. No other crate contains code for an instruction set, or a kernel with `unsafe`.
//!
//! **Classes with equal bits.** Every operation of [`Simd`] is exact or correctly rounded, so a kernel gives the same bits on all sets of
//! one class: *fused* ([`Simd::mul_add`] rounds once) or *unfused* (multiply, then add). A horizontal sum (over the numbers of a slice) has
//! 16 partial sums, the virtual lanes, which are held in 1, 2 or 4 vectors. [`Simd::sum_lanes`] adds the virtual lanes in the same order on
//! every set. No operation is an approximate reciprocal.

/// Runs a closure-like body on an instruction set: `kernel!(isa, |s: S, x: &[f32], y: &mut [f32]| { … })`. `s` is the token of type `S`
/// (see [`Simd`]). A kernel captures nothing, so every other parameter takes the value of the caller's variable of the same name.
#[macro_export]
macro_rules! kernel {
    ($isa:expr, |$s:ident: $S:ident $(, $arg:ident: $t:ty)*| -> $r:ty $body:block) => {{
        struct Body<T>(T);
        impl $crate::Kernel for Body<($($t,)*)> {
            type Output = $r;
            #[inline(always)]
            fn run<$S: $crate::Simd>(self, $s: $S) -> $r {
                let Body(($($arg,)*)) = self;
                $body
            }
        }
        $crate::dispatch($isa, Body(($($arg,)*)))
    }};
    ($isa:expr, |$s:ident: $S:ident $(, $arg:ident: $t:ty)*| $body:expr) => {
        $crate::kernel!($isa, |$s: $S $(, $arg: $t)*| -> () {
            $body;
        })
    };
}

/// Defines an instruction set's methods that work on values, not on memory. `self` is the token: it proves that the machine has the
/// instructions that the method bodies use.
macro_rules! values {
    ($(fn $name:ident($($arg:ident: $t:ty),*) -> $r:ty $body:block)*) => {$(
        #[inline(always)]
        #[allow(unused_unsafe)] // some sets' intrinsics are safe
        fn $name(self, $($arg: $t),*) -> $r {
            // SAFETY: a token exists only if the instruction set was detected.
            unsafe { $body }
        }
    )*};
}

/// Defines an instruction set's methods that read or write memory at a pointer from the caller.
macro_rules! pointers {
    ($(fn $name:ident($($arg:ident: $t:ty),*) $(-> $r:ty)? $body:block)*) => {$(
        #[inline(always)]
        unsafe fn $name(self, $($arg: $t),*) $(-> $r)? {
            // SAFETY: guaranteed by the caller and by the token.
            unsafe { $body }
        }
    )*};
}

/// Calls the method `strip::<S, N>`, which processes N vectors of columns from column `$c` on, and advances `$c`. For each N of the list,
/// in order, repeats the call as long as N vectors fit before `$end`. Afterwards, `$c` is the first column that was not processed.
macro_rules! strips {
    ($of:expr, $s:ident: $S:ident, $c:ident < $end:expr, [$($vectors:literal),+]) => {$(
        while $c + $vectors * $S::LANES <= $end {
            $of.strip::<$S, $vectors>($s, $c);
            $c += $vectors * $S::LANES;
        }
    )+};
}
pub(crate) use strips;

mod portable;
mod simd;
mod unfused;

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use crate::kernel;
pub use simd::{Kernel, Simd};
pub use unfused::Unfused;

/// Instruction set of a compiled kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// Arrays of four numbers in plain Rust; the compiler chooses the instructions.
    Portable,
    Avx2,
    Avx512,
    /// AVX-512 with bf16 products. [`matmul`](crate::gemm::matmul), [`linear_rows`](crate::gemm::linear_rows) and the backward passes of
    /// `linear_rows` round their operands to bf16 and add the products in f32. The results differ from those of other sets, so this set is
    /// used only on request.
    Bf16,
    /// [`Isa::Bf16`] with AMX tiles, which add the products in a different order.
    Amx,
    Neon,
    /// WebAssembly SIMD.
    Simd128,
    /// WebAssembly SIMD with the relaxed multiply-add, which may round once or twice.
    Relaxed,
}

impl Isa {
    const ALL: [Isa; 6] = [Isa::Avx512, Isa::Avx2, Isa::Neon, Isa::Relaxed, Isa::Simd128, Isa::Portable];

    /// Returns the fastest set of this machine and build. Never returns [`Isa::Bf16`] or [`Isa::Amx`].
    pub fn best() -> Isa {
        Isa::ALL.into_iter().find(|isa| isa.is_available()).unwrap_or(Isa::Portable)
    }

    /// Returns every set of this machine and build, the fastest first, except [`Isa::Bf16`] and [`Isa::Amx`]. A WebAssembly module contains
    /// exactly one set.
    pub fn available() -> Vec<Isa> {
        Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect()
    }

    pub fn from_name(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
            Isa::Bf16 => "bf16",
            Isa::Amx => "amx",
            Isa::Neon => "neon",
            Isa::Simd128 => "simd128",
            Isa::Relaxed => "relaxed",
        }
    }

    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => !cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => x86::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::has_avx512(),
            #[cfg(target_arch = "x86_64")]
            Isa::Bf16 => x86::has_bf16(),
            #[cfg(target_arch = "x86_64")]
            Isa::Amx => amx::is_available(),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            Isa::Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128", not(target_feature = "relaxed-simd"))),
            Isa::Relaxed => cfg!(all(target_arch = "wasm32", target_feature = "relaxed-simd")),
            #[allow(unreachable_patterns)] // on some targets, the arms above are all sets
            _ => false,
        }
    }

    /// Returns true for [`Isa::Bf16`] and [`Isa::Amx`], whose products round their operands to bf16.
    pub fn rounds_to_bf16(self) -> bool {
        matches!(self, Isa::Bf16 | Isa::Amx)
    }

    /// Returns the set with the same vectors whose products do not round their operands.
    pub fn unrounded(self) -> Isa {
        if self.rounds_to_bf16() { Isa::Avx512 } else { self }
    }

    /// Returns true if a multiply-add rounds once. Two sets with the same result give the same bits, except [`Isa::Bf16`] and [`Isa::Amx`].
    /// The rounding is tested at run time, because the browser's engine chooses the rounding of a relaxed multiply-add.
    pub fn fused(self) -> bool {
        kernel!(self, |s: S| -> bool {
            // (1 + ε)(1 - ε) = 1 - ε². If the product is rounded before the subtraction, it becomes 1.
            let x = std::hint::black_box(f32::EPSILON);
            let sum = s.mul_add(s.splat(1.0 + x), s.splat(1.0 - x), s.splat(-1.0));
            s.first(sum) != 0.0
        })
    }
}

/// Runs a kernel on `isa`, or on [`Isa::Portable`] if this machine or build lacks `isa`. [`Isa::Bf16`] and [`Isa::Amx`] run on AVX-512. A
/// WebAssembly module always uses its only set.
#[inline]
pub fn dispatch<K: Kernel>(isa: Isa, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match isa {
        Isa::Avx512 | Isa::Bf16 | Isa::Amx if x86::has_avx512() => return x86::run_avx512(kernel),
        Isa::Avx2 if x86::has_avx2() => return x86::run_avx2(kernel),
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    if isa == Isa::Neon && isa.is_available() {
        return neon::run(kernel);
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    {
        let _ = isa;
        kernel.run(wasm::Wasm)
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    {
        let _ = isa;
        kernel.run(portable::Portable)
    }
}

/// Token of the portable set, which is always available.
pub(crate) const PORTABLE: portable::Portable = portable::Portable;
