//! Watching a run from another process by its monitor: live, twice, late, after its end and after it
//! was killed; and what happens where there is nothing to watch or nowhere to write.

use crate::common::*;
use serde_json::Value;
use std::fs;
use std::process::Stdio;

/// What a run prints that must go well.
fn train(scratch: &Scratch, args: &str) -> String {
    scratch.told(format!("train {SMALL} {args}"))
}

/// Trains until it is killed.
fn endless(scratch: &Scratch, args: &str) -> Running {
    let mut command = scratch.hothouse(format!("train --threads 1 --steps 1e15 --json {SMALL} {args}"));
    Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// Waits until something is so, while it trains.
#[track_caller]
fn wait_until(training: &mut Running, is_so: impl Fn() -> bool) {
    while !is_so() {
        training.goes_on();
        std::thread::yield_now();
    }
}

fn iterations(values: &[Value]) -> Vec<u64> {
    let metrics = values.iter().filter(|v| v["kind"] == "metrics");
    metrics.map(|v| v["progress"]["iteration"].as_u64().unwrap()).collect()
}

#[test]
fn a_run_that_ended_is_shown_as_it_was_when_it_went_on() {
    let scratch = Scratch::new();
    let told = train(&scratch, "--steps 100000 --monitor run.ring --json");
    let watched = scratch.run("watch run.ring --json");
    assert!(watched.status.success() && stderr(&watched).is_empty(), "{}", stderr(&watched));
    let sorted = |text: &str| {
        // Of digests the monitor keeps the newest; of starting and pausing what is so now, and of what is left nothing.
        let counted = |line: &&str| !["digest", "running", "left"].iter().any(|kind| line.contains(&format!(r#""kind":"{kind}""#)));
        let mut lines: Vec<String> = text.lines().filter(counted).map(String::from).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&stdout(&watched)), sorted(&told));
    let last = |text: &str| text.lines().last().map(String::from);
    assert_eq!(last(&stdout(&watched)), last(&told), "the summary is the last line");
    assert!(scratch.cached("ring").is_empty(), "it is where it was wanted, and nowhere else");
    let plain = stdout(&scratch.run("watch run.ring --plain"));
    assert!(plain.contains("  test ") && plain.contains(" steps"), "{plain}");
}

#[test]
fn two_attach_to_a_run_and_leave_it_as_it_is() {
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
    assert_eq!(later, expected, "whoever comes later has it all from the beginning");
    training.goes_on();

    let line = scratch.json("watch --list");
    assert_eq!((&line["state"], &line["seed"]), (&"running".into(), &4.into()));
    let by_part: f64 = line["parts_s"].as_object().unwrap().values().map(|s| s.as_f64().unwrap()).sum();
    let train_s = line["progress"]["train_s"].as_f64().unwrap();
    assert!(by_part > 0.0 && by_part <= 1.001 * train_s, "{by_part} s of {train_s} s");

    // Killed like this, a process says nothing any more.
    drop(training);
    let end = second.read_until("notice");
    assert!(end.last().unwrap()["text"].as_str().unwrap().contains("is gone"), "{end:?}");
    let after = scratch.told("watch --plain");
    assert!(after.contains("return") && after.contains("is gone"), "{after}");
    assert!(stdout(&scratch.run("watch --list")).starts_with("killed"));
}

#[test]
fn a_run_taken_up_again_has_its_past_in_its_monitor() {
    let scratch = Scratch::new();
    train(&scratch, "--steps 40960 --save run.safetensors");
    scratch.told("resume run.safetensors --steps 81920 --set lr=0.001 --json --monitor run.ring");
    let values = values(&stdout(&scratch.run("watch run.ring --json")));
    assert_eq!(iterations(&values), (1..=20).collect::<Vec<u64>>());
    let mark = values.iter().find(|v| v["kind"] == "mark").expect("the change is told");
    assert_eq!((&mark["knob"], &mark["to"], &mark["progress"]["iteration"]), (&"lr".into(), &0.001.into(), &10.into()));
}

#[test]
fn the_newest_runs_and_saves_are_kept_and_runs_that_go_on() {
    let scratch = Scratch::new();
    let mut training = endless(&scratch, "--seed 77 --save endless.safetensors");
    wait_until(&mut training, || !scratch.cached("ring").is_empty());
    for seed in 1..=22 {
        train(&scratch, &format!("--steps 1 --seed {seed} --json"));
    }
    let rings = scratch.cached("ring");
    assert_eq!(rings.len(), 21, "{rings:?}");
    let has = |seed: &str| rings.iter().any(|r| r.to_str().unwrap().contains(&format!("-seed{seed}-")));
    assert_eq!(["77", "22", "3", "2", "1"].map(has), [true, true, true, false, false], "{rings:?}");
    assert_eq!(scratch.cached("safetensors").len(), 20);
}

#[test]
fn what_cannot_be_watched_is_refused_with_a_way_out() {
    let scratch = Scratch::new();
    train(&scratch, "--steps 4096 --monitor run.ring");
    let whole = scratch.bytes("run.ring");
    let said = |bytes: &[u8]| {
        scratch.write("bad.ring", bytes);
        let output = scratch.run("watch bad.ring --plain");
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
    scratch.refused("watch", 1, "hothouse train");
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_costs_a_notice_and_not_the_run() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.cache()).unwrap();
    fs::write(scratch.cache().join("hothouse"), "a file where the folder should be").unwrap();
    for args in ["", "--monitor missing/run.ring"] {
        let text = train(&scratch, &format!("--steps 4096 --plain {args}"));
        assert!(text.contains("cannot be watched") && text.contains("digest"), "{text}");
    }
}

#[test]
fn a_run_of_backgammon_is_watched_like_any_other() {
    let scratch = Scratch::new();
    let files = "--monitor run.ring --events run.jsonl";
    scratch.told(format!("train backgammon --games 72 {files} {SMALL_GAMES}"));
    let (ring, lines) = (scratch.records("watch run.ring"), scratch.records("watch run.jsonl"));
    for values in [&ring, &lines] {
        assert_eq!(iterations(values), [1, 2, 3]);
        assert_eq!(values.last().unwrap()["progress"]["games"], 72);
    }
    assert_eq!(ring.last(), lines.last());
    let plain = scratch.told("watch run.ring --plain");
    assert!(plain.contains("72 games") && plain.contains("random") && plain.contains("pubeval"), "{plain}");
    scratch.told(format!("train backgammon --games 24 {SMALL_GAMES}"));
    assert!(scratch.told("watch --list").contains("backgammon / strong, seed 1, 24 games"));
}

#[test]
fn a_monitor_that_is_cut_short_ends_neither_the_run_nor_its_watching() {
    let scratch = Scratch::new();
    let mut training = endless(&scratch, "--monitor run.ring");
    let path = scratch.path("run.ring");
    wait_until(&mut training, || path.exists());
    fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    // It is mended, and then shows the run again.
    wait_until(&mut training, || fs::metadata(&path).unwrap().len() > 0);
    scratch.spawn("watch run.ring --json").read_times("metrics", 3);
    training.goes_on();
}
