//! Variables and their values along the paths of a program.

use super::super::error::Span;
use super::super::program::{Attribute, Instruction, Op, Type};
use super::facts::Change;
use super::frames::{Bound, Env, Variable};
use super::lower::{Level, Lower};
use super::values::{List, Place, Root, Shape, Slot, Value, is_constant};
use std::collections::BTreeSet;

/// Maximum number of instructions of a short region (code that runs in some lanes only). A jump over a short region costs more than it
/// saves.
const SHORT: usize = 6;

impl<'a> Lower<'a> {
    pub fn frame(&self) -> u32 {
        self.frames.last().map_or(u32::MAX, |frame| frame.id)
    }

    pub fn local(&self, name: &str) -> Variable {
        (self.frame(), name.into())
    }

    /// Returns the key of a local variable in the map `types`.
    pub fn local_root(&self, name: &str) -> Root {
        (self.frames.last().map_or("".into(), |frame| frame.instance.clone()), name.into())
    }

    pub fn bind(&mut self, variable: Variable, value: Value) {
        self.note_view(&value);
        self.env.insert(variable, Bound { value, definite: true });
    }

    /// Returns the row of a variable that is one number, such as a variable of a [`Loop`](super::frames::Loop).
    pub fn slot_of(&self, variable: &Variable) -> Option<Slot> {
        match self.env.get(variable) {
            Some(Bound { value: Value::Number(slot, _), .. }) => Some(*slot),
            _ => None,
        }
    }

    /// Returns the variables that have a value on every path.
    pub fn definite(&mut self) -> BTreeSet<Variable> {
        self.spend(self.env.len());
        self.env.iter().filter(|(_, bound)| bound.definite).map(|(variable, _)| variable.clone()).collect()
    }

    /// Runs `f`, which appends the code of a region. Returns the result of `f` and the variables after the region. Restores the variables
    /// from before the region.
    pub fn region<R>(&mut self, level: Level, f: impl FnOnce(&mut Self) -> R) -> (R, Env) {
        self.spend(2 * self.env.len());
        let before = self.env.clone();
        let result = self.scoped(Some(level), |lower| {
            let mask = lower.mask_slot();
            let jump = lower.emit(Instruction { op: Op::JumpNone, a: mask.0, ..Instruction::NOTHING });
            let result = f(lower);
            lower.land(jump);
            result
        });
        (result, std::mem::replace(&mut self.env, before))
    }

    /// Ends a region. The jump over the region continues at the end of the code so far. A jump over few instructions is removed.
    fn land(&mut self, jump: usize) {
        let end = self.body.code.len();
        let Some(skipped) = self.body.code.get(jump + 1..) else { return };
        let long = skipped.iter().filter(|i| i.op != Op::Nothing).count() > SHORT
            || skipped.iter().any(|i| matches!(i.op, Op::Fill | Op::Rows | Op::Jump));
        let instruction = &mut self.body.code[jump];
        if long {
            instruction.n = end as u32;
        } else {
            *instruction = Instruction::NOTHING;
        }
    }

    /// Joins the variables of two paths. `then` contains the variables of the lanes in which the condition is true; the current variables
    /// belong to the other lanes. A path is alive if lanes continue after the path. Lanes of a path that is not alive also receive the
    /// values of that path, because a value can be an attribute or a result.
    pub fn merge(&mut self, condition: Slot, then: Env, then_alive: bool, other_alive: bool) {
        let mut env = std::mem::take(&mut self.env);
        for (variable, bound) in &mut env {
            if !then.contains_key(variable) {
                bound.definite = !then_alive && (!other_alive || bound.definite);
            }
        }
        for (variable, mut a) in then {
            a.definite |= !then_alive;
            match env.get_mut(&variable) {
                None => {
                    a.definite &= !other_alive;
                    env.insert(variable, a);
                }
                Some(b) => {
                    b.definite = a.definite && (!other_alive || b.definite);
                    if a.value != b.value {
                        b.value = self.choose(condition, &a.value, &b.value);
                    }
                }
            }
        }
        self.env = env;
    }

