//! Executor: runs a plan's kernel calls in order. All tensors are in one arena. The plan already fixes the kernels and the memory, so the
//! executor allocates nothing while it runs. Calls run one after another. All threads share the work of a large call and write to one copy
//! of the gradients. The bits of the gradients do not depend on the number of threads.

use crate::op::Sums;
use crate::params::Params;
use crate::plan::{Call, ColumnSpan, Pack, Packing, Place, Plan, Port, Step};
use math::gemm::{Norm, linear_panels, linear_rows, linear_rows_dw, linear_rows_dx, matmul, pack_panels, pack_rows, pack_rows_t};
use math::ops::HeadSlopes;
use math::par::{self, CHUNK, chunks_mut};
use math::{Binary, Buffer, Epilogue, Isa, Span, ops};
use std::ops::Range;
use std::sync::Arc;

/// Weights of one plan, packed (rearranged in memory) in the layouts that the plan's kernels read. The caller packs them again after each
/// change of the parameters. Any number of executors may read them.
#[derive(Clone, Debug)]
pub struct Packed {
    plan: Arc<Plan>,
    memory: Buffer,
}

impl Packed {
    pub fn new(plan: &Arc<Plan>, params: &Params) -> Packed {
        let mut packed = Packed { plan: plan.clone(), memory: Buffer::zeros(plan.packed_len()) };
        packed.pack(params);
        packed
    }

    /// Packs the current parameters.
    pub fn pack(&mut self, params: &Params) {
        if self.plan.table.len() > WIDE {
            par::inside(|| self.pack_all(params));
        } else {
            self.pack_all(params);
        }
    }

    fn pack_all(&mut self, params: &Params) {
        assert!(params.table() == &self.plan.table, "these parameters belong to another graph");
        pack_each(&self.plan, &self.plan.packs, params.values(), &mut self.memory);
    }
}

/// Packs each weight into `to`, without gaps between the packs.
fn pack_each(plan: &Plan, packs: &[Pack], values: &[f32], to: &mut [f32]) {
    if packs.len() > 1 && to.len() > CHUNK {
        let (left, right) = packs.split_at(packs.len() / 2);
        let (to_left, to_right) = to.split_at_mut(right[0].range.start - left[0].range.start);
        par::join(|| pack_each(plan, left, values, to_left), || pack_each(plan, right, values, to_right));
        return;
    }
    let mut rest = to;
    for pack in packs {
        let spec = &plan.table.specs()[pack.param];
        let ([out, inp], w) = (spec.shape, &values[spec.range()]);
        let (to, after) = rest.split_at_mut(pack.range.len());
        rest = after;
        match pack.packing {
            Packing::Rows => pack_rows(plan.isa, w, out, inp, to),
            Packing::RowsT => pack_rows_t(plan.isa, w, out, inp, to),
            Packing::Panels => pack_panels(plan.isa, w, out, inp, to),
        }
    }
}

/// Number of parameters above which all threads share a pass over the parameters.
pub(crate) const WIDE: usize = 4 * CHUNK;

/// Executor of a plan, with its own inputs, outputs and arena.
#[derive(Clone, Debug)]
pub struct Executor {
    plan: Arc<Plan>,
    arena: Buffer,
    timed: Option<Timed>,
}

/// Measurements of [`Executor::time_calls`]: the clock, and the seconds of each call of the plan, summed over all runs.
#[derive(Clone, Debug)]
struct Timed {
    clock: fn() -> f64,
    seconds: Vec<f64>,
}

/// Statistics of all calls with one name and shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Name of the operation: [`Call::name`](crate::Call::name).
    pub name: &'static str,
    /// Sizes of the operation as text: [`Plan::shape_of`].
    pub shape: String,
    /// Number of calls with this name and shape in one run of the plan.
    pub calls: usize,
    /// Seconds of these calls, summed over all timed runs.
    pub seconds: f64,
}

