//! Translation of expressions: names, attributes, arithmetic, and conversions of numbers.

use super::super::ast::{Arithmetic, Expr, ExprKind};
use super::super::error::Span;
use super::super::names::BUILT_IN;
use super::super::program::{Op, Type};
use super::facts::Purpose;
use super::lower::Lower;
use super::similar::similar;
use super::values::{JOINS, List, Slot, Value, code_of, copy_of};

/// Maximum number of values in a tuple, including those in tuples within it.
const MOST_VALUES: usize = 256;

impl<'a> Lower<'a> {
    pub fn expr(&mut self, expr: &'a Expr) -> Value {
        if !self.visit(expr.span) {
            return Value::Bad;
        }
        self.nested(|lower| lower.value_of(expr))
    }

    fn value_of(&mut self, expr: &'a Expr) -> Value {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value) => Value::Number(self.constant(*value as u32), Type::Int),
            ExprKind::Float(value) => Value::Number(self.constant(value.to_bits()), Type::Float),
            ExprKind::Bool(value) => Value::Number(self.bool(*value), Type::Bool),
            ExprKind::Text(text) => self.text(text),
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Attribute { of, name } => {
                if self.is_self(of) {
                    return self.attribute(&name.text, name.span);
                }
                let advice = match path(expr) {
                    Some(path) if path.contains('.') => format!("write `self.{}` for `self.{path}`", path.replace('.', "_")),
                    Some(path) => {
                        let message =
                            format!("only methods have `self`; pass `self.{path}` as an argument, or write a method: `def f(self):`");
                        return self.problem(span, message);
                    }
                    None => format!("write `self.{}`, or a variable", name.text),
                };
                self.problem(span, format!("only `self` has attributes; {advice}"))
            }
            ExprKind::Index { .. } => self.indexed(expr),
            ExprKind::Copy(of) => self.copied(of),
            ExprKind::Call { of, arguments } => self.call(of, arguments, span),
            ExprKind::Negate(of) => {
                let value = self.expr(of);
                self.line = span.line;
                self.negate(value, of.span)
            }
            ExprKind::Not(of) => {
                let truth = self.truth_of(of);
                Value::Number(self.op(Op::Not, &[truth]), Type::Bool)
            }
            ExprKind::Arithmetic { op, left, right } => {
                let mut a = self.expr(left);
                let used = self.hold_value(&mut a, left.span, Purpose::Read);
                let b = self.expr(right);
                self.release(used);
                self.line = span.line;
                self.arithmetic(*op, (a, left.span), (b, right.span), span)
            }
            ExprKind::Compare { first, rest } => self.comparisons(first, rest, span),
            ExprKind::And(all) => self.junction(all, true),
            ExprKind::Or(all) => self.junction(all, false),
            ExprKind::Choose { condition, then, other } => self.choice(condition, then, other, span),
            ExprKind::List(all) => {
                let values = self.parts(all);
                self.list_of(values, span)
            }
            ExprKind::Tuple(all) => {
                let value = Value::Tuple(self.parts(all).into());
                if value.size() > MOST_VALUES {
                    return self.problem(span, format!("a tuple has at most {MOST_VALUES} values; write a list"));
                }
                value
            }
            ExprKind::Dict(_) => self.problem(span, "a dictionary is possible for `keys` only; write a list of fixed length"),
            ExprKind::Comprehension { value, loops } => self.comprehension(value, loops, span),
        }
    }

    /// Evaluates the parts of a list or tuple.
    fn parts(&mut self, all: &'a [Expr]) -> Vec<Value> {
        let (mut values, mut uses) = (Vec::new(), Vec::new());
        for expr in all {
            let mut value = self.expr(expr);
            uses.push(self.hold_value(&mut value, expr.span, Purpose::Read));
            values.push(value);
        }
        uses.into_iter().for_each(|used| self.release(used));
        values
    }

    pub fn is_self(&self, of: &Expr) -> bool {
        matches!(&of.kind, ExprKind::Name(name) if name == "self")
            && self.frames.last().is_some_and(|frame| frame.definition.is_some_and(|of| of.is_method))
    }

    fn name(&mut self, name: &'a str, span: Span) -> Value {
        if let Some(bound) = self.env.get(&self.local(name)) {
            if let Value::List(List { stale: true, root: Some(root), columns, .. }) = &bound.value {
                let (of, copy) = (code_of(root), copy_of("…", *columns));
                let message =
                    format!("`{of}` may have changed after `{name}` was read from it; read it again, or read a copy: `{name} = {copy}`");
                return self.problem(span, message);
            }
            if bound.definite || bound.value == Value::Bad {
                return bound.value.clone();
            }
            let message = format!("`{name}` has no value on some paths to this line; assign it before, for example `{name} = 0`");
            return self.unassigned(name, span, message);
        }
        let is_local = self.frames.last().and_then(|frame| frame.definition).is_some_and(|of| of.locals.contains(name));
        if is_local && name != "self" {
            return self.unassigned(name, span, format!("`{name}` has no value yet; assign it before this line, for example `{name} = 0`"));
        }
        if let Some(value) = self.globals.get(name) {
            return value.clone();
        }
        let message = match name {
            "self" => "`self` has attributes and methods only; write `self.x` for one of them".into(),
            "pi" => return Value::Number(self.constant(std::f32::consts::PI.to_bits()), Type::Float),
            "tau" => return Value::Number(self.constant(std::f32::consts::TAU.to_bits()), Type::Float),
            _ if self.outline.functions.contains_key(name) || BUILT_IN.contains(&name) => {
                format!("`{name}` is a function; write its arguments in brackets: `{name}(…)`")
            }
            _ if self.outline.methods.contains_key(name) => format!("`{name}` is a method; write `self.{name}(…)`"),
            _ if self.class_constants.contains_key(name) && self.frames.is_empty() => {
                format!("`{name}` is a constant of the class; write it above the class to use it here")
            }
            _ if self.class_constants.contains_key(name) || self.outline.attributes.contains_key(name) => {
                format!("`{name}` is an attribute; write `self.{name}`")
            }
            _ => self.unknown(name),
        };
        self.problem(span, message)
    }

    /// Returns the message for a name that does not exist.
    fn unknown(&self, name: &str) -> String {
        let locals = self.frames.last().and_then(|frame| frame.definition).map(|of| of.locals.iter().copied()).into_iter().flatten();
        let globals = self.globals.keys().map(String::as_str);
        let functions = self.outline.functions.keys().copied().chain(BUILT_IN);
        match similar(name, locals.chain(globals).chain(functions)) {
            Some(other) => format!("there is no variable `{name}`; write `{other}`"),
            None => format!("there is no variable `{name}`; assign it before this line, for example `{name} = 0`"),
        }
    }

    /// Reports a variable without a value. Later lines that read the variable are not reported.
    fn unassigned(&mut self, name: &str, span: Span, message: String) -> Value {
        self.bind(self.local(name), Value::Bad);
        self.problem(span, message)
    }

    fn attribute(&mut self, name: &str, span: Span) -> Value {
        if let Some(value) = self.class_constants.get(name) {
            return value.clone();
        }
        if let Some(bound) = self.env.get(&(0, name.into())) {
            if bound.definite || bound.value == Value::Bad {
                return bound.value.clone();
            }
            return self.problem(span, format!("`self.{name}` has no value on some paths to this line; assign it before in `reset`"));
        }
        let known = &self.outline.attributes;
        let message = if self.outline.methods.contains_key(name) {
            format!("`{name}` is a method; write `self.{name}(…)`")
        } else if known.contains_key(name) {
            format!("`self.{name}` has no value yet; assign it in `reset` before this line, for example `self.{name} = 0`")
        } else if let Some(other) = similar(name, known.keys().copied()) {
            format!("there is no attribute `self.{name}`; write `self.{other}`")
        } else {
            format!("there is no attribute `self.{name}`; assign it in `reset`, for example `self.{name} = 0`")
        };
        self.problem(span, message)
    }

    /// Returns the slot (the program row that holds the number) and the type of a number. For other values, returns `None`, and reports an
    /// error unless one was already reported.
    pub fn number_in(&mut self, value: Value, span: Span) -> Option<(Slot, Type)> {
        match value {
            Value::Number(slot, ty) if ty != Type::Text => Some((slot, ty)),
            Value::Bad => None,
            value => {
                let found = value.shape().map(|shape| shape.to_string()).unwrap_or_default();
                let advice = match value {
                    Value::List(_) => "write an index: `a[i]`",
                    Value::Nothing => "write `return` with a value in the function",
                    Value::Number(..) => "texts are possible in `draw` only",
                    _ => "assign its values to variables: `a, b = …`",
                };
                self.problem(span, format!("a number is needed here, and this is {found}; {advice}"));
                None
            }
        }
    }

    pub fn number(&mut self, expr: &'a Expr) -> Option<(Slot, Type)> {
        let value = self.expr(expr);
        if let (Value::List(_), ExprKind::Arithmetic { op: Arithmetic::Add, .. }) = (&value, &expr.kind) {
            self.problem(expr.span, JOINS);
            return None;
        }
        self.number_in(value, expr.span)
    }

    /// Evaluates an expression as a float.
    pub fn float(&mut self, expr: &'a Expr) -> Option<Slot> {
        let (slot, ty) = self.number(expr)?;
        Some(self.widen(slot, ty, Type::Float))
    }

    /// Evaluates an expression that must be an integer or a bool.
    pub fn integer(&mut self, expr: &'a Expr) -> Option<Slot> {
        let (slot, ty) = self.number(expr)?;
        if ty == Type::Float {
            self.problem(expr.span, "an integer is needed here, and this is a float; write `int(…)` around it, or `//` instead of `/`");
            return None;
        }
        Some(self.widen(slot, ty, Type::Int))
    }

    /// Evaluates an expression as a condition. Numbers other than 0 are true.
    pub fn truth_of(&mut self, expr: &'a Expr) -> Slot {
        let value = self.expr(expr);
        match self.number_in(value, expr.span) {
            Some((slot, ty)) => self.truth(slot, ty),
            // After an error, the program is not used. The condition is a new row, because a constant condition would hide the errors in
            // one of the two branches.
            None => self.temporary(),
        }
    }

    pub fn truth(&mut self, slot: Slot, ty: Type) -> Slot {
        match ty {
            Type::Int => self.op(Op::IToBool, &[slot]),
            Type::Float => self.op(Op::FToBool, &[slot]),
            _ => slot,
        }
    }

    fn negate(&mut self, value: Value, span: Span) -> Value {
        let Some((slot, ty)) = self.number_in(value, span) else { return Value::Bad };
        if ty == Type::Float {
            return Value::Number(self.op(Op::NegF, &[slot]), ty);
        }
        let (zero, slot) = (self.int(0), self.widen(slot, ty, Type::Int));
        Value::Number(self.op(Op::SubI, &[zero, slot]), Type::Int)
    }

    pub fn arithmetic(&mut self, op: Arithmetic, left: (Value, Span), right: (Value, Span), span: Span) -> Value {
        if matches!(left.0, Value::List(_)) || matches!(right.0, Value::List(_)) {
            if let Arithmetic::Add | Arithmetic::Multiply = op {
                return self.list_arithmetic(op == Arithmetic::Add, &left.0, &right.0, span);
            }
            return self.problem(span, "an operator works on numbers, not on lists; write a list: `[a[i] - b[i] for i in range(2)]`");
        }
        let a = self.number_in(left.0, left.1);
        let b = self.number_in(right.0, right.1);
        let (Some((a, x)), Some((b, y))) = (a, b) else { return Value::Bad };
        if op == Arithmetic::Power {
            return self.power((a, x), (b, y), span);
        }
        let is_float = op == Arithmetic::Divide || x == Type::Float || y == Type::Float;
        let ty = if is_float { Type::Float } else { Type::Int };
        let operands = [self.widen(a, x, ty), self.widen(b, y, ty)];
        let op = match (op, is_float) {
            (Arithmetic::Add, false) => Op::AddI,
            (Arithmetic::Subtract, false) => Op::SubI,
            (Arithmetic::Multiply, false) => Op::MulI,
            (Arithmetic::FloorDivide, false) => Op::DivI,
            (Arithmetic::Remainder, false) => Op::ModI,
            (Arithmetic::Add, true) => Op::AddF,
            (Arithmetic::Subtract, true) => Op::SubF,
            (Arithmetic::Multiply, true) => Op::MulF,
            (Arithmetic::FloorDivide, true) => Op::FloorDivF,
            (Arithmetic::Remainder, true) => Op::ModF,
            _ => Op::DivF,
        };
        Value::Number(self.op(op, &operands), ty)
    }

    /// Translates `a ** b`. If `b` is a constant integer from -64 to 64, the result is computed by multiplications, followed by one
    /// division if `b` is negative.
    fn power(&mut self, (a, x): (Slot, Type), (b, y): (Slot, Type), span: Span) -> Value {
        let exponent = self.bits(b).map(|bits| bits as i32).filter(|_| y == Type::Int);
        let Some(exponent @ -64..=64) = exponent else {
            if x != Type::Float && y != Type::Float && exponent.is_none() {
                return self.problem(span, "a power of integers needs a constant exponent; write `float(a) ** b`, or a loop of products");
            }
            let operands = [self.widen(a, x, Type::Float), self.widen(b, y, Type::Float)];
            return Value::Number(self.op(Op::Power, &operands), Type::Float);
        };
        let ty = if exponent < 0 { Type::Float } else { x.max(Type::Int) };
        let base = self.widen(a, x, ty);
        let one = if ty == Type::Float { self.constant(1f32.to_bits()) } else { self.int(1) };
        let multiply = if ty == Type::Float { Op::MulF } else { Op::MulI };
        let mut product = None;
        let mut square = base;
        let mut rest = exponent.unsigned_abs();
        while rest > 0 {
            if rest % 2 == 1 {
                product = Some(product.map_or(square, |product| self.op(multiply, &[product, square])));
            }
            rest /= 2;
            if rest > 0 {
                square = self.op(multiply, &[square, square]);
            }
        }
        let product = product.unwrap_or(one);
        Value::Number(if exponent < 0 { self.op(Op::DivF, &[one, product]) } else { product }, ty)
    }

    /// Returns the code of a name, an attribute or an element of a list, for a message; `a` for other expressions.
    pub fn source(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Name(name) => name.clone(),
            ExprKind::Attribute { of, name } => format!("{}.{}", self.source(of), name.text),
            ExprKind::Index { of, at } => {
                let at = match &at.kind {
                    ExprKind::Int(number) => number.to_string(),
                    ExprKind::Name(name) => name.clone(),
                    _ => "i".into(),
                };
                format!("{}[{at}]", self.source(of))
            }
            _ => "a".into(),
        }
    }
}

/// Returns the names after `self.`, as in `state.pole` for `self.state.pole`; `None` if the expression has other parts.
fn path(expr: &Expr) -> Option<String> {
    let ExprKind::Attribute { of, name } = &expr.kind else { return None };
    match &of.kind {
        ExprKind::Name(base) if base == "self" => Some(name.text.clone()),
        _ => Some(format!("{}.{}", path(of)?, name.text)),
    }
}
