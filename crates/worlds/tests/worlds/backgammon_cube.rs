//! Match-winning chances and cube decisions, compared with GNU Backgammon's. The library's formulas are simpler, so the tests allow
//! tolerances.

use crate::backgammon::{board, singles};
use testkit::test;
use testkit::{distance, worst};
use worlds::backgammon::*;

const GOLDEN: &str = include_str!("../../../../tests/golden/backgammon_cube.txt");

/// Returns a match in which player one needs `mine` points and player two needs `theirs` points.
fn standing(mine: u16, theirs: u16, crawford: Crawford) -> Match {
    Match { length: 25, score: [25 - mine, 25 - theirs], crawford }
}

fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Vec<f64> {
    words.map(|word| word.parse().unwrap()).collect()
}

#[test]
fn match_chances_agree_with_a_rollout_table() {
    let (mut most, mut squares, mut count) = (0.0, 0.0, 0);
    for line in GOLDEN.lines().filter(|line| line.starts_with("before ")) {
        let mut words = line.split(' ').skip(1);
        let mine: u16 = words.next().unwrap().parse().unwrap();
        for (theirs, chance) in (1..).zip(numbers(words)) {
            let crawford = if mine.min(theirs) == 1 { Crawford::Now } else { Crawford::Ahead };
            let standing = standing(mine, theirs, crawford);
            let (ours, other) = (standing.chance(Player::One), standing.chance(Player::Two));
            assert!((ours + other - 1.0).abs() < 1e-12);
            let off = ours - chance / 100.0;
            most = worst([most, off.abs()]);
            squares += off * off;
            count += 1;
        }
    }
    assert_eq!(count, 14 * 14);
    // The largest difference is 3.0%, where one player needs 2 points and the other 13. The root mean square of the differences is 0.7%.
    assert!(most < 0.031, "{most}");
    assert!((squares / f64::from(count)).sqrt() < 0.0075);
    let past = GOLDEN.lines().find(|line| line.starts_with("past ")).unwrap();
    for (mine, chance) in (1..).zip(numbers(past.split(' ').skip(1))) {
        let ours = standing(mine, 1, Crawford::Past).chance(Player::One);
        assert!((ours - chance / 100.0).abs() < 0.0125, "{mine}: {ours} {chance}");
    }
}

