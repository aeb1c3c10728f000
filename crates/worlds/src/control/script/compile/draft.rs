//! A translated program before its rows are numbered.

use super::super::program::Instruction;
use super::lower::Body;
use super::values::Slot;
use std::collections::HashMap;
use std::ops::Range;

/// A translated program with the rows of its results.
pub struct Draft {
    pub body: Body,
    /// Range of the instructions of the methods `observe` and `mask`.
    pub observe: Range<usize>,
    /// Numbers of the state that the program changes. Each pair contains the row of the number in the state, and the row with its new value
    /// at the end of the program. Elements of lists have no pairs, because the program changes lists in place.
    pub state: Vec<(Slot, Slot)>,
    pub observation: Vec<Slot>,
    pub permitted: Vec<Slot>,
    pub reward: Slot,
    pub over: Slot,
}

impl Draft {
    pub fn outputs(&self) -> impl Iterator<Item = Slot> {
        self.observation.iter().chain(&self.permitted).copied().chain([self.reward, self.over])
    }

    pub fn outputs_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.observation.iter_mut().chain(&mut self.permitted).chain([&mut self.reward, &mut self.over])
    }

    /// Returns two maps: the number of instructions that read each row, and the number of instructions that write each row. A result of the
    /// program counts as a read.
    pub fn counts(&self) -> (HashMap<u32, u32>, HashMap<u32, u32>) {
        let (mut reads, mut writes) = (HashMap::new(), HashMap::new());
        for instruction in &self.body.code {
            instruction.reads().for_each(|row| *reads.entry(row).or_insert(0) += 1);
            instruction.writes().for_each(|row| *writes.entry(row).or_insert(0) += 1);
        }
        for slot in self.outputs().chain(self.state.iter().map(|(_, value)| *value)) {
            *reads.entry(slot.0).or_insert(0) += 1;
        }
        (reads, writes)
    }

    /// Returns the index of the last instruction that needs each row. For a result of the program, the index is the number of instructions.
    /// If a row is first used before a loop and last used in the loop, the row is needed until the loop's end.
    pub fn last_uses(&self) -> HashMap<u32, usize> {
        let (mut first, mut last) = (HashMap::new(), HashMap::new());
        let len = self.body.code.len();
        for (at, i) in self.body.code.iter().enumerate() {
            for row in i.writes().chain(i.reads()) {
                first.entry(row).or_insert(at);
                last.insert(row, at);
            }
        }
        for slot in self.outputs().chain(self.state.iter().map(|(_, value)| *value)) {
            last.insert(slot.0, len);
        }
        let loops = self.loops_around();
        for (row, end) in &mut last {
            let start = first.get(row).copied().unwrap_or_default();
            while let Some((from, to)) = loops[*end]
                && start < from
            {
                *end = to;
            }
        }
        last
    }

    /// Returns the innermost loop around each instruction. The last instruction of a loop, a jump, belongs to the loop outside.
    fn loops_around(&self) -> Vec<Option<(usize, usize)>> {
        let mut around = vec![None; self.body.code.len() + 1];
        // Inner loops replace outer loops.
        for &(from, to) in self.body.loops.iter().rev() {
            around[from..to].fill(Some((from, to)));
        }
        around
    }
}

pub fn push(body: &mut Body, instruction: Instruction) {
    body.code.push(instruction);
    body.lines.push(body.lines.last().copied().unwrap_or(1));
    body.depths.push(0);
}
