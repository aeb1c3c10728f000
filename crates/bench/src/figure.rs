//! What a bench gives. It refuses to rate: a figure says what was measured.

use math::rounds::Quartiles;
use std::borrow::Cow;

/// One number of a bench. Names are stable: scripts read them. It is made of rounds or of a count, and in no other way:
///
/// ```compile_fail
/// let best = bench::Figure { name: "fast".into(), value: 1e9, spread: None, unit: "steps/s".into() };
/// ```
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Figure {
    pub name: String,
    pub value: f64,
    #[serde(flatten)]
    pub spread: Option<Spread>,
    pub unit: Cow<'static, str>,
}

/// The quartiles of the rounds, and their number.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Spread {
    pub lower: f64,
    pub upper: f64,
    pub rounds: usize,
}

impl Figure {
    /// The median of rounds.
    ///
    /// # Panics
    /// Without any.
    #[track_caller]
    pub fn measured(name: impl Into<String>, rounds: &[f64], unit: impl Into<Cow<'static, str>>) -> Figure {
        let Quartiles { lower, median, upper } = Quartiles::of(rounds);
        let spread = Some(Spread { lower, upper, rounds: rounds.len() });
        Figure { name: name.into(), value: median, spread, unit: unit.into() }
    }

    /// What is counted, and would be the same again: bytes, or how many of some seeds.
    pub fn counted(name: impl Into<String>, value: f64, unit: impl Into<Cow<'static, str>>) -> Figure {
        Figure { name: name.into(), value, spread: None, unit: unit.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_median_and_quartiles_and_a_count_has_none() {
        let row = Figure::measured("core.x", &[7.0, 1.0, 4.0, 2.0], "rows/s");
        let json = serde_json::to_value(&row).unwrap();
        let expected = serde_json::json!({
            "name": "core.x", "value": 3.0, "lower": 1.75, "upper": 4.75, "rounds": 4, "unit": "rows/s"
        });
        assert_eq!(json, expected);
        let count = serde_json::to_value(Figure::counted("core.bytes", 8.0, "bytes")).unwrap();
        assert_eq!(count, serde_json::json!({ "name": "core.bytes", "value": 8.0, "unit": "bytes" }));
    }
}
