//! Lists: creation, elements and copies.

use super::super::ast::{Expr, ExprKind};
use super::super::error::{Span, count};
use super::super::program::{Instruction, NONE, Op, Type};
use super::facts::{Change, Purpose};
use super::lower::Lower;
use super::owners::first_owner;
use super::survey;
use super::values::{List, Place, Shape, Slot, Value, View, copy_of, widest};
use std::rc::Rc;

/// Maximum number of elements of a list.
pub const LONGEST: usize = 4096;

const THREE_DIMENSIONS: &str = "a list has at most two dimensions; write one list for each index of the third, or one with rows of `m * n` \
                                elements: `a[i][j * n + k]`";

pub const CONSTANT_LENGTH: &str = "the length of a list is constant; write a number, or a constant of the file or of the class: `n = 4`";

const COPY_OF_ROW: &str = "this list is a copy of a row, and the row would not change; write both indices: `a[i][j] = …`, or make a list \
                           of its own: `row = a[i][:]`";

const COPY_OF_PARTS: &str = "this list is a copy of elements of other lists, and those lists would not change; write the name of one \
                             list, or make a list of its own: `a[:]`";

/// Index of an element, a row or a column. The elements of a list of two dimensions are numbered row by row.
#[derive(Clone, Copy)]
pub enum Index {
    Constant(usize),
    At(Slot),
}

impl<'a> Lower<'a> {
    /// Creates a list. Its elements have the narrowest type that includes the types of all values. Reports an error if there is no such
    /// type.
    pub fn list_of(&mut self, values: Vec<Value>, span: Span) -> Value {
        if values.iter().any(Value::is_bad) {
            return Value::Bad;
        }
        if values.is_empty() || values.len() > LONGEST {
            let message = format!("a list has 1 to {LONGEST} elements, and this one has {}; write another length", values.len());
            return self.problem(span, message);
        }
        self.spend(values.len());
        let shapes: Vec<Shape> = values.iter().filter_map(Value::shape).collect();
        let mut joined = shapes.first().cloned();
        for shape in &shapes {
            joined = joined.and_then(|joined| joined.join(shape));
        }
        let rows = values.len();
        match joined {
            Some(shape @ Shape::Number(ty)) => {
                let mut items = Vec::new();
                for value in &values {
                    if let Value::Number(slot, _) = self.convert(value, &shape) {
                        items.push(slot);
                    }
                }
                Value::List(List::of_items(ty, items))
            }
            Some(shape @ Shape::List(ty, columns, None)) if rows * columns <= LONGEST => {
                let (mut items, mut root) = (Vec::new(), None);
                for value in &values {
                    if let Value::List(list) = self.convert(value, &shape) {
                        items.extend_from_slice(&self.items(&list));
                        root = first_owner(root, list.root);
                    }
                }
                let view = root.is_some().then_some(View::Parts);
                Value::List(List { rows, columns: Some(columns), root, view, ..List::of_items(ty, items) })
            }
            Some(Shape::List(_, _, Some(_))) => self.problem(span, THREE_DIMENSIONS),
            Some(Shape::List(..)) => self.problem(span, format!("a list has at most {LONGEST} elements; write a smaller list")),
            _ => self
                .problem(span, "the elements of a list have one type, and rows have one length; write numbers, or lists of equal lengths"),
        }
    }

    pub fn comprehension(&mut self, value: &'a Expr, loops: &'a [(Expr, Expr)], span: Span) -> Value {
        // The targets are local to the comprehension. Their variables have their values again after it.
        let mut saved = Vec::new();
        for (target, _) in loops {
            survey::visit(target, &mut |part| {
                if let ExprKind::Name(name) = &part.kind {
                    let variable = self.local(name);
                    saved.push((self.env.get(&variable).cloned(), variable));
                }
            });
        }
        let mut values = Vec::new();
        let found = self.each_item(loops, span, &mut values, &mut |lower| lower.expr(value));
        for (bound, variable) in saved {
            match bound {
                Some(bound) => self.env.insert(variable, bound),
                None => self.env.remove(&variable),
            };
        }
        if found.is_none() {
            return Value::Bad;
        }
        self.list_of(values, span)
    }

