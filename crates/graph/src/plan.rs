//! From a graph to a list of kernel calls: what is needed, what is fused, how long each tensor lives
//! and where it lies in the one arena. Done once; `exec.rs` replays it. Nothing is computed here.

use crate::buffer::LINE;
use crate::graph::{Gradients, Graph, NodeId, Shape};
use crate::op::{Map, Op, Sums, Wrt, Zip};
use crate::params::Table;
use math::gemm::{packed_panels_len, packed_rows_len, packed_rows_t_len};
use math::{Act, Binary, Isa, PANEL, Span, Unary, panels_len};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// How a batch lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `[batch][features]`: training.
    Rows,
    /// `[batch/32][features][32]`: inference. Tensors with as many rows as the largest input have this
    /// form, inputs and outputs too; the last panel is padded.
    Panels,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("`{op}` of shape {shape:?} has no kernel for panels; plan this graph with Layout::Rows")]
    NoPanels { op: &'static str, shape: Shape },
    #[error("gradients are computed row by row; plan them with Layout::Rows")]
    TrainingPanels,
    #[error("panels need a batch of at least 2 rows; plan this graph with Layout::Rows")]
    TinyBatch,
}

/// Where a kernel reads or writes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    Nowhere,
    /// Index into [`Plan::slots`], the ranges of the arena.
    Slot(usize),
    /// Of the parameters.
    Param(Range<usize>),
    /// Of the gradients; the `first` to write replaces what is there, the others add.
    Grad {
        range: Range<usize>,
        first: bool,
    },
}

/// One kernel call. Which place is which stands at each variant: reads -> writes.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub call: Call,
    pub reads: [Place; 5],
    pub writes: [Place; 3],
    /// The first write has the place of a read: the second (`plus`) of [`Call::LinearDx`], else the first.
    pub in_place: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Call {
    /// x, bias?, residual?, gamma?, beta? -> y, pre-norm?, statistics?
    Linear { panels: bool, rows: usize, out: usize, inp: usize, packed: Range<usize>, eps: f32, act: Act },
    /// dy, plus? -> dx = plus + dy·W
    LinearDx { rows: usize, out: usize, inp: usize, packed: Range<usize> },
    /// dy, x -> dw = dyᵀ·x
    LinearDw { rows: usize, out: usize, inp: usize },
    /// a, b -> c `[m][n]`; strides are (per row, per column) after any transposition
    MatMul { m: usize, n: usize, k: usize, a: (usize, usize), b: (usize, usize) },
    /// x -> y
    Affine { scale: f32, shift: f32 },
    /// x -> y
    Unary(Unary),
    /// x or y, dy -> dx
    UnaryGrad(Unary),
    /// a, b -> y: `blocks` times `[rows][cols]`, one block in rows, one a panel in panels. Each side
    /// has its span and how far it moves from block to block.
    Binary { op: Binary, blocks: usize, rows: usize, cols: usize, a: (Span, usize), b: (Span, usize) },
    /// x -> y
    Sum { of: Sums, rows: usize, cols: usize },
    /// x, gamma, beta -> y, statistics?
    LayerNorm { panels: bool, rows: usize, cols: usize, eps: f32 },
    /// x, gamma, statistics, dy -> dx, dgamma, dbeta
    LayerNormGrad { rows: usize, cols: usize },
    /// x -> y
    Softmax { panels: bool, rows: usize, cols: usize, log: bool },
    /// y, dy -> dx
    SoftmaxGrad { rows: usize, cols: usize, log: bool },
    /// x, index -> y
    Take { rows: usize, cols: usize },
    /// index, dy -> dx
    TakeGrad { rows: usize, cols: usize },
    /// table, index -> y
    Embedding { cols: usize },
    /// index, dy -> dtable
    EmbeddingGrad { cols: usize },
    /// x -> y: `runs` stretches of `len`; each side has its stride and its first float.
    Copy { runs: usize, len: usize, x: (usize, usize), y: (usize, usize), clear: bool },
    /// x -> y: a gradient that its kernel could not write in place.
    Collect,
}

/// Which of math's packings a weight is needed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Rows,
    RowsT,
    Panels,
}

#[derive(Clone, Debug)]
pub(crate) struct Pack {
    pub packing: Packing,
    /// Index into the parameter table.
    pub param: usize,
    pub range: Range<usize>,
}

/// One input or kernel of a plan, for a drawing.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PlanNode {
    /// `policy.0` after its parameters, or the name of an input or output.
    pub name: String,
    /// `linear + bias + tanh`
    pub op: String,
    pub shape: Shape,
    pub parameters: usize,
    /// Indices of the nodes it reads.
    pub reads: Vec<usize>,
}

/// An input or output.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub name: Arc<str>,
    pub slot: usize,
}

