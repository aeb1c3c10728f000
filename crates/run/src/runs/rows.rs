//! Conversion of an iteration to its metrics row, whose values are in the order of the room's columns.

use crate::history::Spent;
use crate::protocol::{Column, Progress, Row};
use crate::schema::{Schema, in_order};
use learn::Iteration;

pub(super) fn row(schema: &Schema, iteration: &Iteration, before: &Progress, progress: Progress, spent: Spent) -> Row {
    let mut values = metrics(schema, iteration, before, &progress, spent.round_s);
    values.extend(shares(schema, iteration, spent));
    Row { progress, values }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn metrics(schema: &Schema, iteration: &Iteration, before: &Progress, progress: &Progress, round_s: f64) -> Vec<Option<f64>> {
    let metrics = in_order(schema.id, schema.metrics.iter().map(|column| column.name), &iteration.metrics);
    let value = |(column, reported): (&Column, Option<Option<f64>>)| match column.rate {
        Some(rate) => {
            let at = schema.counter(rate.counter).expect("a rate is one of the room's counters");
            let grown = progress.counts[at] - before.counts[at];
            Some(rate.seconds * share(grown, round_s))
        }
        None => reported.flatten(),
    };
    schema.metrics.iter().zip(metrics).map(value).collect()
}

/// Returns the share of the iteration's time that each part took, in the order of [`Schema::all_parts`].
fn shares(schema: &Schema, iteration: &Iteration, Spent { round_s, tests_s }: Spent) -> impl Iterator<Item = Option<f64>> {
    let parts_s = in_order(schema.id, schema.parts.iter().map(|part| part.name), &iteration.parts_s);
    let known: f64 = iteration.parts_s.iter().map(|(_, part_s)| part_s).sum();
    let rest = (round_s - known).max(0.0);
    let whole = known + tests_s + rest;
    let parts_s = parts_s.into_iter().chain([Some(tests_s), Some(rest)]);
    parts_s.map(move |part_s| part_s.map(|part_s| share(part_s, whole)))
}
