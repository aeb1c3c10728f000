//! Records of a training process: the events of its run and the terminal shell's own records. A record is a JSON object on one line. The
//! `--json` output of `train`, `resume` and `watch` contains only such lines, and so does the `--events` file.
//!
//! `named.rs` defines the names of the fields.

mod named;
mod summary;

use crate::session::budget::Remaining;
pub use named::{By, Names};
use named::{Fields, Named, Solved};
use run::protocol::{Backend, Began, Confirmation, Event, Mark, Row};
use run::room::Schema;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
pub use summary::{Ended, EndedBy, Parts, Summary};

#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// First record of a process: the machine and the version of the program.
    Opened(Backend),
    /// A checkpoint was written.
    FileSaved {
        file: String,
        bytes: u64,
    },
    /// Progress towards the run's limits, at most once a second. Not reported for a run without limits.
    Remaining(Remaining),
    /// Last record of a process.
    Summary(Box<Summary>),
    Event(Event),
}

impl Record {
    /// Formats the record as one line. `schema` is the schema of the run's room.
    pub fn line(&self, schema: &Schema) -> String {
        // Serialization cannot fail: the record is plain data with string keys.
        serde_json::to_string(&Line { record: self, schema }).unwrap_or_default()
    }

    /// Returns the room id of a `Began` event or of a summary; `None` for other records.
    pub fn room(&self) -> Option<&str> {
        match self {
            Record::Event(Event::Began(began)) => Some(&began.config.room),
            Record::Summary(summary) => Some(&summary.room),
            _ => None,
        }
    }

    /// Parses a line; returns `None` if the line is invalid. `schema` is the schema of the current run. If the line contains a config, the
    /// schema of the config's room replaces `schema`.
    pub fn read(line: &[u8], schema: &mut Option<&'static Schema>) -> Option<Record> {
        let value: Value = serde_json::from_slice(line).ok()?;
        if let Some(room) = value.get("config").and_then(|config| config.get("room")) {
            *schema = Some(run::room(room.as_str()?).ok()?.schema());
        }
        match (value.get("kind")?.as_str()?, *schema) {
            ("opened", _) => Some(Record::Opened(serde_json::from_value(value).ok()?)),
            ("file_saved", _) => {
                Some(Record::FileSaved { file: value.get("file")?.as_str()?.into(), bytes: value.get("bytes")?.as_u64()? })
            }
            ("left", _) => Some(Record::Remaining(serde_json::from_value(value).ok()?)),
            ("running" | "device" | "digest" | "saved" | "room" | "notice", _) => Some(Record::Event(serde_json::from_value(value).ok()?)),
            (kind, Some(schema)) => read_named(kind, &value, Names::of(schema)),
            _ => None,
        }
    }
}

/// Parses a record whose fields have the names of the room's columns.
fn read_named(kind: &str, value: &Value, names: Names) -> Option<Record> {
    Some(Record::Event(match kind {
        "began" => Event::Began(Box::new(Began::read(value, names)?)),
        "metrics" => Event::Metrics(Row::read(value, names)?),
        "test" => Event::Test(Row::read(value, names.tests())?),
        "mark" => Event::Mark(Mark::read(value, names)?),
        "confirmation" => Event::Confirmation(Confirmation::read(value, names)?),
        "solved" => {
            let Solved { progress, goal } = Solved::read(value, names)?;
            Event::Solved { progress, goal }
        }
        "summary" => return Some(Record::Summary(Box::new(Summary::read(value, names)?))),
        _ => return None,
    }))
}

struct Line<'a> {
    record: &'a Record,
    schema: &'a Schema,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tagged<'a, T> {
            kind: &'a str,
            #[serde(flatten)]
            rest: T,
        }
        #[derive(Serialize)]
        struct Saved<'a> {
            file: &'a str,
            bytes: u64,
        }
        let names = Names::of(self.schema);
        match self.record {
            Record::Opened(backend) => Tagged { kind: "opened", rest: backend }.serialize(out),
            Record::FileSaved { file, bytes } => Tagged { kind: "file_saved", rest: Saved { file, bytes: *bytes } }.serialize(out),
            Record::Remaining(remaining) => Tagged { kind: "left", rest: remaining }.serialize(out),
            Record::Summary(summary) => put_named(out, "summary", &**summary, names),
            Record::Event(Event::Began(began)) => put_named(out, "began", &**began, names),
            Record::Event(Event::Metrics(row)) => put_named(out, "metrics", row, names),
            Record::Event(Event::Test(row)) => put_named(out, "test", row, names.tests()),
            Record::Event(Event::Mark(mark)) => put_named(out, "mark", mark, names),
            Record::Event(Event::Confirmation(confirmation)) => put_named(out, "confirmation", confirmation, names),
            Record::Event(Event::Solved { progress, goal }) => {
                put_named(out, "solved", &Solved { progress: progress.clone(), goal: *goal }, names)
            }
            Record::Event(event) => event.serialize(out),
        }
    }
}

