//! Searches find solutions, the exhaustive report agrees with single searches, and judges (evaluators of states) agree with the trained
//! network. A few seconds of training solve the 2x2x2.

use super::{QUARTER, drawn, iterate};
use learn::Learner;
use learn::cube::net::{Loss, plan_learning};
use learn::cube::search::{SearchError, Stop};
use learn::cube::{
    Cube, CubeLearner, Greedy, Inputs, Judge, LearnerError, Limits, Method, NetConfig, Outcome, Scores, Search, Signal, Steps, Supervised,
    SupervisedConfig,
};
#[cfg(not(target_arch = "wasm32"))]
use learn::cube::{Exhaustive, Report, evaluate::Row};
use math::par;
use math::{Isa, Rng};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use testkit::test;
use worlds::cube::{Actions, Distances, Metric, Puzzle, Three, Two};

static HALF: LazyLock<Arc<Distances>> = LazyLock::new(|| Arc::new(Distances::new(Metric::Half)));

/// A judge that computes scores with a function. Fields: the kind of scores, the number of actions, and the function of a state and an
/// action. For state values, the function ignores the action.
struct By<F>(Scores, usize, F);

impl<P: Puzzle, F: FnMut(P, usize) -> f32> Judge<P> for By<F> {
    fn scores(&self) -> Scores {
        self.0
    }

    fn judge(&mut self, states: &[P], scores: &mut [f32]) {
        let count = self.0.count(self.1);
        assert_eq!(scores.len(), states.len() * count);
        for (state, scores) in states.iter().zip(scores.chunks_exact_mut(count)) {
            scores.iter_mut().enumerate().for_each(|(action, score)| *score = (self.2)(*state, action));
        }
    }
}

/// Returns a judge whose state values are the exact distances to the solved state.
fn knowing(exact: &Distances) -> impl Judge<Two> {
    By(Scores::Value, exact.actions().count(), |state, _| f32::from(exact.of(state)))
}

/// Returns a judge with exact action values: 1 plus the distance of the state after the action.
fn foreseeing(exact: &Distances) -> impl Judge<Two> {
    let count = exact.actions().count();
    By(Scores::ActionValues, count, |state: Two, action| 1.0 + f32::from(exact.of(state.turned(action))))
}

/// Returns a judge whose policy gives almost all probability to moves that reduce the distance.
fn sure(exact: &Distances) -> impl Judge<Two> {
    let mut known = (Two::SOLVED, exact.best(Two::SOLVED));
    By(Scores::Policy, exact.actions().count(), move |state, action| {
        if known.0 != state {
            known = (state, exact.best(state));
        }
        let best = known.1;
        if best >> action & 1 == 1 { -(best.count_ones() as f32).ln() } else { -20.0 }
    })
}

/// Returns a random score of an action in a state. Almost all scores are distinct.
fn noise(state: Two, action: usize) -> f32 {
    let word = Rng::new(3, action as u32).block([state.rank(), 0, 0, 0])[0];
    word as f32
}

fn search<P: Puzzle>(method: Method, limits: Limits, metric: Metric) -> Search<P> {
    Search::new(method, limits, Actions::of::<P>(metric)).expect("a sound method")
}

const METHODS: [Method; 6] = [
    Method::Greedy(Greedy::Plain),
    Method::Greedy(Greedy::Onward),
    Method::Beam { width: 1 },
    Method::Beam { width: 33 },
    Method::AStar { weight: 1.0, batch: 1 },
    Method::AStar { weight: 0.8, batch: 40 },
];

#[test]
fn exact_judges_solve_optimally_with_every_search() {
    for (exact, metric) in [(&*QUARTER, Metric::Quarter), (&*HALF, Metric::Half)] {
        for method in METHODS {
            let mut one = search(method, Limits::default(), metric);
            for state in drawn::<Two>(1, 60).into_iter().chain([Two::SOLVED]) {
                let distance = usize::from(exact.of(state));
                let is_a_star = matches!(method, Method::AStar { .. });
                let policy = (!is_a_star).then(|| one.solve(state, &mut sure(exact)).expect("a beam"));
                let value = one.solve(state, &mut knowing(exact)).expect("any method");
                let actions = one.solve(state, &mut foreseeing(exact)).expect("any method");
                // With action values, one evaluation covers all children of a node. The search may examine nodes in another order than with
                // state values, but must not examine more nodes.
                assert!(actions.nodes <= value.nodes, "{method:?} {metric:?} {state:?}");
                for outcome in policy.into_iter().chain([value, actions]) {
                    let actions = outcome.solution.expect("there is a way");
                    assert_eq!(actions.len(), distance, "{method:?} {metric:?} {state:?}");
                    let end = actions.iter().fold(state, |state, &action| state.turned(usize::from(action)));
                    assert!(end == Two::SOLVED);
                    assert!(outcome.nodes as usize <= 1 + 40 * 9 * (distance + 1) * 2, "{}", outcome.nodes);
                }
            }
        }
    }
}

