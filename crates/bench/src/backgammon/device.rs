//! Benchmarks of the published backgammon learner on the GPU (including transfers) and on all CPU threads.
//!
//! The leaf benchmark finds the batch size from which the GPU is faster. The update benchmark finds the faster device for each minibatch
//! size. The run benchmark measures whole rounds (self-play and training), for each part of the work that a run can offload to the GPU.

use super::RandomGame;
use crate::device::{Device, calls_s, refused};
use crate::measure::{Bench, Clock, iterate, rates};
use graph::{Adam, Params};
use learn::backgammon::published::accelerator::{
    Accelerator, Answer, OffloadSpec, PACKED_SAMPLE_WORDS, PackedSample, TrainResult, TrainStateRef, Work, decision_words, packed_sample,
};
use learn::backgammon::published::{ACTIONS, Decision, Evaluator, LocalAccelerator, Shape, Weights, plan_search};
use learn::backgammon::{Published, PublishedConfig};
use learn::{Fault, Learner, Offload, offload};
use math::rounds::{FEW, Quartiles};
use math::{Isa, PANEL, Rng, par};
use worlds::backgammon::Results;

/// Maximum number of rows in a batch on the CPU, because larger batches are not faster.
const PROCESSOR_ROWS: usize = 128;
/// Length in words of a packed sample without the set of legal actions, which comes last.
const SAMPLE: usize = PACKED_SAMPLE_WORDS - ACTIONS.div_ceil(32);

pub fn measure(device: &Device, bench: &mut Bench) -> Result<(), Fault> {
    leaves(device, bench)?;
    updates(device, bench)?;
    runs(device, bench)
}

/// Returns `count` decisions (positions with rolls) from random games.
fn random_decisions(count: usize) -> Vec<Decision> {
    let (mut game, mut results) = (RandomGame::new(Rng::new(1, 5).sequence(0)), Results::new());
    (0..count).map(|_| game.decide(&mut results)).map(|(board, roll)| Decision::new(board, roll)).collect()
}

fn first_weights(isa: Isa) -> Result<Params, Fault> {
    Ok(Params::new(plan_search(Shape::PUBLISHED, PANEL, isa).map_err(refused)?.table(), 1))
}

/// Measures the evaluation of search leaves (positions at the ends of a search tree) for several batch sizes. Reports the batch size from
/// which the GPU is faster.
fn leaves(device: &Device, bench: &mut Bench) -> Result<(), Fault> {
    let (isa, now) = (bench.isa, bench.now);
    let most = if device.is_software() { 1024 } else { 65_536 };
    let decisions = random_decisions(most);
    let params = first_weights(isa)?;
    let mut measured = Vec::new();
    let sizes = std::iter::successors(Some(64), |size| Some(size * 4)).take_while(|&size| size <= most);
    for size in sizes {
        let decisions = &decisions[..size];
        let processor = rates(size as f64, &processor_s(decisions, &params, isa, now)?);
        let device = rates(size as f64, &device_s(device, decisions, &params, isa, now)?);
        let unit = format!("states/s, {size} a batch");
        let name = "backgammon.published.leaves";
        bench.give(format!("gpu.{name}.{size}.states_per_s"), &device, format!("{unit}, with transfers"));
        let beside = format!("{unit}, all CPU threads");
        bench.give(format!("gpu.beside.{name}.{size}.states_per_s"), &processor, beside);
        measured.push((size, Quartiles::of(&processor).median, Quartiles::of(&device).median));
    }
    let (from, unit) = match break_even(&measured) {
        Some(size) => (size, "states per batch, from which the GPU is faster"),
        None => (0, "the CPU is faster for all of these batches"),
    };
    bench.count("gpu.backgammon.published.leaves.worth_from", from as f64, unit);
    Ok(())
}

