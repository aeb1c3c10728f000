//! Limits of a run, and the progress towards the limit that is expected to be reached first. The progress contains the used share of this
//! limit, and the remaining time at the current pace.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Limit of the room's first counter, such as environment steps or games; `None` if the counter has no limit.
    pub steps: Option<u64>,
    pub seconds: Option<f64>,
    pub cpu_seconds: Option<f64>,
    pub until_solved: bool,
}

impl Budget {
    pub fn is_endless(&self) -> bool {
        self.steps.is_none() && self.seconds.is_none() && self.cpu_seconds.is_none() && !self.until_solved
    }
}

/// Minimum number of seconds between two pace samples.
const EVERY_S: f64 = 1.0;
/// Maximum number of samples from which the pace is computed. Older samples are dropped, since the pace changes with knobs, devices and
/// system load.
const SAMPLES: usize = 30;

/// Progress towards the limit that is expected to be reached first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remaining {
    /// Share of the limit that is used, from 0 to 1.
    pub done: f64,
    /// Estimated number of seconds until the limit is reached.
    pub seconds: f64,
}

/// Wall-clock time, CPU time and the room's first counter at one moment.
#[derive(Clone, Copy, Debug)]
pub struct PaceSample {
    pub at_s: f64,
    pub cpu_s: f64,
    pub count: f64,
}

/// The newest samples, oldest first.
#[derive(Default)]
pub struct Pace(VecDeque<PaceSample>);

impl Pace {
    /// Adds a sample, unless the last sample is less than one second old. Returns the progress towards the limit that is expected to be
    /// reached first. Returns `None` if no sample was added or the pace is unknown.
    pub fn sample(&mut self, budget: &Budget, now: PaceSample) -> Option<Remaining> {
        if self.0.back().is_some_and(|last| now.at_s < last.at_s + EVERY_S) {
            return None;
        }
        if self.0.len() == SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(now);
        remaining(budget, self.0.front()?, &now)
    }
}

fn remaining(budget: &Budget, then: &PaceSample, now: &PaceSample) -> Option<Remaining> {
    let until = |limit: Option<f64>, used: fn(&PaceSample) -> f64| {
        let limit = limit?;
        let per_second = (used(now) - used(then)) / (now.at_s - then.at_s);
        let seconds = (limit - used(now)).max(0.0) / per_second;
        seconds.is_finite().then(|| Remaining { done: (used(now) / limit).min(1.0), seconds })
    };
    let limits = [
        until(budget.steps.map(|steps| steps as f64), |sample| sample.count),
        until(budget.seconds, |sample| sample.at_s),
        until(budget.cpu_seconds, |sample| sample.cpu_s),
    ];
    limits.into_iter().flatten().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_s: f64, cpu_s: f64, count: f64) -> PaceSample {
        PaceSample { at_s, cpu_s, count }
    }

    #[test]
    fn remaining_describes_the_first_limit() {
        let (then, now) = (sample(10.0, 20.0, 1e6), sample(20.0, 35.0, 1.5e6));
        let none = Budget::default();
        let steps = Budget { steps: Some(6_000_000), ..none.clone() };
        let estimate = |budget: &Budget| remaining(budget, &then, &now).map(|remaining| (remaining.done, remaining.seconds));
        assert_eq!(estimate(&none), None);
        assert_eq!(estimate(&Budget { until_solved: true, ..none.clone() }), None);
        assert_eq!(estimate(&steps), Some((0.25, 90.0)));
        assert_eq!(estimate(&Budget { seconds: Some(80.0), ..steps.clone() }), Some((0.25, 60.0)));
        assert_eq!(estimate(&Budget { seconds: Some(200.0), ..steps.clone() }), Some((0.25, 90.0)));
        assert_eq!(estimate(&Budget { cpu_seconds: Some(50.0), ..steps.clone() }), Some((0.7, 10.0)));
        // The time limit has passed, but the run has not reached the end of its iteration.
        assert_eq!(estimate(&Budget { seconds: Some(15.0), ..none.clone() }), Some((1.0, 0.0)));
        // The counter has not changed, so only the time limit has an estimate.
        let stalled = sample(20.0, 35.0, 1e6);
        assert_eq!(remaining(&steps, &then, &stalled), None);
        let timed = Budget { seconds: Some(80.0), ..steps };
        assert_eq!(remaining(&timed, &then, &stalled), Some(Remaining { done: 0.25, seconds: 60.0 }));
    }

    #[test]
    fn pace_uses_the_newest_samples_and_updates_each_second() {
        let budget = Budget { steps: Some(10_000), ..Budget::default() };
        let mut pace = Pace::default();
        let mut estimates = Vec::new();
        // The run makes 10 steps per second in the first 30 seconds, then 100 steps per second.
        for tenth in 0..=900u32 {
            let at_s = f64::from(tenth) / 10.0;
            let count = 10.0 * at_s + 90.0 * (at_s - 30.0).max(0.0);
            estimates.extend(pace.sample(&budget, sample(at_s, 0.0, count)));
        }
        assert_eq!(estimates.len(), 90, "the first sample has no pace");
        assert!((estimates[29].seconds - 970.0).abs() < 1e-6, "{:?}", estimates[29]);
        // Expected seconds: (10,000 - 6,300) steps / 100 steps per second.
        assert!((estimates[89].seconds - 37.0).abs() < 1e-6 && estimates[89].done == 0.63, "{:?}", estimates[89]);
    }
}
