//! Compares components of the deep-Q learner with plain implementations: sums, returns, targets, gradients and steps. Relabelled episodes
//! must be valid paths. A few seconds of training must solve states near the solved state.

use super::{QUARTER, drawn, iterate};
use learn::cube::dqn::curriculum::{Curriculum, CurriculumConfig, Schedule};
use learn::cube::dqn::play::{n_step, relabel};
use learn::cube::dqn::replay::{Replay, SumTree, Transition};
use learn::cube::dqn::td::{self, Loss, Rewards, Targets};
use learn::cube::dqn::{Decay, Follow, Judging};
use learn::cube::{Cube, CubeLearner, Dqn, DqnConfig, Evaluator, Greedy, Inputs, Judge, LearnerError, NetConfig, Preset, Scores, Steps};
#[cfg(not(target_arch = "wasm32"))]
use learn::cube::{Exhaustive, dqn::Labels};
#[cfg(not(target_arch = "wasm32"))]
use learn::settings::Choice;
use learn::settings::Settings;
use learn::{Data, Learner, Slice, part};
use math::{Isa, Rng};
use testkit::test;
use worlds::cube::{Actions, Metric, Puzzle, Three, Two};

/// Returns the default [`Steps`] with the given number of updates per iteration.
fn updates(updates: usize) -> Steps {
    Steps { updates, ..DqnConfig::default().steps }
}

/// Returns small settings for a test, with every component in use.
fn small() -> DqnConfig {
    let later = DqnConfig::preset(Preset::Later);
    DqnConfig {
        net: NetConfig { hidden: vec![48, 32], ..later.net },
        batch: 32,
        steps: updates(6),
        replay: 512,
        warmup: 100,
        envs: 8,
        updates_per_move: 2,
        hindsight: 0.5,
        curriculum: CurriculumConfig { schedule: Schedule::Fractional, window: 5, ..later.curriculum },
        ..later
    }
}

fn learner<P: Cube>(config: DqnConfig, seed: u32) -> Dqn<P> {
    Dqn::new(config, P::EXACT.then(|| QUARTER.clone()), seed, Isa::best()).expect("sound settings")
}

// ---- replay ----

#[test]
fn a_sum_tree_finds_what_a_plain_sum_finds() {
    let mut numbers = Rng::new(1, 1).sequence(0);
    for leaves in [1, 2, 7, 64, 100] {
        let (mut tree, mut plain) = (SumTree::new(leaves), vec![0.0f32; leaves]);
        for _ in 0..200 {
            let (leaf, value) = (numbers.below(leaves as u32) as usize, numbers.below(5) as f32);
            tree.set(leaf, value);
            plain[leaf] = value;
            let total: f32 = plain.iter().sum();
            assert_eq!((tree.total(), tree.get(leaf)), (total, value));
            for half in 0..2 * total as usize {
                let mass = half as f32 / 2.0;
                let mut sum = 0.0;
                let beyond = |value: &f32| {
                    sum += value;
                    sum > mass
                };
                assert_eq!(Some(tree.find(mass)), plain.iter().position(beyond), "{mass} of {plain:?}");
            }
            // Because of rounding, the searched value may exceed the total. The search must still find a leaf whose value is not 0.
            assert!(total == 0.0 || plain[tree.find(total + 1.0)] > 0.0);
        }
    }
}

fn numbered(number: u32) -> Transition<u32> {
    Transition { state: number, action: (number % 6) as u8, steps: 3, done: number % 2 == 1, next: number + 1 }
}

#[test]
fn a_replay_keeps_the_newest() {
    for prioritised in [false, true] {
        let mut replay = Replay::new(50, prioritised, 0);
        (0..30).for_each(|number| replay.push(numbered(number)));
        assert_eq!((replay.len(), replay.get(7)), (30, numbered(7)));
        (30..130).for_each(|number| replay.push(numbered(number)));
        let mut kept: Vec<u32> = (0..50).map(|at| replay.get(at).state).collect();
        assert_eq!((replay.len(), replay.get(29)), (50, numbered(129)));
        kept.sort_unstable();
        assert!(kept.into_iter().eq(80..130));
        // While all priorities are equal, every transition is sampled equally often.
        let (mut numbers, mut picks, mut counts) = (Rng::new(2, 2).sequence(0), [0; 50], [0; 50]);
        for _ in 0..2000 {
            replay.sample(&mut numbers, &mut picks);
            picks.iter().for_each(|&pick| counts[pick as usize] += 1);
        }
        assert!(counts.iter().all(|count| (1800..2200).contains(count)), "{counts:?}");
    }
}

#[test]
fn batches_cover_the_whole_replay() {
    let mut learner = learner::<Two>(small(), 3);
    while learner.replay().len() < learner.replay().capacity() {
        iterate(&mut learner, 1);
    }
    let mut drawn = vec![false; learner.replay().capacity()];
    for _ in 0..60 {
        iterate(&mut learner, 1);
        learner.batch().1.iter().for_each(|&pick| drawn[pick as usize] = true);
    }
    // 60 batches of 32 cover more than half of the replay. Uniform sampling would miss one transition in forty, and prioritised sampling
    // misses more. A learner that samples only the latest transitions would cover few.
    let count = drawn.iter().filter(|&&drawn| drawn).count();
    assert!(2 * count > drawn.len(), "{count} of {}", drawn.len());
}

