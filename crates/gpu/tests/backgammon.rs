//! Backgammon's published network on a GPU against the processor's: inputs made of words, leaves, and the learner's steps.

mod common;

use gpu::Gpu;
use gpu::backgammon::{Batch, Leaves, Updates, decision_words, worth_from};
use graph::{Adam, Executor, Isa, Optimizer, Packed, Params};
use learn::backgammon::published::{
    ACTIONS, Decision, HEADS, INPUTS, WIDTH, each_input, plan_learning, plan_leaves,
};
use math::Rng;
use worlds::backgammon::{Board, Results, Roll};

/// Decisions of random games, and some of them as second halves.
fn met(count: usize) -> Vec<Decision> {
    let mut numbers = Rng::new(3, 5).sequence(0);
    let (mut board, mut room, mut all) = (Board::START, Results::new(), Vec::new());
    while all.len() < count {
        let roll = Roll::drawn(&mut numbers);
        let decision = Decision::new(board, roll);
        all.push(Decision { second: roll.is_double() && numbers.below(2) == 1, ..decision });
        let results = board.results(roll, &mut room);
        let after = results[numbers.below(results.len() as u32) as usize];
        board = if after.points() == 0 { after.turned() } else { Board::START };
    }
    all
}

#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    let scale = expected.iter().fold(0.1f32, |most, x| most.max(x.abs()));
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= tolerance * scale, "{what}: {i} is {x}, not {y}");
    }
}

/// Whole games are in the first thousand: bars, borne off checkers and races too.
async fn leaves_are_the_processors(gpu: Gpu) {
    const ROWS: usize = 1000;
    let isa = Isa::best();
    let plan = plan_leaves(ROWS, isa).unwrap();
    let mut params = Params::new(plan.table(), 3);
    params.values_mut().iter_mut().for_each(|x| *x *= 1.5);
    let decisions = met(ROWS);
    assert!(decisions.iter().any(|d| d.board.mine().off() > 0) && decisions.iter().any(|d| d.second));
    assert!(
        decisions.iter().any(|d| d.board.mine().bar() > 0) && decisions.iter().any(|d| !d.board.contact())
    );
    let mut executor = Executor::new(&plan);
    for (row, decision) in decisions.iter().enumerate() {
        let inputs = &mut executor.input_mut("inputs")[row * INPUTS..][..INPUTS];
        each_input(decision, |input, x| inputs[input] = x);
    }
    executor.run(&params, &Packed::new(&plan, &params));
    let leaves = Leaves::new(&gpu, &plan, ROWS).unwrap();
    leaves.set_params(params.values());
    let words: Vec<_> = decisions.iter().map(decision_words).collect();
    let [policy, value] = leaves.evaluate(&words).await.unwrap();
    assert_eq!([policy.len(), value.len()], [ROWS * WIDTH, ROWS * HEADS]);
    close("policy", &policy, executor.output("policy"), 2e-5);
    close("chances", &value, executor.output("value"), 2e-5);
    // A second batch, smaller, finds nothing of the first in its rows.
    let [_, again] = leaves.evaluate(&words[500..600]).await.unwrap();
    assert_eq!(again[..100 * HEADS], value[500 * HEADS..600 * HEADS]);
}

async fn steps_are_the_processors(gpu: Gpu) {
    const ROWS: usize = 32;
    let isa = Isa::best();
    let plan = plan_learning(ROWS, isa).unwrap();
    let mut params = Params::new(plan.table(), 4);
    // With an eps that outweighs gradients which are rounding alone, whose direction is nobody's.
    let adam = Adam { lr: 1e-3, eps: 1e-3, weight_decay: 1e-4, max_grad_norm: 0.5, ..Adam::default() };
    let mut updates = Updates::new(&gpu, &plan, ROWS).unwrap();
    updates.set_params(params.values());
    let (mut packed, mut executor) = (Packed::new(&plan, &params), Executor::new(&plan));
    let (mut optimizer, mut grads) = (Optimizer::new(&params), vec![0.0; params.values().len()]);
    let decisions = met(5 * ROWS);
    let mut numbers = Rng::new(9, 1).sequence(0);
    let first = params.values().to_vec();
    for step in decisions.chunks(ROWS) {
        let mut batch = Batch {
            decisions: step.iter().map(decision_words).collect(),
            mask: vec![-1e9; ROWS * ACTIONS],
            share: vec![0.0; ROWS * ACTIONS],
            outcome: (0..ROWS * HEADS).map(|_| (numbers.below(2)) as f32).collect(),
        };
        for row in 0..ROWS {
            for _ in 0..20 {
                batch.mask[row * ACTIONS + numbers.below(ACTIONS as u32) as usize] = 0.0;
            }
            let legal = (0..ACTIONS).filter(|a| batch.mask[row * ACTIONS + a] == 0.0).take(2);
            legal.collect::<Vec<_>>().into_iter().for_each(|a| batch.share[row * ACTIONS + a] = 0.5);
        }
        for (row, decision) in step.iter().enumerate() {
            let inputs = &mut executor.input_mut("inputs")[row * INPUTS..][..INPUTS];
            inputs.fill(0.0);
            each_input(decision, |input, x| inputs[input] = x);
        }
        executor.input_mut("mask").copy_from_slice(&batch.mask);
        executor.input_mut("share").copy_from_slice(&batch.share);
        executor.input_mut("outcome").copy_from_slice(&batch.outcome);
        executor.input_mut("value_coef")[0] = 0.7;
        executor.train(&params, &packed, &mut grads, false);
        let norm = optimizer.step(isa, &adam, &mut params, &grads);
        packed.pack(&params);
        updates.update(&batch, 0.7, &adam);
        let (found, told) = updates.read().await.unwrap();
        let losses = ["policy_loss", "value_loss"].map(|name| executor.output(name)[0]);
        close("losses", &told[..2], &losses, 1e-4);
        close("norm", &told[2..], &[norm], 1e-3);
        close("parameters", &found, params.values(), 1e-3);
    }
    assert!(first != params.values(), "it learned");
}

async fn who_is_faster_for_good_is_taken(_: Gpu) {
    let rates = |rates: &[(f64, f64)]| -> Vec<(usize, f64, f64)> {
        rates.iter().enumerate().map(|(i, rate)| (64 << i, rate.0, rate.1)).collect()
    };
    assert_eq!(worth_from(&rates(&[(5.0, 1.0), (5.0, 6.0), (5.0, 9.0)])), Some(128));
    assert_eq!(worth_from(&rates(&[(5.0, 6.0), (5.0, 4.0), (5.0, 9.0)])), Some(256));
    assert_eq!(worth_from(&rates(&[(5.0, 6.0), (5.0, 4.0)])), None);
    assert_eq!(worth_from(&[]), None);
}

common::tests!(
    who_is_faster_for_good_is_taken;
    natively:
    leaves_are_the_processors,
    steps_are_the_processors,
);
