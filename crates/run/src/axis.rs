//! Parser for `--knob`, which specifies the values of a knob in a sweep.

use crate::error::RunError;
use crate::protocol::{Knob, KnobKind, Value};
use crate::sweep::VARIANT;
use crate::typed::{number, set_one};
use learn::decimal;
use std::ops::RangeInclusive;

/// Permitted numbers of values of a range.
const COUNTS: RangeInclusive<u32> = 2..=1000;

/// A parsed argument of `--knob`: the name of a knob and the values to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub name: String,
    points: Points,
}

#[derive(Clone, Debug, PartialEq)]
enum Points {
    /// Values as typed. [`Axis::values`] parses them.
    List(Vec<String>),
    Range {
        from: f64,
        to: f64,
        log: bool,
    },
}

/// Parses an argument of `--knob`: `lr=1e-4..1e-2:log`, `gamma=0.9..0.99` or `hidden=32,64,128`.
pub fn axis(text: &str) -> Result<Axis, String> {
    let form = "write it as KNOB=FROM..TO, KNOB=FROM..TO:log or KNOB=A,B,C";
    let (name, points) = text.split_once('=').filter(|(_, points)| !points.is_empty()).ok_or(form)?;
    let points = match points.split_once("..") {
        None => Points::List(points.split(',').map(String::from).collect()),
        Some((from, to)) => {
            let (to, log) = match to.split_once(':') {
                None => (to, false),
                Some((to, "log")) => (to, true),
                Some(_) => return Err(form.into()),
            };
            let (from, to) = (number(from)?, number(to)?);
            if from >= to {
                return Err("write the smaller end of the range first".into());
            }
            if log && from <= 0.0 {
                return Err("a logarithmic range must begin above 0".into());
            }
            Points::Range { from, to, log }
        }
    };
    Ok(Axis { name: name.into(), points })
}

impl Axis {
    /// Returns the distinct values of the axis. The values of a list keep their order. A range gives `count` values (2 to 1000) from its
    /// lower to its upper end, evenly spaced on a linear or a logarithmic scale. If the knob is not a float, the values of a range are
    /// rounded to whole numbers and duplicates are dropped.
    pub fn values(&self, count: u32, knobs: &[Knob]) -> Result<Vec<Value>, RunError> {
        let knob = knobs.iter().find(|knob| knob.name == self.name);
        let whole = knob.is_some_and(|knob| !matches!(knob.kind, KnobKind::Float { .. }));
        let raw: Vec<Value> = match &self.points {
            // The variant is not a knob, but a sweep can vary it like one.
            Points::List(list) if self.name == VARIANT => list.iter().map(|name| name.as_str().into()).collect(),
            Points::List(list) => list.iter().map(|text| set_one(&self.name, text, knobs)).collect::<Result<_, _>>()?,
            Points::Range { .. } if !COUNTS.contains(&count) => {
                let range = format!("{} to {}", COUNTS.start(), COUNTS.end());
                return Err(RunError::OutOfRange { name: "points".into(), value: count.to_string(), range });
            }
            &Points::Range { from, to, log } => (0..count)
                .map(|i| match f64::from(i) / f64::from(count - 1) {
                    // The ends keep the exact values that the user typed.
                    0.0 => from,
                    1.0 => to,
                    t if log => six_figures((from.ln() * (1.0 - t) + to.ln() * t).exp()),
                    t => six_figures(from * (1.0 - t) + to * t),
                })
                .map(|v| Value::Number(if whole { v.round() } else { v }))
                .collect(),
        };
        let mut values: Vec<Value> = Vec::new();
        for value in raw {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Ok(values)
    }
}

/// Rounds `value` to six significant figures, so that users can type it.
fn six_figures(value: f64) -> f64 {
    decimal(&format!("{value:.5e}")).unwrap_or(value)
}
