//! Variables with their values, and the functions and loops that are being translated.

use super::outline::Definition;
use super::values::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Key of a variable: the number of its frame, and its name. A frame is a call of a function. Attributes belong to frame 0.
pub type Variable = (u32, Rc<str>);

/// Value of a variable. `definite` is true if every path to the current instruction has assigned the variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub value: Value,
    pub definite: bool,
}

pub type Env = BTreeMap<Variable, Bound>;

/// A function whose body is being translated at a call.
pub struct Frame<'a> {
    pub id: u32,
    pub definition: Option<&'a Definition<'a>>,
    /// Name of the function with the types of its arguments.
    pub instance: Rc<str>,
    pub loops: Vec<Loop>,
}

/// A loop whose body is being translated.
pub struct Loop {
    /// Name of the variable that is true in lanes that have left the loop by `break`.
    pub stopped: Rc<str>,
    /// Name of the variable that is true in lanes that have left the loop by `return`.
    pub left: Rc<str>,
    /// Variables that have a value at every `break`; `None` if there was no `break`.
    pub at_break: Option<BTreeSet<Variable>>,
    /// Variables that have a value at every `continue` of the current pass; `None` if there was no `continue`.
    pub at_continue: Option<BTreeSet<Variable>>,
}
