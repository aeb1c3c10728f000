//! The executor: replays a plan's kernel calls over one arena. It allocates nothing while it runs and
//! decides nothing; `plan.rs` did.

use crate::buffer::Buffer;
use crate::op::Sums;
use crate::params::Params;
use crate::plan::{Call, Packing, Place, Plan, Port, Step};
use math::gemm::{
    Norm, linear_panels, linear_rows, linear_rows_dw, linear_rows_dx, matmul, pack_panels, pack_rows,
    pack_rows_t,
};
use math::{Epilogue, Isa, ops};
use std::ops::Range;
use std::sync::Arc;

/// The weights of one plan in the order its products read them: packed once after each change of the
/// parameters, then read by any number of executors.
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

    /// Takes the parameters as they are now.
    pub fn pack(&mut self, params: &Params) {
        let plan = &*self.plan;
        assert!(params.table() == &plan.table, "these parameters belong to another graph");
        for pack in &plan.packs {
            let spec = &plan.table.specs()[pack.param];
            let ([out, inp], w) = (spec.shape, &params.values()[spec.range()]);
            let to = &mut self.memory[pack.range.clone()];
            match pack.packing {
                Packing::Rows => pack_rows(plan.isa, w, out, inp, to),
                Packing::RowsT => pack_rows_t(plan.isa, w, out, inp, to),
                Packing::Panels => pack_panels(plan.isa, w, out, inp, to),
            }
        }
    }
}

/// One runner of a plan, with its own inputs, outputs and arena.
#[derive(Clone, Debug)]
pub struct Executor {
    plan: Arc<Plan>,
    arena: Buffer,
}

