//! Training of the strong learner. After a few seconds of self-play, the learner beats the baselines by a margin that a broken learner
//! cannot reach.

use super::rounds;
use learn::Learner;
use learn::backgammon::{Depth, SelfTaught, Strong, StrongConfig, bearoff};
#[cfg(not(target_arch = "wasm32"))]
use learn::backgammon::{arena::duel, baselines::Linear, baselines::Random};
use learn::settings::Settings;
use math::Isa;
use testkit::test;
use worlds::backgammon::{BAR, Board, Roll};

/// Returns settings with small rounds.
fn small() -> StrongConfig {
    StrongConfig { hidden: 32, games: 16, batch: 128, ..StrongConfig::default() }
}

/// After twice as many games, the learner has 2.54 points per game.
#[test]
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
fn three_thousand_games_beat_random_moves() {
    let mut strong = Strong::new(StrongConfig::default(), 1, Isa::best()).expect("settings of its own");
    let against_random = |strong: &Strong| duel(&mut *strong.player(1), &mut Random::new(3), 5, 150, 50).expect("legal moves").mean();
    let before = against_random(&strong);
    rounds(&mut strong, 24);
    assert_eq!(strong.progress().games, 3072);
    let after = against_random(&strong);
    assert!(before < 1.4 && after > 1.8, "{before} points per game, then {after}");
}

#[cfg(not(target_arch = "wasm32"))] // too long for one thread
#[test]
#[ignore = "all: three_thousand_games_beat_random_moves"]
fn six_thousand_games_beat_the_baselines() {
    let mut strong = Strong::new(StrongConfig::default(), 1, Isa::best()).expect("settings of its own");
    rounds(&mut strong, 48);
    assert_eq!(strong.progress().games, 6144);
    let mut player = strong.player(1);
    let random = duel(&mut *player, &mut Random::new(3), 5, 150, 50).expect("legal moves");
    let linear = duel(&mut *player, &mut Linear::new(), 5, 600, 50).expect("legal moves");
    // The measured means are 2.54 with a standard error of 0.03 against random moves, and 0.28 with a standard error of 0.04 against the
    // linear baseline. The limits are at least four and three standard errors below these means.
    assert!(random.mean() > 2.4, "{} points per game against random moves", random.mean());
    assert!(linear.mean() > 0.16, "{} points per game against the linear baseline", linear.mean());
}

#[test]
fn look_ahead_rounds_use_the_given_number_of_passes() {
    let updates = |look_after: u64, look_passes: usize| {
        let settings = StrongConfig { look_after, look_games: 4, look_passes, ..small() };
        let mut strong = Strong::new(settings, 4, Isa::best()).expect("sound settings");
        rounds(&mut strong, 1);
        strong.progress().updates
    };
    let once = updates(0, 1);
    assert!(once > 0);
    assert_eq!((updates(0, 2), updates(0, 5)), (2 * once, 5 * once));
    assert_eq!(updates(1_000_000, 1), updates(1_000_000, 5), "one that does not look ahead");
}

#[test]
fn inputs_and_bear_off_table_can_be_disabled() {
    // A race in which all checkers are home, so the bear-off table applies.
    let mut home = [0; BAR];
    (home[0], home[3], home[5]) = (2, 2, 1);
    let home = Board::new(home, home).unwrap();
    let known = bearoff::outcome_probs(&home.turned()).unwrap();
    let mut learned = Vec::new();
    for (handmade, bearoff) in [(true, true), (true, false), (false, true), (false, false)] {
        let settings = StrongConfig { handmade, bearoff, ..small() };
        assert_eq!(settings.can_become(&small()), handmade && bearoff);
        let mut strong = Strong::new(settings, 9, Isa::best()).unwrap();
        rounds(&mut strong, 2);
        let mut player = strong.player(1);
        let [won, won_gammon, won_backgammon, lost, lost_gammon, lost_backgammon] = player.expects(home).unwrap().0;
        let expected = [lost, lost_gammon, lost_backgammon, won, won_gammon, won_backgammon];
        assert_eq!(expected == known, bearoff, "{expected:?} {known:?}");
        let ranked = player.rank(home, Roll::new(2, 1).unwrap());
        assert!(ranked.iter().all(|of| (of.depth == Depth::Exact) == bearoff), "{ranked:?}");
        learned.push(strong.weights().to_vec());
        assert!(strong.is_finite());
    }
    // Each of the four combinations of switches leads to different weights.
    for (i, one) in learned.iter().enumerate() {
        assert!(learned[..i].iter().all(|other| other != one));
    }
}
