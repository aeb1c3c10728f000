//! What a training process tells: the events of its run, and what only the shell knows, as one JSON object a line. `--json`,
//! `--events` and `watch` all speak it; nothing else is printed there.
//!
//! Rows, counters and shares of time stand under the names of the room's columns, so that a line can be read alone.

use crate::session::budget::Left;
use run::protocol::{Backend, Began, Confirmation, Event, Mark, Progress, Row, Value as KnobValue};
use run::room::Schema;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The first line.
    Opened(Backend),
    /// A checkpoint was written.
    FileSaved {
        file: String,
        bytes: u64,
    },
    /// Of the budget, where there is one: each second.
    Left(Left),
    /// The last line.
    Summary(Box<Summary>),
    Event(Event),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// `--steps`: so many of the room's first counter.
    Steps,
    Seconds,
    CpuSeconds,
    Solved,
    /// Ctrl-C, a termination signal, or `q`.
    Interrupt,
    /// Nobody reads the output any more.
    ClosedOutput,
    /// The weights are no longer numbers.
    Diverged,
}

/// What a training process did.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub ended_by: EndedBy,
    pub room: String,
    pub variant: String,
    pub seed: u32,
    /// Of the whole run, what was resumed included.
    pub progress: Progress,
    /// Of this process: on the wall, and of processor time.
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// Of the first counter, a second of training in this process.
    pub per_second: f64,
    /// The newest.
    pub metrics: Option<Row>,
    /// At the end; none where it diverged.
    pub test: Option<Row>,
    /// Where it was first confirmed to reach the goal, and how many confirmations failed.
    pub solved: Option<Progress>,
    pub attempts: u32,
    /// Seconds of training in this process, by part.
    pub parts_s: Vec<f64>,
    pub machine: Ended,
}

/// What of a summary needs no names of a room's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Hash of the weights at the end.
    pub digest: String,
    pub arithmetic: String,
    /// The GPU that trained in the end, where it was one.
    pub device: Option<String>,
    pub isa: String,
    pub threads: u32,
    pub file: Option<String>,
    /// The command that continues the run.
    pub resume: Option<String>,
}

impl Record {
    /// One line, for a run of the room with this schema.
    pub fn line(&self, schema: &Schema) -> String {
        // Plain data with string keys: there is nothing in it that JSON cannot hold.
        serde_json::to_string(&Line { record: self, schema }).unwrap_or_default()
    }

    /// The room that a beginning or a summary is of.
    pub fn room(&self) -> Option<&str> {
        match self {
            Record::Event(Event::Began(began)) => Some(&began.config.room),
            Record::Summary(summary) => Some(&summary.room),
            _ => None,
        }
    }

    /// What a line says; `schema` is that of the run that began last, and changes with a beginning.
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
            ("left", _) => Some(Record::Left(serde_json::from_value(value).ok()?)),
            ("running" | "device" | "digest" | "saved" | "room" | "notice", _) => Some(Record::Event(serde_json::from_value(value).ok()?)),
            (kind, Some(schema)) => named::record(kind, &value, schema),
            _ => None,
        }
    }
}

struct Line<'a> {
    record: &'a Record,
    schema: &'a Schema,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Kind<'a, T> {
            kind: &'a str,
            #[serde(flatten)]
            rest: T,
        }
        let schema = self.schema;
        let progress = |progress| NamedProgress { progress, schema };
        let event = match self.record {
            Record::Opened(backend) => return Kind { kind: "opened", rest: backend }.serialize(out),
            Record::FileSaved { file, bytes } => {
                let mut map = out.serialize_map(None)?;
                map.serialize_entry("kind", "file_saved")?;
                map.serialize_entry("file", file)?;
                map.serialize_entry("bytes", bytes)?;
                return map.end();
            }
            Record::Left(left) => return Kind { kind: "left", rest: left }.serialize(out),
            Record::Summary(summary) => return summarise(summary, schema, out),
            Record::Event(event) => event,
        };
        let mut map = match event {
            Event::Began(_) | Event::Metrics(_) | Event::Test(_) | Event::Confirmation(_) | Event::Mark(_) | Event::Solved { .. } => {
                out.serialize_map(None)?
            }
            event => return event.serialize(out),
        };
        match event {
            Event::Began(began) => {
                map.serialize_entry("kind", "began")?;
                map.serialize_entry("config", &began.config)?;
                map.serialize_entry("knobs", &began.knobs)?;
                map.serialize_entry("progress", &progress(&began.progress))?;
                map.serialize_entry("solved", &began.solved.as_ref().map(progress))?;
                map.serialize_entry("attempts", &began.attempts)?;
                map.serialize_entry("history", &named_rows(&began.history, false, schema))?;
                map.serialize_entry("tests", &named_rows(&began.tests, true, schema))?;
                let marks: Vec<_> = began.marks.iter().map(|mark| NamedMark { mark, schema }).collect();
                map.serialize_entry("marks", &marks)?;
                map.serialize_entry("room", &began.room)?;
            }
            Event::Metrics(row) => {
                map.serialize_entry("kind", "metrics")?;
                NamedRow { row, test: false, schema }.entries(&mut map)?;
            }
            Event::Test(row) => {
                map.serialize_entry("kind", "test")?;
                NamedRow { row, test: true, schema }.entries(&mut map)?;
            }
            Event::Mark(mark) => {
                map.serialize_entry("kind", "mark")?;
                NamedMark { mark, schema }.entries(&mut map)?;
            }
            Event::Confirmation(Confirmation { progress: at, value, goal, confirmed }) => {
                map.serialize_entry("kind", "confirmation")?;
                map.serialize_entry("progress", &progress(at))?;
                map.serialize_entry("value", value)?;
                map.serialize_entry("goal", goal)?;
                map.serialize_entry("confirmed", confirmed)?;
            }
            Event::Solved { progress: at, goal } => {
                map.serialize_entry("kind", "solved")?;
                map.serialize_entry("progress", &progress(at))?;
                map.serialize_entry("goal", goal)?;
            }
            _ => {}
        }
        map.end()
    }
}

