//! What other programs read of a run: its table, and its event files decoded from their bytes alone.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Iterations of 4,096 steps.
const SMALL: [&str; 8] =
    ["--set", "envs=256", "--set", "rollout_steps=16", "--set", "hidden=32", "--set", "minibatches=4"];

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("hothouse-export-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hothouse"));
        command.env("XDG_CACHE_HOME", self.0.join("cache")).env("XDG_RUNTIME_DIR", &self.0);
        command.current_dir(&self.0).args(args).stdin(Stdio::null()).output().unwrap()
    }

    /// The metrics and evaluations of a run that must go well.
    fn metrics(&self, args: &[&str]) -> Vec<Value> {
        let output = self.run(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Rows by column.
    fn table(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        let text = fs::read_to_string(self.0.join(name)).unwrap();
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap().split(',').collect();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), head.len(), "{line}");
            head.iter().zip(cells).map(|(name, cell)| (name.to_string(), cell.to_string())).collect()
        };
        lines.map(row).collect()
    }

    /// Every event of a folder, in the order of its files.
    fn events(&self, folder: &str) -> Vec<Event> {
        let mut files: Vec<PathBuf> =
            fs::read_dir(self.0.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.iter().flat_map(|file| events(&fs::read(file).unwrap())).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug, Default)]
struct Event {
    wall_s: f64,
    step: u64,
    version: Option<String>,
    started: bool,
    scalars: BTreeMap<String, f32>,
}

/// CRC-32C bit by bit, masked as event files want it.
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

