//! The network of the published learner. Its default shape is that of AlphaZero.jl: 344 inputs, width 128, and three residual blocks with
//! layer norm. This shape has 283,433 parameters and needs 278,656 multiply-adds per decision. The policy has one hidden layer and 676
//! actions. The value has two hidden layers and five probabilities. Width and number of blocks are settings.
//!
//! An action is a pair of places a and b from which checkers move, packed as 26·a + b. The larger die is played from place a and the
//! smaller die from place b. Place 0 means that the die is not played; place 25 is the bar. A double is played in two decisions (halves) of
//! up to two moves each. In a half, both dice are equal, and a is the higher place.
//!
//! A search computes only a part of the network. It adds up the first-layer rows of nonzero inputs. These sums are bit-identical to those
//! of the dense product. A search evaluates the policy only for legal actions. Training computes the whole network.

use super::inputs::{self, Decision, INPUTS};
use graph::{Executor, Graph, Init, Layout, NodeId, Packed, ParamSpec, Params, Plan, PlanError};
use math::{Buffer, Isa, Kernel, PANEL, Simd, dispatch, kernel, ops, poly};
use std::ops::Range;
use std::sync::Arc;
use worlds::backgammon::{BAR, Board, Chances};

const PLACES: usize = BAR + 1;
pub const ACTIONS: usize = PLACES * PLACES;
/// Number of value outputs: the probabilities of a win, of winning at least a gammon, of winning a backgammon, of losing at least a gammon,
/// and of losing a backgammon.
pub const HEADS: usize = 5;

/// Size of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width of all layers except the output layers; a multiple of 16.
    pub width: usize,
    /// Number of residual blocks of two layers each.
    pub blocks: usize,
}

impl Shape {
    pub const PUBLISHED: Shape = Shape { width: 128, blocks: 3 };

    /// Returns the number of multiply-adds of the whole network for one decision.
    pub const fn products(self) -> usize {
        self.width * (INPUTS + ACTIONS) + self.search_products()
    }

    /// Returns the number of multiply-adds, for one decision, of the dense layers that a search computes.
    pub const fn search_products(self) -> usize {
        self.width * ((2 * self.blocks + 3) * self.width + HEADS)
    }

    /// Returns an estimate of the cost of one simulation, in multiply-adds.
    pub const fn decision_products(self) -> usize {
        /// Estimated cost of the tree and the rules, in multiply-adds.
        const TREE: usize = 100_000;
        /// Assumed number of weight rows that a simulation uses. The first layer uses as many rows as its input buffers can hold, and the
        /// policy's last layer uses 64 rows.
        const ROWS: usize = inputs::MOST + 64;
        self.search_products() + ROWS * self.width + TREE
    }

    pub const fn parameters(self) -> usize {
        // Each of the counted layers has three vectors: biases, and scale and shift of a norm. The stem's biases and the norms of stem and
        // trunk add five vectors.
        let layers = 2 * self.blocks + 3;
        self.products() + self.width * (3 * layers + 5) + ACTIONS + HEADS
    }
}

/// Packs the two places of a play, from which checkers move, into an action.
#[inline]
pub fn action(play: [u8; 2]) -> u16 {
    u16::from(play[0]) * PLACES as u16 + u16::from(play[1])
}

#[inline]
pub fn play(action: u16) -> [u8; 2] {
    [(action / PLACES as u16) as u8, (action % PLACES as u16) as u8]
}

fn layer(g: &mut Graph, x: NodeId, name: &str) -> NodeId {
    let [_, width] = g.shape(x);
    let y = g.dense(x, name, width, Init::Kaiming);
    g.norm(y, &format!("{name}.norm"))
}

