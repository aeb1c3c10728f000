//! Tests of the printed lines of a run.

use cli::internals::budget::Remaining;
use cli::internals::{Printer, Record, View};
use run::protocol::{Event, Level, Progress, Row, RunState, Standing};

/// Returns the text that `print` prints.
fn printed(json: bool, print: impl FnOnce(&mut Printer<&mut Vec<u8>>)) -> String {
    let mut bytes = Vec::new();
    let mut printer = Printer::new(&mut bytes, json);
    print(&mut printer);
    printer.flush().unwrap();
    drop(printer);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn plain_lines_are_printed_once_per_second_of_training() {
    let schema = run::rooms()[0].schema();
    let text = printed(false, |printer| {
        for i in 0..50u32 {
            let counts = vec![f64::from(i) * 1000.0; schema.counters.len()];
            let progress = Progress { iteration: i, counts, train_s: f64::from(i) / 10.0 };
            let values = vec![Some(20.0); schema.row_len()];
            if i == 15 {
                printer.record(&Record::Remaining(Remaining { done: 0.3, seconds: 70.0 })).unwrap();
            }
            printer.record(&Record::Event(Event::Metrics(Row { progress, values }))).unwrap();
        }
    });
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.contains(" 10,000 steps  return 20.0"), "{text}");
    let has_remaining = text.lines().map(|line| line.ends_with("  30% done, about 1:10 left"));
    assert_eq!(has_remaining.collect::<Vec<_>>(), [false, false, true, true, true], "{text}");
}

#[test]
fn state_of_the_run_is_printed_when_it_changes() {
    let standing = |train_s: f64, state, words: &str| {
        let (name, number) = ("average of 100 test episodes".into(), "9.35".into());
        let progress = Progress { iteration: 1, counts: vec![0.0, 0.0], train_s };
        Record::Event(Event::Standing(Standing { progress, state, since: None, name, value: Some(9.35), number, words: words.into() }))
    };
    let text = printed(false, |printer| {
        for (train_s, state, words) in [
            (1.0, RunState::Learning, "learning"),
            (2.0, RunState::Solved, "solved at 852 thousand steps"),
            (3.0, RunState::StillSolved, "solved at 852 thousand steps and still so"),
            (4.0, RunState::StillSolved, "solved at 852 thousand steps and still so"),
            (5.0, RunState::LostAgain, "solved at 852 thousand steps, lost again at 1.2 million steps"),
        ] {
            printer.record(&standing(train_s, state, words)).unwrap();
        }
    });
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let expected = [
        "2.00 s  solved at 852 thousand steps",
        "3.00 s  solved at 852 thousand steps and still so",
        "5.00 s  solved at 852 thousand steps, lost again at 1.2 million steps",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn room_event_is_printed_as_its_text() {
    let event = serde_json::json!({ "kind": "frozen", "minutes": 3 });
    let record = Record::Event(Event::Room { event, text: "It is kept.".into() });
    let text = printed(false, |printer| printer.record(&record).unwrap());
    assert_eq!(text, "It is kept.\n");
    let mut view = View::default();
    view.apply(record);
    assert_eq!(view.notice, Some((Level::Info, "It is kept.".into())));
}

#[test]
fn json_lines_are_the_records() {
    let record = Record::Event(Event::Running { running: true });
    let text = printed(true, |printer| printer.record(&record).unwrap());
    assert_eq!(text, "{\"kind\":\"running\",\"running\":true}\n");
}
