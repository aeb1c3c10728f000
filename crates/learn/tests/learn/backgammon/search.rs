//! Tests of the player that searches with the strong learner's network. With enough evaluations, its values are exact one-ply values. Its
//! statistics are consistent, and its results are deterministic.

use learn::backgammon::{Candidate, Player, SelfTaught, Strong, StrongConfig};
use math::Isa;
use testkit::test;
use worlds::backgammon::{Board, Results, Roll};

fn learned(rounds: u64) -> Strong {
    let settings = StrongConfig { hidden: 32, games: 64, ..StrongConfig::default() };
    let mut strong = Strong::new(settings, 2, Isa::best()).expect("sound settings");
    super::rounds(&mut strong, rounds);
    strong
}

/// Returns `count` positions with their rolls, from games that `player` plays against itself.
fn sample_decisions(player: &mut dyn Player, count: usize) -> Vec<(Board, Roll)> {
    let mut chosen = Vec::new();
    super::sample_decisions(count, 9, |board, roll| {
        player.choose(&[(board, roll)], &mut chosen);
        chosen.remove(0)
    })
}

/// Returns the one-ply value of a board after a move. For each roll, the opponent chooses the reply with the best static value; the result
/// is the mean over all rolls.
fn one_move_ahead(plain: &mut dyn Player, left: Board) -> f32 {
    let reply = |roll: Roll| plain.rank(left.turned(), roll)[0].equity * roll.ways() as f32;
    -Roll::ALL.into_iter().map(reply).sum::<f32>() / 36.0
}

#[test]
fn enough_evaluations_give_exact_one_ply_values() {
    let strong = learned(4);
    let (mut plain, mut deep) = (strong.player(1), strong.player(400));
    let mut searched = 0;
    for (board, roll) in sample_decisions(&mut *plain, 60) {
        let ranked = deep.rank(board, roll);
        let shares: f32 = ranked.iter().map(|candidate| candidate.share).sum();
        if shares == 0.0 {
            continue;
        }
        searched += 1;
        let best = one_move_ahead(&mut *plain, ranked[0].board);
        assert!((ranked[0].equity - best).abs() < 1e-4, "{board:?} {roll:?}: {} {best}", ranked[0].equity);
        for other in ranked.iter().filter(|candidate| candidate.share > 0.0) {
            let by = one_move_ahead(&mut *plain, other.board);
            // The search may drop a candidate before it has evaluated all rolls. Another candidate may therefore be slightly better than
            // the first candidate.
            assert!(by < best + 0.05, "{board:?} {roll:?}: {other:?} is worth {by}, above {best}");
        }
    }
    assert!(searched > 30, "{searched}");
}

#[test]
fn candidates_are_all_results_and_add_up() {
    let strong = learned(4);
    let mut scratch = Results::new();
    let most = if testkit::all() { 5000 } else { 1000 };
    for evals in [1, 2, 7, 30, 100, most] {
        let (mut player, mut again) = (strong.player(evals), strong.player(evals));
        for (board, roll) in sample_decisions(&mut *strong.player(1), 25) {
            let ranked = player.rank(board, roll);
            let mut chosen = Vec::new();
            again.choose(&[(board, roll)], &mut chosen);
            assert_eq!(chosen, [ranked[0].board], "{evals}");
            let mut boards: Vec<_> = ranked.iter().map(|candidate| candidate.board.id()).collect();
            boards.sort_unstable();
            let mut results: Vec<_> = board.results(roll, &mut scratch).iter().map(Board::id).collect();
            results.sort_unstable();
            assert_eq!(boards, results, "{evals}");
            let sum = |of: fn(&Candidate) -> f32| ranked.iter().map(of).sum::<f32>();
            let share = sum(|candidate| candidate.share);
            assert!((sum(|candidate| candidate.prior) - 1.0).abs() < 1e-4, "{evals}");
            assert!((share - 1.0).abs() < 1e-4 || share == 0.0, "{evals}: {share}");
            for candidate in ranked {
                let all: f32 = candidate.chances.0.iter().sum();
                assert!((all - 1.0).abs() < 1e-4, "{candidate:?}");
                assert!((candidate.chances.equity() as f32 - candidate.equity).abs() < 1e-4, "{candidate:?}");
            }
        }
    }
}

/// A large equity does not make priors infinite, because priors are computed relative to the best candidate.
#[test]
fn an_immediate_backgammon_gets_the_whole_prior() {
    let (mut mine, mut theirs) = ([0; 25], [0; 25]);
    (mine[0], theirs[22]) = (1, 15);
    let board = Board::new(mine, theirs).expect("a board");
    let ranked = learned(0).player(1).rank(board, Roll::new(2, 1).expect("a roll"));
    assert_eq!(ranked.len(), 1);
    assert_eq!((ranked[0].equity, ranked[0].prior), (3.0, 1.0));
}

#[test]
fn expected_probabilities_are_the_mean_over_its_moves() {
    let strong = learned(16);
    let mut player = strong.player(1);
    let boards = sample_decisions(&mut *player, 100);
    let pairs: Vec<(f32, f32)> = boards
        .iter()
        .map(|(board, _)| {
            let expected = player.expects(*board).expect("it has an opinion").equity() as f32;
            (expected, -one_move_ahead(&mut *player, board.turned()))
        })
        .collect();
    let mean = |of: &dyn Fn(&(f32, f32)) -> f32| pairs.iter().map(of).sum::<f32>() / pairs.len() as f32;
    let middle = mean(&|pair| pair.1);
    let spread = mean(&|pair| (pair.1 - middle).powi(2)).sqrt();
    let error = mean(&|pair| (pair.0 - pair.1).powi(2)).sqrt();
    // The error is the difference between the two values. Training reduces the error. After 16 rounds, the error is about an eighth of the
    // spread between positions.
    assert!(spread > 0.3 && error < 0.25 * spread, "they differ by {spread}, it errs by {error}");
}