impl Executor {
    pub fn new(plan: &Arc<Plan>) -> Executor {
        let mut arena = Buffer::zeros(plan.arena_len);
        for (slot, values) in &plan.constants {
            arena[plan.slots[*slot].clone()].copy_from_slice(values);
        }
        Executor { plan: plan.clone(), arena }
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// To be filled before a run; keeps its values from run to run. Laid out as the plan's layout says.
    ///
    /// # Panics
    /// Where the plan reads no such input.
    #[track_caller]
    pub fn input_mut(&mut self, name: &str) -> &mut [f32] {
        let slot = find(&self.plan.inputs, name, "reads no input");
        &mut self.arena[self.plan.slots[slot].clone()]
    }

    /// Valid from one run to the next.
    ///
    /// # Panics
    /// Where the plan has no such output.
    #[track_caller]
    pub fn output(&self, name: &str) -> &[f32] {
        let slot = find(&self.plan.outputs, name, "has no output");
        &self.arena[self.plan.slots[slot].clone()]
    }

    /// Computes the outputs of a plan without gradients.
    pub fn run(&mut self, params: &Params, packed: &Packed) {
        assert!(!self.plan.trains, "this plan has gradients: call train");
        self.replay(params, packed, &mut [], false);
    }

    /// Computes outputs and gradients. `grads` is laid out as [`Params::values`]; with `accumulate` the
    /// gradients are added to what it holds, otherwise they replace it.
    pub fn train(&mut self, params: &Params, packed: &Packed, grads: &mut [f32], accumulate: bool) {
        assert!(self.plan.trains, "this plan has no gradients: make it with Plan::training");
        assert_eq!(grads.len(), self.plan.table.len(), "gradients are as long as the parameters");
        if !accumulate {
            for range in &self.plan.untouched {
                grads[range.clone()].fill(0.0);
            }
        }
        self.replay(params, packed, grads, accumulate);
    }

    fn replay(&mut self, params: &Params, packed: &Packed, grads: &mut [f32], accumulate: bool) {
        let plan = &*self.plan;
        assert!(Arc::ptr_eq(&self.plan, &packed.plan), "these weights were packed for another plan");
        assert_eq!(params.values().len(), plan.table.len(), "these parameters belong to another graph");
        for step in &plan.steps {
            let memory = Memory {
                arena: &mut self.arena,
                grads: &mut *grads,
                params: params.values(),
                slots: &plan.slots,
            };
            run(plan.isa, step, memory, &packed.memory, accumulate);
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

/// What is left of the arena for reading when the writes are taken out of it.
struct Reads<'a> {
    /// First float and contents of each stretch.
    gaps: [(usize, &'a [f32]); 4],
    params: &'a [f32],
    slots: &'a [Range<usize>],
}

impl<'a> Memory<'a> {
    /// The places a step writes, one slice each, and the rest to read from.
    fn open(self, writes: &[Place; 3]) -> ([&'a mut [f32]; 3], Reads<'a>) {
        let mut open: [&mut [f32]; 3] = [&mut [], &mut [], &mut []];
        let mut gaps: [(usize, &[f32]); 4] = [(0, &[]); 4];
        let (mut arena, mut grads) = (self.arena, self.grads);
        let (mut arena_at, mut grads_at) = (0, 0);
        // In the order of their addresses: the next one is the first beyond what is handed out.
        for gap in 0..3 {
            let next = (0..3).filter_map(|i| match &writes[i] {
                Place::Slot(slot) if open[i].is_empty() && !self.slots[*slot].is_empty() => {
                    Some((self.slots[*slot].start, i))
                }
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
        gaps[3] = (arena_at, arena);
        for _ in 0..3 {
            let next = (0..3).filter_map(|i| match &writes[i] {
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
                let holds =
                    |(start, gap): &&(usize, &[f32])| *start <= range.start && range.end <= start + gap.len();
                let Some((start, gap)) = self.gaps.iter().find(holds) else {
                    unreachable!("a kernel reads what it writes")
                };
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
    let ([y, y1, y2], reads) = memory.open(&step.writes);
    let r = |i: usize| reads.get(&step.reads[i]);
    let adds = |i: usize| match step.writes[i] {
        Place::Grad { first, .. } => accumulate || !first,
        _ => false,
    };
    match &step.call {
        &Call::Linear { panels, rows, out, inp, packed: ref w, eps, act } => {
            let norm = reads.optional(&step.reads[3]).map(|gamma| Norm {
                gamma,
                beta: r(4),
                eps,
                save_pre: (!y1.is_empty()).then_some(y1),
                save_stats: (!y2.is_empty()).then_some(y2),
            });
            let tail = Epilogue {
                bias: reads.optional(&step.reads[1]),
                residual: reads.optional(&step.reads[2]),
                norm,
                act,
            };
            let linear = if panels { linear_panels } else { linear_rows };
            linear(isa, rows, out, inp, r(0), &packed[w.clone()], y, tail);
        }
        &Call::LinearDx { rows, out, inp, packed: ref w } => {
            let adds = step.reads[1] != Place::Nowhere;
            if adds && !step.in_place {
                y.copy_from_slice(r(1));
            }
            linear_rows_dx(isa, rows, out, inp, r(0), &packed[w.clone()], y, adds);
        }
        &Call::LinearDw { rows, out, inp } => linear_rows_dw(isa, rows, out, inp, r(0), r(1), y, adds(0)),
        &Call::MatMul { m, n, k, a, b } => matmul(isa, m, n, k, r(0), a, r(1), b, y, false),
        &Call::Affine { scale, shift } => ops::affine(isa, scale, shift, r(0), y),
        &Call::Unary(op) if step.in_place => ops::unary_in_place(isa, op, y),
        &Call::Unary(op) => ops::unary(isa, op, r(0), y),
        &Call::UnaryGrad(op) => ops::unary_backward(isa, op, r(0), r(0), r(1), y, false),
        &Call::Binary { op, blocks, rows, cols, a, b } => {
            for (block, y) in y.chunks_exact_mut(rows * cols).take(blocks).enumerate() {
                let b = (&r(1)[block * b.1..], b.0);
                if step.in_place {
                    ops::binary_in_place(isa, op, rows, cols, y, b);
                } else {
                    ops::binary(isa, op, rows, cols, (&r(0)[block * a.1..], a.0), b, y);
                }
            }
        }
        &Call::Sum { of: Sums::All, rows, cols } => y[0] = ops::sum(isa, &r(0)[..rows * cols]),
        &Call::Sum { of: Sums::Rows, rows, cols } => ops::sum_rows(isa, rows, cols, r(0), y, false),
        &Call::Sum { of: Sums::Cols, rows, cols } => ops::sum_cols(isa, rows, cols, r(0), y, adds(0)),
        &Call::LayerNorm { panels, rows, cols, eps } => {
            let norm = if panels { ops::layer_norm_panels } else { ops::layer_norm };
            norm(isa, rows, cols, r(0), r(1), r(2), eps, y, (!y1.is_empty()).then_some(y1));
        }
        &Call::LayerNormGrad { rows, cols } => {
            // The kernel adds to the sums over rows.
            if !adds(1) {
                y1.fill(0.0);
            }
            if !adds(2) {
                y2.fill(0.0);
            }
            ops::layer_norm_backward(isa, rows, cols, r(0), r(1), r(2), r(3), y, y1, y2, false);
        }
        &Call::Softmax { panels, rows, cols, log } => {
            let softmax = match (panels, log) {
                (false, false) => ops::softmax,
                (false, true) => ops::log_softmax,
                (true, false) => ops::softmax_panels,
                (true, true) => ops::log_softmax_panels,
            };
            softmax(isa, rows, cols, r(0), y);
        }
        &Call::SoftmaxGrad { rows, cols, log } => {
            let gradient = if log { ops::log_softmax_backward } else { ops::softmax_backward };
            gradient(isa, rows, cols, r(0), r(1), y, false);
        }
        &Call::Take { rows, cols } => ops::take_columns(isa, rows, cols, r(0), r(1), y),
        &Call::TakeGrad { rows, cols } => ops::take_columns_backward(isa, rows, cols, r(1), r(0), y, false),
        &Call::Embedding { cols } => ops::gather_rows(isa, cols, r(0), r(1), y),
        &Call::EmbeddingGrad { cols } => {
            if !adds(0) {
                y.fill(0.0);
            }
            ops::scatter_add_rows(isa, cols, r(1), r(0), y);
        }
        &Call::Copy { runs, len, x, y: to, clear } => {
            if clear {
                y.fill(0.0);
            }
            for run in 0..runs {
                y[run * to.0 + to.1..][..len].copy_from_slice(&r(0)[run * x.0 + x.1..][..len]);
            }
        }
        Call::Collect if adds(0) => ops::add_scaled(isa, 1.0, r(0), y),
        Call::Collect => y.copy_from_slice(r(0)),
    }
}
