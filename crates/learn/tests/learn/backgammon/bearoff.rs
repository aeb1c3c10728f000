//! Compares the bear-off table with GNU Backgammon's table, and with exhaustive play of positions with few checkers.

use learn::backgammon::bearoff;
use std::collections::HashMap;
use testkit::test;
use worlds::backgammon::{BAR, Board, Results, Roll};

#[test]
fn rolls_are_those_of_gnu_backgammon() {
    let golden = include_str!("../../../../../tests/golden/backgammon_bearoff.txt");
    let mut with_all = 0;
    for line in golden.lines() {
        let (id, numbers) = line.split_once(' ').expect("an id and numbers");
        let numbers: Vec<f32> = numbers.split(' ').map(|number| number.parse().expect("a number")).collect();
        let side = Board::from_id(id).expect("a position").theirs();
        let (left, whole) = bearoff::rolls(side).expect("all are home");
        let close = |ours: f32, theirs: f32, by: f32| assert!((ours - theirs).abs() < by, "{line}: {ours}");
        // The tolerance covers GNU's rounding and choices. GNU's probabilities are multiples of 1/65535 and are printed with three digits.
        // If two plays have the same mean number of rolls, GNU and the table may choose different plays.
        close(left.iter().sum(), numbers[0], 2e-3);
        close(whole.iter().sum(), numbers[1], 2e-3);
        for (n, &percent) in numbers[2..].iter().enumerate() {
            close(100.0 * (left[n] - left[n + 1]), percent, 0.05);
        }
        assert!(left[numbers.len() - 2] < 1e-4, "{line}");
        with_all += usize::from(!whole.is_empty());
    }
    assert!(golden.lines().count() == 124 && with_all > 40);
}

/// Returns the winning probability of the player on roll if both players play optimally.
fn exact(board: Board, known: &mut HashMap<Board, f64>) -> f64 {
    if board.points() != 0 {
        return 0.0;
    }
    if let Some(&chance) = known.get(&board) {
        return chance;
    }
    let mut scratch = Results::new();
    let mut chance = 0.0;
    for roll in Roll::ALL {
        let results = board.results(roll, &mut scratch).to_vec();
        let best = results.into_iter().map(|left| 1.0 - exact(left.turned(), known)).fold(0.0, f64::max);
        chance += f64::from(roll.ways()) * best / 36.0;
    }
    known.insert(board, chance);
    chance
}

#[test]
fn races_with_few_checkers_agree_with_optimal_play() {
    let (mut known, mut sum, mut count, mut worst) = (HashMap::new(), 0.0, 0, 0.0f64);
    let sides = (1..=6).flat_map(|one| (0..=one).map(move |other| [one, other]));
    let places = |[one, other]: [usize; 2]| {
        let mut places = [0; BAR];
        for point in [one, other] {
            if point > 0 {
                places[point - 1] += 1;
            }
        }
        places
    };
    for mine in sides.clone() {
        for theirs in sides.clone() {
            let left = Board::new(places(mine), places(theirs)).expect("a position");
            let probs = bearoff::outcome_probs(&left).expect("all are home");
            let best = 1.0 - exact(left.turned(), &mut known);
            let off = (f64::from(probs[0]) - best).abs();
            assert!(probs[1] == 0.0 && (probs.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{left:?} {probs:?}");
            (sum, count, worst) = (sum + off, count + 1, testkit::worst([worst, off]));
        }
    }
    // The difference is not 0, because the table assumes that a side plays without regard to the opponent's position.
    assert!(count == 27 * 27 && worst < 0.01 && sum / f64::from(count) < 2e-4, "{worst} {sum}");
}

#[test]
fn gammon_probability_counts_rolls_that_bear_off_no_checker() {
    // One side has fifteen checkers on its sixth point, the other has one checker on its first point. A roll saves the gammon if it moves
    // one checker six pips.
    let mut far = [0; BAR];
    far[5] = 15;
    let mut near = [0; BAR];
    near[0] = 1;
    // The side with one checker has just moved. The opponent rolls once, then the game ends.
    let probs = bearoff::outcome_probs(&Board::new(near, far).expect("a position")).expect("all are home");
    // The rolls that save the gammon are all rolls with a six, 5-1, 4-2, 3-3 and 2-2.
    let saved = (11.0 + 4.0 + 2.0) / 36.0;
    assert!((probs[0] - saved).abs() < 1e-5 && (probs[1] - (1.0 - saved)).abs() < 1e-5, "{probs:?}");
    let outside = Board::new(std::array::from_fn(|i| u8::from(i == 6)), near).expect("a position");
    assert!(bearoff::outcome_probs(&outside).is_none());
}
