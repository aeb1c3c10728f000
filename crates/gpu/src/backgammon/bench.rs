//! Backgammon's published network in batches, on the device with the way there and back, and on all threads of the processor
//! beside it: from how many leaves on the device is worth asking, and for which minibatches. And rounds of the published learner
//! with each of the arrangements that a run has to choose from.

use super::break_even;
use crate::Gpu;
use crate::bench::report::{Sink, count, give, rates};
use graph::{Adam, Executor, Optimizer, Packed, Params};
use learn::backgammon::published::accelerator::{
    Answer, OffloadSpec, PACKED_SAMPLE_WORDS, PackedSample, TrainResult, TrainStateRef, Work, decision_words, packed_sample,
};
use learn::backgammon::published::{ACTIONS, Decision, Evaluator, HEADS, INPUTS, Shape, Weights, each_input, plan_learning, plan_search};
use learn::backgammon::{Published, PublishedConfig};
use learn::{Fault, Learner, Offload, Slice, offload};
use math::rounds::{FEW, Quartiles, ROUND_S};
use math::{Isa, PANEL, Rng, ops, par};
use worlds::backgammon::{Board, Results, Roll};

/// Rows of a batch on the processor, more of which bring nothing, and of a learner's shard.
const PROCESSOR_ROWS: usize = 128;
const SHARD: usize = 32;
/// Words of a packed sample before its legal actions.
const SAMPLE: usize = PACKED_SAMPLE_WORDS - ACTIONS.div_ceil(32);

pub fn all(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    leaves(gpu, isa, now, sink)?;
    updates(gpu, isa, now, sink)?;
    runs(gpu, isa, now, sink)
}

fn refused(error: impl std::fmt::Display) -> Fault {
    Fault::Refused { why: error.to_string() }
}

/// Decisions as random play meets them.
fn met(count: usize) -> Vec<Decision> {
    let mut numbers = Rng::new(1, 5).sequence(0);
    let (mut board, mut scratch) = (Board::START, Results::new());
    let mut one = || {
        let roll = Roll::drawn(&mut numbers);
        let decision = Decision::new(board, roll);
        let results = board.results(roll, &mut scratch);
        let after = results[numbers.below(results.len() as u32) as usize];
        board = if after.points() == 0 { after.turned() } else { Board::START };
        decision
    };
    (0..count).map(|_| one()).collect()
}

/// Seconds of a call in each round, after one that warms up.
fn calls_s(now: &dyn Fn() -> f64, mut call: impl FnMut() -> Result<(), Fault>) -> Result<Vec<f64>, Fault> {
    call()?;
    let mut rounds_s = Vec::new();
    while rounds_s.len() < FEW {
        let (began_s, mut calls, mut took_s) = (now(), 0.0, 0.0);
        while took_s < ROUND_S {
            call()?;
            calls += 1.0;
            took_s = now() - began_s;
        }
        rounds_s.push(took_s / calls);
    }
    Ok(rounds_s)
}

