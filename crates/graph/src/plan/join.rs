//! What a product's neighbours would take a pass over memory for goes along with it.

use super::{Call, NOWHERE, Place, Planner, Step};
use crate::op::Sums;
use math::Unary;

/// Columns of a matrix whose rows a device's threads hold whole: they sum them along with what they compute of them, so that no
/// product need do it.
pub const NARROW: usize = 8;

impl Planner<'_> {
    /// The way of a gradient through an activation, at the end of the product that gives the gradient.
    pub(super) fn join_slopes(&mut self) {
        let mut readers = vec![Vec::new(); self.slots.len()];
        for (i, step) in self.steps.iter().enumerate() {
            for place in &step.reads {
                if let &Place::Slot(slot) = place {
                    readers[slot].push(i);
                }
            }
        }
        for i in 0..self.steps.len() {
            let Call::LinearDx { .. } = self.steps[i].call else { continue };
            let Place::Slot(dy) = self.steps[i].writes[0] else { continue };
            let [next] = readers[dy][..] else { continue };
            let Step { call: Call::UnaryGrad(of), reads: [at, ..], writes: [to, ..], .. } = &self.steps[next] else { continue };
            let known = matches!(of, Unary::Relu | Unary::Tanh | Unary::Gelu | Unary::Sigmoid);
            // What the slope is taken at has to be there already.
            let there = !self.steps[i..].iter().any(|step| step.writes.contains(at));
            if known && there && !self.slots[dy].kept {
                let (of, at, to) = (*of, at.clone(), to.clone());
                self.leave_out(next);
                self.slots[dy].len = 0;
                let product = &mut self.steps[i];
                (product.reads[2], product.writes[0]) = (at, to);
                if let Call::LinearDx { slope, .. } = &mut product.call {
                    *slope = Some(of);
                }
            }
        }
        self.drop_left_out();
    }

    /// The sums of a wide matrix' columns, the gradient of a bias, in the product that reads it for the gradient of the weight.
    pub(super) fn join_sums(&mut self) {
        let same = |one: &Place, other: &Place| match (one, other) {
            (Place::Grad { range: one, .. }, Place::Grad { range: other, .. }) => one == other,
            _ => false,
        };
        for i in 0..self.steps.len() {
            let Step { call: Call::Sum { of: Sums::Cols, rows, cols }, reads: [x, ..], writes: [to, ..], .. } = &self.steps[i] else {
                continue;
            };
            // Where others write too, their order counts.
            let writes = self.steps.iter().flat_map(|step| &step.writes).filter(|write| same(write, to));
            let fits = |step: &Step| match step.call {
                Call::LinearDw { rows: r, out, .. } => [r, out] == [*rows, *cols] && step.reads[0] == *x && step.writes[1] == NOWHERE,
                _ => false,
            };
            if *cols > NARROW
                && writes.count() == 1
                && let Some(product) = self.steps.iter().position(fits)
            {
                self.steps[product].writes[1] = to.clone();
                self.leave_out(i);
            }
        }
        self.drop_left_out();
    }

    fn leave_out(&mut self, step: usize) {
        self.steps[step].writes = [NOWHERE; 4];
    }

    /// Every call writes something, but for those.
    fn drop_left_out(&mut self) {
        self.steps.retain(|step| step.writes != [NOWHERE; 4]);
    }
}
