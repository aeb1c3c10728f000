//! The published learner's network: actions, and the part of the network that a search computes.

use graph::{Executor, Packed, Params};
use learn::backgammon::published::{ACTIONS, Decision, Evaluator, HEADS, INPUTS, Shape, Weights, each_input, plan_search, plan_whole};
use learn::internals::published::{MOST_ACTIONS, action, chances, equity, legal, outcome, play, whole};
use learn::internals::random_play;
use math::{Isa, PANEL};
use std::collections::BTreeSet;
use worlds::backgammon::{BAR, Board, Chances, Results};

/// Returns decisions of random games, including second halves of doubles.
fn decisions(count: usize, seed: u32) -> Vec<Decision> {
    let (mut scratch, mut all) = (Results::new(), Vec::new());
    random_play(count, [seed, 5], |board, roll, _, numbers| {
        let decision = Decision::new(*board, roll);
        all.push(decision);
        if roll.is_double() {
            let halves = board.halves(roll, &mut scratch);
            let board = halves[numbers.below(halves.len() as u32) as usize];
            all.extend(board.can_move(roll.high()).then_some(Decision { board, second: true, ..decision }));
        }
    });
    all.truncate(count);
    all
}

#[test]
fn the_default_shape_matches_the_published_network() {
    assert_eq!([Shape::PUBLISHED.parameters(), Shape::PUBLISHED.products()], [283_433, 278_656]);
    for shape in [Shape::PUBLISHED, Shape { width: 16, blocks: 0 }, Shape { width: 272, blocks: 5 }] {
        let (graph, policy, value) = whole(shape, 32);
        assert_eq!(graph.table().count(), shape.parameters());
        let products: usize = graph.table().specs().iter().filter(|spec| !spec.vector).map(|spec| spec.len()).sum();
        assert_eq!(products, shape.products());
        assert_eq!([graph.shape(policy), graph.shape(value)], [[32, 676], [32, 5]]);
    }
}

#[test]
fn actions_are_unique_and_reach_every_result() {
    let (mut scratch, mut whole_scratch) = (Results::new(), Results::new());
    let mut doubles = 0;
    for decision in decisions(3000, 1).into_iter().filter(|decision| !decision.second) {
        let (board, roll) = (decision.board, decision.roll());
        let firsts: Vec<u16> = legal(&decision, &mut scratch).collect();
        assert_eq!(firsts.iter().collect::<BTreeSet<_>>().len(), firsts.len());
        let mut reached = BTreeSet::new();
        for first in firsts {
            assert!(usize::from(first) < ACTIONS && action(play(first)) == first);
            let after = board.moved(roll, play(first));
            if roll.is_double() && after.can_move(roll.high()) {
                doubles += 1;
                let second = Decision { board: after, second: true, ..decision };
                let seconds: Vec<u16> = legal(&second, &mut scratch).collect();
                assert_eq!(seconds.iter().collect::<BTreeSet<_>>().len(), seconds.len());
                reached.extend(seconds.into_iter().map(|second| after.moved(roll, play(second)).id()));
            } else {
                reached.insert(after.id());
            }
        }
        let expected: BTreeSet<_> = board.results(roll, &mut whole_scratch).iter().map(Board::id).collect();
        assert_eq!(reached, expected, "{board:?} {roll:?}");
    }
    assert!(doubles > 500);
}

#[test]
fn the_search_plan_agrees_with_the_whole_network() {
    const ROWS: usize = 64;
    let shapes = [Shape::PUBLISHED, Shape { width: 48, blocks: 1 }, Shape { width: 176, blocks: 0 }];
    for (isa, shape) in Isa::available().into_iter().flat_map(|isa| shapes.map(|shape| (isa, shape))) {
        let [search, all] = [plan_search, plan_whole].map(|plan| plan(shape, ROWS, isa).unwrap());
        let mut params = Params::new(all.table(), 3);
        params.values_mut().iter_mut().for_each(|x| *x *= 1.5);
        let weights = Weights::new(&search, &params);
        let (mut evaluator, mut executor) = (Evaluator::new(&search, ROWS), Executor::new(&all));
        let decisions = decisions(ROWS, 2);
        let panels = executor.input_mut("inputs");
        for (row, decision) in decisions.iter().enumerate() {
            evaluator.see(decision);
            let panel = &mut panels[row / PANEL * PANEL * INPUTS + row % PANEL..];
            each_input(decision, |input, x| panel[input * PANEL] = x);
        }
        evaluator.run(&weights);
        executor.run(&params, &Packed::new(&all, &params));
        let mut scratch = Results::new();
        for (row, decision) in decisions.iter().enumerate() {
            let of = |name: &str, i: usize, count: usize| executor.output(name)[(row / PANEL * count + i) * PANEL + row % PANEL];
            // The five value outputs are bit-identical to those of the whole network.
            assert_eq!(evaluator.heads(row), std::array::from_fn(|i| of("value", i, HEADS)));
            let logits: Vec<f32> = (0..ACTIONS).map(|i| of("policy", i, ACTIONS)).collect();
            let actions: Vec<u16> = legal(decision, &mut scratch).collect();
            let mut found = vec![0.0; MOST_ACTIONS];
            evaluator.policy(&weights, row, &actions, &mut found);
            let e: Vec<f64> = actions.iter().map(|&a| f64::from(logits[usize::from(a)]).exp()).collect();
            let sum: f64 = e.iter().sum();
            for (found, e) in found.iter().zip(&e) {
                assert!((f64::from(*found) - e / sum).abs() < 1e-5, "{found} {}", e / sum);
            }
        }
    }
}

#[test]
fn chances_sum_to_one_and_are_consistent() {
    let sum = |chances: Chances| chances.0.iter().sum::<f32>();
    let start = chances([0.6, 0.2, 0.05, 0.1, 0.02], &Board::START);
    assert!((sum(start) - 1.0).abs() < 1e-6 && (start.equity() - 0.33).abs() < 1e-6);
    assert!((f64::from(equity(&start.0)) - start.equity()).abs() < 1e-6);
    // The probability of a gammon is above the probability of a win, which is impossible.
    let odd = chances([0.1, 0.3, 0.9, 0.95, 0.99], &Board::START);
    assert!(odd.0.iter().all(|&chance| chance >= 0.0) && (sum(odd) - 1.0).abs() < 1e-6);
    // A side that has borne off a checker cannot lose a gammon.
    let mut mine = [0; BAR];
    (mine[0], mine[5]) = (2, 2);
    let mut theirs = [0; BAR];
    theirs[5] = 15;
    let safe = Board::new(mine, theirs).unwrap();
    let safe = chances([0.9, 0.5, 0.1, 0.05, 0.01], &safe);
    assert_eq!(safe.0[4..], [0.0, 0.0]);
    for (ending, heads) in [[1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0]]
        .into_iter()
        .chain([[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0]])
        .enumerate()
    {
        assert_eq!(outcome(ending), heads);
        let chances = chances(heads, &Board::START);
        assert_eq!(chances.0.iter().position(|&chance| chance == 1.0), Some(ending));
    }
}
