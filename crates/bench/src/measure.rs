//! Rules of measurement. A speed is measured in several rounds of a minimum duration ([`math::rounds`]). The figure contains the median and
//! the quartiles of the rounds. A share is relative to a peak that is measured by the same rule in the same rounds.

use crate::figure::Figure;
use learn::{Fault, Learner, Slice};
use math::Isa;
use math::par::Threads;
use math::peak::Peak;
use math::rounds::{rounds_s, sustained_s};
use run::monitor::Writer;
use run::room::Schema;
use std::borrow::Cow;

/// Function that returns the time in seconds since an arbitrary moment.
pub type Clock = fn() -> f64;

/// Instruction set, clock and callbacks that a benchmark suite uses.
pub struct Bench<'a> {
    pub isa: Isa,
    pub now: Clock,
    /// Function that creates a monitor and returns its writer, or `None` if no monitor can be created. In the terminal, another thread
    /// reads the monitor about ten times per second.
    pub attach: &'a mut dyn FnMut(&Schema) -> Option<Writer>,
    pub sink: &'a mut dyn FnMut(Figure),
    /// Callback that receives the names of figures that this machine cannot measure, with the reason.
    pub report_missing: &'a mut dyn FnMut(String),
}

impl Bench<'_> {
    /// Reports a figure with the median and the quartiles of `rounds`.
    pub fn give(&mut self, name: impl Into<String>, rounds: &[f64], unit: impl Into<Cow<'static, str>>) {
        (self.sink)(Figure::measured(name, rounds, unit));
    }

    /// Reports a count as a figure.
    pub fn count(&mut self, name: impl Into<String>, value: f64, unit: impl Into<Cow<'static, str>>) {
        (self.sink)(Figure::counted(name, value, unit));
    }
}

/// Returns the rate in each round: `work` divided by the seconds per call. `work` is the work of one call. `rounds_s` contains the seconds
/// per call in each round.
pub fn rates(work: f64, rounds_s: &[f64]) -> Vec<f64> {
    rounds_s.iter().map(|round_s| work / round_s).collect()
}

/// Returns two lists with one value per round: the result of `rate`, and the same rate as a share of the round's peak. `rate` returns units
/// of work per second. One unit needs `gflop` GFLOP.
pub fn rates_and_shares(rounds: usize, peak: &Peak, gflop: f64, now: Clock, mut rate: impl FnMut() -> f64) -> [Vec<f64>; 2] {
    let [mut rates, mut shares] = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        let (peak, rate) = (peak.gflops(&now), rate());
        rates.push(rate);
        shares.push(gflop * rate / peak);
    }
    [rates, shares]
}

/// Returns the milliseconds per call, in each round. One second of warm-up precedes the rounds, because a browser optimises code only while
/// the code runs.
pub fn warmed_ms(now: Clock, mut call: impl FnMut()) -> Vec<f64> {
    sustained_s(1.0, &now, &mut call);
    milliseconds(&rounds_s(&now, call))
}

pub fn milliseconds(rounds_s: &[f64]) -> Vec<f64> {
    rounds_s.iter().map(|round_s| 1e3 * round_s).collect()
}

/// Runs `f` on one core.
pub fn alone<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    Threads::of(1).expect("one thread is always available").run(f)
}

/// Advances the learner to the end of its iteration.
pub fn iterate<L: Learner>(learner: &mut L) -> Result<L::Stats, Fault> {
    loop {
        match learner.advance() {
            Slice::Ended(stats) => return Ok(stats),
            Slice::Stopped(fault) => return Err(fault),
            Slice::Worked | Slice::Waiting => {}
        }
    }
}

/// Returns pseudorandom numbers between -1 and 1, without denormals.
pub fn noise(len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    math::Rng::new(7, 0).fill_uniform(Isa::best(), 0, &mut values);
    values.iter().map(|u| 2.0 * u - 1.0).collect()
}
