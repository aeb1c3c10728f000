//! Operations in WGSL: an expression for the result, and a condition for an error.

use super::super::program::{Instruction, Op};
use super::rows::Rows;

/// Returns an expression for the bits of the result of an operation that only writes the row `d`; `None` for other operations.
pub fn value(rows: &Rows<'_>, i: &Instruction) -> Option<String> {
    let [mut a, b] = [i.a, i.b].map(|row| rows.bits(row));
    if i.op.can_fail() && rows.is_constant(i.a) && rows.is_constant(i.b) {
        // A WGSL compiler rejects a constant expression that overflows. A call of `script_bits` is not a constant expression.
        a = format!("script_bits({a})");
    }
    Some(match i.op {
        Op::Move => a,
        Op::Select => format!("select({}, {b}, {})", rows.bits(i.c), rows.truth(i.a)),
        Op::And => format!("{a} & {b}"),
        Op::Or => format!("{a} | {b}"),
        Op::AndNot => format!("{a} & ~{b}"),
        Op::Not => format!("~{a}"),
        Op::AddU | Op::AddI => format!("{a} + {b}"),
        Op::SubI => format!("{a} - {b}"),
        Op::MulU | Op::MulI => format!("{a} * {b}"),
        Op::DivI => format!("script_divide({a}, {b})"),
        Op::ModI => format!("script_modulo({a}, {b})"),
        Op::AbsI => format!("script_magnitude({a})"),
        Op::MinI => format!("bitcast<u32>(min({}, {}))", rows.int(i.a), rows.int(i.b)),
        Op::MaxI => format!("bitcast<u32>(max({}, {}))", rows.int(i.a), rows.int(i.b)),
        Op::LtU => format!("script_mask({a} < {b})"),
        Op::EqI => format!("script_mask({a} == {b})"),
        Op::NeI => format!("script_mask({a} != {b})"),
        Op::BoolToI => format!("{a} & 1u"),
        Op::BoolToF => format!("{a} & {}u", 1f32.to_bits()),
        Op::IToBool => format!("script_mask({a} != 0u)"),
        Op::FToBool => format!("script_mask(!script_zero({a}))"),
        Op::Word => format!("script_word(key, moment, {a})"),
        Op::Below => format!("{b} + script_high({a}, {} - {b})", rows.bits(i.c)),
        Op::Index => format!("script_index({a}, {}u)", i.n),
        Op::Gather => rows.element(i.b, &format!("script_index({a}, {}u)", i.n)),
        _ => return comparison(rows, i).or_else(|| whole(rows, i)).or_else(|| float(rows, i)),
    })
}

fn comparison(rows: &Rows<'_>, i: &Instruction) -> Option<String> {
    let symbol = match i.op {
        Op::LtI | Op::LtF => "<",
        Op::LeI | Op::LeF => "<=",
        Op::EqF => "==",
        Op::NeF => "!=",
        _ => return None,
    };
    let [a, b] = [i.a, i.b].map(|row| if matches!(i.op, Op::LtI | Op::LeI) { rows.int(row) } else { rows.float(row) });
    Some(format!("script_mask({a} {symbol} {b})"))
}

/// Returns an expression for the bits of the integer to which an operation rounds a float; `None` for other operations.
fn whole(rows: &Rows<'_>, i: &Instruction) -> Option<String> {
    rounded(rows, i).map(|x| format!("script_whole({x})"))
}

/// Returns an expression for the rounded float, before the conversion to an integer; `None` if the operation does not round.
fn rounded(rows: &Rows<'_>, i: &Instruction) -> Option<String> {
    let name = match i.op {
        Op::Floor => "floor",
        Op::Ceil => "ceil",
        Op::Round => "round",
        Op::Truncate => "trunc",
        _ => return None,
    };
    Some(format!("{name}({})", rows.float(i.a)))
}

/// Returns an expression for the bits of a float that an operation computes; `None` for other operations.
fn float(rows: &Rows<'_>, i: &Instruction) -> Option<String> {
    let [x, y, z] = [i.a, i.b, i.c].map(|row| rows.float(row));
    let result = match i.op {
        Op::AddF => format!("{x} + {y}"),
        Op::SubF => format!("{x} - {y}"),
        Op::MulF => format!("{x} * {y}"),
        Op::DivF => format!("script_quotient({x}, {y})"),
        Op::FloorDivF => format!("script_floor_division({x}, {y}).x"),
        Op::ModF => format!("script_floor_division({x}, {y}).y"),
        Op::AbsF => format!("abs({x})"),
        Op::NegF => format!("-{x}"),
        Op::MinF => format!("script_smaller({x}, {y})"),
        Op::MaxF => format!("script_larger({x}, {y})"),
        Op::MulAdd => format!("{x} * {y} + {z}"),
        Op::MulSub => format!("{x} * {y} - {z}"),
        Op::SubMul => format!("{z} - {x} * {y}"),
        Op::IToF => format!("f32({})", rows.int(i.a)),
        Op::Unit => format!("uniform_of({})", rows.bits(i.a)),
        Op::Sqrt => format!("script_sqrt({x})"),
        Op::Exp => format!("script_exp({x})"),
        Op::Log => format!("script_log({x})"),
        Op::Sin => format!("poly_sin_cos({x}).x"),
        Op::Cos => format!("poly_sin_cos({x}).y"),
        Op::Tan => format!("script_tan({x})"),
        Op::Tanh => format!("script_tanh({x})"),
        Op::Atan2 => format!("script_atan2({x}, {y})"),
        Op::Power => format!("script_power({x}, {y})"),
        _ => return None,
    };
    Some(format!("bitcast<u32>({result})"))
}

/// Returns an expression for the condition under which an operation fails. Returns `None` if the operation cannot fail, and for
/// [`Op::Pass`], whose function in WGSL reports its own error. `len` is the length of the list or table.
pub fn failure(rows: &Rows<'_>, i: &Instruction, len: usize) -> Option<String> {
    let [a, b] = [i.a, i.b].map(|row| rows.bits(row));
    let [x, y] = [i.a, i.b].map(|row| rows.float(row));
    Some(match i.op {
        Op::AddI => format!("script_add_fails({a}, {b})"),
        Op::SubI => format!("script_subtract_fails({a}, {b})"),
        Op::MulI => format!("script_multiply_fails({a}, {b})"),
        Op::DivI => format!("script_divide_fails({a}, {b})"),
        Op::ModI => format!("{b} == 0u"),
        Op::AbsI => format!("{a} == 0x80000000u"),
        Op::DivF | Op::FloorDivF | Op::ModF => format!("script_zero({b})"),
        Op::Floor | Op::Ceil | Op::Round | Op::Truncate => format!("script_whole_fails({})", rounded(rows, i)?),
        Op::Sqrt => format!("script_below_zero({a})"),
        Op::Exp => format!("script_exp_fails({x})"),
        Op::Log => format!("script_log_fails({a})"),
        Op::Power => format!("script_power_fails({x}, {y})"),
        Op::Finite => format!("!script_finite({a})"),
        Op::Permits => format!("{a} == 0u && !script_over"),
        Op::Below => format!("{} >= {}", rows.int(i.b), rows.int(i.c)),
        Op::Index | Op::Gather | Op::Table | Op::Scatter => format!("script_index_fails({a}, {len}u)"),
        _ => return None,
    })
}
