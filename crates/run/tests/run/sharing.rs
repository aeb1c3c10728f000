//! Iterations whose pieces others do: whoever does them and however they are cut, the run is the one that does them all itself.

use crate::common::*;
use math::Isa;
use run::protocol::{Column, Command, Event, Row};
use run::{AnyRun, Host, RunError, play};
use std::ops::Range;

/// Every learner that shares, with a run that does and one that does not.
fn sharing() -> Vec<[Box<dyn AnyRun>; 2]> {
    let mut all = Vec::new();
    for room in rooms() {
        for variant in room.variants() {
            let config = small(room.schema().id, variant.id, 3);
            let mut run = start(&config);
            match run.share(true) {
                Ok(()) => all.push([run, start(&config)]),
                Err(error) => {
                    assert!(matches!(error, RunError::NotShared), "{error}");
                    assert!(
                        run.due().is_none()
                            && matches!(
                                run.take(&[]),
                                Err(RunError::Damaged { .. } | RunError::Foreign { .. })
                            )
                    );
                }
            }
        }
    }
    assert!(!all.is_empty());
    all
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
    let untimed = |row: Row, columns: &[Column]| {
        let values = columns.iter().zip(row.values).filter(|(column, _)| column.rate.is_none());
        (row.progress.iteration, row.progress.counts, values.map(|(_, value)| value).collect())
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
        wait(&mut *shared);
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
        let mut again = run::restore(&saved, host()).unwrap();
        again.command(Command::Start).unwrap();
        // It is shared still, and what was restored is another's to share.
        bring(&mut *shared, 6);
        wait(&mut *shared);
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
        wait(&mut *shared);
        train(&mut *own, 1);
        assert_eq!(shared.digest(), own.digest());
    }
}

#[test]
fn who_plays_otherwise_is_refused() {
    let portable = Host::new(Isa::Portable);
    for [mut shared, _] in sharing() {
        let (pieces, due) = wait(&mut *shared);
        if Isa::Portable.fused() == Isa::best().fused() {
            return; // this machine's best is the plain one
        }
        let error = play(&due, pieces, portable).unwrap_err();
        assert!(matches!(error, RunError::OtherBuild { .. }), "{error}");
        assert!(error.to_string().contains("Install"), "{error}");
    }
}
