//! Training of the transformer. An optimiser step splits a batch into runs of `micro` sequences, adds up the gradients of all runs, and
//! updates the weights with AdamW. A slice executes only a part of a run, so that slices of large models are also short.
//!
//! The matrix products of small models are too short to be parallelised. Small models instead have several lanes (executors). The lanes
//! compute different runs of the same step in parallel.

mod offload;
mod offloaded;

use super::config::{Config, WordsError};
use super::model::plan_training;
use crate::offload::{self as machines, OffloadSlots};
use crate::progress;
use crate::settings::Settings;
use crate::state::{LONGEST, counters, load, partial, save, save_partial, tensors};
use crate::{Data, Failure, Find, Iteration, Learner, Offload, Parts, Slice, Tensor, WorkedOn};
use graph::{Executor, Optimizer, Packed, Params};
use math::par::{self, CHUNK};
use math::{Binary, Buffer, Isa, Span};
use offloaded::Offloaded;
use std::ops::Range;
use std::sync::Arc;
use worlds::words::{Batches, Corpus};

/// Maximum number of parameters of a small model, which can have several lanes.
const SMALL: usize = 1 << 21;
/// Maximum number of lanes.
const LANES: usize = 4;

/// Executor that computes the gradients of some runs of each step. A lane processes its runs one after the other. A run has `micro`
/// sequences.
struct Lane {
    executor: Executor,
    grads: Buffer,
}

progress! {
    /// Number of tokens used in training. A token counts once per use.
    tokens,
    /// Number of optimiser steps.
    steps,
}

/// Statistics of one iteration. An offloaded learner estimates `loss` from the last run of the plan, and `grad_norm` from the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Mean loss of the steps, in nats per token.
    pub loss: f64,
    /// Mean gradient norm before clipping.
    pub grad_norm: f64,
    /// Mean learning rate.
    pub lr: f64,
    /// Number of passes over the training text since the start of training.
    pub epochs: f64,
    /// Seconds spent on gradients, then seconds spent on updates.
    pub parts_s: [f64; 2],
    pub tokens: u64,
    pub finite: bool,
}

impl From<Stats> for Iteration {
    fn from(stats: Stats) -> Iteration {
        let Stats { loss, grad_norm, lr, epochs, parts_s: [gradient, update], tokens, finite } = stats;
        let metrics = [("loss", loss), ("epochs", epochs), ("lr", lr), ("grad_norm", grad_norm)];
        Iteration {
            metrics: metrics.map(|(name, value)| (name, Some(value))).to_vec(),
            parts_s: vec![("gradient", gradient), ("update", update)],
            failure: Failure::unless(finite),
            work: Some(tokens as f64),
        }
    }
}

/// Learner of a language model; see the module's documentation.
pub struct Pretrainer {
    config: Config,
    isa: Isa,
    seed: u32,
    params: Params,
    optimizer: Optimizer,
    packed: Packed,
    /// Lanes of the model. At the end of a step, the gradients of all other lanes are added to those of the first lane.
    lanes: Vec<Lane>,
    /// For each slice of a run (the gradient computation for `micro` sequences), the range of the plan's kernel calls that the slice
    /// executes.
    slices: Vec<Range<usize>>,
    corpus: Arc<Corpus>,
    batches: Batches,
    /// Number of completed steps of the iteration.
    step: usize,
    /// Number of runs that each lane has completed in the current step.
    round: usize,
    /// Number of completed slices of the current run.
    slice: usize,
    progress: Progress,
    sums: Stats,
    /// Sum of the losses of the iteration's completed steps.
    loss_before: f64,
    diverged: bool,
    clock: fn() -> f64,
    away: OffloadSlots<Offloaded>,
    /// True if β₁ or β₂ changed since the machine with offloaded work was prepared. The machine keeps powers of β₁ and β₂, so it must be
    /// prepared again.
    betas_changed: bool,
}

impl Pretrainer {
    /// Returns the memory of a learner in bytes, without its text. Returns an error if the settings are invalid or a kernel call would take
    /// too long.
    pub fn bytes(config: &Config) -> Result<u64, WordsError> {
        config.check()?;
        let plan = plan_training(config, window_tokens(config), 0, Isa::best())?;
        if plan.longest_call() > LONGEST {
            return Err(WordsError::Long { rows: config.micro * config.shape.context });
        }
        let lanes = lanes(config, plan.table().len()) as u64;
        let (arena, params) = (plan.arena_bytes(), plan.table().bytes());
        // `5 * params`: the weights, two moments and two packed copies, which all lanes share. Each lane has its own gradients.
        Ok(lanes * (arena + params) + 5 * params)
    }

