//! Tests of the progress towards the limits of a run.

use cli::internals::budget::{Budget, Pace, PaceSample, Remaining, remaining};

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