impl Executor {
    pub fn new(plan: &Arc<Plan>) -> Executor {
        let mut arena = Buffer::zeros(plan.arena_len());
        for (slot, values) in &plan.constants {
            arena[plan.slots[*slot].clone()].copy_from_slice(values);
        }
        Executor { plan: plan.clone(), arena, timed: None }
    }

    /// Starts to time each call with `clock`, which returns seconds since an arbitrary moment. `None` stops timing. Timing does not change
    /// the results.
    pub fn time_calls(&mut self, clock: Option<fn() -> f64>) {
        self.timed = clock.map(|clock| Timed { clock, seconds: vec![0.0; self.plan.steps.len()] });
    }

    pub fn is_timed(&self) -> bool {
        self.timed.is_some()
    }

    /// Returns the statistics of the calls since [`Executor::time_calls`], the slowest operation first. Returns an empty list if calls are
    /// not timed.
    pub fn operations(&self) -> Vec<Operation> {
        let Some(Timed { seconds, .. }) = &self.timed else { return Vec::new() };
        let mut operations: Vec<Operation> = Vec::new();
        for (step, &seconds) in self.plan.steps.iter().zip(seconds) {
            let (name, shape) = (step.call.name(), self.plan.shape_of(step));
            match operations.iter_mut().find(|known| known.name == name && known.shape == shape) {
                Some(known) => {
                    known.calls += 1;
                    known.seconds += seconds;
                }
                None => operations.push(Operation { name, shape, calls: 1, seconds }),
            }
        }
        operations.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        operations
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns the buffer of an input in the memory layout of the plan. Fill the buffer before a run; its contents persist between runs.
    ///
    /// # Panics
    /// If the plan has no such input.
    #[track_caller]
    pub fn input_mut(&mut self, name: &str) -> &mut [f32] {
        let slot = find(&self.plan.inputs, name, "reads no input");
        &mut self.arena[self.plan.slots[slot].clone()]
    }

    /// Returns an output of the last run, in the memory layout of the plan.
    ///
    /// # Panics
    /// If the plan has no such output.
    #[track_caller]
    pub fn output(&self, name: &str) -> &[f32] {
        let slot = find(&self.plan.outputs, name, "has no output");
        &self.arena[self.plan.slots[slot].clone()]
    }

    /// Computes the outputs of a plan without gradients.
    pub fn run(&mut self, params: &Params, packed: &Packed) {
        assert!(!self.plan.trains, "this plan has gradients: call train");
        self.replay_wide(params, packed, &mut [], false, 0..self.plan.steps.len());
    }

    /// Computes outputs and gradients. `grads` has the layout of [`Params::values`]. With `accumulate`, gradients are added to the contents
    /// of `grads`; otherwise they replace the contents.
    pub fn train(&mut self, params: &Params, packed: &Packed, grads: &mut [f32], accumulate: bool) {
        self.train_part(params, packed, grads, accumulate, 0..self.plan.steps.len());
    }

    /// Executes `part`, one of [`Plan::parts`]. Execute all parts in order. Do not change parameters, inputs or `grads` between two parts.
    /// All parts together give the result of one call of [`Executor::train`].
    pub fn train_part(&mut self, params: &Params, packed: &Packed, grads: &mut [f32], accumulate: bool, part: Range<usize>) {
        assert!(self.plan.trains, "this plan has no gradients: make it with Plan::training");
        assert_eq!(grads.len(), self.plan.table.len(), "gradients are as long as the parameters");
        if !accumulate && part.start == 0 {
            for range in &self.plan.untouched {
                grads[range.clone()].fill(0.0);
            }
        }
        self.replay_wide(params, packed, grads, accumulate, part);
    }

    /// Replays the steps of `part`. If at least one call is large enough for several threads, all steps run on a thread of the thread pool.
    /// The calling thread therefore enters the pool once, not once per call.
    fn replay_wide(&mut self, params: &Params, packed: &Packed, grads: &mut [f32], accumulate: bool, part: Range<usize>) {
        if self.plan.wide {
            par::inside(|| self.replay(params, packed, grads, accumulate, part));
        } else {
            self.replay(params, packed, grads, accumulate, part);
        }
    }

    fn replay(&mut self, params: &Params, packed: &Packed, grads: &mut [f32], accumulate: bool, part: Range<usize>) {
        let plan = &*self.plan;
        assert!(Arc::ptr_eq(&self.plan, &packed.plan), "these weights were packed for another plan");
        assert_eq!(params.values().len(), plan.table.len(), "these parameters belong to another graph");
        let mut timed = self.timed.as_mut().map(|timed| ((timed.clock)(), timed));
        for index in part {
            let memory = Memory { arena: &mut self.arena, grads: &mut *grads, params: params.values(), slots: &plan.slots };
            run(plan.isa, &plan.steps[index], memory, &packed.memory, accumulate);
            if let Some((read_s, Timed { clock, seconds })) = &mut timed {
                let now_s = clock();
                seconds[index] += now_s - *read_s;
                *read_s = now_s;
            }
        }
    }
}

#[track_caller]
fn find(ports: &[Port], name: &str, lacks: &str) -> usize {
    match ports.iter().find(|port| *port.name == *name) {
        Some(port) => port.slot,
        None => {
            let names: Vec<&str> = ports.iter().map(|p| &*p.name).collect();
            panic!("the plan {lacks} {name}; there are {names:?}")
        }
    }
}

struct Memory<'a> {
    arena: &'a mut [f32],
    grads: &'a mut [f32],
    params: &'a [f32],
    slots: &'a [Range<usize>],
}

