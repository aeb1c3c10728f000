//! Operations on single numbers. This file defines the result of each operation. The compiler uses these definitions to compute constants.
//! The engine uses them to find the lanes (environments of a block) in which an operation fails.

use super::program::Op;
use math::{Isa, Simd, Unfused, isa::kernel, poly, rng};

/// Returns the bits of the result of an operation. `a`, `b` and `c` are the bits of the operands. Returns `None` if the operation reports
/// an error, or if the result depends on more than the operands.
pub fn fold(op: Op, a: u32, b: u32, c: u32) -> Option<u32> {
    let [x, y, z] = [a, b, c].map(f32::from_bits);
    let [i, j] = [a as i32, b as i32];
    Some(match op {
        Op::Move => a,
        Op::Select => (a & b) | (!a & c),
        Op::And => a & b,
        Op::Or => a | b,
        Op::AndNot => a & !b,
        Op::Not => !a,
        Op::AddU => a.wrapping_add(b),
        Op::MulU => a.wrapping_mul(b),
        Op::AddI | Op::SubI | Op::MulI | Op::DivI | Op::ModI | Op::AbsI => integer(op, i, j)? as u32,
        Op::MinI => i.min(j) as u32,
        Op::MaxI => i.max(j) as u32,
        Op::LtI => bool_bits(i < j),
        Op::LtU => bool_bits(a < b),
        Op::LeI => bool_bits(i <= j),
        Op::EqI => bool_bits(i == j),
        Op::NeI => bool_bits(i != j),
        Op::LtF => bool_bits(x < y),
        Op::LeF => bool_bits(x <= y),
        Op::EqF => bool_bits(x == y),
        Op::NeF => bool_bits(x != y),
        Op::BoolToI => a & 1,
        Op::BoolToF => a & 1f32.to_bits(),
        Op::IToF => (i as f32).to_bits(),
        Op::IToBool => bool_bits(i != 0),
        Op::FToBool => bool_bits(x != 0.0),
        Op::Floor => whole(x.floor())?,
        Op::Ceil => whole(x.ceil())?,
        Op::Round => whole(x.round_ties_even())?,
        Op::Truncate => whole(x.trunc())?,
        Op::Unit => rng::uniform_from_word(a).to_bits(),
        Op::Below => ((b as i32) < c as i32).then(|| below(a, b, c))?,
        _ => float(op, x, y, z)?.to_bits(),
    })
}

pub fn bool_bits(value: bool) -> u32 {
    if value { u32::MAX } else { 0 }
}

/// Converts a random word to an integer from `low` to `high` - 1. The bounds and the result are the bits of i32 values.
#[inline(always)]
pub fn below(word: u32, low: u32, high: u32) -> u32 {
    let width = u64::from(high.wrapping_sub(low));
    low.wrapping_add(((u64::from(word) * width) >> 32) as u32)
}

#[inline(always)]
pub fn integer(op: Op, a: i32, b: i32) -> Option<i32> {
    match op {
        Op::AddI => a.checked_add(b),
        Op::SubI => a.checked_sub(b),
        Op::MulI => a.checked_mul(b),
        Op::AbsI => a.checked_abs(),
        Op::DivI => {
            let quotient = a.checked_div(b)?;
            Some(quotient - i32::from(a % b != 0 && (a < 0) != (b < 0)))
        }
        _ => {
            let rest = if b == -1 { 0 } else { a.checked_rem(b)? };
            Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
    }
}

/// Returns the bits of the integer that equals the whole number `x`; `None` if the number does not fit into 32 bits.
fn whole(x: f32) -> Option<u32> {
    (-2_147_483_648.0..2_147_483_648.0).contains(&x).then_some(x as i32 as u32)
}

fn float(op: Op, x: f32, y: f32, z: f32) -> Option<f32> {
    Some(match op {
        Op::AddF => x + y,
        Op::SubF => x - y,
        Op::MulF => x * y,
        Op::DivF => (y != 0.0).then(|| x / y)?,
        Op::FloorDivF | Op::ModF => {
            let [quotient, rest] = (y != 0.0).then(|| floor_division(x, y))?;
            if op == Op::ModF { rest } else { quotient }
        }
        Op::AbsF => x.abs(),
        Op::NegF => -x,
        // Python's min and max return the first of two equal numbers.
        Op::MinF => {
            if y < x {
                y
            } else {
                x
            }
        }
        Op::MaxF => {
            if y > x {
                y
            } else {
                x
            }
        }
        Op::MulAdd => x * y + z,
        Op::MulSub => x * y - z,
        Op::SubMul => z - x * y,
        Op::Sqrt => if x < 0.0 { None } else { Some(x.sqrt()) }?,
        Op::Log => if x <= 0.0 { None } else { Some(single(op, x, y)) }?,
        Op::Exp => finite_from(single(op, x, y), x)?,
        Op::Power => (x > 0.0).then(|| finite_from(single(op, x, y), y))??,
        Op::Sin | Op::Cos | Op::Tan | Op::Tanh | Op::Atan2 => single(op, x, y),
        _ => return None,
    })
}

/// Returns `result`, or `None` if `result` is not finite although `operand` is finite.
fn finite_from(result: f32, operand: f32) -> Option<f32> {
    (result.is_finite() || !operand.is_finite()).then_some(result)
}

/// Returns the results of Python's `x // y` and `x % y` for floats.
#[inline(always)]
pub fn floor_division(x: f32, y: f32) -> [f32; 2] {
    let mut rest = x % y;
    let mut quotient = (x - rest) / y;
    if rest == 0.0 {
        rest = 0f32.copysign(y);
    } else if (y < 0.0) != (rest < 0.0) {
        rest += y;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return [0f32.copysign(x / y), rest];
    }
    let floor = quotient.floor();
    [if quotient - floor > 0.5 { floor + 1.0 } else { floor }, rest]
}

/// Computes a function of `math::poly`, or the power x^y, which combines two functions of `math::poly`. The engine computes the same bits.
fn single(op: Op, x: f32, y: f32) -> f32 {
    kernel!(Isa::Portable, |s: S, op: Op, x: f32, y: f32| -> f32 {
        let s = Unfused(s);
        let (x, y) = (s.splat(x), s.splat(y));
        s.first(match op {
            Op::Sin => poly::sin_cos(s, x).0,
            Op::Cos => poly::sin_cos(s, x).1,
            Op::Tan => poly::tan(s, x),
            Op::Tanh => poly::tanh(s, x),
            Op::Atan2 => poly::atan2(s, x, y),
            Op::Exp => poly::exp(s, x),
            Op::Log => poly::ln(s, x),
            _ => poly::exp(s, s.mul(y, poly::ln(s, x))),
        })
    })
}
