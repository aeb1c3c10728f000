//! Last phase of the translation of a program: fuses pairs of instructions, removes copies and unused instructions, and numbers rows.

use super::super::program::{Instruction, Op, Program};
use super::draft::{Draft, push};
use super::rows::{Layout, number};
use super::values::{Slot, SlotKind};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

impl Draft {
    /// Optimises the instructions. `constants` contains the bits of all constants.
    pub fn improve(&mut self, constants: &[u32]) {
        self.keep_old_values();
        self.fuse_angles();
        self.fuse_products();
        self.fuse_ranges(constants);
        self.remove_checks();
        self.forward();
        self.remove_unused();
    }

    /// Copies the old value of a changed attribute if the old value is also a result of the program. Without the copy, the new value would
    /// replace the old value in the attribute's row.
    fn keep_old_values(&mut self) {
        self.state.retain(|(row, value)| row != value);
        let changing: HashSet<Slot> = self.state.iter().map(|(row, _)| *row).collect();
        let is_old = |slot: Slot| changing.contains(&slot);
        let old: BTreeSet<Slot> = self.outputs().chain(self.state.iter().map(|(_, value)| *value)).filter(|slot| is_old(*slot)).collect();
        let mut copies = HashMap::new();
        for slot in old {
            let copy = Slot::temporary(self.body.temporaries);
            self.body.temporaries += 1;
            push(&mut self.body, Instruction { op: Op::Move, d: copy.0, a: slot.0, ..Instruction::NOTHING });
            copies.insert(slot, copy);
        }
        let replace = |slot: &mut Slot| *slot = copies.get(slot).copied().unwrap_or(*slot);
        self.outputs_mut().for_each(replace);
        self.state.iter_mut().for_each(|(_, value)| replace(value));
    }

    /// Returns the indices of the instructions at which jumps continue.
    fn targets(&self) -> HashSet<usize> {
        self.body.code.iter().filter(|i| matches!(i.op, Op::Jump | Op::JumpNone)).map(|i| i.n as usize).collect()
    }

    /// Replaces the sine and the cosine of the same angle by one instruction.
    fn fuse_angles(&mut self) {
        const AHEAD: usize = 64;
        let targets = self.targets();
        let code = &mut self.body.code;
        for at in 0..code.len() {
            let first = code[at];
            if !matches!(first.op, Op::Sin | Op::Cos) {
                continue;
            }
            for later in at + 1..code.len().min(at + AHEAD) {
                let second = code[later];
                if matches!(second.op, Op::Jump | Op::JumpNone) || targets.contains(&later) {
                    break;
                }
                if matches!(second.op, Op::Sin | Op::Cos) && second.op != first.op && second.a == first.a {
                    let (sin, cos) = if first.op == Op::Sin { (first.d, second.d) } else { (second.d, first.d) };
                    code[at] = Instruction { op: Op::SinCos, d: sin, c: cos, ..first };
                    code[later] = Instruction::NOTHING;
                    break;
                }
            }
        }
    }

    /// Replaces a product and the sum or difference that reads the product by one instruction, if no other instruction reads the product.
    fn fuse_products(&mut self) {
        let (reads, writes) = self.counts();
        let code = &mut self.body.code;
        let mut products: HashMap<u32, usize> = HashMap::new();
        let once = |row: u32| !matches!(Slot(row).kind(), SlotKind::Temporary(_)) || writes.get(&row) == Some(&1);
        for at in 0..code.len() {
            let i = code[at];
            if i.op == Op::MulF && reads.get(&i.d) == Some(&1) && [i.a, i.b, i.d].into_iter().all(once) {
                products.insert(i.d, at);
            }
            if !matches!(i.op, Op::AddF | Op::SubF) {
                continue;
            }
            let found = [i.b, i.a].into_iter().find_map(|row| products.remove_entry(&row));
            let Some((row, product)) = found else { continue };
            let (a, b) = (code[product].a, code[product].b);
            let is_first = i.a == row;
            let op = match (i.op, is_first) {
                (Op::AddF, _) => Op::MulAdd,
                (_, true) => Op::MulSub,
                _ => Op::SubMul,
            };
            code[at] = Instruction { op, a, b, c: if is_first { i.b } else { i.a }, ..i };
            code[product] = Instruction::NOTHING;
        }
    }