    /// Returns `a` in lanes in which the condition is true, and `b` in other lanes. Both values are first converted to their common type.
    /// If there is no common type, because an error was reported or a type is not settled yet, the result is [`Value::Bad`].
    pub fn choose(&mut self, condition: Slot, a: &Value, b: &Value) -> Value {
        if a == b {
            return a.clone();
        }
        let (Some(from), Some(to)) = (a.shape(), b.shape()) else { return Value::Bad };
        let Some(shape) = from.join(&to) else { return Value::Bad };
        let (a, b) = (self.convert(a, &shape), self.convert(b, &shape));
        match (&a, &b) {
            (Value::Number(x, ty), Value::Number(y, _)) => Value::Number(self.op(Op::Select, &[condition, *x, *y]), *ty),
            (Value::List(x), Value::List(y)) => {
                let list = x.clone().or_parts_of(y);
                if x.place == y.place {
                    return Value::List(list);
                }
                let (xs, ys) = (self.items(x), self.items(y));
                let items = xs.iter().zip(ys.iter()).map(|(x, y)| self.op(Op::Select, &[condition, *x, *y])).collect();
                Value::List(List { place: Place::Items(items), ..list })
            }
            (Value::Tuple(xs), Value::Tuple(ys)) => {
                Value::Tuple(xs.iter().zip(ys.iter()).map(|(x, y)| self.choose(condition, x, y)).collect())
            }
            _ => a,
        }
    }

    /// Assigns a local variable.
    pub fn assign_local(&mut self, name: &str, value: Value, span: Span) {
        let variable = self.local(name);
        let root = self.local_root(name);
        let Some(shape) = value.shape() else {
            self.bind(variable, Value::Bad);
            return;
        };
        if shape == Shape::Nothing {
            self.problem(span, format!("this function returns no value; write `return` with a value in it, or delete `{name} =`"));
            self.bind(variable, Value::Bad);
            return;
        }
        let Some(shape) = self.join(&root, &shape, span) else {
            self.bind(variable, Value::Bad);
            return;
        };
        let value = match self.convert(&value, &shape) {
            Value::List(list) => Value::List(self.placed(list, name)),
            value => self.kept(value, &root),
        };
        self.bind(variable, value);
    }

    /// Gives a list to a local variable. A list that the function changes, or reads at computed indices, is in consecutive rows.
    fn placed(&mut self, list: List, name: &str) -> List {
        let root = self.local_root(name);
        let is_view = list.view.is_some() && !list.root.as_ref().is_some_and(is_constant);
        let mut list = if is_view { list } else { self.owned(list, root.clone()) };
        if self.needs_rows(&list, name) {
            let base = self.home(self.local(name), list.len());
            self.write_rows(base, &list);
            list.place = Place::Memory(base);
            self.note(&root, Change::List);
        } else if let Place::Memory(_) = list.place {
            list.place = Place::Items(self.items(&list));
        }
        list
    }

    /// Returns true if the list of a local variable is in consecutive rows: the function changes the list, or reads it at computed indices
    /// and some elements are not constant.
    pub fn needs_rows(&self, list: &List, name: &str) -> bool {
        let Some(definition) = self.frames.last().and_then(|frame| frame.definition) else { return false };
        let constant = matches!(&list.place, Place::Items(items) if items.iter().all(|item| self.bits(*item).is_some()));
        definition.changed.contains(name) || (definition.in_memory.contains(name) && !constant)
    }

    /// Makes a variable that is a tuple the owner of the lists in the tuple.
    fn kept(&mut self, value: Value, root: &Root) -> Value {
        match value {
            Value::Tuple(all) => Value::Tuple(all.iter().map(|value| self.kept(value.clone(), root)).collect()),
            Value::List(list) => {
                let place = Place::Items(self.items(&list));
                Value::List(List { place, root: Some(root.clone()), ..list })
            }
            value => value,
        }
    }

