//! Benchmarks of the cube: moves, training steps of both learners, evaluation of all states, and beam search.

use crate::measure::{Bench, Clock, alone, iterate, rates, warmed_ms};
use learn::Learner;
use learn::cube::{
    Cube, CubeLearner, Dqn, DqnConfig, Evaluator, Exhaustive, Limits, Method, Preset, Search, Signal, Supervised, SupervisedConfig,
};
use math::rounds::{FEW, rounds_s};
use math::{Isa, Rng};
use std::sync::Arc;
use worlds::cube::{Actions, Distances, Metric, Puzzle, Three, Two};

/// Runs all benchmarks of the cube. The comment of each benchmark function states whether the benchmark uses one core or all threads.
pub fn measure(bench: &mut Bench) {
    let (isa, now) = (bench.isa, bench.now);
    bench.give("cube.2x2x2.moves_per_s_core", &moved::<Two>(now), "moves/s");
    bench.give("cube.3x3x3.moves_per_s_core", &moved::<Three>(now), "moves/s");
    let published = DqnConfig::preset(Preset::Published);
    bench.give("cube.dqn.step_ms", &deep_q(published.clone(), false, isa, now), "ms");
    let full = DqnConfig { prioritised: true, n_step: 3, ..published };
    bench.give("cube.dqn.full_step_ms", &deep_q(full, true, isa, now), "ms");
    bench.give("cube.2x2x2.train_states_per_s_core", &taught::<Two>(isa, now), "states/s");
    bench.give("cube.3x3x3.train_states_per_s_core", &taught::<Three>(isa, now), "states/s");
    bench.give("cube.judge.states_per_s", &judged(isa, now), "states/s, including the enumeration of all states");
    bench.give("cube.2x2x2.beam_nodes_per_s", &searched::<Two>(isa, now), "nodes/s");
    bench.give("cube.3x3x3.beam_nodes_per_s", &searched::<Three>(isa, now), "nodes/s");
}

/// Returns the moves per second on one core, in each round. Every move is applied to each of many states.
fn moved<P: Puzzle>(now: Clock) -> Vec<f64> {
    const STATES: usize = 1024;
    let actions = Actions::of::<P>(Metric::Quarter);
    let mut numbers = Rng::new(7, 1).sequence(0);
    let states: Vec<P> = (0..STATES).map(|_| P::drawn(&mut numbers)).collect();
    let mut children = vec![P::SOLVED; STATES * actions.count()];
    let moves = children.len() as f64;
    let all = || {
        P::fill_children(&states, &actions, &mut children);
        std::hint::black_box(&children);
    };
    rates(moves, &rounds_s(&now, all))
}

/// Returns the milliseconds per update of deep Q-learning on one core, in each round. If `whole` is true, the time includes the sampling of
/// the batch.
fn deep_q(config: DqnConfig, whole: bool, isa: Isa, now: Clock) -> Vec<f64> {
    let mut dqn = Dqn::<Two>::new(config, None, 1, isa).expect("the settings are in range");
    alone(|| {
        // The learner fills the replay buffer until the first update.
        while dqn.progress().updates == 0 {
            dqn.advance();
        }
        warmed_ms(now, || {
            if whole {
                dqn.sample();
            }
            dqn.learn();
        })
    })
}

/// Returns the training states per second of the default learner on one core, in each round.
fn taught<P: Cube>(isa: Isa, now: Clock) -> Vec<f64> {
    let mut learner = learner::<P>(isa, |config| config.steps.updates = 8);
    alone(|| {
        let mut iteration = || {
            let (began_s, before) = (now(), learner.progress().states);
            iterate(&mut learner).expect("nothing is offloaded");
            (learner.progress().states - before) as f64 / (now() - began_s)
        };
        iteration();
        (0..FEW).map(|_| iteration()).collect()
    })
}

/// Creates a learner with the default configuration, to which `change` is applied.
fn learner<P: Cube>(isa: Isa, change: impl FnOnce(&mut SupervisedConfig)) -> Supervised<P> {
    let mut config = SupervisedConfig::preset::<P>(Signal::WalkLength);
    change(&mut config);
    Supervised::new(config, None, 1, isa).expect("the settings are in range")
}

fn judge<P: Cube>(isa: Isa) -> Evaluator<P> {
    learner(isa, |_| {}).judge().expect("the net is well formed")
}

/// Returns the states per second on all threads, in each round. In a round, the default network evaluates all states of the 2x2x2.
fn judged(isa: Isa, now: Clock) -> Vec<f64> {
    let mut judge = judge::<Two>(isa);
    let distances = Arc::new(Distances::new(Metric::Quarter));
    let mut pass = || {
        let mut all = Exhaustive::new(distances.clone());
        let began_s = now();
        all.run(&mut judge);
        Two::STATES as f64 / (now() - began_s)
    };
    (0..FEW).map(|_| pass()).collect()
}

/// Returns the states per second that a beam search generates on all threads, in each round. The network is untrained, so the search
/// continues to its limit.
fn searched<P: Cube>(isa: Isa, now: Clock) -> Vec<f64> {
    let mut judge = judge::<P>(isa);
    let limits = Limits { steps: 60, nodes: 100_000 };
    let method = Method::Beam { width: 1024 };
    let mut search = Search::new(method, limits, Actions::of::<P>(Metric::Quarter)).expect("a beam that is not empty");
    let mut numbers = Rng::new(7, 2).sequence(0);
    (0..FEW)
        .map(|_| {
            let (state, began_s) = (P::drawn(&mut numbers), now());
            let nodes = search.solve(state, &mut judge).map_or(0, |outcome| outcome.nodes);
            nodes as f64 / (now() - began_s)
        })
        .collect()
}
