//! Network of the cube's learners. One-hot inputs are followed by layers of rectified units. The output is a value or one score per action.
//! The first layer has a table of weights with one row per input, and adds up the rows of all inputs that are 1. With sticker inputs, a
//! judge adds up the rows of each cubie's stickers once, when the weights change. A state then needs only one row per movable cubie.

use super::{Judge, Scores};
use crate::offload::PlanEvaluator;
use crate::settings::{SWITCH, one_of, text, whole};
use crate::{Fault, Machine};
use crate::{choices, settings};
use graph::{Adam, Executor, Graph, Init, Isa, Layout, NodeId, Optimizer, Packed, Params, Plan, PlanError, Table};
use math::par::Pinned;
use math::{ops, par};
use std::ops::Range;
use std::sync::Arc;
use worlds::cube::{CODES, Puzzle};

choices! {
    /// Encoding of a state.
    pub enum Inputs {
        /// One input for each pair of facelet and colour, as in adamavixio's library (`dqn/config.rs`). 144 inputs for the 2x2x2, 324 for
        /// the 3x3x3.
        Stickers = "stickers", "Stickers";
        /// One input for each combination of cubie, place and orientation. 168 inputs for the 2x2x2, 480 for the 3x3x3.
        Cubies = "cubies", "Cubies";
        /// [`Inputs::Stickers`] of a state that represents up to 6 equivalent states of the 2x2x2 ([`Puzzle::folded`]). A state of the
        /// 3x3x3 represents only itself.
        Folded = "folded", "Folded (6 as one)";
        /// [`Inputs::Cubies`] of a state that represents up to 96 states, which have the same distance by symmetry.
        Symmetric = "symmetric", "Symmetric (96 as one)";
    }
}

impl Inputs {
    pub const fn count<P: Puzzle>(self) -> usize {
        match self {
            Inputs::Stickers | Inputs::Folded => P::INPUTS,
            Inputs::Cubies | Inputs::Symmetric => P::CUBIES * CODES,
        }
    }

    /// Returns the number of inputs of a state that are 1.
    pub const fn active<P: Puzzle>(self) -> usize {
        match self {
            Inputs::Stickers | Inputs::Folded => P::FACELETS,
            Inputs::Cubies | Inputs::Symmetric => P::CUBIES,
        }
    }

    /// Returns true if a network with these inputs can output these scores. Symmetric inputs support only values, because the actions of
    /// the encoded state do not always correspond to actions of the original state.
    pub const fn serves(self, scores: Scores) -> bool {
        !matches!((self, scores), (Inputs::Symmetric, Scores::ActionValues | Scores::Policy))
    }

    /// Writes the indices of the inputs that are 1 to `active`, `[states][active]`.
    pub fn fill<P: Puzzle>(self, states: &[P], active: &mut [u16]) {
        match self {
            Inputs::Stickers => P::fill_inputs(states, active),
            Inputs::Cubies => P::fill_rows(states, active),
            Inputs::Folded => {
                assert_eq!(active.len(), states.len() * P::FACELETS, "one index a facelet");
                for (state, active) in states.iter().zip(active.chunks_exact_mut(P::FACELETS)) {
                    state.folded().0.inputs(active);
                }
            }
            Inputs::Symmetric => {
                assert_eq!(active.len(), states.len() * P::CUBIES, "one index a cubie");
                for (state, rows) in states.iter().zip(active.chunks_exact_mut(P::CUBIES)) {
                    state.symmetric_rows(rows);
                }
            }
        }
    }

    /// Writes the indices of each state's rows in the judge's first layer to `rows`, `[states][cubies]`. For sticker inputs, a row of the
    /// judge is the sum of the trained rows of a cubie's stickers.
    fn fill_judged<P: Puzzle>(self, states: &[P], rows: &mut [u16]) {
        match self {
            Inputs::Stickers | Inputs::Cubies => P::fill_rows(states, rows),
            Inputs::Symmetric => self.fill(states, rows),
            Inputs::Folded => {
                let rows = rows.chunks_exact_mut(P::CUBIES);
                states.iter().zip(rows).for_each(|(state, rows)| state.folded().0.rows(rows));
            }
        }
    }

