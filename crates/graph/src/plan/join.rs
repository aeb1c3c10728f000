//! Merges operations into matrix products, so that these operations need no separate pass over memory.

use super::{Call, NOWHERE, Place, Planner, Step};
use crate::op::Sums;
use math::Unary;

/// Maximum number of columns of a narrow matrix. On the GPU, a thread computes a whole row of a narrow matrix, and the same kernel can sum
/// the columns. The column sums of a narrow matrix are therefore not merged into a product.
pub const NARROW: usize = 8;

impl Planner<'_> {
    /// Merges the gradient of an activation into the product that computes the activation's upstream gradient dy.
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
            // The derivative (slope) is computed from the tensor `at`. This tensor must therefore exist before the product runs.
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

    /// Merges the gradient of a bias, which is the column sums of a matrix, into the product that computes the weight's gradient from the
    /// same matrix. Does so only if the matrix has more than [`NARROW`] columns.
    pub(super) fn join_sums(&mut self) {
        let same = |one: &Place, other: &Place| match (one, other) {
            (Place::Grad { range: one, .. }, Place::Grad { range: other, .. }) => one == other,
            _ => false,
        };
        for i in 0..self.steps.len() {
            let Step { call: Call::Sum { of: Sums::Cols, rows, cols }, reads: [x, ..], writes: [to, ..], .. } = &self.steps[i] else {
                continue;
            };
            // The sum is merged only if no other call writes this gradient. Otherwise, a merge would change the order of the writes.
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

    /// Removes the calls that [`Self::leave_out`] has marked. Only marked calls have no writes.
    fn drop_left_out(&mut self) {
        self.steps.retain(|step| step.writes != [NOWHERE; 4]);
    }
}