#[test]
fn transitions_are_sampled_by_priority_and_weighted() {
    let (isa, alpha, floor, beta) = (Isa::best(), 0.7, 0.01, 0.5);
    let mut replay = Replay::new(64, true, 0);
    (0..40).for_each(|number| replay.push(numbered(number)));
    let mut errors: Vec<f32> = (0..40).map(|i| (i as f32 - 20.0) / 8.0).collect();
    let plain: Vec<f64> = errors.iter().map(|&error| (f64::from(error.abs()) + f64::from(floor)).powf(alpha.into())).collect();
    let all: Vec<u32> = (0..40).collect();
    replay.update_priorities(isa, alpha, floor, &all, &mut errors);
    let near = |a: f32, b: f64| (f64::from(a) / b - 1.0).abs() < 1e-5;
    assert!((0..40).all(|at| near(replay.priority(at), plain[at])));

    let (mut numbers, mut picks, mut counts) = (Rng::new(3, 3).sequence(0), [0; 32], [0; 64]);
    let rounds = 20_000;
    for _ in 0..rounds {
        replay.sample(&mut numbers, &mut picks);
        picks.iter().for_each(|&pick| counts[pick as usize] += 1);
    }
    let total: f64 = plain.iter().sum();
    for (at, count) in counts.into_iter().enumerate() {
        let expected = f64::from(rounds * 32) * plain.get(at).unwrap_or(&0.0) / total;
        assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt() + 1e-9, "{at}: {count}, {expected}");
    }

    let mut weights = [0.0; 32];
    replay.weigh(isa, beta, &picks, &mut weights);
    let weight = |pick: u32| (40.0 * plain[pick as usize] / total).powf(-f64::from(beta));
    let greatest = picks.iter().map(|&pick| weight(pick)).fold(0.0, f64::max);
    for (&pick, &said) in picks.iter().zip(&weights) {
        assert!(near(said, weight(pick) / greatest), "{said}");
    }
    assert!(weights.iter().any(|&weight| weight < 0.7), "they differ");
    // A new transition gets the greatest priority that occurred so far.
    replay.push(numbered(77));
    assert_eq!(Some(replay.priority(40)), (0..40).map(|at| replay.priority(at)).reduce(f32::max));
    // With uniform sampling all weights are 1.
    Replay::new(4, false, 0).weigh(isa, beta, &[1, 2], &mut weights[..2]);
    assert_eq!(weights[..2], [1.0; 2]);
}

// ---- returns and targets ----

#[test]
fn n_step_returns_match_plain_sums() {
    let rewards = Rewards { gamma: 0.9, step: -0.3, goal: 2.0 };
    for (len, solved, steps) in
        (1..9).flat_map(|len| [true, false].into_iter().flat_map(move |solved| (1..6).map(move |steps| (len, solved, steps))))
    {
        let path: Vec<u32> = (100..=100 + len).collect();
        let taken: Vec<u8> = (0..len as u8).collect();
        let mut given = Vec::new();
        n_step(&path, &taken, steps, solved, |transition| given.push(transition));
        assert_eq!(given.len(), len as usize);
        for (i, of) in given.iter().enumerate() {
            let end = (i + steps).min(len as usize);
            let ends = solved && end == len as usize;
            assert_eq!((of.state, of.action, of.next), (path[i], taken[i], path[end]));
            assert_eq!((usize::from(of.steps), of.done), (end - i, ends));
            // Sums the rewards step by step. The last step of a solved episode also has the goal's reward. If the transition does not solve
            // the cube, the discounted value of its next state is added.
            let (mut sum, mut discount) = (0.0, 1.0);
            for at in i..end {
                let goal = if solved && at + 1 == len as usize { 2.0 } else { 0.0 };
                sum += discount * (-0.3 + goal);
                discount *= 0.9;
            }
            let after = 0.7;
            let targets = Targets { rewards, double: false, bounded: false };
            let mut value = [0.0];
            targets.fill(&[*of], &[], &[0.1, after, -3.0], 3, &mut value);
            let expected = sum + if ends { 0.0 } else { discount * f64::from(after) };
            assert!((f64::from(value[0]) - expected).abs() < 1e-6, "{of:?}: {value:?}, {expected}");
        }
    }
    assert_eq!(rewards.of_moves(1), 1.7);
    assert!((rewards.of_moves(3) - (-0.3 * (1.0 + 0.9 + 0.81) + 2.0 * 0.81)).abs() < 1e-6);
}

#[test]
fn the_solved_state_has_no_successors() {
    let rewards = Rewards { gamma: 0.5, step: -1.0, goal: 8.0 };
    assert_eq!(rewards.of_steps(3, false), (-1.75, 0.125));
    assert_eq!(rewards.of_steps(3, true), (0.25, 0.0));
}

#[test]
fn double_targets_evaluate_the_trained_networks_choice() {
    let of = |done| Transition { state: 0, action: 0, steps: 1, done, next: 1 };
    let batch = [of(false), of(false), of(true)];
    let trained = [5.0, 1.0, 2.0, /**/ 0.0, 0.5, 9.0, /**/ 1.0, 1.0, 1.0];
    let target = [-4.0, -1.0, -2.0, /**/ -7.0, 3.0, -6.0, /**/ 8.0, 8.0, 8.0];
    let rewards = Rewards { gamma: 0.5, step: -1.0, goal: 0.0 };
    let fill = |double, bounded| {
        let mut values = [0.0; 3];
        Targets { rewards, double, bounded }.fill(&batch, &trained, &target, 3, &mut values);
        values
    };
    // The target network has its greatest values, -1 and 3, at other actions than the trained network. At the trained network's
    // choices, it has the values -4 and -6.
    assert_eq!(fill(false, false), [-1.0 - 0.5, -1.0 + 1.5, -1.0]);
    assert_eq!(fill(true, false), [-1.0 - 2.0, -1.0 - 3.0, -1.0]);
    // With bounds, the value of a state is at most -1, the reward of one step, and at least -2, the value of endless play.
    assert_eq!(fill(false, true), [-1.0 - 0.5, -1.0 - 0.5, -1.0]);
    assert_eq!(fill(true, true), [-2.0, -2.0, -1.0]);
}

