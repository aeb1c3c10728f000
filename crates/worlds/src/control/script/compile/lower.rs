//! State of the compiler, and the functions that append instructions. The compiler evaluates operations on constants itself. Equal
//! operations without effects share one result.

use super::super::ast::Statement;
use super::super::error::{Problem, Span};
use super::super::fold::{bool_bits, fold};
use super::super::program::{Attribute, Instruction, NONE, Op, ShapeRows, Type};
use super::super::token::MOST_PROBLEMS;
use super::facts::{Facts, Uses};
use super::frames::{Env, Frame};
use super::outline::Outline;
use super::survey::Effects;
use super::values::{JOINS, List, Place, Root, Shape, Slot, SlotKind, Value, code_of};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// Maximum number of instructions of a program.
const MOST_INSTRUCTIONS: usize = 60_000;
/// Maximum number of instructions that a call of a program runs. An instruction that writes `n` rows of a list counts as `n`. Repetitions
/// by `while` loops and by ranges without a constant length are not counted here, but when they run; see [`Op::Pass`].
const MOST_WORK: usize = 2_000_000;
/// Maximum number of steps of the compiler for a file. A step is a visit of an expression, of a statement or of an item of a comprehension,
/// or the copy of a variable at a branch.
const MOST_STEPS: usize = 3_000_000;
/// Maximum depth of nested blocks, expressions and calls.
const MOST_LEVELS: u32 = 250;
const TOO_LARGE: &str = "the calls and loops make the program too large here; use fewer passes, or fewer functions that call functions";
/// Number of problems after which the translation ends.
const ENOUGH_PROBLEMS: usize = 10 * MOST_PROBLEMS;

/// Name of the compiler's own variable that counts the random words drawn in a call of a program.
pub const DRAWN: &str = "draws of words";

/// Data that the programs of a file share.
#[derive(Default)]
pub struct Pool {
    pub constants: Vec<u32>,
    index: HashMap<u32, u32>,
    pub tables: Vec<Vec<u32>>,
    table_index: HashMap<Vec<u32>, u32>,
    pub texts: Vec<String>,
    text_index: HashMap<String, usize>,
    pub shapes: Vec<ShapeRows>,
}

impl Pool {
    /// Returns the number of a constant list. Equal lists have one number.
    pub fn table(&mut self, table: Vec<u32>) -> u32 {
        *self.table_index.entry(table).or_insert_with_key(|table| {
            self.tables.push(table.clone());
            self.tables.len() as u32 - 1
        })
    }
}

/// Mask of a region. A region is a part of a program that runs in some lanes only. The outermost region, the program itself, runs in all
/// lanes.
#[derive(Clone, Copy)]
pub enum Level {
    /// Lanes of the outer region where the bool is true.
    If(Slot),
    /// Lanes of the outer region where the bool is false.
    Unless(Slot),
    /// Lanes where the bool is true, also if they are not in the outer region.
    Exactly(Slot),
}

/// A program under construction.
#[derive(Default)]
pub struct Body {
    pub code: Vec<Instruction>,
    pub lines: Vec<u32>,
    /// Number of regions around each instruction.
    pub depths: Vec<u32>,
    pub temporaries: usize,
    /// Number of rows that contain elements of lists.
    pub lists: usize,
    /// First and last instruction of each loop, inner loops first.
    pub loops: Vec<(usize, usize)>,
    pub levels: Vec<Level>,
    /// Results of earlier instructions that are valid in the current region.
    known: HashMap<(Op, u32, u32, u32, u32), Slot>,
    log: Vec<(Op, u32, u32, u32, u32)>,
    /// Product of the numbers of passes of all loops around the current instruction. A loop without a constant number of passes counts as
    /// 1.
    pub repeats: usize,
    /// Number of instructions that a call runs; see [`MOST_WORK`].
    pub work: usize,
}

