//! The network that learners of the cube share: stickers, one-hot -> layers of rectified units -> a value or a score an action. A
//! plan trains it; for judging, the rows that each cubie's stickers name are summed once for each change of the weights, so that
//! the first layer is a sum of as many rows as cubies move.

use super::{Judge, Scores};
use graph::{Adam, Executor, Graph, Init, Isa, Layout, NodeId, Optimizer, Packed, Params, Plan, PlanError};
use math::{Kernel, Simd, dispatch, par};
use std::sync::Arc;
use worlds::cube::{CODES, Puzzle};

/// What the network is like between stickers and scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetConfig {
    /// Units of each layer.
    pub hidden: Vec<usize>,
    /// Residual blocks of two layers each, as wide as the last one.
    pub blocks: usize,
    /// Layer norm before each activation.
    pub norm: bool,
}

impl NetConfig {
    /// Multiply-adds of judging one state.
    pub fn products<P: Puzzle>(&self, outputs: usize) -> usize {
        let between: usize = self.hidden.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let last = self.hidden.last().copied().unwrap_or(0);
        between + 2 * self.blocks * last * last + last * outputs
    }

    /// From stickers to scores.
    pub fn network<P: Puzzle>(&self, g: &mut Graph, stickers: NodeId, outputs: usize) -> NodeId {
        let sums = self.first::<P>(g, stickers);
        self.upper(g, sums, outputs)
    }

    /// The first layer, before its activation.
    fn first<P: Puzzle>(&self, g: &mut Graph, stickers: NodeId) -> NodeId {
        // As many inputs are 1, whatever their number.
        let init = Init::Uniform(1.0 / (P::FACELETS as f32).sqrt());
        let table = g.param(TABLE, [P::INPUTS, self.hidden[0]], init);
        let bias = g.vector(BIAS, self.hidden[0], Init::Zeros);
        let sums = g.matmul(stickers, table, false, false);
        g.add(sums, bias)
    }

    /// From the first layer's sums to scores.
    fn upper(&self, g: &mut Graph, sums: NodeId, outputs: usize) -> NodeId {
        let mut x = self.norm(g, sums, "first");
        x = g.relu(x);
        for (i, &width) in self.hidden.iter().enumerate().skip(1) {
            let name = format!("hidden.{i}");
            let y = g.dense(x, &name, width, Init::Kaiming);
            let y = self.norm(g, y, &name);
            x = g.relu(y);
        }
        let width = g.shape(x)[1];
        for i in 0..self.blocks {
            let [first, second] = [0, 1].map(|layer| format!("block.{i}.{layer}"));
            let y = g.dense(x, &first, width, Init::Kaiming);
            let y = self.norm(g, y, &first);
            let y = g.relu(y);
            let y = g.dense(y, &second, width, Init::FanIn);
            let y = self.norm(g, y, &second);
            let y = g.add(y, x);
            x = g.relu(y);
        }
        g.dense(x, "head", outputs, Init::FanIn)
    }

    fn norm(&self, g: &mut Graph, x: NodeId, name: &str) -> NodeId {
        if self.norm { g.norm(x, &format!("{name}.norm")) } else { x }
    }
}

/// Parameters of the first layer: a row an input.
const TABLE: &str = "first.table";
const BIAS: &str = "first.bias";

/// What a plan is trained to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The mean square of what is missing to the target.
    Squares,
    /// The mean surprise at the target, an action's number.
    CrossEntropy,
}

/// Reads `stickers`, `[rows][inputs]`, and `target`, `[rows]`; gives `loss`.
pub fn plan_learning<P: Puzzle>(
    net: &NetConfig,
    outputs: usize,
    loss: Loss,
    rows: usize,
    isa: Isa,
) -> Result<Plan, PlanError> {
    let mut g = Graph::new();
    let stickers = g.input("stickers", [rows, P::INPUTS]);
    let target = g.input("target", [rows, 1]);
    let y = net.network::<P>(&mut g, stickers, outputs);
    let loss = match loss {
        Loss::Squares => {
            let error = g.sub(y, target);
            let error = g.square(error);
            g.mean_all(error)
        }
        Loss::CrossEntropy => {
            let logs = g.log_softmax(y);
            let taken = g.take(logs, target);
            let mean = g.mean_all(taken);
            g.neg(mean)
        }
    };
    let gradients = g.gradients(loss);
    Plan::training(&g, &[("loss", loss)], &gradients, isa)
}

