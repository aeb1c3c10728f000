//! Tests of duels and baselines: tallies do not depend on scheduling, scores agree with the published C code, and players that break the
//! rules are detected.

use super::sample_decisions;
use learn::backgammon::Player;
use learn::backgammon::arena::{Duel, DuelError, Tally, duel};
use learn::backgammon::baselines::{Linear, Random};
use testkit::test;
use worlds::backgammon::{Board, Results, Roll};

#[test]
fn the_linear_baseline_scores_as_its_published_code_does() {
    let golden = include_str!("../../../../../tests/golden/backgammon_linear.txt");
    let mut scores = 0;
    for line in golden.lines() {
        let [id, race, score] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let board = Board::from_id(id).unwrap();
        let (ours, theirs) = (Linear::score(&board, race == "1"), score.parse::<f64>().unwrap());
        // The difference is a rounding error: the C code sums about thirty terms in f32.
        assert!((ours - theirs).abs() < 2e-5, "{line}: {ours}");
        scores += 1;
    }
    assert_eq!(scores, 150);
}

#[test]
fn duels_do_not_depend_on_concurrency_or_slices() {
    let whole = |abreast| duel(&mut Linear::new(), &mut Random::new(3), 7, 12, abreast).unwrap();
    let tally = whole(64);
    assert_eq!((tally.pairs, tally.games(), tally.endless), (12, 24, 0));
    assert_eq!(tally.won.iter().chain(&tally.lost).sum::<u64>(), 24);
    for abreast in [0, 1, 7, 1000] {
        assert_eq!(whole(abreast), tally, "{abreast} abreast");
    }
    // An intermediate tally covers the first pairs without a gap, so it equals the result of a shorter duel.
    let mut slices = Duel::new(7, 12, 9);
    let mut between = 0;
    while !slices.is_over() {
        slices.advance(&mut Linear::new(), &mut Random::new(3)).unwrap();
        let pairs = slices.tally().pairs;
        if pairs > between {
            between = pairs;
            let shorter = duel(&mut Linear::new(), &mut Random::new(3), 7, pairs, 5).unwrap();
            assert_eq!(*slices.tally(), shorter);
        }
    }
    assert_eq!(*slices.tally(), tally);
    assert_ne!(duel(&mut Linear::new(), &mut Random::new(3), 8, 12, 64).unwrap(), tally, "other dice");
    assert_eq!(duel(&mut Linear::new(), &mut Linear::new(), 1, 0, 8).unwrap(), Tally::default());
}

#[test]
fn a_duel_against_itself_is_even_and_sides_change_only_the_sign() {
    let tally = duel(&mut Linear::new(), &mut Linear::new(), 1, 50, 100).unwrap();
    assert_eq!((tally.points, tally.squares, tally.won), (0, 0, tally.lost));
    assert_eq!(tally.standard_error(), Some(0.0));
    assert_eq!(tally.win_share(), 0.5);
    let there = duel(&mut Linear::new(), &mut Random::new(1), 1, 50, 100).unwrap();
    let back = duel(&mut Random::new(1), &mut Linear::new(), 1, 50, 100).unwrap();
    assert_eq!((there.points, there.won, there.lost), (-back.points, back.lost, back.won));
    assert!(there.mean() > 1.2, "{there:?}");
    let error = there.standard_error().unwrap();
    assert!(error > 0.02 && error < 0.2, "{error}");
    assert_eq!(Tally::default().standard_error(), None);
}

#[test]
fn baselines_choose_independently_of_the_batch() {
    let mut player = Random::new(9);
    let decisions = sample_decisions(60, 5, |board, roll| {
        let mut chosen = Vec::new();
        player.choose(&[(board, roll)], &mut chosen);
        chosen[0]
    });
    let players: [&mut dyn Player; 2] = [&mut Random::new(2), &mut Linear::new()];
    for player in players {
        let (mut together, mut alone) = (Vec::new(), Vec::new());
        player.choose(&decisions, &mut together);
        for decision in decisions.iter().rev() {
            player.choose(&[*decision], &mut alone);
        }
        alone.reverse();
        assert_eq!(together, alone, "{}", player.name());
        assert!(player.rank(Board::START, Roll::ALL[1]).is_empty(), "no opinion in points per game");
        assert_eq!(player.expects(Board::START), None);
    }
}

#[test]
fn the_random_player_chooses_every_result_about_as_often() {
    let (roll, mut scratch) = (Roll::new(3, 1).unwrap(), Results::new());
    let results = Board::START.results(roll, &mut scratch).to_vec();
    let mut counts = vec![0u32; results.len()];
    let mut chosen = Vec::new();
    for seed in 0..4000 {
        chosen.clear();
        Random::new(seed).choose(&[(Board::START, roll)], &mut chosen);
        counts[results.iter().position(|board| *board == chosen[0]).unwrap()] += 1;
    }
    let mean = 4000.0 / results.len() as f64;
    let chi: f64 = counts.iter().map(|&count| (f64::from(count) - mean).powi(2) / mean).sum();
    assert!(chi < 3.0 * results.len() as f64, "{counts:?}");
}

/// Player that breaks the rules. It returns the unchanged board or, if `silent` is true, returns no board.
struct Cheat {
    silent: bool,
}

impl Player for Cheat {
    fn name(&self) -> String {
        "cheat".into()
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        if !self.silent {
            chosen.extend(decisions.iter().map(|(board, _)| *board));
        }
    }
}

#[test]
fn illegal_answers_are_reported_with_player_and_roll() {
    let error = duel(&mut Linear::new(), &mut Cheat { silent: false }, 1, 3, 4).unwrap_err();
    assert!(matches!(&error, DuelError::Illegal { name, .. } if name == "cheat"), "{error}");
    assert!(error.to_string().contains("use another player"));
    let error = duel(&mut Cheat { silent: true }, &mut Linear::new(), 1, 3, 4).unwrap_err();
    assert!(matches!(error, DuelError::Count { answered: 0, asked: 1.., .. }), "{error}");
}

#[test]
fn the_standard_error_is_that_of_the_mean_over_pairs() {
    let mut tally = Tally::default();
    assert_eq!(tally.standard_error(), None);
    for pair in [[1, 1], [1, -1], [-2, 1], [3, 0]] {
        tally.add(pair);
    }
    // Points per game of the four pairs: 1, 0, -1/2, 3/2. Their mean is 1/2, and the sum of the squared deviations is 5/2. 5/2 divided
    // by 3 is the variance of a pair. This variance divided by 4 is the variance of the mean.
    assert_eq!((tally.mean(), tally.games(), tally.endless), (0.5, 8, 1));
    let error = tally.standard_error().unwrap();
    assert!((error - (2.5f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12, "{error}");
}
