//! The figures of the cube: moves, steps of both kinds of learners, the pass over all states, and beams.

use super::distances;
use crate::bench::{Bench, Figure, ROUNDS, median, seconds_a_call, warm_up};
use learn::cube::{
    Dqn, DqnConfig, Evaluator, Exhaustive, Learner, Limits, Method, Preset, Search, Signal, Slice,
    Supervised, SupervisedConfig,
};
use math::par::Threads;
use math::{Isa, Rng};
use worlds::cube::{Actions, Metric, Puzzle, Three, Two};

/// On one core where the figure is one core's, and on all of them.
pub(super) fn run(bench: &mut Bench) {
    let (isa, now) = (bench.isa, bench.now);
    let mut give = |name: String, value: f64, unit: &'static str| {
        (bench.sink)(Figure { name, value, unit: unit.into() })
    };
    give("cube.2x2x2.moves_per_s_core".into(), moved::<Two>(&now), "moves/s");
    give("cube.3x3x3.moves_per_s_core".into(), moved::<Three>(&now), "moves/s");
    let published = DqnConfig::preset(Preset::Published);
    give("cube.dqn.step_ms".into(), 1e3 * deep_q(published.clone(), false, isa, now), "ms");
    let full = DqnConfig { prioritised: true, n_step: 3, ..published };
    give("cube.dqn.full_step_ms".into(), 1e3 * deep_q(full, true, isa, now), "ms");
    let two = taught::<Two>(isa, now);
    give("cube.2x2x2.train_states_per_s_core".into(), two, "states/s");
    let three = taught::<Three>(isa, now);
    give("cube.3x3x3.train_states_per_s_core".into(), three, "states/s");
    give("cube.judge.states_per_s".into(), judged(isa, &now), "states/s, with the walks through all of them");
    give("cube.2x2x2.beam_nodes_per_s".into(), searched::<Two>(isa, &now), "nodes/s");
    give("cube.3x3x3.beam_nodes_per_s".into(), searched::<Three>(isa, &now), "nodes/s");
}

/// Every move of many states.
fn moved<P: Puzzle>(now: &dyn Fn() -> f64) -> f64 {
    const STATES: usize = 1024;
    let actions = Actions::of::<P>(Metric::Quarter);
    let mut numbers = Rng::new(7, 1).sequence(0);
    let states: Vec<P> = (0..STATES).map(|_| P::drawn(&mut numbers)).collect();
    let mut children = vec![P::SOLVED; STATES * actions.count()];
    let moves = children.len() as f64;
    let mut all = || {
        P::fill_children(&states, &actions, &mut children);
        std::hint::black_box(&children);
    };
    let mut rates: Vec<f64> = (0..ROUNDS).map(|_| moves / seconds_a_call(now, &mut all)).collect();
    median(&mut rates)
}

fn alone<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    Threads::of(1).expect("one there always is").run(f)
}

/// Seconds of a step on a batch that was drawn, or with its drawing.
fn deep_q(config: DqnConfig, whole: bool, isa: Isa, now: fn() -> f64) -> f64 {
    let mut dqn = Dqn::<Two>::new(config, None, 1, isa).expect("the settings are in range");
    alone(|| {
        // Until there is something to learn from.
        while dqn.progress().updates == 0 {
            dqn.advance();
        }
        let mut step = || {
            if whole {
                dqn.sample();
            }
            dqn.learn();
        };
        warm_up(&now, &mut step);
        let mut times: Vec<f64> = (0..ROUNDS).map(|_| seconds_a_call(&now, &mut step)).collect();
        median(&mut times)
    })
}

/// States learned from a second on one core by the default learner.
fn taught<P: super::judging::Known>(isa: Isa, now: fn() -> f64) -> f64 {
    const ITERATIONS: usize = 5;
    let config = SupervisedConfig { updates: 8, ..SupervisedConfig::preset::<P>(Signal::WalkLength) };
    let mut learner = Supervised::<P>::new(config, None, 1, isa).expect("the settings are in range");
    alone(|| {
        let mut iteration = || {
            let (began_s, before) = (now(), learner.progress().states);
            while learner.advance() == Slice::Worked {}
            (learner.progress().states - before) as f64 / (now() - began_s)
        };
        iteration();
        let mut rates: Vec<f64> = (0..ITERATIONS).map(|_| iteration()).collect();
        median(&mut rates)
    })
}

fn judge<P: super::judging::Known>(isa: Isa) -> Evaluator<P> {
    let config = SupervisedConfig::preset::<P>(Signal::WalkLength);
    let learner = Supervised::<P>::new(config, None, 1, isa).expect("the settings are in range");
    learner.judge().expect("the net is well formed")
}

/// A pass over all states by the default network, on all threads.
fn judged(isa: Isa, now: &dyn Fn() -> f64) -> f64 {
    let (mut judge, mut all) = (judge::<Two>(isa), Exhaustive::new(distances(Metric::Quarter)));
    let began_s = now();
    all.run(&mut judge);
    Two::STATES as f64 / (now() - began_s)
}

/// States that a beam generates a second on all threads, by a network that has learned nothing, so that it goes on to its limit.
fn searched<P: super::judging::Known>(isa: Isa, now: &dyn Fn() -> f64) -> f64 {
    const ROUNDS: usize = 5;
    let mut judge = judge::<P>(isa);
    let limits = Limits { steps: 60, nodes: 100_000 };
    let method = Method::Beam { width: 1024 };
    let mut search =
        Search::new(method, limits, Actions::of::<P>(Metric::Quarter)).expect("a beam that is not empty");
    let mut numbers = Rng::new(7, 2).sequence(0);
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let (state, began_s) = (P::drawn(&mut numbers), now());
            let nodes = search.solve(state, &mut judge).map_or(0, |outcome| outcome.nodes);
            nodes as f64 / (now() - began_s)
        })
        .collect();
    median(&mut rates)
}
