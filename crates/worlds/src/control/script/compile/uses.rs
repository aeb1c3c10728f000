//! Lists in use. An operand, an argument or a loop refers to a list while later code runs. In Python, an assignment gives the name another
//! list, and the operand keeps the old one. Here, an assignment writes the elements to the rows of the old list. The compiler therefore
//! copies a list that gets a new list during its use. It finds this out by the translation, and translates the file again. If no copy is
//! right, because elements of the old list change too, it reports an error.

use super::super::error::Span;
use super::facts::{Change, Changes, Purpose, Use};
use super::frames::Variable;
use super::lower::Lower;
use super::values::{List, Place, Root, Slot, Value, View, code_of, copy_of, is_constant};
use std::collections::HashSet;

impl<'a> Lower<'a> {
    /// Begins the use of a list, which [`Lower::release`] ends. The list becomes a copy if an earlier translation found that a copy is
    /// needed. Returns `None` for a new list, which has no name, and for a constant.
    pub fn hold(&mut self, list: &mut List, span: Span, purpose: Purpose) -> Option<Use> {
        let owner = list.root.clone().filter(|root| !is_constant(root))?;
        let is_needed = purpose == Purpose::Keep || (purpose == Purpose::Read && self.facts.copies.contains(&(span.line, span.column)));
        if let (true, Place::Memory(base)) = (is_needed, &list.place) {
            // The rows of a variable that a loop assigns do not change, so a name that is assigned keeps no rows.
            let base = *base;
            list.place = match purpose {
                Purpose::Keep => Place::Items(self.items(list)),
                _ => Place::Memory(self.duplicate(base, list.len())),
            };
        }
        let is_copy = is_needed || list.view.is_some() || matches!(list.place, Place::Items(_));
        let before = self.changes_of(&owner, list.view);
        Some(Use { owner, span, purpose, view: list.view, columns: list.columns, is_copy, before })
    }

    /// Begins the use of a value that is read later; see [`Lower::hold`].
    pub fn hold_value(&mut self, value: &mut Value, span: Span, purpose: Purpose) -> Option<Use> {
        match value {
            Value::List(list) => self.hold(list, span, purpose),
            _ => None,
        }
    }

    /// Ends the use of a list.
    pub fn release(&mut self, of: Option<Use>) {
        let Some(of) = of else { return };
        let now = self.changes_of(&of.owner, of.view);
        let (is_new, has_changed) = (now.lists != of.before.lists, now.elements != of.before.elements);
        let code = code_of(&of.owner);
        if of.purpose == Purpose::Assign {
            if is_new {
                let message =
                    format!("`{code}` gets a new list before this element is assigned; assign the value or the index to a variable first");
                self.problem(of.span, message);
            }
        } else if has_changed && (is_new || of.is_copy) {
            let (part, copy) = match of.view {
                Some(_) => ("a row of it", copy_of("row", of.columns)),
                None => ("it", copy_of(&code, of.columns)),
            };
            self.problem(of.span, format!("`{code}` changes while {part} is in use here; use a copy: `{copy}`"));
        } else if is_new && !of.is_copy {
            self.changed |= self.facts.copies.insert((of.span.line, of.span.column));
        }
    }

    fn changes_of(&self, owner: &Root, view: Option<View>) -> Changes {
        if view == Some(View::Parts) { self.uses.all } else { self.uses.changes.get(owner).copied().unwrap_or_default() }
    }

    /// Records a change of the list of a variable. Views that were read from the list become stale.
    pub fn note(&mut self, owner: &Root, change: Change) {
        let of = self.uses.changes.entry(owner.clone()).or_default();
        for changes in [of, &mut self.uses.all] {
            match change {
                Change::List => changes.lists += 1,
                Change::Element => changes.elements += 1,
            }
        }
        if self.uses.has_views {
            self.uses.log.push(owner.clone());
            self.make_stale(owner);
        }
    }

    fn make_stale(&mut self, owner: &Root) {
        self.spend(self.env.len());
        for bound in self.env.values_mut() {
            if let Value::List(List { view: Some(view), root: Some(root), stale, .. }) = &mut bound.value {
                *stale |= root == owner || (*view == View::Parts && !is_constant(root));
            }
        }
    }

    /// Records that a variable is a view.
    pub fn note_view(&mut self, value: &Value) {
        if let Value::List(List { view: Some(_), root: Some(root), .. }) = value {
            self.uses.has_views |= !is_constant(root);
        }
    }

    /// Begins a loop: views become stale if a pass of the loop changes their lists. Returns the mark for [`Lower::end_uses`].
    pub fn begin_uses(&mut self, span: Span) -> usize {
        for owner in self.facts.loops.get(&(span.line, span.column)).cloned().unwrap_or_default() {
            self.make_stale(&owner);
        }
        self.uses.log.len()
    }

    /// Ends a loop. `lost` contains the owners of views that are other views at the end of a pass.
    pub fn end_uses(&mut self, span: Span, mark: usize, lost: Vec<Root>) {
        let found: HashSet<Root> = self.uses.log[mark..].iter().cloned().chain(lost).collect();
        if !found.is_empty() {
            let known = self.facts.loops.entry((span.line, span.column)).or_default();
            let before = known.len();
            known.extend(found);
            self.changed |= known.len() > before;
        }
    }

    /// Returns the first row of the rows for lists of a local variable.
    pub fn home(&mut self, variable: Variable, len: usize) -> Slot {
        let key = (variable, len);
        match self.uses.homes.get(&key) {
            Some(base) => *base,
            None => {
                let base = self.reserve(len);
                self.uses.homes.insert(key, base);
                base
            }
        }
    }
}