/// A graph made ready to run. Share one between executors with [`Arc`].
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) isa: Isa,
    pub(crate) layout: Layout,
    pub(crate) table: Table,
    pub(crate) steps: Vec<Step>,
    /// Ranges of the arena.
    pub(crate) slots: Vec<Range<usize>>,
    pub(crate) arena_len: usize,
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    pub(crate) constants: Vec<(usize, Vec<f32>)>,
    pub(crate) packs: Vec<Pack>,
    pub(crate) trains: bool,
    /// Gradients of parameters that the loss does not depend on: zero.
    pub(crate) untouched: Vec<Range<usize>>,
    nodes: Vec<PlanNode>,
    unshared_len: usize,
}

impl Plan {
    /// Plans the nodes that `outputs` need.
    pub fn new(
        graph: &Graph,
        outputs: &[(&str, NodeId)],
        layout: Layout,
        isa: Isa,
    ) -> Result<Plan, PlanError> {
        Planner::plan(graph, outputs, None, layout, isa, true)
    }

    /// Plans the nodes that `outputs` and all gradients need, in [`Layout::Rows`].
    pub fn training(
        graph: &Graph,
        outputs: &[(&str, NodeId)],
        gradients: &Gradients,
        isa: Isa,
    ) -> Result<Plan, PlanError> {
        Planner::plan(graph, outputs, Some(gradients), Layout::Rows, isa, true)
    }

    /// One kernel for each node: what the fused plans are tested against.
    pub fn unfused(
        graph: &Graph,
        outputs: &[(&str, NodeId)],
        gradients: Option<&Gradients>,
        layout: Layout,
        isa: Isa,
    ) -> Result<Plan, PlanError> {
        Planner::plan(graph, outputs, gradients, layout, isa, false)
    }

    pub fn isa(&self) -> Isa {
        self.isa
    }
    pub fn layout(&self) -> Layout {
        self.layout
    }
    pub fn table(&self) -> &Table {
        &self.table
    }
    /// Inputs and kernels in the order they run.
    pub fn describe(&self) -> &[PlanNode] {
        &self.nodes
    }
    /// Bytes of the arena that holds every tensor.
    pub fn arena_bytes(&self) -> usize {
        self.arena_len * size_of::<f32>()
    }
    /// Bytes the tensors would take if none shared its place.
    pub fn unshared_bytes(&self) -> usize {
        self.unshared_len * size_of::<f32>()
    }
    pub(crate) fn packed_len(&self) -> usize {
        self.packs.last().map_or(0, |p| p.range.end)
    }
}

/// A chain of nodes that one kernel computes, named after its last.
#[derive(Clone, Debug, Default)]
struct Chain {
    product: usize,
    bias: Option<usize>,
    norm: Option<usize>,
    residual: Option<usize>,
    act: Act,
}

/// A tensor that has no place yet.
#[derive(Clone, Debug)]
struct Slot {
    len: usize,
    /// First and last step that use it.
    first: usize,
    last: usize,
    /// Filled from outside: keeps its place from the first step on.
    given: bool,
    /// Read from outside: keeps its place to the last step.
    kept: bool,
}

struct Planner<'g> {
    graph: &'g Graph,
    layout: Layout,
    /// Rows of a tensor in panels.
    batch: usize,
    /// Nodes that read each live node; what a layer norm's gradient takes from the forward kernel
    /// (the norm's input and statistics) does not count.
    readers: Vec<Vec<usize>>,
    /// Readers, outputs and gradients.
    uses: Vec<usize>,
    live: Vec<bool>,
    /// In a chain, behind its product.
    claimed: Vec<bool>,
    /// Computed inside another node's kernel.
    absorbed: Vec<bool>,
    chains: BTreeMap<usize, Chain>,
    place: Vec<Place>,
    /// Statistics left by a layer norm, by its node.
    stats: BTreeMap<usize, Place>,
    /// Parameters that a node is (part of) the gradient of.
    gradient_of: BTreeMap<usize, Vec<usize>>,
    written: Vec<bool>,
    slots: Vec<Slot>,
    steps: Vec<Step>,
    packs: Vec<Pack>,
    nodes: Vec<PlanNode>,
    /// The drawn node that computes each slot.
    drawn: BTreeMap<usize, usize>,
    inputs: Vec<Port>,
    constants: Vec<(usize, Vec<f32>)>,
}

const NOWHERE: Place = Place::Nowhere;

