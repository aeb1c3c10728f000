//! Watching a run from another process by its monitor: live, twice, late, after its end and after it
//! was killed; and what happens where there is nothing to watch or nowhere to write.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// Iterations of 4,096 steps: many of them in little time.
const SMALL: [&str; 8] =
    ["--set", "envs=256", "--set", "rollout_steps=16", "--set", "hidden=32", "--set", "minibatches=4"];

/// A folder of its own with a cache of its own, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("hothouse-watch-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("cache")).unwrap();
        Scratch(folder)
    }

    fn hothouse(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hothouse"));
        command.current_dir(&self.0).env("XDG_CACHE_HOME", self.0.join("cache")).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.hothouse(args).output().unwrap()
    }

    fn train(&self, args: &[&str]) -> Output {
        let output = self.run(&[&["train"], &SMALL[..], args].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        output
    }

    /// Trains until it is killed.
    fn endless(&self, args: &[&str]) -> Running {
        let all = [&["train", "--threads", "1", "--steps", "1e15", "--json"], &SMALL[..], args].concat();
        Running::new(self.hothouse(&all).stdout(Stdio::null()).spawn().unwrap())
    }

    fn rings(&self) -> Vec<PathBuf> {
        let Ok(folder) = fs::read_dir(self.0.join("cache/hothouse")) else { return Vec::new() };
        let paths = folder.map(|entry| entry.unwrap().path());
        // One that is being made has another name until it can be read.
        paths.filter(|path| path.extension().is_some_and(|e| e == "ring")).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that does not outlive its test.
struct Running {
    process: Child,
    /// Kept as long as the process: it reads ahead.
    lines: Option<BufReader<ChildStdout>>,
}

impl Running {
    fn new(mut process: Child) -> Running {
        let lines = process.stdout.take().map(BufReader::new);
        Running { process, lines }
    }

    /// The JSON lines it gives, until one of this kind has come `count` times.
    fn read_until(&mut self, kind: &str, count: usize) -> Vec<Value> {
        let mut values = Vec::new();
        let reader = self.lines.as_mut().unwrap();
        let mut line = String::new();
        while values.iter().filter(|v: &&Value| v["kind"] == kind).count() < count {
            line.clear();
            assert!(
                reader.read_line(&mut line).unwrap() > 0,
                "it ended before it told of {kind}: {values:?}"
            );
            values.push(serde_json::from_str(&line).unwrap());
        }
        values
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn iterations(values: &[Value]) -> Vec<u64> {
    let metrics = values.iter().filter(|v| v["kind"] == "metrics");
    metrics.map(|v| v["progress"]["iteration"].as_u64().unwrap()).collect()
}

#[test]
fn a_run_that_ended_is_shown_as_it_was_when_it_went_on() {
    let scratch = Scratch::new("ended");
    let told = stdout(&scratch.train(&["--steps", "100000", "--monitor", "run.ring", "--json"]));
    let watched = scratch.run(&["watch", "run.ring", "--json"]);
    assert!(watched.status.success() && stderr(&watched).is_empty(), "{}", stderr(&watched));
    let sorted = |text: &str| {
        // Of digests the monitor keeps the newest; of starting and pausing what is so now.
        let counted =
            |line: &&str| !line.contains(r#""kind":"digest""#) && !line.contains(r#""kind":"running""#);
        let mut lines: Vec<String> = text.lines().filter(counted).map(String::from).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&stdout(&watched)), sorted(&told));
    let last = |text: &str| text.lines().last().map(String::from);
    assert_eq!(last(&stdout(&watched)), last(&told), "the summary is the last line");
    assert!(scratch.rings().is_empty(), "it is where it was wanted, and nowhere else");
    let plain = stdout(&scratch.run(&["watch", "run.ring", "--plain"]));
    assert!(plain.contains("evaluation  mean return") && plain.contains("steps "), "{plain}");
}

#[test]
fn two_attach_to_a_run_and_leave_it_as_it_is() {
    let scratch = Scratch::new("twice");
    let mut training = scratch.endless(&["--seed", "4"]);
    while scratch.rings().is_empty() {
        assert!(training.process.try_wait().unwrap().is_none(), "training goes on");
        std::thread::yield_now();
    }
    let watch = || Running::new(scratch.hothouse(&["watch", "--json"]).spawn().unwrap());
    let mut first = watch();
    let seen = first.read_until("metrics", 20);
    assert_eq!((&seen[0]["kind"], &seen[1]["kind"]), (&"opened".into(), &"began".into()));
    assert_eq!(seen[1]["config"]["seed"], 4);
    drop(first);
    let mut second = watch();
    let later = iterations(&second.read_until("metrics", 60));
    let expected: Vec<u64> = (1..=60).collect();
    assert_eq!(later, expected, "whoever comes later has it all from the beginning");
    assert!(training.process.try_wait().unwrap().is_none());

    let list = scratch.run(&["watch", "--list", "--json"]);
    let line: Value = serde_json::from_str(&stdout(&list)).unwrap();
    assert_eq!((&line["state"], &line["seed"]), (&"running".into(), &4.into()));
    let by_part: f64 = line["parts_s"].as_object().unwrap().values().map(|s| s.as_f64().unwrap()).sum();
    let train_s = line["progress"]["train_s"].as_f64().unwrap();
    assert!(by_part > 0.0 && by_part <= 1.001 * train_s, "{by_part} s of {train_s} s");

    // Killed like this, a process says nothing any more.
    drop(training);
    let end = second.read_until("notice", 1);
    assert!(end.last().unwrap()["text"].as_str().unwrap().contains("is gone"), "{end:?}");
    let after = scratch.run(&["watch", "--plain"]);
    assert!(after.status.success());
    assert!(stdout(&after).contains("return") && stdout(&after).contains("is gone"), "{}", stdout(&after));
    assert!(stdout(&scratch.run(&["watch", "--list"])).starts_with("killed"));
}

#[test]
fn a_run_taken_up_again_has_its_past_in_its_monitor() {
    let scratch = Scratch::new("resumed");
    scratch.train(&["--steps", "40960", "--save", "run.safetensors"]);
    let args = ["resume", "run.safetensors", "--steps", "81920", "--set", "lr=0.001", "--json"];
    assert!(scratch.run(&[&args[..], &["--monitor", "run.ring"]].concat()).status.success());
    let text = stdout(&scratch.run(&["watch", "run.ring", "--json"]));
    let values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(iterations(&values), (1..=20).collect::<Vec<u64>>());
    let mark = values.iter().find(|v| v["kind"] == "mark").expect("the change is told");
    assert_eq!(
        (&mark["knob"], &mark["to"], &mark["progress"]["iteration"]),
        (&"lr".into(), &0.001.into(), &10.into())
    );
}

#[test]
fn the_newest_runs_are_kept_and_those_that_go_on() {
    let scratch = Scratch::new("kept");
    let _training = scratch.endless(&["--seed", "77"]);
    while scratch.rings().is_empty() {
        std::thread::yield_now();
    }
    for seed in 1..=22 {
        scratch.train(&["--steps", "1", "--seed", &seed.to_string(), "--json"]);
    }
    let rings = scratch.rings();
    assert_eq!(rings.len(), 21, "{rings:?}");
    let has = |seed: &str| rings.iter().any(|r| r.to_str().unwrap().contains(&format!("-seed{seed}-")));
    assert_eq!(["77", "22", "3", "2", "1"].map(has), [true, true, true, false, false], "{rings:?}");
}

#[test]
fn what_cannot_be_watched_is_refused_with_a_way_out() {
    let scratch = Scratch::new("refused");
    scratch.train(&["--steps", "4096", "--monitor", "run.ring"]);
    let whole = fs::read(scratch.0.join("run.ring")).unwrap();
    let said = |bytes: &[u8]| {
        fs::write(scratch.0.join("bad.ring"), bytes).unwrap();
        let output = scratch.run(&["watch", "bad.ring", "--plain"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
        stderr(&output)
    };
    for len in [24, 4096, whole.len() / 2, whole.len() - 8] {
        assert!(said(&whole[..len]).contains("cut short"), "{len}: {}", said(&whole[..len]));
    }
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    assert!(said(&with(8, 9)).contains("Update Hothouse"));
    assert!(said(&with(16, whole[16] ^ 1)).contains("another build"));
    assert!(said(&with(0, b'h')).contains("holds no events"));
    let nothing = scratch.run(&["watch"]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(stderr(&nothing).contains("hothouse train"), "{}", stderr(&nothing));
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_costs_a_notice_and_not_the_run() {
    let scratch = Scratch::new("nowhere");
    fs::write(scratch.0.join("cache/hothouse"), "a file where the folder should be").unwrap();
    for args in [&["--steps", "4096"][..], &["--steps", "4096", "--monitor", "missing/run.ring"]] {
        let text = stdout(&scratch.train(&[args, &["--plain"]].concat()));
        assert!(text.contains("cannot be watched") && text.contains("digest"), "{text}");
    }
}
