//! Results of a sweep: quartiles over the seeds of each setting, and a text table. A setting is the set of all runs with the same values of
//! the knobs.

use crate::format;
use crate::protocol::{Column, Knobs};
use math::rounds;
use serde::{Deserialize, Serialize};

/// Result of all runs with one setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub knobs: Knobs,
    /// Number of finished runs.
    pub runs: usize,
    pub solved: usize,
    pub diverged: usize,
    /// Quartiles of the runs' last test values in the goal's column. A run without such a value counts as the worst.
    pub result: Quartiles,
    /// Quartiles of the room's first counter at the time when a run was solved. A run that was not solved counts as infinite.
    pub solved_at: Quartiles,
}

/// Quartiles of a list of values. A quartile is null if it is infinite or if the list is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quartiles {
    pub q1: Option<f64>,
    pub median: Option<f64>,
    pub q3: Option<f64>,
}

/// Result of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Value of the last test in the goal's column; `None` if it is unknown.
    pub result: Option<f64>,
    /// Value of the room's first counter at the time when the run was solved; `None` if the run was not solved.
    pub solved_at: Option<f64>,
    pub diverged: bool,
}

impl Outcome {
    pub fn of(knobs: &Knobs, runs: &[Ended]) -> Outcome {
        let results: Vec<f64> = runs.iter().map(|run| run.result.unwrap_or(f64::NEG_INFINITY)).collect();
        let solved_at: Vec<f64> = runs.iter().map(|run| run.solved_at.unwrap_or(f64::INFINITY)).collect();
        Outcome {
            knobs: knobs.clone(),
            runs: runs.len(),
            solved: runs.iter().filter(|run| run.solved_at.is_some()).count(),
            diverged: runs.iter().filter(|run| run.diverged).count(),
            result: quartiles(&results),
            solved_at: quartiles(&solved_at),
        }
    }
}

/// Returns the knobs of a setting as text: `lr=0.001 hidden=64`.
pub fn named(setting: &Knobs) -> String {
    if setting.is_empty() {
        return "all defaults".into();
    }
    setting.iter().map(|(name, value)| format!("{name}={}", format::knob(value))).collect::<Vec<_>>().join(" ")
}

/// Returns the quartiles of `values`. An infinite quartile becomes `None`.
fn quartiles(values: &[f64]) -> Quartiles {
    if values.is_empty() {
        return Quartiles::default();
    }
    let known = |value: f64| Some(value).filter(|value| value.is_finite());
    let rounds::Quartiles { lower, median, upper } = rounds::Quartiles::of(values);
    Quartiles { q1: known(lower), median: known(median), q3: known(upper) }
}

/// Returns a text table with a head and one line per setting. `result` is the goal's column, and `counter` is the room's first counter.
pub fn table(outcomes: &[Outcome], result: &Column, counter: &Column) -> String {
    let results = |x: Option<f64>| format::value(result, x);
    let counts = |x: Option<f64>| x.map_or("-".into(), |x| format::grouped(x.round() as u64));
    let names: Vec<&String> = outcomes.first().map_or(Vec::new(), |o| o.knobs.keys().collect());
    let until = format!("{} to solved", counter.unit);
    let head = ["solved", result.brief, "25 %", "75 %", &until, "25 %", "75 %"];
    let mut rows: Vec<Vec<String>> = vec![names.iter().map(|n| n.to_string()).chain(head.map(String::from)).collect()];
    for o in outcomes {
        let diverged = if o.diverged > 0 { format!(", {} diverged", o.diverged) } else { String::new() };
        let (r, s) = (o.result, o.solved_at);
        let knobs = o.knobs.values().map(format::knob);
        let solved = format!("{} of {}{diverged}", o.solved, o.runs);
        let figures = [r.median, r.q1, r.q3].map(results).into_iter();
        rows.push(knobs.chain([solved]).chain(figures).chain([s.median, s.q1, s.q3].map(counts)).collect());
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}