/// If a judge gives all states equal scores, a wide beam and A* are breadth-first searches.
#[test]
fn meaningless_judges_still_solve_near_states() {
    let mut nothing = By(Scores::Value, 6, |_: Two, _| 0.0);
    let near = drawn_near(8, 25);
    for method in [Method::Beam { width: 100_000 }, Method::AStar { weight: 1.0, batch: 1 }] {
        let mut one = search(method, Limits::default(), Metric::Quarter);
        for &state in &near {
            let outcome = one.solve(state, &mut nothing).expect("values");
            let length = outcome.solution.expect("it is near").len();
            assert_eq!(length, usize::from(QUARTER.of(state)), "{method:?} {state:?}");
        }
    }
    // Random scores give a search no direction. Nevertheless, the search examines no state twice.
    let mut astray = By(Scores::Value, 6, |state: Two, _| noise(state, 0));
    let mut one = search(Method::AStar { weight: 0.0, batch: 64 }, Limits::default(), Metric::Quarter);
    for &state in &near[..3] {
        let outcome = one.solve(state, &mut astray).expect("values");
        assert!(outcome.solution.is_ok() && outcome.nodes <= 6 * Two::STATES as u64 + 1);
    }
}

/// State values and action values are equivalent if an action value includes the cost of the move. With equivalent values, A* must expand
/// the same states in the same order. The values are wrong on purpose, so that A* expands many states.
#[test]
fn a_star_is_the_same_with_state_and_action_values() {
    let guess = |state: Two| (Rng::new(4, 0).block([state.rank(), 0, 0, 0])[0] % 4) as f32;
    let mut states = By(Scores::Value, 6, |state: Two, _| guess(state));
    let mut actions = By(Scores::ActionValues, 6, |state: Two, action| 1.0 + guess(state.turned(action)));
    for batch in [1, 8] {
        let method = Method::AStar { weight: 1.0, batch };
        let mut one = search(method, Limits::default(), Metric::Quarter);
        let mut most = 0;
        for state in drawn_near(5, 25) {
            let by_states = one.solve(state, &mut states).expect("values");
            let by_actions = one.solve(state, &mut actions).expect("values");
            assert_eq!(by_actions.solution, by_states.solution, "{state:?}");
            assert_eq!(by_actions.nodes, by_states.nodes, "{state:?}");
            most = by_states.nodes.max(most);
        }
        assert!(most > 100, "{most}");
    }
}

fn drawn_near(walk: usize, count: usize) -> Vec<Two> {
    let (actions, mut numbers) = (Actions::of::<Two>(Metric::Quarter), Rng::new(9, 2).sequence(0));
    let one = |_| {
        let (mut states, mut taken) = (vec![Two::SOLVED; walk], vec![0; walk]);
        Two::fill_walk(&actions, &mut numbers, &mut states, &mut taken);
        states[walk - 1]
    };
    (0..count).map(one).collect()
}

/// Searches start near the solved state. The test compares the lengths of their solutions with a table of distances.
#[test]
fn searches_solve_the_3x3x3() {
    for metric in Metric::ALL {
        let actions = Actions::of::<Three>(metric);
        let mut distance = HashMap::from([(Three::SOLVED, 0)]);
        let mut level = vec![Three::SOLVED];
        for depth in 1..4 {
            let mut next = Vec::new();
            for state in level {
                for action in 0..actions.count() {
                    let there = state.turned(action);
                    distance.entry(there).or_insert_with(|| {
                        next.push(there);
                        depth
                    });
                }
            }
            level = next;
        }
        let value = |state: Three, _| distance.get(&state).map_or(4.0, |&depth| depth as f32);
        for method in [Method::Beam { width: 512 }, Method::AStar { weight: 1.0, batch: 1 }] {
            let mut one = search(method, Limits::default(), metric);
            for (at, far) in level.iter().step_by(level.len() / 20).enumerate() {
                let start = far.turned(at % actions.count());
                let outcome = one.solve(start, &mut By(Scores::Value, actions.count(), value)).expect("values");
                let steps = outcome.solution.expect("four moves at most").len();
                let least = distance.get(&start).copied().unwrap_or(4);
                assert_eq!(steps, least, "{method:?} {metric:?}");
            }
        }
    }
}