fn put_named<S: Serializer>(out: S, kind: &str, fields: &impl Fields, names: Names) -> Result<S::Ok, S::Error> {
    let mut map = out.serialize_map(None)?;
    map.serialize_entry("kind", kind)?;
    fields.put_fields(names, &mut map)?;
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::protocol::{Config, Progress};

    #[test]
    fn records_of_every_room_survive_the_round_trip() {
        for room in run::rooms() {
            let schema = room.schema();
            let progress = Progress {
                iteration: 3,
                counts: schema.counters.iter().enumerate().map(|(i, _)| (1u64 << 40) as f64 + i as f64).collect(),
                train_s: 0.125,
            };
            let row =
                |len: usize| Row { progress: progress.clone(), values: (0..len).map(|i| (i % 3 > 0).then_some(0.1 + i as f64)).collect() };
            let mark = Mark { progress: progress.clone(), knob: "lr".into(), from: 0.1.into(), to: "warm".into() };
            let config: Config = run::config_of(room);
            let records = [
                Record::Opened(Backend { isa: "avx2".into(), threads: 2, ..Default::default() }),
                Record::Event(Event::Began(Box::new(Began {
                    config: config.clone(),
                    knobs: room.knobs(&config.variant).iter().map(|k| (k.name.into(), k.default.clone())).collect(),
                    progress: progress.clone(),
                    solved: Some(progress.clone()),
                    attempts: 2,
                    history: vec![row(schema.row_len())],
                    tests: vec![row(schema.tests.len())],
                    marks: vec![mark.clone()],
                    room: Value::Null,
                }))),
                Record::FileSaved { file: "run.safetensors".into(), bytes: 7 },
                Record::Remaining(Remaining { done: 0.5, seconds: 90.25 }),
                Record::Event(Event::Metrics(row(schema.row_len()))),
                Record::Event(Event::Test(row(schema.tests.len()))),
                Record::Event(Event::Mark(mark)),
                Record::Event(Event::Confirmation(Confirmation {
                    progress: progress.clone(),
                    value: Some(470.5),
                    goal: 475.0,
                    confirmed: false,
                })),
                Record::Event(Event::Solved { progress: progress.clone(), goal: 475.0 }),
                Record::Event(Event::Running { running: true }),
                Record::Summary(Box::new(Summary {
                    ended_by: EndedBy::CpuSeconds,
                    room: config.room,
                    variant: config.variant,
                    seed: 1,
                    progress: progress.clone(),
                    seconds: 1.5,
                    cpu_seconds: 3.0,
                    per_second: 1e6,
                    metrics: Some(row(schema.row_len())),
                    test: None,
                    solved: None,
                    attempts: 1,
                    parts_s: Parts(schema.all_parts().enumerate().map(|(i, _)| i as f64).collect()),
                    machine: Ended {
                        link: "#/".into(),
                        digest: "0123".into(),
                        arithmetic: "fused".into(),
                        device: None,
                        isa: "avx2".into(),
                        threads: 2,
                        file: Some("run.safetensors".into()),
                        resume: None,
                    },
                })),
            ];
            let mut known = None;
            let lines: Vec<String> = records.iter().map(|record| record.line(schema)).collect();
            for (record, line) in records.into_iter().zip(&lines) {
                assert_eq!(Record::read(line.as_bytes(), &mut known), Some(record), "{line}");
            }
            let summary = lines.last().unwrap();
            let without_link = summary.replace(r##""link":"#/","##, "");
            assert_ne!(without_link, *summary);
            assert!(matches!(Record::read(without_link.as_bytes(), &mut known), Some(Record::Summary(_))), "{without_link}");
            // `watch` prints every valid line of an untrusted file, so printing a parsed record must not panic.
            let mut printer = crate::outputs::lines::Printer::new(Vec::new(), false);
            testkit::fuzz(&format!("record of {}", schema.id), testkit::cases(100), |mutator| {
                let line = mutator.one_of(&lines).clone();
                let bytes = match mutator.below(2) {
                    0 => mutator.bytes(line.as_bytes()),
                    _ => mutator.json(&serde_json::from_str(&line).unwrap()).to_string().into_bytes(),
                };
                let mut known = Some(schema);
                if let Some(record) = Record::read(&bytes, &mut known) {
                    printer.record(&record).unwrap();
                    crate::outputs::view::View::default().apply(record);
                }
            });
        }
    }

    #[test]
    fn a_line_contains_the_names_of_all_its_values() {
        let schema = run::rooms()[0].schema();
        let progress = Progress { iteration: 1, counts: vec![32768.0, 9.0], train_s: 0.5 };
        let mut values = vec![None; schema.row_len()];
        (values[0], values[schema.metrics.len()]) = (Some(12.5), Some(0.25));
        let line = Record::Event(Event::Metrics(Row { progress, values })).line(schema);
        let progress = r#"{"kind":"metrics","progress":{"iteration":1,"env_steps":32768,"episodes":9,"train_s":0.5}"#;
        let begins = format!(r#"{progress},"mean_return":12.5,"mean_length":null,"#);
        assert!(line.starts_with(&begins), "{line}");
        assert!(line.contains(r#""shares":{"policy":0.25,"world":null"#), "{line}");
        let opened = Record::Opened(Backend::default()).line(schema);
        assert!(opened.as_bytes().starts_with(files::EVENTS_BEGIN), "{opened}");
    }
}