/// Data that a step may read while the slices that it writes are borrowed: the rest of the arena, and the parameters.
struct Reads<'a> {
    /// Offset and contents of each readable range of the arena.
    gaps: [(usize, &'a [f32]); 5],
    params: &'a [f32],
    slots: &'a [Range<usize>],
}

impl<'a> Memory<'a> {
    /// Returns the slices that a step writes, and the remaining data, which the step may read.
    fn open(self, writes: &[Place; 4]) -> ([&'a mut [f32]; 4], Reads<'a>) {
        let mut open: [&mut [f32]; 4] = [&mut [], &mut [], &mut [], &mut []];
        let mut gaps: [(usize, &[f32]); 5] = [(0, &[]); 5];
        let (mut arena, mut grads) = (self.arena, self.grads);
        let (mut arena_at, mut grads_at) = (0, 0);
        // Writes are processed in ascending order of addresses, because each write is split off from the rest of the arena.
        for gap in 0..4 {
            let next = (0..4).filter_map(|i| match &writes[i] {
                Place::Slot(slot) if open[i].is_empty() && !self.slots[*slot].is_empty() => Some((self.slots[*slot].start, i)),
                _ => None,
            });
            let Some((_, i)) = next.min() else { continue };
            let Place::Slot(slot) = writes[i] else { continue };
            let range = &self.slots[slot];
            let (before, rest) = arena.split_at_mut(range.start - arena_at);
            let (write, rest) = rest.split_at_mut(range.len());
            gaps[gap] = (arena_at, before);
            open[i] = write;
            (arena, arena_at) = (rest, range.end);
        }
        gaps[4] = (arena_at, arena);
        for _ in 0..4 {
            let next = (0..4).filter_map(|i| match &writes[i] {
                Place::Grad { range, .. } if open[i].is_empty() => Some((range.start, range.end, i)),
                _ => None,
            });
            let Some((start, end, i)) = next.min() else { break };
            let (write, rest) = grads.split_at_mut(start - grads_at).1.split_at_mut(end - start);
            open[i] = write;
            (grads, grads_at) = (rest, end);
        }
        (open, Reads { gaps, params: self.params, slots: self.slots })
    }
}

impl<'a> Reads<'a> {
    fn get(&self, place: &Place) -> &'a [f32] {
        match place {
            Place::Param(range) => &self.params[range.clone()],
            Place::Slot(slot) => {
                let range = &self.slots[*slot];
                let holds = |(start, gap): &&(usize, &[f32])| *start <= range.start && range.end <= start + gap.len();
                let Some((start, gap)) = self.gaps.iter().find(holds) else { unreachable!("a kernel reads what it writes") };
                &gap[range.start - start..range.end - start]
            }
            Place::Nowhere | Place::Grad { .. } => unreachable!("a kernel reads from nowhere"),
        }
    }

    fn optional(&self, place: &Place) -> Option<&'a [f32]> {
        (*place != Place::Nowhere).then(|| self.get(place))
    }
}

