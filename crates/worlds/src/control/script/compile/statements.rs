//! Translation of statements. The translation of a statement returns the slot of a bool, which is true in lanes that continue after the
//! statement.

use super::super::ast::{Arithmetic, Expr, ExprKind, Statement, StatementKind};
use super::super::error::Span;
use super::super::program::{Op, Type};
use super::facts::Purpose;
use super::lists::Index;
use super::lower::{Level, Lower};
use super::survey;
use super::values::{List, Place, Shape, Slot, Value};

/// A target of an assignment, with its list and index evaluated.
enum Target<'a> {
    Local(&'a str),
    Attribute(&'a str),
    Element(List, Index),
    Bad,
}

impl<'a> Lower<'a> {
    pub fn block(&mut self, body: &'a [Statement]) -> Slot {
        self.nested(|lower| lower.statements(body))
    }

    fn statements(&mut self, body: &'a [Statement]) -> Slot {
        for (k, statement) in body.iter().enumerate() {
            if !self.visit(statement.span) {
                break;
            }
            let rest = &body[k + 1..];
            if let StatementKind::If { branches, other } = &statement.kind
                && other.is_empty()
                && branches.iter().all(|(_, body)| body.last().is_some_and(ends))
            {
                return self.conditional(branches, rest);
            }
            let live = self.statement(statement);
            if self.is_true(live) {
                continue;
            }
            if self.is_false(live) || rest.is_empty() {
                return live;
            }
            let (after, env) = self.region(Level::If(live), |lower| lower.block(rest));
            let alive = !self.is_false(after);
            self.merge(live, env, alive, false);
            return self.op(Op::And, &[live, after]);
        }
        self.bool(true)
    }

    fn statement(&mut self, statement: &'a Statement) -> Slot {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign { targets, value } => self.assign(targets, value),
            StatementKind::Augment { target, op, value } => self.augment(target, *op, value, span),
            StatementKind::Expr(expr) => self.lone(expr),
            StatementKind::If { branches, other } => return self.conditional(branches, other),
            StatementKind::For { target, items, body } => return self.for_loop(target, items, body),
            StatementKind::While { condition, body } => return self.while_loop(condition, body),
            StatementKind::Return(value) => {
                self.give(value.as_ref(), span);
                return self.bool(false);
            }
            StatementKind::Break => {
                self.leave(true);
                return self.bool(false);
            }
            StatementKind::Continue => {
                self.leave(false);
                return self.bool(false);
            }
            StatementKind::Pass => {}
            StatementKind::Function(_) | StatementKind::Class { .. } => {}
        }
        self.bool(true)
    }

    /// Translates a statement that is an expression.
    fn lone(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Call { .. } => {
                self.expr(expr);
            }
            ExprKind::Text(_) => {}
            _ => {
                self.problem(expr.span, "this value has no effect; assign it to a variable, or delete the line");
            }
        }
    }

    fn conditional(&mut self, branches: &'a [(Expr, Vec<Statement>)], other: &'a [Statement]) -> Slot {
        if self.full {
            return self.bool(true);
        }
        let Some(((condition, body), rest)) = branches.split_first() else { return self.block(other) };
        let condition = self.truth_of(condition);
        if self.is_true(condition) {
            let live = self.block(body);
            // If every branch ends with `return`, `break` or `continue`, `other` contains the statements after the `if` (see `block`). The
            // path through this branch does not reach the statements in `other`.
            return live;
        }
        if self.is_false(condition) {
            return self.nested(|lower| lower.conditional(rest, other));
        }
        let (then_live, then) = self.region(Level::If(condition), |lower| lower.block(body));
        let other_live = if rest.is_empty() && other.is_empty() {
            self.bool(true)
        } else {
            let (live, env) = self.region(Level::Unless(condition), |lower| lower.nested(|lower| lower.conditional(rest, other)));
            self.env = env;
            live
        };
        let alive = [then_live, other_live].map(|live| !self.is_false(live));
        self.merge(condition, then, alive[0], alive[1]);
        self.op(Op::Select, &[condition, then_live, other_live])
    }

    fn assign(&mut self, targets: &'a [Expr], value: &'a Expr) {
        let mut given = self.expr(value);
        let to_attribute = targets.iter().any(|target| matches!(target.kind, ExprKind::Attribute { .. }));
        // A list whose elements are assigned to several targets gets no name.
        let is_unpacked = matches!(given, Value::List(_)) && targets.iter().all(|target| matches!(target.kind, ExprKind::Tuple(_)));
        let found = if is_unpacked { None } else { self.named_twice(&given, value, to_attribute) };
        if let Some((span, message)) = found {
            given = self.problem(span, message);
        } else if targets.len() > 1 && !is_unpacked && given.has_own_list() {
            given = self.problem(value.span, "a list has one name; write an assignment for each name");
        }
        for target in targets {
            self.assign_target(target, given.clone());
        }
    }

    fn augment(&mut self, target: &'a Expr, op: Arithmetic, value: &'a Expr, span: Span) {
        let mut place = self.target(target);
        let (before, used) = match &mut place {
            Target::Element(list, index) => (self.load(list, *index), self.hold(list, target.span, Purpose::Assign)),
            _ => (self.expr(target), None),
        };
        let given = self.expr(value);
        self.release(used);
        if let Value::List(_) = before {
            self.problem(span, "a list has a fixed length; write a loop over its elements");
            return;
        }
        self.line = span.line;
        let result = self.arithmetic(op, (before, target.span), (given, value.span), span);
        self.write(&place, result, target.span);
    }

    fn target(&mut self, target: &'a Expr) -> Target<'a> {
        match &target.kind {
            ExprKind::Name(name) => Target::Local(name),
            ExprKind::Attribute { of, name } if self.is_self(of) => Target::Attribute(&name.text),
            ExprKind::Index { .. } => {
                let of = survey::base(target);
                if let ExprKind::Attribute { name, .. } = &of.kind
                    && let Some(method) = self.pure
                {
                    self.problem(target.span, format!("`{method}` changes no attribute; assign `self.{}` in `step` or `reset`", name.text));
                    return Target::Bad;
                }
                match self.element(target, Purpose::Assign) {
                    Some((list, index)) => Target::Element(list, index),
                    None => Target::Bad,
                }
            }
            _ => {
                self.problem(target.span, "a value cannot be assigned here; write a variable, or an attribute of `self`");
                Target::Bad
            }
        }
    }

    fn write(&mut self, target: &Target<'a>, value: Value, span: Span) {
        match target {
            Target::Local(name) => self.assign_local(name, value, span),
            Target::Attribute(name) => self.assign_attribute(name, value, span),
            Target::Element(list, index) => self.store(list, *index, value, span),
            Target::Bad => {}
        }
    }

    /// Assigns the parts of a value to several targets, from left to right.
    fn unpack(&mut self, targets: &'a [Expr], value: Value, span: Span) {
        let values: Vec<Value> = match &value {
            Value::Tuple(all) => all.to_vec(),
            Value::List(list) if list.columns.is_none() => {
                let ty = list.ty;
                self.items(list).iter().map(|item| Value::Number(*item, ty)).collect()
            }
            Value::Bad => vec![Value::Bad; targets.len()],
            _ => {
                let found = value.shape().map(|shape| shape.to_string()).unwrap_or_default();
                self.problem(span, format!("{0} targets need {0} values, but the right side is {found}; write one target", targets.len()));
                return;
            }
        };
        if values.len() != targets.len() {
            let message =
                format!("the right side has {} values for {} targets; write one value for each target", values.len(), targets.len());
            self.problem(span, message);
            return;
        }
        for (target, value) in targets.iter().zip(values) {
            self.assign_target(target, value);
        }
    }

    /// Assigns a value to a target. The parts of the target, such as an index, are evaluated after the assignments to earlier targets.
    pub fn assign_target(&mut self, target: &'a Expr, value: Value) {
        if let ExprKind::Tuple(targets) = &target.kind {
            return self.unpack(targets, value, target.span);
        }
        let place = self.target(target);
        self.write(&place, value, target.span);
    }

    /// Appends checks that report rewards and observations that are not finite.
    fn check_result(&mut self, value: &Value) {
        match value {
            Value::Number(slot, Type::Float) => self.check_finite(*slot),
            Value::List(List { ty: Type::Float, place: Place::Items(items), .. }) => {
                items.iter().for_each(|item| self.check_finite(*item));
            }
            Value::Tuple(all) => all.iter().for_each(|value| self.check_result(value)),
            _ => {}
        }
    }

    fn give(&mut self, expr: Option<&'a Expr>, span: Span) {
        let mut value = expr.map_or(Value::Nothing, |expr| self.expr(expr));
        if let Some(expr) = expr {
            value = self.returned(value, expr);
        }
        let root = self.local_root("return");
        let shape = value.shape();
        let joined = shape.and_then(|shape: Shape| self.join(&root, &shape, span));
        let value = joined.map_or(Value::Bad, |shape| self.convert(&value, &shape));
        self.line = span.line;
        if self.frames.len() == 1 {
            self.check_result(&value);
        }
        let variable = self.local("return");
        self.bind(variable, value);
        let left: Vec<_> = self.frames.last().iter().flat_map(|frame| frame.loops.iter().map(|of| of.left.clone())).collect();
        let yes = Value::Number(self.bool(true), Type::Bool);
        for name in left {
            let variable = (self.frame(), name);
            self.bind(variable, yes.clone());
        }
    }
}

/// Returns true if a statement is `return`, `break` or `continue`, after which no lane continues.
fn ends(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Return(_) | StatementKind::Break | StatementKind::Continue)
}
