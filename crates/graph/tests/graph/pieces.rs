//! Single operations; the loss is a weighted sum of the operation's results. The GPU tests use this file too.

use graph::{Graph, Init, NodeId};

pub const INIT: Init = Init::Uniform(1.0);

pub type OfOne = (&'static str, fn(&mut Graph, NodeId) -> NodeId);
pub type OfTwo = (&'static str, fn(&mut Graph, NodeId, NodeId) -> NodeId);

pub const MAPS: [OfOne; 12] = [
    ("relu", Graph::relu),
    ("tanh", Graph::tanh),
    ("gelu", Graph::gelu),
    ("sigmoid", Graph::sigmoid),
    ("silu", Graph::silu),
    ("exp", Graph::exp),
    ("square", Graph::square),
    ("neg", Graph::neg),
    ("affine", |g, x| g.affine(x, -1.5, 0.25)),
    ("clamp", |g, x| g.clamp(x, -0.4, 0.3)),
    ("ln", |g, x| {
        let x = g.affine(x, 0.5, 1.0);
        g.ln(x)
    }),
    ("sqrt", |g, x| {
        let x = g.affine(x, 0.5, 1.0);
        g.sqrt(x)
    }),
];

pub const ZIPS: [OfTwo; 7] = [
    ("add", Graph::add),
    ("sub", Graph::sub),
    ("mul", Graph::mul),
    ("div", |g, a, b| {
        let b = g.affine(b, 0.5, 1.5);
        g.div(a, b)
    }),
    ("min", Graph::min),
    ("max", Graph::max),
    ("greater", |g, a, b| {
        let picked = g.greater(a, b);
        g.mul(picked, a)
    }),
];

/// Reductions and row-wise operations.
pub const ROWS: [OfOne; 11] = [
    ("sum of rows", Graph::sum_rows),
    ("sum of columns", Graph::sum_cols),
    ("sum", Graph::sum_all),
    ("softmax", Graph::softmax),
    ("log softmax", Graph::log_softmax),
    ("broadcast sums", |g, x| {
        let shape = g.shape(x);
        let sums = g.sum_rows(x);
        g.broadcast(sums, shape)
    }),
    ("centred columns", |g, x| {
        let [rows, _] = g.shape(x);
        let sums = g.sum_cols(x);
        let means = g.affine(sums, 1.0 / rows as f32, 0.0);
        let off = g.sub(x, means);
        g.square(off)
    }),
    ("layer norm", |g, x| g.norm(x, "norm")),
    ("rms norm", |g, x| {
        let cols = g.shape(x)[1];
        let gamma = g.vector("gamma", cols, INIT);
        g.rms_norm(x, gamma, 1e-5)
    }),
    ("dropout", |g, x| {
        let step = g.input("index100", [1, 1]);
        g.dropout(x, 0.3, math::Rng::new(7, 2), step)
    }),
    ("two norms", |g, x| {
        let y = g.norm(x, "norm.0");
        g.norm(y, "norm.1")
    }),
];

type Head = (&'static str, fn(&mut Graph, [usize; 3]) -> NodeId);

/// Graphs with a head, for a shape `[rows, vocabulary, inputs]`. In the first and the third graph, all rows have the same weight in the
/// loss, so one kernel computes losses and gradients. In the second graph, another kernel computes the gradients. The third graph needs no
/// gradient of x.
pub const HEADS: [Head; 3] = [
    ("mean of a head's losses", |g, shape| {
        let x = g.param("x", [shape[0], shape[2]], INIT);
        let y = head(g, x, shape[1]);
        g.mean_all(y)
    }),
    ("weighed losses of a head", |g, shape| {
        let x = g.param("x", [shape[0], shape[2]], INIT);
        let y = head(g, x, shape[1]);
        weigh(g, y)
    }),
    ("a head of an input", |g, shape| {
        let x = g.input("x", [shape[0], shape[2]]);
        let y = head(g, x, shape[1]);
        g.sum_all(y)
    }),
];

/// Adds a head with `vocab` classes to the graph. Returns the node of its losses.
pub fn head(g: &mut Graph, x: NodeId, vocab: usize) -> NodeId {
    let [rows, inp] = g.shape(x);
    let w = g.param("w", [vocab, inp], INIT);
    let target = g.input(&format!("index{vocab}"), [rows, 1]);
    g.head_loss(x, w, target)
}

/// Appends a loss that is a weighted sum of the elements of x.
pub fn weigh(g: &mut Graph, x: NodeId) -> NodeId {
    let [rows, cols] = g.shape(x);
    let weights: Vec<f32> = (0..rows * cols).map(|i| ((i * 37 % 19) as f32 - 9.0) / 10.0).collect();
    let w = g.constant(&weights, [rows, cols]);
    let weighed = g.mul(x, w);
    g.sum_all(weighed)
}

/// Appends a weighted sum of f(x), where the parameter x has this shape.
pub fn of_one(g: &mut Graph, shape: [usize; 2], f: fn(&mut Graph, NodeId) -> NodeId) -> NodeId {
    let x = g.param("x", shape, INIT);
    let y = f(g, x);
    weigh(g, y)
}

/// Appends a weighted sum of the elements of a matrix product. `ta` and `tb` are true if the first or the second factor is transposed. Each
/// factor is a parameter, or a function of a parameter if `computed` is true.
pub fn product(g: &mut Graph, [ta, tb]: [bool; 2], computed: bool) -> NodeId {
    let turn = |t: bool, [a, b]: [usize; 2]| if t { [b, a] } else { [a, b] };
    let mut a = g.param("a", turn(ta, [9, 4]), INIT);
    let mut b = g.param("b", turn(tb, [4, 6]), INIT);
    if computed {
        (a, b) = (g.tanh(a), g.tanh(b));
    }
    let y = g.matmul(a, b, ta, tb);
    weigh(g, y)
}

pub fn attention(g: &mut Graph, [rows, heads, size, len]: [usize; 4], rotary: bool) -> NodeId {
    let x = g.param("x", [rows, 3 * heads * size], INIT);
    let y = g.causal_attention(x, heads, len, rotary);
    weigh(g, y)
}

pub fn windows(g: &mut Graph) -> NodeId {
    let (corpus, starts) = (g.input("index5", [1, 40]), g.input("index36", [6, 1]));
    let (index, next) = (g.windows(corpus, starts, 7, 0), g.windows(corpus, starts, 7, 1));
    let table = g.param("table", [5, 3], INIT);
    let (x, y) = (g.embedding_bag(table, index), g.embedding_bag(table, next));
    let y = g.mul(x, y);
    weigh(g, y)
}

pub fn take(g: &mut Graph, classes: usize) -> NodeId {
    let (x, index) = (g.param("x", [9, classes], INIT), g.input(&format!("index{classes}"), [9, 1]));
    let y = g.take(x, index);
    weigh(g, y)
}

pub fn concat_and_slices(g: &mut Graph, wide: usize) -> NodeId {
    let (a, b) = (g.param("a", [4, wide], INIT), g.param("b", [4, 2], INIT));
    let ab = g.concat(a, b);
    let square = g.square(ab);
    let middle = g.slice_cols(square, 1, wide + 1);
    let y = g.mul(middle, a);
    weigh(g, y)
}

pub fn unused_parameter(g: &mut Graph) -> NodeId {
    let a = g.param("a", [4, 3], INIT);
    g.param("b", [2, 2], INIT);
    weigh(g, a)
}
