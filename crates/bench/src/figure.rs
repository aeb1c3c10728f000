//! Result of a benchmark: a measured number, which is not compared with a target.

use math::rounds::Quartiles;
use std::borrow::Cow;

/// A number with a stable name, by which scripts read it. A figure is created from the values of rounds or from a count. No other
/// constructor exists:
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

/// Lower and upper quartile of the rounds' values, and the number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Spread {
    pub lower: f64,
    pub upper: f64,
    pub rounds: usize,
}

impl Figure {
    /// Creates a figure whose value is the median of `rounds`.
    ///
    /// # Panics
    /// If `rounds` is empty.
    #[track_caller]
    pub fn measured(name: impl Into<String>, rounds: &[f64], unit: impl Into<Cow<'static, str>>) -> Figure {
        let Quartiles { lower, median, upper } = Quartiles::of(rounds);
        let spread = Some(Spread { lower, upper, rounds: rounds.len() });
        Figure { name: name.into(), value: median, spread, unit: unit.into() }
    }

    /// Creates a figure from a deterministic count, such as a number of bytes or of successful seeds.
    pub fn counted(name: impl Into<String>, value: f64, unit: impl Into<Cow<'static, str>>) -> Figure {
        Figure { name: name.into(), value, spread: None, unit: unit.into() }
    }
}
