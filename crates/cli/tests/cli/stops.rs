//! Tests that SIGINT and SIGTERM end a run within a very long iteration, and that the run is saved.

use crate::common::*;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Each case is a signal, and a room with knobs. The first iteration is long, but its slices (calls of `advance`) are short.
const CASES: [(&str, &str); 3] = [
    ("INT", "words --set width=32 --set layers=1 --set heads=2 --set context=32 --set batch=256 --set micro=8 --set steps=10000"),
    ("TERM", "logic --set population=8 --set updates=10000"),
    ("INT", "cube --set hidden=64-32 --set batch=4800 --set updates=10000"),
];
/// Maximum CPU time from the signal to the end of the run, in seconds per core. The iteration may take half a second of this time, and a
/// test another half second. The rest is for the save.
const WORK_S: f64 = 2.0;
/// Maximum wall-clock time from the signal to the end of the run, on a busy machine. The whole iteration would take hours.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Asserts that the run ended within its first iteration, for the reason `by`. Returns the summary.
fn ended_within<'a>(log: &'a [Value], by: &str, case: &str) -> &'a Value {
    let done = log.last().unwrap();
    assert_eq!(done["kind"], "summary", "{case}");
    assert_eq!((&done["ended_by"], &done["progress"]["iteration"]), (&by.into(), &0.into()), "{case}");
    done
}

#[test]
fn a_long_iteration_saves_itself_and_ends_at_once() {
    for (signal, room) in CASES {
        let case = format!("{room} by {signal}");
        let scratch = Scratch::new();
        let save = "--save run.safetensors --save-every 0.2";
        let mut running = scratch.spawn(format!("train {room} {save} --json --device cpu"));
        running.read_until("file_saved");
        let (before, used_s) = (Instant::now(), running.processor_s());
        running.signal(signal);
        let log = records(&running.rest());
        if let (Some(before_s), Some(after_s)) = (used_s, running.processor_s()) {
            let most_s = WORK_S * std::thread::available_parallelism().unwrap().get() as f64;
            assert!(after_s - before_s < most_s, "{case}: {} processor seconds", after_s - before_s);
        }
        assert_eq!(running.wait(), Some(0), "{case}");
        assert!(before.elapsed() < TIMEOUT, "{case}: {:?}", before.elapsed());
        let trained_s = |done: &Value| done["progress"]["train_s"].as_f64().unwrap();
        let done = ended_within(&log, "interrupt", &case);
        assert!(trained_s(done) > 0.0, "{case}");
        // The resumed run continues the same iteration. A time limit also ends the run within this iteration.
        let before = Instant::now();
        let more = scratch.records("resume run.safetensors --device cpu --seconds 0.5");
        assert!(before.elapsed() < TIMEOUT, "{case}: {:?}", before.elapsed());
        assert!(trained_s(ended_within(&more, "seconds", &case)) > trained_s(done), "{case}");
    }
}