impl<'g> Planner<'g> {
    fn plan(
        graph: &'g Graph,
        outputs: &[(&str, NodeId)],
        gradients: Option<&Gradients>,
        layout: Layout,
        isa: Isa,
        fuse: bool,
    ) -> Result<Plan, PlanError> {
        let len = graph.nodes.len();
        let batch = graph.nodes.iter().filter(|n| matches!(n.op, Op::Input(_))).map(|n| n.shape[0]).max();
        let batch = batch.unwrap_or(1);
        if layout == Layout::Panels && gradients.is_some() {
            return Err(PlanError::TrainingPanels);
        }
        if layout == Layout::Panels && batch < 2 {
            return Err(PlanError::TinyBatch);
        }
        let mut p = Planner {
            graph,
            layout,
            batch,
            readers: vec![Vec::new(); len],
            uses: vec![0; len],
            live: vec![false; len],
            claimed: vec![false; len],
            absorbed: vec![false; len],
            chains: BTreeMap::new(),
            place: vec![NOWHERE; len],
            stats: BTreeMap::new(),
            gradient_of: BTreeMap::new(),
            written: vec![false; graph.table.specs().len()],
            slots: Vec::new(),
            steps: Vec::new(),
            packs: Vec::new(),
            nodes: Vec::new(),
            drawn: BTreeMap::new(),
            inputs: Vec::new(),
            constants: Vec::new(),
        };
        p.find_live(outputs, gradients);
        if let Some(gradients) = gradients {
            for &(param, node) in &gradients.of {
                p.split_gradient(param, node.0);
            }
        }
        for id in 0..len {
            if p.live[id] {
                p.find_chain(id, fuse);
            }
        }
        for id in 0..len {
            if p.live[id] && !p.absorbed[id] {
                p.lower(id)?;
                p.collect(id);
            }
        }
        let outputs = outputs.iter().map(|(name, node)| p.output(name, node.0)).collect();
        p.find_lives();
        let unshared_len = p.slots.iter().map(|s| s.len.next_multiple_of(LINE)).sum();
        let alias = p.share_in_place();
        let (slots, arena_len) = p.arrange(&alias);
        let specs = graph.table.specs();
        let untouched = specs.iter().zip(&p.written).filter(|(_, written)| !**written);
        Ok(Plan {
            isa,
            layout,
            table: graph.table.clone(),
            untouched: untouched.map(|(spec, _)| spec.range()).collect(),
            steps: p.steps,
            slots,
            arena_len,
            inputs: p.inputs,
            outputs,
            constants: p.constants,
            packs: p.packs,
            trains: gradients.is_some(),
            nodes: p.nodes,
            unshared_len,
        })
    }

    // ---- what is needed ----

    fn find_live(&mut self, outputs: &[(&str, NodeId)], gradients: Option<&Gradients>) {
        for (_, node) in outputs {
            self.live[node.0] = true;
            self.uses[node.0] += 1;
        }
        for (_, node) in gradients.iter().flat_map(|g| &g.of) {
            self.live[node.0] = true;
            self.uses[node.0] += 1;
        }
        for id in (0..self.graph.nodes.len()).rev() {
            if !self.live[id] {
                continue;
            }
            for (slot, &NodeId(input)) in self.graph.nodes[id].inputs.iter().enumerate() {
                let left_by_forward = self.is_norm_grad(id) && (slot == 0 || slot == 3);
                self.uses[input] += usize::from(!left_by_forward);
                self.readers[input].push(id);
                self.live[input] = true;
            }
        }
    }

    /// A gradient that is a sum is written part by part, so that no pass over memory adds them.
    fn split_gradient(&mut self, param: usize, id: usize) {
        let node = &self.graph.nodes[id];
        let same = |i: &NodeId| self.graph.shape(*i) == node.shape;
        if node.op == Op::Zip(Zip::Add) && self.uses[id] == 1 && node.inputs.iter().all(same) {
            self.live[id] = false;
            for input in node.inputs.clone() {
                self.split_gradient(param, input.0);
            }
        } else {
            self.gradient_of.entry(id).or_default().push(param);
        }
    }

    // ---- what is fused ----

    /// The one node that reads another, if nothing else needs its value.
    fn sole_reader(&self, id: usize) -> Option<usize> {
        let mut readers = self.readers[id].iter().filter(|&&r| !self.is_norm_grad(r));
        let reader = *readers.next()?;
        (self.uses[id] == 1 && self.live[reader] && !self.claimed[reader]).then_some(reader)
    }

    fn is_norm_grad(&self, id: usize) -> bool {
        matches!(self.graph.nodes[id].op, Op::LayerNormGrad { .. })
    }

    /// The other side of an addition, if it has this shape.
    fn addend(&self, add: usize, one: usize, shape: Shape) -> Option<usize> {
        let node = &self.graph.nodes[add];
        let other = match (&node.op, node.inputs.as_slice()) {
            (Op::Zip(Zip::Add), &[a, b]) if a != b => {
                if a.0 == one {
                    b
                } else {
                    a
                }
            }
            _ => return None,
        };
        (self.graph.shape(other) == shape).then_some(other.0)
    }

    /// Whether a layer norm's gradient reads this node as the norm's input.
    fn is_saved(&self, id: usize) -> bool {
        self.readers[id].iter().any(|&r| self.is_norm_grad(r) && self.graph.nodes[r].inputs[0].0 == id)
    }

