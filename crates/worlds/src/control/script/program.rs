//! A compiled file: instructions over rows. A row holds one number, bool or text per lane of a block of environments.

/// Number of environments in a block.
pub const BLOCK: usize = 128;

/// Operand of an instruction that has none, and the mask of an instruction that applies to all lanes.
pub const NONE: u32 = u32::MAX;

/// Largest number of passes of `while` loops and computed ranges in a call.
pub const MOST_PASSES: u32 = 10_000;

/// Operations. Operands are the rows `a`, `b` and `c`; the result is the row `d`. A bool is 0 or all bits. I is an integer, F a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Move,
    /// `b` where `a` is true, else `c`.
    Select,
    And,
    Or,
    /// `a` and not `b`.
    AndNot,
    Not,
    /// Sum without a check for overflow.
    AddU,
    MulU,
    AddI,
    SubI,
    MulI,
    DivI,
    ModI,
    AbsI,
    MinI,
    MaxI,
    LtI,
    LeI,
    EqI,
    NeI,
    AddF,
    SubF,
    MulF,
    DivF,
    FloorDivF,
    ModF,
    AbsF,
    NegF,
    MinF,
    MaxF,
    LtF,
    LeF,
    EqF,
    NeF,
    /// `a · b + c`, rounded twice. `MulSub` is `a · b - c`, and `SubMul` is `c - a · b`.
    MulAdd,
    MulSub,
    SubMul,
    BoolToI,
    BoolToF,
    IToF,
    IToBool,
    FToBool,
    Floor,
    Ceil,
    Round,
    Truncate,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    /// Sine to `d`, cosine to `c`.
    SinCos,
    Tan,
    Tanh,
    Atan2,
    Power,
    /// Random word with the number `a` in this call.
    Word,
    /// Float in [0, 1) of a random word.
    Unit,
    /// Integer from `b` to `c` - 1 of the random word `a`.
    Below,
    /// Index `a` of a list of `n` elements, counted from the start.
    Index,
    /// Element `a` of the `n` rows from `b` on.
    Gather,
    /// Element `a` of the table `n`.
    Table,
    /// Writes `c` to element `a` of the `n` rows from `b` on.
    Scatter,
    /// Writes `a` to the row `d` of a list.
    Store,
    /// Writes `a` to the `n` rows from `d` on.
    Fill,
    /// Copies the `n` rows from `b` on to the rows from `d` on.
    Rows,
    /// Reports lanes whose number `a` is not finite.
    Finite,
    /// Counts a pass of the lanes in `d`. Lanes with too many passes are reported and leave the mask `d`.
    Pass,
    /// Continues at instruction `n`.
    Jump,
    /// Continues at instruction `n` if no lane is in `a`.
    JumpNone,
    /// Draws the shape `n`, whose rows begin at `b`.
    Shape,
    Nothing,
}

impl Op {
    /// Whether the operation reports errors of lanes.
    pub fn can_fail(self) -> bool {
        use Op::*;
        let integers = matches!(self, AddI | SubI | MulI | DivI | ModI | AbsI | Floor | Ceil | Round | Truncate);
        let floats = matches!(self, DivF | FloorDivF | ModF | Sqrt | Exp | Log | Power | Finite);
        integers || floats || matches!(self, Below | Index | Gather | Table | Scatter | Pass)
    }

    /// Whether the operation does more than writing its result.
    pub fn has_effect(self) -> bool {
        use Op::*;
        matches!(self, Scatter | Store | Fill | Rows | Finite | Pass | Jump | JumpNone | Shape)
    }

    /// Whether the result depends on the operands alone.
    pub fn is_pure(self) -> bool {
        !self.has_effect() && !matches!(self, Op::Word | Op::Index | Op::Gather | Op::Table | Op::SinCos | Op::Nothing)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    pub op: Op,
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    /// Row of the lanes whose errors are reported and whose lists change.
    pub mask: u32,
    pub n: u32,
}

impl Instruction {
    pub const NOTHING: Instruction = Instruction { op: Op::Nothing, d: NONE, a: NONE, b: NONE, c: NONE, mask: NONE, n: 0 };

    /// Rows that the instruction reads.
    pub fn reads(&self) -> impl Iterator<Item = u32> {
        let c = if self.op == Op::SinCos { NONE } else { self.c };
        let d = if self.op == Op::Pass { self.d } else { NONE };
        [self.a, self.b, c, self.mask, d].into_iter().filter(|&row| row != NONE)
    }

    /// Rows that the instruction writes, except elements of lists.
    pub fn writes(&self) -> impl Iterator<Item = u32> {
        let c = if self.op == Op::SinCos { self.c } else { NONE };
        let d = if matches!(self.op, Op::Fill | Op::Rows | Op::Store) { NONE } else { self.d };
        [d, c].into_iter().filter(|&row| row != NONE)
    }
}

/// Instructions of a call.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub code: Vec<Instruction>,
    /// Line of each instruction in the file.
    pub lines: Vec<u32>,
    pub observation: Vec<u32>,
    /// Whether each choice is permitted; empty without the method `mask`.
    pub permitted: Vec<u32>,
    pub reward: u32,
    pub over: u32,
    /// Whether the program draws random numbers.
    pub draws: bool,
}

/// Rows that the engine writes before a program runs.
pub const ENV: u32 = 0;
pub const EPISODE: u32 = 1;
pub const STEP: u32 = 2;
/// Number of passes of loops in this call.
pub const PASSES: u32 = 3;
/// Four random words.
pub const WORDS: u32 = 4;
/// First number of the action.
pub const ACTION: u32 = 8;

/// Type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    Bool,
    Int,
    Float,
    /// Index of a text.
    Text,
}

/// An attribute of the class: its type, and its numbers in the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: String,
    pub ty: Type,
    /// First row of the state.
    pub start: usize,
    /// Number of elements; 1 for a number.
    pub len: usize,
    /// Number of columns of a list of two dimensions.
    pub columns: Option<usize>,
    pub is_list: bool,
}

/// A shape of `draw`. Its rows have its numbers, then what it writes, then the index of its colour.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeRows {
    pub kind: &'static str,
    pub numbers: usize,
    /// For `text`: whether it writes a number, or else the text with an index.
    pub what: Option<bool>,
}

/// All programs of a file, and the data that they share.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Starts an episode and observes.
    pub begin: Program,
    /// Takes a step and observes.
    pub step: Program,
    /// Observes.
    pub show: Program,
    pub draw: Program,
    pub tables: Vec<Vec<u32>>,
    pub texts: Vec<String>,
    pub shapes: Vec<ShapeRows>,
    /// Constants, in the rows from `constants_at` on.
    pub constants: Vec<u32>,
    pub constants_at: usize,
    /// First row of the state. Lower rows are shared by all blocks.
    pub state_at: usize,
    /// Number of rows of the state.
    pub state: usize,
}
