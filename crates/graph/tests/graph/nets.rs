//! Small nets that the tests share, and numbers for their inputs and parameters.

use graph::{Act, Adam, Executor, Gradients, Graph, Init, Isa, Layout, NodeId, Optimizer, Packed, Params, Plan, models, reference};
use std::sync::Arc;

/// Random inputs and parameters of a graph, in the range -1..1. An input whose name is `index5` contains integers in 0..5.
pub struct Case {
    pub inputs: Vec<(String, [usize; 2], Vec<f64>)>,
    pub params: Vec<f64>,
}

impl Case {
    pub fn new(g: &Graph, seed: u32) -> Case {
        let numbers = |stream: u32, len: usize| {
            let mut numbers = math::Rng::new(seed, stream).sequence(0);
            (0..len).map(move |_| f64::from(numbers.uniform() * 2.0 - 1.0)).collect::<Vec<f64>>()
        };
        let inputs = g.inputs().enumerate().map(|(i, (name, shape))| {
            let mut values = numbers(i as u32, shape[0] * shape[1]);
            if let Some(count) = name.strip_prefix("index").and_then(|n| n.parse::<f64>().ok()) {
                values.iter_mut().for_each(|v| *v = ((*v + 1.0) / 2.0 * count).floor());
            }
            (name.to_string(), shape, values)
        });
        let inputs = inputs.collect();
        let random = numbers(1000, g.table().len());
        let mut params = vec![0.0; g.table().len()];
        for spec in g.table().specs() {
            params[spec.range()].copy_from_slice(&random[spec.range()]);
        }
        Case { inputs, params }
    }

    pub fn reference(&self, g: &Graph) -> Vec<Vec<f64>> {
        let inputs: Vec<(&str, &[f64])> = self.inputs.iter().map(|(n, _, v)| (n.as_str(), v.as_slice())).collect();
        reference::evaluate(g, &inputs, &self.params)
    }

    /// Collects the interpreter's gradients from `values`, which has the values of all nodes. The result has the layout of the parameters.
    pub fn gradient(g: &Graph, gradients: &Gradients, values: &[Vec<f64>]) -> Vec<f64> {
        let mut exact = vec![0.0; g.table().len()];
        for (param, node) in gradients.iter() {
            exact[g.table().specs()[param].range()].copy_from_slice(&values[node.index()]);
        }
        exact
    }

    pub fn params(&self, g: &Graph) -> Params {
        let mut params = Params::new(g.table(), 0);
        params.values_mut().iter_mut().zip(&self.params).for_each(|(to, from)| *to = *from as f32);
        params
    }

    pub fn fill(&self, executor: &mut Executor) {
        let panels = executor.plan().layout() == Layout::Panels;
        let batch = self.inputs.iter().map(|(_, shape, _)| shape[0]).max().unwrap_or(0);
        for (name, [rows, cols], values) in &self.inputs {
            let to = executor.input_mut(name);
            for (i, value) in values.iter().enumerate() {
                let (row, col) = (i / cols, i % cols);
                let place = if panels && *rows == batch { math::reference::panel_index(*cols, row, col) } else { i };
                to[place] = *value as f32;
            }
        }
    }
}

/// A net that is trained on the CPU, with all data that a training step reads and writes.
pub struct Learning {
    pub params: Params,
    pub packed: Packed,
    pub executor: Executor,
    pub grads: Vec<f32>,
    pub optimizer: Optimizer,
}

impl Learning {
    pub fn new(plan: Plan, params: Params) -> Learning {
        let plan = Arc::new(plan);
        Learning {
            packed: Packed::new(&plan, &params),
            executor: Executor::new(&plan),
            grads: vec![0.0; params.values().len()],
            optimizer: Optimizer::new(&params),
            params,
        }
    }

    /// Builds a net, and a case with random numbers from `seed`. Prepares the training of the net on this case.
    pub fn of(isa: Isa, seed: u32, build: impl Fn(&mut Graph) -> NodeId) -> (Case, Learning) {
        let mut g = Graph::new();
        let loss = build(&mut g);
        let gradients = g.gradients(loss);
        let plan = Plan::training(&g, &[("loss", loss)], &gradients, isa).unwrap();
        let case = Case::new(&g, seed);
        let mut learning = Learning::new(plan, case.params(&g));
        case.fill(&mut learning.executor);
        (case, learning)
    }

    pub fn train(&mut self, adds: bool) {
        self.executor.train(&self.params, &self.packed, &mut self.grads, adds);
    }

    /// Performs an optimiser step; returns the gradient's norm.
    pub fn update(&mut self, isa: Isa, adam: &Adam) -> f32 {
        let norm = self.optimizer.step(isa, adam, &mut self.params, &self.grads);
        self.packed.pack(&self.params);
        norm
    }
}

