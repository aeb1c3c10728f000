//! Values of one iteration for the CSV table and TensorBoard.

use run::protocol::{Column, Row as Numbers};
use run::room::Schema;
use std::time::{SystemTime, UNIX_EPOCH};

/// Metrics of an iteration, and the test after the iteration; `None` if there was no test.
pub struct Row {
    pub metrics: Numbers,
    pub test: Option<Numbers>,
    /// Seconds since the start of 1970.
    pub wall_s: f64,
}

/// A named value of a row.
pub struct Cell<'a> {
    pub name: String,
    pub unit: &'a str,
    /// Section in TensorBoard; empty for a value that only the CSV table contains.
    pub group: &'a str,
    pub value: Option<f64>,
}

/// Returns the cells of a row: the iteration, counters and training time, then metrics, tests, and the share of time of each part of the
/// iteration. Without a row, the cells have names but no values.
pub fn cells<'a>(schema: &'a Schema, row: Option<&'a Row>) -> impl Iterator<Item = Cell<'a>> {
    let progress = row.map(|row| &row.metrics.progress);
    let cell = |name: &str, unit, group, value| Cell { name: name.into(), unit, group, value };
    let iteration = cell("iteration", "", "", progress.map(|p| p.iteration.into()));
    let counters = schema.counters.iter().enumerate().map(move |(i, column)| {
        let group = if i == 0 { "" } else { "progress" };
        cell(column.name, column.unit, group, progress.map(|p| p.counts[i]))
    });
    let time = cell("train_s", "s", "progress", progress.map(|p| p.train_s));
    let known = |numbers: Option<&'a Numbers>, i: usize| numbers.and_then(|n| n.values.get(i).copied().flatten());
    let metrics = schema
        .metrics
        .iter()
        .enumerate()
        .map(move |(i, column)| cell(column.name, column.unit, heading(column, "metrics"), known(row.map(|r| &r.metrics), i)));
    let tests = schema.tests.iter().enumerate().map(move |(i, column)| {
        let value = known(row.and_then(|r| r.test.as_ref()), i);
        cell(&format!("test_{}", column.name), column.unit, heading(column, "test"), value)
    });
    let parts = schema.all_parts().enumerate().map(move |(i, part)| {
        let value = known(row.map(|r| &r.metrics), schema.metrics.len() + i);
        cell(&format!("share_{}", part.name), "", "time", value)
    });
    [iteration].into_iter().chain(counters).chain([time]).chain(metrics).chain(tests).chain(parts)
}

fn heading(column: &Column, other: &'static str) -> &'static str {
    if column.chart.is_empty() { other } else { column.chart }
}

pub fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
}