    /// Follows a product with a parameter through bias, layer norm, residual and activation, or
    /// through the addition of another gradient.
    fn find_chain(&mut self, product: usize, fuse: bool) {
        let node = &self.graph.nodes[product];
        let Op::MatMul { ta: false, tb } = node.op else { return };
        if !matches!(self.graph.nodes[node.inputs[1].0].op, Op::Param(_)) {
            return;
        }
        let mut chain = Chain { product, ..Chain::default() };
        let mut last = product;
        // Takes the next node into the chain if `part` finds in it what it looks for.
        let mut follow = |p: &mut Self, part: &mut dyn FnMut(&Self, usize, usize) -> bool| {
            let Some(next) = p.sole_reader(last).filter(|_| fuse) else { return };
            if part(p, last, next) {
                p.absorbed[last] = true;
                p.claimed[next] = true;
                last = next;
            }
        };
        if tb {
            follow(self, &mut |p, last, next| {
                chain.bias = p.addend(next, last, [1, node.shape[1]]).filter(|_| !p.is_saved(last));
                chain.bias.is_some()
            });
            follow(self, &mut |p, last, next| {
                let reader = &p.graph.nodes[next];
                let found = matches!(reader.op, Op::LayerNorm { .. }) && reader.inputs[0].0 == last;
                chain.norm = found.then_some(next);
                found
            });
        }
        follow(self, &mut |p, last, next| {
            chain.residual = p.addend(next, last, node.shape).filter(|_| !p.is_saved(last));
            chain.residual.is_some()
        });
        if tb {
            follow(self, &mut |p, last, next| {
                chain.act = match p.graph.nodes[next].op {
                    Op::Map(Map::Relu) if !p.is_saved(last) => Act::Relu,
                    Op::Map(Map::Tanh) if !p.is_saved(last) => Act::Tanh,
                    Op::Map(Map::Gelu) if !p.is_saved(last) => Act::Gelu,
                    _ => Act::None,
                };
                chain.act != Act::None
            });
        }
        self.chains.insert(last, chain);
    }

    // ---- kernels ----

    fn is_panels(&self, shape: Shape) -> bool {
        self.layout == Layout::Panels && shape[0] == self.batch
    }

    fn len(&self, shape: Shape) -> usize {
        if self.is_panels(shape) { panels_len(shape[0], shape[1]) } else { shape[0] * shape[1] }
    }

    fn slot(&mut self, len: usize) -> Place {
        self.slots.push(Slot { len, first: usize::MAX, last: 0, given: false, kept: false });
        Place::Slot(self.slots.len() - 1)
    }

    fn slot_for(&mut self, id: usize) -> Place {
        let len = self.len(self.graph.nodes[id].shape);
        let place = self.slot(len);
        self.place[id] = place.clone();
        place
    }

    /// Where a kernel that can add to what is there writes node `id`: among the gradients if it can.
    fn target(&mut self, id: usize) -> Place {
        match self.gradient_of.get(&id).map(Vec::as_slice) {
            Some(&[param]) if self.uses[id] == 1 => {
                self.gradient_of.remove(&id);
                self.gradient(param)
            }
            _ => self.slot_for(id),
        }
    }

    fn gradient(&mut self, param: usize) -> Place {
        let first = !std::mem::replace(&mut self.written[param], true);
        Place::Grad { range: self.graph.table.specs()[param].range(), first }
    }

    /// Copies or adds a node to the gradients it is part of, unless its kernel wrote there.
    fn collect(&mut self, id: usize) {
        for param in self.gradient_of.remove(&id).unwrap_or_default() {
            let (x, y) = (self.place[id].clone(), self.gradient(param));
            self.emit(Call::Collect, &[x], &[y]);
        }
    }

    fn emit(&mut self, call: Call, reads: &[Place], writes: &[Place]) {
        let mut step = Step { call, reads: [NOWHERE; 5], writes: [NOWHERE; 3], in_place: false };
        step.reads[..reads.len()].clone_from_slice(reads);
        step.writes[..writes.len()].clone_from_slice(writes);
        self.steps.push(step);
    }

    /// The place in the packed weights of a parameter in one of math's packings.
    fn packed(&mut self, param: usize, packing: Packing) -> Range<usize> {
        if let Some(pack) = self.packs.iter().find(|p| p.param == param && p.packing == packing) {
            return pack.range.clone();
        }
        let [out, inp] = self.graph.table.specs()[param].shape;
        let len = match packing {
            Packing::Rows => packed_rows_len(out, inp),
            Packing::RowsT => packed_rows_t_len(out, inp),
            Packing::Panels => packed_panels_len(out, inp),
        };
        let start = self.packs.last().map_or(0, |p| p.range.end);
        let range = start..start + len.next_multiple_of(LINE);
        self.packs.push(Pack { packing, param, range: range.clone() });
        range
    }

