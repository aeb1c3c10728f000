//! Whatever ends a process at any moment, what it saved by itself is whole, and no more than one interval of training is lost.
//! `FUZZ=200` kills so many.

mod common;

use common::{SMALL, SMALL_GAMES, Scratch};
use run::Host;
use run::protocol::Command;
use serde_json::Value;
use std::fs::{self, File};
use std::process::Stdio;
use std::time::{Duration, Instant};
use testkit::{Mutator, cases, fuzz};

const SMALL_CUBES: [&str; 8] =
    ["--set", "batch=64", "--set", "walk=8", "--set", "updates=4", "--set", "hidden=32-16"];
const SMALL_CIRCUITS: [&str; 6] = ["--set", "population=2", "--set", "batch=2", "--set", "updates=2"];
const SMALL_TEXTS: [&str; 22] = [
    "--set",
    "width=32",
    "--set",
    "layers=2",
    "--set",
    "heads=2",
    "--set",
    "context=16",
    "--set",
    "batch=4",
    "--set",
    "micro=2",
    "--set",
    "steps=2",
    "--set",
    "warmup=2",
    "--set",
    "characters=20000",
    "--set",
    "vocab=300",
    "--set",
    "sample=8",
];
const ROOMS: [(&str, &[&str]); 5] = [
    ("control", &SMALL),
    ("backgammon", &SMALL_GAMES),
    ("cube", &SMALL_CUBES),
    ("logic", &SMALL_CIRCUITS),
    ("words", &SMALL_TEXTS),
];
const EVERY_S: f64 = 0.03;

/// The iterations at whose ends the run was to save itself after a save at that training time, by what it told. (A save has the time of
/// a test too that ran before it, which no row has.)
fn due(told: &[Value], mut saved_s: f64) -> Vec<u64> {
    let mut all = Vec::new();
    for row in told.iter().filter(|record| record["kind"] == "metrics") {
        let train_s = row["progress"]["train_s"].as_f64().unwrap();
        if train_s >= saved_s + EVERY_S {
            saved_s = train_s;
            all.push(row["progress"]["iteration"].as_u64().unwrap());
        }
    }
    all
}

fn killed(mutator: &mut Mutator, room: &str, small: &[&str]) {
    let scratch = Scratch::new();
    let (file, told) = (scratch.path("run.safetensors"), scratch.path("told.jsonl"));
    let args =
        ["train", room, "--device", "cpu", "--json", "--save", "run.safetensors", "--save-every", "0.03"];
    let mut command = scratch.hothouse(&[&args[..], small].concat());
    command.stdout(File::create(&told).unwrap()).stderr(Stdio::null());
    let mut process = common::Running::start(command);
    // From its first save on; a busy machine may take its time until then.
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < Duration::from_secs(120), "{room} saved nothing");
        assert!(process.process.try_wait().unwrap().is_none(), "{room} ended");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_micros(mutator.below(300_000) as u64));
    process.process.kill().unwrap();
    process.process.wait().unwrap();

    let told = fs::read_to_string(&told).unwrap();
    // The last line may have been cut.
    let told: Vec<Value> =
        told.split_inclusive('\n').filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut run = run::restore(&fs::read(&file).unwrap(), Host::new(math::Isa::best())).unwrap();
    let saved = u64::from(run.progress().iteration);
    // It may have been told of one more and not done it.
    let due = due(&told, run.progress().train_s);
    assert!(due.len() <= 1, "{room}: the file is of {saved}, and saves were due at {due:?} after it");
    run.command(Command::Start).unwrap();
    let mut now_s = 0.0;
    while u64::from(run.progress().iteration) == saved {
        now_s += 0.001;
        assert!(run.advance(now_s));
    }
}

#[test]
fn a_killed_run_loses_one_interval_at_most() {
    let mut next = 0;
    fuzz("kill", cases(ROOMS.len() as u32), |mutator| {
        let (room, small) = ROOMS[next % ROOMS.len()];
        next += 1;
        killed(mutator, room, small);
    });
}
