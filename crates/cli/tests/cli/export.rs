//! Tests of the CSV table and the TensorBoard files. The tests decode the TensorBoard files themselves.

use crate::common::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Returns all events in a folder, in the order of the names of their files.
fn events_of(scratch: &Scratch, folder: &str) -> Vec<Event> {
    let mut files: Vec<PathBuf> = fs::read_dir(scratch.path(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| events(&fs::read(file).unwrap())).collect()
}

#[derive(Debug, Default)]
struct Event {
    wall_s: f64,
    step: u64,
    version: Option<String>,
    started: bool,
    scalars: BTreeMap<String, f32>,
}

/// Computes the masked CRC-32C bit by bit.
fn masked_crc(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    (!crc).rotate_right(15).wrapping_add(0xa282_ead8)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn events(mut bytes: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    while !bytes.is_empty() {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        assert_eq!(u32_at(bytes, 8), masked_crc(&bytes[..8]));
        let body = &bytes[12..12 + length];
        assert_eq!(u32_at(bytes, 12 + length), masked_crc(body));
        bytes = &bytes[16 + length..];
        let mut event = Event::default();
        for (field, value) in fields(body) {
            match (field, value) {
                (1, Field::Fixed64(bits)) => event.wall_s = f64::from_bits(bits),
                (2, Field::Varint(step)) => event.step = step,
                (3, Field::Bytes(name)) => event.version = Some(String::from_utf8(name.to_vec()).unwrap()),
                (5, Field::Bytes(summary)) => event.scalars = scalars(summary),
                (7, Field::Bytes(log)) => event.started = matches!(fields(log)[..], [(1, Field::Varint(1))]),
                other => panic!("an event has no {other:?}"),
            }
        }
        events.push(event);
    }
    events
}

fn scalars(summary: &[u8]) -> BTreeMap<String, f32> {
    let scalar = |(field, value): (u64, Field)| match (field, value) {
        (1, Field::Bytes(value)) => match fields(value)[..] {
            [(1, Field::Bytes(tag)), (2, Field::Fixed32(bits))] => (String::from_utf8(tag.to_vec()).unwrap(), f32::from_bits(bits)),
            ref other => panic!("a value has no {other:?}"),
        },
        other => panic!("a summary has no {other:?}"),
    };
    fields(summary).into_iter().map(scalar).collect()
}

#[derive(Debug)]
enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (field, used) = match key & 7 {
            0 => (Field::Varint(varint(&mut bytes)), 0),
            1 => (Field::Fixed64(u64::from_le_bytes(bytes[..8].try_into().unwrap())), 8),
            2 => {
                let length = varint(&mut bytes) as usize;
                (Field::Bytes(&bytes[..length]), length)
            }
            5 => (Field::Fixed32(u32_at(bytes, 0)), 4),
            form => panic!("there is no form {form}"),
        };
        bytes = &bytes[used..];
        fields.push((key >> 3, field));
    }
    fields
}

/// RFC 3720 publishes these CRC values.
#[test]
fn crc_has_the_published_values() {
    let unmasked = |crc: u32| crc.wrapping_sub(0xa282_ead8).rotate_left(15);
    assert_eq!(unmasked(masked_crc(b"123456789")), 0xe306_9283);
    assert_eq!(unmasked(masked_crc(&[0; 32])), 0x8a91_36aa);
    assert_eq!(unmasked(masked_crc(&[0xff; 32])), 0x62a8_ab43);
    // Event files of TensorFlow begin with the length 24 and these bytes.
    assert_eq!(masked_crc(&24u64.to_le_bytes()).to_le_bytes(), [0xa3, 0x7f, 0x4b, 0x22]);
}