    /// Assigns an attribute of `self`.
    pub fn assign_attribute(&mut self, name: &str, value: Value, span: Span) {
        if let Some(method) = self.pure {
            self.problem(span, format!("`{method}` changes no attribute; assign `self.{name}` in `step` or `reset`"));
            return;
        }
        if self.class_constants.contains_key(name) {
            self.problem(span, format!("`{name}` is a constant of the class, which does not change; write another name for the attribute"));
            return;
        }
        let Some(shape) = value.shape() else { return self.bind((0, name.into()), Value::Bad) };
        let fault = match &shape {
            Shape::Nothing => Some("this function returns no value; write `return` with a value in it".to_owned()),
            Shape::Tuple(_) => Some(format!("`self.{name}` cannot be a tuple; write a list in square brackets")),
            Shape::Number(ty) | Shape::List(ty, ..) if *ty == Type::Text => {
                Some(format!("`self.{name}` cannot be a text; assign a number, and write the text in `draw`"))
            }
            _ => None,
        };
        if let Some(message) = fault {
            self.problem(span, message);
            return self.bind((0, name.into()), Value::Bad);
        }
        let Some(shape) = self.join(&("self".into(), name.into()), &shape, span) else { return };
        let value = self.convert(&value, &shape);
        let row = self.attribute_row(name, &shape);
        let value = match value {
            Value::Number(slot, ty) => {
                if ty == Type::Float {
                    self.check_finite(slot);
                }
                Value::Number(slot, ty)
            }
            Value::List(list) => {
                if let (Type::Float, Place::Items(items)) = (list.ty, &list.place) {
                    items.iter().for_each(|item| self.check_finite(*item));
                }
                self.write_rows(row, &list);
                let root: Root = ("self".into(), name.into());
                self.note(&root, Change::List);
                Value::List(List { place: Place::Memory(row), ..self.owned(list, root) })
            }
            value => value,
        };
        self.bind((0, name.into()), value);
    }

    /// Returns the first row of an attribute in the state. Reserves rows for a new attribute.
    pub fn attribute_row(&mut self, name: &str, shape: &Shape) -> Slot {
        let (ty, len, columns, is_list) = match shape {
            Shape::Number(ty) => (*ty, 1, None, false),
            Shape::List(ty, rows, columns) => (*ty, rows * columns.unwrap_or(1), *columns, true),
            _ => (Type::Bool, 1, None, false),
        };
        if let Some(known) = self.attributes.get_mut(name) {
            known.ty = ty;
            return Slot::state(known.start);
        }
        let start = self.state;
        self.state += len;
        self.attributes.insert(name.into(), Attribute { name: name.into(), ty, start, len, columns, is_list });
        Slot::state(start)
    }

    /// Binds all attributes to their values in the state, at the start of a program that continues an episode.
    pub fn load_attributes(&mut self) {
        self.spend(25 * self.attributes.len());
        // `reset` may fail to assign an attribute. The error has then been reported, and the attribute remains [`Value::Bad`].
        for name in self.outline.attributes.keys() {
            self.bind((0, (*name).into()), Value::Bad);
        }
        for attribute in self.attributes.values().cloned().collect::<Vec<_>>() {
            let (start, ty) = (Slot::state(attribute.start), attribute.ty);
            let value = if attribute.is_list {
                let rows = attribute.len / attribute.columns.unwrap_or(1);
                let root = Some(("self".into(), attribute.name.as_str().into()));
                Value::List(List { ty, rows, columns: attribute.columns, place: Place::Memory(start), root, view: None, stale: false })
            } else {
                Value::Number(start, ty)
            };
            self.bind((0, attribute.name.into()), value);
        }
    }
}