fn summarise<S: Serializer>(s: &Summary, schema: &Schema, out: S) -> Result<S::Ok, S::Error> {
    let progress = |progress| NamedProgress { progress, schema };
    let row = |row, test| NamedRow { row, test, schema };
    let mut map = out.serialize_map(None)?;
    map.serialize_entry("kind", "summary")?;
    map.serialize_entry("ended_by", &s.ended_by)?;
    map.serialize_entry("room", &s.room)?;
    map.serialize_entry("variant", &s.variant)?;
    map.serialize_entry("seed", &s.seed)?;
    map.serialize_entry("progress", &progress(&s.progress))?;
    map.serialize_entry("seconds", &s.seconds)?;
    map.serialize_entry("cpu_seconds", &s.cpu_seconds)?;
    map.serialize_entry("per_second", &s.per_second)?;
    map.serialize_entry("metrics", &s.metrics.as_ref().map(|metrics| row(metrics, false)))?;
    map.serialize_entry("test", &s.test.as_ref().map(|test| row(test, true)))?;
    map.serialize_entry("solved", &s.solved.as_ref().map(progress))?;
    map.serialize_entry("attempts", &s.attempts)?;
    map.serialize_entry("parts_s", &Parts { values: s.parts_s.iter().map(|&s| Some(s)), schema })?;
    let Ended { digest, arithmetic, device, isa, threads, file, resume } = &s.machine;
    map.serialize_entry("digest", digest)?;
    map.serialize_entry("arithmetic", arithmetic)?;
    map.serialize_entry("device", device)?;
    map.serialize_entry("isa", isa)?;
    map.serialize_entry("threads", threads)?;
    map.serialize_entry("file", file)?;
    map.serialize_entry("resume", resume)?;
    map.end()
}

/// Counters by their names.
pub struct NamedProgress<'a> {
    pub progress: &'a Progress,
    pub schema: &'a Schema,
}

impl Serialize for NamedProgress<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        map.serialize_entry("iteration", &self.progress.iteration)?;
        for (column, &count) in self.schema.counters.iter().zip(&self.progress.counts) {
            // As the whole number that it is.
            match count {
                whole if whole.fract() == 0.0 && whole.abs() < 9e15 => {
                    map.serialize_entry(column.name, &(whole as i64))?;
                }
                other => map.serialize_entry(column.name, &other)?,
            }
        }
        map.serialize_entry("train_s", &self.progress.train_s)?;
        map.end()
    }
}

/// A row by the names of its columns: of metrics, then with the shares of time, or of tests.
pub struct NamedRow<'a> {
    pub row: &'a Row,
    pub test: bool,
    pub schema: &'a Schema,
}

impl NamedRow<'_> {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let schema = self.schema;
        map.serialize_entry("progress", &NamedProgress { progress: &self.row.progress, schema })?;
        let columns = if self.test { schema.tests } else { schema.metrics };
        for (column, value) in columns.iter().zip(&self.row.values) {
            map.serialize_entry(column.name, value)?;
        }
        if !self.test {
            let shares = self.row.values.iter().skip(columns.len()).copied();
            map.serialize_entry("shares", &Parts { values: shares, schema })?;
        }
        Ok(())
    }
}

fn named_rows<'a>(rows: &'a [Row], test: bool, schema: &'a Schema) -> Vec<NamedRow<'a>> {
    rows.iter().map(|row| NamedRow { row, test, schema }).collect()
}

impl Serialize for NamedRow<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

/// A number for each part of time, by its name.
struct Parts<'a, I> {
    values: I,
    schema: &'a Schema,
}

impl<I: Iterator<Item = Option<f64>> + Clone> Serialize for Parts<'_, I> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(self.schema.all_parts().map(|part| part.name).zip(self.values.clone()))
    }
}

struct NamedMark<'a> {
    mark: &'a Mark,
    schema: &'a Schema,
}