/// Returns the smallest batch size in `rates` from which on the GPU is faster at every size. Returns `None` if the CPU is faster at the
/// largest size. `rates` contains (batch size, CPU states/s, GPU states/s) in ascending order of batch size.
pub fn break_even(rates: &[(usize, f64, f64)]) -> Option<usize> {
    let lost = rates.iter().rposition(|(_, processor, device)| device <= processor);
    rates.get(lost.map_or(0, |at| at + 1)).map(|rate| rate.0)
}

/// Returns the seconds per batch of search leaves on all CPU threads, in each round. The leaves are divided among the threads. Each thread
/// evaluates its leaves in blocks of at most `PROCESSOR_ROWS`.
fn processor_s(decisions: &[Decision], params: &Params, isa: Isa, now: Clock) -> Result<Vec<f64>, Fault> {
    let size = decisions.len();
    let rows = size.div_ceil(par::threads()).next_multiple_of(PANEL).min(PROCESSOR_ROWS);
    let plan = plan_search(Shape::PUBLISHED, rows, isa).map_err(refused)?;
    let weights = Weights::new(&plan, params);
    let evaluators = size.div_ceil(rows).min(par::threads());
    let share = size.div_ceil(evaluators);
    let mut evaluators: Vec<Evaluator> = (0..evaluators).map(|_| Evaluator::new(&plan, rows)).collect();
    calls_s(now, || {
        par::each_mut(&mut evaluators, |i, evaluator| {
            let mine = &decisions[(i * share).min(size)..((i + 1) * share).min(size)];
            for batch in mine.chunks(rows) {
                evaluator.clear();
                batch.iter().for_each(|decision| evaluator.see(decision));
                evaluator.run(&weights);
            }
        });
        Ok(())
    })
}

/// Returns the seconds per batch of search leaves on the GPU, including transfers, in each round.
fn device_s(device: &Device, decisions: &[Decision], params: &Params, isa: Isa, now: Clock) -> Result<Vec<f64>, Fault> {
    let work = Work { leaves: true, learning: false };
    let spec = OffloadSpec { work, isa, shape: Shape::PUBLISHED, lane_rows: decisions.len(), minibatch: 0, replay: 0 };
    let mut accelerator = offload::request(device.gpu, &spec)?;
    accelerator.set_weights(params.values())?;
    let words: Vec<_> = decisions.iter().map(decision_words).collect();
    let mut answer = Answer::default();
    calls_s(now, || {
        accelerator.ask(0, &words)?;
        while !accelerator.answer(0, &mut answer)? {}
        Ok(())
    })
}

/// Measures updates per second on the GPU and on the CPU. There are several minibatch sizes, but only one size for a software adapter.
fn updates(device: &Device, bench: &mut Bench) -> Result<(), Fault> {
    let (isa, now) = (bench.isa, bench.now);
    let (sizes, steps): (&[usize], usize) = if device.is_software() { (&[256], 2) } else { (&[256, 1024, 4096], 64) };
    for &rows in sizes {
        let samples = packed_samples(&random_decisions(rows));
        let spec = OffloadSpec { work: Work::LEARNING, isa, shape: Shape::PUBLISHED, lane_rows: 0, minibatch: rows, replay: rows };
        let processor = updates_per_s(&mut LocalAccelerator::new(&spec)?, &samples, None, isa, now)?;
        let device = updates_per_s(&mut *offload::request(device.gpu, &spec)?, &samples, Some(steps), isa, now)?;
        let name = format!("backgammon.published.updates.{rows}.per_s");
        let unit = format!("minibatches of {rows} per second");
        let faster = Quartiles::of(&device).median > Quartiles::of(&processor).median;
        let taken = if faster { "GPU faster" } else { "CPU faster" };
        let back = format!("samples on the GPU, weights returned after {steps} steps");
        bench.give(format!("gpu.{name}"), &device, format!("{unit}, {back}; {taken}"));
        bench.give(format!("gpu.beside.{name}"), &processor, format!("{unit}, all CPU threads"));
    }
    Ok(())
}