fn leaves(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    let most = if gpu.about().software { 1024 } else { 65_536 };
    let decisions = met(most);
    let words: Vec<_> = decisions.iter().map(decision_words).collect();
    let plan = plan_search(Shape::PUBLISHED, PROCESSOR_ROWS, isa).map_err(refused)?;
    let params = Params::new(plan.table(), 1);
    let mut measured = Vec::new();
    let sizes = std::iter::successors(Some(64), |size| Some(size * 4)).take_while(|&size| size <= most);
    for size in sizes {
        // A small batch on the processor is cut for its threads; a large one goes on in batches of its own size.
        let rows = size.div_ceil(par::threads()).next_multiple_of(PANEL).min(PROCESSOR_ROWS);
        let plan = plan_search(Shape::PUBLISHED, rows, isa).map_err(refused)?;
        let weights = Weights::new(&plan, &params);
        let executors = size.div_ceil(rows).min(par::threads());
        let share = size.div_ceil(executors);
        let mut executors: Vec<Evaluator> = (0..executors).map(|_| Evaluator::new(&plan, rows)).collect();
        let decisions = &decisions[..size];
        let processor_s = calls_s(now, || {
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
        let (work, shape) = (Work { leaves: true, learning: false }, Shape::PUBLISHED);
        let mut accelerator = offload::request(gpu, &OffloadSpec { work, isa, shape, lane_rows: size, minibatch: 0, replay: 0 })?;
        accelerator.set_weights(params.values())?;
        let mut answer = Answer::default();
        let device_s = calls_s(now, || {
            accelerator.ask(0, &words[..size])?;
            while !accelerator.answer(0, &mut answer)? {}
            Ok(())
        })?;
        let [processor, device] = [&processor_s, &device_s].map(|rounds_s| rates(size as f64, rounds_s));
        let unit = format!("states/s, {size} a batch");
        let name = "backgammon.published.leaves";
        give(sink, format!("gpu.{name}.{size}.states_per_s"), &device, format!("{unit}, up and back"));
        let beside = format!("{unit}, all threads beside it");
        give(sink, format!("gpu.beside.{name}.{size}.states_per_s"), &processor, beside);
        measured.push((size, Quartiles::of(&processor).median, Quartiles::of(&device).median));
    }
    let (from, unit) = match break_even(&measured) {
        Some(size) => (size, "states a batch, from which on the device is taken"),
        None => (0, "the processor is taken for all of these batches"),
    };
    count(sink, "gpu.backgammon.published.leaves.worth_from", from as f64, unit);
    Ok(())
}

/// The learner's steps a second, for the minibatch of its settings and for larger ones.
fn updates(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    let software = gpu.about().software;
    let (sizes, steps): (&[usize], usize) = if software { (&[256], 2) } else { (&[256, 1024, 4096], 64) };
    for &rows in sizes {
        let decisions = met(rows);
        let packed_samples = packed_samples(&decisions);
        let adam = Adam { max_grad_norm: 5.0, ..Adam::default() };
        let mut processor = Processor::new(rows, isa)?;
        let processor_s = calls_s(now, || {
            processor.update(&decisions, &packed_samples, &adam);
            Ok(())
        })?;
        let (work, shape) = (Work::LEARNING, Shape::PUBLISHED);
        let mut accelerator = offload::request(gpu, &OffloadSpec { work, isa, shape, lane_rows: 0, minibatch: rows, replay: rows })?;
        let (weights, none) = (processor.params.values(), vec![0.0; processor.grads.len()]);
        accelerator.set_state(&TrainStateRef { weights, m: &none, v: &none, steps: 0 })?;
        accelerator.store_samples(0, &packed_samples)?;
        let drawn: Vec<u32> = (0..rows as u32).collect();
        let mut learned = TrainResult::default();
        let device_s = calls_s(now, || {
            (0..steps).try_for_each(|_| accelerator.step(&adam, 1.0, &drawn))?;
            accelerator.request_result()?;
            while !accelerator.poll_result(&mut learned)? {}
            Ok(())
        })?;
        let [processor, device] = [rates(1.0, &processor_s), rates(steps as f64, &device_s)];
        let name = format!("backgammon.published.updates.{rows}.per_s");
        let unit = format!("minibatches of {rows} a second");
        let faster = Quartiles::of(&device).median > Quartiles::of(&processor).median;
        let taken = if faster { "the device is taken" } else { "the processor is taken" };
        let back = format!("lessons on the device, weights back after {steps}");
        give(sink, format!("gpu.{name}"), &device, format!("{unit}, {back}; {taken}"));
        let beside = format!("{unit}, all threads beside it");
        give(sink, format!("gpu.beside.{name}"), &processor, beside);
    }
    Ok(())
}

/// Rounds on the processor, with learning offloaded, and with leaves and learning offloaded: for the learner's own settings, whose batches
/// are small,
/// and for thousands of games at once.
fn runs(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    // Without duels, which come after some rounds and not after others.
    let own = PublishedConfig { duel_pairs: 0, ..PublishedConfig::default() };
    let many = PublishedConfig { actors: 32, games: 128, batch: 512, round_batches: 25, ..own.clone() };
    let less = PublishedConfig { evals: 8, replay: 4096, minibatch: 64, passes: 1, ..own.clone() };
    let sizes = match gpu.about().software {
        false => [("own", own), ("many", many)],
        true => [
            ("own", PublishedConfig { actors: 2, games: 16, batch: 32, round_batches: 40, ..less.clone() }),
            ("many", PublishedConfig { actors: 4, games: 64, batch: 256, round_batches: 5, ..less }),
        ],
    };
    for (name, config) in sizes {
        let games = config.actors * config.games;
        let mut learner = Published::new(config, 1, isa).map_err(refused)?;
        while !learner.is_steady() {
            round(&mut learner)?;
        }
        let mut rounds = |work: Option<Work>| -> Result<Vec<f64>, Fault> {
            learner.end_offload();
            if let Some(work) = work {
                learner.offload_work(gpu, work)?;
            }
            let mut rates = Vec::new();
            // The first makes what the others find made.
            for _ in 0..=FEW {
                let (began_s, before) = (now(), learner.progress().evaluations);
                round(&mut learner)?;
                rates.push((learner.progress().evaluations - before) as f64 / (now() - began_s));
            }
            Ok(rates.split_off(1))
        };
        let (at_home, learning) = (rounds(None)?, rounds(Some(Work::LEARNING))?);
        let all = rounds(Some(Work::ALL))?;
        let median = |rounds: &[f64]| Quartiles::of(rounds).median;
        let most = median(&at_home).max(median(&learning)).max(median(&all));
        let name = format!("backgammon.published.run.{name}");
        for (name, what, rounds) in [
            (format!("gpu.beside.{name}"), "all on all threads of the processor", &at_home),
            (format!("gpu.{name}.learning"), "learning lent", &learning),
            (format!("gpu.{name}.all"), "leaves and learning lent", &all),
        ] {
            let fastest = if median(rounds) >= most { "; the fastest of the three" } else { "" };
            let unit = format!("boards valued/s in whole rounds, {games} games at once, {what}{fastest}");
            give(sink, format!("{name}.evaluations_per_s"), rounds, unit);
        }
    }
    Ok(())
}

fn round(learner: &mut Published) -> Result<(), Fault> {
    loop {
        match learner.advance() {
            Slice::Ended(_) => return Ok(()),
            Slice::Stopped(fault) => return Err(fault),
            Slice::Worked | Slice::Waiting => {}
        }
    }
}

/// Lessons of these decisions: visits and ends by chance.
fn packed_samples(decisions: &[Decision]) -> Vec<PackedSample> {
    let (mut numbers, mut scratch) = (Rng::new(2, 5).sequence(0), Results::new());
    let mut one = |decision: &Decision| {
        let mut sample = [0; SAMPLE];
        sample[..9].copy_from_slice(&decision_words(decision));
        let bare = packed_sample(&sample, &mut scratch);
        let legal = (0..ACTIONS as u32).filter(|&action| is_legal(&bare, action));
        let mut shares = 0;
        for (to, action) in sample[10..].iter_mut().zip(legal) {
            *to = action << 16 | (1 + numbers.below(16));
            shares += 1;
        }
        sample[8] |= shares << 16;
        sample[9] = numbers.below(6);
        packed_sample(&sample, &mut scratch)
    };
    decisions.iter().map(&mut one).collect()
}

fn is_legal(packed_sample: &PackedSample, action: u32) -> bool {
    packed_sample[SAMPLE + (action / 32) as usize] >> (action % 32) & 1 == 1
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
        let plan = plan_learning(Shape::PUBLISHED, SHARD, isa).map_err(refused)?;
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

    fn update(&mut self, decisions: &[Decision], packed_samples: &[PackedSample], adam: &Adam) {
        let (params, packed) = (&self.params, &self.packed);
        par::each_mut(&mut self.shards, |i, (executor, grads)| {
            executor.input_mut("inputs").fill(0.0);
            executor.input_mut("share").fill(0.0);
            for row in 0..SHARD {
                let (decision, packed_sample) = (&decisions[i * SHARD + row], &packed_samples[i * SHARD + row]);
                let inputs = &mut executor.input_mut("inputs")[row * INPUTS..][..INPUTS];
                each_input(decision, |input, x| inputs[input] = x);
                let mask = &mut executor.input_mut("mask")[row * ACTIONS..][..ACTIONS];
                for (action, mask) in (0..).zip(mask) {
                    *mask = if is_legal(packed_sample, action) { 0.0 } else { -1e9 };
                }
                let shares = &packed_sample[10..][..(packed_sample[8] >> 16) as usize];
                let visits: u32 = shares.iter().map(|share| share & 0xFFFF).sum();
                let to = &mut executor.input_mut("share")[row * ACTIONS..][..ACTIONS];
                for share in shares {
                    to[(share >> 16) as usize] = (share & 0xFFFF) as f32 / visits as f32;
                }
                let won = f32::from(u8::from(packed_sample[9] < 3));
                executor.input_mut("outcome")[row * HEADS] = won;
            }
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
