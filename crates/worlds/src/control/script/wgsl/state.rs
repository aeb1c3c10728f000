//! Conversion of a state, `array<f32, STATE>`, to rows and back. The state has the format of the engine's saved states: an integer is two
//! numbers, its upper and its lower 16 bits.

use super::super::program::{Attribute, Code, Type};
use super::body::each;
use super::rows::Rows;
use std::ops::Range;

/// Returns the number of f32 values that an element of the type `ty` takes in a state.
fn width(ty: Type) -> usize {
    1 + usize::from(ty == Type::Int)
}

/// Returns the number of f32 values in a state.
pub fn len(attributes: &[Attribute]) -> usize {
    attributes.iter().map(|attribute| attribute.len * width(attribute.ty)).sum()
}

/// Returns each attribute with its rows, and the index of its first number in the state.
fn parts<'a>(attributes: &'a [Attribute], code: &Code) -> impl Iterator<Item = (&'a Attribute, Range<u32>, usize)> {
    let (first, mut at) = (code.state_at, 0);
    attributes.iter().map(move |attribute| {
        let rows = (first + attribute.start) as u32..(first + attribute.start + attribute.len) as u32;
        at += attribute.len * width(attribute.ty);
        (attribute, rows, at - attribute.len * width(attribute.ty))
    })
}

/// Returns statements that read the rows of a program from the state `state`.
pub fn loads(rows: &Rows<'_>, attributes: &[Attribute], code: &Code) -> Vec<String> {
    let used = parts(attributes, code).filter(|(_, of, _)| rows.has(of.start));
    let one = |(attribute, of, at): (&Attribute, Range<u32>, usize)| {
        let [first, second] = places(attribute, at);
        let value = match attribute.ty {
            Type::Int => format!("(u32(i32(given[{first}])) << 16u) | u32(given[{second}])"),
            Type::Bool => format!("script_mask(given[{first}] != 0.0)"),
            _ => format!("bitcast<u32>(given[{first}])"),
        };
        element(rows, attribute, &of, |place| format!("{place} = {value};"))
    };
    std::iter::once("var given = state;".into()).chain(used.map(one)).collect()
}

/// Returns statements that write to the state `next` the attributes that a program changes.
pub fn saves(rows: &Rows<'_>, attributes: &[Attribute], code: &Code) -> Vec<String> {
    let changed = parts(attributes, code).filter(|(_, of, _)| rows.writes(of));
    let one = |(attribute, of, at): (&Attribute, Range<u32>, usize)| {
        let [first, second] = places(attribute, at);
        element(rows, attribute, &of, |place| match attribute.ty {
            Type::Int => format!("next[{first}] = f32(bitcast<i32>({place}) >> 16u); next[{second}] = f32({place} & 0xFFFFu);"),
            Type::Bool => format!("next[{first}] = f32({place} & 1u);"),
            _ => format!("next[{first}] = bitcast<f32>({place});"),
        })
    };
    changed.map(one).collect()
}

/// Returns WGSL expressions for the indices of an element's one or two numbers in the state. `at` is the index of the first number of
/// element 0. In a list, the variable `k` is the index of the element.
fn places(attribute: &Attribute, at: usize) -> [String; 2] {
    let width = width(attribute.ty);
    [at, at + 1].map(|at| if attribute.is_list { format!("{at}u + {width}u * k") } else { format!("{at}u") })
}

/// Returns a statement for the only element of an attribute, or a loop over the elements of a list.
fn element(rows: &Rows<'_>, attribute: &Attribute, of: &Range<u32>, statement: impl Fn(&str) -> String) -> String {
    if attribute.is_list { each(attribute.len, &statement(&rows.element(of.start, "k"))) } else { statement(&rows.place(of.start)) }
}