    fn lower(&mut self, id: usize) -> Result<(), PlanError> {
        let node = &self.graph.nodes[id];
        let [rows, cols] = node.shape;
        let ids: Vec<usize> = node.inputs.iter().map(|i| i.0).collect();
        let shape_of = |slot: usize| self.graph.nodes[ids[slot]].shape;
        let panels = self.is_panels(node.shape);
        if self.layout == Layout::Panels {
            let any = panels || (0..ids.len()).any(|slot| self.is_panels(shape_of(slot)));
            let param = |slot: usize| matches!(self.graph.nodes[ids[slot]].op, Op::Param(_));
            let has = match node.op {
                Op::MatMul { ta: false, tb: true } => panels && param(1),
                // A parameter is never in panels, whatever its shape.
                Op::Param(_) | Op::Input(_) | Op::Constant(_) => true,
                Op::StopGradient | Op::Map(_) | Op::Zip(_) => true,
                Op::Broadcast | Op::LayerNorm { .. } | Op::Softmax | Op::LogSoftmax => true,
                Op::Concat | Op::SliceCols { .. } | Op::PadCols { .. } => true,
                _ => !any,
            };
            if !has {
                return Err(PlanError::NoPanels { op: node.op.text(), shape: node.shape });
            }
        }
        if let Some(chain) = self.chains.get(&id).cloned() {
            self.lower_chain(id, &chain);
            return Ok(());
        }
        let read: Vec<Place> = ids.iter().map(|&i| self.place[i].clone()).collect();
        match &node.op {
            Op::Input(name) => {
                let Place::Slot(slot) = self.slot_for(id) else { unreachable!("a fresh slot") };
                self.slots[slot].given = true;
                self.inputs.push(Port { name: name.clone(), slot });
                self.draw(id, "input".into(), &[]);
            }
            Op::Constant(values) => {
                let Place::Slot(slot) = self.slot_for(id) else { unreachable!("a fresh slot") };
                self.slots[slot].given = true;
                let mut laid = values.to_vec();
                if panels {
                    laid = vec![0.0; panels_len(rows, cols)];
                    math::ops::rows_to_panels(Isa::Portable, rows, cols, values, &mut laid);
                }
                self.constants.push((slot, laid));
            }
            Op::Param(index) => self.place[id] = Place::Param(self.graph.table.specs()[*index].range()),
            Op::StopGradient => {
                self.place[id] = read[0].clone();
                self.drawn.extend(self.drawn.get(&ids[0]).map(|&drawn| (id, drawn)));
            }
            &Op::MatMul { ta, tb } => self.lower_matmul(id, [ta, tb], &ids),
            &Op::Map(map) => {
                let y = self.slot_for(id);
                let call = match map {
                    Map::Affine { scale, shift } => Call::Affine { scale, shift },
                    Map::Relu => Call::Unary(Unary::Relu),
                    Map::Tanh => Call::Unary(Unary::Tanh),
                    Map::Gelu => Call::Unary(Unary::Gelu),
                    Map::Sigmoid => Call::Unary(Unary::Sigmoid),
                    Map::Exp => Call::Unary(Unary::Exp),
                    Map::Ln => Call::Unary(Unary::Ln),
                    Map::Square => Call::Unary(Unary::Square),
                    Map::Sqrt => Call::Unary(Unary::Sqrt),
                };
                self.emit(call, &read, &[y]);
            }
            &Op::Zip(zip) => self.lower_zip(id, zip, [ids[0], ids[1]]),
            // The smaller of a value and itself is the value, repeated as its span says.
            Op::Broadcast => self.lower_zip(id, Zip::Min, [ids[0], ids[0]]),
            &Op::Sum(of) => {
                let [rows, cols] = shape_of(0);
                let y = if of == Sums::Cols { self.target(id) } else { self.slot_for(id) };
                self.emit(Call::Sum { of, rows, cols }, &read, &[y]);
            }
            &Op::LayerNorm { eps } => {
                let y = self.slot_for(id);
                let stats = self.stats_for(id);
                self.emit(Call::LayerNorm { panels, rows, cols, eps }, &read, &[y, stats]);
            }
            Op::LayerNormGrad { .. } => self.lower_norm_grad(id, &ids),
            Op::Softmax | Op::LogSoftmax => {
                let (y, log) = (self.slot_for(id), node.op == Op::LogSoftmax);
                self.emit(Call::Softmax { panels, rows, cols, log }, &read, &[y]);
            }
            Op::SoftmaxGrad | Op::LogSoftmaxGrad => {
                let (dx, log) = (self.slot_for(id), node.op == Op::LogSoftmaxGrad);
                self.emit(Call::SoftmaxGrad { rows, cols, log }, &read, &[dx]);
            }
            Op::Take => {
                let (y, cols) = (self.slot_for(id), shape_of(0)[1]);
                self.emit(Call::Take { rows, cols }, &read, &[y]);
            }
            Op::TakeGrad => {
                let dx = self.slot_for(id);
                self.emit(Call::TakeGrad { rows, cols }, &read, &[dx]);
            }
            Op::Embedding => {
                let y = self.slot_for(id);
                self.emit(Call::Embedding { cols }, &read, &[y]);
            }
            Op::EmbeddingGrad => {
                let dtable = self.target(id);
                self.emit(Call::EmbeddingGrad { cols }, &read, &[dtable]);
            }
            Op::Concat => {
                let (y, left, right) = (self.slot_for(id), shape_of(0)[1], shape_of(1)[1]);
                self.copy(node.shape, left, (&read[0], left, 0), (&y, cols, 0), false);
                self.copy(node.shape, right, (&read[1], right, 0), (&y, cols, left), false);
            }
            &Op::SliceCols { from } => {
                let (y, width) = (self.slot_for(id), shape_of(0)[1]);
                self.copy(node.shape, cols, (&read[0], width, from), (&y, cols, 0), false);
            }
            &Op::PadCols { from } => {
                let (y, width) = (self.slot_for(id), shape_of(0)[1]);
                self.copy(node.shape, width, (&read[0], width, 0), (&y, cols, from), true);
            }
        }
        if !matches!(node.op, Op::Input(_) | Op::Param(_) | Op::Constant(_) | Op::StopGradient) {
            self.draw(id, node.op.text().into(), &ids);
        }
        Ok(())
    }

