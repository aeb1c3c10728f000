//! The published learner: its rounds, its player, its components, and its progress in training.

mod inputs;
mod net;
mod searches;
mod selfplay;
mod slices;
mod tree;
mod values;

use super::{rounds, sample_decisions, spoiled, word};
use learn::backgammon::arena::duel;
use learn::backgammon::baselines::Random;
use learn::backgammon::published::plan_learning;
use learn::backgammon::{Depth, Published, PublishedConfig, PublishedError, SelfTaught, Stats};
use learn::internals::published::{Cut, Limits, Replay, SHARDS, WORDS, draw};
use learn::{Learner, Parts, SavedError, Sharing, Slice, part};
use math::{Isa, Rng};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use worlds::backgammon::{Board, Results, Roll};

fn small() -> PublishedConfig {
    PublishedConfig { replay: 60, ..super::small() }
}

fn learner() -> Published {
    Published::new(small(), 5, Isa::best()).unwrap()
}

fn round(learner: &mut Published) -> Stats {
    loop {
        if let Slice::Ended(stats) = learner.advance() {
            return stats;
        }
    }
}

/// The timed parts of a round are rules, inputs, network, tree, targets, learning and device. The time of `targets` is 0 for this learner.
/// The time of `device` is 0 without offloading.
#[test]
fn rounds_are_timed_by_the_given_clock() {
    static TICKS: AtomicU64 = AtomicU64::new(1000);
    let mut learner = learner();
    learner.set_clock(|| 1000.0);
    assert_eq!(round(&mut learner).parts_s, [0.0; 7], "a constant clock measures no time");
    let from = TICKS.load(Relaxed);
    learner.set_clock(|| TICKS.fetch_add(1, Relaxed) as f64);
    let parts_s = round(&mut learner).parts_s;
    let took = (TICKS.load(Relaxed) - from) as f64;
    for (part, &seconds) in parts_s.iter().enumerate() {
        let is_used = ![4, 6].contains(&part);
        // Only one of the three actors is timed, and its time is multiplied by three.
        assert!((seconds > 0.0) == is_used && seconds <= 3.0 * took, "part {part}: {seconds} of {took}");
    }
}

#[test]
fn every_second_round_ends_a_generation() {
    let mut learner = learner();
    rounds(&mut learner, 10);
    assert!(learner.progress().updates > 20 && learner.progress().games > 0);
    assert!(learner.generation().is_some_and(|generation| generation.number == 5 && generation.standard_error > 0.0));
}

#[test]
fn invalid_saved_games_are_rejected() {
    let mut learner = learner();
    round(&mut learner);
    let parts = learner.parts();
    let restored = |parts: &Parts| Published::restore(small(), 5, Isa::best(), &|name| part(parts, name)).err();
    for (name, at, to) in [("games", 0, !0), ("games", 8, 77), ("games", 14, 1 << 30), ("traces", 8, 77)] {
        let error = restored(&spoiled(&parts, name, word(at, to)));
        assert!(matches!(error, Some(PublishedError::Saved(SavedError::BadValue { .. }))), "{name} {at}");
    }
    let wrong = [
        PublishedConfig { evals: 1, ..small() },
        PublishedConfig { lr: f32::NAN, ..small() },
        PublishedConfig { minibatch: 65, ..small() },
    ];
    for config in wrong {
        assert!(Published::new(config, 1, Isa::best()).is_err());
    }
}

/// Only programs can change these settings. Their minimum and maximum are accepted, and values outside are rejected.
#[test]
fn programmatic_settings_are_range_checked() {
    type Set = fn(&mut PublishedConfig, f32);
    let settings: [(&str, Set, [f32; 2], [f32; 2]); 3] = [
        ("leaves", |of, x| of.leaves = x as usize, [1.0, 64.0], [0.0, 65.0]),
        ("doubt", |of, x| of.doubt = x, [0.0, 6.0], [-0.5, 6.5]),
        ("virtual_loss", |of, x| of.virtual_loss = x, [0.0, 100.0], [-0.5, 101.0]),
    ];
    for (name, set, taken, refused) in settings {
        let is_refused = |x: f32| {
            let mut config = PublishedConfig::default();
            set(&mut config, x);
            matches!(config.check(), Err(PublishedError::Setting(error)) if error.name == name)
        };
        assert!(!taken.into_iter().any(is_refused) && refused.into_iter().all(is_refused), "{name}");
    }
}

