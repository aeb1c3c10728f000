//! Trainer of the published learner: weights, optimizer moments, and shards that process a minibatch in parallel.

use super::inputs::{self, INPUTS};
use super::net::{self, ACTIONS, HEADS, Shape};
use super::replay::{self, Sample};
use super::tree;
use crate::state::LONGEST;
use graph::{Adam, Executor, Optimizer, Packed, Params, Plan, PlanError};
use math::{Isa, ops, par};
use std::ops::Range;
use std::sync::Arc;
use worlds::backgammon::Results;

/// Number of shards, the equal parts of a minibatch that are processed in parallel.
pub const SHARDS: usize = 4;
/// Number that is added to the logits of illegal actions. It is far below any logit, and the sum is finite in f32.
const ILLEGAL: f32 = -1e9;

#[derive(Clone)]
pub struct TrainState {
    pub params: Params,
    pub optimizer: Optimizer,
}

/// Division of an optimizer step into pieces. A piece runs a part of the plan for some of the shards. A small step is one piece.
pub struct Cut {
    /// Maximum number of multiply-adds of a piece.
    pub piece: f64,
    parts: Vec<Range<usize>>,
    /// Number of shards in a piece.
    group_size: usize,
}

impl Cut {
    /// Divides a step into pieces of at most `longest` multiply-adds. A single matrix product is never divided, so its piece may be longer.
    pub fn new(plan: &Plan, shape: Shape, minibatch: usize, longest: f64) -> Cut {
        let whole = 3.0 * minibatch as f64 * shape.products() as f64;
        let product = plan.longest_call();
        let group_size = ((longest / product) as usize).clamp(1, SHARDS);
        let parts = plan.parts(longest / group_size as f64);
        Cut { piece: whole.min(longest.max(product)), parts, group_size }
    }

    pub fn pieces(&self) -> usize {
        self.parts.len() * self.groups()
    }

    /// Returns the number of groups of shards.
    fn groups(&self) -> usize {
        SHARDS.div_ceil(self.group_size)
    }

    /// Returns the indices of the shards that piece `n` processes, and the range of the plan's calls that the piece runs.
    fn piece(&self, n: usize) -> (Range<usize>, Range<usize>) {
        let first = n % self.groups() * self.group_size;
        (first..SHARDS.min(first + self.group_size), self.parts[n / self.groups()].clone())
    }
}

pub struct Trainer {
    isa: Isa,
    pub cut: Cut,
    /// Number of completed pieces of the current step.
    done: usize,
    pub state: TrainState,
    packed: Packed,
    shards: Vec<Shard>,
    grads: Vec<f32>,
    /// Sums over the optimizer steps of a round: policy loss, value loss, gradient norm before clipping.
    pub sums: [f64; 3],
}

impl Trainer {
    pub fn new(shape: Shape, minibatch: usize, seed: u32, isa: Isa) -> Result<Trainer, PlanError> {
        let rows = minibatch / SHARDS;
        let plan = net::plan_learning(shape, rows, isa)?;
        let params = Params::new(plan.table(), seed);
        Ok(Trainer {
            isa,
            // A piece is at most half a slice, because the actors use the other half.
            cut: Cut::new(&plan, shape, minibatch, LONGEST / 2.0),
            done: 0,
            packed: Packed::new(&plan, &params),
            shards: (0..SHARDS).map(|_| Shard::new(&plan, rows)).collect(),
            grads: vec![0.0; params.values().len()],
            state: TrainState { optimizer: Optimizer::new(&params), params },
            sums: [0.0; 3],
        })
    }

    /// Returns the executor that computes the gradients of the first shard.
    pub fn executor_mut(&mut self) -> &mut Executor {
        &mut self.shards[0].executor
    }

    /// Packs the weights after a caller has set them.
    pub fn pack(&mut self) {
        self.packed.pack(&self.state.params);
    }

    /// Returns true if no optimizer step is in progress.
    pub fn is_between_steps(&self) -> bool {
        self.done == 0
    }

    /// Discards the completed pieces of the current step.
    pub fn abandon(&mut self) {
        self.done = 0;
    }