    /// Translates `a + b`, which joins two lists, and `a * n`, which repeats a list.
    pub fn list_arithmetic(&mut self, is_sum: bool, left: &Value, right: &Value, span: Span) -> Value {
        match (left, right) {
            (Value::List(a), Value::List(b)) if is_sum && a.columns == b.columns => {
                let Some(ty) = widest(a.ty, b.ty) else {
                    return self.problem(span, "the elements of a list have one type; write two lists");
                };
                if a.len() + b.len() > LONGEST {
                    return self.problem(span, format!("a list has at most {LONGEST} elements; write a shorter list"));
                }
                self.spend(a.len() + b.len());
                let mut items = Vec::new();
                for list in [a, b] {
                    let given = self.items(list);
                    items.extend(given.iter().map(|item| self.widen(*item, list.ty, ty)).collect::<Vec<_>>());
                }
                let root = a.columns.and_then(|_| first_owner(a.root.clone(), b.root.clone()));
                let view = root.is_some().then_some(View::Parts);
                Value::List(List { rows: a.rows + b.rows, columns: a.columns, root, view, ..List::of_items(ty, items) })
            }
            (Value::List(list), Value::Number(count, Type::Int)) | (Value::Number(count, Type::Int), Value::List(list)) if !is_sum => {
                let Some(count) = self.bits(*count) else {
                    return self.problem(span, CONSTANT_LENGTH);
                };
                if list.columns.is_some() && count as i32 > 1 && !self.frames.is_empty() {
                    return self.problem(span, "in Python, the repeated rows are one list; write `[[0] * n for k in range(m)]`");
                }
                if (count as i32) < 1 {
                    let message = format!("a list is repeated at least once, and this number is {}; write a larger number", count as i32);
                    return self.problem(span, message);
                }
                // The product can be too large for a `usize` of 32 bits.
                let len = u64::from(count) * list.len() as u64;
                if !(1..=LONGEST as u64).contains(&len) {
                    return self.problem(span, format!("a list has 1 to {LONGEST} elements, and this one has {len}; write another length"));
                }
                self.spend(len as usize);
                let items = self.items(list);
                let all: Vec<Slot> = items.iter().copied().cycle().take(len as usize).collect();
                let root = list.columns.and_then(|_| list.root.clone());
                let view = root.is_some().then_some(View::Parts);
                Value::List(List { rows: count as usize * list.rows, columns: list.columns, root, view, ..List::of_items(list.ty, all) })
            }
            _ if left.is_bad() || right.is_bad() => Value::Bad,
            _ => {
                let message = "lists are joined by `a + b` and repeated by `[0] * n`; calculate with their elements: \
                               `[a[i] * b[i] for i in range(2)]`";
                self.problem(span, message)
            }
        }
    }

    /// Translates an index expression. Returns an element, or a row of a list of two dimensions.
    pub fn indexed(&mut self, expr: &'a Expr) -> Value {
        if let ExprKind::Index { of, at } = &expr.kind
            && !matches!(of.kind, ExprKind::Index { .. })
        {
            let mut list = match self.expr(of) {
                Value::List(list) => list,
                value => return self.no_list(&value, of.span),
            };
            let used = self.hold(&mut list, of.span, Purpose::Read);
            let index = self.index(at, list.rows);
            self.release(used);
            let Some(index) = index else { return Value::Bad };
            return match list.columns {
                Some(columns) => self.row(&list, index, columns),
                None => self.load(&list, index),
            };
        }
        match self.element(expr, Purpose::Read) {
            Some((list, index)) => self.load(&list, index),
            None => Value::Bad,
        }
    }

    fn no_list(&mut self, value: &Value, span: Span) -> Value {
        match value.shape() {
            None => Value::Bad,
            Some(shape @ Shape::Tuple(_)) => {
                self.problem(span, format!("an index needs a list, and this is {shape}; assign its values to variables: `a, b = …`"))
            }
            Some(shape) => self.problem(span, format!("an index needs a list, and this is {shape}; delete the index")),
        }
    }