/// A plan with what its training needs.
pub struct Trainer {
    pub params: Params,
    pub optimizer: Optimizer,
    executor: Executor,
    packed: Packed,
    grads: Vec<f32>,
}

/// What came of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Learned {
    pub loss: f32,
    /// Length of the gradient, before it was clipped.
    pub grad_norm: f32,
}

impl Trainer {
    /// Bytes that it takes.
    pub fn bytes(plan: &Plan) -> usize {
        // Weights, two moments and gradients; packed both ways.
        plan.arena_bytes() + 4 * plan.table().len() * (1 + 2 + 1 + 2)
    }

    pub fn new(plan: &Arc<Plan>, seed: u32) -> Trainer {
        let params = Params::new(plan.table(), seed);
        Trainer {
            optimizer: Optimizer::new(&params),
            executor: Executor::new(plan),
            packed: Packed::new(plan, &params),
            grads: vec![0.0; params.values().len()],
            params,
        }
    }

    /// What the next step reads.
    pub fn input_mut(&mut self, name: &str) -> &mut [f32] {
        self.executor.input_mut(name)
    }

    pub fn step(&mut self, adam: &Adam) -> Learned {
        self.executor.train(&self.params, &self.packed, &mut self.grads, false);
        let isa = self.executor.plan().isa();
        let grad_norm = self.optimizer.step(isa, adam, &mut self.params, &self.grads);
        self.packed.pack(&self.params);
        Learned { loss: self.executor.output("loss")[0], grad_norm }
    }

    /// After the weights were changed from outside.
    pub fn pack(&mut self) {
        self.packed.pack(&self.params);
    }
}

/// States that are judged at once, and shares of a batch that threads take.
const ROWS: usize = 64;
const WORKERS: usize = 8;

/// The network as a judge.
pub struct Evaluator<P> {
    scores: Scores,
    outputs: usize,
    width: usize,
    isa: Isa,
    params: Params,
    packed: Packed,
    /// Of the first layer: a row for each cubie in each place, and what never changes.
    table: Vec<f32>,
    bias: Vec<f32>,
    workers: Vec<Worker>,
    cube: std::marker::PhantomData<fn(P)>,
}

struct Worker {
    executor: Executor,
    rows: Vec<u16>,
    scores: Vec<f32>,
}

impl<P: Puzzle> Evaluator<P> {
    /// With weights of a plan of [`plan_learning`] for the same network. A value is `scale` times what the network says, and
    /// `shift`.
    pub fn new(
        net: &NetConfig,
        scores: Scores,
        outputs: usize,
        (scale, shift): (f32, f32),
        weights: &[f32],
        isa: Isa,
    ) -> Result<Evaluator<P>, PlanError> {
        // The whole network names the parameters in their order; the plan begins above the first layer.
        let mut whole = Graph::new();
        let stickers = whole.input("stickers", [ROWS, P::INPUTS]);
        net.network::<P>(&mut whole, stickers, outputs);
        let mut g = Graph::like(&whole);
        let sums = g.input("sums", [ROWS, net.hidden[0]]);
        let y = net.upper(&mut g, sums, outputs);
        let y = match scores {
            Scores::Value => g.affine(y, scale, shift),
            Scores::Policy => g.log_softmax(y),
        };
        let plan = Arc::new(Plan::new(&g, &[("scores", y)], Layout::Rows, isa)?);
        let params = Params::new(g.table(), 0);
        let worker =
            || Worker { executor: Executor::new(&plan), rows: vec![0; ROWS * P::CUBIES], scores: Vec::new() };
        let mut evaluator = Evaluator {
            scores,
            outputs,
            width: net.hidden[0],
            isa,
            packed: Packed::new(&plan, &params),
            params,
            table: vec![0.0; P::CUBIES * CODES * net.hidden[0]],
            bias: vec![0.0; net.hidden[0]],
            workers: std::iter::repeat_with(worker).take(WORKERS).collect(),
            cube: std::marker::PhantomData,
        };
        evaluator.set(weights);
        Ok(evaluator)
    }

