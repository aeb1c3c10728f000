//! Games of backgammon, with every result of each roll, allocate nothing. A file of its own: the counter counts for the whole
//! process, so nothing else may run beside it. Native only, as the counter is.
#![cfg(not(target_arch = "wasm32"))]

use math::Rng;
use std::alloc::System;
use worlds::backgammon::{Board, Game, Results, Roll, Stage, Stakes};

#[global_allocator]
static COUNTER: &stats_alloc::StatsAlloc<System> = &stats_alloc::INSTRUMENTED_SYSTEM;

#[test]
fn playing_allocates_nothing() {
    let (mut numbers, mut room) = (Rng::new(1, 2).sequence(0), Results::new());
    let (mut ended, mut read, before) = (0, 0, COUNTER.stats());
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
    let after = COUNTER.stats();
    assert_eq!(after.allocations - before.allocations, 0);
    assert_eq!(after.reallocations - before.reallocations, 0);
    assert!(ended == 100 && read > 2000, "{read}");
}
