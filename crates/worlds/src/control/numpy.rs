//! Numbers with NumPy's rounding (NEP 50), for environments whose state or action is an f32 in Gymnasium. In these environments, the types
//! of the operands decide how a result is rounded. Only the operations that these environments need are implemented.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

/// Type of a number in NumPy's rules. A Python float is converted to the type of the other operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    Python,
    F32,
    F64,
}

#[derive(Clone, Copy)]
pub struct Number {
    pub value: f64,
    width: Width,
}

pub fn python(value: f64) -> Number {
    Number { value, width: Width::Python }
}

pub fn f64_number(value: f64) -> Number {
    Number { value, width: Width::F64 }
}

/// Creates a number from a value that the caller passes. If f32 represents the value exactly, the number has the type f32, as in
/// Gymnasium's spaces. For any other value, the number has the type f64.
pub fn from_outside(value: f64) -> Number {
    Number { value, width: if fits_f32(value) { Width::F32 } else { Width::F64 } }
}

pub(crate) fn fits_f32(value: f64) -> bool {
    rounded(value) == value
}

pub fn rounded(value: f64) -> f64 {
    f64::from(value as f32)
}

/// Applies an operation in the wider type of the two operands. An f64 result that is rounded to f32 equals the result of f32 arithmetic,
/// because f64 has more than twice the digits of f32.
fn meet(a: Number, b: Number, operation: fn(f64, f64) -> f64) -> Number {
    let width = a.width.max(b.width);
    let fit = |x| if width == Width::F32 { rounded(x) } else { x };
    Number { value: fit(operation(fit(a.value), fit(b.value))), width }
}

impl Add for Number {
    type Output = Number;
    fn add(self, other: Number) -> Number {
        meet(self, other, |a, b| a + b)
    }
}

impl Sub for Number {
    type Output = Number;
    fn sub(self, other: Number) -> Number {
        meet(self, other, |a, b| a - b)
    }
}

impl Mul for Number {
    type Output = Number;
    fn mul(self, other: Number) -> Number {
        meet(self, other, |a, b| a * b)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        let widest = |x| meet(x, Number { value: 0.0, width: self.width.max(other.width) }, |a, _| a).value;
        widest(*self).partial_cmp(&widest(*other))
    }
}