    /// Replaces `0 <= x and x < n` by one comparison if n is a constant. The comparison is unsigned, so a negative x is larger than n.
    fn fuse_ranges(&mut self, constants: &[u32]) {
        let (_, writes) = self.counts();
        let once = |row: u32| !matches!(Slot(row).kind(), SlotKind::Temporary(_)) || writes.get(&row) == Some(&1);
        let constant = |row: u32| match Slot(row).kind() {
            SlotKind::Constant(index) => constants.get(index).copied(),
            _ => None,
        };
        let code = &mut self.body.code;
        let mut comparisons: HashMap<u32, Instruction> = HashMap::new();
        for i in code {
            let operands = (comparisons.get(&i.a), comparisons.get(&i.b));
            if let (Op::And, (Some(one), Some(other))) = (i.op, operands) {
                let (low, high) = if one.op == Op::LeI { (one, other) } else { (other, one) };
                if low.op == Op::LeI && high.op == Op::LtI && low.b == high.a {
                    *i = Instruction { op: Op::LtU, a: high.a, b: high.b, ..*i };
                }
            }
            let is_range = match i.op {
                Op::LeI => constant(i.a) == Some(0) && once(i.b),
                Op::LtI => constant(i.b).is_some_and(|n| n as i32 >= 0) && once(i.a),
                _ => false,
            };
            if is_range && once(i.d) {
                comparisons.insert(i.d, *i);
            }
        }
    }

    /// Removes the checks of numbers that are always finite: converted bools and integers.
    fn remove_checks(&mut self) {
        let (_, writes) = self.counts();
        let code = &mut self.body.code;
        let converted = code.iter().filter(|i| matches!(i.op, Op::BoolToF | Op::IToF) && writes.get(&i.d) == Some(&1));
        let finite: HashSet<u32> = converted.map(|i| i.d).collect();
        for i in code.iter_mut().filter(|i| i.op == Op::Finite && finite.contains(&i.a)) {
            *i = Instruction::NOTHING;
        }
    }

    /// Removes copies of elements of lists and of numbers in the state, if the original does not change before the last use of the copy.
    fn forward(&mut self) {
        let ends = self.last_uses();
        let (_, writes) = self.counts();
        let changes = Writes::of(&self.body.code);
        let new: HashSet<u32> = self.state.iter().map(|(row, _)| row.0).collect();
        let mut instead = HashMap::new();
        for (at, i) in self.body.code.iter_mut().enumerate() {
            let is_element = i.op == Op::Move && matches!(Slot(i.a).kind(), SlotKind::List(_) | SlotKind::State(_));
            if !is_element || writes.get(&i.d) != Some(&1) || !matches!(Slot(i.d).kind(), SlotKind::Temporary(_)) {
                continue;
            }
            let end = ends.get(&i.d).copied().unwrap_or(at);
            if !changes.occur(i.a, at, end) && !new.contains(&i.a) {
                instead.insert(i.d, i.a);
                *i = Instruction::NOTHING;
            }
        }
        if instead.is_empty() {
            return;
        }
        for i in &mut self.body.code {
            let c = if i.op == Op::SinCos { None } else { Some(&mut i.c) };
            for row in [&mut i.a, &mut i.b, &mut i.mask].into_iter().chain(c) {
                *row = instead.get(row).copied().unwrap_or(*row);
            }
        }
        let replace = |slot: &mut Slot| slot.0 = instead.get(&slot.0).copied().unwrap_or(slot.0);
        self.outputs_mut().for_each(replace);
        self.state.iter_mut().for_each(|(_, value)| replace(value));
    }

