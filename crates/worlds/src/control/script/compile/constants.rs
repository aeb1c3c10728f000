//! Evaluation of the constants of a file and of its class.

use super::super::ast::{Expr, ExprKind, Statement, StatementKind};
use super::super::error::{Span, count};
use super::super::meta::{Choice, Meta};
use super::super::names::{ACTIONS, BUILT_IN, unused_attribute};
use super::super::program::Type;
use super::lower::Lower;
use super::survey;
use super::values::{List, Place, Slot, Value, constant_root};
use std::rc::Rc;

/// Maximum value of the class attribute `limit`: the number of steps after which an episode is truncated.
const LARGEST_LIMIT: i32 = 1_000_000;
/// Maximum number of choices, and maximum number of values in an action.
const MOST_CHOICES: i32 = 1024;

impl<'a> Lower<'a> {
    /// Evaluates the constants of the file and of the class. Returns the description of the environment.
    pub fn declare(&mut self, doc: Option<&str>) -> Meta {
        self.begin_program();
        self.globals.clear();
        self.class_constants.clear();
        for statement in self.outline.constants.clone() {
            self.constant_lines(statement, false, &mut Meta::default());
        }
        let mut meta = Meta { doc: doc.unwrap_or_default().into(), ..Meta::default() };
        if let (Some(width), Some(height)) = (self.side("width"), self.side("height")) {
            meta.size = [width, height];
        }
        for statement in self.outline.class_constants.clone() {
            self.constant_lines(statement, true, &mut meta);
        }
        self.check_names(&meta);
        meta
    }

    /// Reports an error if the class has the attribute `names`, but not one name for each choice.
    fn check_names(&mut self, meta: &Meta) {
        let (Choice::Choices(choices), found) = (&meta.actions, meta.names.len()) else { return };
        if !self.problems.is_empty() || found == 0 || found == *choices as usize {
            return;
        }
        let of_names = |statement: &&Statement| match &statement.kind {
            StatementKind::Assign { targets, .. } => matches!(&targets[..], [Expr { kind: ExprKind::Name(name), .. }] if name == "names"),
            _ => false,
        };
        let span = self.outline.class_constants.iter().copied().find(of_names).map_or(self.outline.class, |statement| statement.span);
        self.problem(span, format!("`names` has {}, and there are {choices} choices; write one name for each", count(found, "name")));
    }

    fn side(&self, name: &str) -> Option<f32> {
        self.globals.get(name).and_then(|value| self.as_number(value)).filter(|side| *side > 0.0)
    }

    /// Returns a constant number as a float; a bool counts as 0 or 1. Returns `None` for lists, tuples and values that are not constant.
    fn as_number(&self, value: &Value) -> Option<f32> {
        let Value::Number(slot, ty) = value else { return None };
        let bits = self.bits(*slot)?;
        Some(match ty {
            Type::Float => f32::from_bits(bits),
            Type::Int => bits as i32 as f32,
            _ => (bits & 1) as f32,
        })
    }

    pub fn as_text(&self, value: &Value) -> Option<String> {
        match value {
            Value::Number(slot, Type::Text) => self.bits(*slot).and_then(|at| self.pool.texts.get(at as usize)).cloned(),
            _ => None,
        }
    }

