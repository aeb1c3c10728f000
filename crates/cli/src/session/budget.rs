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

/// The latest samples, oldest first.
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

pub fn remaining(budget: &Budget, then: &PaceSample, now: &PaceSample) -> Option<Remaining> {
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
