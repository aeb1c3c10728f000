//! Tests of `hothouse watch` with monitors. A run is watched during training, by two watchers at once, by a watcher that starts late, after
//! the end, and after a kill. Some monitor files are invalid.

use crate::common::*;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

/// Trains the control room with the knobs of [`SMALL`] and returns the output.
fn train(scratch: &Scratch, args: &str) -> String {
    scratch.stdout(format!("train {SMALL} {args}"))
}

/// Starts a training process that runs until it is killed.
fn endless(scratch: &Scratch, args: &str) -> Running {
    let mut command = scratch.hothouse(format!("train --threads 1 --steps 1e15 --json {SMALL} {args}"));
    Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// Waits until the condition is true. Asserts that the training still runs.
#[track_caller]
fn wait_until(training: &mut Running, condition: impl Fn() -> bool) {
    while !condition() {
        training.assert_running();
        std::thread::yield_now();
    }
}

fn iterations(values: &[Value]) -> Vec<u64> {
    let metrics = values.iter().filter(|v| v["kind"] == "metrics");
    metrics.map(|v| v["progress"]["iteration"].as_u64().unwrap()).collect()
}

#[test]
fn a_finished_run_is_shown_as_a_live_one() {
    let scratch = Scratch::new();
    let log = train(&scratch, "--steps 100000 --monitor run.ring --json");
    let watched = scratch.run("watch run.ring --json");
    assert!(watched.status.success() && stderr(&watched).is_empty(), "{}", stderr(&watched));
    let sorted = |text: &str| {
        // Leaves out the lines that differ: the monitor keeps only the latest digests, standings and running state, and does not contain
        // the remaining time.
        let counted =
            |line: &&str| !["digest", "standing", "running", "left"].iter().any(|kind| line.contains(&format!(r#""kind":"{kind}""#)));
        let mut lines: Vec<String> = text.lines().filter(counted).map(String::from).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&stdout(&watched)), sorted(&log));
    let last = |text: &str| text.lines().last().map(String::from);
    assert_eq!(last(&stdout(&watched)), last(&log), "the summary is the last line");
    let standing = |text: &str| text.lines().rfind(|line| line.contains(r#""kind":"standing""#)).map(String::from);
    assert!(standing(&log).is_some_and(|line| line.contains(r#""name":"average of 100 test episodes""#)), "{log}");
    assert_eq!(standing(&stdout(&watched)), standing(&log));
    assert!(scratch.cached("ring").is_empty(), "with --monitor the cache has no monitor");
    let plain = stdout(&scratch.run("watch run.ring --plain"));
    assert!(plain.contains("  test ") && plain.contains(" steps"), "{plain}");
}

#[test]
fn two_watchers_do_not_affect_the_run() {
    let scratch = Scratch::new();
    let mut training = endless(&scratch, "--seed 4");
    wait_until(&mut training, || !scratch.cached("ring").is_empty());
    let watch = || scratch.spawn("watch --json");
    let mut first = watch();
    let seen = first.read_times("metrics", 20);
    assert_eq!((&seen[0]["kind"], &seen[1]["kind"]), (&"opened".into(), &"began".into()));
    assert_eq!(seen[1]["config"]["seed"], 4);
    drop(first);
    let mut second = watch();
    let later = iterations(&second.read_times("metrics", 60));
    let expected: Vec<u64> = (1..=60).collect();
    assert_eq!(later, expected, "a late watcher receives the whole history");
    training.assert_running();

    let line = scratch.json("watch --list");
    assert_eq!((&line["state"], &line["seed"]), (&"running".into(), &4.into()));
    assert!(line["standing"]["state"].is_string() && line["standing"]["progress"]["env_steps"].is_u64(), "{line}");
    let by_part: f64 = line["parts_s"].as_object().unwrap().values().map(|s| s.as_f64().unwrap()).sum();
    let train_s = line["progress"]["train_s"].as_f64().unwrap();
    assert!(by_part > 0.0 && by_part <= 1.001 * train_s, "{by_part} s of {train_s} s");

    // A killed process does not mark its monitor as finished.
    drop(training);
    let end = second.read_until("notice");
    assert!(end.last().unwrap()["text"].as_str().unwrap().contains("ended unexpectedly"), "{end:?}");
    let after = scratch.stdout("watch --plain");
    assert!(after.contains("return") && after.contains("ended unexpectedly"), "{after}");
    assert!(stdout(&scratch.run("watch --list")).starts_with("killed"));
}

#[test]
fn the_monitor_of_a_resumed_run_contains_its_history() {
    let scratch = Scratch::new();
    train(&scratch, "--steps 40960 --save run.safetensors");
    scratch.stdout("resume run.safetensors --steps 81920 --set lr=0.001 --json --monitor run.ring");
    let values = values(&stdout(&scratch.run("watch run.ring --json")));
    assert_eq!(iterations(&values), (1..=20).collect::<Vec<u64>>());
    let mark = values.iter().find(|v| v["kind"] == "mark").expect("a mark for the change");
    assert_eq!((&mark["knob"], &mark["to"], &mark["progress"]["iteration"]), (&"lr".into(), &0.001.into(), &10.into()));
}

#[test]
fn the_cache_keeps_the_newest_files_and_running_monitors() {
    let scratch = Scratch::new();
    let mut training = endless(&scratch, "--seed 77 --save endless.safetensors");
    wait_until(&mut training, || !scratch.cached("ring").is_empty());
    let run = |seed: u64| train(&scratch, &format!("--steps 1 --seed {seed} --json"));
    run(1);
    // Copies of its files are the files of further runs, each of which began a millisecond after the previous run.
    for extension in ["ring", "safetensors"] {
        let is_first = |path: &PathBuf| path.to_str().unwrap().contains("-seed1-");
        let first = scratch.cached(extension).into_iter().find(is_first).unwrap();
        let (began_ms, rest) = first.file_name().unwrap().to_str().unwrap().split_once('-').unwrap();
        for seed in 2..=20 {
            let began_ms = began_ms.parse::<u64>().unwrap() + seed;
            let name = format!("{began_ms:013}-{}", rest.replace("-seed1-", &format!("-seed{seed}-")));
            fs::copy(&first, first.with_file_name(name)).unwrap();
        }
    }
    (21..=22).for_each(|seed| drop(run(seed)));
    let rings = scratch.cached("ring");
    assert_eq!(rings.len(), 21, "{rings:?}");
    let has = |seed: &str| rings.iter().any(|r| r.to_str().unwrap().contains(&format!("-seed{seed}-")));
    assert_eq!(["77", "22", "3", "2", "1"].map(has), [true, true, true, false, false], "{rings:?}");
    assert_eq!(scratch.cached("safetensors").len(), 20);
}

#[test]
fn errors_of_invalid_monitors_name_the_remedy() {
    let scratch = Scratch::new();
    train(&scratch, "--steps 4096 --monitor run.ring");
    let whole = scratch.bytes("run.ring");
    let message = |bytes: &[u8]| {
        scratch.write("bad.ring", bytes);
        let output = scratch.run("watch bad.ring --plain");
        assert_eq!(output.status.code(), Some(1));
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
        stderr(&output)
    };
    for len in [24, 4096, whole.len() / 2, whole.len() - 8] {
        assert!(message(&whole[..len]).contains("cut short"), "{len}: {}", message(&whole[..len]));
    }
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    assert!(message(&with(8, 9)).contains("Update Hothouse"));
    assert!(message(&with(16, whole[16] ^ 1)).contains("another build"));
    assert!(message(&with(0, b'h')).contains("contains no events"));
    scratch.fails("watch", 1, "hothouse train");
}

#[cfg(unix)]
#[test]
fn an_unwritable_monitor_causes_a_warning_unless_it_is_requested() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.cache()).unwrap();
    fs::write(scratch.cache().join("hothouse"), "a file where the folder should be").unwrap();
    let text = train(&scratch, "--steps 4096 --plain");
    assert!(text.contains("cannot be watched") && text.contains("digest"), "{text}");
    scratch.fails("train --steps 4096 --monitor missing/run.ring", 1, "the folder missing does not exist");
}

#[test]
fn a_backgammon_run_can_be_watched() {
    let scratch = Scratch::new();
    let files = "--monitor run.ring --events run.jsonl";
    scratch.stdout(format!("train backgammon --games 72 {files} {SMALL_GAMES}"));
    let (ring, lines) = (scratch.records("watch run.ring"), scratch.records("watch run.jsonl"));
    for values in [&ring, &lines] {
        assert_eq!(iterations(values), [1, 2, 3]);
        assert_eq!(values.last().unwrap()["progress"]["games"], 72);
    }
    assert_eq!(ring.last(), lines.last());
    let plain = scratch.stdout("watch run.ring --plain");
    assert!(plain.contains("72 games") && plain.contains("random") && plain.contains("pubeval"), "{plain}");
    scratch.stdout(format!("train backgammon --games 24 {SMALL_GAMES}"));
    assert!(scratch.stdout("watch --list").contains("backgammon / strong, seed 1, 24 games, learning; points per game against pubeval "));
}

#[test]
fn a_truncated_monitor_is_rewritten_and_can_be_watched() {
    let scratch = Scratch::new();
    let mut training = endless(&scratch, "--monitor run.ring");
    let path = scratch.path("run.ring");
    wait_until(&mut training, || path.exists());
    fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    // The run writes the whole monitor again, so the file can be watched again.
    wait_until(&mut training, || fs::metadata(&path).unwrap().len() > 0);
    scratch.spawn("watch run.ring --json").read_times("metrics", 3);
    training.assert_running();
}