    fn constant_lines(&mut self, statement: &'a Statement, in_class: bool, meta: &mut Meta) {
        let StatementKind::Assign { targets, value } = &statement.kind else { return };
        let name = match targets.as_slice() {
            [Expr { kind: ExprKind::Name(name), .. }] if in_class => name.as_str(),
            _ => "",
        };
        if in_class && self.reports_unused(statement) {
            return targets.iter().for_each(|target| self.name_constant(target, Value::Bad, in_class));
        }
        let given = match name {
            "keys" => return self.keys(value, meta),
            "actions" => self.actions(value, meta),
            _ => self.expr(value),
        };
        let Some(given) = self.settled(given, value.span) else {
            targets.iter().for_each(|target| self.name_constant(target, Value::Bad, in_class));
            return;
        };
        match name {
            "limit" => match self.as_number(&given) {
                Some(limit) if matches!(given, Value::Number(_, Type::Int)) && (1.0..=LARGEST_LIMIT as f32).contains(&limit) => {
                    meta.limit = limit as u32;
                }
                _ => {
                    self.problem(value.span, format!("`limit` is a number of steps from 1 to {LARGEST_LIMIT}; write `limit = 1000`"));
                }
            },
            "solved" => match self.as_number(&given) {
                Some(solved) => meta.solved = Some(solved),
                None => {
                    self.problem(value.span, "`solved` is the mean return at which the environment is solved; write a number");
                }
            },
            "names" => match self.texts(&given) {
                Some(names) => meta.names = names,
                None => {
                    self.problem(value.span, "`names` has the names of the choices; write a list of texts: `[\"left\", \"right\"]`");
                }
            },
            "size" => match &given {
                Value::Tuple(pair) if pair.len() == 2 => {
                    let sides = [&pair[0], &pair[1]].map(|side| self.as_number(side).filter(|side| *side > 0.0));
                    match sides {
                        [Some(width), Some(height)] => meta.size = [width, height],
                        _ => {
                            self.problem(value.span, "`size` has two positive numbers; write `size = (10.0, 10.0)`");
                        }
                    }
                }
                _ => {
                    let message =
                        "`size` is the size of the picture, such as `size = (10.0, 10.0)`; give a constant of your own another name";
                    self.problem(value.span, message);
                }
            },
            _ => {}
        }
        for target in targets {
            self.name_constant(target, given.clone(), in_class);
        }
    }

    /// Reports class attributes that would have no effect: attributes that only Gymnasium reads, and attributes of Hothouse that are
    /// assigned together with other names (`a = b = value` or `a, b = values`). Returns true if the statement assigns such an attribute.
    fn reports_unused(&mut self, statement: &'a Statement) -> bool {
        let StatementKind::Assign { targets, .. } = &statement.kind else { return false };
        let is_alone = matches!(targets[..], [Expr { kind: ExprKind::Name(_), .. }]);
        let mut faults = Vec::new();
        survey::targets(statement, &mut |target| {
            let ExprKind::Name(name) = &target.kind else { return };
            if let Some(advice) = unused_attribute(name) {
                faults.push((target.span, format!("`{name}` has no effect; {advice}")));
            } else if !is_alone && matches!(name.as_str(), "actions" | "limit" | "solved" | "keys" | "names" | "size") {
                faults.push((target.span, format!("`{name}` needs a line of its own; write `{name} = …` there")));
            }
        });
        let found = !faults.is_empty();
        faults.into_iter().for_each(|(span, message)| drop(self.problem(span, message)));
        found
    }

    pub fn texts(&self, value: &Value) -> Option<Vec<String>> {
        match value {
            Value::List(List { ty: Type::Text, place: Place::Items(items), .. }) => {
                items.iter().map(|item| self.as_text(&Value::Number(*item, Type::Text))).collect()
            }
            _ => None,
        }
    }

    /// Returns `value` if all its numbers are constant. Otherwise reports an error and returns `None`.
    fn settled(&mut self, value: Value, span: Span) -> Option<Value> {
        let constant = match &value {
            Value::Bad => return None,
            Value::Nothing => false,
            Value::Number(slot, _) => self.bits(*slot).is_some(),
            Value::List(List { place: Place::Items(items), .. }) => items.iter().all(|item| self.bits(*item).is_some()),
            Value::List(_) => false,
            Value::Tuple(all) => {
                return all.iter().map(|value| self.settled(value.clone(), span)).collect::<Option<Rc<[Value]>>>().map(Value::Tuple);
            }
        };
        if !constant {
            self.problem(span, "this constant cannot be computed; write a number, or an expression of numbers without errors");
            return None;
        }
        Some(value)
    }