/// Appends the mean cross-entropy of a net's logits; the target classes are the input `index{classes}`.
pub fn cross_entropy(g: &mut Graph, logits: NodeId) -> NodeId {
    let [rows, classes] = g.shape(logits);
    let index = g.input(&format!("index{classes}"), [rows, 1]);
    let log_p = g.log_softmax(logits);
    let taken = g.take(log_p, index);
    let mean = g.mean_all(taken);
    g.neg(mean)
}

pub fn relu_classifier(g: &mut Graph) -> NodeId {
    let x = g.input("x", [20, 9]);
    let logits = models::mlp(g, x, "net", &[16, 12, 5], Act::Relu);
    cross_entropy(g, logits)
}

fn tanh_regression(g: &mut Graph) -> NodeId {
    let (x, target) = (g.input("x", [17, 4]), g.input("target", [17, 1]));
    let y = models::mlp(g, x, "net", &[8, 8, 1], Act::Tanh);
    let error = g.sub(y, target);
    let error = g.square(error);
    g.mean_all(error)
}

fn gelu_residual(g: &mut Graph) -> NodeId {
    let x = g.input("x", [10, 6]);
    let h = models::mlp(g, x, "in", &[8, 8], Act::Gelu);
    let f = models::mlp(g, h, "mid", &[8, 8], Act::Gelu);
    let y = g.add(f, h);
    let y = g.gelu(y);
    let logits = g.dense(y, "out", 3, Init::FanIn);
    cross_entropy(g, logits)
}

pub fn residual_classifier(g: &mut Graph) -> NodeId {
    let x = g.input("x", [12, 10]);
    let logits = models::residual_net(g, x, 16, 2, 4);
    cross_entropy(g, logits)
}

/// Builds a net for a batch of one row. The planner then cannot distinguish a bias, a residual and a row by their shape.
fn one_row(g: &mut Graph) -> NodeId {
    let x = g.input("x", [1, 6]);
    let logits = models::residual_net(g, x, 6, 1, 4);
    cross_entropy(g, logits)
}

/// Builds a net with a layer that is used twice, a sum of two products, and a norm whose input has a second reader.
fn shared_layers(g: &mut Graph) -> NodeId {
    let (x, u) = (g.input("x", [11, 6]), g.input("u", [11, 6]));
    let a = g.dense(x, "shared", 6, Init::FanIn);
    let a = g.tanh(a);
    let a = g.dense(a, "shared", 6, Init::FanIn);
    let b = g.dense(u, "other", 6, Init::FanIn);
    let sum = g.add(a, b);
    let n = g.norm(sum, "norm");
    let y = g.add(n, sum);
    let y = g.relu(y);
    cross_entropy(g, y)
}

/// Builds a transformer layer over sequences of 8 rows.
fn attending(g: &mut Graph) -> NodeId {
    let x = g.input("x", [24, 12]);
    let n = g.norm(x, "norm");
    let qkv = g.dense(n, "qkv", 36, Init::FanIn);
    let y = g.causal_attention(qkv, 2, 8, true);
    let y = g.dense(y, "out", 12, Init::FanIn);
    let y = g.add(x, y);
    let logits = models::mlp(g, y, "mlp", &[20, 5], Act::Gelu);
    cross_entropy(g, logits)
}

/// Builds all parts of a language model except attention: windows of a corpus, rms norms, gated layers, dropout, gelu, and a head that
/// shares the table's weights.
fn language_model(g: &mut Graph) -> NodeId {
    const VOCAB: usize = 19;
    let (corpus, starts) = (g.input("index19", [1, 200]), g.input("index200", [5, 1]));
    let (tokens, targets) = (g.windows(corpus, starts, 6, 0), g.windows(corpus, starts, 6, 1));
    let (table, step) = (g.param("table", [VOCAB, 8], Init::FanIn), g.input("index9", [1, 1]));
    let x = g.embedding_bag(table, tokens);
    let gamma = g.vector("norm.0", 8, Init::Ones);
    let y = g.rms_norm(x, gamma, 1e-5);
    let (gate, up) = (g.dense(y, "gate", 20, Init::FanIn), g.dense(y, "up", 20, Init::FanIn));
    let gate = g.silu(gate);
    let y = g.mul(gate, up);
    let y = g.dense(y, "down", 8, Init::FanIn);
    let y = g.dropout(y, 0.2, math::Rng::new(5, 1), step);
    let x = g.add(x, y);
    let y = g.norm(x, "norm.1");
    let y = models::mlp(g, y, "mlp", &[32, 8], Act::Gelu);
    let x = g.add(x, y);
    let gamma = g.vector("norm.2", 8, Init::Ones);
    let x = g.rms_norm(x, gamma, 1e-5);
    let losses = g.head_loss(x, table, targets);
    g.mean_all(losses)
}