/// The recorded decisions are those of GNU Backgammon at two plies, with its own estimates of the chances. Decisions from the recorded
/// chances can therefore differ.
#[test]
fn cube_decisions_mostly_agree_with_gnu_backgammon_at_two_plies() {
    let (mut wrong_doubles, mut wrong_takes, mut doubles, mut takes, mut count) = (0, 0, 0, 0, 0);
    for line in GOLDEN.lines().filter(|line| line.starts_with("nobody ") || line.starts_with("mine ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let chances = chances(&words[2..8]);
        let cube = match words[0] {
            "mine" => Cube { value: 2, owner: Some(Player::One) },
            _ => Cube { value: 1, owner: None },
        };
        let mut game = Game::at(Board::from_id(words[1]).unwrap(), Player::One, cube, Stakes::Money).unwrap();
        let double = game.should_double(&chances);
        game.double().unwrap();
        let take = game.should_take(&chances.turned());
        let (theirs_double, theirs_take) = (words[8] == "double", words[9] != "drop");
        doubles += usize::from(theirs_double);
        takes += usize::from(theirs_take);
        wrong_doubles += usize::from(double != theirs_double);
        wrong_takes += usize::from(take != theirs_take);
        count += 1;
    }
    assert_eq!((count, doubles, takes), (240, 90, 110));
    // The best constant answer would be wrong in 90 positions for doubles, and in 110 positions for takes.
    assert!(3 * wrong_doubles < doubles && 30 * wrong_takes < takes, "{wrong_doubles} {wrong_takes}");
}

fn chances(words: &[&str]) -> Chances {
    let six: Vec<f32> = numbers(words.iter().copied()).iter().map(|&chance| chance as f32).collect();
    Chances(six.try_into().unwrap())
}

const VALUED: &str = include_str!("../../../../tests/golden/backgammon_ids.txt");

/// Without look-ahead, GNU Backgammon uses the same formula as this library, with two exceptions. In a race, GNU Backgammon uses databases.
/// In a match, GNU Backgammon uses another table of match-winning chances.
#[test]
fn cube_equities_agree_with_gnu_backgammon_for_equal_chances() {
    let (mut exact, mut matches, mut sum, mut verdicts) = (0, 0, 0.0, 0);
    for line in VALUED.lines().filter(|line| line.starts_with("cube ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let game = Standing::read(words[1]).unwrap().game;
        let ours = game.cube_equities(&chances(&words[2..8]));
        let theirs = numbers(words[8..10].iter().copied());
        let off = distance(&[ours.no_double, ours.double_take], &theirs[..2]);
        assert!((ours.double_pass - 1.0).abs() < 1e-9);
        let Stakes::Match(standing) = game.stakes() else {
            assert_eq!(ours.match_chances, None);
            if game.board().contact() {
                // GNU Backgammon computes in single precision.
                assert!(off < 1e-4, "{line}: {ours:?}");
                exact += 1;
            }
            continue;
        };
        let [no_double, double_take, double_pass] = ours.match_chances.unwrap();
        let all = [no_double, double_take, double_pass];
        assert!(all.iter().all(|chance| (0.0..=1.0).contains(chance)), "{line}: {ours:?}");
        if standing.length == 1 || game.is_crawford() || !game.may_double() {
            assert!(!ours.double());
            continue;
        }
        sum += off;
        matches += 1;
        let theirs = CubeEquities { no_double: theirs[0], double_take: theirs[1], ..ours };
        verdicts += usize::from(theirs.double() == ours.double() && (!ours.double() || theirs.take() == ours.take()));
    }
    assert!(exact > 20 && matches > 30, "{exact} {matches}");
    let mean = sum / matches as f64;
    // In a long match, 1% of match-winning chance is 0.1 points or more.
    assert!(mean < 0.15, "{mean}");
    assert!(10 * verdicts > 9 * matches, "{verdicts} of {matches}");
}

#[test]
fn cube_equities_follow_from_the_rules() {
    let even = singles(0.5);
    let money = |owner| Game::at(Board::START, Player::One, Cube { value: 2, owner }, Stakes::Money).unwrap();
    let [mine, theirs] = [Some(Player::One), Some(Player::Two)].map(|owner| money(owner).cube_equities(&even));
    assert!(mine.no_double > 0.0 && (mine.no_double + theirs.no_double).abs() < 1e-6);
    assert!(mine.may_double && !theirs.may_double);
    // Without gammons, a player should pass a double if the other player's chance to win exceeds 80% with a live cube, or 75% with a dead
    // cube.
    let mut game = money(Some(Player::One));
    game.double().unwrap();
    assert!(game.should_take(&singles(0.77).turned()) && !game.should_take(&singles(0.80).turned()));
    // At the start of a very long match, equities are the same as in money play.
    let far = Stakes::Match(Match { length: 30_000, score: [0; 2], crawford: Crawford::Ahead });
    let six = Chances([0.45, 0.2, 0.01, 0.25, 0.08, 0.01]);
    for owner in [None, Some(Player::One), Some(Player::Two)] {
        let cube = Cube { value: if owner.is_some() { 2 } else { 1 }, owner };
        let [money, long] =
            [Stakes::Money, far].map(|stakes| Game::at(Board::START, Player::One, cube, stakes).unwrap().cube_equities(&six));
        let off = distance(&[money.no_double, money.double_take], &[long.no_double, long.double_take]);
        assert!(off < 2e-3, "{owner:?} {money:?} {long:?}");
    }
    // If both players need two points, a cube at 2 decides the match.
    let last = Stakes::Match(Match { length: 7, score: [5, 5], crawford: Crawford::Ahead });
    let game = Game::at(Board::START, Player::One, Cube { value: 1, owner: None }, last).unwrap();
    let taken = game.cube_equities(&six).match_chances.unwrap()[1];
    assert!((taken - six.win()).abs() < 1e-6, "{taken}");
    // A leader who needs one point never doubles; the trailer doubles at once after the Crawford game.
    let past = Stakes::Match(Match { length: 7, score: [6, 3], crawford: Crawford::Past });
    let cube = Cube { value: 1, owner: None };
    let leader = Game::at(Board::START, Player::One, cube, past).unwrap();
    let trailer = Game::at(Board::START, Player::Two, cube, past).unwrap();
    assert!(!leader.should_double(&singles(0.7)) && trailer.should_double(&singles(0.4)));
    let crawford = Stakes::Match(Match { length: 7, score: [6, 3], crawford: Crawford::Now });
    assert!(!Game::at(Board::START, Player::Two, cube, crawford).unwrap().should_double(&singles(0.7)));
    // The player is too good to double: a gammon is likely, and the other player would pass.
    let gammons = Chances([0.35, 0.6, 0.0, 0.05, 0.0, 0.0]);
    let equities = money(None).cube_equities(&gammons);
    assert!(equities.too_good() && !equities.double() && equities.best() > 1.0);
}

/// With very unequal scores, a game hardly changes the chance to win the match; equities must still be finite.
#[test]
fn equities_are_finite_when_a_match_is_almost_won() {
    let stakes = Stakes::Match(standing(3, 25, Crawford::Ahead));
    let game = Game::at(Board::START, Player::One, Cube { value: 1, owner: None }, stakes).unwrap();
    let six = Chances([0.3, 0.15, 0.05, 0.3, 0.15, 0.05]);
    let equities = game.cube_equities(&six);
    assert!([game.equity(&six), equities.no_double, equities.double_take].iter().all(|equity| equity.is_finite()));
}

/// Without gammons, the equity while the other player owns the cube is linear in the chance to win. With a live cube, the equity rises from
/// -1 at 20% to 1 at 100%; with a dead cube, from -1 at 0% to 1 at 100%. The library computes the 20% by a recursion over 12 turns of the
/// cube, with an error of at most 0.2 / 4^12.
#[test]
fn cube_equity_has_the_closed_form_in_contact_race_and_bear_off() {
    let race = |mine: usize, theirs: usize| board(&[(mine, 15)], &[(theirs, 15)]);
    for (board, efficiency) in [
        (Board::START, 0.68),
        (race(6, 6), 0.6),
        // If a side has checkers outside its home board, the efficiency depends on the pips.
        (race(3, 12), 0.55 + 0.00125 * 45.0),
        (race(4, 9), 0.55 + 0.00125 * 60.0),
        (race(12, 3), 0.7),
    ] {
        let at = |owner: Player, win: f32| {
            let cube = Cube { value: 2, owner: Some(owner) };
            let game = Game::at(board, Player::One, cube, Stakes::Money).unwrap();
            game.cube_equities(&singles(win)).no_double
        };
        let (dead, live) = (-0.5, -1.0 + 2.0 * (0.25 - 0.2) / 0.8);
        let expected = dead + efficiency * (live - dead);
        let (theirs, mine) = (at(Player::Two, 0.25), at(Player::One, 0.75));
        assert!((theirs - expected).abs() < 4e-8, "{board:?}: {theirs}, not {expected}");
        assert!((mine + expected).abs() < 4e-8, "{board:?}: {mine}, not {}", -expected);
    }
}
