//! Step-by-step moves and move notation, compared with the results of a roll. Steps must reach every result of the roll and no other board.
//! The notation of a result must be read as the same result.

use crate::backgammon::{board, roll, stride};
use math::Rng;
use std::collections::{BTreeSet, HashSet};
use testkit::test;
use worlds::backgammon::notation::{self, NotationError, Play};
use worlds::backgammon::*;

const GOLDEN: &str = include_str!("../../../../tests/golden/worlds_backgammon.txt");
/// Stride of these tests in a browser.
const IN_BROWSER: usize = 400;

/// Returns every `every`-th position of the golden file, each with a roll.
fn committed(every: usize) -> impl Iterator<Item = (Board, Roll)> {
    let positions = GOLDEN.lines().filter_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
        ["kind", _] => None,
        [id, _] => Some(Board::from_id(id).unwrap()),
        _ => None,
    });
    positions.step_by(every).enumerate().map(|(i, board)| (board, Roll::ALL[i * 8 % 21]))
}

/// Adds to `ends` the ids of the boards after all complete sequences of steps.
fn whole_plays(play: &mut Play, roll: Roll, visited: &mut HashSet<(Board, Vec<u8>)>, ends: &mut BTreeSet<Id>) {
    // The legal steps depend only on the board and on the remaining dice. The remaining dice follow from the distances moved.
    let mut gone: Vec<u8> = play.taken().iter().map(|step| step.from - step.to).collect();
    gone.sort_unstable();
    if !visited.insert((play.board(), gone)) {
        return;
    }
    let open = play.open();
    assert_eq!(open.iter().collect::<BTreeSet<_>>().len(), open.len(), "duplicate step: {open:?}");
    assert_eq!(play.is_complete(), open.is_empty());
    if open.is_empty() {
        ends.insert(play.board().id());
    }
    for step in open {
        let before = play.board();
        assert_eq!(play.take(step.from, step.to), Ok(step));
        let dice_left = play.left();
        assert_eq!(dice_left.len() + play.taken().len(), if roll.is_double() { 4 } else { 2 });
        let hits = play.board().theirs().bar() - before.theirs().bar();
        assert_eq!(hits, u8::from(step.hit), "{before:?} {step:?}");
        whole_plays(play, roll, visited, ends);
        assert_eq!(play.undo(), Some(step));
        assert_eq!(play.board(), before);
    }
}

#[test]
fn steps_reach_exactly_the_results() {
    let (mut buffer, mut compared, mut kept, stride) = (Results::new(), 0, 0, stride(IN_BROWSER));
    for (board, roll) in committed(5 * stride) {
        let results: BTreeSet<Id> = board.results(roll, &mut buffer).iter().map(Board::id).collect();
        let mut ends = BTreeSet::new();
        whole_plays(&mut Play::new(board, roll), roll, &mut HashSet::new(), &mut ends);
        assert_eq!(ends, results, "{board:?} {roll:?}");
        compared += 1;
        kept += results.len();
    }
    assert!(compared >= 4000 / stride && kept > 10 * compared, "{compared} {kept}");
}

#[test]
fn notation_of_a_result_is_read_back_as_that_result() {
    let (mut buffer, mut compared, stride) = (Results::new(), 0, stride(IN_BROWSER));
    for (board, roll) in committed(3 * stride) {
        let results = board.results(roll, &mut buffer);
        // A double can have many results; about 40 of them are tested.
        for result in results.iter().step_by(1 + results.len() / 40) {
            let text = notation::write(&board, roll, result).unwrap();
            assert_eq!(notation::read(&board, roll, &text).as_ref(), Ok(result), "{board:?} {roll:?} {text}");
            // The steps in reverse order lead to the same result.
            let route = notation::route(&board, roll, result).unwrap();
            let mut play = Play::new(board, roll);
            for step in &route {
                assert_eq!(play.take(step.from, step.to).as_ref(), Ok(step), "{board:?} {roll:?} {text}");
            }
            assert!(play.is_complete() && play.board() == *result, "{board:?} {roll:?} {text}");
            let single: Vec<String> = route.iter().rev().map(|&step| notation::words(&[step])).collect();
            if !single.is_empty() {
                let read = notation::read(&board, roll, &single.join(", "));
                assert_eq!(read.as_ref(), Ok(result), "{board:?} {roll:?} {single:?}");
            }
            compared += 1;
        }
    }
    assert!(compared > 40_000 / stride, "{compared}");
}

#[test]
fn moves_are_written_in_standard_notation() {
    let start = Board::START;
    let blots = board(&[(24, 2), (13, 5), (8, 3), (6, 5)], &[(24, 1), (20, 1), (13, 5), (7, 1), (8, 2), (6, 5)]);
    let entering = board(&[(25, 1), (13, 5), (8, 4), (6, 5)], &[(24, 2), (13, 5), (8, 3), (6, 4), (3, 1)]);
    let home = board(&[(6, 4), (4, 2), (2, 1)], &[(6, 8)]);
    for (board, dice, text) in [
        (start, [3, 1], "8/5 6/5"),
        (start, [6, 5], "24/13"),
        (start, [4, 2], "8/4 6/4"),
        (start, [6, 6], "24/18(2) 13/7(2)"),
        (start, [1, 1], "8/7(2) 6/5(2)"),
        (start, [3, 3], "13/7(2)"),
        (blots, [6, 5], "24/18*/13"),
        (blots, [6, 6], "24/18*(2) 8/2(2)"),
        (blots, [1, 1], "6/5*/4 6/5(2)"),
        (entering, [3, 1], "bar/22* 6/5"),
        (entering, [3, 2], "bar/22*/20"),
        (home, [6, 5], "6/1 6/off"),
        (home, [6, 6], "6/off(4)"),
        (home, [4, 4], "6/2(2) 4/off(2)"),
    ] {
        let roll = roll(dice[0], dice[1]);
        let result = notation::read(&board, roll, text).unwrap();
        assert_eq!(notation::write(&board, roll, &result).unwrap(), text);
    }
}