    /// Converts the network's outputs for encoded states to scores of the original states.
    fn read<P: Puzzle>(self, states: &[P], output: &[f32], scores: &mut [f32]) {
        if self != Inputs::Folded || output.len() == states.len() {
            return scores.copy_from_slice(output);
        }
        let outputs = output.len() / states.len();
        let each = scores.chunks_exact_mut(outputs).zip(output.chunks_exact(outputs));
        for (state, (scores, output)) in states.iter().zip(each) {
            let (_, symmetry) = state.folded();
            let named = scores.iter_mut().enumerate();
            named.for_each(|(action, score)| *score = output[P::folded_action(symmetry, action)]);
        }
    }

    /// Converts the index of an action in `state` to the index of the same turn in the state that the network sees. The two differ only for
    /// folded inputs.
    #[inline]
    pub fn action<P: Puzzle>(self, state: P, action: usize) -> usize {
        if self == Inputs::Folded { P::folded_action(state.folded().1, action) } else { action }
    }
}

settings! {
    /// Architecture of the network.
    #[derive(Eq)]
    pub struct NetConfig {
        fixed hidden: Vec<usize>, [text(60), "Hidden layers", "",
            "Units of each layer: multiples of 16, joined by hyphens, as in 512-256. Wider networks are stronger and slower."];
        /// Number of residual blocks. A block has two layers that are as wide as the last hidden layer.
        fixed blocks: usize, [whole(0.0, 32.0), "Residual blocks", "blocks",
            "Pairs of layers as wide as the last one, with a skip connection. They make deep networks easier to train."];
        fixed norm: bool, [SWITCH, "Layer norm", "", "Normalises the sums of each layer to mean 0 and variance 1."];
        /// True for separate heads for value and advantages (Wang et al., "Dueling network architectures for deep reinforcement learning",
        /// 2016).
        fixed dueling: bool, [SWITCH, "Dueling heads", "",
            "Separate outputs for the value of a state and for the advantage of each action over the mean."];
        fixed inputs: Inputs, [one_of::<Inputs>(), "Inputs", "",
            "Sticker colours, or positions and orientations of cubies. Folded merges 6 equivalent states and suits any network. Symmetric \
             merges 96 and supports only values."];
    }
}

impl NetConfig {
    /// Returns the number of multiply-adds per judged state, excluding the sums of the first layer.
    pub fn products<P: Puzzle>(&self, outputs: usize) -> u64 {
        let between: u64 = self.hidden.windows(2).map(|pair| pair[0] as u64 * pair[1] as u64).sum();
        let last = self.hidden.last().copied().unwrap_or(0) as u64;
        between + 2 * self.blocks as u64 * last * last + last * (outputs + usize::from(self.dueling)) as u64
    }

    /// Returns the number of multiply-adds per state of the largest matrix product.
    pub(super) fn largest(&self, outputs: usize) -> u64 {
        let last = self.hidden.last().copied().unwrap_or(0) as u64;
        let between = self.hidden.windows(2).map(|pair| pair[0] as u64 * pair[1] as u64);
        let block = if self.blocks > 0 { last * last } else { 0 };
        between.chain([block, last * (outputs as u64 + 1)]).max().unwrap_or(0)
    }

    /// Builds the network. `active`, `[rows][active]`, contains the indices of the inputs that are 1. Returns the network's outputs,
    /// `[rows][outputs]`.
    pub fn network<P: Puzzle>(&self, g: &mut Graph, active: NodeId, outputs: usize) -> NodeId {
        let width = self.hidden[0];
        // The variance of a sum is proportional to its number of terms, so the initial weights are scaled down.
        let init = Init::Uniform(1.0 / (g.shape(active)[1] as f32).sqrt());
        let table = g.param(TABLE, [self.inputs.count::<P>(), width], init);
        let bias = g.vector(BIAS, width, Init::Zeros);
        let sums = g.embedding_bag(table, active);
        let sums = g.add(sums, bias);
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
        if !self.dueling || outputs == 1 {
            return g.dense(x, "head", outputs, Init::FanIn);
        }
        // One matrix product computes both heads. The state value is the first column.
        let both = g.dense(x, "head", 1 + outputs, Init::FanIn);
        let value = g.slice_cols(both, 0, 1);
        let advantages = g.slice_cols(both, 1, 1 + outputs);
        let mean = g.sum_rows(advantages);
        let mean = g.affine(mean, 1.0 / outputs as f32, 0.0);
        let base = g.sub(value, mean);
        g.add(advantages, base)
    }