pub struct Lower<'a> {
    pub outline: &'a Outline<'a>,
    pub problems: Vec<Problem>,
    seen: HashSet<(u32, u32)>,
    pub pool: Pool,
    pub globals: HashMap<String, Value>,
    pub class_constants: HashMap<String, Value>,
    /// Types of variables. A type can become wider, but never narrower.
    pub types: HashMap<Root, Shape>,
    pub facts: Facts,
    pub uses: Uses,
    /// Effects of the loops that were translated, by their blocks.
    pub loop_effects: HashMap<*const Statement, Rc<Effects<'a>>>,
    pub attributes: BTreeMap<String, Attribute>,
    /// Number of rows of the state.
    pub state: usize,
    /// True if a type or a fact about lists has changed, so that the file must be translated again.
    pub changed: bool,
    pub called: HashSet<(bool, String)>,
    pub body: Body,
    pub env: Env,
    pub frames: Vec<Frame<'a>>,
    pub line: u32,
    /// Name of the current method, if it must not change attributes or draw random numbers.
    pub pure: Option<&'static str>,
    pub drawing: bool,
    pub next_frame: u32,
    /// Number of steps so far, in all translations of the file.
    steps: usize,
    /// Number of blocks, expressions and calls around the current instruction.
    level: u32,
    /// True if the translation has ended, because the program is too large or has many errors, which have been reported.
    pub full: bool,
}