#[test]
fn tables_and_event_files_contain_all_rows() {
    let control = format!("--steps 16384 {SMALL}");
    let backgammon = format!("--games 72 {SMALL_GAMES}");
    for (room, train, rows) in [("control", control, 4), ("backgammon", backgammon, 3)] {
        let scratch = Scratch::new();
        let schema = run::room(room).unwrap().schema();
        let log = scratch.records(format!("train {room} {train} --csv run.csv --tensorboard board/one"));
        let (metrics, tests) = (of_kind(&log, "metrics"), of_kind(&log, "test"));
        let (table, mut board) = (scratch.table("run.csv"), events_of(&scratch, "board/one").into_iter());
        assert_eq!((table.len(), metrics.len()), (rows, rows));
        assert_eq!(board.next().unwrap().version.as_deref(), Some("brain.Event:2"));
        for (row, m) in table.iter().zip(&metrics) {
            let event = board.next().unwrap();
            assert!(event.wall_s > 1.6e9);
            let (progress, first) = (&m["progress"], schema.counters[0]);
            assert_eq!(event.step, progress[first.name].as_u64().unwrap());
            assert_eq!(row["iteration"], progress["iteration"].to_string());
            assert_eq!(row[&format!("{} [{}]", first.name, first.unit)], progress[first.name].to_string());
            assert_eq!(row["train_s [s]"].parse::<f64>().ok(), progress["train_s"].as_f64());
            let test = tests.iter().find(|test| test["progress"]["iteration"] == progress["iteration"]);
            let metric = |column: &run::protocol::Column| (column.name.to_string(), "metrics", m[column.name].as_f64());
            let tested = |column: &run::protocol::Column| {
                (format!("test_{}", column.name), "test", test.and_then(|test| test[column.name].as_f64()))
            };
            let columns = schema.metrics.iter().map(|c| (c, metric(c)));
            for (column, (name, other, value)) in columns.chain(schema.tests.iter().map(|c| (c, tested(c)))) {
                let head = if column.unit.is_empty() { name.clone() } else { format!("{name} [{}]", column.unit) };
                let value = value.map(|value| value as f32);
                assert_eq!(row[&head].parse::<f32>().ok(), value, "{head}");
                let tag = format!("{}/{name}", if column.chart.is_empty() { other } else { column.chart });
                assert_eq!(event.scalars.get(&tag).copied(), value, "{tag}");
            }
            for part in schema.all_parts() {
                let share = m["shares"][part.name].as_f64();
                assert_eq!(row[&format!("share_{}", part.name)].parse::<f64>().ok(), share, "{}", part.name);
            }
        }
        assert!(board.next().is_none());
    }
}

#[test]
fn a_resumed_run_appends_rows_and_events() {
    let scratch = Scratch::new();
    let export = "--csv run.csv --tensorboard board";
    scratch.records(format!("train --steps 8192 --save half.st {export} {SMALL}"));
    let resume = |steps: u32, export: &str| {
        scratch.records(format!("resume half.st --save whole.st --steps {steps} {export}"));
    };
    let iterations = |name: &str| -> Vec<String> { scratch.table(name).into_iter().map(|row| row["iteration"].clone()).collect() };
    resume(20480, export);
    assert_eq!(iterations("run.csv"), ["1", "2", "3", "4", "5"]);
    // If the same checkpoint is resumed a second time, the rows of the first resumed run are discarded.
    resume(12288, export);
    assert_eq!(iterations("run.csv"), ["1", "2", "3"]);
    let steps = |of: fn(&Event) -> bool| -> Vec<u64> { events_of(&scratch, "board").iter().filter(|e| of(e)).map(|e| e.step).collect() };
    assert_eq!(steps(|e| e.started), [8193, 8193], "later steps are discarded");
    assert_eq!(steps(|e| !e.scalars.is_empty()), [4096, 8192, 12288, 16384, 20480, 12288]);
    // If the exported files are new, they receive the history in the checkpoint.
    resume(12288, "--csv fresh.csv --tensorboard fresh");
    assert_eq!(iterations("fresh.csv"), ["1", "2", "3"]);
    let fresh: Vec<u64> = events_of(&scratch, "fresh").iter().filter(|e| !e.scalars.is_empty()).map(|e| e.step).collect();
    assert_eq!(fresh, [4096, 8192, 12288]);
    let learning = |name: &str| -> Vec<String> {
        let rows = scratch.table(name).into_iter();
        rows.map(|row| row["policy_loss"].clone() + &row["test_mean_return"]).collect()
    };
    assert_eq!(learning("fresh.csv"), learning("run.csv"));
}

#[test]
fn unsuitable_files_are_errors_and_stay_unchanged() {
    let scratch = Scratch::new();
    scratch.train("--steps 4096 --save one.st --csv one.csv");
    scratch.train("--seed 3 --steps 4096 --csv two.csv");
    scratch.write("prices.csv", "pear,2\n");
    let before = scratch.bytes("two.csv");
    for (args, status, words) in [
        ("resume one.st --steps 8192 --csv two.csv", 1, "another run"),
        ("resume one.st --steps 8192 --csv prices.csv", 1, "not a table of metrics"),
        ("train --steps 8192 --csv prices.csv", 1, "not a table of metrics"),
        ("train --steps 8192 --csv nowhere/run.csv", 1, "Create it"),
        ("train --steps 8192 --tensorboard prices.csv", 1, "Name a folder"),
        ("train --csv x.csv --events x.csv", 2, "Use different files"),
        ("train --csv x.csv --save x.csv", 2, "Use different files"),
    ] {
        let message = scratch.fails(args, status, words);
        assert!(message.starts_with("error: "), "{args} message: {message}");
    }
    assert_eq!(scratch.bytes("two.csv"), before);
    assert_eq!(scratch.text("prices.csv"), "pear,2\n");
}
