//! Translates a graph to a list of kernel calls. This file decides which nodes are needed and which are fused. `plan/lower.rs` chooses each
//! node's kernel, `plan/join.rs` merges operations into matrix products, and `plan/arena.rs` places tensors. Planning happens once;
//! `exec.rs` and the GPU crate run the result.

mod arena;
mod join;
mod lower;

use crate::gradients::Gradients;
use crate::graph::{Graph, NodeId};
use crate::op::{Op, Sums};
use crate::params::Table;
use crate::shape::{Shape, bytes};
use math::par::CHUNK;
use math::{Act, Binary, Isa, LINE, Rng, Span, Unary};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub use arena::{Life, arrange};
pub use join::NARROW;

/// Memory layout of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `[batch][features]`, for training.
    Rows,
    /// `[batch/32][features][32]`, for inference. The last panel is padded. Every tensor with as many rows as the largest input has this
    /// layout, including inputs and outputs.
    Panels,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("`{op}` of shape {shape:?} has no kernel for panels; plan this graph with Layout::Rows")]
    NoPanels { op: String, shape: Shape },
    #[error("gradients are computed row by row; plan them with Layout::Rows")]
    TrainingPanels,
    #[error("panels need a batch of at least 2 rows; plan this graph with Layout::Rows")]
    TinyBatch,
}

/// Memory that a kernel reads or writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Absent operand.
    Nowhere,
    /// Tensor in the arena, by its index in [`Plan::slots`]. No call writes an input or a constant. Exactly one call writes each remaining
    /// tensor.
    Slot(usize),
    /// Range of the parameter values, in floats.
    Param(Range<usize>),
    /// Range of the gradients, in floats. The call adds to the contents. If `first` is true, the call is the first that writes the range in
    /// a run; it then replaces the contents, unless the executor accumulates gradients.
    Grad { range: Range<usize>, first: bool },
}

/// One kernel call with the places that it reads and writes. The comment of each [`Call`] lists these places in the form: reads -> writes.
/// `?` marks a place that may be [`Place::Nowhere`].
#[derive(Clone, Debug)]
pub struct Step {
    pub call: Call,
    pub reads: [Place; 5],
    pub writes: [Place; 4],
    /// True if the first write reuses the memory of a tensor that the call reads, on the CPU. This tensor is `plus` for [`Call::LinearDx`],
    /// and the first read for other calls.
    pub in_place: bool,
}