    fn norm(&self, g: &mut Graph, x: NodeId, name: &str) -> NodeId {
        if self.norm { g.norm(x, &format!("{name}.norm")) } else { x }
    }
}

/// Name of the first layer's weights, with one row per input.
const TABLE: &str = "first.table";
/// Name of the first layer's biases.
const BIAS: &str = "first.bias";

/// Loss function of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Mean squared error.
    Squares,
    /// Mean cross-entropy; the target is the index of an action.
    CrossEntropy,
}

/// Compiles a training plan. The inputs are `active`, `[rows][active]`, and `target`, `[rows]`; the output is `loss`.
pub fn plan_learning<P: Puzzle>(net: &NetConfig, outputs: usize, loss: Loss, rows: usize, isa: Isa) -> Result<Plan, PlanError> {
    let mut g = Graph::new();
    let active = g.input("active", [rows, net.inputs.active::<P>()]);
    let target = g.input("target", [rows, 1]);
    let y = net.network::<P>(&mut g, active, outputs);
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

/// A training plan with its weights and optimizer.
pub struct Trainer {
    pub params: Params,
    pub optimizer: Optimizer,
    executor: Executor,
    packed: Packed,
    grads: Vec<f32>,
}

/// Loss and gradient norm of one optimizer step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Learned {
    pub loss: f32,
    /// Gradient norm before clipping.
    pub grad_norm: f32,
}

impl Trainer {
    /// Returns the memory of a trainer, in bytes.
    pub fn bytes(plan: &Plan) -> u64 {
        // Weights, two moments, gradients and two packed copies.
        plan.arena_bytes() + plan.table().bytes() * (1 + 2 + 1 + 2)
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

    pub fn plan(&self) -> &Arc<Plan> {
        self.executor.plan()
    }

    pub fn executor_mut(&mut self) -> &mut Executor {
        &mut self.executor
    }

    /// Returns an input of the training plan, for the next step.
    pub fn input_mut(&mut self, name: &str) -> &mut [f32] {
        self.executor.input_mut(name)
    }

    /// Runs the calls in the range `part` of the training plan for the next step.
    pub fn compute(&mut self, part: Range<usize>) {
        self.executor.train_part(&self.params, &self.packed, &mut self.grads, false, part);
    }

    /// Completes the step: updates the weights with the optimizer.
    pub fn update(&mut self, adam: &Adam) -> Learned {
        let isa = self.executor.plan().isa();
        let grad_norm = self.optimizer.step(isa, adam, &mut self.params, &self.grads);
        self.packed.pack(&self.params);
        Learned { loss: self.executor.output("loss")[0], grad_norm }
    }

    /// Packs the weights after a caller has changed them.
    pub fn pack(&mut self) {
        self.packed.pack(&self.params);
    }
}

/// Number of states in one run of an executor.
const ROWS: usize = 64;
/// Number of workers. Each worker has its own executor.
const WORKERS: usize = 8;
/// Maximum number of states that an offloaded judge evaluates in one call.
const OFFLOAD_ROWS: usize = 8192;
/// Minimum number of states for an offloaded call. The CPU computes smaller calls.
const OFFLOAD_LEAST: usize = 1024;

/// A judge that uses the network.
pub struct Evaluator<P> {
    inputs: Inputs,
    scores: Scores,
    outputs: usize,
    isa: Isa,
    /// Parameter table of the trained network.
    table: Table,
    /// Parameters of the plan for judging.
    params: Params,
    packed: Packed,
    workers: Vec<Worker>,
    /// Maximum number of states that a slice judges while no device is used. This number of states takes about [`par::TURN`] multiply-adds.
    /// The number is a multiple of [`ROWS`] and at least `2 * ROWS`. If a device fails, the CPU judges up to `OFFLOAD_ROWS` states in one
    /// slice.
    turn: usize,
    offload_plan: Arc<Plan>,
    offloaded: Option<OffloadedJudge<P>>,
}

struct Worker {
    executor: Executor,
    rows: Vec<u16>,
    scores: Vec<f32>,
}

impl<P: Puzzle> Evaluator<P> {
    /// Creates a judge. `weights` are those of a [`plan_learning`] plan of the same network. `read` adds the nodes that convert the
    /// network's outputs to scores.
    pub fn new(
        net: &NetConfig,
        scores: Scores,
        outputs: usize,
        read: impl Fn(&mut Graph, NodeId) -> NodeId,
        weights: &[f32],
        isa: Isa,
    ) -> Result<Evaluator<P>, PlanError> {
        let mut trained = Graph::new();
        let active = trained.input("active", [ROWS, net.inputs.active::<P>()]);
        net.network::<P>(&mut trained, active, outputs);
        let cubies = NetConfig { inputs: Inputs::Cubies, ..net.clone() };
        let plan = |rows| {
            let mut g = Graph::new();
            let active = g.input("active", [rows, P::CUBIES]);
            let y = cubies.network::<P>(&mut g, active, outputs);
            let y = read(&mut g, y);
            Plan::new(&g, &[("scores", y)], Layout::Rows, isa).map(Arc::new)
        };
        let (plan, offload_plan) = (plan(ROWS)?, plan(OFFLOAD_ROWS)?);
        let params = Params::new(plan.table(), 0);
        let worker = || Worker { executor: Executor::new(&plan), rows: vec![0; ROWS * P::CUBIES], scores: Vec::new() };
        let mut evaluator = Evaluator {
            inputs: net.inputs,
            scores,
            outputs,
            isa,
            table: trained.table().clone(),
            packed: Packed::new(&plan, &params),
            params,
            workers: std::iter::repeat_with(worker).take(WORKERS).collect(),
            turn: ((par::TURN / plan.multiply_adds().max(1.0)) as usize).max(2) * ROWS,
            offload_plan,
            offloaded: None,
        };
        evaluator.set(weights);
        Ok(evaluator)
    }