    /// Runs the next piece of an optimizer step. `drawn` are the indices of the minibatch in `samples`. Returns true if the piece completes
    /// the step.
    pub fn advance(&mut self, adam: &Adam, value_coef: f32, samples: &[Sample], drawn: &[u32]) -> bool {
        let (shards, part) = self.cut.piece(self.done);
        let (params, packed) = (&self.state.params, &self.packed);
        let rows = drawn.len() / SHARDS;
        let first = shards.start;
        par::each_mut(&mut self.shards[shards], |i, shard| {
            if part.start == 0 {
                let mine = &drawn[(first + i) * rows..][..rows];
                shard.read(value_coef, mine.iter().map(|&place| &samples[place as usize]));
            }
            shard.learn(params, packed, part.clone());
        });
        self.done += 1;
        if self.done < self.cut.pieces() {
            return false;
        }
        self.done = 0;
        self.end_step(adam);
        true
    }

    /// Runs a whole optimizer step.
    pub fn step(&mut self, adam: &Adam, value_coef: f32, samples: &[Sample], drawn: &[u32]) {
        while !self.advance(adam, value_coef, samples, drawn) {}
    }

    /// Runs the optimizer with the mean gradient of all shards.
    fn end_step(&mut self, adam: &Adam) {
        let TrainState { params, optimizer } = &mut self.state;
        self.shards.iter_mut().for_each(Shard::end);
        let scale = 1.0 / self.shards.len() as f32;
        self.grads.fill(0.0);
        for shard in &self.shards {
            ops::add_scaled(self.isa, scale, &shard.grads, &mut self.grads);
            self.sums[0] += f64::from(shard.losses[0]) * f64::from(scale);
            self.sums[1] += f64::from(shard.losses[1]) * f64::from(scale);
        }
        self.sums[2] += f64::from(optimizer.step(self.isa, adam, params, &self.grads));
        self.packed.pack(params);
    }
}

/// Executor and gradients of one shard of the minibatch.
struct Shard {
    executor: Executor,
    grads: Vec<f32>,
    /// Policy loss and value loss of the last step.
    losses: [f32; 2],
    scratch: Results,
    rows: usize,
}

impl Shard {
    fn new(plan: &Arc<Plan>, rows: usize) -> Shard {
        let grads = vec![0.0; plan.table().len()];
        Shard { executor: Executor::new(plan), grads, losses: [0.0; 2], scratch: Results::new(), rows }
    }

    /// Writes the samples to the executor's inputs, one sample per row.
    fn read<'a>(&mut self, value_coef: f32, samples: impl Iterator<Item = &'a Sample>) {
        self.executor.input_mut("value_coef")[0] = value_coef;
        self.executor.input_mut("inputs").fill(0.0);
        self.executor.input_mut("mask").fill(ILLEGAL);
        self.executor.input_mut("share").fill(0.0);
        for (row, sample) in samples.take(self.rows).enumerate() {
            let Some(decision) = replay::read_decision(sample) else { continue };
            let to = &mut self.executor.input_mut("inputs")[row * INPUTS..][..INPUTS];
            inputs::write(&decision, to);
            let mask = &mut self.executor.input_mut("mask")[row * ACTIONS..][..ACTIONS];
            tree::legal(&decision, &mut self.scratch).for_each(|action| mask[usize::from(action)] = 0.0);
            let shares = &sample[10..][..(sample[8] >> 16) as usize];
            let sum: u32 = shares.iter().map(|share| share & 0xFFFF).sum();
            let to = &mut self.executor.input_mut("share")[row * ACTIONS..][..ACTIONS];
            for share in shares {
                to[(share >> 16) as usize] = (share & 0xFFFF) as f32 / sum as f32;
            }
            self.executor.input_mut("outcome")[row * HEADS..][..HEADS].copy_from_slice(&net::outcome(sample[9] as usize));
        }
    }

    /// Runs the calls in the range `part` of the gradient plan.
    fn learn(&mut self, params: &Params, packed: &Packed, part: Range<usize>) {
        self.executor.train_part(params, packed, &mut self.grads, false, part);
    }

    fn end(&mut self) {
        self.losses = ["policy_loss", "value_loss"].map(|name| self.executor.output(name)[0]);
    }
}