#[test]
fn failed_searches_report_their_progress() {
    let farthest = (0..).filter_map(Two::unrank).find(|state| QUARTER.of(*state) == 14).expect("there are 276");
    let run = |judge: &mut dyn Judge<Two>, method, steps, nodes| -> Outcome {
        search(method, Limits { steps, nodes }, Metric::Quarter).solve(farthest, judge).expect("values")
    };
    let judges: [&mut dyn Judge<Two>; 2] = [&mut knowing(&QUARTER), &mut foreseeing(&QUARTER)];
    for judge in judges {
        for method in METHODS {
            let short = run(judge, method, 9, u64::MAX);
            assert_eq!(short.solution, Err(Stop::Steps), "{method:?}");
            assert_eq!((short.steps, short.nearest), (9, Some(5.0)), "{method:?}");
            let few = run(judge, method, 60, 20);
            assert_eq!(few.solution, Err(Stop::Nodes), "{method:?}");
            assert!((20..20 + 6 * 40).contains(&few.nodes) && few.steps < 14, "{few:?}");
        }
    }
    // The policy always prefers the move R, which leads back to the start after four moves. A greedy search then has no new state.
    let mut stubborn = By(Scores::Policy, 6, |_: Two, action| -(action as f32));
    let outcome = search(Method::Greedy(Greedy::Plain), Limits::default(), Metric::Quarter).solve(farthest, &mut stubborn);
    let outcome = outcome.expect("greedy goes with a policy");
    assert_eq!((outcome.solution, outcome.steps, outcome.nearest), (Err(Stop::Nothing), 4, None));
    let a_star = Method::AStar { weight: 1.0, batch: 8 };
    let refused = search(a_star, Limits::default(), Metric::Quarter).solve(farthest, &mut stubborn);
    assert_eq!(refused, Err(SearchError::NeedsValues));
    let nan = &mut By(Scores::Value, 6, |_: Two, _| f32::NAN);
    for method in METHODS {
        let limits = Limits { steps: 20, nodes: 5000 };
        let outcome = search(method, limits, Metric::Quarter).solve(farthest, nan).expect("values of a kind");
        assert!(outcome.solution.is_err() && outcome.nearest.is_none(), "{method:?}");
    }
    let wrong = [Method::Beam { width: 0 }, Method::AStar { weight: f32::NAN, batch: 1 }];
    for method in wrong {
        let refused = Search::<Two>::new(method, Limits::default(), Actions::of::<Two>(Metric::Half));
        assert!(refused.err().is_some_and(|error| error.to_string().contains("choose")), "{method:?}");
    }
}

/// Returns a judge's report on all states, after asserting that the report agrees with greedy play. `cost` is the judge's cost of an action
/// in a state.
#[cfg(not(target_arch = "wasm32"))]
fn followed(all: &mut Exhaustive, judge: &mut dyn Judge<Two>, exact: &Distances, cost: impl Fn(Two, usize) -> f32) -> Report {
    let report = all.run(judge);
    let count = exact.actions().count();
    let both = |state: Two| {
        let costs: Vec<f32> = (0..count).map(|action| cost(state, action)).collect();
        let least = |without: Option<usize>| {
            let mut free = (0..count).filter(|action| Some(*action) != without);
            let solves = free.clone().find(|&action| state.turned(action) == Two::SOLVED);
            solves.unwrap_or_else(|| free.by_ref().min_by(|&a, &b| costs[a].total_cmp(&costs[b])).expect("actions"))
        };
        let best = least(None);
        [best, least(Some(best))]
    };
    let best: Vec<[usize; 2]> = (0..).map_while(Two::unrank).map(both).collect();
    let moves = |start: Two, greedy| {
        let (mut state, mut last, mut way) = (start, None, Vec::new());
        while state != Two::SOLVED && !way.contains(&(state, last)) {
            way.push((state, last));
            let [best, second] = best[state.rank() as usize];
            let action = if last == Some(exact.actions().inverse(best)) { second } else { best };
            state = state.turned(action);
            last = (greedy == Greedy::Onward).then_some(action);
        }
        (state == Two::SOLVED).then_some(way.len() as u32)
    };
    let mut rows = vec![Row::default(); exact.counts().len()];
    for start in (0..).map_while(Two::unrank) {
        let distance = exact.of(start);
        let row = &mut rows[usize::from(distance)];
        row.states += 1;
        if let Some(moves) = moves(start, Greedy::Plain) {
            row.solved += 1;
            row.optimal += u32::from(moves == u32::from(distance));
            row.excess += u64::from(moves) - u64::from(distance);
        }
    }
    assert!(report.plain == rows);
    // Play that never undoes a move can have long paths. The number of solved states is checked for all states, and single paths for some
    // states.
    let solved = (0..).map_while(Two::unrank).filter(|&state| all.moves(state).is_some()).count();
    assert_eq!(solved, report.total(Greedy::Onward).solved as usize);
    for start in (0..).map_while(Two::unrank).step_by(1009) {
        assert_eq!(all.moves(start), moves(start, Greedy::Onward), "{start:?}");
    }
    report
}

