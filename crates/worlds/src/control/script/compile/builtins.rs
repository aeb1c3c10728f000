//! Translation of calls of built-in functions, such as `min` and `uniform`.

use super::super::ast::{Expr, ExprKind};
use super::super::error::Span;
use super::super::program::{Instruction, Op, ShapeRows, Type};
use super::frames::Variable;
use super::lower::{DRAWN, Lower};
use super::survey;
use super::values::{Shape, Slot, Value};
use crate::control::shape::COLOURS;

impl<'a> Lower<'a> {
    /// Translates a call of a built-in function.
    pub fn built_in(&mut self, name: &'a str, arguments: &'a [Expr], span: Span) -> Value {
        let (least, most) = match name {
            "min" | "max" => (1, usize::MAX),
            "clip" => (3, 3),
            "atan2" | "uniform" | "randint" | "normal" | "polygon" => (2, 2),
            "rect" | "line" => (5, 5),
            "circle" | "text" => (4, 4),
            _ => (1, 1),
        };
        let found = arguments.len();
        if !(least..=most).contains(&found) && !matches!(name, "range" | "enumerate" | "Box") {
            return self.problem(span, format!("`{name}` has {found} arguments; write {}", example(name)));
        }
        match name {
            "min" | "max" => self.extreme(name == "max", arguments, span),
            "sum" | "any" | "all" => self.total(name, &arguments[0], span),
            "len" => match self.expr(&arguments[0]) {
                Value::List(list) => Value::Number(self.int(list.rows), Type::Int),
                Value::Bad => Value::Bad,
                _ => self.problem(arguments[0].span, "`len` needs a list; write the name of a list"),
            },
            "abs" => self.absolute(&arguments[0], span),
            "clip" => self.clip(arguments, span),
            "int" | "floor" | "ceil" | "round" => self.rounded(name, &arguments[0], span),
            "float" => self.float(&arguments[0]).map_or(Value::Bad, |slot| Value::Number(slot, Type::Float)),
            "bool" => Value::Number(self.truth_of(&arguments[0]), Type::Bool),
            "sqrt" | "exp" | "log" | "sin" | "cos" | "tan" | "tanh" | "atan2" => self.function(name, arguments, span),
            "uniform" | "randint" | "normal" => self.random(name, arguments, span),
            "range" => self.problem(span, "`range` is possible in `for` only; write `[i for i in range(3)]` for a list"),
            "enumerate" => self.problem(span, "`enumerate` is possible in `for` only; write `for i, value in enumerate(a):`"),
            "Box" => self.problem(span, "`Box` is possible for `actions` only; write `actions = Box(2, -1.0, 1.0)` in the class"),
            _ => self.shape(name, arguments, span),
        }
    }

    fn extreme(&mut self, is_max: bool, arguments: &'a [Expr], span: Span) -> Value {
        let mut numbers = Vec::new();
        if let [of] = arguments {
            match self.expr(of) {
                Value::List(list) if list.columns.is_none() => numbers = self.numbers(&list),
                Value::Bad => return Value::Bad,
                _ => {
                    let name = if is_max { "max" } else { "min" };
                    return self.problem(span, format!("`{name}` needs two or more numbers, or a list; write `{name}(a, b)`"));
                }
            }
        } else {
            let values: Vec<Value> = arguments.iter().map(|argument| self.expr(argument)).collect();
            for (argument, value) in arguments.iter().zip(values) {
                let Some(number) = self.number_in(value, argument.span) else { return Value::Bad };
                numbers.push(number);
            }
        }
        self.line = span.line;
        let ty = numbers.iter().map(|(_, ty)| *ty).max().unwrap_or(Type::Int);
        let op = match (is_max, ty) {
            (false, Type::Float) => Op::MinF,
            (true, Type::Float) => Op::MaxF,
            (false, Type::Bool) => Op::And,
            (true, Type::Bool) => Op::Or,
            (false, _) => Op::MinI,
            (true, _) => Op::MaxI,
        };
        let mut result = None;
        for (slot, of) in numbers {
            let slot = self.widen(slot, of, ty);
            result = Some(result.map_or(slot, |before| self.op(op, &[before, slot])));
        }
        result.map_or(Value::Bad, |slot| Value::Number(slot, ty))
    }

