//! A training step to be timed.

use super::{noise, rounds_s};
use graph::{Adam, Buffer, Executor, Graph, Optimizer, Packed, Params, Plan, models};
use math::{Act, Isa};
use std::sync::Arc;

/// Training steps of a plan: gradients of some runs one after the other, Adam and packing.
pub(crate) struct Training {
    pub(super) plan: Arc<Plan>,
    pub(super) params: Params,
    pub(super) packed: Packed,
    pub(crate) executor: Executor,
    pub(super) grads: Buffer,
    pub(super) optimizer: Optimizer,
    pub(super) adam: Adam,
    /// Whose gradients a step adds up.
    pub(super) runs: usize,
}

impl Training {
    pub(crate) fn new(plan: Plan, adam: Adam, runs: usize) -> Training {
        let plan = Arc::new(plan);
        let params = Params::new(plan.table(), 1);
        Training {
            packed: Packed::new(&plan, &params),
            executor: Executor::new(&plan),
            grads: Buffer::zeros(params.values().len()),
            optimizer: Optimizer::new(&params),
            plan,
            params,
            adam,
            runs,
        }
    }

    /// Of a relu net on the mean squared error.
    pub(super) fn mlp(isa: Isa, batch: usize, widths: &[usize]) -> Training {
        let [inp, .., out] = *widths else { unreachable!("a net has layers") };
        let mut graph = Graph::new();
        let input = graph.input("input", [batch, inp]);
        let target = graph.input("target", [batch, out]);
        let output = models::mlp(&mut graph, input, "net", &widths[1..], Act::Relu);
        let error = graph.sub(output, target);
        let error = graph.square(error);
        let loss = graph.mean_all(error);
        let gradients = graph.gradients(loss);
        let plan = Plan::training(&graph, &[("loss", loss)], &gradients, isa).expect("the net is well formed");
        let mut training = Training::new(plan, Adam::default(), 1);
        training.executor.input_mut("input").copy_from_slice(&noise(batch * inp));
        training.executor.input_mut("target").copy_from_slice(&noise(batch * out));
        training
    }

    pub(super) fn train(&mut self) {
        for run in 0..self.runs {
            self.executor.train(&self.params, &self.packed, &mut self.grads, run > 0);
        }
        self.optimizer.step(self.plan.isa(), &self.adam, &mut self.params, &self.grads);
        self.packed.pack(&self.params);
    }

    pub(super) fn rounds_ms(&mut self, now: &dyn Fn() -> f64) -> Vec<f64> {
        rounds_s(now, || self.train()).into_iter().map(|step_s| 1e3 * step_s).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        let floats = self.params.values().len() + self.grads.len() + self.optimizer.m.len() + self.optimizer.v.len();
        floats * size_of::<f32>()
    }
}