impl NamedMark<'_> {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Mark { progress, knob, from, to } = self.mark;
        map.serialize_entry("progress", &NamedProgress { progress, schema: self.schema })?;
        map.serialize_entry("knob", knob)?;
        map.serialize_entry("from", from)?;
        map.serialize_entry("to", to)
    }
}

impl Serialize for NamedMark<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

/// The way back from names to rows.
mod named {
    use super::*;
    use serde::de::DeserializeOwned;

    pub fn record(kind: &str, value: &Value, schema: &Schema) -> Option<Record> {
        Some(Record::Event(match kind {
            "began" => Event::Began(Box::new(Began {
                config: plain(value, "config")?,
                knobs: plain(value, "knobs")?,
                progress: progress(value.get("progress")?, schema)?,
                solved: optional(value, "solved", |value| progress(value, schema))?,
                attempts: plain(value, "attempts").unwrap_or(0),
                history: list(value, "history", |value| row(value, false, schema))?,
                tests: list(value, "tests", |value| row(value, true, schema))?,
                marks: list(value, "marks", |value| mark(value, schema))?,
                room: value.get("room")?.clone(),
            })),
            "metrics" => Event::Metrics(row(value, false, schema)?),
            "test" => Event::Test(row(value, true, schema)?),
            "mark" => Event::Mark(mark(value, schema)?),
            "confirmation" => Event::Confirmation(Confirmation {
                progress: progress(value.get("progress")?, schema)?,
                value: number(value, "value"),
                goal: value.get("goal")?.as_f64()?,
                confirmed: plain(value, "confirmed")?,
            }),
            "solved" => Event::Solved { progress: progress(value.get("progress")?, schema)?, goal: value.get("goal")?.as_f64()? },
            "summary" => return Some(Record::Summary(Box::new(summary(value, schema)?))),
            _ => return None,
        }))
    }

    fn summary(value: &Value, schema: &Schema) -> Option<Summary> {
        let parts = value.get("parts_s")?;
        Some(Summary {
            ended_by: plain(value, "ended_by")?,
            room: plain(value, "room")?,
            variant: plain(value, "variant")?,
            seed: plain(value, "seed")?,
            progress: progress(value.get("progress")?, schema)?,
            seconds: plain(value, "seconds")?,
            cpu_seconds: plain(value, "cpu_seconds")?,
            per_second: plain(value, "per_second")?,
            metrics: optional(value, "metrics", |value| row(value, false, schema))?,
            test: optional(value, "test", |value| row(value, true, schema))?,
            solved: optional(value, "solved", |value| progress(value, schema))?,
            attempts: plain(value, "attempts").unwrap_or(0),
            parts_s: schema.all_parts().map(|part| number(parts, part.name).unwrap_or(0.0)).collect(),
            machine: serde_json::from_value(value.clone()).ok()?,
        })
    }

    fn plain<T: DeserializeOwned>(value: &Value, name: &str) -> Option<T> {
        serde_json::from_value(value.get(name)?.clone()).ok()
    }

    fn number(value: &Value, name: &str) -> Option<f64> {
        value.get(name).and_then(Value::as_f64)
    }

    fn list<T>(value: &Value, name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
        value.get(name)?.as_array()?.iter().map(read).collect()
    }

    /// None where it cannot be read; none within where there is none.
    fn optional<T>(value: &Value, name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
        match value.get(name)? {
            Value::Null => Some(None),
            value => read(value).map(Some),
        }
    }

    fn progress(value: &Value, schema: &Schema) -> Option<Progress> {
        let counts = schema.counters.iter().map(|column| number(value, column.name).unwrap_or(f64::NAN));
        let iteration = plain(value, "iteration")?;
        Some(Progress { iteration, counts: counts.collect(), train_s: number(value, "train_s")? })
    }

    fn row(value: &Value, test: bool, schema: &Schema) -> Option<Row> {
        let columns = if test { schema.tests } else { schema.metrics };
        let mut values: Vec<_> = columns.iter().map(|column| number(value, column.name)).collect();
        if !test {
            let none = Value::Object(Map::new());
            let shares = value.get("shares").unwrap_or(&none);
            values.extend(schema.all_parts().map(|part| number(shares, part.name)));
        }
        Some(Row { progress: progress(value.get("progress")?, schema)?, values })
    }

    fn mark(value: &Value, schema: &Schema) -> Option<Mark> {
        let knob = |name| plain::<KnobValue>(value, name);
        Some(Mark {
            progress: progress(value.get("progress")?, schema)?,
            knob: plain(value, "knob")?,
            from: knob("from")?,
            to: knob("to")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::protocol::Config;

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
                Record::Left(Left { done: 0.5, seconds: 90.25 }),
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
                    parts_s: schema.all_parts().enumerate().map(|(i, _)| i as f64).collect(),
                    machine: Ended {
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
            // Whoever watches a file reads what anybody may have written, and shows what could be read.
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
    fn a_line_can_be_read_alone() {
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
