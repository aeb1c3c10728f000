//! The f32 multiply-add peak of one or several cores. Speeds that are given as a share of peak refer to this peak. The measurement uses
//! almost no memory. This crate has no clock, so the caller passes `now`, which returns seconds.

use crate::isa::{Isa, Simd, kernel};
use crate::par::{self, Threads};
use crate::rounds::{ROUND_S, sustained_s};
use std::hint::black_box;

/// The faster of two loops of multiply-adds. The speed of this loop can be measured in rounds that alternate with rounds of other work.
pub struct Peak<'a> {
    isa: Isa,
    /// Pool whose threads run the loop together, and the number of these threads. `None`: the calling thread runs the loop alone.
    crew: Option<(&'a Threads, usize)>,
    chains: Chains,
}

impl<'a> Peak<'a> {
    /// Measures both loops and chooses the faster one. `crew` is a pool and its number of threads; `None` measures one core. The loops
    /// alternate for at least a quarter of a second in total. A browser has compiled both loops to optimised code in this time.
    pub fn new(isa: Isa, crew: Option<(&'a Threads, usize)>, now: &dyn Fn() -> f64) -> Peak<'a> {
        const CHOICE_S: f64 = 0.25;
        let mut peak = Peak { isa, crew, chains: Chains { rounds: 1 << 10, wide: false } };
        // Minimum duration of a timed run of a loop in seconds. In comparison, a clock step of 5 µs and the communication of threads are
        // negligible.
        let least_s = if crew.is_some() { 5e-3 } else { 1e-3 };
        let (began_s, mut sums) = (now(), [(0.0, 0.0); 2]);
        loop {
            let stretch_began_s = now();
            let flops = peak.stretch();
            let ended_s = now();
            if ended_s - stretch_began_s < least_s {
                peak.chains.rounds *= 2;
                continue;
            }
            let sum = &mut sums[usize::from(peak.chains.wide)];
            *sum = (sum.0 + flops, sum.1 + ended_s - stretch_began_s);
            peak.chains.wide = !peak.chains.wide;
            if ended_s - began_s > CHOICE_S && sums.iter().all(|sum| sum.1 > 0.0) {
                let [narrow, wide] = sums.map(|(flops, took_s)| flops / took_s);
                peak.chains.wide = wide > narrow;
                return peak;
            }
        }
    }

    /// Returns the GFLOP/s sustained in one round. A multiply-add counts as two operations.
    pub fn gflops(&self, now: &dyn Fn() -> f64) -> f64 {
        let mut flops = 0.0;
        let stretch_s = sustained_s(ROUND_S, now, || flops = self.stretch());
        1e-9 * flops / stretch_s
    }

    fn stretch(&self) -> f64 {
        let Some((threads, count)) = self.crew else { return stretch(self.isa, self.chains) };
        let (isa, chains, mut flops) = (self.isa, self.chains, vec![0.0; count]);
        threads.run(|| par::each_mut(&mut flops, |_, flops| *flops = stretch(isa, chains)));
        flops.iter().sum()
    }
}

/// Runs one of the loops; returns the number of operations. Never inlined, because a browser switches to a function's optimised code only
/// at the function's next call.
#[inline(never)]
fn stretch(isa: Isa, chains: Chains) -> f64 {
    kernel!(isa, |s: S, chains: Chains| -> f64 { if chains.wide { wide(s, chains.rounds) } else { narrow(s, chains.rounds) } })
}

#[derive(Clone, Copy)]
struct Chains {
    rounds: usize,
    /// True to run [`wide`], false to run [`narrow`]. In a chain, each multiply-add needs the previous result. [`wide`] has 12 chains, for
    /// processors whose multiply-adds have a long latency. [`narrow`] has 6 chains, which fit into 16 registers even if each product needs
    /// a register.
    wide: bool,
}

/// Computes c = c·x + y in 12 chains, and returns the number of operations.
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

/// Computes c = c + x·y in 6 chains, and returns the number of operations. x is new at each step. An unfused product therefore does not
/// wait for an earlier result.
#[inline(always)]
fn narrow<S: Simd>(s: S, rounds: usize) -> f64 {
    let mut factors = [0.0; 16];
    let (mut y, mut chains) = ([s.splat(0.0); 6], [s.splat(0.0); 6]);
    for i in 0..6 {
        y[i] = lanes(s, i as f32);
        chains[i] = y[i];
    }
    for _ in 0..rounds {
        black_box(&mut factors); // otherwise the products would be constant
        for factor in factors {
            let x = s.splat(factor);
            for i in 0..6 {
                chains[i] = s.mul_add(x, y[i], chains[i]);
            }
        }
    }
    finish(s, chains, 16 * rounds)
}

/// Returns a vector whose lanes are all x, but hides this equality from the compiler.
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
