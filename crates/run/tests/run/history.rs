//! Tests of the rows and tests that a long run keeps, and of its training time.

use crate::common::*;
use run::internals::thin;
use run::protocol::{Command, Progress, Row};
use run::{AnyRun, History};

fn row(iteration: u32) -> Row {
    Row { progress: Progress { iteration, ..Progress::default() }, values: Vec::new() }
}

#[test]
fn a_long_history_keeps_its_beginning_and_its_end_evenly() {
    let mut history = History::default();
    (1..=20_000).for_each(|i| history.add(row(i)));
    let rows = history.rows().to_vec();
    assert!((2048..=4096).contains(&rows.len()));
    let stride = rows[1].progress.iteration - rows[0].progress.iteration;
    assert_eq!((rows[0].progress.iteration, stride), (1, 8));
    assert!(rows.windows(2).all(|two| two[1].progress.iteration - two[0].progress.iteration == stride));
    assert!(rows[rows.len() - 1].progress.iteration + stride > 20_000);
    // A restored history continues with the same stride.
    let mut restored = History::restored(rows, 20_000);
    (20_001..=50_000).for_each(|i| {
        history.add(row(i));
        restored.add(row(i));
    });
    assert_eq!(restored.rows(), history.rows());
}

#[test]
fn thinned_tests_keep_the_newest_and_the_one_that_solved() {
    let mut tests: Vec<_> = (1..=9).map(row).collect();
    thin(&mut tests, &[6]);
    let kept: Vec<_> = tests.iter().map(|test| test.progress.iteration).collect();
    assert_eq!(kept, [1, 3, 5, 6, 7, 9]);
}

#[test]
fn idle_time_is_not_training_time() {
    let mut run = start(&small("bandit", "three-arms", 1));
    let trained_s = |run: &mut dyn AnyRun, now_s: f64| {
        assert!(run.advance(now_s));
        run.progress().train_s
    };
    assert_eq!(trained_s(&mut *run, 5.0), 0.0);
    assert_eq!(trained_s(&mut *run, 5.5), 0.5);
    run.command(Command::Pause).unwrap();
    run.command(Command::Start).unwrap();
    assert_eq!(trained_s(&mut *run, 7.0), 0.5);
    // A gap of 693 seconds arises when the machine sleeps. At most one second of a gap counts as training.
    assert_eq!(trained_s(&mut *run, 700.0), 0.5 + 1.0);
}
