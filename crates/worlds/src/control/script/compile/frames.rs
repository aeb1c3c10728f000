//! Variables with their values, and the functions and loops around a place.

use super::outline::Definition;
use super::values::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A variable: the number of its frame and its name. Frame 0 has the attributes.
pub type Variable = (u32, Rc<str>);

/// Value of a variable, and whether every path to this place has assigned it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub value: Value,
    pub definite: bool,
}

pub type Env = BTreeMap<Variable, Bound>;

/// A function that is being translated at a call.
pub struct Frame<'a> {
    pub id: u32,
    pub definition: Option<&'a Definition<'a>>,
    /// Name of the function with the types of its arguments.
    pub instance: Rc<str>,
    pub loops: Vec<Loop>,
}

/// A loop around the present place.
pub struct Loop {
    /// Names of the variables for lanes that have left the loop by `break` and by `return`.
    pub stopped: Rc<str>,
    pub left: Rc<str>,
    /// Variables that have a value at every `break`; `None` without one.
    pub at_break: Option<BTreeSet<Variable>>,
    pub at_continue: Option<BTreeSet<Variable>>,
}
