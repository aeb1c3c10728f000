//! Translation of comparisons, `and`, `or` and conditional expressions. In lanes in which Python would not evaluate an operand, the operand
//! reports no run-time error.

use super::super::ast::{Comparison, Expr};
use super::super::error::Span;
use super::super::program::{Op, Type};
use super::facts::Purpose;
use super::lower::{Level, Lower};
use super::survey;
use super::values::{List, Shape, Slot, Value, widest};

impl<'a> Lower<'a> {
    pub fn comparisons(&mut self, first: &'a Expr, rest: &'a [(Comparison, Expr)], span: Span) -> Value {
        let value = self.expr(first);
        let truth = self.chain((value, first.span), rest, span);
        truth.map_or(Value::Bad, |slot| Value::Number(slot, Type::Bool))
    }

    fn chain(&mut self, left: (Value, Span), rest: &'a [(Comparison, Expr)], span: Span) -> Option<Slot> {
        let ((op, right), rest) = rest.split_first()?;
        let mut left = left;
        let used = self.hold_value(&mut left.0, left.1, Purpose::Read);
        let value = self.expr(right);
        self.release(used);
        self.line = span.line;
        let truth = self.compare(*op, left, (value.clone(), right.span));
        if rest.is_empty() {
            return truth;
        }
        let truth = truth?;
        if self.is_false(truth) {
            return Some(truth);
        }
        // The remaining operands are evaluated only in lanes in which this comparison is true.
        let effects = rest.iter().any(|(_, expr)| survey::has_effects(expr));
        let later =
            self.guarded(Level::If(truth), effects, truth, |lower| lower.nested(|lower| lower.chain((value, right.span), rest, span)))?;
        Some(self.op(Op::And, &[truth, later]))
    }

    fn compare(&mut self, op: Comparison, left: (Value, Span), right: (Value, Span)) -> Option<Slot> {
        if left.0.is_bad() || right.0.is_bad() {
            return None;
        }
        if let Comparison::In | Comparison::NotIn = op {
            let found = self.contains(left, right)?;
            return Some(if op == Comparison::In { found } else { self.op(Op::Not, &[found]) });
        }
        if let (Value::List(a), Value::List(b), Comparison::Equal | Comparison::NotEqual) = (&left.0, &right.0, op) {
            let equal = self.equal_lists(a, b, right.1)?;
            return Some(if op == Comparison::Equal { equal } else { self.op(Op::Not, &[equal]) });
        }
        let (a, b) = (self.number_in(left.0, left.1), self.number_in(right.0, right.1));
        let ((a, x), (b, y)) = (a?, b?);
        Some(self.compare_numbers(op, (a, x), (b, y)))
    }

    /// Returns a bool that is true in lanes in which all elements of two lists are equal. Reports an error if the lists have different
    /// lengths, or contain texts.
    fn equal_lists(&mut self, a: &List, b: &List, span: Span) -> Option<Slot> {
        if (a.rows, a.columns) != (b.rows, b.columns) || widest(a.ty, b.ty).is_none_or(|ty| ty == Type::Text) {
            let [a, b] = [a, b].map(|list| Shape::List(list.ty, list.rows, list.columns));
            self.problem(span, format!("{a} cannot be compared with {b}; compare two lists of numbers with equal lengths"));
            return None;
        }
        let (left, right) = (self.numbers(a), self.numbers(b));
        let mut all = self.bool(true);
        for (x, y) in left.into_iter().zip(right) {
            let equal = self.compare_numbers(Comparison::Equal, x, y);
            all = self.op(Op::And, &[all, equal]);
        }
        Some(all)
    }

    fn compare_numbers(&mut self, op: Comparison, (a, x): (Slot, Type), (b, y): (Slot, Type)) -> Slot {
        let ty = widest(x, y).unwrap_or(Type::Int).max(Type::Int);
        let (a, b) = (self.widen(a, x, ty), self.widen(b, y, ty));
        let (op, a, b) = match op {
            Comparison::Greater => (Comparison::Less, b, a),
            Comparison::GreaterEqual => (Comparison::LessEqual, b, a),
            _ => (op, a, b),
        };
        let is_float = ty == Type::Float;
        let op = match op {
            Comparison::Less => [Op::LtI, Op::LtF],
            Comparison::LessEqual => [Op::LeI, Op::LeF],
            Comparison::NotEqual => [Op::NeI, Op::NeF],
            _ => [Op::EqI, Op::EqF],
        };
        self.op(op[usize::from(is_float)], &[a, b])
    }

