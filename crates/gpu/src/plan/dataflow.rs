//! Representation of a plan's calls as nodes. A node reads and writes values, which are tensors. Most calls are one node. Three kinds of
//! calls are split, because their parts belong to different kernels. A product with a norm is split because no tile has whole rows. The
//! gradient of a norm is split because its sums over rows share a kernel with other sums. An embedding bag with bias and relu is split
//! because bias and relu share a kernel with later nodes. Results that nothing reads are omitted.

use super::attention::Shape;
use super::head::Head;
use graph::{Act, Call, Layout, Place, Plan, Sums};
use learn::Fault;
use math::{Binary, Span, Unary};
use std::collections::BTreeSet;
use std::ops::Range;

/// Location of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Location {
    /// The value is in the arena. Fusion may keep it in registers only.
    Arena,
    /// The value is in the arena, and the caller writes it before a run.
    Input,
    /// The value is a constant in the arena.
    Constant(Vec<f32>),
    /// Offset in the parameters.
    Param(usize),
    /// Offset in the gradients. If `adds` is true, the value is added to the contents at this offset; else it replaces the contents.
    Grad { at: usize, adds: bool },
}

#[derive(Clone, Debug)]
pub(super) struct Value {
    pub len: usize,
    pub location: Location,
    /// Power of two by which the value is multiplied before it is rounded to f16. For the results of an output head, and for values
    /// computed from them, this power is the [`Head::lift`] of the head. For other values, this power is 1.
    pub lift: f32,
}

impl Value {
    fn new(len: usize, location: Location) -> Value {
        Value { len, location, lift: 1.0 }
    }
}

/// Operation of a node. The comment of each variant lists the values that the node reads, an arrow, and the values that the node writes.
/// `?` marks optional values.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// A call of the plan that has no variant of its own. An embedding bag has no bias and no relu here.
    Call(Call),
    /// a, b, bias?, residual?, numbers from which the slope (a derivative) is computed? -> c, then row sums of `a` or saved input of the
    /// activation?
    Product(Form),
    /// x, gamma, beta if centred, residual? -> y, statistics?
    Norm { rows: usize, cols: usize, eps: f32, centred: bool, residual: bool, act: Act },
    /// x, gamma, statistics, dy -> dx
    NormGrad { rows: usize, cols: usize, centred: bool },
    /// x, statistics -> (x - mean)/std
    Normed { cols: usize },
    /// qkv -> y, logarithms of the softmax sums?
    Attention(Shape),
    /// qkv, y, logarithms, dy -> dqkv, sum of y·dy for each row and head
    AttentionGrad(Shape),
    /// x, w, target, dy? -> logits of one tile, loss?, dx?, dw?
    Head(Head),
}

/// Matrix product without its operands. `shape` is (m, n, k); `a` and `b` are the (outer, inner) strides of the factors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    pub shape: [usize; 3],
    pub a: [usize; 2],
    pub b: [usize; 2],
    pub bias: bool,
    pub residual: bool,
    pub act: Act,
    pub slope: Option<Unary>,
    pub saves: bool,
    pub half: Option<[f32; 2]>,
}

