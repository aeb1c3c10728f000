//! Run-time errors of programs. Each lane of a block can have its own error.

use super::super::error::count;
use super::super::fold::fold;
use super::super::program::{BLOCK, Instruction, NONE, Op};

/// First error of each lane in a call of a program.
pub struct Faults {
    /// Index of the failed instruction; [`NONE`] for a lane without an error.
    pub at: [u32; BLOCK],
    /// Bits of the operand that the message shows.
    pub value: [u32; BLOCK],
    /// `u32::MAX` for a lane with an error, otherwise 0.
    pub failed: [u32; BLOCK],
    pub any: bool,
}

impl Faults {
    pub fn new() -> Faults {
        Faults { at: [NONE; BLOCK], value: [0; BLOCK], failed: [0; BLOCK], any: false }
    }

    pub fn clear(&mut self) {
        if self.any {
            *self = Faults::new();
        }
    }

    #[cold]
    pub fn report(&mut self, lane: usize, at: usize, value: u32) {
        self.any = true;
        if self.at[lane] == NONE {
            (self.at[lane], self.value[lane], self.failed[lane]) = (at as u32, value, u32::MAX);
        }
    }
}

/// Operands that decide whether an instruction fails in a lane: the rows `a` and `b`, and the mask.
pub struct Operands<'a> {
    pub a: &'a [u32; BLOCK],
    pub b: &'a [u32; BLOCK],
    pub mask: Option<&'a [u32; BLOCK]>,
}

/// Reports the lanes in which an instruction fails. The engine calls this function only after a fast check has found that some lane may
/// have failed.
#[cold]
#[inline(never)]
pub fn find(faults: &mut Faults, at: usize, instruction: &Instruction, lanes: usize, rows: &Operands<'_>) {
    for lane in 0..lanes {
        if rows.mask.is_some_and(|mask| mask[lane] == 0) {
            continue;
        }
        let (a, b) = (rows.a[lane], rows.b[lane]);
        let fails = match instruction.op {
            Op::Finite => !f32::from_bits(a).is_finite(),
            Op::Permits => a == 0,
            op => fold(op, a, b, 0).is_none(),
        };
        if fails {
            faults.report(lane, at, if instruction.op == Op::DivI { b } else { a });
        }
    }
}

/// Returns the message of an error. `value` is an element of [`Faults::value`].
pub fn message(instruction: &Instruction, value: u32) -> String {
    let (whole, x) = (value as i32, f32::from_bits(value));
    let large = "the result does not fit into an integer of 32 bits; use smaller numbers, or floats";
    match instruction.op {
        // The value is the divisor. Only the quotient of the smallest integer and -1 is too large.
        Op::DivI if whole == -1 => large.into(),
        Op::AddI | Op::SubI | Op::MulI | Op::AbsI => large.into(),
        Op::DivI | Op::ModI | Op::DivF | Op::FloorDivF | Op::ModF => "a division by zero; test the divisor before: `if b != 0:`".into(),
        Op::Floor | Op::Ceil | Op::Round | Op::Truncate => {
            format!("the number {x} does not fit into an integer of 32 bits; limit it before: `clip(x, -1000.0, 1000.0)`")
        }
        Op::Sqrt => format!("the square root of a negative number, {x}; limit it before: `sqrt(max(x, 0.0))`"),
        Op::Log => format!("the logarithm of {x}, which is not positive; limit it before: `log(max(x, 1e-9))`"),
        Op::Exp => format!("`exp({x})` is too large for a float; limit the number before: `exp(min(x, 80.0))`"),
        Op::Power if x > 0.0 => format!("a power of {x} is too large for a float; use smaller numbers"),
        Op::Power => format!("`a ** b` needs a positive `a`, but `a` is {x}; write a product such as `a * a`, or limit `a`"),
        Op::Finite => format!("the number is {x}; an attribute, reward or observation must be finite: use smaller numbers"),
        Op::Permits => "`mask` permits no choice; permit one in every state, or end the episode before".into(),
        Op::Below => "`randint(low, high)` has no number to choose, because `high` is excluded; pass a larger `high`".into(),
        Op::Pass => {
            "`while` loops and computed ranges make more than 10,000 passes in this call (long passes count several times); end the loop \
                     earlier"
                .into()
        }
        _ => {
            let (len, last) = (instruction.n, instruction.n.saturating_sub(1));
            format!("the index {whole} is outside of the list, which has {}; use -{len} to {last}", count(len as usize, "element"))
        }
    }
}
