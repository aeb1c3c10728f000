//! Gradient of a minibatch: samples are gathered in shuffled order and split into equal shards. Left-over samples are dropped.
//!
//! A shard has at most 512 samples. Shards form at most 16 groups, each with its own memory, and threads process groups in parallel.
//! Gradients are added in group order, so that the sums do not depend on the number of threads.

use super::actor::Actor;
use super::config::PpoConfig;
use super::nets::{METRICS, Task};
use super::rollout::{LANES, REST};
use super::stats::LossSums;
use graph::{Executor, Packed, Params, Plan};
use math::Shuffle;
use math::par;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of samples in a shard.
const SHARD: usize = 512;
/// Maximum number of samples in a shard of a small minibatch; larger shards would leave threads idle.
const SMALL_SHARD: usize = 256;
/// Maximum number of shards of a small minibatch, and minimum number of shards of a larger minibatch. A minibatch is small if it has at
/// most `PARALLEL_SHARDS * SMALL_SHARD` samples.
const PARALLEL_SHARDS: usize = 8;
/// Maximum number of groups. Groups are computed in parallel.
const GROUPS: usize = 16;
/// Number of samples that [`Minibatch::copy`] copies as a batch. The indices of all samples of a batch are computed before the first sample
/// is copied.
const BATCH: usize = 64;

/// Split of a minibatch into equal shards. Samples that remain after an uneven split are dropped.
#[derive(Clone, Copy)]
pub(super) struct Sharding {
    /// Number of samples in a shard.
    pub rows: usize,
    /// Number of shards in a minibatch.
    pub shards: usize,
}

impl Sharding {
    pub fn of(config: &PpoConfig) -> Self {
        let minibatch = config.envs * config.rollout_steps / config.minibatches;
        let shards = minibatch.div_ceil(SHARD).max(minibatch.div_ceil(SMALL_SHARD).min(PARALLEL_SHARDS));
        Self { rows: minibatch / shards, shards }
    }

    pub fn groups(self) -> usize {
        self.shards.min(GROUPS)
    }
}

pub(super) struct Gradients {
    pub plan: Arc<Plan>,
    pub sharding: Sharding,
    packed: Packed,
    workers: Vec<Worker>,
    /// Gradient of the latest minibatch: the mean over its samples.
    pub mean: Vec<f32>,
}

impl Gradients {
    pub fn new(plan: Arc<Plan>, params: &Params, sharding: Sharding, task: Task) -> Self {
        Self {
            packed: Packed::new(&plan, params),
            workers: (0..sharding.groups()).map(|_| Worker::new(&plan, sharding.rows, task)).collect(),
            mean: vec![0.0; plan.table().len()],
            plan,
            sharding,
        }
    }

    /// Returns the size, in bytes, of the intermediate values and the sample buffers of all groups. Parameters and gradient vectors are not
    /// included.
    pub fn bytes(plan: &Plan, sharding: Sharding, task: Task) -> f64 {
        let samples = 4.0 * sharding.rows as f64 * task.sample_len() as f64;
        sharding.groups() as f64 * (plan.arena_bytes() as f64 + samples)
    }

    /// Repacks the weights after a change of `params`.
    pub fn pack(&mut self, params: &Params) {
        self.packed.pack(params);
    }

    /// Processes one slice of a minibatch: some shards of each group, from the shard with index `from` within the group. Returns `from` for
    /// the next slice, or `None` after the last slice. After the last slice, `mean` contains the gradient, and the metrics have been added
    /// to `sums`.
    pub fn compute(&mut self, minibatch: Minibatch, from: usize, sums: &mut LossSums) -> Option<usize> {
        let Self { sharding: Sharding { rows, shards }, packed, workers, mean, .. } = self;
        let (rows, shards, groups) = (*rows, *shards, workers.len());
        let work = (3 * rows * mean.len() * groups) as f64;
        let to = from + (par::TURN / work).max(1.0) as usize;
        par::each_mut(workers, |group, worker| {
            let [begin, end] = [group, group + 1].map(|group| group * shards / groups);
            let places = |shard: usize| minibatch.first + shard.min(end) * rows;
            worker.learn(minibatch, packed, places(begin + from)..places(begin + to), from == 0, group == 0);
        });
        if to < shards.div_ceil(groups) {
            return Some(to);
        }
        mean.fill(0.0);
        for worker in workers {
            mean.iter_mut().zip(&worker.grads).for_each(|(sum, g)| *sum += g);
            sums.metrics.iter_mut().zip(worker.metrics).for_each(|(sum, m)| *sum += m / shards as f64);
        }
        mean.iter_mut().for_each(|g| *g /= shards as f32);
        None
    }

    /// Returns the executor of the first worker.
    pub fn executor_mut(&mut self) -> &mut Executor {
        &mut self.workers[0].executor
    }

    /// Returns two durations of the first worker in the latest minibatch, in seconds: gathering samples, and computing the gradient.
    pub fn seconds(&self) -> [f64; 2] {
        self.workers[0].seconds
    }
}

/// Worker that processes the shards of one group, one after the other.
struct Worker {
    executor: Executor,
    task: Task,
    /// Samples of the shard in progress, `[rows][Task::sample_len]`.
    samples: Vec<f32>,
    rows: usize,
    /// Sum of the gradients of this group's shards.
    grads: Vec<f32>,
    metrics: [f64; METRICS.len()],
    /// Seconds spent on gathering samples, then seconds spent on the gradient. Only the first worker measures them.
    seconds: [f64; 2],
}

