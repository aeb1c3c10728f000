//! Kills training processes at random moments. The automatically saved checkpoint must always be valid, and at most one interval of
//! training may be lost. `FUZZ=200` kills 200 processes.

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

/// Returns the iterations in `log` after which a save was due. `saved_s` is the training time in the checkpoint. This time can include the
/// time of a test, which no row of `log` includes yet.
fn due(log: &[Value], mut saved_s: f64) -> Vec<u64> {
    let mut all = Vec::new();
    for row in log.iter().filter(|record| record["kind"] == "metrics") {
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
    let (file, log) = (scratch.path("run.safetensors"), scratch.path("log.jsonl"));
    let save = "--save run.safetensors --save-every 0.03";
    let mut command = scratch.hothouse(format!("train {room} --device cpu --json {save} {small}"));
    let mut process = Running::start(command.stdout(File::create(&log).unwrap()).stderr(Stdio::null()));
    // Waits for the first save, which may take long on a busy machine.
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < Duration::from_secs(120), "{room} saved nothing");
        process.assert_running();
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_micros(mutator.below(300_000) as u64));
    process.process.kill().unwrap();
    process.process.wait().unwrap();

    let log = fs::read_to_string(&log).unwrap();
    // Skips the last line if it is incomplete.
    let log: Vec<Value> = log.split_inclusive('\n').filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut run = run::restore(&fs::read(&file).unwrap(), Host::new(math::Isa::best())).unwrap();
    let saved = u64::from(run.progress().iteration);
    // At the moment of the kill, one save may have been due but not finished.
    let due = due(&log, run.progress().train_s);
    assert!(due.len() <= 1, "{room}: the file has iteration {saved}, but saves were due at {due:?}");
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