#[derive(Clone, Debug)]
pub enum Call {
    /// x, bias?, residual?, gamma?, beta? -> y, input of the norm?, statistics of the norm?, input of the activation? The weight is in the
    /// range `packed` of the packed weights.
    Linear { panels: bool, rows: usize, out: usize, inp: usize, packed: Range<usize>, eps: f32, act: Act },
    /// dy, plus?, at? -> dx = plus + dy·W. With `slope`, dx is also multiplied by the derivative of the function `slope`. The derivative is
    /// computed from `at`, which is the argument or the result of the function, as in [`Call::UnaryGrad`].
    LinearDx { rows: usize, out: usize, inp: usize, packed: Range<usize>, slope: Option<Unary> },
    /// dy, x -> dw = dyᵀ·x, sums of dy's columns?
    LinearDw { rows: usize, out: usize, inp: usize },
    /// a, b -> c `[m][n]`. The fields `a` and `b` are the strides of the factors after transposition: to the next row, to the next column.
    MatMul { m: usize, n: usize, k: usize, a: (usize, usize), b: (usize, usize) },
    /// x -> y
    Affine { scale: f32, shift: f32 },
    /// x -> y
    Unary(Unary),
    /// x or y, dy -> dx
    UnaryGrad(Unary),
    /// a, b -> y: `blocks` blocks of `[rows][cols]`. A tensor in rows is one block; in panels, each panel is a block. The fields `a` and
    /// `b` hold each operand's span and the stride of its blocks in floats.
    Binary { op: Binary, blocks: usize, rows: usize, cols: usize, a: (Span, usize), b: (Span, usize) },
    /// x -> y
    Sum { of: Sums, rows: usize, cols: usize },
    /// x, gamma, beta if centred -> y, statistics?
    Norm { panels: bool, rows: usize, cols: usize, eps: f32, centred: bool },
    /// x, gamma, statistics, dy -> dx, dgamma, dbeta if centred
    NormGrad { rows: usize, cols: usize, centred: bool },
    /// qkv, table of `[len][size]` -> qkv with q and k rotated, in the opposite direction if `back` is true
    Rotary { rows: usize, cols: usize, size: usize, back: bool },
    /// qkv, whose rows are `q | k | v` with 3·cols columns -> y, logarithms of the softmax sums?
    CausalAttention { rows: usize, cols: usize, heads: usize, len: usize },
    /// qkv, y, logarithms, dy -> dqkv
    CausalAttentionGrad { rows: usize, cols: usize, heads: usize, len: usize },
    /// x, target, dy? -> loss?, dx?, dw?, working memory for a tile of logits. dx and dw are computed for the upstream gradient `scale`·dy,
    /// or `scale` if dy is absent.
    HeadLoss { rows: usize, vocab: usize, inp: usize, packed: Range<usize>, packed_t: Range<usize>, scale: f32 },
    /// x, step -> y
    Dropout { p: f32, rng: Rng },
    /// corpus, starts -> y
    Windows { len: usize, shift: usize },
    /// x -> y
    Softmax { panels: bool, rows: usize, cols: usize, log: bool },
    /// y, dy -> dx
    SoftmaxGrad { rows: usize, cols: usize, log: bool },
    /// x, index -> y
    Take { rows: usize, cols: usize },
    /// index, dy -> dx
    TakeGrad { rows: usize, cols: usize },
    /// table, index, bias? -> y, with `k` indices per row
    EmbeddingBag { rows: usize, cols: usize, k: usize, relu: bool },
    /// index, dy -> dtable
    EmbeddingBagGrad { rows: usize, cols: usize, k: usize },
    /// One x per entry of `parts` -> y, which has `rows` rows of `cols` floats. Floats of y to which no part is copied are 0.
    Columns { rows: usize, cols: usize, parts: Vec<ColumnSpan> },
    /// x -> y: copies x to y. If y is a gradient with earlier terms, adds x to y. This call is needed if the kernel that computes x cannot
    /// write to y.
    Collect,
}

/// A copy of columns. In each row, `width` floats are copied from offset `from` of the source to offset `at` of the result. A row of the
/// source has `of` floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnSpan {
    pub of: usize,
    pub from: usize,
    pub width: usize,
    pub at: usize,
}