/// Inputs for learning from a minibatch. A shuffle index is a position in the shuffled order of the actors' samples. The minibatch consists
/// of the samples at a range of shuffle indices.
#[derive(Clone, Copy)]
pub struct Minibatch<'a> {
    pub config: &'a PpoConfig,
    pub params: &'a Params,
    pub actors: &'a [Actor],
    pub shuffle: Shuffle,
    /// First shuffle index of the minibatch.
    pub first: usize,
    /// Mean of the iteration's advantages, and the reciprocal of their standard deviation. If advantages are not normalised, the values are
    /// 0 and 1.
    pub advantages: (f32, f32),
    pub clock: fn() -> f64,
}

impl Minibatch<'_> {
    /// Copies the samples with shuffle indices from `first` on, as many as fit into `to`. Each sample has `W` values.
    pub fn copy<const W: usize>(&self, first: usize, to: &mut [f32]) {
        let actor_samples = (LANES * self.config.rollout_steps) as u32;
        // The samples are scattered in memory. Because the indices of a batch are computed first, the processor can load many samples at
        // once.
        for (batch, to) in to.as_chunks_mut::<W>().0.chunks_mut(BATCH).enumerate() {
            let mut places = [[0; 2]; BATCH];
            for (i, place) in places.iter_mut().enumerate().take(to.len()) {
                let index = self.shuffle.at((first + batch * BATCH + i) as u32);
                *place = [index / actor_samples, index % actor_samples];
            }
            for (to, [actor, row]) in to.iter_mut().zip(places) {
                *to = self.actors[actor as usize].samples.as_chunks::<W>().0[row as usize];
            }
        }
    }

    /// Copies samples as [`Self::copy`] does, for a number of values per sample that is known only at run time.
    pub fn copy_any(&self, first: usize, width: usize, to: &mut [f32]) {
        let actor_samples = (LANES * self.config.rollout_steps) as u32;
        for (place, to) in to.chunks_exact_mut(width).enumerate() {
            let index = self.shuffle.at((first + place) as u32);
            let (actor, row) = (index / actor_samples, (index % actor_samples) as usize);
            to.copy_from_slice(&self.actors[actor as usize].samples[row * width..][..width]);
        }
    }
}

impl Worker {
    fn new(plan: &Arc<Plan>, rows: usize, task: Task) -> Self {
        Self {
            task,
            executor: Executor::new(plan),
            samples: vec![0.0; rows * task.sample_len()],
            rows,
            grads: vec![0.0; plan.table().len()],
            metrics: [0.0; METRICS.len()],
            seconds: [0.0; 2],
        }
    }

    /// Computes gradients and metrics of the samples with the shuffle indices `places`, one shard of `rows` samples at a time. If `begins`
    /// is true, the results overwrite the worker's sums; otherwise the results are added to the sums. If `timed` is true, the durations are
    /// measured.
    fn learn(&mut self, with: Minibatch, packed: &Packed, places: Range<usize>, begins: bool, timed: bool) {
        if begins {
            self.metrics = [0.0; METRICS.len()];
            self.seconds = [0.0; 2];
        }
        let config = with.config;
        for (name, value) in [("clip", config.clip), ("entropy_coef", config.entropy), ("value_coef", config.value_coef)] {
            self.executor.input_mut(name)[0] = value;
        }
        let now = || if timed { (with.clock)() } else { 0.0 };
        let first = places.start;
        for place in places.step_by(self.rows) {
            let began_s = now();
            self.gather(with, place);
            let gathered_s = now();
            self.executor.train(with.params, packed, &mut self.grads, !begins || place > first);
            for (sum, name) in self.metrics.iter_mut().zip(METRICS) {
                *sum += f64::from(self.executor.output(name)[0]);
            }
            self.seconds[0] += gathered_s - began_s;
            self.seconds[1] += now() - gathered_s;
        }
    }

    fn gather(&mut self, with: Minibatch, first: usize) {
        let (features, numbers, width) = (self.task.observation, self.task.head.numbers(), self.task.sample_len());
        let samples = &mut self.samples;
        // A copy of constant size compiles to a few move instructions.
        match width {
            6 => with.copy::<6>(first, samples),
            7 => with.copy::<7>(first, samples),
            8 => with.copy::<8>(first, samples),
            10 => with.copy::<10>(first, samples),
            12 => with.copy::<12>(first, samples),
            _ => with.copy_any(first, width, samples),
        }
        let observations = self.executor.input_mut("observation").chunks_exact_mut(features);
        for (to, sample) in observations.zip(self.samples.chunks_exact(width)) {
            to.iter_mut().zip(sample).for_each(|(to, &x)| *to = x);
        }
        let actions = self.executor.input_mut("action").chunks_exact_mut(numbers);
        for (to, sample) in actions.zip(self.samples.chunks_exact(width)) {
            to.iter_mut().zip(&sample[features..]).for_each(|(to, &x)| *to = x);
        }
        if self.task.mask > 0 {
            let masks = self.executor.input_mut("mask").chunks_exact_mut(self.task.mask);
            for (to, sample) in masks.zip(self.samples.chunks_exact(width)) {
                to.copy_from_slice(&sample[features + numbers + REST..]);
            }
        }
        let (mean, scale) = with.advantages;
        let mut column = |name, of: &dyn Fn(&[f32; REST]) -> f32| {
            let columns = self.executor.input_mut(name);
            for (to, sample) in columns.iter_mut().zip(self.samples.chunks_exact(width)) {
                *to = of(sample[features + numbers..].as_chunks().0.first().expect("three numbers"));
            }
        };
        column("old_log_prob", &|s| s[0]);
        column("advantage", &|s| (s[1] - mean) * scale);
        column("return", &|s| s[1] + s[2]);
        if with.config.clip_value {
            column("old_value", &|s| s[2]);
        }
    }
}