#[test]
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
fn the_exhaustive_report_matches_play_from_each_state() {
    let mut all = Exhaustive::new(QUARTER.clone());
    let mut reports = Vec::new();
    if testkit::all() {
        reports.push(all.run(&mut knowing(&QUARTER)));
    }
    reports.extend([all.run(&mut sure(&QUARTER)), all.run(&mut foreseeing(&QUARTER))]);
    assert!((0..).map_while(Two::unrank).skip(1).all(|state| { all.values()[state.rank() as usize] == f32::from(QUARTER.of(state)) }));
    for report in reports {
        for (row, &states) in report.plain.iter().chain(&report.onward).zip(QUARTER.counts().iter().cycle()) {
            assert_eq!(*row, Row { states, solved: states, optimal: states, excess: 0 });
        }
        let total = report.total(Greedy::Plain);
        assert_eq!((total, total.share(), total.mean_excess()), (report.total(Greedy::Onward), 1.0, 0.0));
    }
    // The scores are random: here for action values, below also for state values and a policy.
    let actions = &mut By(Scores::ActionValues, 6, noise);
    let actions = followed(&mut all, actions, &QUARTER, noise).total(Greedy::Plain);
    assert!(actions.excess > 0 && actions.share() < 0.01);
    if testkit::all() {
        // The judge has equal scores for all states, so play takes the first action unless an action solves the state.
        let sevens = &mut By(Scores::Value, 6, |_: Two, _| 7.0);
        let constant = followed(&mut all, sevens, &QUARTER, |_, _| 0.0).total(Greedy::Plain);
        assert!(constant.solved > 7 && constant.optimal < constant.solved);
        let table: Vec<f32> = (0..).map_while(Two::unrank).map(|state| noise(state, 0)).collect();
        let of = |state: Two| table[state.rank() as usize];
        let values = &mut By(Scores::Value, 6, |state, _| of(state));
        followed(&mut all, values, &QUARTER, |state, action| of(state.turned(action)));
        let policy = &mut By(Scores::Policy, 6, |state, action| -noise(state, action));
        assert!(followed(&mut all, policy, &QUARTER, noise).total(Greedy::Plain) == actions);
    }
    // The scores are partly correct: the distance, increased for a third of the states.
    let shunned = |state: Two| if state.rank() % 3 == 1 { 2.5 } else { 0.0 };
    let wrong = |state: Two| f32::from(HALF.of(state)) + shunned(state);
    let shunning = &mut By(Scores::Value, 9, |state, _| wrong(state));
    let mut half = Exhaustive::new(HALF.clone());
    let report = followed(&mut half, shunning, &HALF, |state, action| wrong(state.turned(action)));
    let [plain, onward] = Greedy::ALL.map(|greedy| report.total(greedy));
    assert!(plain.optimal < plain.solved && plain.solved < plain.states && plain.share() > 0.01, "{plain:?}");
    assert!(onward.solved > plain.solved, "{onward:?}");
}