    /// Creates a learner that trains on the training part of `corpus`. `corpus` must have the context length and the vocabulary of the
    /// model.
    pub fn new(config: Config, corpus: &Arc<Corpus>, seed: u32, isa: Isa) -> Result<Pretrainer, WordsError> {
        config.check()?;
        // The plan's input contains only the windows of one run, so that the text may have any length.
        let plan = Arc::new(plan_training(&config, window_tokens(&config), seed, isa)?);
        let params = Params::new(plan.table(), seed);
        let lane = || {
            let mut executor = Executor::new(&plan);
            executor.input_mut("starts").copy_from_slice(&window_starts(&config));
            Lane { executor, grads: Buffer::zeros(params.values().len()) }
        };
        Ok(Pretrainer {
            lanes: std::iter::repeat_with(lane).take(lanes(&config, params.values().len())).collect(),
            optimizer: Optimizer::new(&params),
            packed: Packed::new(&plan, &params),
            slices: plan.parts(par::TURN / lanes(&config, params.values().len()) as f64),
            batches: corpus.batches(seed, config.batch),
            corpus: corpus.clone(),
            params,
            step: 0,
            round: 0,
            slice: 0,
            progress: Progress::default(),
            sums: Stats::default(),
            loss_before: 0.0,
            diverged: false,
            clock: || 0.0,
            away: OffloadSlots::NONE,
            betas_changed: false,
            config,
            isa,
            seed,
        })
    }

    /// Restores a learner from its [`Pretrainer::parts`]. The settings, the text and the seed must be those of the saved learner. Training
    /// then continues bit-identically.
    pub fn restore(config: Config, corpus: &Arc<Corpus>, seed: u32, isa: Isa, find: &Find) -> Result<Pretrainer, WordsError> {
        let mut it = Pretrainer::new(config, corpus, seed, isa)?;
        let table = it.params.table().clone();
        let Optimizer { m, v, .. } = &mut it.optimizer;
        load(find, &table, [("", it.params.values_mut()), ("adam.m.", m), ("adam.v.", v)])?;
        let [iterations, steps, tokens, taken] = counters(find, "counters")?;
        it.progress = Progress { iterations, tokens, steps };
        it.optimizer.steps = taken;
        if let Some([step, loss, grad_norm, lr]) = partial(find)? {
            it.step = step as usize;
            it.sums = Stats { loss, grad_norm, lr, ..Stats::default() };
            it.loss_before = loss;
        }
        it.packed.pack(&it.params);
        Ok(it)
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn isa(&self) -> Isa {
        self.isa
    }

    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Changes the settings. Returns an error if [`Config::can_become`] returns false. Call this method only between two iterations.
    pub fn set(&mut self, config: Config) -> Result<(), WordsError> {
        config.check()?;
        if !self.config.can_become(&config) {
            return Err(WordsError::Fixed);
        }
        self.betas_changed |= (config.beta1, config.beta2) != (self.config.beta1, self.config.beta2);
        self.config = config;
        Ok(())
    }

    /// Executes one slice of a run in each lane.
    fn compute(&mut self) {
        let Config { batch, micro, dropout, .. } = self.config;
        let rounds = batch / micro / self.lanes.len();
        if self.slice == 0 {
            for (i, lane) in self.lanes.iter_mut().enumerate() {
                let run = i * rounds + self.round;
                let starts = self.batches.starts(self.progress.steps).skip(run * micro);
                copy_windows(&self.corpus, starts, lane.executor.input_mut("corpus"));
                if dropout > 0.0 {
                    let run = self.progress.steps * (batch / micro) as u64 + run as u64;
                    lane.executor.input_mut("step")[0] = (run % MOST_RUNS) as f32;
                }
            }
        }
        let (calls, adds) = (self.slices[self.slice].clone(), self.round > 0);
        let (params, packed) = (&self.params, &self.packed);
        par::each_apart(&mut self.lanes, |_, Lane { executor, grads }| {
            executor.train_part(params, packed, grads, adds, calls.clone());
        });
        self.slice += 1;
        if self.slice == self.slices.len() {
            self.sums.loss += self.lanes.iter().map(|lane| f64::from(lane.executor.output("loss")[0])).sum::<f64>();
            self.round += 1;
            if self.round < rounds {
                self.slice = 0;
            }
        }
    }

    fn finish(&mut self) -> Stats {
        let count = std::mem::take(&mut self.step);
        let steps = count as f64;
        self.progress.iterations += 1;
        self.loss_before = 0.0;
        let Stats { loss, grad_norm, lr, parts_s, .. } = std::mem::take(&mut self.sums);
        self.diverged = !(loss.is_finite() && grad_norm.is_finite());
        Stats {
            loss: loss / steps,
            grad_norm: grad_norm / steps,
            lr: lr / steps,
            epochs: self.progress.tokens as f64 / self.corpus.train().len() as f64,
            parts_s,
            tokens: (count * self.config.step_tokens()) as u64,
            finite: self.is_finite(),
        }
    }
}

impl Learner for Pretrainer {
    type Stats = Stats;
    type Progress = Progress;