    fn remove_unused(&mut self) {
        let code = &self.body.code;
        let mut writers: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, i) in code.iter().enumerate() {
            i.writes().for_each(|row| writers.entry(row).or_default().push(at));
        }
        let mut used = vec![false; code.len()];
        let mut needed: Vec<u32> = self.outputs().chain(self.state.iter().map(|(_, value)| *value)).map(|slot| slot.0).collect();
        for (at, i) in code.iter().enumerate() {
            if i.op.has_effect() || (i.op.can_fail() && i.op != Op::Nothing) {
                used[at] = true;
                needed.extend(i.reads());
            }
        }
        while let Some(row) = needed.pop() {
            for at in writers.remove(&row).unwrap_or_default() {
                if !std::mem::replace(&mut used[at], true) {
                    needed.extend(code[at].reads());
                }
            }
        }
        self.compact(&used);
    }

    /// Removes unused instructions, and corrects the targets of jumps and the ranges of loops and of `observe`.
    fn compact(&mut self, used: &[bool]) {
        let mut moved = Vec::with_capacity(used.len() + 1);
        let mut count = 0;
        for used in used {
            moved.push(count);
            count += usize::from(*used);
        }
        moved.push(count);
        let body = &mut self.body;
        let mut keep = used.iter();
        body.code.retain(|_| keep.next().is_some_and(|used| *used));
        let mut keep = used.iter();
        body.lines.retain(|_| keep.next().is_some_and(|used| *used));
        let mut keep = used.iter();
        body.depths.retain(|_| keep.next().is_some_and(|used| *used));
        for i in &mut body.code {
            if matches!(i.op, Op::Jump | Op::JumpNone) {
                i.n = moved[i.n as usize] as u32;
            }
        }
        for (from, to) in &mut body.loops {
            (*from, *to) = (moved[*from], moved[*to]);
        }
        self.observe = moved[self.observe.start]..moved[self.observe.end];
    }

    /// Numbers the rows, and appends instructions that write the attributes. Returns the program, and the number of rows for its
    /// temporaries and lists.
    pub fn program(mut self, layout: Layout) -> (Program, usize) {
        let mut rows = number(&mut self, layout);
        let row = |slot: Slot| rows.of(slot.0);
        let program = Program {
            observation: self.observation.iter().map(|slot| row(*slot)).collect(),
            permitted: self.permitted.iter().map(|slot| row(*slot)).collect(),
            reward: row(self.reward),
            over: row(self.over),
            observe: self.observe.clone(),
            draws: self.body.code.iter().any(|i| i.op == Op::Word),
            work: self.body.work,
            lines: std::mem::take(&mut self.body.lines),
            code: Vec::new(),
        };
        let mut code = std::mem::take(&mut self.body.code);
        for i in &mut code {
            for row in [&mut i.d, &mut i.a, &mut i.b, &mut i.c, &mut i.mask] {
                *row = rows.of(*row);
            }
        }
        (Program { code, ..program }, std::mem::take(&mut rows.count))
    }
}

/// Instructions that write rows of lists.
#[derive(Default)]
struct Writes {
    /// Indices of the instructions that write one row, in ascending order.
    rows: HashMap<u32, Vec<usize>>,
    /// Number of rows of each list that is written as a whole or at a computed index, and the indices of the instructions, by the list's
    /// first row.
    lists: BTreeMap<u32, (u32, Vec<usize>)>,
}

impl Writes {
    fn of(code: &[Instruction]) -> Writes {
        let mut writes = Writes::default();
        for (at, i) in code.iter().enumerate() {
            let (first, n) = match i.op {
                Op::Store => {
                    writes.rows.entry(i.d).or_default().push(at);
                    continue;
                }
                Op::Scatter => (i.b, i.n),
                Op::Fill | Op::Rows => (i.d, i.n),
                _ => continue,
            };
            let (most, all) = writes.lists.entry(first).or_default();
            *most = n.max(*most);
            all.push(at);
        }
        writes
    }

    /// Returns true if an instruction after `from`, up to `to`, writes a row.
    fn occur(&self, row: u32, from: usize, to: usize) -> bool {
        let within = |all: &Vec<usize>| all.get(all.partition_point(|at| *at <= from)).is_some_and(|at| *at <= to);
        let list = self.lists.range(..=row).next_back();
        self.rows.get(&row).is_some_and(within) || list.is_some_and(|(first, (n, all))| row - first < *n && within(all))
    }
}
