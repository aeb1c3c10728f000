//! Chances of matches and the cube rule beside GNU Backgammon's, which knows far more: how near simple rules come, in numbers.

use worlds::backgammon::*;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;
#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

const GOLDEN: &str = include_str!("../../../tests/golden/backgammon_cube.txt");

/// A match in which the players need so many points.
fn standing(mine: u16, theirs: u16, crawford: Crawford) -> Match {
    Match { length: 25, score: [25 - mine, 25 - theirs], crawford }
}

fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Vec<f64> {
    words.map(|word| word.parse().unwrap()).collect()
}

#[test]
fn chances_of_matches_are_those_of_a_table_made_by_rollouts_to_a_few_hundredths() {
    let (mut worst, mut squares, mut count) = (0f64, 0.0, 0);
    for line in GOLDEN.lines().filter(|line| line.starts_with("before ")) {
        let mut words = line.split(' ').skip(1);
        let mine: u16 = words.next().unwrap().parse().unwrap();
        for (theirs, chance) in (1..).zip(numbers(words)) {
            let crawford = if mine.min(theirs) == 1 { Crawford::Now } else { Crawford::Ahead };
            let ours = standing(mine, theirs, crawford).chance(Player::One);
            let off = ours - chance / 100.0;
            worst = worst.max(off.abs());
            squares += off * off;
            count += 1;
        }
    }
    assert_eq!(count, 14 * 14);
    // 3.0% where 2 points are needed against 13, and 0.7% over all.
    assert!(worst < 0.031, "{worst}");
    assert!((squares / f64::from(count)).sqrt() < 0.0075);
    let past = GOLDEN.lines().find(|line| line.starts_with("past ")).unwrap();
    for (mine, chance) in (1..).zip(numbers(past.split(' ').skip(1))) {
        let ours = standing(mine, 1, Crawford::Past).chance(Player::One);
        assert!((ours - chance / 100.0).abs() < 0.0125, "{mine}: {ours} {chance}");
    }
}

/// Our rule counts a cube that one may turn as nothing, GNU Backgammon counts what it is worth: at most what it would be to one who
/// could always turn it at the very moment at which it is just still taken (a live cube; R. Janowski, "Take-Points in Money Games",
/// 1993). So they may differ between the two points alone, and each in one direction.
#[test]
fn the_cube_rule_differs_from_gnu_backgammon_by_what_a_cube_is_worth() {
    let (mut wrong_doubles, mut wrong_takes, mut doubles, mut takes, mut count) = (0, 0, 0, 0, 0);
    for line in GOLDEN.lines().filter(|line| line.starts_with("nobody ") || line.starts_with("mine ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let six: Vec<f32> =
            numbers(words[2..8].iter().copied()).iter().map(|&chance| chance as f32).collect();
        let chances = Chances(six.try_into().unwrap());
        let cube = match words[0] {
            "mine" => Cube { value: 2, owner: Some(Player::One) },
            _ => Cube { value: 1, owner: None },
        };
        let mut game = Game::at(Board::from_id(words[1]).unwrap(), Player::One, cube, Stakes::Money).unwrap();
        let double = game.should_double(&chances);
        game.double().unwrap();
        let take = game.should_take(&chances.turned());
        let (theirs_double, theirs_take) = (words[8] == "double", words[9] != "drop");

        // From which chance to win on the other drops, if a cube is worth nothing and if it is worth most, when a game won and a
        // game lost count so much.
        let win = chances.win();
        let mean = |of: &[f32]| {
            let sum: f32 = of.iter().zip([1.0, 2.0, 3.0]).map(|(chance, points)| chance * points).sum();
            f64::from(sum / of.iter().sum::<f32>().max(f32::MIN_POSITIVE)).max(1.0)
        };
        let (won, lost) = (mean(&chances.0[..3]), mean(&chances.0[3..]));
        let (dead, live) = ((lost + 0.5) / (won + lost), (lost + 1.0) / (won + lost + 0.5));
        assert!(take || win >= dead, "{line}: drops at {win}, and {dead} is a take without a cube");
        assert!(!take || theirs_take, "{line}: takes at {win} of {live}");
        assert!(double || !theirs_double, "{line}: does not double at {win} of {dead}");
        doubles += usize::from(theirs_double);
        takes += usize::from(theirs_take);
        wrong_doubles += usize::from(double != theirs_double);
        wrong_takes += usize::from(take != theirs_take);
        count += 1;
    }
    assert_eq!((count, doubles, takes), (240, 90, 110));
    // Whoever does the same in every position is wrong in 90 and in 110 of them, at best.
    assert!(2 * wrong_doubles < doubles && 2 * wrong_takes < takes, "{wrong_doubles} {wrong_takes}");
}