impl Form {
    fn new(shape: [usize; 3], a: [usize; 2], b: [usize; 2]) -> Form {
        Form { shape, a, b, bias: false, residual: false, act: Act::None, slope: None, saves: false, half: None }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub op: Op,
    pub reads: Vec<usize>,
    pub writes: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Dataflow {
    /// The plan's slots in the order of their indices, then parameters, gradients, and values between the nodes of a split call.
    pub values: Vec<Value>,
    pub nodes: Vec<Node>,
    pub outputs: Vec<usize>,
}

impl Dataflow {
    pub fn of(plan: &Plan) -> Result<Dataflow, Fault> {
        if plan.layout() == Layout::Panels {
            return Err(Fault::Unknown { what: "a plan in panels".into() });
        }
        let slots = plan.slots().iter().map(|slot| Value::new(slot.len(), Location::Arena));
        let outputs = plan.outputs().iter().map(|port| port.slot).collect();
        let mut dataflow = Dataflow { values: slots.collect(), nodes: Vec::new(), outputs };
        for port in plan.inputs() {
            dataflow.values[port.slot].location = Location::Input;
        }
        for (slot, values) in plan.constants() {
            dataflow.values[*slot].location = Location::Constant(values.clone());
        }
        let mut reader = Reader { plan, dataflow };
        plan.steps().iter().for_each(|step| reader.step(step));
        reader.dataflow.leave_out();
        Ok(reader.dataflow)
    }

    pub fn len(&self, value: usize) -> usize {
        self.values[value].len
    }

    /// Orders nodes by depth: the largest number of successive products on a path to the node. Corresponding layers of parallel networks
    /// are then adjacent. Also sets `adds` of each gradient: false for its first write in the new order, true for the later writes.
    pub fn sort(&mut self) {
        let mut there = vec![0; self.values.len()];
        let mut keyed: Vec<(usize, Node)> = Vec::new();
        for node in std::mem::take(&mut self.nodes) {
            let depth = node.reads.iter().map(|&v| there[v]).max().unwrap_or(0);
            let product = matches!(node.op, Op::Product(_) | Op::Head(_));
            node.writes.iter().for_each(|&v| there[v] = depth + usize::from(product));
            // No node reads a gradient, so a gradient of a single number can be computed last, in one kernel with other such gradients.
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

    /// Returns true if two nodes are products of the same form.
    pub fn are_alike(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|n| &self.nodes[n]);
        let adds = |node: &Node| -> Vec<bool> {
            let of = |v: &usize| matches!(self.values[*v].location, Location::Grad { adds: true, .. });
            node.writes.iter().map(of).collect()
        };
        matches!((&one.op, &other.op), (Op::Product(one), Op::Product(other)) if one == other)
            && one.reads.len() == other.reads.len()
            && adds(one) == adds(other)
    }

    /// Removes the nodes that are not needed. A node is needed if one of its results is an output, is a gradient, or is read by a needed
    /// node.
    fn leave_out(&mut self) {
        let mut needed = vec![false; self.values.len()];
        self.outputs.iter().for_each(|&v| needed[v] = true);
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
}

impl Reader<'_> {
    fn value(&mut self, len: usize, location: Location) -> usize {
        self.dataflow.values.push(Value::new(len, location));
        self.dataflow.values.len() - 1
    }

    fn param(&mut self, range: &Range<usize>) -> usize {
        let known = self.dataflow.values.iter().position(|v| v.location == Location::Param(range.start));
        known.unwrap_or_else(|| self.value(range.len(), Location::Param(range.start)))
    }

    fn read(&mut self, place: &Place) -> Option<usize> {
        match place {
            Place::Slot(slot) => Some(*slot),
            Place::Param(range) => Some(self.param(range)),
            Place::Nowhere | Place::Grad { .. } => None,
        }
    }

    fn write(&mut self, place: &Place) -> Option<usize> {
        match place {
            Place::Slot(slot) => Some(*slot),
            Place::Grad { range, first } => Some(self.value(range.len(), Location::Grad { at: range.start, adds: !first })),
            Place::Nowhere | Place::Param(_) => None,
        }
    }

    fn push(&mut self, mut op: Op, reads: Vec<usize>, writes: Vec<usize>) {
        let values = &mut self.dataflow.values;
        let mut lift = reads.iter().map(|&v| values[v].lift).fold(1.0, f32::max);
        match &mut op {
            Op::Product(form) if self.plan.half() => {
                form.half = Some([reads[0], reads[1]].map(|v| values[v].lift));
            }
            Op::Head(head) => lift = head.lift(),
            _ => {}
        }
        writes.iter().for_each(|&v| values[v].lift = lift);
        self.dataflow.nodes.push(Node { op, reads, writes });
    }

    fn weight(&mut self, packed: &Range<usize>) -> usize {
        self.param(&self.plan.unpacked(packed))
    }

    fn step(&mut self, step: &graph::Step) {
        let reads = step.reads.each_ref().map(|place| self.read(place));
        let some: Vec<usize> = reads.iter().flatten().copied().collect();
        let mut writes = step.writes.each_ref().map(|place| self.write(place));
        let (op, reads) = match &step.call {
            &Call::Linear { rows, out, inp, ref packed, eps, act, .. } => {
                let weight = self.weight(packed);
                let normed = reads[3].zip(reads[4]);
                let residual = reads[2].filter(|_| normed.is_none());
                let of_product = [reads[0], Some(weight), reads[1], residual].into_iter().flatten().collect();
                let saved = writes[3].take();
                let product = Op::Product(Form {
                    bias: reads[1].is_some(),
                    residual: residual.is_some(),
                    act: if normed.is_some() { Act::None } else { act },
                    saves: saved.is_some(),
                    ..Form::new([rows, out, inp], [inp, 1], [inp, 1])
                });
                let Some((gamma, beta)) = normed else {
                    let writes = [writes[0], saved].into_iter().flatten().collect();
                    return self.push(product, of_product, writes);
                };
                let pre = writes[1].unwrap_or_else(|| self.value(rows * out, Location::Arena));
                self.push(product, of_product, vec![pre]);
                writes[1] = writes[2].take();
                let of_norm = [Some(pre), Some(gamma), Some(beta), reads[2]].into_iter().flatten().collect();
                (Op::Norm { rows, cols: out, eps, centred: true, residual: reads[2].is_some(), act }, of_norm)
            }
            &Call::LinearDx { rows, out, inp, ref packed, slope } => {
                let weight = self.weight(packed);
                let form = Form::new([rows, inp, out], [out, 1], [1, inp]);
                let of_product = [reads[0], Some(weight), reads[1], reads[2]].into_iter().flatten().collect();
                (Op::Product(Form { residual: reads[1].is_some(), slope, ..form }), of_product)
            }
            &Call::LinearDw { rows, out, inp } => (Op::Product(Form::new([out, inp, rows], [1, out], [1, inp])), some),
            &Call::MatMul { m, n, k, a, b } => (Op::Product(Form::new([m, n, k], [a.0, a.1], [b.1, b.0])), some),
            &Call::Norm { rows, cols, eps, centred, .. } => (Op::Norm { rows, cols, eps, centred, residual: false, act: Act::None }, some),
            &Call::NormGrad { rows, cols, .. } => {
                return self.norm_grad([rows, cols], some, writes);
            }
            &Call::CausalAttention { rows, cols, heads, len } => {
                let shape = Shape { rows, cols, heads, len };
                if let Some(logarithms) = writes[1] {
                    self.dataflow.values[logarithms].len = shape.statistics();
                }
                (Op::Attention(shape), some)
            }
            &Call::CausalAttentionGrad { rows, cols, heads, len } => {
                let shape = Shape { rows, cols, heads, len };
                writes[1] = Some(self.value(shape.statistics(), Location::Arena));
                (Op::AttentionGrad(shape), some)
            }
            &Call::HeadLoss { rows, vocab, inp, ref packed, scale, .. } => {
                let weight = self.weight(packed);
                let [loss, dx, dw, _] = writes.map(|write| write.is_some());
                let (upstream, half) = (some.len() > 2, self.plan.half());
                let head = Head { rows, vocab, inp, scale, upstream, loss, dx, dw, half };
                // The plan's slot has the size of a CPU tile of logits, so a GPU tile needs a value of its own.
                let logits = self.value(head.height() * vocab, Location::Arena);
                writes = [Some(logits), writes[0], writes[1], writes[2]];
                let of_head = [some[0], weight].into_iter().chain(some[1..].iter().copied());
                (Op::Head(head), of_head.collect())
            }
            &Call::EmbeddingBag { rows, cols, k, relu } => {
                let mut op = Call::EmbeddingBag { rows, cols, k, relu: false };
                let mut of_op = some[..2].to_vec();
                let sides = [(Span::Full, 0), (Span::Row, 0)];
                let add = Call::Binary { op: Binary::Add, blocks: 1, rows, cols, a: sides[0], b: sides[1] };
                let bias = reads[2].map(|bias| (add, Some(bias)));
                let relu = relu.then_some((Call::Unary(Unary::Relu), None));
                for (next, other) in bias.into_iter().chain(relu) {
                    let y = self.value(rows * cols, Location::Arena);
                    self.push(Op::Call(std::mem::replace(&mut op, next)), of_op, vec![y]);
                    of_op = [Some(y), other].into_iter().flatten().collect();
                }
                (Op::Call(op), of_op)
            }
            call => (Op::Call(call.clone()), some),
        };
        self.push(op, reads, writes.into_iter().flatten().collect());
    }

    /// Splits the gradient of a norm into several nodes. One node computes the gradient of the norm's input. Other nodes compute sums over
    /// the rows: the gradient of gamma and, if the norm is centred, of beta.
    fn norm_grad(&mut self, [rows, cols]: [usize; 2], reads: Vec<usize>, writes: [Option<usize>; 4]) {
        let [x, stats, dy] = [reads[0], reads[2], reads[3]];
        let [Some(dx), Some(dgamma), dbeta, _] = writes else { unreachable!("a norm has gradients") };
        self.push(Op::NormGrad { rows, cols, centred: dbeta.is_some() }, reads, vec![dx]);
        let [normed, slope] = [0; 2].map(|_| self.value(rows * cols, Location::Arena));
        self.push(Op::Normed { cols }, vec![x, stats], vec![normed]);
        let flat = (Span::Full, 0);
        let product = Call::Binary { op: Binary::Mul, blocks: 1, rows: 1, cols: rows * cols, a: flat, b: flat };
        self.push(Op::Call(product), vec![dy, normed], vec![slope]);
        let sums = Call::Sum { of: Sums::Cols, rows, cols };
        self.push(Op::Call(sums.clone()), vec![slope], vec![dgamma]);
        if let Some(dbeta) = dbeta {
            self.push(Op::Call(sums), vec![dy], vec![dbeta]);
        }
    }
}