    /// Returns the list and the index of an element: `a[i]`, or `a[i][j]` in two dimensions.
    pub fn element(&mut self, expr: &'a Expr, purpose: Purpose) -> Option<(List, Index)> {
        let ExprKind::Index { of, at } = &expr.kind else { return None };
        if let ExprKind::Index { of: outer, at: first } = &of.kind {
            let mut list = self.list_at(outer)?;
            let Some(columns) = list.columns else {
                self.problem(expr.span, "the list has one dimension; write one index");
                return None;
            };
            let used = self.hold(&mut list, outer.span, purpose);
            let (row, column) = (self.index(first, list.rows), self.index(at, columns));
            self.release(used);
            let index = match (row?, column?) {
                (Index::Constant(row), Index::Constant(column)) => Index::Constant(row * columns + column),
                (row, column) => {
                    let [row, column] = [(row, list.rows), (column, columns)].map(|(index, len)| self.checked(index, len));
                    let columns = self.int(columns);
                    let start = self.op(Op::MulU, &[row, columns]);
                    Index::At(self.op(Op::AddU, &[start, column]))
                }
            };
            return Some((list, index));
        }
        let mut list = self.list_at(of)?;
        if let Some(columns) = list.columns {
            self.problem(expr.span, format!("the list has two dimensions, with {columns} columns; write two indices: `a[i][j]`"));
            return None;
        }
        let used = self.hold(&mut list, of.span, purpose);
        let index = self.index(at, list.rows);
        self.release(used);
        Some((list, index?))
    }

    fn list_at(&mut self, expr: &'a Expr) -> Option<List> {
        match self.expr(expr) {
            Value::List(list) => Some(list),
            value => {
                self.no_list(&value, expr.span);
                None
            }
        }
    }

    /// Evaluates an index into `len` elements. A constant index is checked here; a computed index is checked when the program runs.
    fn index(&mut self, at: &'a Expr, len: usize) -> Option<Index> {
        let slot = self.integer(at)?;
        self.line = at.span.line;
        let Some(bits) = self.bits(slot) else { return Some(Index::At(slot)) };
        let index = i64::from(bits as i32);
        let from_start = if index < 0 { index + len as i64 } else { index };
        if !(0..len as i64).contains(&from_start) {
            let message =
                format!("the index {index} is outside of the list, which has {}; use -{len} to {}", count(len, "element"), len - 1);
            self.problem(at.span, message);
            return None;
        }
        Some(Index::Constant(from_start as usize))
    }

    /// Converts an index to a count from the start of the list. At run time, the program reports an index out of range.
    fn checked(&mut self, index: Index, len: usize) -> Slot {
        match index {
            Index::Constant(k) => self.int(k),
            Index::At(slot) => self.shared(Instruction { op: Op::Index, a: slot.0, n: len as u32, ..Instruction::NOTHING }),
        }
    }

    /// Returns a row of a list of two dimensions.
    pub fn row(&mut self, list: &List, index: Index, columns: usize) -> Value {
        let mut items = Vec::new();
        match index {
            Index::Constant(row) => {
                for k in 0..columns {
                    if let Value::Number(slot, _) = self.load(list, Index::Constant(row * columns + k)) {
                        items.push(slot);
                    }
                }
            }
            Index::At(_) => {
                let row = self.checked(index, list.rows);
                let count = self.int(columns);
                let start = self.op(Op::MulU, &[row, count]);
                for k in 0..columns {
                    let k = self.int(k);
                    let at = self.op(Op::AddU, &[start, k]);
                    if let Value::Number(slot, _) = self.load(list, Index::At(at)) {
                        items.push(slot);
                    }
                }
            }
        }
        let view = list.view.or(Some(View::Row));
        Value::List(List { root: list.root.clone(), view, ..List::of_items(list.ty, items) })
    }

