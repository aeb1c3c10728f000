//! Whatever ends a process at any moment, what it saved by itself is whole, and no more than one interval of training is lost.
//! `FUZZ=200` kills so many.

use crate::common::*;
use run::Host;
use run::protocol::Command;
use serde_json::Value;
use std::fs::{self, File};
use std::process::Stdio;
use std::time::{Duration, Instant};
use testkit::{Mutator, cases, fuzz};

const ROOMS: [(&str, &str); 5] =
    [("control", SMALL), ("backgammon", SMALL_GAMES), ("cube", SMALL_CUBES), ("logic", SMALL_CIRCUITS), ("words", SMALL_TEXTS)];
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

fn killed(mutator: &mut Mutator, room: &str, small: &str) {
    let scratch = Scratch::new();
    let (file, told) = (scratch.path("run.safetensors"), scratch.path("told.jsonl"));
    let save = "--save run.safetensors --save-every 0.03";
    let mut command = scratch.hothouse(format!("train {room} --device cpu --json {save} {small}"));
    let mut process = Running::start(command.stdout(File::create(&told).unwrap()).stderr(Stdio::null()));
    // From its first save on; a busy machine may take its time until then.
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < Duration::from_secs(120), "{room} saved nothing");
        process.goes_on();
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_micros(mutator.below(300_000) as u64));
    process.process.kill().unwrap();
    process.process.wait().unwrap();

    let told = fs::read_to_string(&told).unwrap();
    // The last line may have been cut.
    let told: Vec<Value> = told.split_inclusive('\n').filter_map(|line| serde_json::from_str(line).ok()).collect();
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
