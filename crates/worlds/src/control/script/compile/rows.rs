//! Numbering of rows. Values that are not needed at the same time share a row, so that the rows of a block fit into the first-level cache.

use super::super::program::{Instruction, NONE, Op};
use super::draft::{Draft, push};
use super::values::{Slot, SlotKind};
use std::collections::HashMap;

/// Number of the first row of each part of a program's memory.
#[derive(Clone, Copy)]
pub struct Layout {
    /// First row of the program's own rows, after its inputs.
    pub own: usize,
    pub constants: usize,
    pub state: usize,
}

/// Map from the slots of a program to the numbers of rows.
pub struct Rows {
    temporaries: HashMap<u32, u32>,
    layout: Layout,
    /// First row of the lists, counted from the first of the program's own rows.
    lists: usize,
    /// Number of the program's own rows (temporaries and lists).
    pub count: usize,
}

impl Rows {
    pub fn of(&self, row: u32) -> u32 {
        if row == NONE {
            return NONE;
        }
        let number = match Slot(row).kind() {
            SlotKind::Constant(index) => self.layout.constants + index,
            SlotKind::Input(index) => index,
            SlotKind::State(index) => self.layout.state + index,
            SlotKind::List(index) => self.layout.own + self.lists + index,
            // If no instruction writes a row, no instruction reads the row.
            SlotKind::Temporary(_) => return self.temporaries.get(&row).copied().unwrap_or(0),
        };
        number as u32
    }
}

/// Assigns a row to each value of a program. If the new value of an attribute is computed outside of the attribute's row, the function
/// appends an instruction that copies the value to that row.
pub fn number(draft: &mut Draft, layout: Layout) -> Rows {
    let mut temporaries = in_state(draft, layout);
    for (row, value) in std::mem::take(&mut draft.state) {
        if !temporaries.contains_key(&value.0) || temporaries.get(&value.0) != Some(&((layout.state as u32) + state_index(row))) {
            push(&mut draft.body, Instruction { op: Op::Move, d: row.0, a: value.0, ..Instruction::NOTHING });
        }
    }
    let ends = draft.last_uses();
    let (mut free, mut used): (Vec<u32>, u32) = (Vec::new(), 0);
    let mut ending: HashMap<usize, Vec<u32>> = HashMap::new();
    for (at, i) in draft.body.code.iter().enumerate() {
        // An operation that can fail reads its operands again to find the failed lanes. Its result therefore has a different row than its
        // operands.
        let in_place = !i.op.can_fail();
        if in_place {
            free.extend(ending.remove(&at).unwrap_or_default());
        }
        for row in i.writes() {
            if !matches!(Slot(row).kind(), SlotKind::Temporary(_)) || temporaries.contains_key(&row) {
                continue;
            }
            let number = free.pop().unwrap_or_else(|| {
                used += 1;
                layout.own as u32 + used - 1
            });
            temporaries.insert(row, number);
            let end = ends.get(&row).copied().unwrap_or(at);
            if end > at {
                ending.entry(end).or_default().push(number);
            } else {
                ending.entry(at + 1).or_default().push(number);
            }
        }
        if !in_place {
            free.extend(ending.remove(&at).unwrap_or_default());
        }
    }
    let lists = used as usize;
    Rows { temporaries, layout, lists, count: lists + draft.body.lists }
}

fn state_index(row: Slot) -> u32 {
    match row.kind() {
        SlotKind::State(index) => index as u32,
        _ => 0,
    }
}

/// Finds values that can be computed directly in the rows of the state, because the old values are no longer needed. Returns the row of
/// each such value.
fn in_state(draft: &Draft, layout: Layout) -> HashMap<u32, u32> {
    let code = &draft.body.code;
    let (mut writers, mut readers): (HashMap<u32, Vec<usize>>, HashMap<u32, usize>) = (HashMap::new(), HashMap::new());
    for (at, i) in code.iter().enumerate() {
        i.writes().for_each(|row| writers.entry(row).or_default().push(at));
        i.reads().for_each(|row| {
            readers.insert(row, at);
        });
    }
    let ends = draft.last_uses();
    let mut found = HashMap::new();
    for (row, value) in &draft.state {
        let Some([at]) = writers.get(&value.0).map(Vec::as_slice) else { continue };
        let i = &code[*at];
        let last = ends.get(&row.0).copied().or(readers.get(&row.0).copied());
        let is_free = last.is_none_or(|last| last < *at || (last == *at && !i.op.can_fail()));
        let is_temporary = matches!(value.kind(), SlotKind::Temporary(_));
        if is_temporary && draft.body.depths[*at] == 0 && is_free && !found.contains_key(&value.0) {
            found.insert(value.0, layout.state as u32 + state_index(*row));
        }
    }
    found
}
