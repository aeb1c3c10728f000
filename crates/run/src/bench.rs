//! What a bench measures and gives. The compute core's figures are in `bench/compute.rs`, a room's own in its folder. Every speed follows
//! one rule, which is in [`math::rounds`]: the median of sustained rounds, with its quartiles. A share is of a peak measured by the same
//! rule, in the same rounds.
//!
//! It refuses to rate: it prints what was measured.

mod compute;
mod profile;
mod training;

pub use compute::{core, profile_core};
pub(crate) use math::rounds::{FEW, ROUND_S, ROUNDS, rounds_s, sustained_s};
pub(crate) use profile::profile_training;
pub(crate) use training::Training;

use crate::monitor::Writer;
use crate::schema::Schema;
use math::Isa;
use math::par::Threads;
use math::rounds::Quartiles;
use std::borrow::Cow;

/// One number of a bench. Names are stable: scripts read them. It is made of rounds or of a count, and in no other way:
///
/// ```compile_fail
/// let best = run::bench::Figure { name: "fast".into(), value: 1e9, spread: None, unit: "steps/s".into() };
/// ```
#[derive(Clone, Debug, serde::Serialize)]
pub struct Figure {
    name: String,
    value: f64,
    #[serde(flatten)]
    spread: Option<Spread>,
    unit: Cow<'static, str>,
}

/// The quartiles of so many rounds.
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

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn value(&self) -> f64 {
        self.value
    }

    pub fn spread(&self) -> Option<Spread> {
        self.spread
    }

    pub fn unit(&self) -> &str {
        &self.unit
    }
}

/// What measures a room.
pub struct Bench<'a> {
    pub isa: Isa,
    /// Seconds from anywhere.
    pub now: fn() -> f64,
    /// What writes a monitor that is read ten times a second for as long as it is written; None where there can be none.
    pub attach: &'a mut dyn FnMut(&Schema) -> Option<Writer>,
    pub sink: &'a mut dyn FnMut(Figure),
    /// Which figures this machine cannot have, and why.
    pub lacks: &'a mut dyn FnMut(String),
}

/// Calls for a second what is measured next: a browser compiles again, and better, what has run for a while.
pub(crate) fn warm_up(now: &dyn Fn() -> f64, call: impl FnMut()) {
    sustained_s(1.0, now, call);
}

/// On one core.
pub(crate) fn alone<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    Threads::of(1).expect("one there always is").run(f)
}

/// Numbers between -1 and 1 without a pattern; no zeros, no denormals.
pub(crate) fn noise(len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    math::rng::Rng::new(7, 0).fill_uniform(Isa::best(), 0, &mut values);
    values.iter().map(|u| 2.0 * u - 1.0).collect()
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