#[test]
fn values_convert_to_moves() {
    let schemes = [(1.0, -1.0, 0.0), (1.0, -0.1, 2.0), (0.9, 0.0, 1.0), (0.97, -1.0, 0.0), (0.8, -0.5, 3.0)];
    for (gamma, step, goal) in schemes {
        let rewards = Rewards { gamma, step, goal };
        assert!(rewards.prefers_few());
        let mut g = graph::Graph::new();
        let q = g.input("q", [14, 1]);
        let moves = rewards.moves_of(&mut g, q);
        let values: Vec<f64> = (1..=14).map(|moves| f64::from(rewards.of_moves(moves))).collect();
        let said = &graph::reference::evaluate(&g, &[("q", &values)], &[])[moves.index()];
        for (i, said) in said.iter().enumerate() {
            assert!((said - (i + 1) as f64).abs() < 2e-3, "{rewards:?}: {said} for {}", i + 1);
        }
    }
    assert!(!Rewards { gamma: 1.0, step: 0.0, goal: 1.0 }.prefers_few());
    assert!(!Rewards { gamma: 0.9, step: 0.0, goal: 0.0 }.prefers_few());
}

// ---- the network and its step ----

/// Returns the outputs of a network in f64, computed by the graph's reference interpreter.
fn said<P: Cube>(net: &NetConfig, actions: usize, params: &[f32], states: &[P]) -> Vec<f64> {
    let mut g = graph::Graph::new();
    let active = g.input("active", [states.len(), net.inputs.active::<P>()]);
    let q = net.network::<P>(&mut g, active, actions);
    let params: Vec<f64> = params.iter().map(|&x| x.into()).collect();
    graph::reference::evaluate(&g, &[("active", &inputs(net, states))], &params)[q.index()].clone()
}

fn inputs<P: Cube>(net: &NetConfig, states: &[P]) -> Vec<f64> {
    let mut active = vec![0; states.len() * net.inputs.active::<P>()];
    net.inputs.fill(states, &mut active);
    active.into_iter().map(f64::from).collect()
}

#[test]
fn dueling_values_are_a_value_plus_centred_advantages() {
    let net = |dueling| NetConfig { dueling, ..small().net };
    let learner = learner::<Two>(small(), 5);
    let params = learner.networks()[0].values();
    let states = drawn::<Two>(1, 20);
    // The second network has the same weights but no dueling, so its seven outputs are the value and the six advantages.
    let (dueling, plain) = (said(&net(true), 6, params, &states), said(&net(false), 7, params, &states));
    for (q, plain) in dueling.chunks_exact(6).zip(plain.chunks_exact(7)) {
        let (value, advantages) = (plain[0], &plain[1..]);
        let mean = advantages.iter().sum::<f64>() / 6.0;
        assert!(advantages.iter().any(|advantage| (advantage - mean).abs() > 1e-3));
        for (q, advantage) in q.iter().zip(advantages) {
            assert!((q - (value + advantage - mean)).abs() < 1e-6, "{q}");
        }
    }
    // The judge (evaluator of states) returns the same values, converted to numbers of moves.
    let mut scores = vec![0.0; 20 * 6];
    learner.judge().expect("a plan").judge(&states, &mut scores);
    let Rewards { gamma, step, goal } = small().rewards;
    for (score, q) in scores.iter().zip(&dueling) {
        let never = f64::from(step) / (1.0 - f64::from(gamma));
        let moves = ((q - never) / (f64::from(goal) / f64::from(gamma) - never)).ln() / f64::from(gamma).ln();
        assert!((f64::from(*score) - moves).abs() < 2e-3 * (1.0 + moves.abs()), "{score} {moves}");
    }
}

