//! Records of a training process: the events of its run and the terminal shell's own records. A record is a JSON object on one line. The
//! `--json` output of `train`, `resume` and `watch` contains only such lines, and so does the `--events` file.
//!
//! `named.rs` defines the names of the fields.

mod named;
mod summary;

use crate::session::budget::Remaining;
pub use named::{By, Names};
use named::{Fields, Named, Solved};
use run::protocol::{Backend, Began, Confirmation, Event, Mark, Row, Standing};
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
        let value: Value = run::json::read(str::from_utf8(line).ok()?).ok()?;
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
        "standing" => Event::Standing(Standing::read(value, names)?),
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
            Record::Event(Event::Standing(standing)) => put_named(out, "standing", standing, names),
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