#[test]
fn players_decide_independently_and_rank_as_they_choose() {
    let learner = learner();
    let (mut numbers, mut scratch) = (Rng::new(1, 8).sequence(0), Results::new());
    let mut decisions = sample_decisions(60, 1, |board, roll| {
        let results = board.results(roll, &mut scratch);
        results[numbers.below(results.len() as u32) as usize]
    });
    decisions.retain(|(board, roll)| board.results(*roll, &mut scratch).len() > 1);
    assert!(decisions.len() > 40);
    for evals in [1, 24] {
        let mut player = learner.player(evals);
        let (mut together, mut alone) = (Vec::new(), Vec::new());
        player.choose(&decisions, &mut together);
        assert_eq!(together.len(), decisions.len());
        for (i, &(board, roll)) in decisions.iter().enumerate() {
            assert!(board.results(roll, &mut scratch).contains(&together[i]), "{board:?} {roll:?}");
            player.choose(&[(board, roll)], &mut alone);
            assert_eq!(alone, together[..=i], "{board:?} {roll:?}");
        }
        for &(board, roll) in decisions.iter().step_by(5) {
            let ranked = player.rank(board, roll);
            let mut found: Vec<_> = ranked.iter().map(|candidate| candidate.board.id()).collect();
            let mut results: Vec<_> = board.results(roll, &mut scratch).iter().map(Board::id).collect();
            found.sort_unstable();
            results.sort_unstable();
            assert_eq!(found, results);
            let sum = |of: &dyn Fn(&learn::backgammon::Candidate) -> f32| ranked.iter().map(of).sum::<f32>();
            assert!((sum(&|candidate| candidate.prior) - 1.0).abs() < 1e-4);
            let shares = sum(&|candidate| candidate.share);
            assert!((shares - if evals > 1 { 1.0 } else { 0.0 }).abs() < 1e-4, "{shares}");
            for candidate in &ranked {
                assert!((candidate.chances.0.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            }
            if !roll.is_double() {
                alone.clear();
                player.choose(&[(board, roll)], &mut alone);
                assert_eq!(alone, [ranked[0].board]);
            }
        }
    }
    let expected = learner.player(1).expects(Board::START).unwrap();
    assert!((expected.0.iter().sum::<f32>() - 1.0).abs() < 1e-4);
    let mut off = [0; 25];
    off[3] = 15;
    let won = Board::new([0; 25], off).unwrap();
    assert_eq!(learner.player(1).expects(won).unwrap().equity(), 2.0);
    assert_eq!(learner.player(1).expects(won.turned()).unwrap().equity(), -2.0);
}

/// A player with one evaluation per decision does not search. A candidate then has share 0, and both of its equities are the static equity.
#[test]
fn without_a_search_ranking_is_static() {
    let mut player = learner().player(1);
    for (high, low) in [(3, 1), (6, 5), (4, 4)] {
        let ranked = player.rank(Board::START, Roll::new(high, low).unwrap());
        assert!(ranked.len() > 5);
        for candidate in ranked {
            assert_eq!((candidate.share, candidate.depth), (0.0, Depth::Static));
            let expected = candidate.chances.equity();
            for equity in [candidate.equity, candidate.first_equity] {
                assert!((f64::from(equity) - expected).abs() < 1e-5, "{equity}, not {expected}");
            }
        }
    }
}

/// A few seconds of self-play are enough to beat random moves by a clear margin. An untrained network with the same search does not reach
/// this margin.
#[test]
fn some_hundred_games_beat_random_moves() {
    const ROUNDS: u64 = 14;
    let config =
        PublishedConfig { evals: 16, actors: 2, round_batches: 120, exploration: 0.3, duel_pairs: 0, ..PublishedConfig::default() };
    let mut learner = Published::new(config, 1, Isa::best()).unwrap();
    let against_random = |learner: &Published| {
        let tally = duel(&mut *learner.player(24), &mut Random::new(3), 5, 80, 80).unwrap();
        tally.mean()
    };
    // The strength of an untrained network shows that the limit is high enough. Without `--all`, it is not measured again.
    let before = testkit::all().then(|| against_random(&learner));
    rounds(&mut learner, ROUNDS);
    let after = against_random(&learner);
    assert!(before.is_none_or(|before| before < 0.6) && after > 1.1, "{before:?} points per game, then {after}");
}

#[test]
fn minibatches_cover_the_replay_uniformly_and_differ() {
    const KEPT: usize = 2000;
    let config = PublishedConfig::default();
    let (mut drawn, mut shares) = (vec![0; config.minibatch], [0usize; 10]);
    let mut last = Vec::new();
    const STEPS: u64 = 200;
    for n in 0..STEPS {
        draw(&config, 5, n, KEPT, &mut drawn);
        drawn.iter().for_each(|&place| shares[place as usize * 10 / KEPT] += 1);
        assert_ne!(drawn, last);
        last.clone_from(&drawn);
    }
    let all = STEPS as f64 * config.minibatch as f64;
    for share in shares {
        assert!((share as f64 / all - 0.1).abs() < 0.006, "{shares:?}");
    }
}

#[test]
fn rounds_do_not_depend_on_slices() {
    let config = PublishedConfig {
        width: 32,
        blocks: 1,
        evals: 8,
        actors: 3,
        games: 6,
        batch: 16,
        round_batches: 30,
        replay: 200,
        minibatch: 32,
        duel_pairs: 0,
        ..PublishedConfig::default()
    };
    let run = |longest: f64| {
        let mut it = Published::new(config.clone(), 5, Isa::best()).unwrap();
        it.limits = Limits::new(&config, longest);
        let plan = plan_learning(config.shape(), config.minibatch / SHARDS, Isa::best()).unwrap();
        it.trainer.cut = Cut::new(&plan, config.shape(), config.minibatch, longest / 2.0);
        let (mut slices, mut within) = (0, 0);
        while it.progress().iterations < 8 {
            let ends = matches!(it.advance(), Slice::Ended(_));
            slices += 1;
            assert!(ends || !it.at_boundary() && !it.is_due(), "some actors have played");
            within += usize::from(!it.trainer.is_between_steps() && !it.at_boundary());
        }
        (it.parts(), it.progress().updates, slices, within)
    };
    let (whole, updates, few, _) = run(1e12);
    let (pieces, _, many, within) = run(1.0);
    assert!(whole == pieces, "slices changed what was learned");
    assert!(updates > 5 && many > few + 8 * 60, "{updates} updates, {few} and {many} slices");
    assert!(within as u64 > updates, "{within} slices ended within {updates} updates");
}

#[test]
fn the_newest_samples_are_kept_and_no_others() {
    let sample = |n: u32| {
        let mut sample = [0; WORDS];
        sample[10] = n;
        sample
    };
    let mut replay = Replay::new(5);
    let kept = |replay: &Replay| {
        let mut kept: Vec<u32> = replay.samples.iter().map(|sample| sample[10]).collect();
        kept.sort_unstable();
        kept
    };
    replay.add(&[1, 2, 3].map(sample));
    assert_eq!(kept(&replay), [1, 2, 3]);
    replay.add(&[4, 5, 6, 7].map(sample));
    assert_eq!(kept(&replay), [3, 4, 5, 6, 7]);
}
