//! Tests that a stop or a time limit ends a run within a long iteration, a slow step of an environment or a long test, and that the run is
//! saved.

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

/// Environments with 640,000 loop passes in a step. No episode ends before a million steps.
const SLOW: &str = "class World:
    actions = 2
    limit = 1000000

    def reset(self):
        self.x = 0

    def step(self, action):
        n = 0
        while n < 64:
            n += 1
            for i in range(10000):
                self.x = (self.x + i) % 1000
        return float(action), False

    def observe(self):
        return [self.x / 1000.0]
";

/// The last test of each run takes many seconds: games of a million slow steps, or all states of the cube.
#[test]
fn a_test_after_a_time_limit_is_cut_off() {
    for args in ["control --world slow.py --set envs=256", "cube --set hidden=512-256"] {
        let scratch = Scratch::new();
        scratch.write("slow.py", SLOW);
        let before = Instant::now();
        let mut running = scratch.spawn(format!("train {args} --seconds 1 --json --device cpu --save run.safetensors"));
        let log = records(&running.rest());
        let used_s = running.processor_s();
        assert_eq!(running.wait(), Some(0), "{args}");
        assert!(before.elapsed() < TIMEOUT, "{args}: {:?}", before.elapsed());
        let most_s = (1.0 + WORK_S) * std::thread::available_parallelism().unwrap().get() as f64;
        assert!(used_s.is_none_or(|used_s| used_s < most_s), "{args}: {used_s:?} processor seconds");
        let done = log.last().unwrap();
        assert_eq!((&done["ended_by"], &done["test"]), (&"seconds".into(), &Value::Null), "{args}");
        let text = scratch.stdout("resume run.safetensors --seconds 0.2 --device cpu");
        assert!(text.contains("test        not done"), "{text}");
    }
}

#[test]
fn a_stop_ends_the_last_test_of_a_sweep() {
    let scratch = Scratch::new();
    let mut running = scratch.spawn("sweep cube --set hidden=512-256 --knob lr=1e-3 --steps 1 --json --out sweep.jsonl");
    // The training ends after a single iteration, so most of this time is spent on the test.
    while running.processor_s().is_some_and(|used_s| used_s < 3.0) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (before, used_s) = (Instant::now(), running.processor_s());
    running.signal("INT");
    running.rest();
    if let (Some(before_s), Some(after_s)) = (used_s, running.processor_s()) {
        assert!(after_s - before_s < WORK_S, "{} processor seconds", after_s - before_s);
    }
    running.wait();
    assert!(before.elapsed() < TIMEOUT, "{:?}", before.elapsed());
    assert_eq!(scratch.text("sweep.jsonl"), "", "the run was stopped before its result");
}
