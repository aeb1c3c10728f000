//! Translation of calls of the functions and methods in a file. Each call translates the body of the function again.

use super::super::ast::{Expr, ExprKind};
use super::super::error::{Span, count};
use super::super::names::{ACTIONS, BUILT_IN, replacement};
use super::facts::Purpose;
use super::frames::Frame;
use super::lower::Lower;
use super::outline::Definition;
use super::values::{Place, Shape, Value, View};

impl<'a> Lower<'a> {
    pub fn call(&mut self, of: &'a Expr, arguments: &'a [Expr], span: Span) -> Value {
        let (name, definition) = match &of.kind {
            ExprKind::Name(name) => match self.outline.functions.get(name.as_str()) {
                Some(definition) => (name.as_str(), definition),
                None if BUILT_IN.contains(&name.as_str()) => return self.built_in(name, arguments, span),
                None => return self.no_function(name, of.span),
            },
            ExprKind::Attribute { of: object, name } if self.is_self(object) => match self.outline.methods.get(name.text.as_str()) {
                Some(definition) => (name.text.as_str(), definition),
                None => {
                    let known = self.outline.methods.keys().copied();
                    let advice = match super::similar::similar(&name.text, known) {
                        Some(other) => format!("write `self.{other}(…)`"),
                        None => format!("write `def {}(self):` in the class", name.text),
                    };
                    return self.problem(name.span, format!("there is no method `{}`; {advice}", name.text));
                }
            },
            ExprKind::Attribute { name, .. } if matches!(name.text.as_str(), "Discrete" | "Box") => {
                return self.problem(span, format!("spaces are not part of the language; write {ACTIONS}, in the class"));
            }
            _ => return self.problem(span, "only functions, and methods of `self`, can be called; write `f(x)` or `self.f(x)`"),
        };
        let parameters = definition.parameters();
        let (mut values, mut uses) = (Vec::new(), Vec::new());
        for (k, argument) in arguments.iter().enumerate() {
            let mut value = self.expr(argument);
            let keeps =
                parameters.get(k).is_some_and(|of| definition.assigned.contains(&*of.text) && !definition.changed.contains(&*of.text));
            let purpose = if keeps { Purpose::Keep } else { Purpose::Read };
            uses.push(self.hold_value(&mut value, argument.span, purpose));
            values.push(value);
        }
        self.line = span.line;
        if values.len() != parameters.len() {
            let (needed, found) = (count(parameters.len(), "argument"), values.len());
            let message = format!("`{name}` needs {needed}, and this call has {found}; write one for each parameter");
            return self.problem(span, message);
        }
        let result = self.inlined(name, definition, values, span);
        uses.into_iter().for_each(|used| self.release(used));
        result
    }

    fn no_function(&mut self, name: &str, span: Span) -> Value {
        if self.outline.methods.contains_key(name) {
            return self.problem(span, format!("`{name}` is a method; write `self.{name}(…)`"));
        }
        let names = self.outline.functions.keys().copied().chain(BUILT_IN);
        let advice = match (replacement(name), super::similar::similar(name, names)) {
            (Some(advice), _) => format!("write {advice}"),
            (None, Some(other)) => format!("write `{other}(…)`"),
            (None, None) => format!("write `def {name}(x):` above the class"),
        };
        self.problem(span, format!("there is no function `{name}`; {advice}"))
    }

    /// Translates the body of a function for the arguments of a call. Returns the result of the call.
    pub fn inlined(&mut self, name: &'a str, definition: &'a Definition<'a>, values: Vec<Value>, span: Span) -> Value {
        let is_same = |frame: &Frame<'_>| frame.definition.is_some_and(|of| std::ptr::eq(of, definition));
        if self.frames.iter().any(is_same) {
            let message =
                format!("`{name}` calls itself, perhaps through other functions, which is not part of the language; write a loop");
            return self.problem(span, message);
        }
        let known = values.iter().all(|value| !value.is_bad() && *value != Value::Nothing);
        if values.contains(&Value::Nothing) {
            return self.problem(span, "an argument is the result of a function without a value; write `return` with a value in it");
        }
        self.called.insert((definition.is_method, name.into()));
        let kind = if definition.is_method { "self." } else { "" };
        let shapes: Vec<_> = values.iter().map(Value::shape).collect();
        let instance = format!("{kind}{name}{}", if known { format!("{shapes:?}") } else { String::new() }).into();
        let id = self.next_frame;
        self.next_frame += 1;
        self.frames.push(Frame { id, definition: Some(definition), instance, loops: Vec::new() });
        for (parameter, value) in definition.parameters().iter().zip(values) {
            self.pass_argument(&parameter.text, value, definition, parameter.span);
        }
        let live = self.block(&definition.function.body);
        let result = self.env.get(&self.local("return")).map(|bound| bound.value.clone());
        let returns_all = self.is_false(live) || self.full;
        // Frames of later calls have larger numbers. Those within this call have ended.
        self.env.split_off(&(id, "".into()));
        self.frames.pop();
        self.line = span.line;
        match result {
            Some(value) if returns_all || !definition.returns_value => value,
            None if !definition.returns_value => Value::Nothing,
            None if self.full => Value::Bad,
            _ => {
                let message = format!("some paths through `{name}` return no value; write `return` with a value at its end");
                self.problem(definition.function.name.span, message)
            }
        }
    }

    /// Binds a parameter to an argument. A list in consecutive rows is shared with the caller. Any other list is copied to consecutive rows
    /// in two cases: the function changes the list, or the function reads the list at computed indices and some elements are not constant.
    fn pass_argument(&mut self, name: &str, value: Value, definition: &Definition<'_>, span: Span) {
        let Value::List(mut list) = value else { return self.assign_local(name, value, span) };
        let (changed, is_new) = (definition.changed.contains(name), list.root.is_none());
        if is_new {
            let root = self.local_root(name);
            if changed {
                let shape = Shape::List(list.ty, list.rows, list.columns);
                let Some(shape) = self.join(&root, &shape, span) else { return self.bind(self.local(name), Value::Bad) };
                if let Value::List(wide) = self.convert(&Value::List(list.clone()), &shape) {
                    list = wide;
                }
            }
            list = self.owned(list, root);
        }
        // A new list that the function replaces has the rows of the parameter's later lists.
        let is_elsewhere = matches!(list.place, Place::Items(_)) || (is_new && definition.assigned.contains(name));
        if is_elsewhere && self.needs_rows(&list, name) {
            let base = self.home(self.local(name), list.len());
            self.write_rows(base, &list);
            list.place = Place::Memory(base);
            if changed && !is_new {
                list.view = list.view.or(Some(View::Parts));
            }
        }
        self.bind(self.local(name), Value::List(list));
    }
}
