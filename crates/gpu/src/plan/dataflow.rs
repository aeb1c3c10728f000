//! A plan's steps as nodes over values: each value is written once and has no place yet, so that nodes may be put
//! together in other ways than the plan has them. What nothing reads is left out.

use super::attention::Shape;
use super::head::Head;
use graph::{Act, Call, Layout, Place, Plan, Sums};
use learn::Fault;
use math::{Binary, Span, Unary};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Where a value lies.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Location {
    /// Somewhere in the arena, if anywhere.
    Arena,
    /// In the arena, filled before a run.
    Input,
    /// In the arena, always the same.
    Constant(Vec<f32>),
    /// From this float of the parameters on.
    Param(usize),
    /// From this float of the gradients on, in place of what is there or added to it.
    Grad { at: usize, adds: bool },
}

#[derive(Clone, Debug)]
pub(super) struct Value {
    pub len: usize,
    pub location: Location,
    /// What it is multiplied by before it is rounded to f16: a gradient and what follows from it by its head's `lift`.
    pub lift: f32,
}

/// Columns `from..from + width` of a matrix that has `of` become columns `at..` of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub of: usize,
    pub from: usize,
    pub width: usize,
    pub at: usize,
}

/// What a node computes: reads -> writes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op {
    /// x -> x
    Same,
    /// x -> y
    Affine { scale: f32, shift: f32 },
    /// x -> y
    Unary(Unary),
    /// x or y, dy -> dx
    UnaryGrad(Unary),
    /// a, b -> y
    Binary { op: Binary, rows: usize, cols: usize, spans: [Span; 2] },
    /// x, statistics -> (x - mean)/std
    Normed { cols: usize },
    /// x -> y
    SumRows { rows: usize, cols: usize },
    /// x -> y
    Softmax { rows: usize, cols: usize, log: bool },
    /// y, dy -> dx
    SoftmaxGrad { rows: usize, cols: usize, log: bool },
    /// x, index -> y
    Take { rows: usize, cols: usize },
    /// index, dy -> dx
    TakeGrad { rows: usize, cols: usize },
    /// One matrix a part -> y, 0 where there is no part.
    Columns { rows: usize, cols: usize, parts: Vec<Part> },
    /// table, index -> y, of `k` indices a row
    EmbeddingBag { rows: usize, cols: usize, table: usize, k: usize },
    /// x -> y
    SumAll,
    /// x -> y
    SumCols { rows: usize, cols: usize },
    /// a, b, bias?, residual?, what the slope is taken at? -> c, sums of a's rows, or what the activation reads where it is saved?;
    /// sides are (outer, inner) strides.
    Product {
        shape: [usize; 3],
        a: [usize; 2],
        b: [usize; 2],
        bias: bool,
        residual: bool,
        act: Act,
        slope: Option<Unary>,
        saves: bool,
        half: Option<[f32; 2]>,
    },
    /// x, gamma, beta if centred, residual? -> y, statistics?
    Norm { rows: usize, cols: usize, eps: f32, centred: bool, residual: bool, act: Act },
    /// x, gamma, statistics, dy -> dx
    NormGrad { rows: usize, cols: usize, centred: bool },
    /// x, table of cosines and sines -> y
    Rotary { rows: usize, cols: usize, size: usize, len: usize, back: bool },
    /// qkv -> y, logarithms of sums?
    Attention(Shape),
    /// qkv, y, logarithms, dy -> dqkv, the sum of y·dy of each row and head
    AttentionGrad(Shape),
    /// x, w, target, dy? -> logits of some rows, loss?, dx?, dw?
    Head(Head),
    /// x, step -> y
    Dropout { p: f32, key: [u32; 4] },
    /// corpus, starts -> y
    Windows { len: usize, shift: usize },
    /// index, dy -> dtable
    EmbeddingBagGrad { rows: usize, cols: usize, table: usize, k: usize },
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub op: Op,
    pub reads: Vec<usize>,
    pub writes: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Dataflow {
    pub values: Vec<Value>,
    pub nodes: Vec<Node>,
    pub inputs: Vec<(Arc<str>, usize)>,
    pub outputs: Vec<(Arc<str>, usize)>,
}