fn run(isa: Isa, step: &Step, memory: Memory, packed: &[f32], accumulate: bool) {
    let ([y, y1, y2, y3], reads) = memory.open(&step.writes);
    let r = |i: usize| reads.get(&step.reads[i]);
    let adds = |i: usize| match step.writes[i] {
        Place::Grad { first, .. } => accumulate || !first,
        _ => false,
    };
    match &step.call {
        &Call::Linear { panels, rows, out, inp, packed: ref w, eps, act } => {
            let norm = reads.optional(&step.reads[3]).map(|gamma| Norm { gamma, beta: r(4), eps, save_pre: y1, save_stats: y2 });
            let tail = Epilogue { bias: reads.optional(&step.reads[1]), residual: reads.optional(&step.reads[2]), norm, act, save: y3 };
            let linear = if panels { linear_panels } else { linear_rows };
            linear(isa, rows, out, inp, r(0), &packed[w.clone()], y, tail);
        }
        &Call::LinearDx { rows, out, inp, packed: ref w, slope } => {
            let adds = step.reads[1] != Place::Nowhere;
            if adds && !step.in_place {
                copy(r(1), y);
            }
            linear_rows_dx(isa, rows, out, inp, r(0), &packed[w.clone()], y, adds);
            if let Some(op) = slope {
                flat(y, |part, y| {
                    let at = &r(2)[part];
                    ops::unary_backward_in_place(isa, op, at, at, y);
                });
            }
        }
        &Call::LinearDw { rows, out, inp } => {
            linear_rows_dw(isa, rows, out, inp, r(0), r(1), y, adds(0));
            if !y1.is_empty() {
                ops::sum_cols(isa, rows, out, r(0), y1, adds(1));
            }
        }
        &Call::MatMul { m, n, k, a, b } => matmul(isa, m, n, k, r(0), a, r(1), b, y, false),
        &Call::Affine { scale, shift } => flat(y, |part, y| ops::affine(isa, scale, shift, &r(0)[part], y)),
        &Call::Unary(op) if step.in_place => flat(y, |_, y| ops::unary_in_place(isa, op, y)),
        &Call::Unary(op) => flat(y, |part, y| ops::unary(isa, op, &r(0)[part], y)),
        &Call::UnaryGrad(op) => flat(y, |part, y| {
            let (x, dy) = (&r(0)[part.clone()], &r(1)[part]);
            ops::unary_backward(isa, op, x, x, dy, y);
        }),
        &Call::Binary { op, blocks, rows, cols, a, b } => {
            let a = (!step.in_place).then(|| (r(0), a.0, a.1));
            binary(isa, op, [blocks, rows, cols], a, (r(1), b.0, b.1), y);
        }
        &Call::Sum { of: Sums::All, rows, cols } => y[0] = ops::sum(isa, &r(0)[..rows * cols]),
        &Call::Sum { of: Sums::Rows, rows, cols } => by_rows(rows, [(y, 1)], cols, |rows, [y]| {
            ops::sum_rows(isa, rows.len(), cols, &r(0)[rows.start * cols..], y);
        }),
        &Call::Sum { of: Sums::Cols, rows, cols } => ops::sum_cols(isa, rows, cols, r(0), y, adds(0)),
        &Call::Norm { panels: true, rows, cols, eps, .. } => ops::layer_norm_panels(isa, rows, cols, r(0), r(1), r(2), eps, y, y1),
        &Call::Norm { panels: false, rows, cols, eps, .. } => {
            let beta = reads.optional(&step.reads[2]);
            let stats = if y1.is_empty() { 0 } else { 2 };
            by_rows(rows, [(y, cols), (y1, stats)], cols, |rows, [y, stats]| {
                ops::norm(isa, rows.len(), cols, &r(0)[rows.start * cols..], r(1), beta, eps, y, stats);
            });
        }
        &Call::NormGrad { rows, cols, centred } => {
            // The kernel adds to dgamma and dbeta. Their old contents are cleared here, unless the call must add to them.
            if !adds(1) {
                y1.fill(0.0);
            }
            if !adds(2) {
                y2.fill(0.0);
            }
            ops::norm_backward(isa, rows, cols, r(0), r(1), r(2), r(3), y, y1, centred.then_some(y2));
        }
        &Call::Rotary { rows, cols, size, back } => by_rows(rows, [(y, cols)], cols, |at, [y]| {
            let x = (!step.in_place).then(|| &r(0)[at.start * cols..at.end * cols]);
            ops::rotary(isa, [cols / 3 * 2, cols, size], r(1), at.start, x, y, back);
        }),
        &Call::CausalAttention { cols, heads, len, .. } => {
            ops::causal_attention(isa, heads, len, cols, r(0), y, (!y1.is_empty()).then_some(y1));
        }
        &Call::CausalAttentionGrad { cols, heads, len, .. } => {
            ops::causal_attention_backward(isa, heads, len, cols, r(0), r(1), r(2), r(3), y);
        }
        &Call::HeadLoss { rows, vocab, inp, packed: ref w, ref packed_t, scale } => {
            let slopes = (!y1.is_empty() || !y2.is_empty()).then_some(HeadSlopes {
                packed_t: &packed[packed_t.clone()],
                upstream: reads.optional(&step.reads[2]),
                scale,
                dx: y1,
                dw: y2,
                adds: adds(2),
            });
            ops::head_loss(isa, [rows, vocab, inp], r(0), &packed[w.clone()], r(1), y, y3, slopes);
        }
        &Call::Dropout { p, rng } => ops::dropout(isa, p, rng, r(1)[0] as u32, r(0), y),
        &Call::Windows { len, shift } => ops::windows(r(0), r(1), len, shift, y),
        &Call::Softmax { panels: true, rows, cols, log } => ops::softmax_panels(isa, rows, cols, r(0), y, log),
        &Call::Softmax { panels: false, rows, cols, log } => by_rows(rows, [(y, cols)], cols, |rows, [y]| {
            ops::softmax(isa, rows.len(), cols, &r(0)[rows.start * cols..], y, log);
        }),
        &Call::SoftmaxGrad { rows, cols, log } => by_rows(rows, [(y, cols)], cols, |rows, [dx]| {
            let part = rows.start * cols..rows.end * cols;
            ops::softmax_backward(isa, rows.len(), cols, &r(0)[part.clone()], &r(1)[part], dx, log);
        }),
        &Call::Take { rows, cols } => ops::take_columns(isa, rows, cols, r(0), r(1), y),
        &Call::TakeGrad { rows, cols } => by_rows(rows, [(y, cols)], cols, |rows, [dx]| {
            let (dy, index) = (&r(1)[rows.clone()], &r(0)[rows.clone()]);
            ops::take_columns_backward(isa, rows.len(), cols, dy, index, dx);
        }),
        &Call::EmbeddingBag { cols, k, relu, .. } => {
            let bias = reads.optional(&step.reads[2]);
            ops::embedding_bag(isa, cols, r(0), k, r(1), bias, relu, y);
        }
        &Call::EmbeddingBagGrad { cols, k, .. } => {
            if !adds(0) {
                y.fill(0.0);
            }
            ops::embedding_bag_backward(isa, cols, k, r(0), r(1), y);
        }
        Call::Columns { rows, cols, parts } => {
            if parts.iter().map(|part| part.width).sum::<usize>() < *cols {
                y.fill(0.0);
            }
            for (i, &ColumnSpan { of, from, width, at }) in parts.iter().enumerate() {
                let x = r(i);
                for row in 0..*rows {
                    y[row * cols + at..][..width].copy_from_slice(&x[row * of + from..][..width]);
                }
            }
        }
        Call::Collect if adds(0) => flat(y, |part, y| ops::add_scaled(isa, 1.0, &r(0)[part], y)),
        Call::Collect => copy(r(0), y),
    }
}

