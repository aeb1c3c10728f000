//! Executions of a plan (list of kernel calls) for timing: forward passes only, or whole training steps.

use crate::measure::{Clock, noise, rates_and_shares};
use graph::{Adam, Executor, Graph, Optimizer, Packed, Params, Plan, models};
use math::peak::Peak;
use math::rounds::{ROUND_S, ROUNDS, sustained_s};
use math::{Act, Buffer, Isa};
use std::sync::Arc;

/// Forward passes of a plan with its initial weights.
pub struct Inference {
    params: Params,
    packed: Packed,
    pub executor: Executor,
    gflop: f64,
}

impl Inference {
    pub fn new(plan: impl Into<Arc<Plan>>) -> Inference {
        let plan = plan.into();
        let params = Params::new(plan.table(), 1);
        Inference { packed: Packed::new(&plan, &params), executor: Executor::new(&plan), gflop: 2e-9 * plan.multiply_adds(), params }
    }

    pub fn run(&mut self) {
        self.executor.run(&self.params, &self.packed);
    }

    /// Measures forward passes on batches of random inputs. Returns the states per second and the share of the peak, in each round.
    pub fn rates_and_shares(&mut self, input: &str, batch: usize, peak: &Peak, now: Clock) -> [Vec<f64>; 2] {
        let input = self.executor.input_mut(input);
        input.copy_from_slice(&noise(input.len()));
        rates_and_shares(ROUNDS, peak, self.gflop / batch as f64, now, || batch as f64 / sustained_s(ROUND_S, &now, || self.run()))
    }
}

/// Training steps of a plan. A step sums the gradients of several executions of the plan, runs Adam, and packs the weights into the layout
/// of the kernels.
pub struct Training {
    pub plan: Arc<Plan>,
    pub params: Params,
    pub packed: Packed,
    pub executor: Executor,
    pub grads: Buffer,
    pub optimizer: Optimizer,
    pub adam: Adam,
    /// Number of executions of the plan whose gradients a step sums.
    pub runs: usize,
}

impl Training {
    pub fn new(plan: Plan, adam: Adam, runs: usize) -> Training {
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

    /// Creates training steps that minimise the mean squared error of a ReLU network. `widths` are the numbers of inputs, hidden units and
    /// outputs.
    pub fn mlp(isa: Isa, batch: usize, widths: &[usize]) -> Training {
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

    pub fn train(&mut self) {
        self.gradients();
        self.step();
        self.packed.pack(&self.params);
    }

    pub fn gradients(&mut self) {
        for run in 0..self.runs {
            self.executor.train(&self.params, &self.packed, &mut self.grads, run > 0);
        }
    }

    pub fn step(&mut self) {
        self.optimizer.step(self.plan.isa(), &self.adam, &mut self.params, &self.grads);
    }

    pub fn bytes(&self) -> usize {
        let floats = self.params.values().len() + self.grads.len() + self.optimizer.m.len() + self.optimizer.v.len();
        floats * size_of::<f32>()
    }
}