impl Call {
    /// Returns the name of the operation.
    pub fn name(&self) -> &'static str {
        match self {
            Call::Linear { .. } => "linear",
            Call::LinearDx { .. } => "linear_dx",
            Call::LinearDw { .. } => "linear_dw",
            Call::MatMul { .. } => "matmul",
            Call::Affine { .. } => "affine",
            Call::Unary(_) => "unary",
            Call::UnaryGrad(_) => "unary_grad",
            Call::Binary { .. } => "binary",
            Call::Sum { .. } => "sum",
            Call::Norm { centred: true, .. } => "layer_norm",
            Call::Norm { .. } => "rms_norm",
            Call::NormGrad { centred: true, .. } => "layer_norm_grad",
            Call::NormGrad { .. } => "rms_norm_grad",
            Call::Rotary { .. } => "rotary",
            Call::CausalAttention { .. } => "attention",
            Call::CausalAttentionGrad { .. } => "attention_grad",
            Call::HeadLoss { .. } => "head_loss",
            Call::Dropout { .. } => "dropout",
            Call::Windows { .. } => "windows",
            Call::Softmax { .. } => "softmax",
            Call::SoftmaxGrad { .. } => "softmax_grad",
            Call::Take { .. } => "take",
            Call::TakeGrad { .. } => "take_grad",
            Call::EmbeddingBag { .. } => "embedding_bag",
            Call::EmbeddingBagGrad { .. } => "embedding_bag_grad",
            Call::Columns { .. } => "copy",
            Call::Collect => "collect",
        }
    }

    /// Returns the sizes that determine the work, such as rows, inputs and outputs of a product, or rows and columns of a row-wise call.
    /// Returns an empty list for elementwise calls other than [`Call::Binary`].
    fn sizes(&self) -> Vec<usize> {
        if let Some(sizes) = self.product() {
            return sizes.to_vec();
        }
        match *self {
            Call::Binary { blocks, rows, cols, .. } => vec![blocks * rows, cols],
            Call::Sum { rows, cols, .. }
            | Call::Norm { rows, cols, .. }
            | Call::NormGrad { rows, cols, .. }
            | Call::Rotary { rows, cols, .. }
            | Call::Softmax { rows, cols, .. }
            | Call::SoftmaxGrad { rows, cols, .. }
            | Call::Take { rows, cols }
            | Call::TakeGrad { rows, cols }
            | Call::Columns { rows, cols, .. } => vec![rows, cols],
            Call::EmbeddingBag { rows, cols, k, .. } | Call::EmbeddingBagGrad { rows, cols, k } => vec![rows, k, cols],
            Call::Windows { len, .. } => vec![len],
            _ => Vec::new(),
        }
    }

    /// Returns rows, inputs and outputs of a matrix product. Returns rows, columns and sequence length of an attention. Returns `None` for
    /// other calls.
    fn product(&self) -> Option<[usize; 3]> {
        match *self {
            Call::CausalAttention { rows, cols, len, .. } | Call::CausalAttentionGrad { rows, cols, len, .. } => Some([rows, cols, len]),
            Call::Linear { rows, out, inp, .. } | Call::LinearDx { rows, out, inp, .. } | Call::LinearDw { rows, out, inp } => {
                Some([rows, inp, out])
            }
            Call::HeadLoss { rows, vocab, inp, .. } => Some([rows, inp, vocab]),
            Call::MatMul { m, n, k, .. } => Some([m, k, n]),
            _ => None,
        }
    }

    /// Returns the number of multiply-adds of one matrix product or of the forward attention; 0 for other calls. A call that also computes
    /// gradients counts as its forward product, and the gradient of attention counts as much as the forward attention. The result is an
    /// f64, because the number may exceed a browser's usize.
    fn multiply_adds(&self) -> f64 {
        self.product().map_or(0.0, |sizes| sizes.iter().map(|&size| size as f64).product())
    }

    /// Returns true if the call has enough multiplications or additions to be divided among threads.
    fn is_wide(&self) -> bool {
        match *self {
            Call::EmbeddingBag { rows, cols, k, .. } | Call::EmbeddingBagGrad { rows, cols, k } => {
                rows * cols * k >= 2 * math::ops::BAG_PIECE
            }
            _ => self.multiply_adds() >= 2.0 * math::gemm::PIECE as f64,
        }
    }
}

/// Layout of a packed weight.
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

/// One input or kernel of a plan, as a node of a drawing.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PlanNode {
    /// Name of the layer to which the kernel's first parameter belongs, such as `policy.0`. A node without parameters has the name of the
    /// input, the output or the operation.
    pub name: String,
    /// Operations of the kernel, such as `linear + bias + tanh`.
    pub op: String,
    pub shape: Shape,
    pub parameters: usize,
    /// Indices, in [`Plan::describe`], of the nodes that this node reads.
    pub reads: Vec<usize>,
}

/// An input or output of a plan.
#[derive(Clone, Debug)]
pub struct Port {
    pub name: Arc<str>,
    pub slot: usize,
}

/// A graph that is ready to run. Executors share a plan through [`Arc`].
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) isa: Isa,
    pub(crate) layout: Layout,
    pub(crate) table: Table,
    pub(crate) steps: Vec<Step>,
    /// Range of each tensor in the arena, in floats.
    pub(crate) slots: Vec<Range<usize>>,
    arena_len: u64,
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    pub(crate) constants: Vec<(usize, Vec<f32>)>,
    pub(crate) packs: Vec<Pack>,
    pub(crate) trains: bool,
    pub(crate) half: bool,
    /// True if at least one call is large enough for several threads.
    pub(crate) wide: bool,
    /// Ranges of the parameters that the loss does not depend on; their gradients are zero.
    pub(crate) untouched: Vec<Range<usize>>,
    nodes: Vec<PlanNode>,
    unshared_len: u64,
}