    crate::learner_settings!(config, set, Config::check);

    fn advance(&mut self) -> Slice<Stats> {
        if self.away.is_offloaded() {
            return machines::advance(self);
        }
        let began = (self.clock)();
        if self.slice < self.slices.len() {
            self.compute();
            self.sums.parts_s[0] += (self.clock)() - began;
            return Slice::Worked;
        }
        let adam = self.config.adam(self.optimizer.steps);
        let (sum, others) = self.lanes.split_first_mut().expect("there is one");
        add_up(self.isa, &mut sum.grads, others);
        let norm = self.optimizer.step(self.isa, &adam, &mut self.params, &sum.grads);
        self.packed.pack(&self.params);
        self.sums.grad_norm += f64::from(norm);
        self.sums.lr += f64::from(adam.lr);
        self.sums.parts_s[1] += (self.clock)() - began;
        (self.round, self.slice, self.loss_before) = (0, 0, self.sums.loss);
        self.step += 1;
        self.progress.steps += 1;
        self.progress.tokens += self.config.step_tokens() as u64;
        if self.step < self.config.steps { Slice::Worked } else { Slice::Ended(self.finish()) }
    }

    fn at_boundary(&self) -> bool {
        self.step == 0 && self.round == 0 && self.slice == 0
    }

    fn saves_mid_iteration(&self) -> bool {
        !self.away.is_offloaded()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn weights(&self) -> &[f32] {
        self.params.values()
    }

    fn tensors(&self) -> Vec<Tensor<'_>> {
        tensors(self.params.table(), self.params.values(), &self.optimizer.m)
    }

    /// Returns the weights, Adam's moments and the counters after the latest completed step. There are three arrays for each parameter: the
    /// weights, with nanoGPT's name, and the two moments.
    fn parts(&self) -> Parts {
        let Optimizer { m, v, steps: taken } = &self.optimizer;
        let mut parts = save(self.params.table(), [("", self.params.values()), ("adam.m.", m), ("adam.v.", v)]);
        let Progress { iterations, steps, tokens } = self.progress;
        parts.push(("counters".into(), vec![4], Data::U64(vec![iterations, steps, tokens, *taken])));
        if self.step > 0 {
            let Stats { grad_norm, lr, .. } = self.sums;
            parts.push(save_partial([self.step as f64, self.loss_before, grad_norm, lr]));
        }
        parts
    }

    fn is_finite(&self) -> bool {
        let all = [self.params.values(), &self.optimizer.m, &self.optimizer.v];
        !self.diverged && all.iter().all(|values| values.iter().all(|x| x.is_finite()))
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }

    fn executor_mut(&mut self) -> Option<&mut Executor> {
        Some(&mut self.lanes[0].executor)
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Ok(self)
    }

    fn worked_on(&self) -> WorkedOn {
        WorkedOn::of(self.away.is_offloaded())
    }
}

/// Returns the number of lanes: for small models, the largest number up to `LANES` that divides the number of runs per step; for large
/// models, 1. The result depends on the settings, not on the number of threads.
fn lanes(config: &Config, params: usize) -> usize {
    let runs = config.batch / config.micro;
    let most = if params <= SMALL { LANES } else { 1 };
    (1..=most).rev().find(|&lanes| runs.is_multiple_of(lanes)).unwrap_or(1)
}

/// Adds the gradients of each lane in `others` to `sum`.
fn add_up(isa: Isa, sum: &mut [f32], others: &[Lane]) {
    if others.is_empty() {
        return;
    }
    par::inside(|| {
        par::chunks_mut([sum], [CHUNK], |i, [sum]| {
            for other in others {
                let (cols, other) = (sum.len(), &other.grads[i * CHUNK..][..sum.len()]);
                math::ops::binary_in_place(isa, Binary::Add, 1, cols, sum, (other, Span::Full));
            }
        });
    });
}

/// Returns the number of tokens in all windows of a run. A window consists of a sequence and the target of the sequence's last token.
fn window_tokens(config: &Config) -> usize {
    config.micro * (config.shape.context + 1)
}

fn window_starts(config: &Config) -> Vec<f32> {
    (0..config.micro).map(|i| (i * (config.shape.context + 1)) as f32).collect()
}

/// Copies the windows of the text that begin at the token indices `starts`, as many windows as fit into `to`. A window has one token more
/// than the context.
fn copy_windows(corpus: &Corpus, starts: impl Iterator<Item = usize>, to: &mut [f32]) {
    let length = corpus.context() + 1;
    for (to, start) in to.chunks_exact_mut(length).zip(starts) {
        to.iter_mut().zip(corpus.tokens(start..start + length)).for_each(|(to, token)| *to = token as f32);
    }
}

/// Number of runs after which the dropout masks repeat. Whole numbers up to this limit are exact in f32.
const MOST_RUNS: u64 = 1 << 24;