/// Appends the part of the network between the first layer's sums `stem` and the outputs. Returns the policy's last hidden layer and the
/// five value logits.
fn body(g: &mut Graph, blocks: usize, stem: NodeId) -> (NodeId, NodeId) {
    let stem = g.norm(stem, "stem.norm");
    let mut x = g.relu(stem);
    for block in 0..blocks {
        let y = layer(g, x, &format!("block.{block}.0"));
        let y = g.relu(y);
        let y = layer(g, y, &format!("block.{block}.1"));
        let y = g.add(y, x);
        x = g.relu(y);
    }
    let trunk = g.norm(x, "trunk.norm");
    let policy = layer(g, trunk, "policy.0");
    let policy = g.relu(policy);
    let value = layer(g, trunk, "value.0");
    let value = g.relu(value);
    let value = layer(g, value, "value.1");
    let value = g.relu(value);
    (policy, g.dense(value, "value.2", HEADS, Init::Uniform(0.01)))
}

fn logits(g: &mut Graph, policy: NodeId) -> NodeId {
    g.dense(policy, "policy.1", ACTIONS, Init::Uniform(0.01))
}

/// Builds the whole network. Returns the graph and the nodes of the policy logits and the value logits. The plans of other functions have
/// the parameter table of this graph, although they compute only parts of the network.
pub fn whole(shape: Shape, rows: usize) -> (Graph, NodeId, NodeId) {
    let mut g = Graph::new();
    let x = g.input("inputs", [rows, INPUTS]);
    let (policy, value) = whole_on(&mut g, shape, x);
    (g, policy, value)
}

/// Appends the whole network. Returns the policy logits and the value logits.
pub fn whole_on(g: &mut Graph, shape: Shape, inputs: NodeId) -> (NodeId, NodeId) {
    let stem = g.dense(inputs, "stem", shape.width, Init::Kaiming);
    let (policy, value) = body(g, shape.blocks, stem);
    (logits(g, policy), value)
}

/// Compiles a plan with the outputs `policy` and `value`. A sigmoid converts the value logits to probabilities.
fn plan(mut g: Graph, [policy, value]: [NodeId; 2], layout: Layout, isa: Isa) -> Result<Arc<Plan>, PlanError> {
    let value = g.sigmoid(value);
    Ok(Arc::new(Plan::new(&g, &[("policy", policy), ("value", value)], layout, isa)?))
}

/// Compiles the plan of a search. The input has the first layer's sums. The outputs are the policy's last hidden layer and the five
/// probabilities.
pub fn plan_search(shape: Shape, rows: usize, isa: Isa) -> Result<Arc<Plan>, PlanError> {
    let mut g = Graph::like(&whole(shape, rows).0);
    let stem = g.input("stem", [rows, shape.width]);
    let (policy, value) = body(&mut g, shape.blocks, stem);
    plan(g, [policy, value], Layout::Panels, isa)
}

/// Compiles a plan with the layout [`Layout::Rows`], for devices that also compute the first layer. The plan has the network's inputs and
/// the outputs of [`plan_search`].
pub fn plan_leaves(shape: Shape, rows: usize, isa: Isa) -> Result<Arc<Plan>, PlanError> {
    let mut g = Graph::like(&whole(shape, rows).0);
    let x = g.input("inputs", [rows, INPUTS]);
    let stem = g.dense(x, "stem", shape.width, Init::Kaiming);
    let (policy, value) = body(&mut g, shape.blocks, stem);
    plan(g, [policy, value], Layout::Rows, isa)
}

/// Compiles the plan of the whole network, with all 676 logits and the five probabilities as outputs.
pub fn plan_whole(shape: Shape, rows: usize, isa: Isa) -> Result<Arc<Plan>, PlanError> {
    let (g, policy, value) = whole(shape, rows);
    plan(g, [policy, value], Layout::Panels, isa)
}

