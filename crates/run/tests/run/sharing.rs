//! Tests of shared runs, in which remote workers compute pieces of iterations. The result depends neither on the workers nor on how the
//! pieces are divided among them.

use crate::common::*;
use math::Isa;
use run::protocol::{Config, Event, Row};
use run::{AnyRun, Host, RunError, play};
use std::ops::Range;

/// Variants of backgammon that can be shared.
const SHARING: [&str; 2] = ["strong", "published"];

/// Returns a small config of the variant. Each round has enough pieces to be divided among workers.
fn pieces(variant: &str) -> Config {
    let more = if variant == "published" { "tables=9 games=2 batch=6 duel_pairs=1" } else { "" };
    with(small("backgammon", variant, 3), more)
}

/// Returns two runs for each variant: the first one is shared, the second one is not.
fn sharing() -> Vec<[Box<dyn AnyRun>; 2]> {
    let both = |variant: &&str| {
        let config = pieces(variant);
        let mut run = start(&config);
        run.share(true).unwrap();
        [run, start(&config)]
    };
    SHARING.iter().map(both).collect()
}

#[test]
fn learner_without_sharing_reports_it_with_a_next_step() {
    for (room, config) in each_learner(3) {
        if room.schema().id == "backgammon" && SHARING.contains(&&*config.variant) {
            continue;
        }
        let mut run = start(&config);
        for share in [true, false] {
            let error = run.share(share).unwrap_err();
            assert!(matches!(error, RunError::NotShared), "{error}");
            assert!(clear(&error).contains("one machine"), "{error}");
        }
        assert!(!run.is_due() && run.due().is_none());
        assert!(matches!(run.take(&[]), Err(RunError::Damaged { .. } | RunError::Foreign { .. })));
        train(&mut *run, 1);
    }
}

/// Advances the run until pieces are due. Returns the numbers of the pieces and the input for workers.
fn wait(run: &mut dyn AnyRun) -> (Range<u64>, Vec<u8>) {
    for _ in 0..100_000 {
        run.advance(0.0);
        if run.waiting() {
            return run.due().expect("the run waits without due pieces");
        }
    }
    panic!("no pieces became due");
}

/// Computes the pieces that are due as remote workers do, at most `most` pieces at a time.
fn play_remotely(run: &mut dyn AnyRun, most: u64) {
    let (pieces, due) = wait(run);
    for first in pieces.clone().step_by(most as usize) {
        let done = play(&due, first..(first + most).min(pieces.end), host()).unwrap();
        run.take(&done).unwrap();
    }
}

/// Returns the rows of metrics and tests, without training times and rates.
fn untimed_rows(run: &mut dyn AnyRun) -> Vec<(u32, Vec<f64>, Vec<Option<f64>>)> {
    let schema = run.schema();
    let untimed = |row: Row, columns| {
        let values = unrated(columns, &row);
        (row.progress.iteration, row.progress.counts, values)
    };
    let rows = run.events().into_iter().filter_map(|event| match event {
        Event::Metrics(row) => Some(untimed(row, schema.metrics)),
        Event::Test(row) => Some(untimed(row, schema.tests)),
        _ => None,
    });
    rows.collect()
}

#[test]
fn shared_run_equals_own_run_bit_for_bit() {
    for [mut shared, mut own] in sharing() {
        for most in [1000, 7, 1] {
            play_remotely(&mut *shared, most);
        }
        // A worker fails after five pieces. Another worker computes the other pieces.
        let (pieces, due) = wait(&mut *shared);
        shared.take(&play(&due, pieces.start..pieces.start + 5, host()).unwrap()).unwrap();
        play_remotely(&mut *shared, 4);
        train(&mut *shared, 4);
        train(&mut *own, 4);
        assert_eq!(shared.progress().counts, own.progress().counts);
        assert_eq!(shared.digest(), own.digest());
        assert_eq!(untimed_rows(&mut *shared), untimed_rows(&mut *own));
        // Both runs continue without sharing.
        shared.share(false).unwrap();
        train(&mut *shared, 6);
        train(&mut *own, 6);
        assert_eq!(shared.digest(), own.digest());
    }
}

#[test]
fn save_does_not_wait_for_workers_and_resumes_equal() {
    for [mut shared, mut own] in sharing() {
        play_remotely(&mut *shared, 9);
        let (pieces, due) = wait(&mut *shared);
        shared.take(&play(&due, pieces.start..pieces.start + 3, host()).unwrap()).unwrap();
        let saved = shared.save().unwrap();
        train(&mut *own, 2);
        assert_eq!(shared.digest(), own.digest());
        let mut again = resume(&saved);
        // The saved run is still shared; the restored run is not.
        play_remotely(&mut *shared, 6);
        train(&mut *shared, 3);
        train(&mut *again, 3);
        assert_eq!(shared.digest(), again.digest());
    }
}

#[test]
fn pieces_that_are_not_due_are_rejected_and_change_nothing() {
    for [mut shared, mut own] in sharing() {
        let (pieces, due) = wait(&mut *shared);
        let later = play(&due, pieces.start + 1..pieces.end, host()).unwrap();
        let error = shared.take(&later).unwrap_err().to_string();
        assert!(error.contains("in order"), "{error}");
        let first = play(&due, pieces.start..pieces.start + 2, host()).unwrap();
        shared.take(&first).unwrap();
        assert!(shared.take(&first).is_err(), "pieces were accepted twice");
        assert!(shared.take(&due).is_err(), "a request was accepted as a result");
        assert!(play(&first, pieces.clone(), host()).is_err(), "a result was accepted as a request");
        let mut cut = later.clone();
        cut.truncate(later.len() / 2);
        assert!(matches!(shared.take(&cut), Err(RunError::Damaged { .. })));
        // `play` computes only the pieces of the requested range that are due.
        shared.take(&play(&due, pieces.start + 2..u64::MAX, host()).unwrap()).unwrap();
        assert!(matches!(shared.take(&later), Err(RunError::NothingDue)));
        train(&mut *shared, 1);
        train(&mut *own, 1);
        assert_eq!(shared.digest(), own.digest());
    }
}

#[test]
fn worker_with_other_arithmetic_is_rejected() {
    let portable = Host::new(Isa::Portable);
    if Isa::Portable.fused() == Isa::best().fused() {
        return testkit::skip("this machine's best arithmetic is the portable one");
    }
    for [mut shared, _] in sharing() {
        let (pieces, due) = wait(&mut *shared);
        let error = play(&due, pieces, portable).unwrap_err();
        assert!(matches!(error, RunError::OtherBuild { .. }), "{error}");
        assert!(error.to_string().contains("Install"), "{error}");
    }
}
