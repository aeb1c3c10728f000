//! Translates one node, or one chain of nodes, to kernel calls with their reads and writes.

use super::{Call, Chain, ColumnSpan, Layout, NOWHERE, Pack, Packing, Place, PlanError, PlanNode, Planner, Port, Slot, Step};
use crate::graph::Node;
use crate::op::{Op, Sums, Wrt};
use crate::shape::{Shape, product};
use math::gemm::{packed_panels_len, packed_rows_len, packed_rows_t_len};
use math::{Act, Binary, Isa, LINE, PANEL, Span, panels_len};
use std::ops::Range;

impl Planner<'_> {
    fn is_panels(&self, shape: Shape) -> bool {
        self.layout == Layout::Panels && shape[0] == self.batch
    }

    fn len(&self, shape: Shape) -> usize {
        if self.is_panels(shape) { panels_len(shape[0], shape[1]) } else { shape[0] * shape[1] }
    }

    /// Returns [`Self::len`] as a u64, for sizes that exceed a usize.
    fn wide_len(&self, [rows, cols]: Shape) -> u64 {
        let rows = if self.is_panels([rows, cols]) { rows.next_multiple_of(PANEL) } else { rows };
        product(rows, cols)
    }

    fn slot(&mut self, len: u64) -> Place {
        self.slots.push(Slot { len, first: usize::MAX, last: 0, given: false, kept: false });
        Place::Slot(self.slots.len() - 1)
    }

    fn slot_for(&mut self, id: usize) -> Place {
        let len = self.wide_len(self.graph.nodes[id].shape);
        let place = self.slot(len);
        self.place[id] = place.clone();
        place
    }

    /// Chooses the place to which the kernel of node `id` writes. If the node's only use is as a parameter's gradient, or as a term of the
    /// gradient, the place is this gradient. The kernel must therefore be able to add to a gradient. In all other cases, the place is a new
    /// slot.
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

    /// Adds the value of node `id` to the gradient of each parameter that still has the node as a term. The first term replaces the
    /// contents, as in `Place::Grad`. Gradients to which the node's kernel writes directly are no longer registered, so they are left out.
    pub(super) fn collect(&mut self, id: usize) {
        for param in self.gradient_of.remove(&id).unwrap_or_default() {
            let (x, y) = (self.place[id].clone(), self.gradient(param));
            self.emit(Call::Collect, &[x], &[y]);
        }
    }

    fn emit(&mut self, call: Call, reads: &[Place], writes: &[Place]) {
        let mut step = Step { call, reads: [NOWHERE; 5], writes: [NOWHERE; 4], in_place: false };
        step.reads[..reads.len()].clone_from_slice(reads);
        step.writes[..writes.len()].clone_from_slice(writes);
        self.steps.push(step);
    }

    /// Returns the range of a parameter in the packed weights. If the parameter is not yet packed in this packing, adds it.
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
        let range = start..start.saturating_add(len.checked_next_multiple_of(LINE).unwrap_or(usize::MAX));
        self.packs.push(Pack { packing, param, range: range.clone() });
        range
    }

    pub(super) fn lower(&mut self, id: usize) -> Result<(), PlanError> {
        let node = &self.graph.nodes[id];
        let [rows, cols] = node.shape;
        let ids: Vec<usize> = node.inputs.iter().map(|i| i.0).collect();
        let shape_of = |slot: usize| self.graph.nodes[ids[slot]].shape;
        let panels = self.is_panels(node.shape);
        if self.layout == Layout::Panels {
            let any = panels || (0..ids.len()).any(|slot| self.is_panels(shape_of(slot)));
            let param = |slot: usize| matches!(self.graph.nodes[ids[slot]].op, Op::Param(_));
            let chain = self.chains.get(&id).map(|chain| &self.graph.nodes[chain.product].op);
            let op = chain.filter(|op| **op == Op::EmbeddingBag).unwrap_or(&node.op);
            let has = match *op {
                Op::MatMul { ta: false, tb: true } => panels && param(1),
                // A parameter is never in panels, whatever its shape.
                Op::Param(_) | Op::Input(_) | Op::Constant(_) => true,
                Op::StopGradient | Op::Affine { .. } | Op::Unary(_) | Op::UnaryGrad(_) | Op::Binary(_) => true,
                Op::Broadcast | Op::Norm { centred: true, .. } | Op::Softmax { .. } => true,
                Op::Concat | Op::SliceCols { .. } | Op::PadCols { .. } => true,
                _ => !any,
            };
            if !has {
                return Err(PlanError::NoPanels { op: op.text(), shape: node.shape });
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
                self.drawing.of.extend(self.drawing.of.get(&ids[0]).map(|&drawn| (id, drawn)));
            }
            &Op::MatMul { ta, tb } => self.lower_matmul(id, [ta, tb], &ids),
            &Op::Affine { scale, shift } => self.lower_as(id, Call::Affine { scale, shift }, &read),
            &Op::Unary(of) => self.lower_as(id, Call::Unary(of), &read),
            &Op::UnaryGrad(of) => self.lower_as(id, Call::UnaryGrad(of), &read),
            &Op::Binary(of) => self.lower_binary(id, of, [ids[0], ids[1]]),
            // min(x, x) is x, so the broadcast is lowered to a binary operation, which can broadcast its operands.
            Op::Broadcast => self.lower_binary(id, Binary::Min, [ids[0], ids[0]]),
            &Op::Sum(of) => {
                let [rows, cols] = shape_of(0);
                let y = if of == Sums::Cols { self.target(id) } else { self.slot_for(id) };
                self.emit(Call::Sum { of, rows, cols }, &read, &[y]);
            }
            &Op::Norm { eps, centred } => {
                let y = self.slot_for(id);
                let stats = self.stats_for(id);
                self.emit(Call::Norm { panels, rows, cols, eps, centred }, &read, &[y, stats]);
            }
            &Op::Rotary { back } => self.lower_as(id, Call::Rotary { rows, cols, size: shape_of(1)[1], back }, &read),
            &Op::CausalAttention { heads, len } => {
                let (y, mut lse) = (self.slot_for(id), NOWHERE);
                let mut readers = self.readers[id].iter().map(|&r| &self.graph.nodes[r]);
                let is_grad = |r: &Node| matches!(r.op, Op::CausalAttentionGrad { .. }) && r.inputs[1].0 == id;
                if readers.any(is_grad) {
                    lse = self.slot(product(rows, heads));
                    self.stats.insert(id, lse.clone());
                }
                self.emit(Call::CausalAttention { rows, cols, heads, len }, &read, &[y, lse]);
            }
            &Op::CausalAttentionGrad { heads, len } => {
                let (dqkv, lse) = (self.slot_for(id), self.stats[&ids[1]].clone());
                let [qkv, y, dy] = [0, 1, 2].map(|slot| read[slot].clone());
                let call = Call::CausalAttentionGrad { rows, cols: cols / 3, heads, len };
                self.emit(call, &[qkv, y, lse, dy], &[dqkv]);
            }
            Op::NormGrad { .. } => self.lower_norm_grad(id, &ids),
            Op::HeadLoss | Op::HeadLossGrad { .. } => self.lower_head(id, &ids),
            &Op::Dropout { p, rng } => self.lower_as(id, Call::Dropout { p, rng }, &read),
            &Op::Windows { len, shift } => self.lower_as(id, Call::Windows { len, shift }, &read),
            &Op::Softmax { log } => self.lower_as(id, Call::Softmax { panels, rows, cols, log }, &read),
            &Op::SoftmaxGrad { log } => self.lower_as(id, Call::SoftmaxGrad { rows, cols, log }, &read),
            Op::Take => self.lower_as(id, Call::Take { rows, cols: shape_of(0)[1] }, &read),
            Op::TakeGrad => self.lower_as(id, Call::TakeGrad { rows, cols }, &read),
            Op::EmbeddingBag => unreachable!("the head of a chain"),
            Op::EmbeddingBagGrad => {
                let (dtable, [rows, k]) = (self.target(id), shape_of(0));
                self.emit(Call::EmbeddingBagGrad { rows, cols, k }, &read, &[dtable]);
            }
            Op::Concat => {
                let [left, right] = [0, 1].map(|slot| shape_of(slot)[1]);
                let parts = [[left, 0, left, 0], [right, 0, right, left]];
                self.lower_columns(id, &parts, &read);
            }
            &Op::SliceCols { from } => self.lower_columns(id, &[[shape_of(0)[1], from, cols, 0]], &read),
            &Op::PadCols { from } => {
                let width = shape_of(0)[1];
                self.lower_columns(id, &[[width, 0, width, from]], &read);
            }
        }
        if !matches!(node.op, Op::Input(_) | Op::Param(_) | Op::Constant(_) | Op::StopGradient) {
            self.draw(id, node.op.text(), &ids);
        }
        Ok(())
    }

    /// Lowers a node to a call whose only output is the node's value.
    fn lower_as(&mut self, id: usize, call: Call, reads: &[Place]) {
        let y = self.slot_for(id);
        self.emit(call, reads, &[y]);
    }

    fn lower_chain(&mut self, id: usize, chain: &Chain) {
        let graph = self.graph;
        let product = &graph.nodes[chain.product];
        if product.op == Op::EmbeddingBag {
            return self.lower_bag(id, chain);
        }
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
            self.emit(Call::LinearDx { rows, out, inp, packed, slope: None }, &reads, &[dx]);
            let text = if chain.residual.is_some() { "product + add" } else { "product" };
            let ids: Vec<usize> = [x, w].into_iter().chain(chain.residual).collect();
            self.draw(id, text.into(), &ids);
            return;
        }
        let packed = self.packed(param, if panels { Packing::Panels } else { Packing::Rows });
        let (mut eps, mut gamma, mut beta, mut pre, mut stats) = (0.0, None, None, NOWHERE, NOWHERE);
        if let Some(norm) = chain.norm {
            let node = &graph.nodes[norm];
            let Op::Norm { eps: e, .. } = node.op else { unreachable!("a layer norm") };
            (eps, gamma, beta) = (e, Some(node.inputs[1].0), Some(node.inputs[2].0));
            stats = self.stats_for(norm);
            if stats != NOWHERE {
                pre = self.slot_for(node.inputs[0].0);
            }
        }
        let reads = [Some(x), chain.bias, chain.residual, gamma, beta].map(|id| place(self, id));
        let y = self.slot_for(id);
        let act = chain.act;
        let saved = chain.saved.map_or(NOWHERE, |saved| self.slot_for(saved));
        self.emit(Call::Linear { panels, rows, out, inp, packed, eps, act }, &reads, &[y, pre, stats, saved]);
        self.drawing.of.extend(chain.saved.map(|saved| (saved, self.drawing.nodes.len())));
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

    fn lower_bag(&mut self, id: usize, chain: &Chain) {
        let Node { inputs, shape: [rows, cols], .. } = &self.graph.nodes[chain.product];
        let (k, relu) = (self.graph.shape(inputs[1])[1], chain.act == Act::Relu);
        let ids: Vec<usize> = inputs.iter().map(|i| i.0).chain(chain.bias).collect();
        let reads: Vec<Place> = ids.iter().map(|&id| self.place[id].clone()).collect();
        let y = self.slot_for(id);
        self.emit(Call::EmbeddingBag { rows: *rows, cols: *cols, k, relu }, &reads, &[y]);
        let bias = if chain.bias.is_some() { " + bias" } else { "" };
        self.draw(id, format!("embedding bag{bias}{}", if relu { " + relu" } else { "" }), &ids);
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

    fn lower_binary(&mut self, id: usize, op: Binary, sides: [usize; 2]) {
        let reads = sides.map(|side| self.place[side].clone());
        let shape = self.graph.nodes[id].shape;
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
            // A panel is `[features][32]`. A row of the batch is therefore a column of a panel.
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
        self.lower_as(id, call, &reads);
    }

    /// Returns the place for the statistics of a norm, or [`Place::Nowhere`] if no gradient reads the statistics.
    fn stats_for(&mut self, norm: usize) -> Place {
        if !self.readers[norm].iter().any(|&r| self.is_norm_grad(r) && self.graph.nodes[r].inputs[3].0 == norm) {
            return Place::Nowhere;
        }
        let stats = self.slot(product(2, self.graph.nodes[norm].shape[0]));
        self.stats.insert(norm, stats.clone());
        stats
    }

    /// Lowers all gradients of a norm to one kernel call.
    fn lower_norm_grad(&mut self, id: usize, ids: &[usize]) {
        let graph = self.graph;
        let [rows, cols] = graph.nodes[ids[0]].shape;
        let centred = matches!(graph.nodes[id].op, Op::NormGrad { centred: true, .. });
        let mut writes = [Place::Nowhere, Place::Nowhere, Place::Nowhere];
        let wrts = if centred { &[Wrt::X, Wrt::Gamma, Wrt::Beta][..] } else { &[Wrt::X, Wrt::Gamma] };
        let parts = |p: &Self, wrt: Wrt| {
            let same = |&r: &usize| match graph.nodes[r].op {
                Op::NormGrad { wrt: other, .. } => other == wrt && graph.nodes[r].inputs == graph.nodes[id].inputs,
                _ => false,
            };
            p.readers[ids[3]].iter().copied().find(same)
        };
        for (write, &wrt) in writes.iter_mut().zip(wrts) {
            *write = match parts(self, wrt) {
                Some(part) => {
                    self.absorbed[part] = true;
                    if wrt == Wrt::X { self.slot_for(part) } else { self.target(part) }
                }
                // The kernel also writes gradients that no node reads, so they need a slot.
                None => self.slot(product(if wrt == Wrt::X { rows } else { 1 }, cols)),
            };
        }
        let reads = [&self.place[ids[0]], &self.place[ids[1]], &self.stats[&ids[3]], &self.place[ids[2]]].map(Place::clone);
        self.emit(Call::NormGrad { rows, cols, centred }, &reads, &writes);
        for &wrt in wrts {
            if let Some(part) = parts(self, wrt) {
                self.collect(part);
                self.drawing.of.insert(part, self.drawing.nodes.len());
            }
        }
    }

    /// Lowers a head to one kernel call. The call computes the loss with its gradients, only the loss, or only the gradients.
    fn lower_head(&mut self, id: usize, ids: &[usize]) {
        let ([rows, inp], w) = (self.graph.nodes[ids[0]].shape, &self.graph.nodes[ids[1]]);
        let Op::Param(param) = w.op else { unreachable!("a head's weights are a parameter") };
        let vocab = w.shape[0];
        let is_loss = self.graph.nodes[id].op == Op::HeadLoss;
        let scale = self.heads.get(&id).copied();
        let [dx, dw] = match is_loss {
            true if scale.is_none() => [None; 2],
            true => self.head_grads(id),
            false => self.head_grads(ids[4]),
        };
        let mut reads = vec![self.place[ids[0]].clone(), self.place[ids[2]].clone()];
        if !is_loss {
            reads.push(self.place[ids[3]].clone());
        }
        let packed = self.packed(param, Packing::Rows);
        let packed_t = if dx.is_some() { self.packed(param, Packing::RowsT) } else { 0..0 };
        let tile = self.slot(product(math::ops::head_tile(rows, vocab), vocab));
        let loss = if is_loss { self.slot_for(id) } else { NOWHERE };
        let [dx_at, dw_at] = [dx.map_or(NOWHERE, |dx| self.slot_for(dx)), dw.map_or(NOWHERE, |dw| self.target(dw))];
        let scale = scale.unwrap_or(1.0);
        let call = Call::HeadLoss { rows, vocab, inp, packed, packed_t, scale };
        self.emit(call, &reads, &[loss, dx_at, dw_at, tile]);
        for grad in [dx, dw].into_iter().flatten() {
            self.absorbed[grad] = true;
            self.collect(grad);
            self.drawing.of.insert(grad, self.drawing.nodes.len());
        }
    }

    /// Lowers a node that copies columns of other tensors. The four numbers of a part are in columns: width of the source, first copied
    /// column, number of copied columns, and first column in the result.
    fn lower_columns(&mut self, id: usize, parts: &[[usize; 4]], read: &[Place]) {
        let [rows, cols] = self.graph.nodes[id].shape;
        let (rows, unit) = if self.is_panels([rows, cols]) { (rows.div_ceil(PANEL), PANEL) } else { (rows, 1) };
        let part = |part: &[usize; 4]| {
            let [of, from, width, at] = part.map(|columns| columns * unit);
            ColumnSpan { of, from, width, at }
        };
        let parts = parts.iter().map(part).collect();
        self.lower_as(id, Call::Columns { rows, cols: cols * unit, parts }, read);
    }

    pub(super) fn output(&mut self, name: &str, id: usize) -> Port {
        if !matches!(self.place[id], Place::Slot(_)) {
            let x = self.place[id].clone();
            let y = self.slot_for(id);
            self.emit(Call::Collect, &[x], &[y]);
        }
        let Place::Slot(slot) = self.place[id] else { unreachable!("copied to one") };
        self.slots[slot].kept = true;
        if let Some(&drawn) = self.drawing.of.get(&id)
            && self.drawing.nodes[drawn].parameters == 0
            && self.drawing.nodes[drawn].op != "input"
        {
            self.drawing.nodes[drawn].name = name.into();
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
        let mut reads: Vec<usize> = ids.iter().filter_map(|i| self.drawing.of.get(i).copied()).collect();
        reads.sort_unstable();
        reads.dedup();
        let parameters = specs.map(|s| s.len()).fold(0, usize::saturating_add);
        self.drawing.of.insert(id, self.drawing.nodes.len());
        self.drawing.nodes.push(PlanNode { name, op, shape: graph.nodes[id].shape, parameters, reads });
    }
}
