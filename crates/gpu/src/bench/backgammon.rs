//! Backgammon's published network in batches, on the device with the way there and back, and on all threads of the processor
//! beside it: from how many leaves on the device is worth asking, and for which minibatches.

use super::{Sink, give};
use crate::Gpu;
use crate::backgammon::{Batch, Leaves, Updates, decision_words, worth_from};
use graph::{Adam, Executor, Optimizer, Packed, Params};
use learn::Fault;
use learn::backgammon::published::{
    ACTIONS, Decision, Evaluator, HEADS, INPUTS, Weights, each_input, plan_learning, plan_leaves, plan_search,
};
use math::{Isa, PANEL, Rng, ops, par};
use worlds::backgammon::{Board, Results, Roll};

/// Rows of a batch on the processor, more of which bring nothing, and of a learner's shard.
const PROCESSOR_ROWS: usize = 128;
const SHARD: usize = 32;

pub fn all(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    leaves(gpu, isa, now, sink)?;
    updates(gpu, isa, now, sink)
}

fn refused(error: impl std::fmt::Display) -> Fault {
    Fault::Refused { why: error.to_string() }
}

/// Decisions as random play meets them.
fn met(count: usize) -> Vec<Decision> {
    let mut numbers = Rng::new(1, 5).sequence(0);
    let (mut board, mut room) = (Board::START, Results::new());
    let mut one = || {
        let roll = Roll::drawn(&mut numbers);
        let decision = Decision::new(board, roll);
        let results = board.results(roll, &mut room);
        let after = results[numbers.below(results.len() as u32) as usize];
        board = if after.points() == 0 { after.turned() } else { Board::START };
        decision
    };
    (0..count).map(|_| one()).collect()
}

/// Seconds of one call: the best of some, after one that warms up.
fn call_s(now: &dyn Fn() -> f64, mut call: impl FnMut() -> Result<(), Fault>) -> Result<f64, Fault> {
    const LEAST: usize = 5;
    const FILL_S: f64 = 0.3;
    call()?;
    let (began_s, mut best_s, mut calls) = (now(), f64::INFINITY, 0);
    while calls < LEAST || now() - began_s < FILL_S {
        let call_began_s = now();
        call()?;
        best_s = best_s.min(now() - call_began_s);
        calls += 1;
    }
    Ok(best_s)
}

fn leaves(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    let most = if gpu.about().software { 1024 } else { 65_536 };
    let decisions = met(most);
    let words: Vec<_> = decisions.iter().map(decision_words).collect();
    let plan = plan_search(PROCESSOR_ROWS, isa).map_err(refused)?;
    let params = Params::new(plan.table(), 1);
    let mut rates = Vec::new();
    let sizes = std::iter::successors(Some(64), |size| Some(size * 4)).take_while(|&size| size <= most);
    for size in sizes {
        // A small batch on the processor is cut for its threads; a large one goes on in batches of its own size.
        let rows = size.div_ceil(par::threads()).next_multiple_of(PANEL).min(PROCESSOR_ROWS);
        let plan = plan_search(rows, isa).map_err(refused)?;
        let weights = Weights::new(&plan, &params);
        let executors = size.div_ceil(rows).min(par::threads());
        let share = size.div_ceil(executors);
        let mut executors: Vec<Evaluator> = (0..executors).map(|_| Evaluator::new(&plan, rows)).collect();
        let decisions = &decisions[..size];
        let processor_s = call_s(now, || {
            par::each_mut(&mut executors, |i, evaluator| {
                let mine = &decisions[(i * share).min(size)..((i + 1) * share).min(size)];
                for batch in mine.chunks(rows) {
                    evaluator.clear();
                    batch.iter().for_each(|decision| evaluator.see(decision));
                    evaluator.run(&weights);
                }
            });
            Ok(())
        })?;
        let plan = plan_leaves(size, isa).map_err(refused)?;
        let leaves = Leaves::new(gpu, &plan, size)?;
        leaves.set_params(params.values());
        let device_s =
            call_s(now, || pollster::block_on(leaves.evaluate(&words[..size])).map(std::mem::drop))?;
        let (processor, device) = (size as f64 / processor_s, size as f64 / device_s);
        let unit = format!("states/s, {size} a batch");
        let name = "backgammon.published.leaves";
        give(sink, format!("gpu.{name}.{size}.states_per_s"), device, format!("{unit}, up and back"));
        let beside = format!("{unit}, all threads beside it");
        give(sink, format!("gpu.beside.{name}.{size}.states_per_s"), processor, beside);
        rates.push((size, processor, device));
    }
    let (from, unit) = match worth_from(&rates) {
        Some(size) => (size, "states a batch, from which on the device is taken"),
        None => (0, "the processor is taken for all of these batches"),
    };
    give(sink, "gpu.backgammon.published.leaves.worth_from", from as f64, unit);
    Ok(())
}

