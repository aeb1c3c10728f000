//! Lifetimes and memory of the tensors in the arena.

use super::{Call, Place, Planner, Slot};
use math::{Binary, LINE, Span};
use std::ops::Range;

impl Planner<'_> {
    pub(super) fn find_lives(&mut self) {
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

    /// Makes kernels write their result to the memory of an operand, if no later step reads this operand. Returns for each slot the slot
    /// whose memory it uses: its own index, or the index of an operand.
    pub(super) fn share_in_place(&mut self) -> Vec<usize> {
        let mut alias: Vec<usize> = (0..self.slots.len()).collect();
        for (i, step) in self.steps.iter_mut().enumerate() {
            let Place::Slot(y) = step.writes[0] else { continue };
            let dies = |read: &Place| match *read {
                Place::Slot(x) => {
                    let (from, to) = (&self.slots[alias[x]], &self.slots[y]);
                    let once = step.reads.iter().filter(|r| *r == read).count() == 1;
                    once && from.last == i && to.first == i && from.len == to.len
                }
                _ => false,
            };
            let shared = match &step.call {
                Call::Unary(_) | Call::Rotary { .. } if dies(&step.reads[0]) => 0,
                Call::Binary { a: (Span::Full, _), .. } if dies(&step.reads[0]) => 0,
                Call::Binary { b: (Span::Full, _), op: Binary::Add | Binary::Mul, .. } if dies(&step.reads[1]) => 1,
                Call::LinearDx { .. } if dies(&step.reads[1]) => 1,
                _ => continue,
            };
            let Place::Slot(x) = step.reads[shared] else { continue };
            if let (Call::Binary { a, b, .. }, 1) = (&mut step.call, shared) {
                std::mem::swap(a, b);
                step.reads.swap(0, 1);
            }
            let x = alias[x];
            alias[y] = x;
            self.slots[x].last = self.slots[y].last;
            self.slots[x].kept |= self.slots[y].kept;
            step.in_place = true;
        }
        alias
    }

    /// Assigns a range to every slot; returns the ranges and the length of the arena, in floats.
    pub(super) fn place(&self, alias: &[usize]) -> (Vec<Range<usize>>, u64) {
        let life = |(i, slot): (usize, &Slot)| match alias[i] == i {
            true => Life { len: slot.len, first: slot.first, last: slot.last },
            false => Life::default(),
        };
        let lives: Vec<Life> = self.slots.iter().enumerate().map(life).collect();
        let (starts, end) = arrange(&lives, LINE as u64);
        // The conversion to `usize` loses bits only in an arena that is too large to be created.
        let of = |&slot: &usize| starts[slot] as usize..(starts[slot] + lives[slot].len) as usize;
        (alias.iter().map(of).collect(), end)
    }
}

/// Tensor in an arena: its length, and the indices of the first and the last step that use the tensor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Life {
    pub len: u64,
    pub first: usize,
    pub last: usize,
}

/// Returns the offset of each tensor, and the length of the arena. All are multiples of `align`. Large tensors are placed first, each at
/// the lowest offset that is free during its lifetime.
pub fn arrange(lives: &[Life], align: u64) -> (Vec<u64>, u64) {
    let mut starts = vec![0; lives.len()];
    let mut order: Vec<usize> = (0..lives.len()).filter(|&i| lives[i].len > 0).collect();
    order.sort_by_key(|&i| (u64::MAX - lives[i].len, lives[i].first));
    let mut placed: Vec<usize> = Vec::new();
    let mut end = 0;
    for i in order {
        let life = &lives[i];
        let mut start = 0;
        for &other in &placed {
            let (other_start, other) = (starts[other], &lives[other]);
            let meet = other.first <= life.last && life.first <= other.last;
            if meet && other_start < start + life.len && start < other_start + other.len {
                start = (other_start + other.len).next_multiple_of(align);
            }
        }
        starts[i] = start;
        end = end.max((start + life.len).next_multiple_of(align));
        let at = placed.partition_point(|&other| starts[other] <= start);
        placed.insert(at, i);
    }
    (starts, end)
}
