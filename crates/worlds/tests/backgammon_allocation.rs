//! Games of backgammon, with every result of each roll, allocate nothing. A file of its own: the counter counts for the whole
//! process, so nothing else may run beside it. Native only, as the counter is.
#![cfg(not(target_arch = "wasm32"))]

use math::Rng;
use std::alloc::System;
use worlds::backgammon::{Board, Game, Results, Roll, Stage, Stakes};

#[global_allocator]
static COUNTER: &stats_alloc::StatsAlloc<System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// How often `work` allocates. The test harness's own thread allocates now and then while a test runs, so the least of some
/// rounds is what the work itself took.
fn allocations(mut work: impl FnMut()) -> usize {
    let round = |_| {
        let before = COUNTER.stats();
        work();
        let taken = COUNTER.stats() - before;
        taken.allocations + taken.reallocations
    };
    (0..5).map(round).min().unwrap_or(0)
}

#[test]
fn playing_allocates_nothing() {
    let (mut numbers, mut room) = (Rng::new(1, 2).sequence(0), Results::new());
    let (mut ended, mut read) = (0, 0);
    let taken = allocations(|| {
        for _ in 0..100 {
            let mut game = Game::new(Stakes::Money);
            while !matches!(game.stage(), Stage::Over(_)) {
                if let Stage::ToPlay(roll) = game.stage() {
                    let results = game.board().results(roll, &mut room);
                    let after = results[numbers.below(results.len() as u32) as usize];
                    read += usize::from(Board::from_id(after.id().as_str()) == Ok(after));
                    game.play(after, &mut room).expect("one of the results");
                } else {
                    let roll = Roll::drawn_to_open(&mut numbers);
                    game.roll([roll.high(), roll.low()]).expect("dice are due");
                }
            }
            ended += 1;
        }
    });
    assert_eq!(taken, 0);
    assert!(ended == 500 && read > 10_000, "{read}");
}
