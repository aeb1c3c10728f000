//! Names of a program's rows in WGSL. A single row is a variable, and the rows of a list are an array.

use super::super::program::{Attribute, Code, Instruction, NONE, Op};
use std::collections::BTreeSet;
use std::ops::Range;

pub struct Rows<'a> {
    code: &'a Code,
    /// Rows of each list.
    lists: Vec<Range<u32>>,
    /// Rows that are neither constant nor part of a list.
    singles: BTreeSet<u32>,
    written: Vec<Range<u32>>,
}

impl<'a> Rows<'a> {
    /// Finds the rows that instructions and results use.
    pub fn new(code: &'a Code, attributes: &[Attribute], instructions: &[Instruction], results: &[u32]) -> Rows<'a> {
        let state = code.state_at as u32;
        let mut lists: Vec<Range<u32>> = instructions.iter().flat_map(lists_of).collect();
        let used = instructions.iter().flat_map(|i| i.reads().chain(i.writes()).chain(stored(i))).chain(results.iter().copied());
        let used: BTreeSet<u32> = used.filter(|&row| row != NONE).collect();
        for attribute in attributes.iter().filter(|attribute| attribute.is_list) {
            let all = state + attribute.start as u32..state + (attribute.start + attribute.len) as u32;
            if used.range(all.clone()).next().is_some() || lists.iter().any(|list| overlap(list, &all)) {
                lists.push(all);
            }
        }
        let lists = joined(lists);
        let constants = code.constants_at as u32..state;
        let is_single = |row: &u32| !constants.contains(row) && !lists.iter().any(|list| list.contains(row));
        let singles = used.into_iter().filter(is_single).collect();
        let writes = |i: &Instruction| i.writes().chain(stored(i)).map(|row| row..row + 1).chain(written_list(i)).collect::<Vec<_>>();
        Rows { code, written: instructions.iter().flat_map(writes).collect(), lists, singles }
    }

    /// Returns the number of 32-bit words that all rows take.
    pub fn words(&self) -> usize {
        self.singles.len() + self.lists.iter().map(|list| list.len()).sum::<usize>()
    }

    pub fn has(&self, row: u32) -> bool {
        self.singles.contains(&row) || self.lists.iter().any(|list| list.contains(&row))
    }

    /// Returns true if an instruction writes a row of the range `rows`.
    pub fn writes(&self, rows: &Range<u32>) -> bool {
        self.written.iter().any(|written| overlap(written, rows))
    }

    /// Returns the declarations of all rows.
    pub fn declarations(&self) -> Vec<String> {
        let singles = self.singles.iter().map(|row| format!("var r{row}: u32;"));
        let lists = self.lists.iter().map(|list| format!("var l{}: array<u32, {}>;", list.start, list.len()));
        singles.chain(lists).collect()
    }

    /// Returns a WGSL expression for the bits of a row, as a u32.
    pub fn bits(&self, row: u32) -> String {
        self.constant(row).map_or_else(|| self.place(row), |bits| format!("{bits}u"))
    }

    /// Returns a WGSL expression for the value of a row, as an i32.
    pub fn int(&self, row: u32) -> String {
        let constant = self.constant(row).map(|bits| format!("i32({})", bits as i32));
        constant.unwrap_or_else(|| format!("bitcast<i32>({})", self.place(row)))
    }

    /// Returns a WGSL expression for the value of a row, as an f32.
    pub fn float(&self, row: u32) -> String {
        match self.constant(row) {
            Some(bits) if f32::from_bits(bits).is_finite() => format!("({:?}f)", f32::from_bits(bits)),
            Some(bits) => format!("bitcast<f32>(script_bits({bits}u))"),
            None => format!("bitcast<f32>({})", self.place(row)),
        }
    }

    /// Returns a WGSL expression for the value of a row, as a bool.
    pub fn truth(&self, row: u32) -> String {
        self.constant(row).map_or_else(|| format!("({} != 0u)", self.place(row)), |bits| (bits != 0).to_string())
    }

    /// Returns the variable or the array element that holds a row. The row must not be constant.
    pub fn place(&self, row: u32) -> String {
        match self.lists.iter().find(|list| list.contains(&row)) {
            Some(list) => format!("l{}[{}u]", list.start, row - list.start),
            None => format!("r{row}"),
        }
    }

    /// Returns the element `at` of a list whose first row is `row`.
    pub fn element(&self, row: u32, at: &str) -> String {
        match self.lists.iter().find(|list| list.contains(&row)) {
            Some(list) if list.start < row => format!("l{}[{}u + {at}]", list.start, row - list.start),
            _ => format!("l{row}[{at}]"),
        }
    }

    pub fn is_constant(&self, row: u32) -> bool {
        self.constant(row).is_some()
    }

    fn constant(&self, row: u32) -> Option<u32> {
        let at = (row as usize).checked_sub(self.code.constants_at)?;
        self.code.constants.get(at).copied()
    }
}

/// Returns the rows of the lists that an instruction reads or writes at a computed index, or as a whole.
fn lists_of(i: &Instruction) -> impl Iterator<Item = Range<u32>> + use<> {
    let read = matches!(i.op, Op::Gather | Op::Rows).then(|| i.b..i.b + i.n);
    read.into_iter().chain(written_list(i))
}

/// Returns the rows of the list that an instruction writes at a computed index, or as a whole.
fn written_list(i: &Instruction) -> Option<Range<u32>> {
    match i.op {
        Op::Scatter => Some(i.b..i.b + i.n),
        Op::Fill | Op::Rows => Some(i.d..i.d + i.n),
        _ => None,
    }
}

/// Returns the row that an instruction `Store` writes; `None` for other instructions.
fn stored(i: &Instruction) -> Option<u32> {
    (i.op == Op::Store).then_some(i.d)
}

fn overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Joins overlapping ranges.
fn joined(mut all: Vec<Range<u32>>) -> Vec<Range<u32>> {
    all.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if overlap(last, &range) => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
