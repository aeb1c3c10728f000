//! Builder of a model. A model is a list of nodes with fixed two-dimensional shapes.
//!
//! Each operation has a method that checks shapes and appends nodes. The values of the nodes are computed later, when a plan runs. A wrong
//! shape panics at the caller's line. This file does not depend on plans, memory or instruction sets.

use crate::op::{Op, Sums};
use crate::params::{Init, ParamSpec, Table};
use crate::shape::Shape;
use math::{Binary, Rng, Unary};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) usize);

impl NodeId {
    /// Returns the index of the node in the graph and in the result of [`crate::reference::evaluate`].
    pub fn index(self) -> usize {
        self.0
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub op: Op,
    pub inputs: Vec<NodeId>,
    pub shape: Shape,
}

/// A model as a list of nodes. Each node reads only earlier nodes.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) table: Table,
}

impl Graph {
    pub fn new() -> Graph {
        Graph::default()
    }

    /// Creates an empty graph with the parameter table of `other`, so that both graphs run on the same [`crate::Params`].
    pub fn like(other: &Graph) -> Graph {
        Graph { nodes: Vec::new(), table: other.table.clone() }
    }

    pub fn shape(&self, x: NodeId) -> Shape {
        self.nodes[x.0].shape
    }

    /// Returns the name and shape of each input, in the order of creation.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, Shape)> {
        self.nodes.iter().filter_map(|node| match &node.op {
            Op::Input(name) => Some((&**name, node.shape)),
            _ => None,
        })
    }

    /// Returns the table of trainable parameters: names, shapes, offsets.
    pub fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn push(&mut self, op: Op, inputs: &[NodeId], shape: Shape) -> NodeId {
        self.nodes.push(Node { op, inputs: inputs.to_vec(), shape });
        NodeId(self.nodes.len() - 1)
    }

    // ---- leaves ----

    /// Appends an input that the caller fills before each run.
    #[track_caller]
    pub fn input(&mut self, name: &str, shape: Shape) -> NodeId {
        assert!(shape[0] > 0 && shape[1] > 0, "input {name} is empty: {shape:?}");
        let taken = self.nodes.iter().any(|n| matches!(&n.op, Op::Input(other) if **other == *name));
        assert!(!taken, "two inputs are named {name}");
        self.push(Op::Input(name.into()), &[], shape)
    }

    /// Returns the node of a trainable matrix. Nodes with the same name share one parameter.
    #[track_caller]
    pub fn param(&mut self, name: &str, shape: Shape, init: Init) -> NodeId {
        self.trained(ParamSpec { name: name.into(), shape, vector: false, offset: 0, init })
    }

    /// Returns the node of a trainable row `[1, len]`, such as a bias or a gain. Files store the row with a single dimension.
    #[track_caller]
    pub fn vector(&mut self, name: &str, len: usize, init: Init) -> NodeId {
        self.trained(ParamSpec { name: name.into(), shape: [1, len], vector: true, offset: 0, init })
    }

    #[track_caller]
    fn trained(&mut self, spec: ParamSpec) -> NodeId {
        let shape = spec.shape;
        assert!(shape[0] > 0 && shape[1] > 0, "parameter {} is empty: {shape:?}", spec.name);
        let index = self.table.add(spec);
        let known = self.nodes.iter().position(|n| matches!(n.op, Op::Param(i) if i == index));
        known.map_or_else(|| self.push(Op::Param(index), &[], shape), NodeId)
    }

    /// Appends a constant with these row-major values.
    #[track_caller]
    pub fn constant(&mut self, values: &[f32], shape: Shape) -> NodeId {
        assert_eq!(values.len(), shape[0] * shape[1], "a constant of shape {shape:?}");
        self.push(Op::Constant(Arc::from(values)), &[], shape)
    }

    pub fn scalar(&mut self, value: f32) -> NodeId {
        self.constant(&[value], [1, 1])
    }

    /// Returns the value of `x` if `x` is a `[1, 1]` constant, else `None`.
    fn scalar_of(&self, x: NodeId) -> Option<f32> {
        match &self.nodes[x.0].op {
            Op::Constant(v) if v.len() == 1 => Some(v[0]),
            _ => None,
        }
    }

    // ---- products ----

    /// Appends `a·b`; `ta` transposes a, and `tb` transposes b.
    #[track_caller]
    pub fn matmul(&mut self, a: NodeId, b: NodeId, ta: bool, tb: bool) -> NodeId {
        let (mut sa, mut sb) = (self.shape(a), self.shape(b));
        if ta {
            sa.reverse();
        }
        if tb {
            sb.reverse();
        }
        assert_eq!(sa[1], sb[0], "matmul of {sa:?} and {sb:?}");
        self.push(Op::MatMul { ta, tb }, &[a, b], [sa[0], sb[1]])
    }

    /// Appends `x·wᵀ + b`: x `[rows, in]`, w `[out, in]`, b `[1, out]`.
    #[track_caller]
    pub fn linear(&mut self, x: NodeId, w: NodeId, b: NodeId) -> NodeId {
        let product = self.matmul(x, w, false, true);
        self.add(product, b)
    }

    /// Appends a [`Graph::linear`] with the parameters `name.weight` (initialised by `init`) and `name.bias` (zeros).
    #[track_caller]
    pub fn dense(&mut self, x: NodeId, name: &str, out: usize, init: Init) -> NodeId {
        let inp = self.shape(x)[1];
        let w = self.param(&format!("{name}.weight"), [out, inp], init);
        let b = self.vector(&format!("{name}.bias"), out, Init::Zeros);
        self.linear(x, w, b)
    }

    // ---- functions of one value ----

    fn map(&mut self, x: NodeId, op: Op) -> NodeId {
        let shape = self.shape(x);
        self.push(op, &[x], shape)
    }

    /// Returns the node of `x·scale + shift`.
    pub fn affine(&mut self, x: NodeId, scale: f32, shift: f32) -> NodeId {
        if scale == 1.0 && shift == 0.0 {
            return x;
        }
        match (self.scalar_of(x), &self.nodes[x.0].op) {
            (Some(v), _) => self.scalar(v * scale + shift),
            // Two successive scalings are merged.
            (_, &Op::Affine { scale: s, shift: 0.0 }) => {
                let inner = self.nodes[x.0].inputs[0];
                self.map(inner, Op::Affine { scale: s * scale, shift })
            }
            _ => self.map(x, Op::Affine { scale, shift }),
        }
    }
    pub fn neg(&mut self, x: NodeId) -> NodeId {
        self.affine(x, -1.0, 0.0)
    }
}