impl Plan {
    /// Plans the nodes that are needed for `outputs`.
    pub fn new(graph: &Graph, outputs: &[(&str, NodeId)], layout: Layout, isa: Isa) -> Result<Plan, PlanError> {
        Planner::plan(graph, outputs, None, layout, isa, true)
    }

    /// Plans the nodes that are needed for `outputs` and all gradients, in [`Layout::Rows`].
    pub fn training(graph: &Graph, outputs: &[(&str, NodeId)], gradients: &Gradients, isa: Isa) -> Result<Plan, PlanError> {
        Planner::plan(graph, outputs, Some(gradients), Layout::Rows, isa, true)
    }

    /// Creates a plan without fusion, which tests use as the reference for fused plans.
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
    /// Returns true if a GPU must round the factors of products to f16. The CPU ignores this setting.
    pub fn half(&self) -> bool {
        self.half
    }
    /// Returns the same plan with f16 rounding on or off.
    pub fn with_half(self, half: bool) -> Plan {
        Plan { half, ..self }
    }
    pub fn layout(&self) -> Layout {
        self.layout
    }
    pub fn table(&self) -> &Table {
        &self.table
    }
    /// Returns the inputs and kernels as nodes of a drawing, in the order in which the kernels run.
    pub fn describe(&self) -> &[PlanNode] {
        &self.nodes
    }
    /// Returns the size of the arena, which holds every tensor, in bytes. If the arena exceeds the address range (a browser has 32 bits),
    /// no executor can be created.
    pub fn arena_bytes(&self) -> u64 {
        bytes(self.arena_len)
    }
    /// Returns the number of bytes that the tensors would need if no two of them shared memory.
    pub fn unshared_bytes(&self) -> u64 {
        bytes(self.unshared_len)
    }
    /// Returns the number of floats of the arena.
    ///
    /// # Panics
    /// If this machine cannot address the arena.
    pub(crate) fn arena_len(&self) -> usize {
        usize::try_from(self.arena_len).expect("this machine cannot address the arena; check Plan::arena_bytes first")
    }
    /// Returns the sizes of a step as text, such as `64x144x128` for the rows, inputs and outputs of a product. The sizes of other calls
    /// are:
    ///
    /// - row-wise and binary calls: rows and columns
    /// - attention: rows, columns and sequence length
    /// - embedding bag: rows, indices per row and columns
    /// - windows: length of a window
    /// - all others: number of values that the call writes
    pub fn shape_of(&self, step: &Step) -> String {
        let sizes = step.call.sizes();
        if !sizes.is_empty() {
            return sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        }
        match &step.writes[0] {
            Place::Slot(slot) => self.slots[*slot].len().to_string(),
            Place::Param(range) | Place::Grad { range, .. } => range.len().to_string(),
            Place::Nowhere => "0".into(),
        }
    }
    /// Returns the kernel calls in execution order. The CPU executor runs this list. A GPU executor derives its own kernels from it.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
    /// Divides [`Plan::steps`] into parts for [`crate::Executor::train_part`]. A part has at most `multiply_adds` multiply-adds, unless a
    /// single call of the part has more.
    pub fn parts(&self, multiply_adds: f64) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = std::iter::once(0..0).collect();
        let mut sum = 0.0;
        for (i, step) in self.steps.iter().enumerate() {
            let (work, last) = (step.call.multiply_adds(), parts.last_mut().expect("there is one"));
            if sum > 0.0 && sum + work > multiply_adds {
                parts.push(i..i + 1);
                sum = work;
            } else {
                last.end = i + 1;
                sum += work;
            }
        }
        parts
    }
    /// Returns the number of multiply-adds of all calls in one run. A call that computes several products, such as a loss with its
    /// gradients, counts as one product.
    pub fn multiply_adds(&self) -> f64 {
        self.steps.iter().map(|step| step.call.multiply_adds()).sum()
    }
    /// Returns the number of multiply-adds of the largest call. [`Plan::parts`] never divides this call, so a smaller limit has no effect
    /// on it.
    pub fn longest_call(&self) -> f64 {
        self.steps.iter().map(|step| step.call.multiply_adds()).fold(0.0, f64::max)
    }
    /// Returns the range of each tensor in the arena, in floats. An executor with its own memory layout uses only the lengths of the
    /// ranges.
    pub fn slots(&self) -> &[Range<usize>] {
        &self.slots
    }
    /// Returns the inputs to fill before a run.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }
    /// Returns the index and the contents of each slot that holds a constant.
    pub fn constants(&self) -> &[(usize, Vec<f32>)] {
        &self.constants
    }
    /// Returns the range of a weight in the parameters. `packed` is the range of the same weight in the packed weights.
    pub fn unpacked(&self, packed: &Range<usize>) -> Range<usize> {
        let pack = self.packs.iter().find(|pack| pack.range == *packed).expect("one of this plan's packings");
        self.table.specs()[pack.param].range()
    }
    pub(crate) fn packed_len(&self) -> usize {
        self.packs.last().map_or(0, |p| p.range.end)
    }
}