    fn total(&mut self, name: &str, of: &'a Expr, span: Span) -> Value {
        let list = match self.expr(of) {
            Value::List(list) if list.columns.is_none() => list,
            Value::Bad => return Value::Bad,
            _ => return self.problem(of.span, format!("`{name}` needs a list of one dimension; write `{name}([a, b])`")),
        };
        self.line = span.line;
        let numbers = self.numbers(&list);
        let ty = if name == "sum" { list.ty.max(Type::Int) } else { Type::Bool };
        let op = match (name, ty) {
            ("sum", Type::Float) => Op::AddF,
            ("sum", _) => Op::AddI,
            ("any", _) => Op::Or,
            _ => Op::And,
        };
        // Python's sum begins with 0, so the sum of negative zeros is a positive zero.
        let mut result = (op == Op::AddF).then(|| self.constant(0f32.to_bits()));
        for (slot, of) in numbers {
            let slot = if name == "sum" { self.widen(slot, of, ty) } else { self.truth(slot, of) };
            result = Some(result.map_or(slot, |before| self.op(op, &[before, slot])));
        }
        result.map_or(Value::Bad, |slot| Value::Number(slot, ty))
    }

    fn absolute(&mut self, of: &'a Expr, span: Span) -> Value {
        let Some((slot, ty)) = self.number(of) else { return Value::Bad };
        self.line = span.line;
        if ty == Type::Float {
            return Value::Number(self.op(Op::AbsF, &[slot]), ty);
        }
        let slot = self.widen(slot, ty, Type::Int);
        Value::Number(self.op(Op::AbsI, &[slot]), Type::Int)
    }

    fn clip(&mut self, arguments: &'a [Expr], span: Span) -> Value {
        let [x, low, high] = [0, 1, 2].map(|k| self.number(&arguments[k]));
        let (Some((x, a)), Some((low, b)), Some((high, c))) = (x, low, high) else { return Value::Bad };
        self.line = span.line;
        let ty = a.max(b).max(c).max(Type::Int);
        let [x, low, high] = [(x, a), (low, b), (high, c)].map(|(slot, of)| self.widen(slot, of, ty));
        let [max, min] = if ty == Type::Float { [Op::MaxF, Op::MinF] } else { [Op::MaxI, Op::MinI] };
        let raised = self.op(max, &[x, low]);
        Value::Number(self.op(min, &[raised, high]), ty)
    }

    fn rounded(&mut self, name: &str, of: &'a Expr, span: Span) -> Value {
        let Some((slot, ty)) = self.number(of) else { return Value::Bad };
        self.line = span.line;
        let slot = match (ty, name) {
            (Type::Float, "floor") => self.op(Op::Floor, &[slot]),
            (Type::Float, "ceil") => self.op(Op::Ceil, &[slot]),
            (Type::Float, "round") => self.op(Op::Round, &[slot]),
            (Type::Float, _) => self.op(Op::Truncate, &[slot]),
            _ => self.widen(slot, ty, Type::Int),
        };
        Value::Number(slot, Type::Int)
    }

    fn function(&mut self, name: &str, arguments: &'a [Expr], span: Span) -> Value {
        let mut operands = Vec::new();
        for argument in arguments {
            let Some(slot) = self.float(argument) else { return Value::Bad };
            operands.push(slot);
        }
        self.line = span.line;
        let op = match name {
            "sqrt" => Op::Sqrt,
            "exp" => Op::Exp,
            "log" => Op::Log,
            "sin" => Op::Sin,
            "cos" => Op::Cos,
            "tan" => Op::Tan,
            "tanh" => Op::Tanh,
            _ => Op::Atan2,
        };
        Value::Number(self.op(op, &operands), Type::Float)
    }

