//! The f32 multiply-add peak of one core: what every other figure is a share of. Next to no memory. The clock is injected,
//! as this crate has none.

use crate::isa::{Isa, Kernel, Simd, dispatch};
use crate::par::{self, Threads};
use std::hint::black_box;

/// The fastest of a quarter of a second of short stretches, in GFLOP/s (a multiply-add counts as two). `now` gives seconds;
/// stretches are long enough for a clock of 5 µs, and many, as a browser compiles well only what has run for a while.
pub fn peak_gflops(isa: Isa, now: &dyn Fn() -> f64) -> f64 {
    let mut rounds = 1 << 10;
    let mut best: f64 = 0.0;
    let mut wide = false;
    let begin = now();
    loop {
        let start = now();
        let flops = stretch(isa, Chains { rounds, wide });
        let end = now();
        if end - start < 1e-3 {
            rounds *= 2;
            continue;
        }
        best = best.max(flops / (end - start) * 1e-9);
        wide = !wide;
        if end - begin > 0.25 {
            return best;
        }
    }
}

/// The same of several cores at work together: all that they do in the time that the last of them takes.
pub fn peak_gflops_of(isa: Isa, threads: &Threads, count: usize, now: &dyn Fn() -> f64) -> f64 {
    let mut flops = vec![0.0; count];
    let mut rounds = 1 << 12;
    let mut best: f64 = 0.0;
    let mut wide = false;
    let begin = now();
    loop {
        let start = now();
        threads.run(|| par::each_mut(&mut flops, |_, flops| *flops = stretch(isa, Chains { rounds, wide })));
        let end = now();
        // Long enough for the way to other threads not to count.
        if end - start < 5e-3 {
            rounds *= 2;
            continue;
        }
        best = best.max(flops.iter().sum::<f64>() / (end - start) * 1e-9);
        wide = !wide;
        if end - begin > 0.25 {
            return best;
        }
    }
}

/// Never inlined: a browser puts better code in place of a function when the function is next called.
#[inline(never)]
fn stretch(isa: Isa, chains: Chains) -> f64 {
    dispatch(isa, chains)
}

struct Chains {
    rounds: usize,
    /// 12 chains for units of long latency, or 6, which fit 16 registers even where a product needs one of its own.
    wide: bool,
}

impl Kernel for Chains {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f64 {
        if self.wide { wide(s, self.rounds) } else { narrow(s, self.rounds) }
    }
}

/// c = c·x + y in 12 chains.
#[inline(always)]
fn wide<S: Simd>(s: S, rounds: usize) -> f64 {
    let (x, y) = (lanes(s, 0.999), lanes(s, 1e-6));
    let mut chains = [y; 12];
    for (i, chain) in chains.iter_mut().enumerate() {
        *chain = lanes(s, i as f32);
    }
    for _ in 0..rounds * 8 {
        for chain in &mut chains {
            *chain = s.mul_add(*chain, x, y);
        }
    }
    finish(s, chains, 8 * rounds)
}

/// c = c + x·y in 6 chains, x new at each step, so that an unfused product waits for nothing.
#[inline(always)]
fn narrow<S: Simd>(s: S, rounds: usize) -> f64 {
    let mut factors = [0.0; 16];
    let (mut y, mut chains) = ([s.splat(0.0); 6], [s.splat(0.0); 6]);
    for i in 0..6 {
        y[i] = lanes(s, i as f32);
        chains[i] = y[i];
    }
    for _ in 0..rounds {
        black_box(&mut factors); // or the products would be worked out once
        for factor in factors {
            let x = s.splat(factor);
            for i in 0..6 {
                chains[i] = s.mul_add(x, y[i], chains[i]);
            }
        }
    }
    finish(s, chains, 16 * rounds)
}

/// A vector of which the compiler knows nothing, least of all that its lanes are alike.
#[inline(always)]
fn lanes<S: Simd>(s: S, x: f32) -> S::F {
    s.load(&black_box([x; 16]))
}

#[inline(always)]
fn finish<S: Simd, const N: usize>(s: S, chains: [S::F; N], steps: usize) -> f64 {
    for chain in chains {
        black_box(s.first(chain));
    }
    (2 * S::LANES * N * steps) as f64
}