impl Dataflow {
    pub fn of(plan: &Plan) -> Result<Dataflow, Fault> {
        if plan.layout() == Layout::Panels {
            return Err(Fault::Unknown { what: "a plan in panels".into() });
        }
        let mut reader =
            Reader { plan, dataflow: Dataflow::default(), slots: BTreeMap::new(), ranges: BTreeMap::new() };
        for port in plan.inputs() {
            let value = reader.define(port.slot, Location::Input);
            reader.dataflow.inputs.push((port.name.clone(), value));
        }
        for (slot, values) in plan.constants() {
            reader.define(*slot, Location::Constant(values.clone()));
        }
        for step in plan.steps() {
            reader.step(step);
        }
        for port in plan.outputs() {
            // What lies there at the end.
            let range = &plan.slots()[port.slot];
            let value = reader.ranges[&(range.start, range.end)];
            reader.dataflow.outputs.push((port.name.clone(), value));
        }
        reader.dataflow.leave_out();
        Ok(reader.dataflow)
    }

    pub fn len(&self, value: usize) -> usize {
        self.values[value].len
    }

    /// Fuses to products what their neighbours would take a pass over memory for: the way of a gradient
    /// through an activation, at the end of the product that gives the gradient; and the sums of a wide matrix'
    /// columns, the gradient of a bias, in the product that reads it for the gradient of the weight.
    pub fn join_products(&mut self, widest: usize) {
        let mut readers = vec![Vec::new(); self.values.len()];
        for (n, node) in self.nodes.iter().enumerate() {
            node.reads.iter().for_each(|&v| readers[v].push(n));
        }
        let is_output: Vec<usize> = self.outputs.iter().map(|output| output.1).collect();
        let mut gone = vec![false; self.nodes.len()];
        for n in 0..self.nodes.len() {
            let Op::Product { act: Act::None, slope: None, .. } = self.nodes[n].op else { continue };
            let c = self.nodes[n].writes[0];
            let [next] = readers[c][..] else { continue };
            let Node { op: Op::UnaryGrad(of), reads, writes } = &self.nodes[next] else { continue };
            let at = reads[0];
            let known = matches!(of, Unary::Relu | Unary::Tanh | Unary::Gelu | Unary::Sigmoid);
            let plain = self.values[c].location == Location::Arena
                && self.values[writes[0]].location == Location::Arena;
            // What the slope is taken at has to be there already.
            let there = !self.nodes[n..].iter().any(|node| node.writes.contains(&at));
            if known && plain && there && at != c && !is_output.contains(&c) {
                let (of, to) = (*of, writes[0]);
                gone[next] = true;
                let node = &mut self.nodes[n];
                node.writes[0] = to;
                node.reads.push(at);
                if let Op::Product { slope, .. } = &mut node.op {
                    *slope = Some(of);
                }
            }
        }
        let mut written: BTreeMap<usize, usize> = BTreeMap::new();
        for node in &self.nodes {
            for &v in &node.writes {
                if let Location::Grad { at, .. } = self.values[v].location {
                    *written.entry(at).or_default() += 1;
                }
            }
        }
        for n in 0..self.nodes.len() {
            let Op::SumCols { rows, cols } = self.nodes[n].op else { continue };
            let (x, to) = (self.nodes[n].reads[0], self.nodes[n].writes[0]);
            // Where others write too, their order counts.
            let alone = matches!(self.values[to].location, Location::Grad { at, .. } if written[&at] == 1);
            let fits = |node: &Node| match node.op {
                Op::Product { shape: [m, _, k], a, .. } => {
                    node.reads[0] == x && [m, k] == [cols, rows] && a == [1, cols] && node.writes.len() == 1
                }
                _ => false,
            };
            if cols > widest
                && alone
                && let Some(&product) = readers[x].iter().find(|&&n| fits(&self.nodes[n]))
            {
                gone[n] = true;
                self.nodes[product].writes.push(to);
            }
        }
        let mut index = 0..;
        self.nodes.retain(|_| !gone[index.next().unwrap_or_default()]);
    }

    /// Orders nodes by how many products lie before them, so that layers of networks side by side lie side by side.
    /// Who writes a gradient first changes with it: that one replaces what is there, the others add.
    pub fn sort(&mut self) {
        let mut there = vec![0; self.values.len()];
        let mut keyed: Vec<(usize, Node)> = Vec::new();
        for node in std::mem::take(&mut self.nodes) {
            let depth = node.reads.iter().map(|&v| there[v]).max().unwrap_or(0);
            let product = matches!(node.op, Op::Product { .. } | Op::Head(_));
            node.writes.iter().for_each(|&v| there[v] = depth + usize::from(product));
            // Nobody waits for a gradient, and a single number finds a kernel of others to go along with.
            let to = &self.values[node.writes[0]];
            let waits = to.len == 1 && !product && matches!(to.location, Location::Grad { .. });
            keyed.push((if waits { usize::MAX } else { depth }, node));
        }
        keyed.sort_by_key(|(depth, _)| *depth);
        self.nodes = keyed.into_iter().map(|(_, node)| node).collect();
        let mut written = BTreeSet::new();
        for &v in self.nodes.iter().flat_map(|node| &node.writes) {
            if let Location::Grad { at, adds } = &mut self.values[v].location {
                *adds = !written.insert(*at);
            }
        }
    }

