//! What is steady allocates nothing, on any thread of a pool: each test counts what its own threads do.
//!
//! An iteration of a population does allocate: its slices list the members that they update, and automata are hardened. A step of one
//! of its trainers does not.

use crate::cases::{self, control};
use crate::subject::{Case, Subject};
use learn::backgammon::{Published, PublishedConfig, SelfTaught, Strong, StrongConfig};
use learn::cube::{Cube, CubeLearner, Exhaustive, Judge, Scores, Signal, Supervised};
use learn::logic::automaton::{Automaton, GateForm};
use learn::logic::train::{Optimiser, Rollout, Trainer};
use learn::logic::{Architecture, Wiring, Wirings};
use learn::{Learner, Slice};
use math::{Isa, Rng};
use std::sync::Arc;
use testkit::Meter;
use worlds::backgammon::{Board, Roll};
use worlds::cube::{Distances, Metric, Three, Two};

/// A game that is longer than any before, or a roll with more results, makes room for itself. Such records get rarer and rarer;
/// what allocates every now and then does so in more of sixty stretches.
const RECORDS: usize = 3;

/// In a pool of so many threads, which are all watched. A thread outside hands each task over through a queue, which allocates now and
/// then.
fn watched(threads: usize, work: impl FnOnce(Meter) + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let meter = Meter::new();
        rayon::broadcast(|_| meter.watch());
        work(meter);
    });
}

/// Unlike `iterate`, which keeps what is told.
fn iteration(learner: &mut impl Learner) {
    while !matches!(learner.advance(), Slice::Ended(_)) {}
}

/// The learner after `warm` iterations and `count` more, of which some may set a record.
fn steady<S: Subject>(case: &Case<S>, meter: Meter, (warm, count): (usize, usize), records: usize) -> S {
    let mut learner = case.begin();
    (0..warm).for_each(|_| iteration(&mut learner));
    let grew = (0..count).filter(|_| meter.count(|| iteration(&mut learner)).1 > 0).count();
    assert!(grew <= records, "{}: {grew} of {count} iterations allocated", case.name);
    learner
}

/// Nor does it while it is watched, judged and asked.
#[test]
fn ppo() {
    watched(2, |meter| {
        for case in control() {
            let mut ppo = steady(&case, meter, (2, 4), 0);
            let state = vec![0.0; ppo.kind().spec.observation.len()];
            let mut odds = vec![0.0; ppo.policy_len()];
            let mut look = || {
                iteration(&mut ppo);
                ppo.evaluate(200, 3);
                ppo.predict(&state, &mut odds, &mut [0.0]);
            };
            look(); // makes room for what is watched and for the evaluation games, once
            let ((), taken) = meter.count(|| (0..3).for_each(|_| look()));
            assert_eq!(taken, 0, "{}", case.name);
        }
    });
}

/// Nor does what judges by it.
fn walks<P: Cube>(signals: &[Signal], meter: Meter) {
    for case in cases::supervised::<P>(signals) {
        let learner: Supervised<P> = steady(&case, meter, (1, 4), 0);
        let mut judge = learner.judge().expect("a plan");
        let states = [P::SOLVED; 1000];
        let mut scores = vec![0.0; 1000 * judge.scores().count(12.min(P::MOVES.len() / 3 * 2))];
        let mut look = || {
            judge.set(learner.weights());
            judge.judge(&states, &mut scores);
        };
        look();
        assert_eq!(meter.count(look).1, 0, "{}", case.name);
    }
}

#[test]
fn cube() {
    watched(2, |meter| {
        walks::<Two>(&Signal::ALL, meter);
        walks::<Three>(&[Signal::LastMove], meter);
        // Episodes end, are relabelled and begin; the ring comes round; the target network is copied.
        for case in cases::dqn_of_two() {
            let learner = steady(&case, meter, (20, 150), 0);
            let replay = learner.replay();
            assert!(learner.progress().episodes > 100 && replay.len() == replay.capacity(), "{}", case.name);
        }
        cases::dqn_of_three().iter().for_each(|case| drop(steady(case, meter, (20, 150), 0)));
        // A pass over all states has what it needs before it begins.
        struct Nought;
        impl Judge<Two> for Nought {
            fn scores(&self) -> Scores {
                Scores::Value
            }
            fn judge(&mut self, _: &[Two], scores: &mut [f32]) {
                scores.fill(0.0);
            }
        }
        let mut all = Exhaustive::new(Arc::new(Distances::new(Metric::Quarter)));
        let mut pass = || while all.advance(&mut Nought).is_none() {};
        pass(); // makes room for ways and the report, once
        assert_eq!(meter.count(pass).1, 0, "a pass over all states");
    });
}

#[test]
fn published() {
    let config = PublishedConfig {
        evals: 12,
        actors: 2,
        games: 10,
        batch: 32,
        round_batches: 80,
        replay: 500,
        minibatch: 64,
        duel_pairs: 0,
        ..PublishedConfig::default()
    };
    let case: Case<Published> = Case { name: "AlphaZero".into(), world: (), config, warm: 0, wide: None };
    watched(2, |meter| assert!(steady(&case, meter, (30, 40), 1).progress().games > 50));
}

/// Nor does its player, with a search or without. Of one thread: which of several meets the longest game, and makes room for it, is
/// chance.
#[test]
fn strong() {
    let config = StrongConfig { hidden: 32, games: 16, batch: 128, ..StrongConfig::default() };
    let case: Case<Strong> = Case { name: "TD".into(), world: (), config, warm: 0, wide: None };
    watched(1, |meter| {
        let strong = steady(&case, meter, (20, 60), RECORDS);
        for evals in [1, 60] {
            let mut player = strong.player(evals);
            let (mut numbers, mut board, mut chosen) = (Rng::new(1, 2).sequence(0), Board::START, Vec::new());
            let mut play = |decisions: usize| {
                for _ in 0..decisions {
                    player.choose(&[(board, Roll::drawn(&mut numbers))], &mut chosen);
                    board = if chosen[0].points() == 0 { chosen[0].turned() } else { Board::START };
                }
            };
            play(500);
            let grew = (0..60).filter(|_| meter.count(|| play(10)).1 > 0).count();
            assert!(grew <= RECORDS, "{evals} evaluations: {grew} of 60 times some decisions allocated");
        }
    });
}

/// Some epochs of its text.
#[test]
fn words() {
    watched(2, |meter| cases::words().iter().for_each(|case| drop(steady(case, meter, (1, 30), 0))));
}

#[test]
fn automata() {
    let architecture = Architecture { channels: 8, kernels: 16, perception: vec![8, 4, 2], update: vec![256, 128, 64, 32, 16, 8, 8] };
    let rollout = Rollout { width: 24, height: 20, periodic: true, steps: 3, batch: 2, fire_rate: Some(0.6) };
    let wirings = Wirings::new(&architecture, Wiring::Unique, 1).expect("wires");
    let plane = rollout.width * rollout.height * rollout.batch;
    let (start, target) = (vec![1.0; 8 * plane], vec![0.0; plane]);
    for form in [GateForm::Softmax, GateForm::Four, GateForm::Gumbel { temperature: 1.0 }] {
        watched(2, |meter| {
            let automaton = Automaton::new(architecture.clone(), wirings.clone(), form);
            let mut trainer = Trainer::new(Isa::best(), automaton, rollout.clone(), Optimiser::default(), 1);
            trainer.step(&start, &target, 1);
            let ((), taken) = meter.count(|| (0..20).for_each(|_| _ = trainer.step(&start, &target, 1)));
            assert_eq!(taken, 0, "{form:?}");
        });
    }
}