/// Compares a step of the learner with a plain implementation: targets, loss, gradient, Adam, priorities and target network.
fn same_as_a_plain_step<P: Cube>(config: DqnConfig) {
    let mut learner = learner::<P>(config.clone(), 11);
    iterate(&mut learner, 2);
    let before = learner.parts();
    let part = |name: &str| -> Vec<f64> {
        match before.iter().find(|(known, ..)| known == name).map(|(.., data)| data) {
            Some(Data::F32(values)) => values.iter().map(|&x| x.into()).collect(),
            _ => panic!("no {name}"),
        }
    };
    let [trained, target] = learner.networks().map(|params| params.values().to_vec());
    assert!(trained != target, "so that it matters which one is asked");
    learner.sample();
    let (batch, picks) = learner.batch();
    let (batch, picks) = (batch.to_vec(), picks.to_vec());
    let actions = Actions::of::<P>(config.metric).count();
    let next: Vec<P> = batch.iter().map(|of| of.next).collect();
    let (by_trained, by_target) = (said(&config.net, actions, &trained, &next), said(&config.net, actions, &target, &next));
    let Rewards { gamma, step, goal } = config.rewards;
    let (gamma, step, goal) = (f64::from(gamma), f64::from(step), f64::from(goal));
    let targets: Vec<f64> = batch
        .iter()
        .enumerate()
        .map(|(i, of)| {
            let (mut sum, mut discount) = (0.0, 1.0);
            for _ in 0..of.steps {
                sum += discount * step;
                discount *= gamma;
            }
            if of.done {
                return sum + discount / gamma * goal;
            }
            let range = i * actions..(i + 1) * actions;
            let chooser = if config.double { &by_trained[range.clone()] } else { &by_target[range.clone()] };
            let choice = (0..actions).max_by(|&a, &b| chooser[a].total_cmp(&chooser[b])).expect("actions");
            let mut value = by_target[range][choice];
            if config.bounded {
                value = value.min(step + goal);
                value = if gamma < 1.0 { value.max(step / (1.0 - gamma)) } else { value };
            }
            sum + discount * value
        })
        .collect();
    let priorities: Vec<f64> = picks.iter().map(|&pick| f64::from(learner.replay().priority(pick as usize))).collect();
    let beta = f64::from(config.beta)
        + (1.0 - f64::from(config.beta)) * (learner.progress().updates as f64 / f64::from(config.beta_steps)).min(1.0);
    let least = priorities.iter().copied().fold(f64::INFINITY, f64::min);
    let weights: Vec<f64> = priorities.iter().map(|priority| (priority / least).powf(-beta)).collect();

    let mut g = graph::Graph::new();
    let (loss, taken) = td::learning::<P>(&mut g, &config.net, actions, config.loss, config.prioritised, [batch.len(); 2]);
    let gradients = g.gradients(loss);
    let states: Vec<P> = batch.iter().map(|of| of.state).collect();
    let (active, action): (Vec<f64>, Vec<f64>) =
        (inputs(&config.net, &states), batch.iter().map(|of| config.net.inputs.action(of.state, of.action.into()) as f64).collect());
    let named: [(&str, &[f64]); 4] = [("active", &active), ("action", &action), ("target", &targets), ("weight", &weights)];
    let at = |params: &[f64]| graph::reference::evaluate(&g, &named, params);
    let params: Vec<f64> = trained.iter().map(|&x| x.into()).collect();
    let values = at(&params);
    // The reference loss is computed by hand.
    let each = values[taken.index()].iter().zip(&targets).zip(&weights).map(|((taken, target), weight)| {
        let error = taken - target;
        let loss = match config.loss {
            Loss::Squares => error * error / 2.0,
            Loss::Huber(delta) if error.abs() > delta.into() => f64::from(delta) * (error.abs() - f64::from(delta) / 2.0),
            Loss::Huber(_) => error * error / 2.0,
        };
        weight * loss
    });
    let by_hand = each.sum::<f64>() / batch.len() as f64;
    assert!((values[loss.index()][0] - by_hand).abs() < 1e-6 * (1.0 + by_hand));
    let mut gradient = vec![0.0; params.len()];
    for (index, node) in gradients.iter() {
        let range = g.table().specs()[index].range();
        gradient[range].copy_from_slice(&values[node.index()]);
    }
    // The gradient is compared with finite differences of the loss at some parameters.
    for at_param in (0..params.len()).step_by(params.len() / 25).filter(|&i| gradient[i] != 0.0) {
        let moved = |by: f64| {
            let mut params = params.clone();
            params[at_param] += by;
            at(&params)[loss.index()][0]
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((slope - gradient[at_param]).abs() < 1e-6 + 1e-4 * slope.abs(), "{slope} {}", gradient[at_param]);
    }
    let norm = gradient.iter().map(|x| x * x).sum::<f64>().sqrt();
    let scale = (f64::from(config.steps.max_grad_norm) / norm).min(1.0);
    let t = learner.progress().updates as i32 + 1;
    let worn = (1.0 + (t - 1) as f64 / f64::from(config.steps.lr_steps)).sqrt();

    learner.learn();
    let now = learner.networks().map(|params| params.values().to_vec());
    let mut compared = 0;
    for spec in g.table().specs() {
        let (m, v) = (part(&format!("adam.m.{}", spec.name)), part(&format!("adam.v.{}", spec.name)));
        for (k, i) in spec.range().enumerate() {
            let slope = gradient[i] * scale;
            let (m, v) = (0.9 * m[k] + 0.1 * slope, 0.999 * v[k] + 0.001 * slope * slope);
            let (m, v) = (m / (1.0 - 0.9f64.powi(t)), v / (1.0 - 0.999f64.powi(t)));
            let step = f64::from(config.steps.lr) / worn * m / (v.sqrt() + 1e-8);
            let expected = params[i] - step;
            // A gradient near 0 consists mostly of rounding errors. In this case, the step is not compared.
            if v.sqrt() > 1e-5 || slope == 0.0 {
                assert!((f64::from(now[0][i]) - expected).abs() < 2e-6 + 1e-2 * step.abs(), "{} {k}", spec.name);
                compared += 1;
            }
            let follows = match config.follow {
                Follow::Hard if (t as usize).is_multiple_of(config.target_every) => now[0][i],
                Follow::Hard => target[i],
                Follow::Polyak => target[i] + config.tau * (now[0][i] - target[i]),
            };
            assert!((now[1][i] - follows).abs() < 1e-6, "{} {k}", spec.name);
        }
    }
    assert!(compared > params.len() / 2);
    if config.prioritised {
        // If a transition is drawn twice, both draws have the same error. The new priority can therefore be checked for every draw.
        for (i, &pick) in picks.iter().enumerate() {
            let error = values[taken.index()][i] - targets[i];
            let expected = (error.abs() + f64::from(config.floor)).powf(config.alpha.into());
            let found = f64::from(learner.replay().priority(pick as usize));
            assert!((found - expected).abs() < 1e-4 + 1e-3 * expected, "{found} {expected}");
        }
    }
}

#[test]
fn steps_match_the_reference() {
    same_as_a_plain_step::<Two>(small());
    same_as_a_plain_step::<Two>(DqnConfig { double: false, follow: Follow::Hard, target_every: 15, ..small() });
    // At the thirteenth step, the weights are copied to the target network.
    let hard = DqnConfig { follow: Follow::Hard, target_every: 13, loss: Loss::Squares, prioritised: false, ..small() };
    same_as_a_plain_step::<Two>(hard);
    let steps = Steps { max_grad_norm: 0.01, lr_steps: 10.0, ..small().steps };
    let rough = DqnConfig { loss: Loss::Huber(0.05), steps, bounded: true, ..small() };
    same_as_a_plain_step::<Two>(rough);
    let rewards = Rewards { gamma: 1.0, step: -1.0, goal: 0.0 };
    let net = NetConfig { inputs: Inputs::Cubies, dueling: false, norm: false, ..small().net };
    same_as_a_plain_step::<Two>(DqnConfig { rewards, net, bounded: true, n_step: 1, ..small() });
    // The batch is divided into three shards.
    same_as_a_plain_step::<Two>(DqnConfig { batch: 390, ..small() });
    let net = NetConfig { inputs: Inputs::Folded, ..small().net };
    same_as_a_plain_step::<Two>(DqnConfig { net, metric: Metric::Half, ..small() });
    same_as_a_plain_step::<Three>(DqnConfig { metric: Metric::Half, ..small() });
}

#[test]
fn equivalent_states_get_equivalent_scores() {
    for metric in Metric::ALL {
        let net = NetConfig { inputs: Inputs::Folded, ..small().net };
        let learner = learner::<Two>(DqnConfig { net: net.clone(), metric, ..small() }, 5);
        let count = Actions::of::<Two>(metric).count();
        let states = drawn::<Two>(2, 200);
        let first: Vec<Two> = states.iter().map(|state| state.folded().0).collect();
        let mut judge = learner.judge().expect("a plan");
        let [scores, of_first] = [&states, &first].map(|states| {
            let mut scores = vec![0.0; states.len() * count];
            judge.judge(states, &mut scores);
            scores
        });
        let plain = said(&NetConfig { inputs: Inputs::Stickers, ..net }, count, learner.weights(), &first);
        let mut differ = 0;
        for (i, state) in states.iter().enumerate() {
            let (here, there) = (&scores[i * count..][..count], &of_first[i * count..][..count]);
            let plain = &plain[i * count..][..count];
            for (action, score) in here.iter().enumerate() {
                let other = Two::folded_action(state.folded().1, action);
                assert_eq!(*score, there[other]);
                differ += usize::from(other != action);
                for (b, score_b) in here.iter().enumerate() {
                    let b = Two::folded_action(state.folded().1, b);
                    // A higher action value must mean a smaller number of moves.
                    assert!(plain[other] < plain[b] + 1e-5 || score < score_b);
                }
            }
        }
        assert!(differ > 500);
    }
}

#[test]
fn target_networks_are_copied_or_averaged() {
    let mut hard = learner::<Two>(DqnConfig { follow: Follow::Hard, target_every: 4, steps: updates(1), ..small() }, 2);
    let mut held = hard.networks()[1].values().to_vec();
    for update in 1..=12 {
        iterate(&mut hard, 1);
        let [trained, target] = hard.networks().map(|params| params.values());
        if update % 4 == 0 {
            assert!(target == trained);
            held = target.to_vec();
        }
        assert!(target == held && (update % 4 == 0 || target != trained));
    }
    let mut soft = learner::<Two>(DqnConfig { tau: 0.1, steps: updates(1), ..small() }, 2);
    for _ in 0..5 {
        let before = soft.networks()[1].values().to_vec();
        iterate(&mut soft, 1);
        let [trained, target] = soft.networks().map(|params| params.values());
        assert!(trained != target);
        for ((before, trained), target) in before.iter().zip(trained).zip(target) {
            assert!((target - (before + 0.1 * (trained - before))).abs() < 1e-6);
        }
    }
    // The judge can use either the trained or the target network.
    let config = soft.config().clone();
    let judge = |learner: &Dqn<Two>| {
        let mut scores = [0.0; 6];
        learner.judge().expect("a plan").judge(&drawn::<Two>(3, 1), &mut scores);
        scores
    };
    let trained = judge(&soft);
    soft.set(DqnConfig { judging: Judging::Target, ..config }).expect("it may change");
    assert!(soft.weights() == soft.networks()[1].values() && judge(&soft) != trained);
}

// ---- playing ----

#[test]
fn the_curriculum_advances_at_the_success_threshold() {
    let config = CurriculumConfig { schedule: Schedule::Fractional, first: 2, last: 5, threshold: 0.75, window: 8, fraction: 0.3 };
    let mut it = Curriculum::new(&config);
    assert_eq!(it.stage(), 2);
    // Six solved episodes of eight reach the threshold. The stage advances only after eight episodes of its own depth.
    for solved in [true, true, true, true, true, true, false] {
        assert!(!it.record(&config, 2, solved));
        assert!(!it.record(&config, 3, true) && it.stage() == 2);
    }
    assert!(it.record(&config, 2, false) && it.stage() == 3);
    // The stage does not advance while fewer than six of the latest eight episodes are solved. Episodes before the latest eight have no
    // effect.
    let mut it = Curriculum::new(&config);
    (0..7).for_each(|_| assert!(!it.record(&config, 2, false)));
    (0..5).for_each(|_| assert!(!it.record(&config, 2, true)));
    assert_eq!(it.success(2), (5.0 / 8.0, 8));
    assert!(it.record(&config, 2, true) && it.stage() == 3);
    // At the last depth, the stage does not advance any more.
    for stage in 3..=5 {
        assert_eq!(it.stage(), stage);
        for solved in 1..=8 {
            assert_eq!(it.record(&config, stage, true), solved == 8 && stage < 5);
        }
    }
    assert_eq!((it.stage(), it.success(5)), (5, (1.0, 8)));
    // An even curriculum never advances: its stage is always the last depth.
    let mut even = Curriculum::new(&CurriculumConfig { schedule: Schedule::Even, ..config });
    assert!(!even.record(&CurriculumConfig { schedule: Schedule::Even, ..config }, 5, true) && even.stage() == 5);

    let mut numbers = Rng::new(5, 5).sequence(0);
    for (schedule, shares) in [
        (Schedule::Plain, [0.0, 0.0, 0.0, 0.0, 1.0]),
        (Schedule::Fractional, [0.0, 0.1, 0.1, 0.1, 0.7]),
        (Schedule::Even, [0.0, 0.25, 0.25, 0.25, 0.25]),
    ] {
        let config = CurriculumConfig { schedule, ..config };
        let mut counts = [0; 6];
        (0..10_000).for_each(|_| counts[it.draw(&config, &mut numbers)] += 1);
        for (depth, share) in (1..).zip(shares) {
            assert!((it.share(&config, depth) - share).abs() < 1e-6, "{schedule:?} {depth}");
            assert!((counts[depth] as f32 / 10_000.0 - share).abs() < 0.02, "{schedule:?} {counts:?}");
        }
    }
}

#[test]
fn relabelled_episodes_lead_to_the_solved_cube() {
    let mut numbers = Rng::new(6, 6).sequence(0);
    fn check<P: Puzzle>(metric: Metric, numbers: &mut math::rng::Sequence) -> usize {
        let (actions, mut path, mut cut) = (Actions::of::<P>(metric), Vec::new(), 0);
        for _ in 0..300 {
            let len = 1 + numbers.below(20) as usize;
            let taken: Vec<u8> = (0..len).map(|_| numbers.below(actions.count() as u32) as u8).collect();
            let used = relabel::<P>(&actions, &taken, &mut path);
            assert!(used > 0 || taken.is_empty());
            assert_eq!((path.len(), path.last()), (used + 1, Some(&P::SOLVED)));
            for (at, &action) in taken[len - used..].iter().enumerate() {
                assert!(path[at].turned(usize::from(action)) == path[at + 1]);
                assert!(path[at] != P::SOLVED, "an episode ends where it is solved");
            }
            // If the relabelled episode was not shortened, its actions lead from the first state of the path to the solved state.
            let relative = |start: P| taken.iter().fold(start, |state, &action| state.turned(usize::from(action)));
            assert!(used < len || relative(path[0]) == P::SOLVED);
            cut += usize::from(used < len);
        }
        cut
    }
    let cut = check::<Two>(Metric::Quarter, &mut numbers) + check::<Two>(Metric::Half, &mut numbers);
    assert!(cut > 50, "{cut} came back to their goal before");
    check::<Three>(Metric::Half, &mut numbers);
}

#[test]
fn played_transitions_follow_the_rules() {
    let done = |hindsight: f32| {
        let config = DqnConfig {
            epsilon: 1.0,
            epsilon_end: 1.0,
            n_step: 1,
            slack: 4,
            hindsight,
            replay: 4096,
            curriculum: CurriculumConfig { schedule: Schedule::Even, ..small().curriculum },
            ..small()
        };
        let mut learner = learner::<Two>(config, 4);
        (0..600).for_each(|_| learner.play());
        let replay = learner.replay();
        for of in (0..replay.len()).map(|at| replay.get(at)) {
            assert!(of.next == of.state.turned(usize::from(of.action)) && of.steps == 1);
            assert!(of.done == (of.next == Two::SOLVED) && of.state != Two::SOLVED);
        }
        let progress = learner.progress();
        assert!(progress.moves == 4800 && (250..1000).contains(&progress.episodes), "{progress:?}");
        (0..replay.len()).filter(|&at| replay.get(at).done).count()
    };
    // With `Greedy::Plain`, some actions undo the previous action; with `Greedy::Onward`, no action does.
    for (acting, undoes) in [(Greedy::Plain, true), (Greedy::Onward, false)] {
        let config = DqnConfig { acting, n_step: 1, hindsight: 0.0, replay: 4096, ..small() };
        let mut learner = learner::<Two>(config, 4);
        (0..300).for_each(|_| learner.play());
        let all: Vec<_> = (0..learner.replay().len()).map(|at| learner.replay().get(at)).collect();
        let back = |pair: &[Transition<Two>]| pair[1].state == pair[0].next && pair[1].next == pair[0].state;
        assert_eq!(all.windows(2).any(back), undoes);
        assert!((0..6).all(|action| all.iter().any(|of| of.action == action)));
    }
    let (plain, relabelled) = (done(0.0), done(1.0));
    assert!(relabelled > 3 * plain && plain > 10, "{plain} {relabelled}");
}

/// With these settings, each solved episode stores exactly one transition with `done` true.
#[test]
fn the_solved_share_covers_the_iterations_episodes() {
    let config = DqnConfig { n_step: 1, hindsight: 0.0, replay: 8192, ..small() };
    let mut learner = learner::<Two>(config, 6);
    let (mut episodes, mut solved) = (0, 0);
    for _ in 0..50 {
        let stats = loop {
            if let Slice::Ended(stats) = learner.advance() {
                break stats;
            }
        };
        let ended = learner.progress().episodes - episodes;
        episodes += ended;
        let share = stats.play.expect("it plays").solved;
        assert_eq!(share.is_some(), ended > 0);
        solved += (f64::from(share.unwrap_or(0.0)) * ended as f64).round() as usize;
    }
    let replay = learner.replay();
    let done = (0..replay.len()).filter(|&at| replay.get(at).done).count();
    assert!(solved == done && done > 5, "{solved} {done}");
}

#[test]
fn exploration_decays_with_moves() {
    let isa = Isa::best();
    let linear = DqnConfig { epsilon: 0.9, epsilon_end: 0.1, epsilon_moves: 1000.0, ..small() };
    let exponential = DqnConfig { decay: Decay::Exponential, ..linear.clone() };
    for (moves, by_line, by_power) in
        [(0, 0.9, 0.9), (500, 0.5, 0.1 + 0.8 * 0.606_53), (1000, 0.1, 0.1 + 0.8 * 0.367_88), (9000, 0.1, 0.1001)]
    {
        assert!((linear.epsilon_after(isa, moves) - by_line).abs() < 1e-4);
        assert!((exponential.epsilon_after(isa, moves) - by_power).abs() < 1e-4);
    }
    // Without random actions, every action is greedy. With `epsilon` 0.6, about half of the actions are not greedy, because a random action
    // can be the greedy action.
    for (epsilon, share) in [(0.0, 0.0), (0.6, 0.5)] {
        let config = DqnConfig { epsilon, epsilon_end: epsilon, n_step: 1, hindsight: 0.0, replay: 4096, ..small() };
        let mut learner = learner::<Two>(config, 8);
        let judge = learner.networks()[0].values().to_vec();
        (0..400).for_each(|_| learner.play());
        let all: Vec<Transition<Two>> = (0..learner.replay().len()).map(|at| learner.replay().get(at)).collect();
        let states: Vec<Two> = all.iter().map(|of| of.state).collect();
        let mut q = vec![0.0; 6 * states.len()];
        let net = &learner.config().net;
        Evaluator::new(net, Scores::ActionValues, 6, |_, q| q, &judge, isa).expect("a plan").judge(&states, &mut q);
        let others = all.iter().zip(q.chunks_exact(6)).filter(|(of, q)| q.iter().any(|value| *value > q[usize::from(of.action)]));
        let found = others.count() as f32 / all.len() as f32;
        assert!((found - share).abs() < 0.04 && (share > 0.0 || found == 0.0), "{found}, {share}");
    }
}

// ---- the learner ----

#[test]
fn invalid_saves_are_rejected_by_name() {
    let mut learner = learner::<Two>(small(), 9);
    iterate(&mut learner, 3);
    let parts = learner.parts();
    for (name, data) in [
        ("replay.states", Data::U32(vec![u32::MAX; 4])),
        ("replay.how", Data::U32(vec![7; 3])),
        ("replay.priorities", Data::F32(vec![1.0, -1.0])),
        ("curriculum", Data::U32(vec![3])),
        ("episodes", Data::U32(vec![1, 99])),
    ] {
        let mut broken = parts.clone();
        broken.iter_mut().filter(|(known, ..)| known == name).for_each(|(.., whole)| *whole = data.clone());
        let restored = Dqn::<Two>::restore(small(), None, 9, Isa::best(), &|name| part(&broken, name));
        let error = restored.err().unwrap_or_else(|| panic!("{name} is broken")).to_string();
        assert!(error.contains("load") && (error.contains(name) || error.contains("replay")), "{error}");
    }
}

#[test]
fn invalid_settings_are_rejected() {
    type Change = fn(&mut DqnConfig);
    let refusal = |set: Change| {
        let mut config = small();
        set(&mut config);
        Dqn::<Two>::new(config, None, 1, Isa::best()).err().map(|error| error.to_string())
    };
    let most: [Change; 3] = [|of| of.warmup = 512, |of| of.loss = Loss::Huber(1e-4), |of| of.loss = Loss::Huber(100.0)];
    most.into_iter().for_each(|set| assert_eq!(refusal(set), None));
    let beyond: [(Change, &str); 12] = [
        (|of| of.n_step = 6, "n_step = 6"),
        (|of| of.steps.lr = f32::NAN, "lr = NaN"),
        (|of| of.warmup = 513, "warmup = 513"),
        (|of| of.loss = Loss::Huber(0.0), "huber = 0"),
        (|of| of.loss = Loss::Huber(5e-5), "huber = 0.00005"),
        (|of| of.loss = Loss::Huber(200.0), "huber = 200"),
        (|of| of.net.hidden.clear(), "layers = 0"),
        (|of| of.net.hidden = vec![64, 40], "40 units"),
        (|of| (of.curriculum.first, of.curriculum.last) = (9, 8), "last_depth = 8"),
        (|of| of.rewards = Rewards { gamma: 1.0, step: 0.0, goal: 1.0 }, "short solutions"),
        (|of| of.pretraining = 5, "no table"),
        (|of| of.net.inputs = Inputs::Symmetric, "symmetric inputs"),
    ];
    for (set, words) in beyond {
        let error = refusal(set).expect("refused");
        assert!(error.contains(words) && error.contains("choose"), "{error}");
    }
    let base = small();
    let wrong = DqnConfig { metric: Metric::Half, pretraining: 5, ..base.clone() };
    assert!(matches!(Dqn::<Two>::new(wrong, Some(QUARTER.clone()), 1, Isa::best()), Err(LearnerError::Unknown { .. })));
    assert_eq!(DqnConfig { n_step: 0, ..base.clone() }.bytes::<Two>(), u64::MAX);
    assert!(DqnConfig { replay: 1 << 20, ..base.clone() }.bytes::<Three>() > base.bytes::<Three>() + (40 << 20));

    let mut learner = learner::<Two>(base.clone(), 1);
    let live = DqnConfig { n_step: 1, double: false, follow: Follow::Hard, steps: Steps { lr: 0.0, ..updates(2) }, ..base.clone() };
    assert!(base.can_become(&live));
    let before = learner.weights().to_vec();
    learner.set(live.clone()).expect("what may change");
    iterate(&mut learner, 1);
    assert!(learner.weights() == before && learner.progress().updates == 2);
    // If the new curriculum is shorter, the stage is reduced to the new last depth.
    let short = CurriculumConfig { first: 2, last: 3, ..base.curriculum };
    learner.set(DqnConfig { curriculum: short, ..live }).expect("what may change");
    assert_eq!(learner.inside(0).expect("a plan").expect("it plays").stage, 2);
}

#[test]
fn the_internal_state_is_accessible() {
    let mut learner = learner::<Two>(small(), 7);
    iterate(&mut learner, 5);
    let inside = learner.inside(4).expect("a plan").expect("it plays");
    assert_eq!((inside.len, inside.capacity, inside.prioritised), (learner.replay().len(), 512, true));
    assert!((inside.priorities.iter().sum::<f32>() - 1.0).abs() < 1e-3);
    let shares: f32 = inside.depths.iter().map(|depth| depth.share).sum();
    assert!((shares - 1.0).abs() < 1e-5 && inside.depths.iter().any(|depth| depth.episodes > 0));
    let mut all: Vec<f32> = (0..inside.len).map(|at| learner.replay().priority(at)).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(inside.top.len(), 4);
    for (of, greatest) in inside.top.iter().zip(all) {
        assert!((of.priority.powf(learner.config().alpha) / greatest - 1.0).abs() < 1e-4);
        let q = said(&learner.config().net, 6, learner.networks()[0].values(), &[of.state]);
        assert!(of.q.iter().zip(q).all(|(said, q)| (f64::from(*said) - q).abs() < 1e-4));
    }
    let bin = (inside.top[0].priority.log2().floor() + 12.0).clamp(0.0, 15.0) as usize;
    assert!(inside.priorities[bin] > 0.0);
}

#[test]
fn states_are_saved_as_words() {
    fn check<P: Cube>() {
        for state in drawn::<P>(3, 50) {
            let mut words = vec![0; P::WORDS];
            state.words(&mut words);
            assert!(P::from_words(&words) == Some(state));
        }
        assert!(P::from_words(&vec![u32::MAX; P::WORDS]).is_none());
    }
    check::<Two>();
    check::<Three>();
    // Four invalid cubes: a twisted corner, a flipped edge, a duplicated corner and a duplicated edge. A fifth invalid cube has two
    // exchanged corners.
    for (place, byte) in [(0, 8), (8, 12), (0, 1), (9, 0)] {
        let mut cubies = *Three::SOLVED.cubies();
        cubies[place] = byte;
        assert!(Three::from_cubies(cubies).is_none());
        if (place, byte) == (0, 1) {
            cubies[1] = 0;
            assert!(Three::from_cubies(cubies).is_none(), "odd");
        }
    }
}

/// Returns the share of states that the greedy player solves, indexed by the distance to the solved state.
#[cfg(not(target_arch = "wasm32"))]
fn solved(learner: &Dqn<Two>) -> Vec<f64> {
    let mut judge = learner.judge().expect("a plan");
    let report = Exhaustive::new(QUARTER.clone()).run(&mut judge);
    report.rows(Greedy::Plain).iter().map(|row| row.share()).collect()
}

/// Returns settings with which a learner learns the states near the solved state within a few seconds.
#[cfg(not(target_arch = "wasm32"))]
fn near() -> DqnConfig {
    let tuned = DqnConfig::preset(Preset::Tuned);
    DqnConfig {
        net: NetConfig { hidden: vec![128, 64], ..tuned.net },
        batch: 128,
        envs: 64,
        warmup: 2000,
        curriculum: CurriculumConfig { last: 5, ..tuned.curriculum },
        ..tuned
    }
}

#[test]
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
fn a_few_seconds_of_play_solve_near_states() {
    let mut learner = learner::<Two>(near(), 1);
    while learner.progress().updates < 8000 {
        learner.advance();
    }
    let shares = solved(&learner);
    assert!(shares[..5].iter().all(|&share| share == 1.0) && shares[5] > 0.8, "{shares:?}");
    // Without training, the learner solves few states.
    if testkit::all() {
        let mut idle = self::learner::<Two>(DqnConfig { steps: Steps { lr: 0.0, ..near().steps }, ..near() }, 1);
        iterate(&mut idle, 2);
        let shares = solved(&idle);
        assert!(shares[3] < 0.5 && shares[5] < 0.2, "{shares:?}");
    }
}

#[test]
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
fn pretraining_solves_near_states_before_play() {
    // Without `--all`, the labels are those for the action values that play improves.
    let labels = if testkit::all() { Labels::ALL } else { &[Labels::Distances] };
    for &labels in labels {
        let config = DqnConfig { pretraining: 3000, labels, ..near() };
        let mut learner = learner::<Two>(config, 1);
        while learner.progress().updates < 3000 {
            learner.advance();
        }
        let [trained, target] = learner.networks().map(|params| params.values());
        assert!(trained == target && learner.progress().moves == 0);
        let shares = solved(&learner);
        assert!(shares[..4].iter().all(|&share| share > 0.99) && shares[4] > 0.9, "{labels:?} {shares:?}");
    }
}
