//! Tests of the sweep of a text shell: knobs that a user types, the values of an axis, and the quartiles of outcomes.

use run::RunError;
use run::axis::axis;
use run::outcomes::{Ended, Outcome, Quartiles};
use run::protocol::{Knobs, Value};
use run::typed::set_one;

#[test]
fn knobs_are_parsed_by_their_kind() {
    let knobs = run::rooms()[0].knobs(&run::rooms()[0].variants()[0].id);
    let set = |name: &str, text: &str| set_one(name, text, &knobs);
    assert_eq!(set("lr", "3e-3").unwrap(), 0.003.into());
    assert_eq!(set("envs", "1_024").unwrap(), 1024.0.into());
    for yes in ["1", "on", "true", "yes"] {
        assert_eq!(set("clip_value", yes).unwrap(), 1.0.into());
    }
    assert!(set("lr", "fast").is_err() && set("lr", "99").is_err() && set("wings", "2").is_err());
}

fn points(text: &str, count: u32) -> Result<Vec<f64>, RunError> {
    let knobs = run::room("control").unwrap().knobs("CartPole-v1");
    let number = |value| match value {
        Value::Number(number) => number,
        Value::Text(text) => panic!("{text}"),
    };
    Ok(axis(text).unwrap().values(count, &knobs)?.into_iter().map(number).collect())
}

#[test]
fn knobs_are_ranges_or_lists() {
    let of = |text, count| points(text, count).unwrap();
    assert_eq!(of("lr=1e-4..1e-2:log", 5), [1e-4, 3.16228e-4, 1e-3, 3.16228e-3, 1e-2]);
    assert_eq!(of("gamma=0.9..0.98", 3), [0.9, 0.94, 0.98]);
    assert_eq!(of("hidden=16..64:log", 4), [16.0, 25.0, 40.0, 64.0]);
    assert_eq!(of("epochs=1..3", 5), [1.0, 2.0, 3.0], "whole-number knobs have distinct whole-number values");
    assert_eq!(of("clip_value=off,on", 9), [0.0, 1.0]);
    assert_eq!(of("lr=3e-3,1e-3,3e-3", 9), [0.003, 0.001]);
    assert!(points("lr=a,b", 2).is_err() && points("wings=1,2", 2).is_err());
    for bad in ["lr", "lr=", "lr=1..", "lr=2..1", "lr=1..1", "lr=0..1:log", "lr=1..2:cubic"] {
        assert!(axis(bad).is_err(), "{bad}");
    }
}

#[test]
fn axes_fuzz() {
    let knobs = run::room("control").unwrap().knobs("CartPole-v1");
    let good = ["lr=1e-4..1e-2:log", "gamma=0.9..0.98", "clip_value=off,on", "hidden=16,32,64", "variant=a,b"];
    testkit::fuzz("axis", testkit::cases(300), |mutator| {
        let good = mutator.one_of(&good);
        let text = mutator.text(good);
        match axis(&text) {
            Err(error) => assert!(error.len() > 10, "{error}"),
            Ok(axis) => {
                assert!(axis.values(5, &knobs).map_or(true, |values| values.len() <= text.len() + 5))
            }
        }
    });
}

/// Returns the quartiles of the times at which runs were solved. A run with an infinite time was not solved.
fn quartiles(times: &[f64]) -> Quartiles {
    let run = |&at: &f64| Ended { result: None, solved_at: Some(at).filter(|at| at.is_finite()), diverged: false };
    let runs: Vec<_> = times.iter().map(run).collect();
    Outcome::of(&Knobs::new(), &runs).solved_at
}

#[test]
fn quartiles_match_numpy() {
    // Expected: numpy.percentile([7, 1, 4, 2], [25, 50, 75])
    let q = quartiles(&[7.0, 1.0, 4.0, 2.0]);
    assert_eq!((q.q1, q.median, q.q3), (Some(1.75), Some(3.0), Some(4.75)));
    let never = f64::INFINITY;
    let q = quartiles(&[never, 10.0, 30.0, never, 20.0]);
    assert_eq!((q.q1, q.median, q.q3), (Some(20.0), Some(30.0), None));
    let q = quartiles(&[never, 10.0]);
    assert_eq!((q.q1, q.median, q.q3), (None, None, None));
    assert_eq!(quartiles(&[]), Quartiles::default());
    assert_eq!(quartiles(&[5.0]).q3, Some(5.0));
}

#[test]
fn solved_and_diverged_runs_are_counted() {
    let run = |solved_at, diverged| Ended { result: None, solved_at, diverged };
    let counted = Outcome::of(&Knobs::new(), &[run(Some(5.0), false), run(None, true), run(None, true)]);
    assert_eq!((counted.runs, counted.solved, counted.diverged), (3, 1, 2));
}
