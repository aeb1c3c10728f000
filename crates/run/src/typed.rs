//! Parsing of numbers and knobs that users type.

use crate::error::RunError;
use crate::protocol::{Knob, KnobKind, Knobs, Value};
use learn::decimal;

/// Parses a number in one of the common notations: `2000000`, `2_000_000`, `2e6`, `2.5e6`.
pub fn number(text: &str) -> Result<f64, String> {
    let grouped = text.split('_').all(|part| !part.is_empty());
    let digits = text.replace('_', "");
    decimal(&digits).filter(|_| grouped).ok_or_else(|| "write a number, as in 2e6 or 2_000_000".into())
}

/// Parses knobs and checks each against `knobs`. Numbers may have the notations of [`number`].
pub fn set(given: &[(String, String)], knobs: &[Knob]) -> Result<Knobs, RunError> {
    given.iter().map(|(name, text)| Ok((name.clone(), set_one(name, text, knobs)?))).collect()
}

pub fn set_one(name: &str, text: &str, knobs: &[Knob]) -> Result<Value, RunError> {
    let knob = knobs.iter().find(|knob| knob.name == name);
    let knob = knob.ok_or_else(|| RunError::unknown_knob(name, knobs.iter().map(|knob| knob.name)))?;
    let plain = match knob.kind {
        KnobKind::Bool if text == "yes" => "1".into(),
        KnobKind::Bool if text == "no" => "0".into(),
        KnobKind::Choice { .. } | KnobKind::Text { .. } => text.to_string(),
        _ => number(text).map_or_else(|_| text.to_string(), |value| value.to_string()),
    };
    crate::knobs::parse(knob, &plain)
}
