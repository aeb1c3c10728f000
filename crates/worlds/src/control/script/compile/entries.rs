//! Translation of the methods `reset`, `step`, `observe`, `mask` and `draw` to the programs of a file.

use super::super::error::Span;
use super::super::meta::{Choice, Meta};
use super::super::program::{ACTION, Instruction, Op, Type};
use super::draft::Draft;
use super::frames::Frame;
use super::lower::Lower;
use super::outline::Definition;
use super::similar::similar;
use super::values::{List, Slot, SlotKind, Value};

/// Maximum number of values in an observation.
const LONGEST_OBSERVATION: usize = 1024;

impl<'a> Lower<'a> {
    /// Translates the programs `begin`, `step`, `show` and `draw`. Returns no programs if a type has changed, because the file must then be
    /// translated again.
    pub fn programs(&mut self, meta: &Meta) -> Vec<Draft> {
        let begin = self.begin();
        let mut begin = self.observed(begin, meta);
        begin.state = self.changed_attributes();
        self.begin_program();
        self.load_attributes();
        let outcome = self.step(meta);
        let mut step = self.observed(outcome, meta);
        step.state = self.changed_attributes();
        let lengths = [begin.observation.len(), step.observation.len()];
        if lengths[0] != lengths[1] && self.problems.is_empty() && !self.changed {
            let span = self.place("observe");
            let message = format!("`observe` returns {} numbers, and {} elsewhere; return a list of one length", lengths[0], lengths[1]);
            self.problem(span, message);
        }
        if self.changed {
            return Vec::new();
        }
        self.begin_program();
        self.load_attributes();
        let nothing = self.nothing();
        let show = self.observed(nothing, meta);
        self.begin_program();
        self.load_attributes();
        (self.pure, self.drawing) = (Some("draw"), true);
        self.method("draw", Vec::new());
        let nothing = self.nothing();
        let draw = self.draft(nothing);
        vec![begin, step, show, draw]
    }

    fn nothing(&mut self) -> [Slot; 2] {
        let zero = self.int(0);
        [zero, zero]
    }

    fn draft(&mut self, [reward, over]: [Slot; 2]) -> Draft {
        let body = std::mem::take(&mut self.body);
        Draft { body, observe: 0..0, state: Vec::new(), observation: Vec::new(), permitted: Vec::new(), reward, over }
    }

    /// Returns the span of a method's name, or of the class's name if there is no such method.
    fn place(&self, method: &str) -> Span {
        self.outline.methods.get(method).map_or(self.outline.class, |of| of.function.name.span)
    }

    /// Translates a call of a method. Returns `None` if the class does not have the method.
    fn method(&mut self, name: &'static str, arguments: Vec<Value>) -> Option<Value> {
        let definition = self.outline.methods.get(name)?;
        let span = definition.function.name.span;
        Some(self.inlined(name, definition, arguments, span))
    }

    fn begin(&mut self) -> [Slot; 2] {
        self.begin_program();
        self.method("reset", Vec::new());
        let names: Vec<_> = self.outline.attributes.iter().map(|(name, span)| (*name, *span)).collect();
        for (name, span) in names {
            match self.env.get(&(0, name.into())) {
                Some(bound) if bound.definite || bound.value.is_bad() => {}
                Some(_) => {
                    let message = format!("some paths through `reset` do not assign `self.{name}`; assign it on all of them");
                    let bad = self.problem(span, message);
                    self.bind((0, name.into()), bad);
                }
                None if self.class_constants.contains_key(name) || self.full => {}
                None => {
                    let assigned = self.env.keys().filter(|(frame, of)| *frame == 0 && self.outline.attributes.contains_key(&**of));
                    let advice = match similar(name, assigned.map(|(_, name)| &**name)) {
                        Some(other) => format!("did you mean `self.{other}`? If not, write"),
                        None => "write".into(),
                    };
                    self.problem(span, format!("`reset` does not assign `self.{name}`; {advice} `self.{name} = 0` in `reset`"));
                }
            }
        }
        self.nothing()
    }

    /// Translates `step`. Returns two slots (rows of the program): one for the reward, and one for the bool that is true if the episode is
    /// over.
    fn step(&mut self, meta: &Meta) -> [Slot; 2] {
        let action = match meta.actions {
            Choice::Choices(_) => Value::Number(Slot::input(ACTION), Type::Int),
            Choice::Box { count: 1, .. } => Value::Number(Slot::input(ACTION), Type::Float),
            Choice::Box { count, .. } => {
                let items = (0..count as u32).map(|k| Slot::input(ACTION + k)).collect();
                Value::List(List::of_items(Type::Float, items))
            }
        };
        let given = self.method("step", vec![action]);
        let span = self.place("step");
        match given {
            Some(Value::Tuple(pair)) if pair.len() == 2 => {
                let (reward, over) = (self.number_in(pair[0].clone(), span), self.number_in(pair[1].clone(), span));
                let (Some((reward, ty)), Some((over, of))) = (reward, over) else { return self.nothing() };
                let reward = self.widen(reward, ty, Type::Float);
                [reward, self.truth(over, of)]
            }
            Some(value) if !value.is_bad() => {
                let found = value.shape().map(|shape| shape.to_string()).unwrap_or_default();
                self.problem(
                    span,
                    format!("`step` returns {found}; write `return reward, over` on every path, such as `return 0.0, False`"),
                );
                self.nothing()
            }
            _ => self.nothing(),
        }
    }

