//! What learns: weights and the optimiser's moments, and shards that work on a minibatch together.

use super::inputs::{self, INPUTS};
use super::net::{self, ACTIONS, HEADS, Shape};
use super::replay::{self, Sample};
use graph::{Adam, Executor, Optimizer, Packed, Params, Plan, PlanError};
use math::{Isa, ops, par};
use std::sync::Arc;
use worlds::backgammon::Results;

/// Shards of a minibatch.
pub const SHARDS: usize = 4;
/// Far below any logit, and no less than an f32 can add to one.
const ILLEGAL: f32 = -1e9;

#[derive(Clone)]
pub struct TrainState {
    pub params: Params,
    pub optimizer: Optimizer,
}

pub struct Trainer {
    isa: Isa,
    pub state: TrainState,
    packed: Packed,
    shards: Vec<Shard>,
    grads: Vec<f32>,
    /// Over its steps: policy loss, value loss, length of the gradient before it was clipped.
    pub sums: [f64; 3],
}

impl Trainer {
    pub fn new(shape: Shape, minibatch: usize, seed: u32, isa: Isa) -> Result<Trainer, PlanError> {
        let rows = minibatch / SHARDS;
        let plan = net::plan_learning(shape, rows, isa)?;
        let params = Params::new(plan.table(), seed);
        Ok(Trainer {
            isa,
            packed: Packed::new(&plan, &params),
            shards: (0..SHARDS).map(|_| Shard::new(&plan, rows)).collect(),
            grads: vec![0.0; params.values().len()],
            state: TrainState { optimizer: Optimizer::new(&params), params },
            sums: [0.0; 3],
        })
    }

    /// What computes the gradients of its steps; of several side by side the first.
    pub fn executor_mut(&mut self) -> &mut Executor {
        &mut self.shards[0].executor
    }

    /// After weights were set from outside.
    pub fn pack(&mut self) {
        self.packed.pack(&self.state.params);
    }

    /// One step on the samples that were drawn, by their places.
    pub fn step(&mut self, adam: &Adam, value_coef: f32, samples: &[Sample], drawn: &[u32]) {
        let TrainState { params, optimizer } = &mut self.state;
        let packed = &self.packed;
        let rows = drawn.len() / self.shards.len();
        par::each_mut(&mut self.shards, |i, shard| {
            let mine = drawn[i * rows..][..rows].iter().map(|&place| &samples[place as usize]);
            shard.learn(params, packed, value_coef, mine);
        });
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

/// Works on one shard of each minibatch.
struct Shard {
    executor: Executor,
    grads: Vec<f32>,
    /// Policy and value.
    losses: [f32; 2],
    scratch: Results,
    rows: usize,
}

impl Shard {
    fn new(plan: &Arc<Plan>, rows: usize) -> Shard {
        let grads = vec![0.0; plan.table().len()];
        Shard { executor: Executor::new(plan), grads, losses: [0.0; 2], scratch: Results::new(), rows }
    }

    /// The gradient of these samples, as many as the shard has rows.
    fn learn<'a>(
        &mut self,
        params: &Params,
        packed: &Packed,
        value_coef: f32,
        samples: impl Iterator<Item = &'a Sample>,
    ) {
        self.executor.input_mut("value_coef")[0] = value_coef;
        self.executor.input_mut("inputs").fill(0.0);
        self.executor.input_mut("mask").fill(ILLEGAL);
        self.executor.input_mut("share").fill(0.0);
        for (row, sample) in samples.take(self.rows).enumerate() {
            let Some(decision) = replay::read_decision(sample) else { continue };
            let to = &mut self.executor.input_mut("inputs")[row * INPUTS..][..INPUTS];
            inputs::each(&decision, |input, x| to[input] = x);
            let mask = &mut self.executor.input_mut("mask")[row * ACTIONS..][..ACTIONS];
            replay::legal(&decision, &mut self.scratch).for_each(|action| mask[usize::from(action)] = 0.0);
            let shares = &sample[10..][..(sample[8] >> 16) as usize];
            let sum: u32 = shares.iter().map(|share| share & 0xFFFF).sum();
            let to = &mut self.executor.input_mut("share")[row * ACTIONS..][..ACTIONS];
            for share in shares {
                to[(share >> 16) as usize] = (share & 0xFFFF) as f32 / sum as f32;
            }
            self.executor.input_mut("outcome")[row * HEADS..][..HEADS]
                .copy_from_slice(&net::outcome(sample[9] as usize));
        }
        self.executor.train(params, packed, &mut self.grads, false);
        self.losses = ["policy_loss", "value_loss"].map(|name| self.executor.output(name)[0]);
    }
}