// The functions below divide the work of a kernel among all threads. If there is little work, one thread does all of it.

/// Calls `f(part, numbers)` for each part of `y`. `numbers` are the elements of the part, and the range `part` contains their indices in
/// `y`.
fn flat(y: &mut [f32], f: impl Fn(Range<usize>, &mut [f32]) + Sync) {
    const VECTORS: usize = 64;
    let size = VECTORS * par::share(y.len().div_ceil(VECTORS), VECTORS);
    chunks_mut([y], [size], |i, [y]| f(i * size..i * size + y.len(), y));
}

fn copy(x: &[f32], y: &mut [f32]) {
    flat(y, |part, y| y.copy_from_slice(&x[part]));
}

/// Calls `f(rows, parts)` for each block of rows, in parallel if there is enough work. `ys` has the outputs, each with its number of
/// columns. `parts` has the rows of the block from each output. The work of a row is estimated as that of `cols` numbers.
fn by_rows<const N: usize>(rows: usize, ys: [(&mut [f32], usize); N], cols: usize, f: impl Fn(Range<usize>, [&mut [f32]; N]) + Sync) {
    let height = par::share(rows, cols);
    let sizes = std::array::from_fn(|i| ys[i].1 * height);
    let ys = ys.map(|(y, width)| &mut y[..rows * width]);
    chunks_mut(ys, sizes, |i, ys| f(i * height..rows.min((i + 1) * height), ys));
}