/// Nodes that one kernel computes: a matrix product or an embedding bag, and the operations after it. [`Planner::chains`] stores a chain
/// under its last node.
#[derive(Clone, Debug, Default)]
struct Chain {
    product: usize,
    bias: Option<usize>,
    norm: Option<usize>,
    residual: Option<usize>,
    act: Act,
    /// Node of the activation's input, if the kernel saves this input. The kernel saves it if other nodes, such as the activation's
    /// gradient, read it too.
    saved: Option<usize>,
}

/// Tensor to which the planner has not yet assigned a range of the arena.
#[derive(Clone, Debug)]
struct Slot {
    len: u64,
    /// Index of the first step that uses the tensor.
    first: usize,
    /// Index of the last step that uses the tensor.
    last: usize,
    /// True if the tensor is an input or a constant, which keeps its memory for the whole run.
    given: bool,
    /// True if the tensor is an output, which keeps its memory until the end of the run.
    kept: bool,
}

struct Planner<'g> {
    graph: &'g Graph,
    layout: Layout,
    /// Number of rows of the largest input. With [`Layout::Panels`], every tensor with this number of rows is in panels.
    batch: usize,
    /// Nodes that read each node.
    readers: Vec<Vec<usize>>,
    /// Number of uses of each node: reads, outputs and gradients. Two kinds of reads do not count: reads of a norm and its input by the
    /// norm's gradient, and reads of a head's loss by the loss's gradient.
    uses: Vec<usize>,
    live: Vec<bool>,
    /// Tells of each node whether it belongs to a [`Chain`] without being the chain's product.
    claimed: Vec<bool>,
    /// Tells of each node whether the kernel of another node computes it.
    absorbed: Vec<bool>,
    chains: BTreeMap<usize, Chain>,
    place: Vec<Place>,
    /// Heads whose gradients are computed together with their loss. The key is the node of the loss; the value is the factor of this loss
    /// in the total loss.
    heads: BTreeMap<usize, f32>,
    /// Places of the statistics that kernels save. The key is the node of a norm or an attention.
    stats: BTreeMap<usize, Place>,
    /// Parameters whose gradient is a node, or has the node as a term. The key is the node; the values are indices of parameters.
    gradient_of: BTreeMap<usize, Vec<usize>>,
    written: Vec<bool>,
    slots: Vec<Slot>,
    steps: Vec<Step>,
    packs: Vec<Pack>,
    drawing: Drawing,
    inputs: Vec<Port>,
    constants: Vec<(usize, Vec<f32>)>,
}

