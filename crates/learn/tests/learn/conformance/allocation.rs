//! Once all buffers have grown, iterations allocate no memory on any thread of a pool. Each test counts only the allocations of its own
//! threads.
//!
//! An iteration of a population of automata is an exception: its slices allocate when they collect the members to update, and when they
//! harden automata. A step of a member's trainer does not allocate.

use super::cases::{self, control};
use super::subject::{Case, Subject};
use crate::cube::QUARTER;
use learn::backgammon::{Published, PublishedConfig, SelfTaught, Strong, StrongConfig};
use learn::cube::{Cube, CubeLearner, Exhaustive, Judge, Scores, Signal, Supervised};
use learn::logic::automaton::{Automaton, GateForm};
use learn::logic::train::{Optimiser, Rollout, Trainer};
use learn::logic::{Architecture, Wiring, Wirings};
use learn::{Learner, Slice};
use math::{Isa, Rng};
use testkit::Meter;
use worlds::backgammon::{Board, Roll};
use worlds::cube::{Three, Two};

/// Maximum number of iterations in which a backgammon learner may allocate. A buffer grows if a game is longer, or a roll has more results,
/// than all before. Such iterations become rare. A regular allocation would exceed this maximum within the sixty iterations of the test.
const RECORDS: usize = 3;

/// Runs `work` in a pool of `threads` threads whose allocations are counted. `work` runs on a thread of the pool, because passing a task to
/// a pool from outside sometimes allocates.
fn watched(threads: usize, work: impl FnOnce(Meter) + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let meter = Meter::new();
        rayon::broadcast(|_| meter.watch());
        work(meter);
    });
}

/// Runs one iteration. Unlike `iterate`, this function does not collect statistics, which would allocate.
fn iteration(learner: &mut impl Learner) {
    while !matches!(learner.advance(), Slice::Ended(_)) {}
}

/// Trains for `warm` iterations, then for `count` iterations, of which at most `records` may allocate. Returns the learner.
fn steady<S: Subject>(case: &Case<S>, meter: Meter, (warm, count): (usize, usize), records: usize) -> S {
    let mut learner = case.begin();
    (0..warm).for_each(|_| iteration(&mut learner));
    let grew = (0..count).filter(|_| meter.count(|| iteration(&mut learner)).1 > 0).count();
    assert!(grew <= records, "{}: {grew} of {count} iterations allocated", case.name);
    learner
}

/// Tests PPO with recording, evaluation and predictions.
#[test]
fn ppo() {
    watched(2, |meter| {
        for case in control() {
            let mut ppo = steady(&case, meter, (2, 4), 0);
            let state = vec![0.0; ppo.kind().spec.observation.len()];
            let mut odds = vec![0.0; ppo.policy_len()];
            let mut step = || {
                iteration(&mut ppo);
                ppo.evaluate(200, 3);
                ppo.predict(&state, &mut odds, &mut [0.0]);
            };
            step(); // the first step allocates buffers for recording and evaluation
            let ((), taken) = meter.count(|| (0..3).for_each(|_| step()));
            assert_eq!(taken, 0, "{}", case.name);
        }
    });
}

/// Tests supervised learners, and judges (evaluators of states) that have the learners' weights.
fn supervised_learners<P: Cube>(signals: &[Signal], meter: Meter) {
    for case in cases::supervised::<P>(signals) {
        let learner: Supervised<P> = steady(&case, meter, (1, 4), 0);
        let mut judge = learner.judge().expect("a plan");
        let states = [P::SOLVED; 1000];
        let mut scores = vec![0.0; 1000 * judge.scores().count(12.min(P::MOVES.len() / 3 * 2))];
        let mut step = || {
            judge.set(learner.weights());
            judge.judge(&states, &mut scores);
        };
        step();
        assert_eq!(meter.count(step).1, 0, "{}", case.name);
    }
}

#[test]
fn cube() {
    watched(2, |meter| {
        supervised_learners::<Two>(&Signal::ALL, meter);
        supervised_learners::<Three>(&[Signal::LastMove], meter);
        // In these iterations, episodes start, end and are relabelled, the replay ring wraps around, and the target network is copied.
        for case in cases::dqn_of_two() {
            let learner = steady(&case, meter, (20, 150), 0);
            let replay = learner.replay();
            assert!(learner.progress().episodes > 100 && replay.len() == replay.capacity(), "{}", case.name);
        }
        cases::dqn_of_three().iter().for_each(|case| drop(steady(case, meter, (20, 150), 0)));
        // Only the first pass over all states may allocate memory.
        struct ZeroJudge;
        impl Judge<Two> for ZeroJudge {
            fn scores(&self) -> Scores {
                Scores::Value
            }
            fn judge(&mut self, _: &[Two], scores: &mut [f32]) {
                scores.fill(0.0);
            }
        }
        let mut all = Exhaustive::new(QUARTER.clone());
        let mut pass = || while all.advance(&mut ZeroJudge).is_none() {};
        pass(); // the first pass allocates buffers for paths and the report
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

/// Tests the strong learner and its player, with and without search. The test uses a single thread. With several threads, chance would
/// determine which thread plays the longest game and enlarges its buffer.
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
                    chosen.clear();
                    player.choose(&[(board, Roll::drawn(&mut numbers))], &mut chosen);
                    board = if chosen[0].points() == 0 { chosen[0].turned() } else { Board::START };
                }
            };
            play(500);
            let grew = (0..60).filter(|_| meter.count(|| play(10)).1 > 0).count();
            assert!(grew <= RECORDS, "{evals} evaluations: {grew} of 60 groups of decisions allocated");
        }
    });
}

/// Tests the transformer for several epochs of a text.
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