/// Defines methods that append a function of each value.
macro_rules! maps {
    ($($(#[$doc:meta])* $name:ident = $of:ident;)*) => {
        impl Graph {$(
            $(#[$doc])*
            pub fn $name(&mut self, x: NodeId) -> NodeId {
                self.map(x, Op::Unary(Unary::$of))
            }
        )*}
    };
}
maps! {
    relu = Relu;
    tanh = Tanh;
    gelu = Gelu;
    sigmoid = Sigmoid;
    /// Appends `x·sigmoid(x)`.
    silu = Silu;
    exp = Exp;
    ln = Ln;
    square = Square;
    sqrt = Sqrt;
}

/// Defines methods that append a function of two values.
macro_rules! zips {
    ($($(#[$doc:meta])* $name:ident = $of:ident;)*) => {
        impl Graph {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&mut self, a: NodeId, b: NodeId) -> NodeId {
                self.zip(a, b, Binary::$of)
            }
        )*}
    };
}
zips! {
    add = Add;
    sub = Sub;
    div = Div;
    /// Appends the smaller of `a` and `b`. In a tie, `a` receives the gradient.
    min = Min;
    /// Appends the larger of `a` and `b`. In a tie, `a` receives the gradient.
    max = Max;
    /// Appends 1 where `a > b`, else 0. No gradient passes through this node.
    greater = Greater;
}

impl Graph {
    // ---- functions of two values: the shapes are equal, or an operand is a row, a column or a scalar ----

    #[track_caller]
    fn zip(&mut self, a: NodeId, b: NodeId, of: Binary) -> NodeId {
        let (sa, sb) = (self.shape(a), self.shape(b));
        let shape = [sa[0].max(sb[0]), sa[1].max(sb[1])];
        let fits = |s: Shape| (0..2).all(|i| s[i] == shape[i] || s[i] == 1);
        assert!(fits(sa) && fits(sb), "{of:?} of {sa:?} and {sb:?}");
        self.push(Op::Binary(of), &[a, b], shape)
    }
    #[track_caller]
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.scalar_of(a), self.scalar_of(b)) {
            (_, Some(scale)) => self.affine(a, scale, 0.0),
            (Some(scale), _) => self.affine(b, scale, 0.0),
            _ => self.zip(a, b, Binary::Mul),
        }
    }
    pub fn clamp(&mut self, x: NodeId, lo: f32, hi: f32) -> NodeId {
        let (lo, hi) = (self.scalar(lo), self.scalar(hi));
        let below = self.min(x, hi);
        self.max(below, lo)
    }

    // ---- along an axis ----

    fn sum(&mut self, x: NodeId, of: Sums) -> NodeId {
        let [rows, cols] = self.shape(x);
        let shape = match of {
            Sums::All => [1, 1],
            Sums::Rows => [rows, 1],
            Sums::Cols => [1, cols],
        };
        if shape == [rows, cols] { x } else { self.push(Op::Sum(of), &[x], shape) }
    }
    /// Returns the sum of each row: `[r, c] -> [r, 1]`.
    pub fn sum_rows(&mut self, x: NodeId) -> NodeId {
        self.sum(x, Sums::Rows)
    }
    /// Returns the sum of each column: `[r, c] -> [1, c]`.
    pub fn sum_cols(&mut self, x: NodeId) -> NodeId {
        self.sum(x, Sums::Cols)
    }
    /// Returns the sum of all numbers: `[r, c] -> [1, 1]`.
    pub fn sum_all(&mut self, x: NodeId) -> NodeId {
        self.sum(x, Sums::All)
    }
    pub fn mean_all(&mut self, x: NodeId) -> NodeId {
        let [rows, cols] = self.shape(x);
        let sum = self.sum_all(x);
        self.affine(sum, 1.0 / (rows * cols) as f32, 0.0)
    }
    /// Repeats a row, a column or a scalar until it has the shape `shape`. Binary operations broadcast their operands without this node.
    #[track_caller]
    pub fn broadcast(&mut self, x: NodeId, shape: Shape) -> NodeId {
        let from = self.shape(x);
        assert!((0..2).all(|i| from[i] == shape[i] || from[i] == 1), "broadcast {from:?} to {shape:?}");
        if from == shape { x } else { self.push(Op::Broadcast, &[x], shape) }
    }

    // ---- along each row ----

    /// Appends `(x - mean)/√(variance + eps)·gamma + beta` of each row, with gamma and beta `[1, cols]`.
    #[track_caller]
    pub fn layer_norm(&mut self, x: NodeId, gamma: NodeId, beta: NodeId, eps: f32) -> NodeId {
        let shape = self.shape(x);
        assert_eq!([self.shape(gamma), self.shape(beta)], [[1, shape[1]]; 2], "layer norm of {shape:?}");
        self.push(Op::Norm { eps, centred: true }, &[x, gamma, beta], shape)
    }
    /// Appends a [`Graph::layer_norm`] with the parameters `name.weight` (ones) and `name.bias` (zeros), and eps = 1e-5.
    #[track_caller]
    pub fn norm(&mut self, x: NodeId, name: &str) -> NodeId {
        let cols = self.shape(x)[1];
        let gamma = self.vector(&format!("{name}.weight"), cols, Init::Ones);
        let beta = self.vector(&format!("{name}.bias"), cols, Init::Zeros);
        self.layer_norm(x, gamma, beta, 1e-5)
    }
    /// Appends `x/√(mean of x² + eps)·gamma` of each row, with gamma `[1, cols]`.
    #[track_caller]
    pub fn rms_norm(&mut self, x: NodeId, gamma: NodeId, eps: f32) -> NodeId {
        let shape = self.shape(x);
        assert_eq!(self.shape(gamma), [1, shape[1]], "rms norm of {shape:?}");
        self.push(Op::Norm { eps, centred: false }, &[x, gamma], shape)
    }
    pub fn softmax(&mut self, x: NodeId) -> NodeId {
        self.map(x, Op::Softmax { log: false })
    }
    pub fn log_softmax(&mut self, x: NodeId) -> NodeId {
        self.map(x, Op::Softmax { log: true })
    }

    /// Appends the causal self-attention of rows `q | k | v`: `[rows, 3·d] -> [rows, d]`. There are `len` rows per sequence and `heads`
    /// heads. The columns of a head are adjacent. Scores are divided by √(d/heads). With `rotary`, each head's q and k are first rotated:
    /// the columns i and i + size/2, where size = d/heads, are rotated by the angle position·10000^(-2i/size) (Su et al. 2021).
    #[track_caller]
    pub fn causal_attention(&mut self, qkv: NodeId, heads: usize, len: usize, rotary: bool) -> NodeId {
        let [rows, cols] = self.shape(qkv);
        let size = cols / 3 / heads;
        assert!(cols == 3 * heads * size && rows.is_multiple_of(len), "attention of {:?}", [rows, cols]);
        assert!(size <= math::ops::HEAD && !(rotary && size % 2 == 1), "heads of {size} columns");
        let mut qkv = qkv;
        if rotary {
            let table = math::ops::rotary_table(len, size);
            let same = |node: &Node| matches!(&node.op, Op::Constant(other) if **other == *table);
            let known = self.nodes.iter().position(|node| node.shape == [len, size] && same(node));
            let table = known.map_or_else(|| self.constant(&table, [len, size]), NodeId);
            qkv = self.push(Op::Rotary { back: false }, &[qkv, table], [rows, cols]);
        }
        self.push(Op::CausalAttention { heads, len }, &[qkv], [rows, cols / 3])
    }

    // ---- by index: an index is an integer stored as f32, clamped to the valid range unless stated otherwise ----

    /// Selects one column in each row: x `[r, c]`, index `[r, 1]` -> `[r, 1]`.
    #[track_caller]
    pub fn take(&mut self, x: NodeId, index: NodeId) -> NodeId {
        let rows = self.shape(x)[0];
        assert_eq!(self.shape(index), [rows, 1], "take from {rows} rows");
        self.push(Op::Take, &[x, index], [rows, 1])
    }
    /// Appends sums of table rows: table `[n, c]`, index `[r, k]` -> `[r, c]`. Each output row is the sum of the table rows that its `k`
    /// indices select. An index below 0 is skipped, so a row may have fewer than `k` terms.
    #[track_caller]
    pub fn embedding_bag(&mut self, table: NodeId, index: NodeId) -> NodeId {
        let (rows, cols) = (self.shape(index)[0], self.shape(table)[1]);
        self.push(Op::EmbeddingBag, &[table, index], [rows, cols])
    }

    /// Appends the cross-entropy of each row of `x·wᵀ` with the class in `target`: x `[r, c]`, the parameter w `[n, c]`, target `[r, 1]` ->
    /// `[r, 1]`. The full matrix of logits, `[r, n]`, is never stored.
    #[track_caller]
    pub fn head_loss(&mut self, x: NodeId, w: NodeId, target: NodeId) -> NodeId {
        let ([rows, cols], [_, width]) = (self.shape(x), self.shape(w));
        assert!(matches!(self.nodes[w.0].op, Op::Param(_)), "a head's weights are a parameter");
        assert_eq!((cols, self.shape(target)), (width, [rows, 1]), "head loss of {rows} rows");
        self.push(Op::HeadLoss, &[x, w, target], [rows, 1])
    }
    /// Extracts `b` windows of `len` numbers from a sequence: corpus `[1, n]`, starts `[b, 1]` -> `[b·len, 1]`. Window i begins at position
    /// `starts[i] + shift` of the corpus. Positions beyond the end repeat the last number.
    #[track_caller]
    pub fn windows(&mut self, corpus: NodeId, starts: NodeId, len: usize, shift: usize) -> NodeId {
        let ([one, n], [batch, column]) = (self.shape(corpus), self.shape(starts));
        assert!(one == 1 && column == 1 && len > 0 && n < 1 << 24, "windows of {n} numbers");
        self.push(Op::Windows { len, shift }, &[corpus, starts], [batch * len, 1])
    }

    // ---- random ----

    /// Appends a dropout: each number x becomes `x/(1 - p)`, or 0 with probability `p`. The random choice is a function of `rng`, of the
    /// integer `step` `[1, 1]`, and of the number's index. Each dropout of a model needs its own `rng`.
    #[track_caller]
    pub fn dropout(&mut self, x: NodeId, p: f32, rng: Rng, step: NodeId) -> NodeId {
        assert!((0.0..1.0).contains(&p) && self.shape(step) == [1, 1], "dropout of {p}");
        let shape = self.shape(x);
        if p == 0.0 { x } else { self.push(Op::Dropout { p, rng }, &[x, step], shape) }
    }

    // ---- columns ----

    /// Concatenates columns: `[r, a]` and `[r, b]` -> `[r, a + b]`.
    #[track_caller]
    pub fn concat(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let (sa, sb) = (self.shape(a), self.shape(b));
        assert_eq!(sa[0], sb[0], "concat of {sa:?} and {sb:?}");
        self.push(Op::Concat, &[a, b], [sa[0], sa[1] + sb[1]])
    }
    /// Selects the columns `from..to` of x.
    #[track_caller]
    pub fn slice_cols(&mut self, x: NodeId, from: usize, to: usize) -> NodeId {
        let [rows, cols] = self.shape(x);
        assert!(from < to && to <= cols, "columns {from}..{to} of {cols}");
        self.push(Op::SliceCols { from }, &[x], [rows, to - from])
    }

    /// Appends the values of x, which the gradient treats as constants.
    pub fn stop_gradient(&mut self, x: NodeId) -> NodeId {
        self.map(x, Op::StopGradient)
    }
}