/// Operand of a binary operation: its data, its span within a block, and the distance between successive blocks in floats.
type Side<'a> = (&'a [f32], Span, usize);

/// Computes `y[rows][cols]` = a (op) b in each of `blocks` blocks. If `a` is `None`, computes y = y (op) b.
fn binary(isa: Isa, op: Binary, [blocks, rows, cols]: [usize; 3], a: Option<Side>, b: Side, y: &mut [f32]) {
    // Computes a part of y. For each operand, `begin` returns the offset of the part.
    let plain = |rows, cols, y: &mut [f32], begin: &dyn Fn(&Side) -> usize| {
        let b = (&b.0[begin(&b)..], b.1);
        match a {
            Some(a) => ops::binary(isa, op, rows, cols, (&a.0[begin(&a)..], a.1), b, y),
            None => ops::binary_in_place(isa, op, rows, cols, y, b),
        }
    };
    if blocks == 1 && rows == 1 {
        // Each operand is as long as y, or a single number.
        return flat(&mut y[..cols], |at, y| plain(1, y.len(), y, &|side| if side.1 == Span::Scalar { 0 } else { at.start }));
    }
    if blocks == 1 {
        return by_rows(rows, [(y, cols)], cols, |at, [y]| {
            plain(at.len(), cols, y, &|side| match side.1 {
                Span::Full => at.start * cols,
                Span::Column => at.start,
                Span::Row | Span::Scalar => 0,
            });
        });
    }
    let size = rows * cols;
    by_rows(blocks, [(y, size)], size, |at, [y]| {
        for (block, y) in at.zip(y.chunks_exact_mut(size)) {
            plain(rows, cols, y, &|side| block * side.2);
        }
    });
}
