//! Games of backgammon, with every result of each roll, allocate nothing. Native only, for the time it takes.
#![cfg(not(target_arch = "wasm32"))]

use math::Rng;
use testkit::allocations;
use worlds::backgammon::{Board, Game, Results, Roll, Stage, Stakes};

#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;

#[test]
fn playing_allocates_nothing() {
    let (mut numbers, mut room) = (Rng::new(1, 2).sequence(0), Results::new());
    let (mut ended, mut read) = (0, 0);
    let taken = allocations(|| {
        for _ in 0..500 {
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