/// Name of a net, and a function that builds the net and returns its loss.
pub type Loss = (&'static str, fn(&mut Graph) -> NodeId);
/// Name of a net, and a function that builds the net for a batch size and returns its output.
pub type Forward = (&'static str, fn(&mut Graph, usize) -> NodeId);

pub const LOSSES: [Loss; 9] = [
    ("relu classifier", relu_classifier),
    ("tanh regression", tanh_regression),
    ("gelu residual", gelu_residual),
    ("residual classifier", residual_classifier),
    ("one row", one_row),
    ("shared layers", shared_layers),
    ("language model", language_model),
    ("attending", attending),
    ("ppo", |g| ppo_loss(g, 40).0),
];

pub const FORWARD: [Forward; 6] = [
    ("mlp", |g, batch| {
        let x = g.input("x", [batch, 7]);
        models::mlp(g, x, "net", &[33, 5], Act::Tanh)
    }),
    ("residual net", |g, batch| {
        let x = g.input("x", [batch, 11]);
        models::residual_net(g, x, 24, 2, 3)
    }),
    ("softmax", |g, batch| {
        let x = g.input("x", [batch, 7]);
        let y = models::mlp(g, x, "net", &[9, 4], Act::Gelu);
        let p = g.softmax(y);
        let log_p = g.log_softmax(y);
        g.mul(p, log_p)
    }),
    ("norm of an input", |g, batch| {
        let x = g.input("x", [batch, 7]);
        g.norm(x, "norm")
    }),
    ("columns", |g, batch| {
        let x = g.input("x", [batch, 7]);
        let (a, b) = (g.slice_cols(x, 0, 3), g.slice_cols(x, 2, 5));
        let ab = g.concat(b, a);
        let one = g.slice_cols(x, 6, 7);
        g.mul(ab, one)
    }),
    ("broadcasts", |g, batch| {
        let (x, knob) = (g.input("x", [batch, 7]), g.input("knob", [1, 1]));
        let row = g.vector("row", 7, Init::Ones);
        let y = g.mul(x, knob);
        let y = g.sub(row, y);
        let y = g.exp(y);
        let column = g.slice_cols(y, 0, 1);
        g.div(column, y)
    }),
];

/// Appends PPO's whole loss, with settings as inputs. Returns the loss, and the monitored values with their names.
pub fn ppo_loss(g: &mut Graph, rows: usize) -> (NodeId, [(&'static str, NodeId); 5]) {
    let obs = g.input("obs", [rows, 4]);
    let column = |g: &mut Graph, name: &str| g.input(name, [rows, 1]);
    let (action, old_log_p) = (column(g, "index2"), column(g, "old_log_p"));
    let (advantage, target) = (column(g, "advantage"), column(g, "return"));
    let knob = |g: &mut Graph, name: &str| g.input(name, [1, 1]);
    let (clip, entropy_coef, value_coef) = (knob(g, "clip"), knob(g, "entropy_coef"), knob(g, "value_coef"));

    let logits = models::mlp(g, obs, "policy", &[8, 8, 2], Act::Tanh);
    let value = models::mlp(g, obs, "value", &[8, 8, 1], Act::Tanh);
    let log_p_all = g.log_softmax(logits);
    let log_p = g.take(log_p_all, action);
    let log_ratio = g.sub(log_p, old_log_p);
    let ratio = g.exp(log_ratio);
    // The clipped surrogate, -min(r·A, clamp(r, 1 - c, 1 + c)·A).
    let (high, low) = (g.affine(clip, 1.0, 1.0), g.affine(clip, -1.0, 1.0));
    let held = g.min(ratio, high);
    let held = g.max(held, low);
    let (plain, clipped) = (g.mul(ratio, advantage), g.mul(held, advantage));
    let surrogate = g.min(plain, clipped);
    let surrogate = g.mean_all(surrogate);
    let policy_loss = g.neg(surrogate);
    let error = g.sub(value, target);
    let error = g.square(error);
    let value_loss = g.mean_all(error);
    let p = g.exp(log_p_all);
    let p_log_p = g.mul(p, log_p_all);
    let negative_entropy = g.sum_all(p_log_p);
    let entropy = g.affine(negative_entropy, -1.0 / rows as f32, 0.0);
    let weighted_value = g.mul(value_loss, value_coef);
    let weighted_entropy = g.mul(entropy, entropy_coef);
    let loss = g.add(policy_loss, weighted_value);
    let loss = g.sub(loss, weighted_entropy);

    // http://joschu.net/blog/kl-approx.html: (r - 1) - ln r
    let kl = g.affine(ratio, 1.0, -1.0);
    let kl = g.sub(kl, log_ratio);
    let kl = g.mean_all(kl);
    let away = g.affine(ratio, 1.0, -1.0);
    let away = g.square(away);
    let limit = g.square(clip);
    let outside = g.greater(away, limit);
    let clip_fraction = g.mean_all(outside);
    let watched = [
        ("policy_loss", policy_loss),
        ("value_loss", value_loss),
        ("entropy", entropy),
        ("approx_kl", kl),
        ("clip_fraction", clip_fraction),
    ];
    (loss, watched)
}