    /// Reads an element.
    pub fn load(&mut self, list: &List, index: Index) -> Value {
        let len = list.len() as u32;
        let slot = match (&list.place, index) {
            (Place::Items(items), Index::Constant(k)) => items[k],
            (Place::Memory(base), Index::Constant(k)) => self.read_row(base.plus(k)),
            (Place::Memory(base), Index::At(at)) => {
                self.shared(Instruction { op: Op::Gather, a: at.0, b: base.0, n: len, ..Instruction::NOTHING })
            }
            (Place::Items(items), Index::At(at)) => {
                self.spend(items.len());
                let constants: Option<Vec<u32>> = items.iter().map(|item| self.bits(*item)).collect();
                match constants {
                    Some(table) => {
                        let n = self.pool.table(table);
                        self.shared(Instruction { op: Op::Table, a: at.0, n, ..Instruction::NOTHING })
                    }
                    None => {
                        let base = self.reserve(items.len());
                        for (k, item) in items.iter().enumerate() {
                            self.emit(Instruction { op: Op::Store, d: base.plus(k).0, a: item.0, mask: NONE, ..Instruction::NOTHING });
                        }
                        self.shared(Instruction { op: Op::Gather, a: at.0, b: base.0, n: len, ..Instruction::NOTHING })
                    }
                }
            }
        };
        Value::Number(slot, list.ty)
    }

    /// Assigns an element. If the value has a wider type, the type of the list widens.
    pub fn store(&mut self, list: &List, index: Index, value: Value, span: Span) {
        let Value::Number(slot, ty) = value else {
            if !value.is_bad() {
                let found = value.shape().map(|shape| shape.to_string()).unwrap_or_default();
                self.problem(span, format!("an element of this list is a number, and the value is {found}; assign a number"));
            }
            return;
        };
        if let Some(name) = list.root.as_ref().and_then(|root| self.constant_of(root)) {
            let copy = copy_of(&name, list.columns);
            let attribute = if name.starts_with("self.") { "values" } else { &name };
            self.problem(span, format!("`{name}` is a constant; copy it to an attribute in `reset`: `self.{attribute} = {copy}`"));
            return;
        }
        if let Some(view) = list.view {
            self.problem(span, if view == View::Row { COPY_OF_ROW } else { COPY_OF_PARTS });
            return;
        }
        let Some(wide) = widest(list.ty, ty) else {
            self.problem(span, "an element of this list cannot be a text; assign a number");
            return;
        };
        if let Some(root) = &list.root
            && wide != list.ty
        {
            self.join(&root.clone(), &Shape::List(wide, list.rows, list.columns), span);
        }
        let Place::Memory(base) = list.place else {
            self.problem(span, "this list cannot be changed here; assign it to a variable first");
            return;
        };
        let is_attribute = list.root.as_ref().is_some_and(|root| &*root.0 == "self");
        if is_attribute && let Some(method) = self.pure {
            self.problem(span, format!("`{method}` changes no attribute; change the list in `step` or `reset`"));
            return;
        }
        let value = self.widen(slot, ty, wide);
        if is_attribute && wide == Type::Float {
            self.check_finite(value);
        }
        self.line = span.line;
        if let Some(root) = &list.root {
            self.note(root, Change::Element);
        }
        match index {
            Index::Constant(k) => self.write_row(base.plus(k), value),
            Index::At(at) => {
                let (mask, n) = (self.mask(), list.len() as u32);
                self.emit(Instruction { op: Op::Scatter, a: at.0, b: base.0, c: value.0, mask, n, ..Instruction::NOTHING });
            }
        }
    }

    /// Translates `a[:]`, a copy of a list. In two dimensions, the rows still belong to the list.
    pub fn copied(&mut self, of: &'a Expr) -> Value {
        match self.expr(of) {
            Value::List(mut list) => {
                if let Place::Memory(base) = list.place {
                    list.place = Place::Memory(self.duplicate(base, list.len()));
                }
                let root = list.columns.and(list.root);
                let view = root.is_some().then_some(View::Parts);
                Value::List(List { root, view, stale: false, ..list })
            }
            value => self.no_list(&value, of.span),
        }
    }

    /// Copies `len` rows of a list. Returns the first row of the copy.
    pub fn duplicate(&mut self, base: Slot, len: usize) -> Slot {
        let copy = self.reserve(len);
        self.emit(Instruction { op: Op::Rows, d: copy.0, b: base.0, n: len as u32, ..Instruction::NOTHING });
        copy
    }

    /// Returns the elements of a list, each with its type.
    pub fn numbers(&mut self, list: &List) -> Vec<(Slot, Type)> {
        let items: Rc<[Slot]> = self.items(list);
        items.iter().map(|item| (*item, list.ty)).collect()
    }
}
