//! The f32 multiply-add peak of one core: what every other figure is a share of. Registers only, no memory. The clock is
//! injected, as this crate has none.

use crate::isa::{Isa, Kernel, Simd, dispatch};

/// Best of several short stretches, in GFLOP/s (a multiply-add counts as two). `now` gives seconds.
pub fn peak_gflops(isa: Isa, now: &dyn Fn() -> f64) -> f64 {
    let mut rounds = 1 << 12;
    let mut best: f64 = 0.0;
    let mut stretches = 0;
    while stretches < 20 {
        let start = now();
        let flops = dispatch(isa, Chains { rounds });
        let seconds = now() - start;
        if seconds < 1e-3 {
            rounds *= 2; // too short for a coarse clock
            continue;
        }
        best = best.max(flops / seconds * 1e-9);
        stretches += 1;
    }
    best
}

struct Chains {
    rounds: usize,
}

/// Independent chains: enough for two units of latency four, few enough for 16 registers.
const CHAINS: usize = 12;
const UNROLL: usize = 8;

impl Kernel for Chains {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f64 {
        let x = s.splat(std::hint::black_box(0.999_999));
        let y = s.splat(std::hint::black_box(1e-6));
        let mut chains = [y; CHAINS];
        for (i, chain) in chains.iter_mut().enumerate() {
            *chain = s.splat(std::hint::black_box(i as f32));
        }
        for _ in 0..self.rounds {
            for _ in 0..UNROLL {
                for chain in &mut chains {
                    *chain = s.mul_add(*chain, x, y);
                }
            }
        }
        for chain in chains {
            std::hint::black_box(s.first(chain));
        }
        (2 * S::LANES * CHAINS * UNROLL * self.rounds) as f64
    }
}
