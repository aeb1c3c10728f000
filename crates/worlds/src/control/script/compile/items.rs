//! Items of `for` loops and of comprehensions.

use super::super::ast::{Expr, ExprKind};
use super::super::error::Span;
use super::super::program::Type;
use super::facts::{Purpose, Use};
use super::lists::{CONSTANT_LENGTH, Index, LONGEST};
use super::lower::Lower;
use super::values::{List, Slot, Value};

/// Items of a `for` loop. A counter counts from `start` in steps of `step`, and ends before `stop`. If the items are a list, the counter is
/// the index.
pub struct Items {
    pub start: Slot,
    pub stop: Slot,
    pub step: i32,
    /// Number of passes, if it is constant.
    pub passes: Option<usize>,
    list: Option<List>,
    with_index: bool,
    /// Use of the list, which ends after the last pass.
    pub used: Option<Use>,
}

impl<'a> Lower<'a> {
    /// Evaluates the items of a loop. Returns `None` after an error.
    pub fn items_of(&mut self, items: &'a Expr) -> Option<Items> {
        if let ExprKind::Call { of, arguments } = &items.kind
            && let ExprKind::Name(name) = &of.kind
        {
            match (name.as_str(), arguments.as_slice()) {
                ("range", _) => return self.range(arguments, items.span),
                ("enumerate", [of]) => return self.list_items(of, true),
                _ => {}
            }
        }
        self.list_items(items, false)
    }

    fn list_items(&mut self, of: &'a Expr, with_index: bool) -> Option<Items> {
        match self.expr(of) {
            Value::List(mut list) => {
                let used = self.hold(&mut list, of.span, Purpose::Read);
                let (start, stop) = (self.int(0), self.int(list.rows));
                Some(Items { start, stop, step: 1, passes: Some(list.rows), list: Some(list), with_index, used })
            }
            Value::Bad => None,
            value => {
                let found = value.shape().map(|shape| shape.to_string()).unwrap_or_default();
                self.problem(of.span, format!("a loop needs a list or a range, and this is {found}; write `range(…)` around a number"));
                None
            }
        }
    }

    fn range(&mut self, arguments: &'a [Expr], span: Span) -> Option<Items> {
        let mut numbers = Vec::new();
        for argument in arguments {
            numbers.push(self.integer(argument)?);
        }
        let (zero, one) = (self.int(0), self.int(1));
        let (start, stop, step) = match numbers[..] {
            [stop] => (zero, stop, one),
            [start, stop] => (start, stop, one),
            [start, stop, step] => (start, stop, step),
            _ => {
                self.problem(span, "`range` has 1 to 3 numbers; write `range(stop)` or `range(start, stop)`");
                return None;
            }
        };
        let step = match self.bits(step).map(|bits| bits as i32) {
            Some(step) if step != 0 => step,
            found => {
                let why = if found.is_some() { "is 0" } else { "is not constant" };
                self.problem(span, format!("the step of this range {why}; write a constant number such as 2 or -1"));
                return None;
            }
        };
        let passes = match (self.bits(start), self.bits(stop)) {
            (Some(start), Some(stop)) => {
                let (way, step) = (i64::from(stop as i32) - i64::from(start as i32), i64::from(step));
                Some(if (way > 0) == (step > 0) && way != 0 { way.unsigned_abs().div_ceil(step.unsigned_abs()) as usize } else { 0 })
            }
            _ => None,
        };
        Some(Items { start, stop, step, passes, list: None, with_index: false, used: None })
    }

    /// Returns the item that the loop assigns to its variable when the counter has the number in `counter`.
    pub fn item(&mut self, items: &Items, counter: Slot) -> Value {
        let number = Value::Number(counter, Type::Int);
        let Some(list) = &items.list else { return number };
        let index = self.bits(counter).map_or(Index::At(counter), |k| Index::Constant(k as usize));
        let element = if let Some(columns) = list.columns { self.row(list, index, columns) } else { self.load(list, index) };
        if items.with_index { Value::Tuple([number, element].into()) } else { element }
    }

    pub fn counter_at(&mut self, items: &Items, k: usize) -> Slot {
        let start = self.bits(items.start).unwrap_or_default();
        self.constant(start.wrapping_add((items.step as u32).wrapping_mul(k as u32)))
    }

    /// Calls `f` for each combination of items of the nested `loops`, and appends the results of `f` to `out`. Each loop must have a
    /// constant length. Returns the number of passes of the outermost loop; `None` after an error.
    pub fn each_item(
        &mut self,
        loops: &'a [(Expr, Expr)],
        span: Span,
        out: &mut Vec<Value>,
        f: &mut dyn FnMut(&mut Self) -> Value,
    ) -> Option<usize> {
        let Some(((target, items), rest)) = loops.split_first() else {
            out.push(f(self));
            return Some(1);
        };
        let mut items = self.items_of(items)?;
        let Some(passes) = items.passes else {
            self.problem(span, CONSTANT_LENGTH);
            return None;
        };
        for k in 0..passes {
            if !self.visit(span) || out.len() > LONGEST {
                break;
            }
            let counter = self.counter_at(&items, k);
            let item = self.item(&items, counter);
            self.bind_plainly(target, item);
            self.each_item(rest, span, out, f)?;
        }
        self.release(items.used.take());
        Some(passes)
    }

    /// Binds the target of a comprehension's loop. The target is local to the comprehension, so its type is not joined with the type of a
    /// variable of the same name.
    fn bind_plainly(&mut self, target: &'a Expr, value: Value) {
        match (&target.kind, value) {
            (ExprKind::Name(name), value) => {
                let variable = self.local(name);
                self.bind(variable, value);
            }
            (ExprKind::Tuple(targets), Value::Tuple(values)) if targets.len() == values.len() => {
                targets.iter().zip(values.iter()).for_each(|(target, value)| self.bind_plainly(target, value.clone()));
            }
            _ => {
                self.problem(target.span, "the target of this loop does not fit its items; write one name, or two names with `enumerate`");
            }
        }
    }
}
