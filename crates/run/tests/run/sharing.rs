//! Iterations whose pieces others do: whoever does them and however they are cut, the run is the one that does them all itself.

use crate::common::*;
use math::Isa;
use run::protocol::{Config, Event, Row};
use run::{AnyRun, Host, RunError, play};
use std::ops::Range;

/// Learners that share.
const SHARING: [&str; 2] = ["strong", "published"];

/// One of them, with enough pieces in a round to be cut.
fn pieces(variant: &str) -> Config {
    let more = if variant == "published" { "tables=9 games=2 batch=6 duel_pairs=1" } else { "" };
    with(small("backgammon", variant, 3), more)
}

/// Each, with a run that does and one that does not.
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
fn a_learner_that_shares_nothing_says_so_and_what_to_do() {
    for (room, config) in every(3) {
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

/// Works until pieces are due.
fn wait(run: &mut dyn AnyRun) -> (Range<u64>, Vec<u8>) {
    for _ in 0..100_000 {
        run.advance(0.0);
        if run.waiting() {
            return run.due().expect("it waits for something");
        }
    }
    panic!("it never shares");
}

/// Does the rest of an iteration's pieces, a few at a time, in another process as it were.
fn bring(run: &mut dyn AnyRun, most: u64) {
    let (pieces, due) = wait(run);
    for first in pieces.clone().step_by(most as usize) {
        let done = play(&due, first..(first + most).min(pieces.end), host()).unwrap();
        run.take(&done).unwrap();
    }
}

/// What it told that no clock has to do with.
fn told(run: &mut dyn AnyRun) -> Vec<(u32, Vec<f64>, Vec<Option<f64>>)> {
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
fn a_run_whose_pieces_others_do_is_the_same_to_the_bit() {
    for [mut shared, mut own] in sharing() {
        for most in [1000, 7, 1] {
            bring(&mut *shared, most);
        }
        // Another one dies in the middle, and the rest is done anew by who is left.
        let (pieces, due) = wait(&mut *shared);
        shared.take(&play(&due, pieces.start..pieces.start + 5, host()).unwrap()).unwrap();
        bring(&mut *shared, 4);
        train(&mut *shared, 4);
        train(&mut *own, 4);
        assert_eq!(shared.progress().counts, own.progress().counts);
        assert_eq!(shared.digest(), own.digest());
        assert_eq!(told(&mut *shared), told(&mut *own));
        // Both go on as one.
        shared.share(false).unwrap();
        train(&mut *shared, 6);
        train(&mut *own, 6);
        assert_eq!(shared.digest(), own.digest());
    }
}

#[test]
fn a_save_waits_for_nobody_and_goes_on_as_the_run_does() {
    for [mut shared, mut own] in sharing() {
        bring(&mut *shared, 9);
        let (pieces, due) = wait(&mut *shared);
        shared.take(&play(&due, pieces.start..pieces.start + 3, host()).unwrap()).unwrap();
        let saved = shared.save().unwrap();
        train(&mut *own, 2);
        assert_eq!(shared.digest(), own.digest());
        let mut again = resume(&saved);
        // It is shared still, and what was restored is another's to share.
        bring(&mut *shared, 6);
        train(&mut *shared, 3);
        train(&mut *again, 3);
        assert_eq!(shared.digest(), again.digest());
    }
}

#[test]
fn pieces_that_are_not_due_are_refused_and_change_nothing() {
    for [mut shared, mut own] in sharing() {
        let (pieces, due) = wait(&mut *shared);
        let later = play(&due, pieces.start + 1..pieces.end, host()).unwrap();
        let error = shared.take(&later).unwrap_err().to_string();
        assert!(error.contains("due"), "{error}");
        let first = play(&due, pieces.start..pieces.start + 2, host()).unwrap();
        shared.take(&first).unwrap();
        assert!(shared.take(&first).is_err(), "twice");
        assert!(shared.take(&due).is_err(), "what to do is not what was done");
        assert!(play(&first, pieces.clone(), host()).is_err(), "and the other way round");
        let mut cut = later.clone();
        cut.truncate(later.len() / 2);
        assert!(matches!(shared.take(&cut), Err(RunError::Damaged { .. })));
        // None beyond what is due are done, whatever is asked for.
        shared.take(&play(&due, pieces.start + 2..u64::MAX, host()).unwrap()).unwrap();
        assert!(matches!(shared.take(&later), Err(RunError::NothingDue)));
        train(&mut *shared, 1);
        train(&mut *own, 1);
        assert_eq!(shared.digest(), own.digest());
    }
}

#[test]
fn who_plays_otherwise_is_refused() {
    let portable = Host::new(Isa::Portable);
    if Isa::Portable.fused() == Isa::best().fused() {
        return testkit::skip("this machine's best arithmetic is the plain one");
    }
    for [mut shared, _] in sharing() {
        let (pieces, due) = wait(&mut *shared);
        let error = play(&due, pieces, portable).unwrap_err();
        assert!(matches!(error, RunError::OtherBuild { .. }), "{error}");
        assert!(error.to_string().contains("Install"), "{error}");
    }
}
