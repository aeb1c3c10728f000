//! Translation of a program's instructions to WGSL statements. Jumps become branches and loops. One invocation runs one environment, so a
//! mask is one bool.

use super::super::program::{Code, Instruction, MOST_PASSES, NONE, Op, Program};
use super::operations::{failure, value};
use super::rows::Rows;
use std::ops::Range;

/// A place in a file where an operation can fail: the line, and the instruction. The field `n` of an instruction on a table is the length
/// of the table.
pub type Place = (u32, Instruction);

/// Translation of one program.
pub struct Body<'a> {
    pub code: &'a Code,
    pub program: &'a Program,
    pub rows: &'a Rows<'a>,
    /// Places in all programs at which an operation can fail. The number of a place is its index plus 1.
    pub places: &'a mut Vec<Place>,
    pub lines: Vec<String>,
}

impl Body<'_> {
    /// Appends the statements of a range of instructions. Returns `None` if a jump is not part of a branch or loop, or if an operation is
    /// not possible on a GPU.
    pub fn range(&mut self, range: Range<usize>) -> Option<()> {
        let mut at = range.start;
        while at < range.end {
            let i = self.program.code[at];
            match i.op {
                Op::Jump => return None,
                Op::JumpNone => {
                    let end = i.n as usize;
                    if end <= at || end > range.end {
                        return None;
                    }
                    self.region(at, end, &i)?;
                    at = end;
                }
                _ => {
                    self.statement(at, &i)?;
                    at += 1;
                }
            }
        }
        Some(())
    }

    /// Appends a branch or a loop: the instructions from the jump at `at` to `end`.
    fn region(&mut self, at: usize, end: usize, jump: &Instruction) -> Option<()> {
        let mask = self.rows.truth(jump.a);
        let last = self.program.code[end - 1];
        if last.op == Op::Jump && last.n as usize == at {
            self.lines.push(format!("loop {{ if (!{mask}) {{ break; }}"));
            self.range(at + 1..end - 1)?;
        } else {
            self.lines.push(format!("if ({mask}) {{"));
            self.range(at + 1..end)?;
        }
        self.lines.push("}".into());
        Some(())
    }

    /// Appends an instruction that is not a jump. Returns `None` for an operation that only pictures need.
    fn statement(&mut self, at: usize, i: &Instruction) -> Option<()> {
        let rows = self.rows;
        let len = if i.op == Op::Table { self.code.tables[i.n as usize].len() } else { i.n as usize };
        let mask = if i.mask == NONE { String::new() } else { format!("{} && ", rows.truth(i.mask)) };
        if let Some(fails) = failure(rows, i, len) {
            let shown = match i.op {
                Op::DivI | Op::Below => i.b,
                _ => i.a,
            };
            let place = self.place(at, len);
            self.lines.push(format!("script_fail({mask}{fails}, {place}u, {});", rows.bits(shown)));
        }
        let line = match i.op {
            Op::Nothing | Op::Finite | Op::Permits => return Some(()),
            Op::SinCos => {
                let [sin, cos] = [i.d, i.c].map(|row| rows.place(row));
                format!("{{ let turned = bitcast<vec2<u32>>(poly_sin_cos({})); {sin} = turned.x; {cos} = turned.y; }}", rows.float(i.a))
            }
            Op::Table => format!("{} = script_table_{}[script_index({}, {len}u)];", rows.place(i.d), i.n, rows.bits(i.a)),
            Op::Pass => {
                let (row, place) = (rows.place(i.d), self.place(at, len));
                format!("{row} = script_pass({row}, {len}u, {MOST_PASSES}u, {place}u);")
            }
            Op::Store => self.masked(i, &format!("{} = {};", rows.place(i.d), rows.bits(i.a))),
            Op::Scatter => {
                let index = format!("script_index({}, {len}u)", rows.bits(i.a));
                self.masked(i, &format!("{} = {};", rows.element(i.b, &index), rows.bits(i.c)))
            }
            Op::Fill => self.masked(i, &each(len, &format!("{} = {};", rows.element(i.d, "k"), rows.bits(i.a)))),
            Op::Rows => self.masked(i, &each(len, &format!("{} = {};", rows.element(i.d, "k"), rows.element(i.b, "k")))),
            _ => format!("{} = {};", rows.place(i.d), value(rows, i)?),
        };
        self.lines.push(line);
        Some(())
    }

    /// Returns `statement` with a condition: it runs only if the mask of the instruction `i` is true. Without a mask, it always runs.
    fn masked(&self, i: &Instruction, statement: &str) -> String {
        if i.mask == NONE { statement.into() } else { format!("if ({}) {{ {statement} }}", self.rows.truth(i.mask)) }
    }

    /// Adds a place at which an operation can fail. Returns the number of the place.
    fn place(&mut self, at: usize, len: usize) -> usize {
        self.places.push((self.program.lines[at], Instruction { n: len as u32, ..self.program.code[at] }));
        self.places.len()
    }
}

/// Returns a loop that runs a statement for each element `k` of a list.
pub fn each(len: usize, statement: &str) -> String {
    format!("for (var k = 0u; k < {len}u; k++) {{ {statement} }}")
}