    /// Returns the slot of the next random word (32 random bits) in the current call of the program.
    fn word(&mut self) -> Slot {
        let drawn: Variable = (0, DRAWN.into());
        let number = self.slot_of(&drawn).unwrap_or_else(|| self.int(0));
        let word = self.shared(Instruction { op: Op::Word, a: number.0, ..Instruction::NOTHING });
        let one = self.int(1);
        let next = self.op(Op::AddU, &[number, one]);
        self.bind(drawn, Value::Number(next, Type::Int));
        word
    }

    fn unit(&mut self) -> Slot {
        let word = self.word();
        self.op(Op::Unit, &[word])
    }

    fn random(&mut self, name: &str, arguments: &'a [Expr], span: Span) -> Value {
        if self.frames.is_empty() {
            return self.problem(span, "random numbers cannot be drawn outside of methods; draw them in `reset`");
        }
        if let Some(method) = self.pure {
            let message = format!("`{method}` draws no random numbers; draw them in `step` or `reset`, and keep them as attributes");
            return self.problem(span, message);
        }
        let [first, second] = arguments else { return Value::Bad };
        if name == "randint" {
            let (Some(low), Some(high)) = (self.integer(first), self.integer(second)) else { return Value::Bad };
            self.line = span.line;
            let word = self.word();
            return Value::Number(self.op(Op::Below, &[word, low, high]), Type::Int);
        }
        let (Some(a), Some(b)) = (self.float(first), self.float(second)) else { return Value::Bad };
        self.line = span.line;
        if name == "uniform" {
            let unit = self.unit();
            let width = self.op(Op::SubF, &[b, a]);
            let part = self.op(Op::MulF, &[width, unit]);
            return Value::Number(self.op(Op::AddF, &[a, part]), Type::Float);
        }
        let (unit, turn) = (self.unit(), self.unit());
        let [one, two, tau] = [1.0, -2.0, std::f32::consts::TAU].map(|x: f32| self.constant(x.to_bits()));
        let rest = self.op(Op::SubF, &[one, unit]);
        let log = self.op(Op::Log, &[rest]);
        let square = self.op(Op::MulF, &[two, log]);
        let radius = self.op(Op::Sqrt, &[square]);
        let angle = self.op(Op::MulF, &[tau, turn]);
        let cosine = self.op(Op::Cos, &[angle]);
        let unit = self.op(Op::MulF, &[radius, cosine]);
        let scaled = self.op(Op::MulF, &[unit, b]);
        Value::Number(self.op(Op::AddF, &[scaled, a]), Type::Float)
    }