/// Every state has a best action. This includes the solved state, where play ends.
#[test]
#[cfg(not(target_arch = "wasm32"))]
fn every_state_has_a_best_action() {
    let nearest = Two::SOLVED.turned(4);
    let judge = &mut By(Scores::Value, 6, |state: Two, _| if state == nearest { 0.0 } else { 1.0 });
    let mut all = Exhaustive::new(QUARTER.clone());
    while all.judged() < Two::STATES {
        assert!(all.advance(judge).is_none());
    }
    // The next slice chooses the best actions of the first states.
    assert!(all.advance(judge).is_none());
    assert_eq!(all.best(Two::SOLVED), 4);
}

#[test]
fn parameters_are_named_by_their_layers() {
    let (inputs, hidden) = (Inputs::Stickers, vec![16, 8]);
    let net = NetConfig { inputs, hidden, blocks: 2, norm: true, dueling: true };
    let plan = plan_learning::<Two>(&net, 6, Loss::Squares, 1, Isa::best()).expect("a plan");
    let mut names: Vec<&str> = plan.table().specs().iter().map(|spec| &*spec.name).collect();
    names.retain(|name| name.ends_with(".weight") && !name.contains("norm"));
    let layers = ["hidden.1", "block.0.0", "block.0.1", "block.1.0", "block.1.1", "head"];
    assert_eq!(names, layers.map(|layer| format!("{layer}.weight")));
}

/// Returns the settings of a network with sticker inputs, and without residual blocks, layer norm and dueling heads.
fn stickers(hidden: &[usize]) -> NetConfig {
    NetConfig { inputs: Inputs::Stickers, hidden: hidden.to_vec(), blocks: 0, norm: false, dueling: false }
}

/// Returns small settings for a test.
fn small(signal: Signal) -> SupervisedConfig {
    let preset = SupervisedConfig::preset::<Two>(signal);
    let steps = Steps { updates: 4, ..preset.steps };
    SupervisedConfig { net: stickers(&[64, 32]), batch: 260, steps, ..preset }
}

fn learner<P: Cube>(config: SupervisedConfig, seed: u32, isa: Isa) -> Supervised<P> {
    let exact = P::EXACT.then(|| QUARTER.clone());
    Supervised::new(config, exact, seed, isa).expect("sound settings")
}

/// Compares the scores of a learner's judge with the outputs of the trained network for the same states.
fn same_as_the_plan<P: Cube>(config: SupervisedConfig) {
    let isa = Isa::best();
    let mut learner = learner::<P>(config.clone(), 3, isa);
    iterate(&mut learner, 3);
    let mut judge = learner.judge().expect("a plan");
    let states: Vec<P> = drawn(4, 700);
    let outputs = config.check::<P>().expect("sound settings");
    let mut scores = vec![0.0; states.len() * outputs];
    judge.judge(&states, &mut scores);

    let plan = plan_learning::<P>(&config.net, outputs, Loss::Squares, 1, isa).expect("a plan");
    let mut params = graph::Params::new(plan.table(), 0);
    params.values_mut().copy_from_slice(learner.weights());
    let mut g = graph::Graph::new();
    let active = config.net.inputs.active::<P>();
    let named = g.input("active", [states.len(), active]);
    let y = config.net.network::<P>(&mut g, named, outputs);
    let plan = Arc::new(graph::Plan::unfused(&g, &[("y", y)], None, graph::Layout::Rows, isa).expect("a plan"));
    let (packed, mut executor) = (graph::Packed::new(&plan, &params), graph::Executor::new(&plan));
    let mut inputs = vec![0; states.len() * active];
    config.net.inputs.fill(&states, &mut inputs);
    executor.input_mut("active").iter_mut().zip(&inputs).for_each(|(to, &input)| *to = f32::from(input));
    executor.run(&params, &packed);
    let walk = config.walk as f32;
    for (said, plain) in scores.chunks_exact(outputs).zip(executor.output("y").chunks_exact(outputs)) {
        let ln = plain.iter().map(|x| x.exp()).sum::<f32>().ln();
        for (said, plain) in said.iter().zip(plain) {
            let expected = match config.signal.scores() {
                // A uniform walk length from 1 to n has the mean (n + 1)/2 and about the standard deviation n/√12.
                Scores::Value | Scores::ActionValues => (walk + 1.0) / 2.0 + plain * (walk * walk / 12.0).sqrt(),
                Scores::Policy => plain - ln,
            };
            assert!((said - expected).abs() < 2e-5 * (1.0 + expected.abs()), "{said} {expected}");
        }
    }
    // The score of a single state is the same as its score in a batch.
    for (state, said) in states.iter().zip(scores.chunks_exact(outputs)).step_by(97) {
        let mut alone = vec![0.0; outputs];
        judge.judge(&[*state], &mut alone);
        assert!(alone == said);
    }
    judge.judge(&[], &mut []);
}

