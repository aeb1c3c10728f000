//! A round of the strong learner allocates nothing once its lists have grown, and neither does its player, with a search or without. A file
//! of its own: the counter counts for the whole process, so nothing else may run beside it. Native only, as the counter is.
#![cfg(not(target_arch = "wasm32"))]

use learn::backgammon::{Learner, Slice, Strong, StrongConfig};
use math::{Isa, Rng};
use std::alloc::System;
use worlds::backgammon::{Board, Roll};

#[global_allocator]
static COUNTER: &stats_alloc::StatsAlloc<System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// How often `work` allocates. The test harness's own thread allocates now and then while a test runs, and lists grow for a
/// while, so the least of some rounds is what the work itself takes.
fn allocations(mut work: impl FnMut()) -> usize {
    let round = |_| {
        let before = COUNTER.stats();
        work();
        let taken = COUNTER.stats() - before;
        taken.allocations + taken.reallocations
    };
    (0..12).map(round).min().unwrap_or(0)
}

#[test]
fn playing_and_learning_allocate_nothing() {
    let settings = StrongConfig { hidden: 32, games: 16, batch: 128, ..StrongConfig::default() };
    let mut strong = Strong::new(settings, 3, Isa::best()).expect("sound settings");
    let taken = allocations(|| while strong.advance() == Slice::Worked {});
    assert!(taken == 0 && strong.progress().rounds == 12, "{taken}");

    for evals in [1, 60] {
        let mut player = strong.player(evals);
        let (mut numbers, mut board, mut chosen) = (Rng::new(1, 2).sequence(0), Board::START, Vec::new());
        let taken = allocations(|| {
            for _ in 0..40 {
                player.choose(&[(board, Roll::drawn(&mut numbers))], &mut chosen);
                board = if chosen[0].points() == 0 { chosen[0].turned() } else { Board::START };
            }
        });
        assert_eq!(taken, 0, "{evals} evaluations");
    }
}