/// Compiles the plan that computes the loss and the gradients of a shard (a part of a minibatch). The loss is E[-Σ π·ln p] + c·E[Σ
/// BCE(probability, outcome)], where p is the policy over legal actions only. The head of `published.rs` explains the other symbols.
pub fn plan_learning(shape: Shape, rows: usize, isa: Isa) -> Result<Arc<Plan>, PlanError> {
    let (mut g, policy, value) = whole(shape, rows);
    let g = &mut g;
    // The mask is 0 for legal actions. For all other actions, it is a number far below any logit.
    let mask = g.input("mask", [rows, ACTIONS]);
    let share = g.input("share", [rows, ACTIONS]);
    let outcome = g.input("outcome", [rows, HEADS]);
    let value_coef = g.input("value_coef", [1, 1]);
    let legal = g.add(policy, mask);
    let log_p = g.log_softmax(legal);
    let terms = g.mul(share, log_p);
    let sum = g.sum_all(terms);
    let policy_loss = g.affine(sum, -1.0 / rows as f32, 0.0);
    // BCE as a function of the logit x and the target t: max(x, 0) - x·t + ln(1 + exp(-|x|)).
    let zero = g.scalar(0.0);
    let over = g.max(value, zero);
    let hit = g.mul(value, outcome);
    let linear = g.sub(over, hit);
    let negative = g.neg(value);
    let size = g.min(value, negative);
    let e = g.exp(size);
    let e = g.affine(e, 1.0, 1.0);
    let soft = g.ln(e);
    let terms = g.add(linear, soft);
    let sum = g.sum_all(terms);
    let value_loss = g.affine(sum, 1.0 / rows as f32, 0.0);
    let weighted = g.mul(value_loss, value_coef);
    let loss = g.add(policy_loss, weighted);
    let gradients = g.gradients(loss);
    let outputs = [("policy_loss", policy_loss), ("value_loss", value_loss)];
    Ok(Arc::new(Plan::training(g, &outputs, &gradients, isa)?))
}

/// Weights in the form that a search uses: parameters, packed matrices, and the transposed first layer.
pub struct Weights {
    width: usize,
    pub params: Params,
    packed: Packed,
    /// Transposed weights of the first layer, `[344][width]`.
    stem: Buffer,
    /// Range of the first layer's biases in the parameter vector.
    biases: Range<usize>,
    /// Two ranges in the parameter vector: the weights and the biases of the policy's last layer.
    last: [Range<usize>; 2],
}

impl Weights {
    /// Returns an estimate of the memory in bytes. The estimate assumes that the packed matrices are as large as all parameters together.
    pub fn bytes(shape: Shape) -> f64 {
        4.0 * (2 * shape.parameters() + INPUTS * shape.width) as f64
    }

    pub fn new(plan: &Arc<Plan>, params: &Params) -> Weights {
        let specs = params.table().specs();
        let range = |name: &str| specs.iter().find(|s| *s.name == *name).map_or(0..0, ParamSpec::range);
        let width = range("stem.bias").len();
        let mut weights = Weights {
            width,
            packed: Packed::new(plan, params),
            stem: Buffer::zeros(INPUTS * width),
            biases: range("stem.bias"),
            last: [range("policy.1.weight"), range("policy.1.bias")],
            params: params.clone(),
        };
        weights.transpose();
        weights
    }

    pub fn set(&mut self, params: &Params) {
        self.params.values_mut().copy_from_slice(params.values());
        self.packed.pack(params);
        self.transpose();
    }

    fn transpose(&mut self) {
        let stem = self.params.get("stem.weight").unwrap_or_default();
        for (out, row) in stem.chunks_exact(INPUTS).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                self.stem[input * self.width + out] = weight;
            }
        }
    }
}

/// Returns the network width, from the parameter table of a search plan.
fn width(plan: &Plan) -> usize {
    plan.table().specs().iter().find(|spec| &*spec.name == "stem.bias").map_or(0, ParamSpec::len)
}

/// Converts the five value outputs to consistent outcome probabilities for the player to move. A side that has borne off a checker cannot
/// lose a gammon.
#[inline]
pub fn chances(heads: [f32; HEADS], board: &Board) -> Chances {
    let [win, gammon, backgammon, lose_gammon, lose_backgammon] = heads;
    let (mine, theirs) = (board.mine().off() == 0, board.theirs().off() == 0);
    let lose = 1.0 - win;
    let gammon = if theirs { gammon.min(win) } else { 0.0 };
    let backgammon = backgammon.min(gammon);
    let lose_gammon = if mine { lose_gammon.min(lose) } else { 0.0 };
    let lose_backgammon = lose_backgammon.min(lose_gammon);
    Chances([win - gammon, gammon - backgammon, backgammon, lose - lose_gammon, lose_gammon - lose_backgammon, lose_backgammon])
}

