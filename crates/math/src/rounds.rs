//! The rule for all measured speeds: **the median of sustained rounds, with its quartiles**. A round lasts at least a given time and counts
//! every call in that time, including slow calls. The two speeds of a ratio are measured in alternating rounds of the same length. This
//! crate has no clock, so the caller passes `now`, which returns seconds.

/// Number of rounds for calls that take milliseconds.
pub const ROUNDS: usize = 15;
/// Number of rounds for calls that take seconds.
pub const FEW: usize = 5;
/// Minimum duration of a round in seconds.
pub const ROUND_S: f64 = 0.04;

/// Quartiles of several values of one quantity, such as the rounds of a measurement or the results of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    pub lower: f64,
    pub median: f64,
    pub upper: f64,
}

impl Quartiles {
    /// Computes the quartiles by linear interpolation between the sorted samples, as in NumPy. A measurement that never finished is an
    /// infinite sample.
    ///
    /// # Panics
    /// If there are no samples.
    #[track_caller]
    pub fn of(samples: &[f64]) -> Quartiles {
        assert!(!samples.is_empty(), "a figure needs a round: there are no samples");
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            // Equal samples need no interpolation, and the difference of two infinities would be NaN.
            if low == high { low } else { low + (high - low) * place.fract() }
        };
        Quartiles { lower: at(0.25), median: at(0.5), upper: at(0.75) }
    }
}

/// Returns the seconds per call: the mean over all calls in a round of at least `round_s` seconds. The clock is read about twenty times per
/// round, so a slow clock costs almost nothing.
pub fn sustained_s(round_s: f64, now: &dyn Fn() -> f64, mut call: impl FnMut()) -> f64 {
    let (began_s, mut done, mut next) = (now(), 0u64, 1u64);
    loop {
        (0..next).for_each(|_| call());
        done += next;
        let took_s = now() - began_s;
        if took_s >= round_s {
            return took_s / done as f64;
        }
        let in_a_twentieth = 0.05 * round_s * done as f64 / took_s;
        next = (in_a_twentieth as u64).clamp(1, 2 * done);
    }
}

/// Returns the seconds per call in each of [`ROUNDS`] rounds of at least [`ROUND_S`] seconds.
pub fn rounds_s(now: &dyn Fn() -> f64, mut call: impl FnMut()) -> Vec<f64> {
    (0..ROUNDS).map(|_| sustained_s(ROUND_S, now, &mut call)).collect()
}
