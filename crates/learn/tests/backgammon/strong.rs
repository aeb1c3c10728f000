//! The strong learner learns: some seconds of play against itself beat the baselines by a margin that a broken one cannot reach, the same
//! for any number of threads, and a learner that was saved goes on as if it had not been.

use learn::backgammon::{Depth, SelfTaught, Strong, StrongConfig, bearoff};
#[cfg(not(target_arch = "wasm32"))]
use learn::backgammon::{arena::duel, baselines::Linear, baselines::Random};
use learn::settings::Settings;
use learn::{Data, Learner};
use math::Isa;
use worlds::backgammon::{BAR, Board, Roll};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn rounds(strong: &mut Strong, count: u64) {
    let end = strong.progress().iterations + count;
    while strong.progress().iterations < end {
        strong.advance();
    }
}

/// Small enough for a test: few games a round.
fn small() -> StrongConfig {
    StrongConfig { hidden: 32, games: 16, batch: 128, ..StrongConfig::default() }
}

#[test]
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
fn six_thousand_games_beat_the_baselines() {
    let mut strong = Strong::new(StrongConfig::default(), 1, Isa::best()).expect("settings of its own");
    rounds(&mut strong, 48);
    assert_eq!(strong.progress().games, 6144);
    let mut player = strong.player(1);
    let random = duel(&mut *player, &mut Random::new(3), 5, 150, 50).expect("legal moves");
    let linear = duel(&mut *player, &mut Linear::new(), 5, 600, 50).expect("legal moves");
    // 2.54 with a standard error of 0.03, and 0.28 with one of 0.04: four, and three, of those below.
    assert!(random.mean() > 2.4, "{} points a game against random moves", random.mean());
    assert!(linear.mean() > 0.16, "{} points a game against the linear baseline", linear.mean());
}

#[test]
#[cfg(not(target_arch = "wasm32"))] // a page has no such pools; `tests/parity` tells its threads apart
fn threads_and_clocks_change_nothing() {
    let run = |threads: usize, clock: Option<fn() -> f64>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let settings = StrongConfig { look_after: 32, look_games: 6, ..small() };
            let mut strong = Strong::new(settings, 4, Isa::best()).expect("sound settings");
            clock.into_iter().for_each(|clock| strong.set_clock(clock));
            rounds(&mut strong, 4);
            (strong.weights().to_vec(), strong.progress())
        })
    };
    assert!(run(1, None) == run(3, Some(|| 0.0)));
}

#[test]
fn a_round_that_looks_ahead_is_learned_from_so_many_times() {
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
fn instruction_sets_of_a_class_learn_the_same() {
    let mut known: [Option<Vec<f32>>; 2] = [None, None];
    for isa in Isa::available() {
        let mut strong = Strong::new(small(), 5, isa).expect("sound settings");
        rounds(&mut strong, 2);
        let known = known[usize::from(isa.fused())].get_or_insert_with(|| strong.weights().to_vec());
        assert!(known == strong.weights(), "{isa:?}");
    }
}

#[test]
fn what_was_saved_goes_on_as_if_it_had_not_been() {
    let mut strong = Strong::new(small(), 9, Isa::best()).expect("sound settings");
    rounds(&mut strong, 2);
    let parts = strong.parts();
    let find = |name: &str| parts.iter().find(|(known, ..)| known == name).map(|(_, shape, data)| (shape.as_slice(), data));
    let mut again = Strong::restore(small(), 9, Isa::best(), &find).expect("what was just saved");
    rounds(&mut strong, 2);
    rounds(&mut again, 2);
    assert!(strong.weights() == again.weights() && strong.progress() == again.progress());
    assert!(strong.parts() == again.parts());

    let broken = |name: &str| {
        let (shape, data) = find(name)?;
        static NOT: Data = Data::F32(Vec::new());
        Some((shape, if name == "strong.adam.v" { &NOT } else { data }))
    };
    let error = Strong::restore(small(), 9, Isa::best(), &broken).err().expect("a part is cut off");
    assert!(error.to_string().contains("strong.adam.v"), "{error}");
    let error = Strong::restore(StrongConfig { hidden: 64, ..small() }, 9, Isa::best(), &find).err();
    assert!(error.expect("another size").to_string().contains("open one"));
}

#[test]
fn inputs_and_the_bear_off_table_are_left_out_where_they_are_switched_off() {
    // A race with all checkers home, and one that is not.
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
    // Each of them is learned with otherwise.
    for (i, one) in learned.iter().enumerate() {
        assert!(learned[..i].iter().all(|other| other != one));
    }
}
