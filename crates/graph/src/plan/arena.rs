//! How long each tensor lives, and where it lies in the arena.

use super::{Call, Place, Planner};
use crate::buffer::LINE;
use math::{Binary, Span};
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

    /// Lets a kernel write over an operand that it is the last to read. Gives for each slot the one whose place it has.
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
            let x = alias[x];
            alias[y] = x;
            self.slots[x].last = self.slots[y].last;
            self.slots[x].kept |= self.slots[y].kept;
            step.in_place = true;
        }
        alias
    }

    /// Gives every slot its range: large ones first, each at the lowest place that is free for all of
    /// its life.
    pub(super) fn arrange(&self, alias: &[usize]) -> (Vec<Range<usize>>, u64) {
        let mut ranges: Vec<Range<u64>> = vec![0..0; self.slots.len()];
        let mut order: Vec<usize> = (0..self.slots.len()).filter(|&i| alias[i] == i).collect();
        order.sort_by_key(|&i| (u64::MAX - self.slots[i].len, self.slots[i].first));
        let mut placed: Vec<usize> = Vec::new();
        let mut end = 0;
        for i in order {
            let slot = &self.slots[i];
            let mut start = 0;
            for &other in &placed {
                let (range, life) = (&ranges[other], &self.slots[other]);
                let meet = life.first <= slot.last && slot.first <= life.last;
                if meet && range.start < start + slot.len && start < range.end {
                    start = range.end.next_multiple_of(LINE as u64);
                }
            }
            ranges[i] = start..start + slot.len;
            end = end.max(ranges[i].end.next_multiple_of(LINE as u64));
            let at = placed.partition_point(|&other| ranges[other].start <= start);
            placed.insert(at, i);
        }
        // Places beyond what can be addressed are in no arena that is made.
        let of = |&slot: &usize| ranges[slot].start as usize..ranges[slot].end as usize;
        (alias.iter().map(of).collect(), end)
    }
}