    /// Returns the memory of a judge, in bytes.
    pub fn bytes(net: &NetConfig) -> u64 {
        let widest = net.hidden.iter().max().copied().unwrap_or(0) as u64;
        let weights = net.products::<P>(P::MOVES.len()) + (P::CUBIES * CODES) as u64 * net.hidden[0] as u64;
        4 * (2 * weights + (3 * WORKERS * ROWS) as u64 * widest)
    }

    /// Replaces the judge's weights with those of the trained network.
    pub fn set(&mut self, weights: &[f32]) {
        assert_eq!(weights.len(), self.table.len(), "weights of the same network");
        for spec in self.table.specs() {
            let weights = &weights[spec.range()];
            let to = self.params.get_mut(&spec.name).expect("the same parameters");
            if &*spec.name != TABLE || matches!(self.inputs, Inputs::Cubies | Inputs::Symmetric) {
                to.copy_from_slice(weights);
                continue;
            }
            let width = spec.shape[1];
            let input = |input: &u16| &weights[usize::from(*input) * width..][..width];
            to.fill(0.0);
            for (i, row) in to.chunks_exact_mut(width).enumerate() {
                // The rows of facelets that never move are added to the rows of the first cubie.
                let fixed = if i < CODES { P::FIXED } else { &[] };
                for of in P::row_inputs(i).iter().chain(fixed) {
                    ops::add_scaled(self.isa, 1.0, input(of), row);
                }
            }
        }
        self.packed.pack(&self.params);
        let weights = self.params.values();
        if self.offloaded.as_mut().is_some_and(|offloaded| offloaded.set_weights(weights).is_err()) {
            self.offloaded = None;
        }
    }

    /// Offloads calls with many states to a device until the device fails.
    pub fn offload(&mut self, machine: &dyn Machine) -> Result<(), Fault> {
        let evaluator = machine.evaluator(&self.offload_plan, self.params.values())?;
        self.offloaded = Some(OffloadedJudge {
            evaluator: Pinned::new(evaluator),
            states: Vec::new(),
            pending: false,
            rows: vec![0; OFFLOAD_ROWS * P::CUBIES],
            active: vec![0.0; OFFLOAD_ROWS * P::CUBIES],
            scores: Vec::new(),
        });
        Ok(())
    }

