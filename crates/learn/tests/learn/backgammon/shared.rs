//! Rounds in which remote workers play the games. The result must equal that of a learner without workers. The result must not depend on
//! the division of the games into pieces of work, or on the share of the work that the learner does itself.

use super::{long, rounds, same, small, spoiled, word};
use learn::backgammon::{Published, PublishedConfig, PublishedError, SelfTaught, Strong, StrongConfig, play};
use learn::{Data, Learner, Parts, Sharing, Slice, part};
use math::Isa;
use testkit::test;

fn strong() -> Strong {
    // The settings include rounds with look-ahead.
    let small = StrongConfig { hidden: 32, games: 16, batch: 128, ..StrongConfig::default() };
    let other = StrongConfig { narrow: 24, depth: 2, handmade: false, bearoff: false, ..small };
    let settings = StrongConfig { look_after: 32, look_games: 6, ..other };
    Strong::new(settings, 4, Isa::best()).expect("sound settings")
}

fn published() -> Published {
    let settings = PublishedConfig { width: 48, blocks: 1, actors: 5, games: 6, batch: 20, replay: 400, ..small() };
    Published::new(settings, 5, Isa::best()).expect("sound settings")
}

fn played(due: &Parts, pieces: std::ops::Range<u64>) -> Parts {
    play(&|name| part(due, name), pieces, Isa::best()).expect("pieces that are due")
}

/// Trains for `count` rounds with remote workers, which play `stretch` pieces of a round at a time. Before the learner accepts their
/// results, it runs `slices` slices itself.
fn shared_rounds(learner: &mut (impl SelfTaught + Sharing), count: u64, stretch: u64, slices: usize) {
    learner.share(true);
    let end = learner.progress().iterations + count;
    while learner.progress().iterations < end {
        if !learner.is_due() {
            learner.advance();
            continue;
        }
        let (pieces, due) = learner.due().expect("it said so");
        let parts = played(&due, pieces.start..pieces.end.min(pieces.start + stretch));
        (0..slices).for_each(|_| assert!(!matches!(learner.advance(), Slice::Ended(_))));
        learner.take(&|name| part(&parts, name)).expect("pieces that are due");
    }
    learner.share(false);
}

fn check_shared_rounds<L: SelfTaught + Sharing>(begin: impl Fn() -> L) {
    let (mut own, mut shared) = (begin(), begin());
    for (stretch, slices) in [(1, 0), (5, 1), (16, 1000), (3, 2)] {
        rounds(&mut own, 2);
        shared_rounds(&mut shared, 2, stretch, slices);
        same(&format!("in stretches of {stretch}"), &own.parts(), &shared.parts());
    }
    // Workers play two pieces of a round. After sharing ends, the learner plays the rest of the round itself.
    shared.share(true);
    let (pieces, due) = shared.due().expect("a round begins");
    let parts = played(&due, pieces.start..pieces.start + 2);
    shared.take(&|name| part(&parts, name)).expect("pieces that are due");
    while shared.advance() != Slice::Waiting {}
    assert!(!shared.at_boundary() && shared.due().is_some_and(|(left, _)| left == (pieces.start + 2..pieces.end)));
    shared.share(false);
    rounds(&mut own, 1);
    rounds(&mut shared, 1);
    same("left alone", &own.parts(), &shared.parts());
}

#[test]
fn shared_rounds_of_the_strong_learner_equal_its_own() {
    check_shared_rounds(strong);
}

#[test]
fn shared_rounds_of_the_published_learner_equal_its_own() {
    check_shared_rounds(published);
}

/// A round is too short for a search, so the workers continue searches of earlier rounds.
#[test]
fn shared_rounds_with_long_searches_equal_its_own() {
    check_shared_rounds(|| Published::new(long(), 5, Isa::best()).expect("sound settings"));
}

#[test]
fn a_round_begun_locally_is_completed_locally() {
    let (mut own, mut shared) = (published(), published());
    rounds(&mut own, 3);
    rounds(&mut shared, 2);
    shared.advance();
    shared.share(true);
    assert!(!shared.is_due() && shared.due().is_none());
    rounds(&mut shared, 1);
    same("begun here", &own.parts(), &shared.parts());
    assert!(shared.is_due());
}

#[test]
fn incomplete_results_are_rejected_without_changes() {
    let (mut own, mut learner) = (published(), published());
    rounds(&mut own, 4);
    rounds(&mut learner, 3);
    learner.share(true);
    let (pieces, due) = learner.due().expect("a round begins");
    let good = played(&due, pieces.clone());
    let last = |parts: &Parts, name: &str| part(parts, name).expect("a part of it").1.len();
    let mut wrong = vec![
        // Each element contains results with an error in one array, such as 15 checkers at a place or an invalid roll. The errors of the
        // first two elements are in the last actor.
        spoiled(&good, "games", word(last(&good, "games") - 16, !0)),
        spoiled(&good, "games", word(last(&good, "games") - 8, 77)),
        spoiled(&good, "games", word(14, 1 << 30)),
        spoiled(&good, "traces", word(last(&good, "traces") - 40 + 9, 2)),
        spoiled(&good, "played.samples", word(9, 6)),
        spoiled(&good, "played.counts", word(0, 1 << 30)),
        spoiled(&good, "played.samples", |data| *data = Data::U32(Vec::new())),
        spoiled(&good, "played", |data| *data = Data::U64(vec![u64::MAX])),
    ];
    wrong.extend((0..good.len()).map(|i| {
        let mut fewer = good.clone();
        fewer.remove(i);
        fewer
    }));
    for parts in &wrong {
        let before = learner.parts();
        let error = learner.take(&|name| part(parts, name)).expect_err("it is no round of this learner");
        assert!(error.downcast_ref::<PublishedError>().is_some(), "{error}");
        assert!(before == learner.parts());
    }
    let unsound = |name: &str, spoil: &dyn Fn(&mut Data)| {
        let unsound = spoiled(&due, name, spoil);
        play(&|name| part(&unsound, name), pieces.clone(), Isa::best()).err()
    };
    assert!(unsound("games", &word(8, 77)).is_some());
    assert!(unsound("actors.rule", &|data| *data = Data::F32(vec![-1.0; 6])).is_some());
    assert!(unsound("actors.weights", &|data| *data = Data::F32(vec![0.0])).is_some());
    assert!(unsound("actors", &|data| *data = Data::U64(vec![1, 5, 0, 12, 6, 20, 4, 60, 20])).is_some());
    learner.take(&|name| part(&good, name)).expect("pieces that are due");
    rounds(&mut learner, 1);
    same("after refusals", &own.parts(), &learner.parts());
}