/// Returns the updates per second in each round. Each update uses all of `samples`. On a GPU, the weights are read back after `back_after`
/// updates. On the CPU, `back_after` is `None`.
fn updates_per_s(
    accelerator: &mut dyn Accelerator,
    samples: &[PackedSample],
    back_after: Option<usize>,
    isa: Isa,
    now: Clock,
) -> Result<Vec<f64>, Fault> {
    let adam = Adam { max_grad_norm: 5.0, ..Adam::default() };
    let params = first_weights(isa)?;
    let none = vec![0.0; params.values().len()];
    accelerator.set_state(&TrainStateRef { weights: params.values(), m: &none, v: &none, steps: 0 })?;
    accelerator.store_samples(0, samples)?;
    let drawn: Vec<u32> = (0..samples.len() as u32).collect();
    let mut learned = TrainResult::default();
    let steps = back_after.unwrap_or(1);
    let rounds_s = calls_s(now, || {
        (0..steps).try_for_each(|_| accelerator.step(&adam, 1.0, &drawn))?;
        if back_after.is_some() {
            accelerator.request_result()?;
            while !accelerator.poll_result(&mut learned)? {}
        }
        Ok(())
    })?;
    Ok(rates(steps as f64, &rounds_s))
}

/// Measures rounds of the published learner in three ways: on the CPU, with learning offloaded, and with leaves and learning offloaded.
/// Each way is measured with few parallel games (the default settings) and with many. A software adapter gets smaller settings.
fn runs(device: &Device, bench: &mut Bench) -> Result<(), Fault> {
    let now = bench.now;
    // Duels are disabled, because only some rounds have a duel.
    let own = PublishedConfig { duel_pairs: 0, ..PublishedConfig::default() };
    let many = PublishedConfig { actors: 32, games: 128, batch: 512, round_batches: 25, ..own.clone() };
    let less = PublishedConfig { evals: 8, replay: 4096, minibatch: 64, passes: 1, ..own.clone() };
    let sizes = match device.is_software() {
        false => [("own", own), ("many", many)],
        true => [
            ("own", PublishedConfig { actors: 2, games: 16, batch: 32, round_batches: 40, ..less.clone() }),
            ("many", PublishedConfig { actors: 4, games: 64, batch: 256, round_batches: 5, ..less }),
        ],
    };
    for (name, config) in sizes {
        let games = config.actors * config.games;
        let mut learner = Published::new(config, 1, bench.isa).map_err(refused)?;
        while !learner.is_steady() {
            iterate(&mut learner)?;
        }
        let mut rounds = |work: Option<Work>| -> Result<Vec<f64>, Fault> {
            learner.end_offload();
            if let Some(work) = work {
                learner.offload_work(device.gpu, work)?;
            }
            let mut rates = Vec::new();
            // The first round is discarded, because it includes one-time preparation.
            for _ in 0..=FEW {
                let (began_s, before) = (now(), learner.progress().evaluations);
                iterate(&mut learner)?;
                rates.push((learner.progress().evaluations - before) as f64 / (now() - began_s));
            }
            Ok(rates.split_off(1))
        };
        let (on_cpu, learning) = (rounds(None)?, rounds(Some(Work::LEARNING))?);
        let all = rounds(Some(Work::ALL))?;
        let median = |rounds: &[f64]| Quartiles::of(rounds).median;
        let most = median(&on_cpu).max(median(&learning)).max(median(&all));
        let name = format!("backgammon.published.run.{name}");
        for (name, what, rounds) in [
            (format!("gpu.beside.{name}"), "all on CPU threads", &on_cpu),
            (format!("gpu.{name}.learning"), "learning offloaded", &learning),
            (format!("gpu.{name}.all"), "leaves and learning offloaded", &all),
        ] {
            let fastest = if median(rounds) >= most { "; fastest of the three" } else { "" };
            let unit = format!("evaluations/s in whole rounds, {games} parallel games, {what}{fastest}");
            bench.give(format!("{name}.evaluations_per_s"), rounds, unit);
        }
    }
    Ok(())
}

/// Returns packed training samples of `decisions`, with random visit counts and random outcomes.
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