    /// Whether two nodes are products of the same form.
    pub fn are_alike(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|n| &self.nodes[n]);
        let adds = |node: &Node| -> Vec<bool> {
            let of = |v: &usize| matches!(self.values[*v].location, Location::Grad { adds: true, .. });
            node.writes.iter().map(of).collect()
        };
        matches!(one.op, Op::Product { .. })
            && one.op == other.op
            && one.reads.len() == other.reads.len()
            && adds(one) == adds(other)
    }

    /// Drops nodes that nothing needs.
    fn leave_out(&mut self) {
        let mut needed = vec![false; self.values.len()];
        for (_, value) in &self.outputs {
            needed[*value] = true;
        }
        let mut kept = Vec::new();
        for mut node in std::mem::take(&mut self.nodes).into_iter().rev() {
            let wanted = |v: &usize| needed[*v] || matches!(self.values[*v].location, Location::Grad { .. });
            if !node.writes.iter().any(wanted) {
                continue;
            }
            if let (Op::Norm { .. } | Op::Attention(_), Some(stats)) = (&node.op, node.writes.get(1))
                && !needed[*stats]
            {
                node.writes.pop();
            }
            for &v in &node.reads {
                needed[v] = true;
            }
            kept.push(node);
        }
        kept.reverse();
        self.nodes = kept;
    }
}

struct Reader<'a> {
    plan: &'a Plan,
    dataflow: Dataflow,
    /// What each slot holds now.
    slots: BTreeMap<usize, usize>,
    /// What was last written to each range of the arena.
    ranges: BTreeMap<(usize, usize), usize>,
}