    fn lower_chain(&mut self, id: usize, chain: &Chain) {
        let graph = self.graph;
        let product = &graph.nodes[chain.product];
        let (x, w) = (product.inputs[0].0, product.inputs[1].0);
        let Op::Param(param) = graph.nodes[w].op else { unreachable!("chains start at parameters") };
        let [out, inp] = graph.nodes[w].shape;
        let rows = product.shape[0];
        let panels = self.is_panels(product.shape);
        let place = |p: &Self, id: Option<usize>| id.map_or(NOWHERE, |id| p.place[id].clone());
        if product.op == (Op::MatMul { ta: false, tb: false }) {
            let packed = self.packed(param, Packing::RowsT);
            let reads = [self.place[x].clone(), place(self, chain.residual)];
            let dx = self.slot_for(id);
            self.emit(Call::LinearDx { rows, out, inp, packed }, &reads, &[dx]);
            let text = if chain.residual.is_some() { "product + add" } else { "product" };
            let ids: Vec<usize> = [x, w].into_iter().chain(chain.residual).collect();
            self.draw(id, text.into(), &ids);
            return;
        }
        let packed = self.packed(param, if panels { Packing::Panels } else { Packing::Rows });
        let (mut eps, mut gamma, mut beta, mut pre, mut stats) = (0.0, None, None, NOWHERE, NOWHERE);
        if let Some(norm) = chain.norm {
            let node = &graph.nodes[norm];
            let Op::LayerNorm { eps: e } = node.op else { unreachable!("a layer norm") };
            (eps, gamma, beta) = (e, Some(node.inputs[1].0), Some(node.inputs[2].0));
            stats = self.stats_for(norm);
            if stats != NOWHERE {
                pre = self.slot_for(node.inputs[0].0);
            }
        }
        let reads = [Some(x), chain.bias, chain.residual, gamma, beta].map(|id| place(self, id));
        let y = self.slot_for(id);
        let act = chain.act;
        self.emit(Call::Linear { panels, rows, out, inp, packed, eps, act }, &reads, &[y, pre, stats]);
        let mut text = String::from("linear");
        for (part, has) in [
            (" + bias", chain.bias.is_some()),
            (" + layer norm", chain.norm.is_some()),
            (" + residual", chain.residual.is_some()),
            (" + relu", act == Act::Relu),
            (" + tanh", act == Act::Tanh),
            (" + gelu", act == Act::Gelu),
        ] {
            text.push_str(if has { part } else { "" });
        }
        let ids = [Some(x), Some(w), chain.bias, gamma, beta, chain.residual];
        self.draw(id, text, &ids.into_iter().flatten().collect::<Vec<_>>());
    }

    fn lower_matmul(&mut self, id: usize, [ta, tb]: [bool; 2], ids: &[usize]) {
        let (a, b) = (self.graph.nodes[ids[0]].shape, self.graph.nodes[ids[1]].shape);
        let reads = [self.place[ids[0]].clone(), self.place[ids[1]].clone()];
        if ta && !tb {
            let dw = self.target(id);
            return self.emit(Call::LinearDw { rows: a[0], out: a[1], inp: b[1] }, &reads, &[dw]);
        }
        let [m, n] = self.graph.nodes[id].shape;
        let strides = |shape: Shape, t: bool| if t { (1, shape[1]) } else { (shape[1], 1) };
        let call = Call::MatMul { m, n, k: a[usize::from(!ta)], a: strides(a, ta), b: strides(b, tb) };
        let c = self.slot_for(id);
        self.emit(call, &reads, &[c]);
    }