fn u32_at(bytes: &[u8], place: usize) -> u32 {
    u32::from_le_bytes(bytes[place..place + 4].try_into().unwrap())
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
            [(1, Field::Bytes(tag)), (2, Field::Fixed32(bits))] => {
                (String::from_utf8(tag.to_vec()).unwrap(), f32::from_bits(bits))
            }
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

/// The check values of RFC 3720, so that this file's own reader is known to be right.
#[test]
fn the_reader_knows_the_published_check_values() {
    let unmasked = |crc: u32| crc.wrapping_sub(0xa282_ead8).rotate_left(15);
    assert_eq!(unmasked(masked_crc(b"123456789")), 0xe306_9283);
    assert_eq!(unmasked(masked_crc(&[0; 32])), 0x8a91_36aa);
    assert_eq!(unmasked(masked_crc(&[0xff; 32])), 0x62a8_ab43);
}

#[test]
fn tables_and_event_files_hold_what_the_run_told() {
    let scratch = Scratch::new("told");
    let train = ["train", "--steps", "16384", "--csv", "run.csv", "--tensorboard", "board/one"];
    let records = scratch.metrics(&[&train[..], &SMALL].concat());
    let of_kind = |kind: &str| records.iter().filter(|r| r["kind"] == kind).cloned().collect::<Vec<_>>();
    let (metrics, evaluations) = (of_kind("metrics"), of_kind("evaluation"));
    assert_eq!((metrics.len(), evaluations.len()), (4, 2));
    let (table, mut board) = (scratch.table("run.csv"), scratch.events("board/one").into_iter());
    assert_eq!(table.len(), 4);
    assert_eq!(board.next().unwrap().version.as_deref(), Some("brain.Event:2"));
    for (row, m) in table.iter().zip(&metrics) {
        let event = board.next().unwrap();
        assert!(event.wall_s > 1.6e9);
        assert_eq!(event.step, m["progress"]["env_steps"].as_u64().unwrap());
        assert_eq!(row["iteration"], m["progress"]["iteration"].to_string());
        assert_eq!(row["env_steps [steps]"], m["progress"]["env_steps"].to_string());
        let evaluation =
            evaluations.iter().find(|e| e["progress"]["iteration"] == m["progress"]["iteration"]);
        for (column, tag, told) in [
            ("mean_return", "return/mean_return", &m["mean_return"]),
            ("mean_length [steps]", "return/mean_length", &m["mean_length"]),
            ("policy_loss", "loss/policy_loss", &m["policy_loss"]),
            ("entropy [nat]", "policy/entropy", &m["entropy"]),
            ("lr", "update/lr", &m["lr"]),
            ("train_time [s]", "progress/train_time", &m["progress"]["train_s"]),
            ("throughput [steps/s]", "speed/throughput", &m["steps_per_s"]),
            (
                "evaluation_return",
                "return/evaluation_return",
                evaluation.map_or(&Value::Null, |e| &e["mean_return"]),
            ),
        ] {
            let told = told.as_f64().map(|told| told as f32);
            assert_eq!(row[column].parse::<f32>().ok(), told, "{column}");
            assert_eq!(event.scalars.get(tag).copied(), told, "{tag}");
        }
    }
    assert!(board.next().is_none());
}

#[test]
fn a_resumed_run_goes_on_where_its_rows_and_events_end() {
    let scratch = Scratch::new("resumed");
    let export = ["--csv", "run.csv", "--tensorboard", "board"];
    scratch.metrics(&[&["train", "--steps", "8192", "--save", "half.st"], &export[..], &SMALL].concat());
    let resume = ["resume", "half.st", "--save", "whole.st"];
    let iterations = |name: &str| -> Vec<String> {
        scratch.table(name).into_iter().map(|row| row["iteration"].clone()).collect()
    };
    scratch.metrics(&[&resume[..], &["--steps", "20480"], &export[..]].concat());
    assert_eq!(iterations("run.csv"), ["1", "2", "3", "4", "5"]);
    // The same save once more: what came after it belongs to the other future.
    scratch.metrics(&[&resume[..], &["--steps", "12288"], &export[..]].concat());
    assert_eq!(iterations("run.csv"), ["1", "2", "3"]);
    let steps = |of: fn(&Event) -> bool| -> Vec<u64> {
        scratch.events("board").iter().filter(|e| of(e)).map(|e| e.step).collect()
    };
    assert_eq!(steps(|e| e.started), [8193, 8193], "later steps are declared void");
    assert_eq!(steps(|e| !e.scalars.is_empty()), [4096, 8192, 12288, 16384, 20480, 12288]);
    // Files that were not there get what the checkpoint remembers.
    let fresh = ["--csv", "fresh.csv", "--tensorboard", "fresh"];
    scratch.metrics(&[&resume[..], &["--steps", "12288"], &fresh[..]].concat());
    assert_eq!(iterations("fresh.csv"), ["1", "2", "3"]);
    let told: Vec<u64> =
        scratch.events("fresh").iter().filter(|e| !e.scalars.is_empty()).map(|e| e.step).collect();
    assert_eq!(told, [4096, 8192, 12288]);
    let learning = |name: &str| -> Vec<String> {
        scratch
            .table(name)
            .into_iter()
            .map(|row| row["policy_loss"].clone() + &row["evaluation_return"])
            .collect()
    };
    assert_eq!(learning("fresh.csv"), learning("run.csv"));
}

#[test]
fn files_that_cannot_take_the_run_are_refused_and_left_alone() {
    let scratch = Scratch::new("refused");
    scratch.metrics(
        &[&["train", "--steps", "4096", "--save", "one.st", "--csv", "one.csv"], &SMALL[..]].concat(),
    );
    let other = ["train", "--seed", "3", "--steps", "4096", "--csv", "two.csv"];
    scratch.metrics(&[&other[..], &SMALL].concat());
    fs::write(scratch.0.join("prices.csv"), "pear,2\n").unwrap();
    let before = fs::read(scratch.0.join("two.csv")).unwrap();
    for (args, status, said) in [
        (&["resume", "one.st", "--steps", "8192", "--csv", "two.csv"][..], 1, "another run"),
        (&["resume", "one.st", "--steps", "8192", "--csv", "prices.csv"], 1, "no table of this program"),
        (&["train", "--steps", "8192", "--csv", "prices.csv"], 1, "no table of this program"),
        (&["train", "--steps", "8192", "--csv", "nowhere/run.csv"], 1, "Create it"),
        (&["train", "--steps", "8192", "--tensorboard", "prices.csv"], 1, "Name a folder"),
        (&["train", "--csv", "x.csv", "--events", "x.csv"], 2, "Give each its own"),
        (&["train", "--csv", "x.csv", "--save", "x.csv"], 2, "Give each its own"),
    ] {
        let output = scratch.run(args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {told}");
        assert!(told.starts_with("error: ") && told.contains(said), "{args:?} said: {told}");
        assert!(output.stdout.is_empty(), "{args:?} trained all the same");
    }
    assert_eq!(fs::read(scratch.0.join("two.csv")).unwrap(), before);
    assert_eq!(fs::read_to_string(scratch.0.join("prices.csv")).unwrap(), "pear,2\n");
}
