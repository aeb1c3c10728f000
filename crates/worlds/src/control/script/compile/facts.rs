//! Lists that are in use, and facts about the lists of a file.

use super::super::error::Span;
use super::frames::Variable;
use super::values::{Root, Slot, View};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Line and column of an expression.
pub type At = (u32, u32);

/// Facts about the lists of a file that later translations need.
#[derive(Default)]
pub struct Facts {
    /// Variables to which the list of a constant is assigned, each with the name of a constant.
    pub constants: HashMap<Root, Rc<str>>,
    /// Expressions whose list is copied at the start of its use.
    pub copies: HashSet<At>,
    /// Owners whose lists change in a loop, by the place of the loop.
    pub loops: HashMap<At, HashSet<Root>>,
}

/// Lists of the program that is being translated.
#[derive(Default)]
pub struct Uses {
    pub changes: HashMap<Root, Changes>,
    pub all: Changes,
    /// Owners of the changed lists, in the order of the changes. Empty as long as no variable is a view.
    pub log: Vec<Root>,
    pub has_views: bool,
    /// Rows of the lists of local variables, by the variable and the length of the list.
    pub homes: HashMap<(Variable, usize), Slot>,
}

/// Number of assignments of new lists to a variable, and of assignments to elements of its list.
#[derive(Clone, Copy, Default)]
pub struct Changes {
    pub lists: u32,
    pub elements: u32,
}

/// Change of the list of a variable.
#[derive(Clone, Copy)]
pub enum Change {
    /// The variable gets a new list.
    List,
    Element,
}

/// Purpose of the use of a list.
#[derive(Clone, Copy, PartialEq)]
pub enum Purpose {
    Read,
    /// The list is read, and its name is assigned in a part of the use.
    Keep,
    /// An element is assigned at the end of the use.
    Assign,
}

/// A use of a list that has begun.
pub struct Use {
    pub owner: Root,
    pub span: Span,
    pub purpose: Purpose,
    pub view: Option<View>,
    pub columns: Option<usize>,
    pub is_copy: bool,
    pub before: Changes,
}