    fn contains(&mut self, (value, span): (Value, Span), (list, of): (Value, Span)) -> Option<Slot> {
        let number = self.number_in(value, span)?;
        let elements: Vec<(Slot, Type)> = match list {
            Value::List(list) if list.columns.is_none() => self.numbers(&list),
            Value::Tuple(all) => all.iter().map(|value| self.number_in(value.clone(), of)).collect::<Option<_>>()?,
            Value::Bad => return None,
            _ => {
                self.problem(of, "`in` needs a list of one dimension on its right side; write a list such as `[0, 1, 2]`");
                return None;
            }
        };
        let mut found = self.bool(false);
        for element in elements {
            let equal = self.compare_numbers(Comparison::Equal, number, element);
            found = self.op(Op::Or, &[found, equal]);
        }
        Some(found)
    }

    /// Runs `f`, which appends code for the lanes of `level`. Other lanes report no errors and keep their variables. `condition` is the
    /// bool of `level`. `effects` is true if the code can change variables.
    fn guarded<R>(&mut self, level: Level, effects: bool, condition: Slot, f: impl FnOnce(&mut Self) -> R) -> R {
        if !effects {
            return self.scoped(Some(level), f);
        }
        let (result, env) = self.region(level, f);
        match level {
            Level::Unless(_) => {
                let condition = self.op(Op::Not, &[condition]);
                self.merge(condition, env, true, true);
            }
            _ => self.merge(condition, env, true, true),
        }
        result
    }

    /// Translates `and` or `or`. The right side is evaluated only in lanes in which the left side does not decide the result.
    pub fn junction(&mut self, all: &'a [Expr], is_and: bool) -> Value {
        let Some((first, rest)) = all.split_first() else { return Value::Bad };
        let value = self.expr(first);
        if rest.is_empty() {
            return value;
        }
        let Some((slot, ty)) = self.number_in(value, first.span) else {
            rest.iter().for_each(|expr| drop(self.expr(expr)));
            return Value::Bad;
        };
        let truth = self.truth(slot, ty);
        if self.bits(truth).is_some() {
            // A constant left side is either the result itself, or leaves the result to the right side.
            let continues = self.is_true(truth) == is_and;
            return if continues { self.nested(|lower| lower.junction(rest, is_and)) } else { Value::Number(slot, ty) };
        }
        let level = if is_and { Level::If(truth) } else { Level::Unless(truth) };
        let effects = rest.iter().any(survey::has_effects);
        let other = self.guarded(level, effects, truth, |lower| lower.nested(|lower| lower.junction(rest, is_and)));
        let Some((right, other)) = self.number_in(other, first.span) else { return Value::Bad };
        let joined = ty.max(other);
        let (left, right) = (self.widen(slot, ty, joined), self.widen(right, other, joined));
        let slot = match (joined, is_and) {
            (Type::Bool, true) => self.op(Op::And, &[left, right]),
            (Type::Bool, false) => self.op(Op::Or, &[left, right]),
            (_, true) => self.op(Op::Select, &[truth, right, left]),
            (_, false) => self.op(Op::Select, &[truth, left, right]),
        };
        Value::Number(slot, joined)
    }

    pub fn choice(&mut self, condition: &'a Expr, then: &'a Expr, other: &'a Expr, span: Span) -> Value {
        let truth = self.truth_of(condition);
        if self.bits(truth).is_some() {
            return self.expr(if self.is_true(truth) { then } else { other });
        }
        let a = self.guarded(Level::If(truth), survey::has_effects(then), truth, |lower| lower.expr(then));
        let b = self.guarded(Level::Unless(truth), survey::has_effects(other), truth, |lower| lower.expr(other));
        self.line = span.line;
        if let (Some(x), Some(y)) = (a.shape(), b.shape())
            && x.join(&y).is_none()
        {
            return self.problem(span, format!("the two values are {x} and {y}; write two values of one type"));
        }
        self.choose(truth, &a, &b)
    }
}
