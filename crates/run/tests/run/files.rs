//! Tests of the history in a checkpoint. The tests also read files that lack a column of the current version or contain a removed column.

use crate::common::*;
use run::protocol::{Config, Row};
use serde_json::json;

/// Returns the checkpoint of a run after three iterations.
fn file(config: &Config) -> Vec<u8> {
    let mut run = start(config);
    train(&mut *run, 3);
    run.save().unwrap()
}

fn history_names(file: &[u8]) -> Vec<String> {
    serde_json::from_value(apart(file).header["names"]["history"].clone()).unwrap()
}

/// Returns the checkpoint with the history columns `names`, in this order. A column that `file` lacks gets the value -1.
fn arranged(file: &[u8], names: &[&str]) -> Vec<u8> {
    let (had, mut parts) = (history_names(file), apart(file));
    let cell = |row: &[u8], name: &str| match had.iter().position(|known| known == name) {
        Some(at) => row[8 * at..8 * at + 8].to_vec(),
        None => (-1.0_f64).to_le_bytes().to_vec(),
    };
    let history = parts.tensors.iter_mut().find(|tensor| tensor.0 == "run.history").unwrap();
    let rows = history.3.chunks_exact(8 * had.len());
    history.3 = rows.flat_map(|row| names.iter().flat_map(|name| cell(row, name)).collect::<Vec<_>>()).collect();
    history.2[1] = names.len();
    parts.header["names"]["history"] = json!(names);
    parts.together()
}

fn history(file: &[u8]) -> Vec<Row> {
    let mut run = run::restore(file, host()).unwrap();
    Events::drain(&mut *run).began().history.clone()
}

#[test]
fn history_columns_are_read_by_name() {
    for (room, config) in first(1) {
        let (schema, file) = (room.schema(), file(&config));
        let whole = history(&file);
        assert!(whole.len() >= 3);
        let had = history_names(&file);
        let mut names: Vec<&str> = had.iter().rev().map(String::as_str).collect();
        assert_eq!(history(&arranged(&file, &names)), whole, "{}", schema.id);

        // A missing metric is unknown, a missing part of time is 0, and an unknown column is dropped.
        let tests = schema.all_parts().position(|part| part.name == "tests").unwrap();
        names.retain(|&name| name != schema.metrics[0].name && name != "tests");
        names.push("gone");
        let less = |row: &Row| {
            let mut row = row.clone();
            row.values[0] = None;
            row.values[schema.metrics.len() + tests] = Some(0.0);
            row
        };
        let expected: Vec<Row> = whole.iter().map(less).collect();
        assert_eq!(history(&arranged(&file, &names)), expected, "{}", schema.id);
    }
}

/// A checkpoint without `attempts` is from a version in which a single test decided `solved`.
#[test]
fn file_without_confirmations_restores_an_unsolved_run() {
    let mut parts = apart(&file(&small("control", "CartPole-v1", 1)));
    parts.header["solved"] = parts.header["progress"].clone();
    assert!(run::restore(&parts.together(), host()).unwrap().solved().is_some());
    parts.header.as_object_mut().unwrap().remove("attempts");
    let run = run::restore(&parts.together(), host()).unwrap();
    assert_eq!((run.solved(), run.attempts()), (None, 0));
}