/// Returns the targets of the five value outputs for a finished game. `ending` is the index of the outcome in [`Chances`].
pub fn outcome(ending: usize) -> [f32; HEADS] {
    let at = |holds: bool| f32::from(u8::from(holds));
    [at(ending < 3), at((1..3).contains(&ending)), at(ending == 2), at(ending > 3), at(ending > 4)]
}

/// Evaluates the decisions of a search in batches.
pub struct Evaluator {
    isa: Isa,
    pub width: usize,
    pub rows: usize,
    executor: Executor,
    /// Nonzero inputs of all decisions in the batch, as pairs of index and value.
    inputs: Vec<(u32, f32)>,
    /// End index in `inputs` of each decision's inputs.
    ends: Vec<usize>,
    /// First-layer sums, `[rows][width]`.
    stem: Buffer,
    /// The policy's last hidden layer, `[rows][width]`.
    hidden: Buffer,
    heads: Vec<[f32; HEADS]>,
}

impl Evaluator {
    pub fn bytes(plan: &Plan, width: usize, rows: usize) -> f64 {
        let row = inputs::MOST * size_of::<(u32, f32)>() + size_of::<usize>() + 4 * (2 * width + HEADS);
        plan.arena_bytes() as f64 + rows as f64 * row as f64
    }

    pub fn new(plan: &Arc<Plan>, rows: usize) -> Evaluator {
        let width = width(plan);
        Evaluator {
            isa: plan.isa(),
            width,
            rows,
            executor: Executor::new(plan),
            inputs: Vec::with_capacity(rows * inputs::MOST),
            ends: Vec::with_capacity(rows),
            stem: Buffer::zeros(rows * width),
            hidden: Buffer::zeros(rows * width),
            heads: vec![[0.0; HEADS]; rows],
        }
    }

    /// Starts a new batch.
    pub fn clear(&mut self) {
        self.inputs.clear();
        self.ends.clear();
    }

    /// Adds a decision to the batch.
    #[inline]
    pub fn see(&mut self, decision: &Decision) {
        let (mut seen, mut count) = ([(0, 0.0); inputs::MOST], 0);
        inputs::each(decision, |input, x| {
            seen[count] = (input as u32, x);
            count += 1;
        });
        self.inputs.extend_from_slice(&seen[..count]);
        self.ends.push(self.inputs.len());
    }

    pub fn run(&mut self, weights: &Weights) {
        dispatch(
            self.isa,
            Stem {
                width: self.width,
                table: &weights.stem,
                biases: &weights.params.values()[weights.biases.clone()],
                inputs: &self.inputs,
                ends: &self.ends,
                to: &mut self.stem,
            },
        );
        ops::rows_to_panels(self.isa, self.rows, self.width, &self.stem, self.executor.input_mut("stem"));
        self.executor.run(&weights.params, &weights.packed);
        ops::panels_to_rows(self.isa, self.rows, self.width, self.executor.output("policy"), &mut self.hidden);
        let panels = self.executor.output("value").chunks_exact(PANEL * HEADS);
        for (heads, panel) in self.heads.chunks_mut(PANEL).zip(panels) {
            for (row, heads) in heads.iter_mut().enumerate() {
                *heads = std::array::from_fn(|i| panel[i * PANEL + row]);
            }
        }
    }

    /// Stores the outputs that another device computed for a row: the policy's last hidden layer and the five probabilities.
    pub fn set_row(&mut self, row: usize, hidden: &[f32], heads: &[f32; HEADS]) {
        self.hidden[row * self.width..][..self.width].copy_from_slice(hidden);
        self.heads[row] = *heads;
    }

    pub fn hidden(&self, row: usize) -> &[f32] {
        &self.hidden[row * self.width..][..self.width]
    }

    pub fn heads(&self, row: usize) -> [f32; HEADS] {
        self.heads[row]
    }