    fn lower_zip(&mut self, id: usize, zip: Zip, sides: [usize; 2]) {
        let reads = sides.map(|side| self.place[side].clone());
        let y = self.slot_for(id);
        let shape = self.graph.nodes[id].shape;
        let op = match zip {
            Zip::Add => Binary::Add,
            Zip::Sub => Binary::Sub,
            Zip::Mul => Binary::Mul,
            Zip::Div => Binary::Div,
            Zip::Min => Binary::Min,
            Zip::Max => Binary::Max,
            Zip::Greater => Binary::Greater,
            Zip::ReluGrad => return self.emit(Call::UnaryGrad(Unary::Relu), &reads, &[y]),
            Zip::TanhGrad => return self.emit(Call::UnaryGrad(Unary::Tanh), &reads, &[y]),
            Zip::GeluGrad => return self.emit(Call::UnaryGrad(Unary::Gelu), &reads, &[y]),
            Zip::SigmoidGrad => return self.emit(Call::UnaryGrad(Unary::Sigmoid), &reads, &[y]),
        };
        let span = |s: Shape| match s {
            s if s == shape => Span::Full,
            [1, 1] => Span::Scalar,
            [1, _] => Span::Row,
            _ => Span::Column,
        };
        let [a, b] = sides.map(|side| span(self.graph.nodes[side].shape));
        let flat = [a, b].iter().all(|s| matches!(s, Span::Full | Span::Scalar));
        let call = if flat {
            Call::Binary { op, blocks: 1, rows: 1, cols: self.len(shape), a: (a, 0), b: (b, 0) }
        } else if self.is_panels(shape) {
            // A panel is `[features][32]`: what is a row of the batch is a column of a panel.
            let turned = |span| match span {
                Span::Full => (Span::Full, shape[1] * PANEL),
                Span::Row => (Span::Column, 0),
                Span::Column => (Span::Row, PANEL),
                Span::Scalar => (Span::Scalar, 0),
            };
            let blocks = shape[0].div_ceil(PANEL);
            Call::Binary { op, blocks, rows: shape[1], cols: PANEL, a: turned(a), b: turned(b) }
        } else {
            Call::Binary { op, blocks: 1, rows: shape[0], cols: shape[1], a: (a, 0), b: (b, 0) }
        };
        self.emit(call, &reads, &[y]);
    }

    /// Where a layer norm leaves its statistics, if a gradient will read them.
    fn stats_for(&mut self, norm: usize) -> Place {
        if !self.readers[norm]
            .iter()
            .any(|&r| self.is_norm_grad(r) && self.graph.nodes[r].inputs[3].0 == norm)
        {
            return Place::Nowhere;
        }
        let stats = self.slot(2 * self.graph.nodes[norm].shape[0]);
        self.stats.insert(norm, stats.clone());
        stats
    }

    /// The three gradients of one layer norm are one kernel.
    fn lower_norm_grad(&mut self, id: usize, ids: &[usize]) {
        let graph = self.graph;
        let [rows, cols] = graph.nodes[ids[0]].shape;
        let mut writes = [Place::Nowhere, Place::Nowhere, Place::Nowhere];
        let parts = |p: &Self, wrt: Wrt| {
            let same = |&r: &usize| match graph.nodes[r].op {
                Op::LayerNormGrad { wrt: other, .. } => {
                    other == wrt && graph.nodes[r].inputs == graph.nodes[id].inputs
                }
                _ => false,
            };
            p.readers[ids[3]].iter().copied().find(same)
        };
        for (write, wrt) in writes.iter_mut().zip([Wrt::X, Wrt::Gamma, Wrt::Beta]) {
            *write = match parts(self, wrt) {
                Some(part) => {
                    self.absorbed[part] = true;
                    if wrt == Wrt::X { self.slot_for(part) } else { self.target(part) }
                }
                // The kernel writes all three.
                None => self.slot(if wrt == Wrt::X { rows * cols } else { cols }),
            };
        }
        let reads = [&self.place[ids[0]], &self.place[ids[1]], &self.stats[&ids[3]], &self.place[ids[2]]]
            .map(Place::clone);
        self.emit(Call::LayerNormGrad { rows, cols }, &reads, &writes);
        for wrt in [Wrt::X, Wrt::Gamma, Wrt::Beta] {
            if let Some(part) = parts(self, wrt) {
                self.collect(part);
                self.drawn.insert(part, self.nodes.len());
            }
        }
    }

    /// Columns from one tensor to another: (place, its columns, the first of them).
    fn copy(
        &mut self,
        shape: Shape,
        width: usize,
        x: (&Place, usize, usize),
        y: (&Place, usize, usize),
        clear: bool,
    ) {
        let (runs, unit) =
            if self.is_panels(shape) { (shape[0].div_ceil(PANEL), PANEL) } else { (shape[0], 1) };
        let side = |(_, cols, from): (&Place, usize, usize)| (cols * unit, from * unit);
        let call = Call::Copy { runs, len: width * unit, x: side(x), y: side(y), clear };
        self.emit(call, &[x.0.clone()], &[y.0.clone()]);
    }

    fn output(&mut self, name: &str, id: usize) -> Port {
        let shape = self.graph.nodes[id].shape;
        if !matches!(self.place[id], Place::Slot(_)) {
            let (len, x) = (self.len(shape), self.place[id].clone());
            let y = self.slot_for(id);
            self.emit(Call::Copy { runs: 1, len, x: (0, 0), y: (0, 0), clear: false }, &[x], &[y]);
        }
        let Place::Slot(slot) = self.place[id] else { unreachable!("copied to one") };
        self.slots[slot].kept = true;
        if let Some(&drawn) = self.drawn.get(&id)
            && self.nodes[drawn].parameters == 0
            && self.nodes[drawn].op != "input"
        {
            self.nodes[drawn].name = name.into();
        }
        Port { name: name.into(), slot }
    }