    fn shape(&mut self, name: &'a str, arguments: &'a [Expr], span: Span) -> Value {
        if !self.drawing {
            return self.problem(span, format!("`{name}` draws a shape, which is possible in `draw` only; move the line there"));
        }
        let Some((colour, given)) = arguments.split_last() else { return Value::Bad };
        let mut numbers = Vec::new();
        let mut what = None;
        if name == "polygon" {
            match self.expr(&given[0]) {
                Value::List(list) if list.columns.is_none() && list.len() >= 6 && list.len() % 2 == 0 => {
                    for (slot, ty) in self.numbers(&list) {
                        numbers.push(self.widen(slot, ty, Type::Float));
                    }
                }
                Value::Bad => {}
                _ => {
                    let message = "a polygon needs a list of x and y of at least three corners; write `[x1, y1, x2, y2, x3, y3]`";
                    self.problem(given[0].span, message);
                }
            }
        } else {
            for (k, argument) in given.iter().enumerate() {
                if name == "text" && k == 2 {
                    match self.expr(argument) {
                        Value::Number(slot, Type::Text) => what = Some((slot, false)),
                        value => {
                            what = self.number_in(value, argument.span).map(|(slot, ty)| (self.widen(slot, ty, Type::Float), true));
                        }
                    }
                } else if let Some(slot) = self.float(argument) {
                    numbers.push(slot);
                }
            }
        }
        for slot in numbers.iter().copied().chain(what.filter(|what| what.1).map(|what| what.0)) {
            self.check_finite(slot);
        }
        let colour = self.colour(colour);
        self.line = span.line;
        let mask = self.mask();
        let n = self.pool.shapes.len() as u32;
        let kind = ["rect", "circle", "line", "polygon", "text"].into_iter().find(|kind| *kind == name).unwrap_or("rect");
        self.pool.shapes.push(ShapeRows { kind, numbers: numbers.len(), what: what.map(|what| what.1) });
        let rows: Vec<Slot> = numbers.into_iter().chain(what.map(|what| what.0)).chain([colour]).collect();
        let base = self.reserve(rows.len());
        for (k, slot) in rows.into_iter().enumerate() {
            self.emit(Instruction { op: Op::Store, d: base.plus(k).0, a: slot.0, ..Instruction::NOTHING });
        }
        self.emit(Instruction { op: Op::Shape, b: base.0, mask, n, ..Instruction::NOTHING });
        Value::Nothing
    }

    fn colour(&mut self, expr: &'a Expr) -> Slot {
        let unknown = self.colour_names(expr).into_iter().find(|name| COLOURS.iter().all(|(known, _)| known != name));
        if let Some(name) = unknown {
            let all: Vec<_> = COLOURS.iter().map(|(known, _)| *known).collect();
            let advice = super::similar::similar(&name, all.iter().copied()).unwrap_or("red");
            let message =
                format!("`{name}` is not a colour; write another, for example `\"{advice}\"`. The colours are {}", all.join(", "));
            self.problem(expr.span, message);
            return self.int(0);
        }
        match self.expr(expr) {
            Value::Number(slot, Type::Text) => slot,
            Value::Bad => self.int(0),
            value => {
                let found = value.shape().map(|shape: Shape| shape.to_string()).unwrap_or_default();
                self.problem(expr.span, format!("a colour is a text, and this is {found}; write a name such as `\"red\"`"));
                self.int(0)
            }
        }
    }

    /// Returns all texts that can be the value of an expression: a text, the texts of both branches of a conditional expression, or all
    /// texts of a constant. Returns no texts for other expressions.
    fn colour_names(&self, expr: &Expr) -> Vec<String> {
        let constant = match &survey::base(expr).kind {
            ExprKind::Text(name) => return vec![name.clone()],
            ExprKind::Choose { then, other, .. } => return [then, other].iter().flat_map(|part| self.colour_names(part)).collect(),
            ExprKind::Name(name) => self.globals.get(name),
            ExprKind::Attribute { name, .. } => self.class_constants.get(&name.text),
            _ => None,
        };
        constant.and_then(|value| self.as_text(value).map(|text| vec![text]).or_else(|| self.texts(value))).unwrap_or_default()
    }
}

/// Returns an example of a call of a function, or a description of its argument, for a message.
fn example(name: &str) -> &'static str {
    match name {
        "min" => "`min(a, b)`",
        "max" => "`max(a, b)`",
        "clip" => "`clip(x, low, high)`",
        "atan2" => "`atan2(y, x)`",
        "uniform" => "`uniform(low, high)`",
        "randint" => "`randint(low, high)`",
        "normal" => "`normal(mean, deviation)`",
        "rect" => "`rect(x, y, w, h, \"red\")`",
        "line" => "`line(x1, y1, x2, y2, \"red\")`",
        "circle" => "`circle(x, y, r, \"red\")`",
        "polygon" => "`polygon([x1, y1, x2, y2, x3, y3], \"red\")`",
        "text" => "`text(x, y, what, \"red\")`",
        "sum" | "any" | "all" | "len" => "one list",
        _ => "one number",
    }
}
