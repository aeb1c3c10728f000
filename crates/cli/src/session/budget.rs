//! What ends a run, how much of it is done, and how long the rest takes at the present pace.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Of the room's first counter.
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

/// Seconds between two looks, and how many of them the pace is of: not of all the run, since knobs, devices and what is done beside
/// the training change it.
const EVERY_S: f64 = 1.0;
const LOOKS: usize = 30;

/// Of the limit that is reached first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// 0 to 1.
    pub done: f64,
    /// Until it is reached, about.
    pub seconds: f64,
}

/// How far a process has come on the wall, on its processors and in what the room counts first.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub at_s: f64,
    pub cpu_s: f64,
    pub count: f64,
}

/// The newest looks.
#[derive(Default)]
pub struct Pace(VecDeque<Look>);

impl Pace {
    /// What is left now, where it is time to tell it and there is a pace.
    pub fn look(&mut self, budget: &Budget, now: Look) -> Option<Left> {
        if self.0.back().is_some_and(|last| now.at_s < last.at_s + EVERY_S) {
            return None;
        }
        if self.0.len() == LOOKS {
            self.0.pop_front();
        }
        self.0.push_back(now);
        left(budget, self.0.front()?, &now)
    }
}

fn left(budget: &Budget, then: &Look, now: &Look) -> Option<Left> {
    let of = |limit: Option<f64>, used: fn(&Look) -> f64| {
        let limit = limit?;
        let a_second = (used(now) - used(then)) / (now.at_s - then.at_s);
        let seconds = (limit - used(now)).max(0.0) / a_second;
        seconds.is_finite().then(|| Left { done: (used(now) / limit).min(1.0), seconds })
    };
    let limits = [
        of(budget.steps.map(|steps| steps as f64), |look| look.count),
        of(budget.seconds, |look| look.at_s),
        of(budget.cpu_seconds, |look| look.cpu_s),
    ];
    limits.into_iter().flatten().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at_s: f64, cpu_s: f64, count: f64) -> Look {
        Look { at_s, cpu_s, count }
    }

    #[test]
    fn the_limit_that_is_reached_first_is_told() {
        let (then, now) = (look(10.0, 20.0, 1e6), look(20.0, 35.0, 1.5e6));
        let none = Budget::default();
        let steps = Budget { steps: Some(6_000_000), ..none.clone() };
        let told = |budget: &Budget| left(budget, &then, &now).map(|left| (left.done, left.seconds));
        assert_eq!(told(&none), None);
        assert_eq!(told(&Budget { until_solved: true, ..none.clone() }), None);
        assert_eq!(told(&steps), Some((0.25, 90.0)));
        assert_eq!(told(&Budget { seconds: Some(80.0), ..steps.clone() }), Some((0.25, 60.0)));
        assert_eq!(told(&Budget { seconds: Some(200.0), ..steps.clone() }), Some((0.25, 90.0)));
        assert_eq!(told(&Budget { cpu_seconds: Some(50.0), ..steps.clone() }), Some((0.7, 10.0)));
        // Beyond it, until the iteration ends; and where nothing is counted, time alone tells.
        assert_eq!(told(&Budget { seconds: Some(15.0), ..none.clone() }), Some((1.0, 0.0)));
        let still = look(20.0, 35.0, 1e6);
        assert_eq!(left(&steps, &then, &still), None);
        let timed = Budget { seconds: Some(80.0), ..steps };
        assert_eq!(left(&timed, &then, &still), Some(Left { done: 0.25, seconds: 60.0 }));
    }

    #[test]
    fn the_pace_is_the_newest_and_told_each_second() {
        let budget = Budget { steps: Some(10_000), ..Budget::default() };
        let mut pace = Pace::default();
        let mut told = Vec::new();
        // Ten a second, and after half a minute a hundred.
        for tenth in 0..=900u32 {
            let at_s = f64::from(tenth) / 10.0;
            let count = 10.0 * at_s + 90.0 * (at_s - 30.0).max(0.0);
            told.extend(pace.look(&budget, look(at_s, 0.0, count)));
        }
        assert_eq!(told.len(), 90, "the first look has no pace");
        assert!((told[29].seconds - 970.0).abs() < 1e-6, "{:?}", told[29]);
        // (10,000 - 6,300) / 100
        assert!((told[89].seconds - 37.0).abs() < 1e-6 && told[89].done == 0.63, "{:?}", told[89]);
    }
}