impl Reader<'_> {
    fn value(&mut self, len: usize, location: Location) -> usize {
        self.dataflow.values.push(Value { len, location, lift: 1.0 });
        self.dataflow.values.len() - 1
    }

    fn define(&mut self, slot: usize, location: Location) -> usize {
        let range = self.plan.slots()[slot].clone();
        let value = self.value(range.len(), location);
        self.slots.insert(slot, value);
        self.ranges.insert((range.start, range.end), value);
        value
    }

    fn param(&mut self, range: &Range<usize>) -> usize {
        let known = self.dataflow.values.iter().position(|v| v.location == Location::Param(range.start));
        known.unwrap_or_else(|| self.value(range.len(), Location::Param(range.start)))
    }

    fn read(&mut self, place: &Place) -> Option<usize> {
        match place {
            Place::Slot(slot) => Some(self.slots[slot]),
            Place::Param(range) => Some(self.param(range)),
            Place::Nowhere | Place::Grad { .. } => None,
        }
    }

    fn write(&mut self, place: &Place) -> Option<usize> {
        match place {
            Place::Slot(slot) => Some(self.define(*slot, Location::Arena)),
            Place::Grad { range, first } => {
                Some(self.value(range.len(), Location::Grad { at: range.start, adds: !first }))
            }
            Place::Nowhere | Place::Param(_) => None,
        }
    }

    fn push(&mut self, mut op: Op, reads: Vec<usize>, writes: Vec<usize>) {
        let values = &mut self.dataflow.values;
        let mut lift = reads.iter().map(|&v| values[v].lift).fold(1.0, f32::max);
        match &mut op {
            Op::Product { half, .. } if self.plan.half() => {
                *half = Some([reads[0], reads[1]].map(|v| values[v].lift));
            }
            Op::Head(head) => lift = head.lift(),
            _ => {}
        }
        writes.iter().for_each(|&v| values[v].lift = lift);
        self.dataflow.nodes.push(Node { op, reads, writes });
    }

    fn step(&mut self, step: &graph::Step) {
        // Reads first: a step may write over what it reads.
        let reads = step.reads.each_ref().map(|place| self.read(place));
        let some: Vec<usize> = reads.iter().flatten().copied().collect();
        if let &Call::Copy { runs, len, x, y, clear } = &step.call {
            return self.copy([runs, len], x, y, clear, some[0], &step.writes[0]);
        }
        let mut writes = step.writes.each_ref().map(|place| self.write(place));
        let simple = |op| (op, some.clone());
        let plain = |a, b, [m, n, k]: [usize; 3]| Op::Product {
            shape: [m, n, k],
            a,
            b,
            bias: false,
            residual: false,
            act: Act::None,
            slope: None,
            saves: false,
            half: None,
        };
        let (op, reads) = match &step.call {
            &Call::Linear { rows, out, inp, ref packed, eps, act, .. } => {
                let weight = self.plan.unpacked(packed);
                let weight = self.param(&weight);
                let x = reads[0].expect("a product has an operand");
                let mut of_product = vec![x, weight];
                of_product.extend(reads[1]);
                let normed = reads[3].zip(reads[4]);
                let residual = reads[2].filter(|_| normed.is_none());
                of_product.extend(residual);
                let saved = writes[3].take();
                let product = Op::Product {
                    shape: [rows, out, inp],
                    a: [inp, 1],
                    b: [inp, 1],
                    bias: reads[1].is_some(),
                    residual: residual.is_some(),
                    act: if normed.is_some() { Act::None } else { act },
                    slope: None,
                    saves: saved.is_some(),
                    half: None,
                };
                let Some((gamma, beta)) = normed else {
                    let of_product_writes = [writes[0], saved].into_iter().flatten().collect();
                    return self.push(product, of_product, of_product_writes);
                };
                let pre = writes[1].unwrap_or_else(|| self.value(rows * out, Location::Arena));
                self.push(product, of_product, vec![pre]);
                let mut of_norm = vec![pre, gamma, beta];
                of_norm.extend(reads[2]);
                writes[1] = writes[2].take();
                (Op::Norm { rows, cols: out, eps, centred: true, residual: reads[2].is_some(), act }, of_norm)
            }
            &Call::LinearDx { rows, out, inp, ref packed } => {
                let weight = self.plan.unpacked(packed);
                let mut of_product = vec![reads[0].expect("a product has an operand"), self.param(&weight)];
                of_product.extend(reads[1]);
                let product = Op::Product {
                    shape: [rows, inp, out],
                    a: [out, 1],
                    b: [1, inp],
                    bias: false,
                    residual: reads[1].is_some(),
                    act: Act::None,
                    slope: None,
                    saves: false,
                    half: None,
                };
                (product, of_product)
            }
            &Call::LinearDw { rows, out, inp } => simple(plain([1, out], [1, inp], [out, inp, rows])),
            &Call::MatMul { m, n, k, a, b } => simple(plain([a.0, a.1], [b.1, b.0], [m, n, k])),
            &Call::Affine { scale, shift } => simple(Op::Affine { scale, shift }),
            &Call::Unary(op) => simple(Op::Unary(op)),
            &Call::UnaryGrad(op) => simple(Op::UnaryGrad(op)),
            // In rows there is one block.
            &Call::Binary { op, rows, cols, a, b, .. } => {
                simple(Op::Binary { op, rows, cols, spans: [a.0, b.0] })
            }
            &Call::Sum { of: Sums::All, .. } => simple(Op::SumAll),
            &Call::Sum { of: Sums::Rows, rows, cols } => simple(Op::SumRows { rows, cols }),
            &Call::Sum { of: Sums::Cols, rows, cols } => simple(Op::SumCols { rows, cols }),
            &Call::LayerNorm { rows, cols, eps, .. } => {
                simple(Op::Norm { rows, cols, eps, centred: true, residual: false, act: Act::None })
            }
            &Call::RmsNorm { rows, cols, eps } => {
                simple(Op::Norm { rows, cols, eps, centred: false, residual: false, act: Act::None })
            }
            &Call::LayerNormGrad { rows, cols } | &Call::RmsNormGrad { rows, cols } => {
                let [x, stats, dy] = [some[0], some[2], some[3]];
                let [Some(dx), Some(dgamma), dbeta, _] = writes else { unreachable!("a norm has gradients") };
                self.push(Op::NormGrad { rows, cols, centred: dbeta.is_some() }, some, vec![dx]);
                let normed = self.value(rows * cols, Location::Arena);
                self.push(Op::Normed { cols }, vec![x, stats], vec![normed]);
                let slope = self.value(rows * cols, Location::Arena);
                let flat = [Span::Full; 2];
                let product = Op::Binary { op: Binary::Mul, rows: 1, cols: rows * cols, spans: flat };
                self.push(product, vec![dy, normed], vec![slope]);
                self.push(Op::SumCols { rows, cols }, vec![slope], vec![dgamma]);
                if let Some(dbeta) = dbeta {
                    self.push(Op::SumCols { rows, cols }, vec![dy], vec![dbeta]);
                }
                return;
            }
            &Call::Rotary { rows, cols, size, back } => {
                simple(Op::Rotary { rows, cols, size, len: self.dataflow.len(some[1]) / size, back })
            }
            &Call::CausalAttention { rows, cols, heads, len } => {
                let shape = Shape { rows, cols, heads, len };
                if let Some(logarithms) = writes[1] {
                    self.dataflow.values[logarithms].len = shape.statistics();
                }
                simple(Op::Attention(shape))
            }
            &Call::CausalAttentionGrad { rows, cols, heads, len } => {
                let shape = Shape { rows, cols, heads, len };
                writes[1] = Some(self.value(shape.statistics(), Location::Arena));
                simple(Op::AttentionGrad(shape))
            }
            &Call::HeadLoss { rows, vocab, inp, ref packed, scale, .. } => {
                let weight = self.plan.unpacked(packed);
                let weight = self.param(&weight);
                let [loss, dx, dw, _] = writes.map(|write| write.is_some());
                let (upstream, half) = (some.len() > 2, self.plan.half());
                let head = Head { rows, vocab, inp, scale, upstream, loss, dx, dw, half };
                // Tiles are of another height here.
                let logits = self.value(head.height() * vocab, Location::Arena);
                writes = [Some(logits), writes[0], writes[1], writes[2]];
                let of_head = [some[0], weight].into_iter().chain(some[1..].iter().copied());
                (Op::Head(head), of_head.collect())
            }
            &Call::Dropout { p, rng } => simple(Op::Dropout { p, key: rng.key }),
            &Call::Windows { len, shift } => simple(Op::Windows { len, shift }),
            &Call::Softmax { rows, cols, log, .. } => simple(Op::Softmax { rows, cols, log }),
            &Call::SoftmaxGrad { rows, cols, log } => simple(Op::SoftmaxGrad { rows, cols, log }),
            &Call::Take { rows, cols } => simple(Op::Take { rows, cols }),
            &Call::TakeGrad { rows, cols } => simple(Op::TakeGrad { rows, cols }),
            &Call::EmbeddingBag { rows, cols, k, relu } => {
                let mut op = Op::EmbeddingBag { rows, cols, table: self.dataflow.len(some[0]) / cols, k };
                let mut of_op = some[..2].to_vec();
                // What the processor does in passing are neighbours here.
                let add = Op::Binary { op: Binary::Add, rows, cols, spans: [Span::Full, Span::Row] };
                let bias = reads[2].map(|bias| (add, Some(bias)));
                let relu = relu.then_some((Op::Unary(Unary::Relu), None));
                for (next, other) in bias.into_iter().chain(relu) {
                    let y = self.value(rows * cols, Location::Arena);
                    self.push(std::mem::replace(&mut op, next), of_op, vec![y]);
                    of_op = [Some(y), other].into_iter().flatten().collect();
                }
                (op, of_op)
            }
            &Call::EmbeddingBagGrad { rows, cols, k } => {
                let to = writes[0].expect("a gradient is written");
                simple(Op::EmbeddingBagGrad { rows, cols, table: self.dataflow.len(to) / cols, k })
            }
            Call::Collect => simple(Op::Same),
            Call::Copy { .. } => unreachable!("done above"),
        };
        self.push(op, reads, writes.into_iter().flatten().collect());
    }

    /// Copies of columns into one matrix are one node.
    fn copy(
        &mut self,
        [rows, width]: [usize; 2],
        x: (usize, usize),
        y: (usize, usize),
        clear: bool,
        read: usize,
        to: &Place,
    ) {
        let part = Part { of: x.0, from: x.1, width, at: y.1 };
        if let (&Place::Slot(slot), false) = (to, clear)
            && let Some(&value) = self.slots.get(&slot)
            && let Some(node) = self.dataflow.nodes.iter_mut().find(|node| node.writes == [value])
            && let Op::Columns { parts, .. } = &mut node.op
        {
            parts.push(part);
            node.reads.push(read);
            return;
        }
        let writes: Vec<usize> = self.write(to).into_iter().collect();
        let op = if y.0 == 0 { Op::Same } else { Op::Columns { rows, cols: y.0, parts: vec![part] } };
        self.push(op, vec![read], writes);
    }
}
