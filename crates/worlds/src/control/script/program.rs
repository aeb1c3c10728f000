//! Programs of a compiled file. A program is a list of instructions that read and write rows. A row holds one value for each environment of
//! a block: a number, a bool, or the index of a text. A lane is the position of an environment in its block.

use std::ops::Range;

/// Number of environments in a block.
pub const BLOCK: usize = 128;

/// Row number of an operand that an instruction does not have. As the row of a mask, `NONE` means all lanes.
pub const NONE: u32 = u32::MAX;

/// Maximum number of loop passes (iterations) that a lane makes in one call of a program. All `while` loops and all ranges without a
/// constant length count together.
pub const MOST_PASSES: u32 = 10_000;

/// Number of instructions in a pass that counts once for [`MOST_PASSES`]. A pass with more instructions counts several times.
pub const PASS_WORK: usize = 1000;

/// Operations of instructions. Unless a variant states otherwise, the operands are the rows `a`, `b` and `c`, and the result is the row
/// `d`. A bool that is false has no bits set; a bool that is true has all bits set. Apart from conversions, an operation works on integers
/// if its name ends in I, on floats if its name ends in F, and on unsigned integers if its name ends in U. Read as unsigned, a negative
/// integer is larger than every positive one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Move,
    /// Selects `b` in lanes in which `a` is true, and `c` in other lanes.
    Select,
    And,
    Or,
    /// `a` and not `b`.
    AndNot,
    Not,
    /// Sum without a check for overflow. `MulU` is the product without this check.
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
    LtU,
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
    /// `a · b + c`, rounded after the product and after the sum. `MulSub` is `a · b - c`, and `SubMul` is `c - a · b`.
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
    /// Writes the sine of `a` to the row `d` and the cosine to the row `c`.
    SinCos,
    Tan,
    Tanh,
    Atan2,
    Power,
    /// Random word (32 random bits). `a` is the number of the word in the current call of the program.
    Word,
    /// Float in [0, 1), computed from the random word `a`.
    Unit,
    /// Integer from `b` to `c` - 1, computed from the random word `a`.
    Below,
    /// Index `a` of a list of `n` elements, converted to a count from the start. A negative index counts from the end.
    Index,
    /// Element at the index `a` of the list in the `n` rows from `b` on.
    Gather,
    /// Element at the index `a` of the constant list number `n` in [`Code::tables`].
    Table,
    /// Writes `c` to the element at the index `a` of the list in the `n` rows from `b` on.
    Scatter,
    /// Writes `a` to the row `d` of a list.
    Store,
    /// Writes `a` to the `n` rows from `d` on.
    Fill,
    /// Copies the `n` rows from `b` on to the rows from `d` on.
    Rows,
    /// Reports an error in the lanes in which the number `a` is not finite.
    Finite,
    /// Reports an error in the lanes in which the bool `a` is false. In these lanes the episode continues, but the method `mask` permits no
    /// choice.
    Permits,
    /// Counts `n` passes of a loop for each lane in the mask `d`. Reports an error in lanes with more than [`MOST_PASSES`] passes, and
    /// removes these lanes from `d`.
    Pass,
    /// Continues at instruction `n`.
    Jump,
    /// Continues at instruction `n` if no lane is in the mask `a`.
    JumpNone,
    /// Draws shape number `n`, whose rows begin at `b`.
    Shape,
    Nothing,
}

impl Op {
    /// Returns true if the operation can report an error in a lane.
    pub fn can_fail(self) -> bool {
        use Op::*;
        let integers = matches!(self, AddI | SubI | MulI | DivI | ModI | AbsI | Floor | Ceil | Round | Truncate);
        let floats = matches!(self, DivF | FloorDivF | ModF | Sqrt | Exp | Log | Power | Finite | Permits);
        integers || floats || matches!(self, Below | Index | Gather | Table | Scatter | Pass)
    }

    /// Returns true if the operation has an effect besides writing its result.
    pub fn has_effect(self) -> bool {
        use Op::*;
        matches!(self, Scatter | Store | Fill | Rows | Finite | Permits | Pass | Jump | JumpNone | Shape)
    }

    /// Returns true if a later equal instruction can reuse the result of the operation. The result of such an operation depends on the
    /// operands alone. Apart from errors, the operation writes only the row `d`.
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
    /// Row with the mask: the lanes in which errors are reported, elements of lists are written and shapes are drawn.
    pub mask: u32,
    pub n: u32,
}