    pub fn end_offload(&mut self) {
        self.offloaded = None;
    }

    pub fn is_offloaded(&self) -> bool {
        self.offloaded.is_some()
    }
}

/// A judge's network on another device.
struct OffloadedJudge<P> {
    evaluator: Pinned<Box<dyn PlanEvaluator>>,
    /// States of the last run. The result of the run is valid only for these states.
    states: Vec<P>,
    pending: bool,
    rows: Vec<u16>,
    active: Vec<f32>,
    scores: Vec<Vec<f32>>,
}

impl<P: Puzzle> OffloadedJudge<P> {
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.states.clear();
        self.evaluator.set_weights(weights)
    }

    fn poll(&mut self, inputs: Inputs, states: &[P], scores: &mut [f32]) -> Result<bool, Fault> {
        if self.pending {
            if !self.evaluator.poll(&mut self.scores)? {
                return Ok(false);
            }
            self.pending = false;
            if self.states == states {
                inputs.read(states, &self.scores[0][..scores.len()], scores);
                return Ok(true);
            }
        }
        self.states.clear();
        self.states.extend_from_slice(states);
        let rows = &mut self.rows[..states.len() * P::CUBIES];
        inputs.fill_judged(states, rows);
        self.active.iter_mut().zip(rows).for_each(|(active, row)| *active = f32::from(*row));
        self.evaluator.set_input("active", &self.active)?;
        self.evaluator.run()?;
        self.pending = true;
        Ok(false)
    }
}

impl<P: Puzzle> Judge<P> for Evaluator<P> {
    fn scores(&self) -> Scores {
        self.scores
    }

    fn at_once(&self, usual: usize) -> usize {
        if self.is_offloaded() { OFFLOAD_ROWS } else { usual.min(self.turn) }
    }

    fn poll(&mut self, states: &[P], scores: &mut [f32]) -> bool {
        let inputs = self.inputs;
        if let Some(offloaded) = &mut self.offloaded
            && (OFFLOAD_LEAST..=OFFLOAD_ROWS).contains(&states.len())
        {
            match offloaded.poll(inputs, states, scores) {
                Ok(here) => return here,
                // The device failed, so the CPU judges the states.
                Err(_) => self.offloaded = None,
            }
        }
        self.judge(states, scores);
        true
    }

    fn judge(&mut self, states: &[P], scores: &mut [f32]) {
        let Evaluator { inputs, outputs, params, packed, workers, .. } = self;
        let (inputs, outputs, params, packed) = (*inputs, *outputs, &*params, &*packed);
        assert_eq!(scores.len(), states.len() * outputs, "scores for each state");
        // An executor always computes a whole block of `ROWS` states. Each worker therefore judges whole blocks, so that the number of
        // blocks is as small as possible.
        let share = states.len().div_ceil(ROWS).div_ceil(WORKERS).max(1) * ROWS;
        let count = states.len().div_ceil(share);
        par::each_mut(&mut workers[..count], |i, worker| {
            let states = &states[i * share..states.len().min((i + 1) * share)];
            let Worker { executor, rows, scores } = worker;
            scores.resize(scores.len().max(share * outputs), 0.0);
            for (states, scores) in states.chunks(ROWS).zip(scores.chunks_mut(ROWS * outputs)) {
                let rows = &mut rows[..states.len() * P::CUBIES];
                inputs.fill_judged(states, rows);
                let active = executor.input_mut("active");
                active.iter_mut().zip(rows).for_each(|(active, row)| *active = f32::from(*row));
                executor.run(params, packed);
                let output = &executor.output("scores")[..states.len() * outputs];
                inputs.read(states, output, &mut scores[..output.len()]);
            }
        });
        for (scores, worker) in scores.chunks_mut(share * outputs).zip(workers) {
            scores.copy_from_slice(&worker.scores[..scores.len()]);
        }
    }
}