    /// Bytes that one takes.
    pub fn bytes(net: &NetConfig) -> usize {
        let widest = net.hidden.iter().max().copied().unwrap_or(0);
        let weights = net.products::<P>(P::MOVES.len()) + P::INPUTS * net.hidden[0];
        4 * (2 * weights + P::CUBIES * CODES * net.hidden[0] + 3 * WORKERS * ROWS * widest)
    }

    /// Takes other weights.
    pub fn set(&mut self, weights: &[f32]) {
        self.params.values_mut().copy_from_slice(weights);
        self.packed.pack(&self.params);
        let (width, isa) = (self.width, self.isa);
        let inputs = self.params.get(TABLE).expect("the first layer's");
        let input = |input: &u16| &inputs[usize::from(*input) * width..][..width];
        self.bias.copy_from_slice(self.params.get(BIAS).expect("the first layer's"));
        for fixed in P::FIXED {
            math::ops::add_scaled(isa, 1.0, input(fixed), &mut self.bias);
        }
        self.table.fill(0.0);
        for (i, row) in self.table.chunks_exact_mut(width).enumerate() {
            for of in P::row_inputs(i) {
                math::ops::add_scaled(isa, 1.0, input(of), row);
            }
        }
    }
}

impl<P: Puzzle> Judge<P> for Evaluator<P> {
    fn scores(&self) -> Scores {
        self.scores
    }

    fn judge(&mut self, states: &[P], scores: &mut [f32]) {
        let Evaluator { params, packed, table, bias, workers, .. } = self;
        let (params, packed, table, bias) = (&*params, &*packed, &**table, &**bias);
        let (outputs, width, isa) = (self.outputs, self.width, self.isa);
        assert_eq!(scores.len(), states.len() * outputs, "scores for each state");
        // Whole blocks for each, so that few states are few blocks.
        let share = states.len().div_ceil(ROWS).div_ceil(WORKERS).max(1) * ROWS;
        let count = states.len().div_ceil(share);
        par::each_mut(&mut workers[..count], |i, worker| {
            let states = &states[i * share..states.len().min((i + 1) * share)];
            let Worker { executor, rows, scores } = worker;
            scores.resize(scores.len().max(share * outputs), 0.0);
            for (states, scores) in states.chunks(ROWS).zip(scores.chunks_mut(ROWS * outputs)) {
                let rows = &mut rows[..states.len() * P::CUBIES];
                P::fill_rows(states, rows);
                let y = &mut executor.input_mut("sums")[..states.len() * width];
                dispatch(isa, RowSums { cubies: P::CUBIES, width, rows, table, bias, y });
                executor.run(params, packed);
                let said = &executor.output("scores")[..states.len() * outputs];
                scores[..said.len()].copy_from_slice(said);
            }
        });
        for (scores, worker) in scores.chunks_mut(share * outputs).zip(workers) {
            scores.copy_from_slice(&worker.scores[..scores.len()]);
        }
    }
}

/// y[state] = bias + Σ table[row] over the state's rows.
struct RowSums<'a> {
    cubies: usize,
    width: usize,
    rows: &'a [u16],
    table: &'a [f32],
    bias: &'a [f32],
    y: &'a mut [f32],
}

/// Vectors of a sum that are held at once.
const PASS: usize = 8;

impl Kernel for RowSums<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let RowSums { cubies, width, rows, table, bias, y } = self;
        for (rows, y) in rows.chunks_exact(cubies).zip(y.chunks_exact_mut(width)) {
            let mut first = 0;
            while first + PASS * S::LANES <= width {
                sum::<S, PASS>(s, width, first, rows, table, bias, y);
                first += PASS * S::LANES;
            }
            while first < width {
                sum::<S, 1>(s, width, first, rows, table, bias, y);
                first += S::LANES;
            }
        }
    }
}

#[inline(always)]
fn sum<S: Simd, const N: usize>(
    s: S,
    width: usize,
    first: usize,
    rows: &[u16],
    table: &[f32],
    bias: &[f32],
    y: &mut [f32],
) {
    let mut x = [s.splat(0.0); N];
    for i in 0..N {
        x[i] = s.load(&bias[first + i * S::LANES..]);
    }
    for &row in rows {
        let row = &table[usize::from(row) * width + first..][..N * S::LANES];
        for i in 0..N {
            x[i] = s.add(x[i], s.load(&row[i * S::LANES..]));
        }
    }
    for i in 0..N {
        s.store(x[i], &mut y[first + i * S::LANES..]);
    }
}
