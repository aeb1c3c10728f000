//! How a suite measures. Every speed follows one rule, which is in [`math::rounds`]: the median of sustained rounds, with its quartiles.
//! A share is of a peak measured by the same rule, in the same rounds.

use crate::figure::Figure;
use learn::{Fault, Learner, Slice};
use math::Isa;
use math::par::Threads;
use math::peak::Peak;
use math::rounds::{rounds_s, sustained_s};
use run::monitor::Writer;
use run::room::Schema;
use std::borrow::Cow;

/// Seconds from anywhere.
pub type Clock = fn() -> f64;

/// What measures a suite.
pub struct Bench<'a> {
    pub isa: Isa,
    pub now: Clock,
    /// What writes a monitor that is read ten times a second for as long as it is written; None where there can be none.
    pub attach: &'a mut dyn FnMut(&Schema) -> Option<Writer>,
    pub sink: &'a mut dyn FnMut(Figure),
    /// Which figures this machine cannot have, and why.
    pub lacks: &'a mut dyn FnMut(String),
}

impl Bench<'_> {
    /// Gives a figure of rounds.
    pub fn give(&mut self, name: impl Into<String>, rounds: &[f64], unit: impl Into<Cow<'static, str>>) {
        (self.sink)(Figure::measured(name, rounds, unit));
    }

    /// Gives a figure that is counted.
    pub fn count(&mut self, name: impl Into<String>, value: f64, unit: impl Into<Cow<'static, str>>) {
        (self.sink)(Figure::counted(name, value, unit));
    }
}

/// So much work in the seconds of each round.
pub fn rates(work: f64, rounds_s: &[f64]) -> Vec<f64> {
    rounds_s.iter().map(|round_s| work / round_s).collect()
}

/// The rate in each round, and its share of the peak at that moment. One unit of work takes `gflop` GFLOP.
pub fn rates_and_shares(rounds: usize, peak: &Peak, gflop: f64, now: Clock, mut rate: impl FnMut() -> f64) -> [Vec<f64>; 2] {
    let [mut rates, mut shares] = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        let (peak, rate) = (peak.gflops(&now), rate());
        rates.push(rate);
        shares.push(gflop * rate / peak);
    }
    [rates, shares]
}

/// Milliseconds of a call. For a second it is called before: a browser compiles again, and better, what has run for a while.
pub fn warmed_ms(now: Clock, mut call: impl FnMut()) -> Vec<f64> {
    sustained_s(1.0, &now, &mut call);
    milliseconds(&rounds_s(&now, call))
}

pub fn milliseconds(rounds_s: &[f64]) -> Vec<f64> {
    rounds_s.iter().map(|round_s| 1e3 * round_s).collect()
}

/// On one core.
pub fn alone<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    Threads::of(1).expect("one there always is").run(f)
}

/// Goes on to the end of the learner's iteration.
pub fn iterate<L: Learner>(learner: &mut L) -> Result<L::Stats, Fault> {
    loop {
        match learner.advance() {
            Slice::Ended(stats) => return Ok(stats),
            Slice::Stopped(fault) => return Err(fault),
            Slice::Worked | Slice::Waiting => {}
        }
    }
}

/// Numbers between -1 and 1 without a pattern; no zeros, no denormals.
pub fn noise(len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    math::Rng::new(7, 0).fill_uniform(Isa::best(), 0, &mut values);
    values.iter().map(|u| 2.0 * u - 1.0).collect()
}