#[test]
fn notation_is_read_in_any_order_and_case_with_stars_where_ambiguous() {
    let read = |board: &Board, dice: [u8; 2], text: &str| notation::read(board, roll(dice[0], dice[1]), text);
    for text in ["8/5 6/5", "6/5 8/5", " 6/5,8/5 ", "8/5, 6/5", "8/5(1) 6/5"] {
        assert_eq!(read(&Board::START, [3, 1], text), read(&Board::START, [1, 3], "8/5 6/5"), "{text}");
    }
    // The checker moves over 8 or over 7. Both points have a blot, or only one of them.
    let two = board(&[(10, 1), (1, 14)], &[(17, 1), (18, 1), (1, 13)]);
    assert_eq!(read(&two, [3, 2], "10/5"), Err(NotationError::Ambiguous));
    let [over_8, over_7] = ["10/8*/5", "10/7*/5"].map(|text| read(&two, [3, 2], text).unwrap());
    assert!(over_8 != over_7 && over_8.theirs().bar() == 1);
    let one = board(&[(10, 1), (1, 14)], &[(17, 1), (1, 14)]);
    assert_eq!(read(&one, [3, 2], "10/5").unwrap().theirs().bar(), 0);
    assert_eq!(read(&one, [3, 2], "10/8/5").unwrap().theirs().bar(), 1);
    let entering = board(&[(25, 1), (13, 5)], &[(24, 2), (11, 5)]);
    for text in ["13/12 bar/22", "BAR/22 13/12", "b/22 13/12", "25/22 13/12"] {
        assert_eq!(read(&entering, [3, 1], text), read(&entering, [3, 1], "bar/22 13/12"), "{text}");
    }
    assert_eq!(read(&entering, [3, 1], "bar/22 13/12"), Ok(board(&[(22, 1), (13, 4), (12, 1)], &[(24, 2), (11, 5)])));
    let shut = board(&[(25, 1), (13, 5)], &[(1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2)]);
    assert_eq!(read(&shut, [3, 1], "No move"), Ok(shut));
    assert_eq!(notation::write(&shut, roll(3, 1), &shut).unwrap(), "no move");
    assert!(Play::new(shut, roll(3, 1)).is_complete());
}

#[test]
fn illegal_and_unreadable_moves_return_specific_errors() {
    let three_one = roll(3, 1);
    for (text, error) in [
        ("", NotationError::Empty),
        (" \t", NotationError::Empty),
        ("hello", NotationError::Unreadable("hello".into())),
        ("8/5 6", NotationError::Unreadable("6".into())),
        ("8/5/", NotationError::Unreadable("8/5/".into())),
        ("5/8", NotationError::Unreadable("5/8".into())),
        ("8*/5", NotationError::Unreadable("8*/5".into())),
        ("8/5(5)", NotationError::Unreadable("8/5(5)".into())),
        ("8/5(", NotationError::Unreadable("8/5(".into())),
        ("8/+5", NotationError::Unreadable("8/+5".into())),
        ("26/25", NotationError::Unreadable("26/25".into())),
        ("8/é", NotationError::Unreadable("8/é".into())),
        ("6/off", NotationError::Illegal(three_one)),
        ("8/5 6/4", NotationError::Illegal(three_one)),
        ("8/5(2) 6/5(3)", NotationError::Illegal(three_one)),
        ("8/5", NotationError::Unfinished(three_one)),
        ("no move", NotationError::Unfinished(three_one)),
    ] {
        assert_eq!(notation::read(&Board::START, three_one, text), Err(error.clone()), "{text:?}");
        assert!(error.to_string().contains("; "), "{error}");
    }
    let mut play = Play::new(Board::START, three_one);
    play.take(6, 5).unwrap();
    assert_eq!(play.left(), [3]);
    play.undo();
    let refused = play.take(13, 8).unwrap_err();
    assert_eq!(refused, NotationError::Step { from: 13, to: 8 });
    assert_eq!((play.board(), play.taken().len(), play.undo()), (Board::START, 0, None));
    assert_eq!(notation::write(&Board::START, three_one, &Board::START), Err(NotationError::Result));
}

#[test]
fn random_texts_are_rejected_or_read_as_results() {
    let mut numbers = Rng::new(5, 78).sequence(0);
    let parts =
        ["8/5 ", "6/5 ", "24/18 ", "13/11 ", "8", "5", "/", "/", "*", "(2)", "(", ")", " ", ",", "bar", "off", "é", "999999999999", "-1"];
    let (mut buffer, mut read, stride) = (Results::new(), 0, stride(IN_BROWSER));
    for _ in 0..30_000 / stride {
        let text: String = (0..1 + numbers.below(6)).map(|_| parts[numbers.below(parts.len() as u32) as usize]).collect();
        let roll = Roll::drawn(&mut numbers);
        if let Ok(result) = notation::read(&Board::START, roll, &text) {
            assert!(Board::START.results(roll, &mut buffer).contains(&result));
            read += 1;
        }
    }
    assert!(stride > 1 || read > 0);
}
