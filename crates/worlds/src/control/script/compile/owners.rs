//! Owners of lists. A list has one name, so that an assignment to an element changes one list only. A constant may get more names, because
//! its elements cannot be assigned, by any of these names.

use super::super::ast::{Expr, ExprKind};
use super::super::error::Span;
use super::lower::Lower;
use super::survey;
use super::values::{List, Place, Root, Value, View, code_of, constant_root, copy_of, is_constant};
use std::rc::Rc;

/// Returns the owner of two lists that are parts of one view. A constant counts only if there is no other owner.
pub fn first_owner(a: Option<Root>, b: Option<Root>) -> Option<Root> {
    match (a, b) {
        (Some(a), Some(b)) if is_constant(&a) => Some(b),
        (a, b) => a.or(b),
    }
}

impl List {
    /// Returns this list as the choice between this list and `other`.
    pub fn or_parts_of(self, other: &List) -> List {
        let view = if self.root == other.root { self.view.max(other.view) } else { Some(View::Parts) };
        List { root: first_owner(self.root, other.root.clone()), view, stale: self.stale || other.stale, ..self }
    }
}

impl<'a> Lower<'a> {
    /// Returns the name of the constant that the list of a variable can be; `None` if the variable has a list of its own.
    pub fn constant_of(&self, root: &Root) -> Option<Rc<str>> {
        if is_constant(root) { Some(root.1.clone()) } else { self.facts.constants.get(root).cloned() }
    }

    /// Makes a variable the owner of a list.
    pub fn owned(&mut self, list: List, root: Root) -> List {
        if let Some(constant) = list.root.as_ref().and_then(|of| self.constant_of(of))
            && self.facts.constants.insert(root.clone(), constant).is_none()
        {
            // An assignment to an element may have been translated before.
            self.changed = true;
        }
        List { root: Some(root), view: None, stale: false, ..list }
    }

    /// Returns the part of an assigned value that is an existing list, and the message about it. In Python, the assignment would give this
    /// list a second name. A row may be assigned to a local variable, because the elements of a row cannot be assigned.
    pub fn named_twice(&self, value: &Value, expr: &'a Expr, to_attribute: bool) -> Option<(Span, String)> {
        match (value, &expr.kind) {
            (Value::List(list), _) => {
                let root = list.root.as_ref().filter(|root| !is_constant(root))?;
                let is_row = list.view == Some(View::Row);
                (!is_row || to_attribute).then(|| self.second_name(list, root, expr))
            }
            (Value::Tuple(values), ExprKind::Tuple(parts)) if values.len() == parts.len() => {
                values.iter().zip(parts).find_map(|(value, part)| self.named_twice(value, part, to_attribute))
            }
            (Value::Tuple(values), _) => values.iter().find_map(|value| self.named_twice(value, expr, to_attribute)),
            _ => None,
        }
    }

    fn second_name(&self, list: &List, root: &Root, expr: &'a Expr) -> (Span, String) {
        let Some(part) = self.named(expr) else {
            let code = code_of(root);
            let message =
                format!("in Python, this list shares its rows with `{code}`; write `{}` for a copy", copy_of(&code, list.columns));
            return (expr.span, message);
        };
        let is_whole = !matches!(expr.kind, ExprKind::List(_) | ExprKind::Comprehension { .. });
        let copy = copy_of(&self.source(part), list.columns.filter(|_| is_whole));
        (part.span, format!("a list has one name; write `{copy}` for a copy"))
    }

    /// Returns the subexpression that is an existing list: a variable, an attribute or a row. Constants do not count.
    fn named(&self, expr: &'a Expr) -> Option<&'a Expr> {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Index { .. } => {
                let is_constant = matches!(&survey::base(expr).kind, ExprKind::Name(name) if self.globals.contains_key(name));
                (!is_constant).then_some(expr)
            }
            ExprKind::Choose { then, other, .. } => self.named(then).or_else(|| self.named(other)),
            ExprKind::List(rows) => rows.iter().find_map(|row| self.named(row)),
            ExprKind::Comprehension { value, .. } => self.named(value),
            _ => None,
        }
    }

    /// Returns a value that a function returns, with its lists as new lists. Reports an error if a list belongs to the caller or to an
    /// attribute: in Python, the result would be a second name of this list.
    pub fn returned(&mut self, value: Value, expr: &'a Expr) -> Value {
        match (value, &expr.kind) {
            (Value::List(list), _) => {
                let is_own = |root: &Root| self.frames.last().is_some_and(|frame| frame.instance == root.0);
                let root = match list.root.clone() {
                    Some(root) if is_own(&root) && list.view != Some(View::Parts) => {
                        self.constant_of(&root).map(|name| constant_root(&name))
                    }
                    Some(root) if !is_constant(&root) => {
                        let code = self.named(expr).map_or_else(|| code_of(&root), |part| self.source(part));
                        let message = format!("a function returns a new list; write `return {}`", copy_of(&code, list.columns));
                        return self.problem(expr.span, message);
                    }
                    constant => constant,
                };
                let view = list.view.filter(|_| root.is_some());
                Value::List(List { place: Place::Items(self.items(&list)), root, view, ..list })
            }
            (Value::Tuple(values), ExprKind::Tuple(parts)) if values.len() == parts.len() => {
                Value::Tuple(values.iter().zip(parts).map(|(value, part)| self.returned(value.clone(), part)).collect())
            }
            (Value::Tuple(values), _) => Value::Tuple(values.iter().map(|value| self.returned(value.clone(), expr)).collect()),
            (value, _) => value,
        }
    }
}