impl Instruction {
    pub const NOTHING: Instruction = Instruction { op: Op::Nothing, d: NONE, a: NONE, b: NONE, c: NONE, mask: NONE, n: 0 };

    /// Returns the rows that the instruction reads. For consecutive rows, such as the rows of a list, the iterator contains only the first
    /// row.
    pub fn reads(&self) -> impl Iterator<Item = u32> {
        let c = if self.op == Op::SinCos { NONE } else { self.c };
        let d = if self.op == Op::Pass { self.d } else { NONE };
        [self.a, self.b, c, self.mask, d].into_iter().filter(|&row| row != NONE)
    }

    /// Returns the rows that the instruction writes, except elements of lists.
    pub fn writes(&self) -> impl Iterator<Item = u32> {
        let c = if self.op == Op::SinCos { self.c } else { NONE };
        let d = if matches!(self.op, Op::Fill | Op::Rows | Op::Store) { NONE } else { self.d };
        [d, c].into_iter().filter(|&row| row != NONE)
    }
}

/// A program: the instructions of one call, and the rows of its results.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub code: Vec<Instruction>,
    /// Line of each instruction in the file.
    pub lines: Vec<u32>,
    /// Range of the instructions of the methods `observe` and `mask`. Apart from errors, these instructions only compute the observation
    /// and the mask.
    pub observe: Range<usize>,
    /// Row of each number of the observation.
    pub observation: Vec<u32>,
    /// Rows of the mask. For each choice, the row contains a bool that is true if the method `mask` permits the choice. Empty without the
    /// method `mask`.
    pub permitted: Vec<u32>,
    /// Row of the reward.
    pub reward: u32,
    /// Row of the bool that is true if the episode is over.
    pub over: u32,
    /// True if the instructions of the program draw random numbers.
    pub draws: bool,
    /// Number of instructions that a call runs, if each loop without a constant number of passes has one pass.
    pub work: usize,
}

/// Row with the number of the environment. The engine writes this row, [`EPISODE`] and [`STEP`] before a program that draws random numbers.
pub const ENV: u32 = 0;
/// Row with the number of the environment's earlier episodes.
pub const EPISODE: u32 = 1;
/// Row with the number of the step in the episode, counted from 1; 0 at the start of the episode.
pub const STEP: u32 = 2;
/// Row with the number of loop passes that count for [`MOST_PASSES`] in the current call.
pub const PASSES: u32 = 3;
/// First of four rows with consecutive random words.
pub const WORDS: u32 = 4;
/// First row of the action, which has one row for each of its values.
pub const ACTION: u32 = 8;

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    Bool,
    Int,
    Float,
    /// Text, as an index into the texts of the file.
    Text,
}

/// An attribute of `self`: its type, and its rows in the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: String,
    pub ty: Type,
    /// Index of the first row within the state.
    pub start: usize,
    /// Number of elements; 1 for a number.
    pub len: usize,
    /// Number of columns of a list of two dimensions; otherwise `None`.
    pub columns: Option<usize>,
    pub is_list: bool,
}

impl Attribute {
    /// Returns the name of element `k`, for example `x`, `a[2]` or `grid[0][1]`.
    pub fn element(&self, k: usize) -> String {
        match self.columns {
            Some(columns) => format!("{}[{}][{}]", self.name, k / columns, k % columns),
            None if self.is_list => format!("{}[{k}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// A shape that the method `draw` draws. The rows of the shape contain, in this order: the numbers of the shape, the value to write (only
/// for `text`), and the index of the colour's name in [`Code::texts`].
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeRows {
    pub kind: &'static str,
    pub numbers: usize,
    /// Type of the value to write; `Some` only for the function `text`. True for a number; false for the index of a text.
    pub what: Option<bool>,
}

/// All programs of a file, and the data that they share.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Program that calls `reset`, then `observe` and `mask`.
    pub begin: Program,
    /// Program that calls `step`, then `observe` and `mask`.
    pub step: Program,
    /// Program that calls `observe` and `mask`.
    pub show: Program,
    /// Program that calls `draw`.
    pub draw: Program,
    pub tables: Vec<Vec<u32>>,
    pub texts: Vec<String>,
    pub shapes: Vec<ShapeRows>,
    /// Bits of the constants, which are in the rows from `constants_at` on.
    pub constants: Vec<u32>,
    pub constants_at: usize,
    /// First row of the state (the attributes of `self`). All blocks share the rows before the state.
    pub state_at: usize,
    /// Number of rows of the state.
    pub state: usize,
}