/// The learner's steps a second, for the minibatch of its settings and for larger ones.
fn updates(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    const IN_FLIGHT: usize = 8;
    let sizes: &[usize] = if gpu.about().software { &[256] } else { &[256, 1024, 4096] };
    for &rows in sizes {
        let decisions = met(rows);
        let batch = batch(&decisions);
        let adam = Adam { max_grad_norm: 5.0, ..Adam::default() };
        let mut processor = Processor::new(rows, isa)?;
        let inputs = &decisions;
        let processor_s = call_s(now, || {
            processor.update(inputs, &batch, &adam);
            Ok(())
        })?;
        let plan = plan_learning(rows, isa).map_err(refused)?;
        let mut updates = Updates::new(gpu, &plan, rows)?;
        updates.set_params(processor.params.values());
        let device_s = call_s(now, || {
            (0..IN_FLIGHT).for_each(|_| updates.update(&batch, 1.0, &adam));
            pollster::block_on(updates.read()).map(std::mem::drop)
        })? / IN_FLIGHT as f64;
        let name = format!("backgammon.published.updates.{rows}.per_s");
        let unit = format!("minibatches of {rows} a second");
        let taken = if device_s < processor_s { "the device is taken" } else { "the processor is taken" };
        give(sink, format!("gpu.{name}"), 1.0 / device_s, format!("{unit}; {taken}"));
        let beside = format!("{unit}, all threads beside it");
        give(sink, format!("gpu.beside.{name}"), 1.0 / processor_s, beside);
    }
    Ok(())
}

/// Some legal actions and how a game ended, by chance.
fn batch(decisions: &[Decision]) -> Batch {
    let mut numbers = Rng::new(2, 5).sequence(0);
    let rows = decisions.len();
    let mut batch = Batch {
        decisions: decisions.iter().map(decision_words).collect(),
        mask: vec![-1e9; rows * ACTIONS],
        share: vec![0.0; rows * ACTIONS],
        outcome: (0..rows * HEADS).map(|_| numbers.below(2) as f32).collect(),
    };
    for row in 0..rows {
        for _ in 0..16 {
            let at = row * ACTIONS + numbers.below(ACTIONS as u32) as usize;
            (batch.mask[at], batch.share[at]) = (0.0, 1.0 / 16.0);
        }
    }
    batch
}

/// The same steps on the processor, in shards.
struct Processor {
    params: Params,
    packed: Packed,
    optimizer: Optimizer,
    shards: Vec<(Executor, Vec<f32>)>,
    grads: Vec<f32>,
    isa: Isa,
}

impl Processor {
    fn new(rows: usize, isa: Isa) -> Result<Processor, Fault> {
        let plan = plan_learning(SHARD, isa).map_err(refused)?;
        let params = Params::new(plan.table(), 1);
        let len = params.values().len();
        let shards = (0..rows / SHARD).map(|_| (Executor::new(&plan), vec![0.0; len])).collect();
        Ok(Processor {
            packed: Packed::new(&plan, &params),
            optimizer: Optimizer::new(&params),
            shards,
            grads: vec![0.0; len],
            params,
            isa,
        })
    }

    fn update(&mut self, decisions: &[Decision], batch: &Batch, adam: &Adam) {
        let (params, packed) = (&self.params, &self.packed);
        par::each_mut(&mut self.shards, |i, (executor, grads)| {
            let rows = i * SHARD..(i + 1) * SHARD;
            let inputs = executor.input_mut("inputs");
            inputs.fill(0.0);
            for (row, decision) in decisions[rows.clone()].iter().enumerate() {
                let inputs = &mut inputs[row * INPUTS..][..INPUTS];
                each_input(decision, |input, x| inputs[input] = x);
            }
            let part = |values: &[f32], cols: usize| values[rows.start * cols..rows.end * cols].to_vec();
            executor.input_mut("mask").copy_from_slice(&part(&batch.mask, ACTIONS));
            executor.input_mut("share").copy_from_slice(&part(&batch.share, ACTIONS));
            executor.input_mut("outcome").copy_from_slice(&part(&batch.outcome, HEADS));
            executor.input_mut("value_coef")[0] = 1.0;
            executor.train(params, packed, grads, false);
        });
        self.grads.fill(0.0);
        let scale = 1.0 / self.shards.len() as f32;
        for (_, grads) in &self.shards {
            ops::add_scaled(self.isa, scale, grads, &mut self.grads);
        }
        self.optimizer.step(self.isa, adam, &mut self.params, &self.grads);
        self.packed.pack(&self.params);
    }
}