#[test]
fn judges_agree_with_the_trained_plan() {
    same_as_the_plan::<Two>(small(Signal::WalkLength));
    same_as_the_plan::<Two>(small(Signal::LastMove));
    let net = NetConfig { inputs: Inputs::Stickers, hidden: vec![80, 48], blocks: 2, norm: true, dueling: false };
    let large = SupervisedConfig { net, metric: Metric::Half, ..SupervisedConfig::preset::<Three>(Signal::LastMove) };
    same_as_the_plan::<Three>(large.clone());
    same_as_the_plan::<Three>(SupervisedConfig { signal: Signal::WalkLength, ..large });
    same_as_the_plan::<Two>(SupervisedConfig { net: stickers(&[16]), ..small(Signal::WalkLength) });
    let symmetric = NetConfig { inputs: Inputs::Symmetric, ..small(Signal::WalkLength).net };
    same_as_the_plan::<Two>(SupervisedConfig { net: symmetric.clone(), ..small(Signal::WalkLength) });
    let three = SupervisedConfig { net: symmetric, ..SupervisedConfig::preset::<Three>(Signal::WalkLength) };
    same_as_the_plan::<Three>(three);
}

#[test]
fn judges_agree_across_threads_and_instruction_sets_of_a_class() {
    let config = SupervisedConfig { net: stickers(&[512, 256]), ..small(Signal::WalkLength) };
    let mut known: [Option<_>; 2] = [None, None];
    for (isa, threads) in Isa::available().into_iter().flat_map(|isa| [(isa, 1), (isa, 3)]) {
        // In a browser, `Threads::of` may return `None` for several threads.
        let Some(pool) = par::Threads::of(threads) else { continue };
        let said = pool.run(|| {
            let mut judge = learner::<Two>(config.clone(), 4, isa).judge().expect("a plan");
            let states = drawn::<Two>(5, 5000);
            let mut scores = vec![0.0; states.len()];
            judge.judge(&states, &mut scores);
            let mut beam = search(Method::Beam { width: 200 }, Limits { steps: 5, ..Limits::default() }, Metric::Quarter);
            (scores, beam.solve(states[0], &mut judge).expect("a beam"))
        });
        let first = known[usize::from(isa.fused())].get_or_insert_with(|| said.clone());
        assert!(*first == said, "{isa:?} on {threads} threads");
    }
}

#[test]
fn invalid_settings_are_rejected() {
    let base = || small(Signal::WalkLength);
    type Change = fn(&mut SupervisedConfig);
    let beyond: [(Change, &str); 5] = [
        (|of| of.walk = 0, "walk = 0"),
        (|of| of.batch = 19, "batch = 19"),
        (|of| of.steps.lr = f32::NAN, "lr = NaN"),
        (|of| of.net.hidden.clear(), "layers = 0"),
        (|of| of.net.hidden = vec![64, 40], "40 units"),
    ];
    for (set, words) in beyond {
        let mut config = base();
        set(&mut config);
        assert_eq!(config.bytes::<Two>(), u64::MAX);
        let error = Supervised::<Two>::new(config, None, 1, Isa::best()).err().expect("refused").to_string();
        assert!(error.contains(words) && error.contains("choose"), "{error}");
    }
    let images = NetConfig { inputs: Inputs::Symmetric, ..small(Signal::LastMove).net };
    let images = SupervisedConfig { net: images, ..small(Signal::LastMove) };
    assert!(matches!(images.check::<Two>(), Err(LearnerError::Symmetric)));
    let exact = SupervisedConfig { signal: Signal::Exact, ..SupervisedConfig::preset::<Three>(Signal::Exact) };
    assert!(matches!(exact.check::<Three>(), Err(LearnerError::Unknown { .. })));
    let none = Supervised::<Two>::new(small(Signal::Exact), Some(HALF.clone()), 1, Isa::best());
    assert!(matches!(none.err(), Some(LearnerError::Unknown { .. })), "distances of another metric");

    let mut learner = learner::<Two>(base(), 1, Isa::best());
    let steps = Steps { lr: 0.0, updates: 2, ..base().steps };
    learner.set(SupervisedConfig { steps, ..base() }).expect("what may change");
    let before = learner.weights().to_vec();
    iterate(&mut learner, 1);
    assert!(learner.weights() == before && learner.progress().updates == 2);
}

