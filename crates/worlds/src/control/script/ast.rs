//! Syntax tree of a file, as the parser returns it. The tree contains only what the language's grammar permits. The compiler checks names
//! and types.

use super::error::Span;

/// A file: its docstring and the statements at its top level.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub doc: Option<String>,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub span: Span,
    pub kind: StatementKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `a = b = value` has two targets. A target is a name, an attribute, an index or a tuple of these.
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    /// `target op= value`.
    Augment {
        target: Expr,
        op: Arithmetic,
        value: Expr,
    },
    /// An expression whose value is ignored, such as a call.
    Expr(Expr),
    /// `if`, `elif` and `else`. `branches` contains a condition and a block for `if` and for each `elif`. `other` is the block of `else`;
    /// empty without `else`.
    If {
        branches: Vec<(Expr, Vec<Statement>)>,
        other: Vec<Statement>,
    },
    /// `for target in items`.
    For {
        target: Expr,
        items: Expr,
        body: Vec<Statement>,
    },
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    Return(Option<Expr>),
    Break,
    Continue,
    Pass,
    Function(Function),
    /// A class without base classes. The parser removes the docstring.
    Class {
        name: Name,
        body: Vec<Statement>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: Name,
    pub parameters: Vec<Name>,
    /// Statements without the docstring, which the parser removes.
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub span: Span,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Int(i32),
    Float(f32),
    Bool(bool),
    Text(String),
    Name(String),
    /// `of.name`.
    Attribute {
        of: Box<Expr>,
        name: Name,
    },
    /// `of[at]`.
    Index {
        of: Box<Expr>,
        at: Box<Expr>,
    },
    /// `of[:]`, a copy of a list.
    Copy(Box<Expr>),
    Call {
        of: Box<Expr>,
        arguments: Vec<Expr>,
    },
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Arithmetic {
        op: Arithmetic,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `first op second op third`, with at least one comparison.
    Compare {
        first: Box<Expr>,
        rest: Vec<(Comparison, Expr)>,
    },
    /// `a and b and c`, with at least two operands.
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// `then if condition else other`.
    Choose {
        condition: Box<Expr>,
        then: Box<Expr>,
        other: Box<Expr>,
    },
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    /// `{key: value, …}`, permitted only for the class attribute `keys`.
    Dict(Vec<(Expr, Expr)>),
    /// `[value for target in items for …]`.
    Comprehension {
        value: Box<Expr>,
        loops: Vec<(Expr, Expr)>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `value in list`.
    In,
    NotIn,
}
