//! Conversions of states to numbers and back, and of drawn rows to shapes.

use super::super::fold::bool_bits;
use super::super::program::{Attribute, Code, Type};
use crate::control::shape::Shape;

/// Converts the 32 bits of a value of the type `ty` to a number.
pub fn number(ty: Type, bits: u32) -> f64 {
    match ty {
        Type::Float => f32::from_bits(bits).into(),
        Type::Int | Type::Text => f64::from(bits as i32),
        Type::Bool => f64::from(bits & 1),
    }
}

/// Writes a state as numbers. An integer becomes two numbers, its upper and its lower 16 bits. `read` returns the bits of a row.
pub fn save(attributes: &[Attribute], read: impl Fn(usize) -> u32, out: &mut [f32]) {
    let mut at = 0;
    for attribute in attributes {
        for k in attribute.start..attribute.start + attribute.len {
            let bits = read(k);
            match attribute.ty {
                Type::Int => {
                    (out[at], out[at + 1]) = ((bits as i32 >> 16) as f32, (bits & 0xFFFF) as f32);
                    at += 2;
                }
                ty => {
                    out[at] = number(ty, bits) as f32;
                    at += 1;
                }
            }
        }
    }
}

/// Converts the numbers of [`save`] to pairs of a row and its bits. Returns `None` if the numbers do not describe a state.
pub fn load(attributes: &[Attribute], state: &[f32]) -> Option<Vec<(usize, u32)>> {
    let mut numbers = state.iter().copied();
    let whole = |x: f32, low: f32, high: f32| ((low..=high).contains(&x) && x.fract() == 0.0).then_some(x);
    let mut rows = Vec::new();
    for attribute in attributes {
        for k in attribute.start..attribute.start + attribute.len {
            let x = numbers.next()?;
            let bits = match attribute.ty {
                Type::Int => {
                    let (high, low) = (whole(x, -32_768.0, 32_767.0)?, whole(numbers.next()?, 0.0, 65_535.0)?);
                    ((high as i32) << 16 | low as i32) as u32
                }
                Type::Bool => bool_bits(whole(x, 0.0, 1.0)? == 1.0),
                _ => x.is_finite().then_some(x.to_bits())?,
            };
            rows.push((k, bits));
        }
    }
    numbers.next().is_none().then_some(rows)
}

/// Creates shape number `n` from the bits of its rows.
pub fn shape(code: &Code, n: u32, numbers: &[u32]) -> Shape {
    let of = &code.shapes[n as usize];
    let text = |at: u32| code.texts.get(at as usize).cloned().unwrap_or_default();
    let (count, last) = (of.numbers, numbers.len() - 1);
    let text_of = |is_number: bool| if is_number { short(f32::from_bits(numbers[count])) } else { text(numbers[count]) };
    Shape {
        kind: of.kind,
        numbers: numbers[..count].iter().map(|bits| f32::from_bits(*bits)).collect(),
        text: of.what.map(text_of),
        colour: text(numbers[last]),
    }
}

/// Formats a number with at most two decimals.
fn short(x: f32) -> String {
    format!("{x:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