/// Returns two results: how many of 200 random states a beam search solves, and the share of all states that greedy play solves.
#[cfg(not(target_arch = "wasm32"))]
fn worth(learner: &Supervised<Two>) -> (usize, f64) {
    let mut judge = learner.judge().expect("a plan");
    let mut beam = search(Method::Beam { width: 64 }, Limits { steps: 30, nodes: 20_000 }, Metric::Quarter);
    let mut solves = |state| beam.solve(state, &mut judge).expect("a beam").solution.is_ok();
    let solved = drawn(8, 200).into_iter().filter(|&state| solves(state)).count();
    (solved, Exhaustive::new(QUARTER.clone()).run(&mut judge).total(Greedy::Plain).share())
}

#[test]
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
fn a_few_seconds_of_walks_solve_the_2x2x2() {
    let config = SupervisedConfig::preset::<Two>(Signal::WalkLength);
    let mut walk = learner::<Two>(config.clone(), 1, Isa::best());
    iterate(&mut walk, 64);
    let (solved, share) = worth(&walk);
    assert!(solved == 200 && share > 0.3, "{solved} of 200, {share} of all greedily");
    // Without training, the learner solves few states.
    if testkit::all() {
        let steps = Steps { lr: 0.0, ..config.steps };
        let mut idle = learner::<Two>(SupervisedConfig { steps, ..config }, 1, Isa::best());
        iterate(&mut idle, 2);
        let (solved, share) = worth(&idle);
        assert!(solved < 60 && share < 0.001, "{solved} of 200, {share} of all greedily");
    }
}

#[test]
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
fn last_move_and_distance_signals_train_as_well() {
    // The untrained learner of the test above stays far below these limits. The distances are labels of the same kind as the lengths of
    // walks, so only `--all` trains on them.
    let signals = [(Signal::LastMove, 0.02), (Signal::Exact, 0.5)];
    for &(signal, least) in &signals[..if testkit::all() { 2 } else { 1 }] {
        let mut learner = learner::<Two>(SupervisedConfig::preset::<Two>(signal), 1, Isa::best());
        iterate(&mut learner, 32);
        let (solved, share) = worth(&learner);
        assert!(solved > 150 && share > least, "{signal:?}: {solved} of 200, {share} of all greedily");
    }
}

/// If a level of a beam is too wide for one slice, the search continues the level in the next slice. A search that replaces an unfinished
/// search in the same `Search` has the same outcome as in a new `Search`.
#[test]
fn wide_beams_continue_in_slices() {
    for scores in [Scores::Value, Scores::ActionValues, Scores::Policy] {
        let start = drawn::<Two>(12, 1)[0];
        let mut most = 0;
        let mut judge = Counted(By(scores, 6, |state: Two, action| noise(state, action).ln()), &mut most);
        let mut beam = search(Method::Beam { width: 3000 }, Limits::default(), Metric::Quarter);
        beam.begin(start);
        let (mut slices, mut levels) = (0, 0);
        let outcome = loop {
            let before = beam.steps();
            let outcome = beam.advance(&mut judge).expect("a beam");
            slices += 1;
            levels += beam.steps() - before;
            if let Some(outcome) = outcome {
                break outcome;
            }
        };
        assert_eq!((outcome.steps, levels), (levels, outcome.steps));
        assert!(most <= 512 && slices > 2 * levels, "{scores:?}: {most} states, {slices} slices");
        // Interrupts a search from another state within a level, and then repeats the first search.
        let mut judge = Counted(By(scores, 6, |state: Two, action| noise(state, action).ln()), &mut most);
        beam.begin(drawn::<Two>(13, 1)[0]);
        (0..20).for_each(|_| drop(beam.advance(&mut judge)));
        assert_eq!(beam.solve(start, &mut judge).expect("a beam"), outcome);
    }
}

/// A judge that records the maximum number of states per call.
struct Counted<'a, J>(J, &'a mut usize);

impl<P: Puzzle, J: Judge<P>> Judge<P> for Counted<'_, J> {
    fn scores(&self) -> Scores {
        self.0.scores()
    }

    fn judge(&mut self, states: &[P], scores: &mut [f32]) {
        *self.1 = states.len().max(*self.1);
        self.0.judge(states, scores);
    }
}