    // ---- the drawing ----

    fn draw(&mut self, id: usize, op: String, ids: &[usize]) {
        let graph = self.graph;
        let specs = ids.iter().filter_map(|&i| match graph.nodes[i].op {
            Op::Param(index) => Some(&graph.table.specs()[index]),
            _ => None,
        });
        let name = match specs.clone().next() {
            Some(spec) => spec.name.rsplit_once('.').map_or(&*spec.name, |(layer, _)| layer).into(),
            None => match &graph.nodes[id].op {
                Op::Input(name) => name.to_string(),
                _ => op.clone(),
            },
        };
        let mut reads: Vec<usize> = ids.iter().filter_map(|i| self.drawn.get(i).copied()).collect();
        reads.sort_unstable();
        reads.dedup();
        let parameters = specs.map(|s| s.len()).sum();
        self.drawn.insert(id, self.nodes.len());
        self.nodes.push(PlanNode { name, op, shape: graph.nodes[id].shape, parameters, reads });
    }

    // ---- lifetimes and the arena ----

    fn find_lives(&mut self) {
        for (i, step) in self.steps.iter().enumerate() {
            for place in step.reads.iter().chain(&step.writes) {
                if let &Place::Slot(slot) = place {
                    let slot = &mut self.slots[slot];
                    slot.first = slot.first.min(i);
                    slot.last = slot.last.max(i);
                }
            }
        }
        for slot in &mut self.slots {
            if slot.given {
                slot.first = 0;
            }
            if slot.given || slot.kept {
                slot.last = usize::MAX;
            }
        }
    }

    /// Lets a kernel write over an operand that it is the last to read. Gives each slot's final slot.
    fn share_in_place(&mut self) -> Vec<usize> {
        let mut alias: Vec<usize> = (0..self.slots.len()).collect();
        for (i, step) in self.steps.iter_mut().enumerate() {
            for place in step.reads.iter_mut().chain(&mut step.writes) {
                if let Place::Slot(slot) = place {
                    *slot = alias[*slot];
                }
            }
            let &Place::Slot(y) = &step.writes[0] else { continue };
            let dies = |read: &Place| match *read {
                Place::Slot(x) => {
                    let (from, to) = (&self.slots[x], &self.slots[y]);
                    let once = step.reads.iter().filter(|r| *r == read).count() == 1;
                    once && from.last == i && to.first == i && from.len == to.len
                }
                _ => false,
            };
            let shared = match &step.call {
                Call::Unary(_) if dies(&step.reads[0]) => 0,
                Call::Binary { a: (Span::Full, _), .. } if dies(&step.reads[0]) => 0,
                Call::Binary { b: (Span::Full, _), op: Binary::Add | Binary::Mul, .. }
                    if dies(&step.reads[1]) =>
                {
                    1
                }
                Call::LinearDx { .. } if dies(&step.reads[1]) => 1,
                _ => continue,
            };
            let Place::Slot(x) = step.reads[shared] else { continue };
            if let (Call::Binary { a, b, .. }, 1) = (&mut step.call, shared) {
                std::mem::swap(a, b);
                step.reads.swap(0, 1);
            }
            alias[y] = x;
            self.slots[x].last = self.slots[y].last;
            self.slots[x].kept |= self.slots[y].kept;
            step.writes[0] = Place::Slot(x);
            step.in_place = true;
        }
        alias
    }

    /// Gives every slot its range: large ones first, each at the lowest place that is free for all of
    /// its life.
    fn arrange(&self, alias: &[usize]) -> (Vec<Range<usize>>, usize) {
        let mut ranges = vec![0..0; self.slots.len()];
        let mut order: Vec<usize> = (0..self.slots.len()).filter(|&i| alias[i] == i).collect();
        order.sort_by_key(|&i| (usize::MAX - self.slots[i].len, self.slots[i].first));
        let mut placed: Vec<usize> = Vec::new();
        let mut end = 0;
        for i in order {
            let slot = &self.slots[i];
            let mut start = 0;
            for &other in &placed {
                let (range, life): (&Range<usize>, _) = (&ranges[other], &self.slots[other]);
                let meet = life.first <= slot.last && slot.first <= life.last;
                if meet && range.start < start + slot.len && start < range.end {
                    start = range.end.next_multiple_of(LINE);
                }
            }
            ranges[i] = start..start + slot.len;
            end = end.max(ranges[i].end.next_multiple_of(LINE));
            let at = placed.partition_point(|&other| ranges[other].start <= start);
            placed.insert(at, i);
        }
        for i in 0..ranges.len() {
            ranges[i] = ranges[alias[i]].clone();
        }
        (ranges, end)
    }
}
