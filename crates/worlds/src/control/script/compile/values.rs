//! Values of expressions while the compiler translates them.

use super::super::error::count;
use super::super::program::Type;
use std::rc::Rc;

/// Advice in error messages about `+` between lists.
pub const JOINS: &str = "`+` joins lists; add their elements: `[a[i] + b[i] for i in range(2)]`";

/// A row of the program, before rows are numbered. The highest four bits give the kind of row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

const KIND: u32 = 0xF000_0000;

impl Slot {
    const CONSTANT: u32 = 0x1000_0000;
    const INPUT: u32 = 0x2000_0000;
    const STATE: u32 = 0x3000_0000;
    const LIST: u32 = 0x4000_0000;

    pub fn constant(index: usize) -> Slot {
        Slot(Self::CONSTANT | index as u32)
    }

    pub fn input(row: u32) -> Slot {
        Slot(Self::INPUT | row)
    }

    pub fn state(row: usize) -> Slot {
        Slot(Self::STATE | row as u32)
    }

    pub fn list(row: usize) -> Slot {
        Slot(Self::LIST | row as u32)
    }

    pub fn temporary(index: usize) -> Slot {
        Slot(index as u32)
    }

    pub fn kind(self) -> SlotKind {
        let index = (self.0 & !KIND) as usize;
        match self.0 & KIND {
            Self::CONSTANT => SlotKind::Constant(index),
            Self::INPUT => SlotKind::Input(index),
            Self::STATE => SlotKind::State(index),
            Self::LIST => SlotKind::List(index),
            _ => SlotKind::Temporary(index),
        }
    }

    /// Returns the row that is `k` rows after this row.
    pub fn plus(self, k: usize) -> Slot {
        Slot(self.0 + k as u32)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    Constant(usize),
    Input(usize),
    State(usize),
    /// Row of a list element. The index counts the rows of list elements in this program.
    List(usize),
    Temporary(usize),
}

/// Key of a variable's type: the function with the types of its arguments, and the name of the variable. For an attribute, the first part
/// is `self`.
pub type Root = (Rc<str>, Rc<str>);

/// First part of the key of a constant. No function has this name.
const CONSTANT: &str = "a constant";

/// Returns the key of a constant. `name` is its code in functions, such as `n` or `self.n`.
pub fn constant_root(name: &str) -> Root {
    (CONSTANT.into(), name.into())
}

pub fn is_constant(root: &Root) -> bool {
    &*root.0 == CONSTANT
}

/// Returns the code of a variable or constant, such as `x` or `self.x`.
pub fn code_of(root: &Root) -> String {
    if &*root.0 == "self" { format!("self.{}", root.1) } else { root.1.to_string() }
}

/// Returns the code that copies a list with all its elements.
pub fn copy_of(code: &str, columns: Option<usize>) -> String {
    if columns.is_some() { format!("[row[:] for row in {code}]") } else { format!("{code}[:]") }
}

#[derive(Clone, Debug, PartialEq)]
pub struct List {
    pub ty: Type,
    /// Number of elements, or of rows in two dimensions.
    pub rows: usize,
    pub columns: Option<usize>,
    pub place: Place,
    /// Variable or constant that has the list, or whose elements or rows a view has; `None` for a new list.
    pub root: Option<Root>,
    /// `Some` if the list was read from other lists.
    pub view: Option<View>,
    /// True if a list that this view was read from has changed since.
    pub stale: bool,
}

/// A list whose elements or rows belong to other lists. In Python, a change of these lists changes the view too, and the other way round.
/// Here, the view is a copy, so an assignment to its elements is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// A row of a list of two dimensions.
    Row,
    /// One of two lists, or a list whose rows belong to other lists.
    Parts,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Items(Rc<[Slot]>),
    /// Consecutive rows; the value is the first row.
    Memory(Slot),
}

impl List {
    pub fn len(&self) -> usize {
        self.rows * self.columns.unwrap_or(1)
    }

    pub fn of_items(ty: Type, items: Vec<Slot>) -> List {
        List { ty, rows: items.len(), columns: None, place: Place::Items(items.into()), root: None, view: None, stale: false }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(Slot, Type),
    List(List),
    Tuple(Rc<[Value]>),
    /// Result of a function without a value.
    Nothing,
    /// An unknown value, for example after an error or in a function that no program calls.
    Bad,
}

/// Type of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Number(Type),
    List(Type, usize, Option<usize>),
    Tuple(Vec<Shape>),
    Nothing,
}

impl Value {
    /// Returns the type of the value; `None` if the value is or contains [`Value::Bad`].
    pub fn shape(&self) -> Option<Shape> {
        Some(match self {
            Value::Number(_, ty) => Shape::Number(*ty),
            Value::List(list) => Shape::List(list.ty, list.rows, list.columns),
            Value::Tuple(all) => Shape::Tuple(all.iter().map(Value::shape).collect::<Option<_>>()?),
            Value::Nothing => Shape::Nothing,
            Value::Bad => return None,
        })
    }

    /// Returns the number of values in a tuple and in the tuples within it; 1 for other values.
    pub fn size(&self) -> usize {
        match self {
            Value::Tuple(all) => all.iter().map(Value::size).sum(),
            _ => 1,
        }
    }

    /// Returns true if the value is or contains a list that is not the list of a constant.
    pub fn has_own_list(&self) -> bool {
        match self {
            Value::Tuple(all) => all.iter().any(Value::has_own_list),
            Value::List(list) => !list.root.as_ref().is_some_and(is_constant),
            _ => false,
        }
    }

    pub fn is_bad(&self) -> bool {
        match self {
            Value::Tuple(all) => all.iter().any(Value::is_bad),
            value => *value == Value::Bad,
        }
    }
}

impl Shape {
    /// Returns the narrowest type that includes both types; `None` if there is no such type.
    pub fn join(&self, other: &Shape) -> Option<Shape> {
        match (self, other) {
            (Shape::Number(a), Shape::Number(b)) => Some(Shape::Number(widest(*a, *b)?)),
            (Shape::List(a, rows, columns), Shape::List(b, more, others)) if (rows, columns) == (more, others) => {
                Some(Shape::List(widest(*a, *b)?, *rows, *columns))
            }
            (Shape::Tuple(a), Shape::Tuple(b)) if a.len() == b.len() => {
                Some(Shape::Tuple(a.iter().zip(b).map(|(a, b)| a.join(b)).collect::<Option<_>>()?))
            }
            (Shape::Nothing, Shape::Nothing) => Some(Shape::Nothing),
            _ => None,
        }
    }
}

/// Returns the wider of two types, in the order bool, integer, float. Returns `Text` if both are `Text`; `None` if only one is `Text`.
pub fn widest(a: Type, b: Type) -> Option<Type> {
    ((a == Type::Text) == (b == Type::Text)).then(|| a.max(b))
}

/// Describes a type in a message.
impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Number(Type::Bool) => write!(f, "a bool"),
            Shape::Number(Type::Int) => write!(f, "an integer"),
            Shape::Number(Type::Float) => write!(f, "a float"),
            Shape::Number(Type::Text) => write!(f, "a text"),
            Shape::List(_, rows, None) => write!(f, "a list of {}", count(*rows, "element")),
            Shape::List(_, rows, Some(columns)) => write!(f, "a list of {rows} x {columns} elements"),
            Shape::Tuple(all) => write!(f, "a tuple of {}", count(all.len(), "value")),
            Shape::Nothing => write!(f, "no value"),
        }
    }
}