/// Nodes of the plan's drawing; see [`Plan::describe`].
#[derive(Default)]
struct Drawing {
    nodes: Vec<PlanNode>,
    /// Index of the drawn node whose kernel computes a node of the graph. The key is the node of the graph.
    of: BTreeMap<usize, usize>,
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
            heads: BTreeMap::new(),
            stats: BTreeMap::new(),
            gradient_of: BTreeMap::new(),
            written: vec![false; graph.table.specs().len()],
            slots: Vec::new(),
            steps: Vec::new(),
            packs: Vec::new(),
            drawing: Drawing::default(),
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
                p.find_head(id, fuse);
            }
        }
        for id in 0..len {
            if p.live[id] && !p.absorbed[id] {
                p.lower(id)?;
                p.collect(id);
            }
        }
        let outputs = outputs.iter().map(|(name, node)| p.output(name, node.0)).collect();
        if fuse {
            p.join_slopes();
            p.join_sums();
        }
        p.find_lives();
        let unshared_len = p.slots.iter().map(|s| s.len.next_multiple_of(LINE as u64)).sum();
        let alias = p.share_in_place();
        let (slots, arena_len) = p.place(&alias);
        let specs = graph.table.specs();
        let untouched = specs.iter().zip(&p.written).filter(|(_, written)| !**written);
        Ok(Plan {
            isa,
            layout,
            table: graph.table.clone(),
            untouched: untouched.map(|(spec, _)| spec.range()).collect(),
            wide: p.steps.iter().any(|step| {
                let long = |place: &Place| matches!(place, Place::Slot(slot) if slots[*slot].len() > CHUNK);
                step.call.is_wide() || step.writes.iter().any(long)
            }),
            steps: p.steps,
            slots,
            arena_len,
            inputs: p.inputs,
            outputs,
            constants: p.constants,
            packs: p.packs,
            trains: gradients.is_some(),
            half: false,
            nodes: p.drawing.nodes,
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
                let named_only = slot == 4 && matches!(self.graph.nodes[id].op, Op::HeadLossGrad { .. });
                let left_by_forward = named_only || self.is_norm_grad(id) && (slot == 0 || slot == 3);
                self.uses[input] += usize::from(!left_by_forward);
                self.readers[input].push(id);
                self.live[input] = true;
            }
        }
    }

    /// Registers node `id` as the gradient of a parameter. If the node is a sum, registers its terms instead. The kernel of each term then
    /// adds to the gradient, so the sum needs no kernel of its own.
    fn split_gradient(&mut self, param: usize, id: usize) {
        let node = &self.graph.nodes[id];
        let same = |i: &NodeId| self.graph.shape(*i) == node.shape;
        if node.op == Op::Binary(Binary::Add) && self.uses[id] == 1 && node.inputs.iter().all(same) {
            self.live[id] = false;
            for input in node.inputs.clone() {
                self.split_gradient(param, input.0);
            }
        } else {
            self.gradient_of.entry(id).or_default().push(param);
        }
    }

    // ---- what is fused ----

    /// Returns the only node that reads node `id`. Gradients of norms do not count as readers. Returns `None` if node `id` has another use,
    /// or if the reader already belongs to a chain.
    fn sole_reader(&self, id: usize) -> Option<usize> {
        let mut readers = self.readers[id].iter().filter(|&&r| !self.is_norm_grad(r));
        let reader = *readers.next()?;
        (self.uses[id] == 1 && self.live[reader] && !self.claimed[reader]).then_some(reader)
    }

    /// Returns the gelu that reads node `id`, if other nodes also read node `id` and all of them run after the gelu. An example of such a
    /// node is the gelu's gradient.
    fn gelu_beside_others(&self, id: usize) -> Option<usize> {
        // Readers are listed in descending order, so the last one of the list runs first.
        let (&gelu, others) = self.readers[id].split_last()?;
        let fits = self.graph.nodes[gelu].op == Op::Unary(Unary::Gelu)
            && self.layout == Layout::Rows
            && !others.is_empty()
            && !self.claimed[gelu]
            && !self.gradient_of.contains_key(&id);
        fits.then_some(gelu)
    }

    fn is_norm_grad(&self, id: usize) -> bool {
        matches!(self.graph.nodes[id].op, Op::NormGrad { .. })
    }

    /// Returns the operand `other` of a node `add` that computes `one` + `other`. Returns `None` if `add` is not such an addition, or if
    /// `other` does not have the shape `shape`.
    fn addend(&self, add: usize, one: usize, shape: Shape) -> Option<usize> {
        let node = &self.graph.nodes[add];
        let other = match (&node.op, node.inputs.as_slice()) {
            (Op::Binary(Binary::Add), &[a, b]) if a.0 == one && b.0 != one => b,
            (Op::Binary(Binary::Add), &[a, b]) if b.0 == one && a.0 != one => a,
            _ => return None,
        };
        (self.graph.shape(other) == shape).then_some(other.0)
    }

    /// Returns true if node `id` is the input of a norm and the norm's gradient reads it.
    fn is_saved(&self, id: usize) -> bool {
        self.readers[id].iter().any(|&r| self.is_norm_grad(r) && self.graph.nodes[r].inputs[0].0 == id)
    }

    /// Returns the nodes that compute the gradients of a head's loss: first with respect to x, then with respect to w. Returns `None` for a
    /// gradient without a node.
    fn head_grads(&self, head: usize) -> [Option<usize>; 2] {
        [true, false].map(|of_x| {
            let wanted = Op::HeadLossGrad { of_x };
            self.readers[head].iter().copied().find(|&r| self.graph.nodes[r].op == wanted)
        })
    }

    /// Fuses the gradients of a head with its loss, if all rows have the same factor in the total loss.
    fn find_head(&mut self, head: usize, fuse: bool) {
        if !fuse || self.graph.nodes[head].op != Op::HeadLoss {
            return;
        }
        let grads: Vec<usize> = self.head_grads(head).into_iter().flatten().collect();
        let Some(dy) = grads.first().map(|&grad| self.graph.nodes[grad].inputs[3].0) else { return };
        let scale = match &self.graph.nodes[dy].op {
            Op::Constant(values) if values.len() == 1 => values[0],
            Op::Broadcast => match &self.graph.nodes[self.graph.nodes[dy].inputs[0].0].op {
                Op::Constant(values) if values.len() == 1 => values[0],
                _ => return,
            },
            _ => return,
        };
        if grads.iter().all(|&grad| self.graph.nodes[grad].inputs[3].0 == dy) {
            self.absorbed[dy] |= self.uses[dy] == grads.len();
            grads.iter().for_each(|&grad| self.absorbed[grad] = true);
            self.heads.insert(head, scale);
        }
    }

    /// Fuses the product of a node and a parameter with the operations after it, as a [`Chain`]. In a layer (parameter transposed), these
    /// operations are bias, layer norm, residual and activation, each optional. In a layer's gradient (parameter not transposed), only the
    /// addition of another gradient is fused. An embedding bag is fused with bias and relu.
    fn find_chain(&mut self, product: usize, fuse: bool) {
        let node = &self.graph.nodes[product];
        let bag = node.op == Op::EmbeddingBag;
        let tb = match node.op {
            Op::MatMul { ta: false, tb } => tb,
            Op::EmbeddingBag => true,
            _ => return,
        };
        if !bag && !matches!(self.graph.nodes[node.inputs[1].0].op, Op::Param(_)) {
            return;
        }
        let mut chain = Chain { product, ..Chain::default() };
        let mut last = product;
        // Adds the next node to the chain if `part` accepts it.
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
        }
        if tb && !bag {
            follow(self, &mut |p, last, next| {
                let reader = &p.graph.nodes[next];
                let found = matches!(reader.op, Op::Norm { centred: true, .. }) && reader.inputs[0].0 == last;
                chain.norm = found.then_some(next);
                found
            });
        }
        if !bag {
            follow(self, &mut |p, last, next| {
                chain.residual = p.addend(next, last, node.shape).filter(|_| !p.is_saved(last));
                chain.residual.is_some()
            });
        }
        if tb {
            follow(self, &mut |p, last, next| {
                chain.act = match p.graph.nodes[next].op {
                    Op::Unary(Unary::Relu) if !p.is_saved(last) => Act::Relu,
                    Op::Unary(Unary::Tanh) if !bag && !p.is_saved(last) => Act::Tanh,
                    Op::Unary(Unary::Gelu) if !bag && !p.is_saved(last) => Act::Gelu,
                    _ => Act::None,
                };
                chain.act != Act::None
            });
        }
        if let Some(gelu) = self.gelu_beside_others(last).filter(|_| fuse && tb && !bag && chain.norm.is_none()) {
            (chain.act, chain.saved) = (Act::Gelu, Some(last));
            self.absorbed[last] = true;
            self.claimed[gelu] = true;
            last = gelu;
        }
        self.chains.insert(last, chain);
    }
}
