//! Tests of the records of a training process.

use cli::internals::budget::Remaining;
use cli::internals::{Ended, EndedBy, Parts, Printer, Record, Summary, View};
use run::protocol::{Backend, Began, Confirmation, Event, Mark, Row, RunState, Standing};
use run::protocol::{Config, Progress};
use serde_json::Value;

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
        let standing = Standing {
            progress: progress.clone(),
            state: RunState::LostAgain,
            since: Some(progress.clone()),
            name: "average of 100 test episodes".into(),
            value: Some(9.35),
            number: "9.35".into(),
            words: "solved at 852 thousand steps, lost again at 1.2 million steps".into(),
        };
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
            Record::Event(Event::Standing(standing.clone())),
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
                standing: Some(standing),
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
        let mut printer = Printer::new(Vec::new(), false);
        testkit::fuzz(&format!("record of {}", schema.id), testkit::cases(100), |mutator| {
            let line = mutator.one_of(&lines).clone();
            let bytes = match mutator.below(2) {
                0 => mutator.bytes(line.as_bytes()),
                _ => mutator.json(&serde_json::from_str(&line).unwrap()).to_string().into_bytes(),
            };
            let mut known = Some(schema);
            if let Some(record) = Record::read(&bytes, &mut known) {
                printer.record(&record).unwrap();
                View::default().apply(record);
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