    /// Adds `observe` and `mask` to the current program and returns the program. `outcome` contains the slot of the reward, and the slot of
    /// the bool that is true if the episode is over.
    fn observed(&mut self, outcome: [Slot; 2], meta: &Meta) -> Draft {
        self.pure = Some("observe");
        let mut observation = Vec::new();
        let from = self.body.code.len();
        let span = self.place("observe");
        match self.method("observe", Vec::new()) {
            Some(Value::List(list)) if list.columns.is_none() && list.len() <= LONGEST_OBSERVATION && list.ty != Type::Text => {
                for (slot, ty) in self.numbers(&list) {
                    observation.push(self.widen(slot, ty, Type::Float));
                }
            }
            Some(value) if !value.is_bad() => {
                let found = value.shape().map(|shape| shape.to_string()).unwrap_or_default();
                self.problem(span, format!("`observe` returns {found}; return a list of 1 to {LONGEST_OBSERVATION} numbers"));
            }
            _ => {}
        }
        let permitted = self.permitted(outcome[1], meta);
        self.pure = None;
        let observe = from..self.body.code.len();
        Draft { observe, observation, permitted, ..self.draft(outcome) }
    }

    /// Adds the method `mask`, and a check that reports an error if the episode is not over and the mask permits no choice. Returns one
    /// slot for each choice. The slot contains a bool that is true if the choice is permitted. Without the method `mask`, the list is
    /// empty.
    fn permitted(&mut self, over: Slot, meta: &Meta) -> Vec<Slot> {
        self.pure = Some("mask");
        let span = self.place("mask");
        let (Some(value), Choice::Choices(count)) = (self.method("mask", Vec::new()), &meta.actions) else {
            if self.outline.methods.contains_key("mask") && !matches!(meta.actions, Choice::Choices(_)) {
                self.problem(span, "a mask permits choices, and the actions are numbers; delete the method, or write `actions = 3`");
            }
            return Vec::new();
        };
        match value {
            Value::List(list) if list.columns.is_none() && list.len() == *count as usize => {
                let permitted: Vec<Slot> = self.numbers(&list).into_iter().map(|(slot, ty)| self.truth(slot, ty)).collect();
                let any = permitted.iter().fold(over, |any, slot| self.op(Op::Or, &[any, *slot]));
                if !self.is_true(any) {
                    self.line = span.line;
                    self.emit(Instruction { op: Op::Permits, a: any.0, ..Instruction::NOTHING });
                }
                permitted
            }
            Value::Bad => Vec::new(),
            value => {
                let found = value.shape().map(|shape| shape.to_string()).unwrap_or_default();
                self.problem(span, format!("`mask` returns {found}; return a list of {count} bools, one for each action"));
                Vec::new()
            }
        }
    }

    /// Returns the changed numbers of the state in the form of [`Draft::state`].
    fn changed_attributes(&mut self) -> Vec<(Slot, Slot)> {
        let mut changed = Vec::new();
        for attribute in self.attributes.values() {
            let bound = self.env.get(&(0, attribute.name.as_str().into()));
            if let Some(Value::Number(slot, _)) = bound.map(|bound| &bound.value)
                && !matches!(slot.kind(), SlotKind::State(row) if row == attribute.start)
            {
                changed.push((Slot::state(attribute.start), *slot));
            }
        }
        changed
    }

    /// Translates the functions that no program calls, to find their errors. The types of their parameters are unknown.
    pub fn check_uncalled(&mut self) {
        let all: Vec<(&'a str, &'a Definition<'a>)> =
            self.outline.functions.iter().chain(&self.outline.methods).map(|(name, of)| (*name, of)).collect();
        self.begin_program();
        self.load_attributes();
        let attributes = self.env.clone();
        for (name, definition) in all {
            if self.called.contains(&(definition.is_method, name.into())) || self.full {
                continue;
            }
            self.begin_program();
            self.spend(attributes.len());
            self.env = attributes.clone();
            let id = self.next_frame;
            self.next_frame += 1;
            let instance = format!("uncalled {name}").into();
            self.frames.push(Frame { id, definition: Some(definition), instance, loops: Vec::new() });
            for parameter in definition.parameters() {
                let variable = self.local(&parameter.text);
                self.bind(variable, Value::Bad);
            }
            self.block(&definition.function.body);
        }
    }
}
