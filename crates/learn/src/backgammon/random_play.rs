//! Random games, for tests, examples and histograms.

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

/// Returns `count` positions of random games, each with the roll to be played. They are always the same positions.
pub fn positions(count: usize) -> Vec<(Board, Roll)> {
    /// Number of turns between two positions, so that the positions differ much.
    const APART: usize = 7;
    let mut all = Vec::new();
    play(APART * count, [1, 0x504f_5349], |board, roll, _, _| all.push((*board, roll)));
    all.into_iter().step_by(APART).collect()
}