    /// Computes the policy's probabilities of the legal `actions` of a row. The length of `to` must be at least the number of actions,
    /// rounded up to a multiple of 16.
    pub fn policy(&self, weights: &Weights, row: usize, actions: &[u16], to: &mut [f32]) {
        let [w, b] = weights.last.clone().map(|range| &weights.params.values()[range]);
        let hidden = self.hidden(row);
        // Computes a softmax over the logits of `actions`. A logit is the product of the action's weight row and the hidden layer, plus the
        // action's bias.
        kernel!(self.isa, |s: S, hidden: &[f32], w: &[f32], b: &[f32], actions: &[u16], to: &mut [f32]| {
            let n = actions.len();
            let to = &mut to[..n.next_multiple_of(16)];
            let mut most = f32::NEG_INFINITY;
            for (to, &action) in to.iter_mut().zip(actions) {
                let width = hidden.len();
                let row = &w[usize::from(action) * width..][..width];
                let mut sums = [s.splat(0.0); 4];
                for (row, hidden) in row.as_chunks::<16>().0.iter().zip(hidden.as_chunks::<16>().0) {
                    for part in 0..S::PARTS {
                        let at = part * S::LANES;
                        sums[part] = s.mul_add(s.load(&row[at..]), s.load(&hidden[at..]), sums[part]);
                    }
                }
                *to = s.sum_lanes(sums) + b[usize::from(action)];
                most = if *to > most { *to } else { most };
            }
            to[n..].fill(-1e9);
            let mut sums = [s.splat(0.0); 4];
            for k in (0..to.len()).step_by(16) {
                for part in 0..S::PARTS {
                    let at = k + part * S::LANES;
                    let e = poly::exp(s, s.sub(s.load(&to[at..]), s.splat(most)));
                    s.store(e, &mut to[at..]);
                    sums[part] = s.add(sums[part], e);
                }
            }
            let scale = s.splat(1.0 / s.sum_lanes(sums));
            for at in (0..to.len()).step_by(S::LANES) {
                s.store(s.mul(s.load(&to[at..]), scale), &mut to[at..]);
            }
        });
    }
}

/// Kernel of the first layer. For each decision, it adds the biases, and the weight row of each nonzero input times the input's value. The
/// order of additions is that of a dense product.
struct Stem<'a> {
    width: usize,
    table: &'a [f32],
    biases: &'a [f32],
    inputs: &'a [(u32, f32)],
    ends: &'a [usize],
    to: &'a mut [f32],
}

/// Computes `V` SIMD vectors of one decision's sums, starting at column `at`.
#[inline(always)]
fn stem_pass<S: Simd, const V: usize>(s: S, stem: &Stem, inputs: &[(u32, f32)], at: usize, to: &mut [f32]) {
    let length = V * S::LANES;
    let (biases, to) = (&stem.biases[at..][..length], &mut to[at..][..length]);
    let mut sums = [s.splat(0.0); V];
    for v in 0..V {
        sums[v] = s.load(&biases[v * S::LANES..]);
    }
    for &(input, x) in inputs {
        let row = &stem.table[input as usize * stem.width + at..][..length];
        let x = s.splat(x);
        for v in 0..V {
            sums[v] = s.mul_add(x, s.load(&row[v * S::LANES..]), sums[v]);
        }
    }
    for v in 0..V {
        s.store(sums[v], &mut to[v * S::LANES..]);
    }
}

impl Kernel for Stem<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let to = std::mem::take(&mut self.to);
        let mut first = 0;
        for (&end, to) in self.ends.iter().zip(to.chunks_exact_mut(self.width)) {
            let inputs = &self.inputs[first..end];
            first = end;
            let mut at = 0;
            while at + 8 * S::LANES <= self.width {
                stem_pass::<S, 8>(s, &self, inputs, at, to);
                at += 8 * S::LANES;
            }
            while at < self.width {
                stem_pass::<S, 1>(s, &self, inputs, at, to);
                at += S::LANES;
            }
        }
    }
}
