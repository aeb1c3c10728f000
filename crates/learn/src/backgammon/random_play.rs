//! Random games, for tests and examples.

use math::Rng;
use math::rng::Sequence;
use worlds::backgammon::{Board, Results, Roll};

/// Plays `count` turns at random. Before each move, calls `visit` with the board, the roll, the results of the roll (the boards after each
/// legal move), and the random numbers. The random numbers then also select the result that is played.
pub fn play(count: usize, key: [u32; 2], mut visit: impl FnMut(&Board, Roll, &[Board], &mut Sequence)) {
    let (mut numbers, mut scratch, mut board) = (Rng::new(key[0], key[1]).sequence(0), Results::new(), Board::START);
    for _ in 0..count {
        let roll = Roll::drawn(&mut numbers);
        let results = board.results(roll, &mut scratch);
        visit(&board, roll, results, &mut numbers);
        let left = results[numbers.below(results.len() as u32) as usize];
        board = if left.points() == 0 { left.turned() } else { Board::START };
    }
}