    fn name_constant(&mut self, target: &'a Expr, value: Value, in_class: bool) {
        match (&target.kind, value) {
            (ExprKind::Name(name), mut value) => {
                if let Value::List(list) = &mut value {
                    let code = if in_class { format!("self.{name}") } else { name.clone() };
                    *list = List { root: Some(constant_root(&code)), view: None, ..list.clone() };
                }
                if !in_class && BUILT_IN.contains(&name.as_str()) {
                    self.problem(target.span, format!("`{name}` is a function of the language; write another name"));
                }
                let all = if in_class { &mut self.class_constants } else { &mut self.globals };
                all.insert(name.clone(), value);
            }
            (ExprKind::Tuple(targets), Value::Tuple(values)) if targets.len() == values.len() => {
                targets.iter().zip(values.iter()).for_each(|(target, value)| self.name_constant(target, value.clone(), in_class));
            }
            (ExprKind::Tuple(targets), Value::Bad) => {
                targets.iter().for_each(|target| self.name_constant(target, Value::Bad, in_class));
            }
            (ExprKind::Tuple(targets), _) => {
                let count = targets.len();
                self.problem(target.span, format!("{count} names need {count} values; write one value for each name"));
            }
            _ => {
                self.problem(target.span, "a constant has a name; write `x = 3`, and change attributes in methods only");
            }
        }
    }

    fn actions(&mut self, value: &'a Expr, meta: &mut Meta) -> Value {
        let wrong = format!("`actions` is the number of choices, or a box of numbers; write {ACTIONS}");
        if let ExprKind::Call { of, arguments } = &value.kind
            && matches!(&of.kind, ExprKind::Name(name) if name == "Box")
        {
            let values: Vec<Value> = arguments.iter().map(|argument| self.expr(argument)).collect();
            let numbers: Vec<f32> = values.iter().filter_map(|value| self.as_number(value)).collect();
            let count_is_whole = matches!(values.first(), Some(Value::Number(_, Type::Int)));
            return match numbers[..] {
                [count, low, high] if count_is_whole && (1.0..=MOST_CHOICES as f32).contains(&count) && low < high => {
                    meta.actions = Choice::Box { count: count as usize, low, high };
                    Value::Number(self.int(count as usize), Type::Int)
                }
                _ => self.problem(value.span, wrong),
            };
        }
        let given = self.expr(value);
        match (&given, self.as_number(&given)) {
            (Value::Number(_, Type::Int), Some(count)) if (1.0..=MOST_CHOICES as f32).contains(&count) => {
                meta.actions = Choice::Choices(count as u32);
                given
            }
            (Value::Bad, _) => given,
            _ => self.problem(value.span, wrong),
        }
    }

    fn keys(&mut self, value: &'a Expr, meta: &mut Meta) {
        let ExprKind::Dict(pairs) = &value.kind else {
            self.problem(value.span, "`keys` has the action of each key; write `keys = {\"ArrowLeft\": 0, \"ArrowRight\": 1}`");
            return;
        };
        for (key, action) in pairs {
            let key_span = key.span;
            let key = self.expr(key);
            let Some(key) = self.as_text(&key) else {
                self.problem(key_span, "a key is a text; write its name in the browser, such as `\"ArrowLeft\"`");
                continue;
            };
            let given = self.expr(action);
            let numbers: Option<Vec<f32>> = match &given {
                Value::List(List { place: Place::Items(items), ty, .. }) => {
                    let items: Vec<Slot> = items.to_vec();
                    items.iter().map(|item| self.as_number(&Value::Number(*item, *ty))).collect()
                }
                value => self.as_number(value).map(|number| vec![number]),
            };
            let fits = match (&meta.actions, &numbers) {
                (Choice::Choices(count), Some(numbers)) => {
                    matches!(given, Value::Number(_, Type::Int)) && (0.0..*count as f32).contains(&numbers[0])
                }
                (Choice::Box { count, .. }, Some(numbers)) => numbers.len() == *count,
                _ => given.is_bad(),
            };
            if !fits {
                let expected = match &meta.actions {
                    Choice::Choices(count) => format!("an integer from 0 to {}", count - 1),
                    Choice::Box { count: 1, .. } => "a number".into(),
                    Choice::Box { count, .. } => format!("a list of {count} numbers"),
                };
                self.problem(
                    action.span,
                    format!("the action of a key is {expected}; write `actions` before `keys`, and such a value here"),
                );
            }
            meta.keys.push((key, numbers.unwrap_or_default()));
        }
    }
}