impl<'a> Lower<'a> {
    pub fn new(outline: &'a Outline<'a>) -> Lower<'a> {
        Lower {
            outline,
            problems: Vec::new(),
            seen: HashSet::new(),
            pool: Pool::default(),
            globals: HashMap::new(),
            class_constants: HashMap::new(),
            types: HashMap::new(),
            facts: Facts::default(),
            uses: Uses::default(),
            loop_effects: HashMap::new(),
            attributes: BTreeMap::new(),
            state: 0,
            changed: true,
            called: HashSet::new(),
            body: Body { repeats: 1, ..Body::default() },
            env: Env::default(),
            frames: Vec::new(),
            line: 1,
            pure: None,
            drawing: false,
            next_frame: 1,
            steps: 0,
            level: 0,
            full: false,
        }
    }

    /// Prepares a translation of the file: removes the problems and the data in `pool`, and keeps the types, the attributes and the facts
    /// about lists. Returns false if no further translation is needed, or if the file is too large for one.
    pub fn begin_round(&mut self) -> bool {
        if !self.changed {
            return false;
        }
        if self.steps > MOST_STEPS {
            if self.problems.is_empty() {
                self.problem(self.outline.class, TOO_LARGE);
            }
            return false;
        }
        self.problems.clear();
        self.seen.clear();
        self.pool = Pool::default();
        self.changed = false;
        self.called.clear();
        self.full = false;
        true
    }

    /// Begins a program: removes the instructions, the variables and the frames of the previous program.
    pub fn begin_program(&mut self) {
        self.body = Body { repeats: 1, ..Body::default() };
        self.env = Env::default();
        self.uses = Uses::default();
        self.frames.clear();
        self.level = 0;
        self.pure = None;
        self.drawing = false;
        let none = self.int(0);
        self.bind((0, DRAWN.into()), Value::Number(none, Type::Int));
    }

    /// Reports an error. Only the first error at each line and column is recorded. Returns [`Value::Bad`].
    pub fn problem(&mut self, span: Span, message: impl Into<String>) -> Value {
        if self.seen.insert((span.line, span.column)) {
            self.problems.push(Problem { span, message: message.into() });
            self.full |= self.problems.len() >= ENOUGH_PROBLEMS;
        }
        Value::Bad
    }

    /// Counts a visit of an expression, a statement or an item of a comprehension. Returns true if the translation can continue.
    pub fn visit(&mut self, span: Span) -> bool {
        self.line = span.line;
        self.spend(1);
        if self.full {
            return false;
        }
        let body = &self.body;
        let message = if self.level > MOST_LEVELS {
            "the calls are nested too deeply here; use fewer functions that call functions, or fewer blocks within blocks"
        } else if self.steps > MOST_STEPS || body.code.len() > MOST_INSTRUCTIONS || body.work > MOST_WORK {
            TOO_LARGE
        } else {
            return true;
        };
        self.problem(span, message);
        self.full = true;
        false
    }

    /// Runs `f`, which translates a part that is nested in the current part.
    pub fn nested<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        self.level += 1;
        let result = f(self);
        self.level -= 1;
        result
    }

    /// Counts steps of the compiler.
    pub fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(steps);
    }

    pub fn constant(&mut self, bits: u32) -> Slot {
        let Pool { constants, index, .. } = &mut self.pool;
        let at = *index.entry(bits).or_insert_with(|| {
            constants.push(bits);
            constants.len() as u32 - 1
        });
        Slot::constant(at as usize)
    }

    pub fn bool(&mut self, value: bool) -> Slot {
        self.constant(bool_bits(value))
    }

    pub fn int(&mut self, value: usize) -> Slot {
        self.constant(value as u32)
    }

    pub fn text(&mut self, text: &str) -> Value {
        let Pool { texts, text_index, .. } = &mut self.pool;
        let at = *text_index.entry(text.into()).or_insert_with(|| {
            texts.push(text.into());
            texts.len() - 1
        });
        Value::Number(self.int(at), Type::Text)
    }

    /// Returns the bits of a slot if the slot is a constant, else `None`.
    pub fn bits(&self, slot: Slot) -> Option<u32> {
        match slot.kind() {
            SlotKind::Constant(index) => self.pool.constants.get(index).copied(),
            _ => None,
        }
    }

    pub fn is_true(&self, slot: Slot) -> bool {
        self.bits(slot) == Some(u32::MAX)
    }

    pub fn is_false(&self, slot: Slot) -> bool {
        self.bits(slot) == Some(0)
    }

    pub fn temporary(&mut self) -> Slot {
        self.body.temporaries += 1;
        Slot::temporary(self.body.temporaries - 1)
    }

    /// Appends an instruction and returns its index.
    pub fn emit(&mut self, instruction: Instruction) -> usize {
        let body = &mut self.body;
        let rows = if matches!(instruction.op, Op::Fill | Op::Rows) { instruction.n as usize } else { 1 };
        body.work = body.work.saturating_add(body.repeats.saturating_mul(rows));
        if body.code.len() <= 2 * MOST_INSTRUCTIONS {
            body.code.push(instruction);
            body.lines.push(self.line);
            body.depths.push(body.levels.len() as u32);
        }
        body.code.len() - 1
    }

    /// Returns the row with the result of an operation on up to three rows. Appends an instruction if the result is not already known.
    pub fn op(&mut self, op: Op, operands: &[Slot]) -> Slot {
        let [a, b, c] = std::array::from_fn(|k| operands.get(k).copied());
        if let Some(slot) = self.simplified(op, a, b, c) {
            return slot;
        }
        let [a, b, c] = [a, b, c].map(|slot| slot.map_or(NONE, |slot| slot.0));
        self.shared(Instruction { op, a, b, c, ..Instruction::NOTHING })
    }

    /// Appends an instruction with a new row as its result, or returns the result of an equal instruction.
    pub fn shared(&mut self, instruction: Instruction) -> Slot {
        let Instruction { op, a, b, c, n, .. } = instruction;
        let key = (op, a, b, c, n);
        let is_pure = op.is_pure();
        if is_pure && let Some(&slot) = self.body.known.get(&key) {
            return slot;
        }
        let mask = if op.can_fail() { self.mask() } else { NONE };
        let d = self.temporary();
        self.emit(Instruction { d: d.0, mask, ..instruction });
        if is_pure {
            self.body.known.insert(key, d);
            self.body.log.push(key);
        }
        d
    }

    /// Appends a check that reports lanes in which the number is not finite.
    pub fn check_finite(&mut self, slot: Slot) {
        let key = (Op::Finite, slot.0, NONE, NONE, 0);
        if self.bits(slot).is_some_and(|bits| f32::from_bits(bits).is_finite()) || self.body.known.contains_key(&key) {
            return;
        }
        let mask = self.mask();
        self.emit(Instruction { op: Op::Finite, a: slot.0, mask, ..Instruction::NOTHING });
        self.body.known.insert(key, slot);
        self.body.log.push(key);
    }

    /// Returns the result of an operation if no instruction of this operation is needed. The result is then a constant, one of the
    /// operands, or the result of a simpler operation.
    fn simplified(&mut self, op: Op, a: Option<Slot>, b: Option<Slot>, c: Option<Slot>) -> Option<Slot> {
        let bits = [a, b, c].map(|slot| slot.map_or(Some(0), |slot| self.bits(slot)));
        if let [Some(a), Some(b), Some(c)] = bits
            && op.is_pure()
            && let Some(result) = fold(op, a, b, c)
        {
            return Some(self.constant(result));
        }
        let (a, b) = (a?, b.or(a)?);
        let zero = |k: usize| bits[k] == Some(0);
        let ones = |k: usize| bits[k] == Some(u32::MAX);
        match op {
            Op::Select if ones(0) => Some(b),
            Op::Select if zero(0) || c == Some(b) => c,
            Op::Select if ones(1) => Some(self.op(Op::Or, &[a, c?])),
            Op::Select if zero(2) => Some(self.op(Op::And, &[a, b])),
            Op::Select if zero(1) => Some(self.op(Op::AndNot, &[c?, a])),
            Op::Select if ones(2) => {
                let not = self.op(Op::Not, &[a]);
                Some(self.op(Op::Or, &[not, b]))
            }
            Op::And | Op::Or if a == b => Some(a),
            Op::And if ones(0) || zero(1) => Some(b),
            Op::And if ones(1) || zero(0) => Some(a),
            Op::Or if ones(0) || zero(1) => Some(a),
            Op::Or if ones(1) || zero(0) => Some(b),
            Op::AndNot if zero(0) || zero(1) => Some(a),
            Op::AndNot if ones(1) => Some(self.bool(false)),
            Op::AndNot if ones(0) => Some(self.op(Op::Not, &[b])),
            Op::AddI | Op::AddU if zero(0) => Some(b),
            Op::AddI | Op::AddU | Op::SubI if zero(1) => Some(a),
            Op::MulI | Op::MulU if bits[0] == Some(1) => Some(b),
            Op::MulI | Op::MulU | Op::DivI if bits[1] == Some(1) => Some(a),
            _ => None,
        }
    }

    /// Returns the mask of the current region as an operand; [`NONE`] for all lanes.
    pub fn mask(&mut self) -> u32 {
        let slot = self.mask_slot();
        if self.is_true(slot) { NONE } else { slot.0 }
    }

    pub fn mask_slot(&mut self) -> Slot {
        self.spend(self.body.levels.len() / 16);
        let mut mask = self.bool(true);
        for level in self.body.levels.clone() {
            mask = match level {
                Level::If(condition) => self.op(Op::And, &[mask, condition]),
                Level::Unless(condition) => self.op(Op::AndNot, &[mask, condition]),
                Level::Exactly(slot) => slot,
            };
        }
        mask
    }

    /// Runs `f`, which appends the code of a region. Code after the region does not reuse results of the region.
    pub fn scoped<R>(&mut self, level: Option<Level>, f: impl FnOnce(&mut Self) -> R) -> R {
        let mark = self.body.log.len();
        let depth = self.body.levels.len();
        self.body.levels.extend(level);
        let result = f(self);
        self.body.levels.truncate(depth);
        for key in self.body.log.split_off(mark) {
            self.body.known.remove(&key);
        }
        result
    }

    /// Reserves `len` consecutive rows. Returns the first row.
    pub fn reserve(&mut self, len: usize) -> Slot {
        let start = self.body.lists;
        self.body.lists += len;
        Slot::list(start)
    }

    /// Returns the elements of a list, one row each.
    pub fn items(&mut self, list: &List) -> Rc<[Slot]> {
        match &list.place {
            Place::Items(items) => items.clone(),
            Place::Memory(base) => (0..list.len()).map(|k| self.read_row(base.plus(k))).collect(),
        }
    }

    /// Copies a row of a list, because later instructions may change the row. Returns the copy.
    pub fn read_row(&mut self, row: Slot) -> Slot {
        let d = self.temporary();
        self.emit(Instruction { op: Op::Move, d: d.0, a: row.0, ..Instruction::NOTHING });
        d
    }

    /// Writes a row of a list in the lanes of the current region.
    pub fn write_row(&mut self, row: Slot, value: Slot) {
        let mask = self.mask();
        self.emit(Instruction { op: Op::Store, d: row.0, a: value.0, mask, ..Instruction::NOTHING });
    }

    /// Writes a list to consecutive rows in the lanes of the current region.
    pub fn write_rows(&mut self, base: Slot, list: &List) {
        let mask = self.mask();
        let n = list.len() as u32;
        match &list.place {
            Place::Memory(from) => {
                self.emit(Instruction { op: Op::Rows, d: base.0, b: from.0, mask, n, ..Instruction::NOTHING });
            }
            Place::Items(items) if items.len() > 1 && items.iter().all(|item| *item == items[0]) => {
                self.emit(Instruction { op: Op::Fill, d: base.0, a: items[0].0, mask, n, ..Instruction::NOTHING });
            }
            Place::Items(items) => {
                for (k, item) in items.iter().enumerate() {
                    self.write_row(base.plus(k), *item);
                }
            }
        }
    }

    /// Converts a number to a type that is at least as wide.
    pub fn widen(&mut self, slot: Slot, from: Type, to: Type) -> Slot {
        match (from, to) {
            (Type::Bool, Type::Int) => self.op(Op::BoolToI, &[slot]),
            (Type::Bool, Type::Float) => self.op(Op::BoolToF, &[slot]),
            (Type::Int, Type::Float) => self.op(Op::IToF, &[slot]),
            _ => slot,
        }
    }

    /// Converts a value to a type that is at least as wide.
    pub fn convert(&mut self, value: &Value, to: &Shape) -> Value {
        match (value, to) {
            (Value::Number(slot, from), Shape::Number(to)) => Value::Number(self.widen(*slot, *from, *to), *to),
            (Value::List(list), Shape::List(ty, ..)) if list.ty != *ty => {
                let items = self.items(list);
                let items = items.iter().map(|item| self.widen(*item, list.ty, *ty)).collect();
                Value::List(List { ty: *ty, place: Place::Items(items), ..list.clone() })
            }
            (Value::Tuple(all), Shape::Tuple(shapes)) => {
                Value::Tuple(all.iter().zip(shapes).map(|(value, shape)| self.convert(value, shape)).collect())
            }
            _ => value.clone(),
        }
    }

    /// Widens the type of a variable so that the type includes the type of a value. Returns the widened type. If there is no such type,
    /// reports an error and returns `None`.
    pub fn join(&mut self, root: &Root, shape: &Shape, span: Span) -> Option<Shape> {
        let Some(known) = self.types.get(root) else {
            self.types.insert(root.clone(), shape.clone());
            return Some(shape.clone());
        };
        let Some(joined) = known.join(shape) else {
            let name = code_of(root);
            let message = if name == "return" {
                format!("this function returns {known} at another place, and {shape} here; return values of one type everywhere")
            } else {
                let is_sum = matches!((known, shape), (Shape::List(_, one, None), Shape::List(_, two, None)) if *two == 2 * one);
                let advice = if is_sum { JOINS } else { "write another name for one of them" };
                format!("`{name}` is {known} at another place, and {shape} here; {advice}")
            };
            self.problem(span, message);
            return None;
        };
        if joined != *known {
            self.types.insert(root.clone(), joined.clone());
            self.changed = true;
        }
        Some(joined)
    }
}
