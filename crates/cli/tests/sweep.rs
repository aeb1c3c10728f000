//! A sweep as people and scripts use it: its file, its table, and what stops and refuses it.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs of two short iterations each.
const SMALL: [&str; 10] = [
    "--set",
    "envs=256",
    "--set",
    "rollout_steps=16",
    "--set",
    "hidden=32",
    "--set",
    "minibatches=4",
    "--steps",
    "8e3",
];
const GRID: [&str; 6] = ["--knob", "lr=1e-3..1e-2:log", "--points", "3", "--seeds", "3"];

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("hothouse-sweep-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn hothouse(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hothouse"));
        command.current_dir(&self.0).env("XDG_CACHE_HOME", self.0.with_extension("cache"));
        command.args(args).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.hothouse(args).output().unwrap()
    }

    /// The small grid with `more`; its last line.
    fn sweep(&self, more: &[&str]) -> Value {
        let output = self.run(&[&["sweep", "control"], &SMALL[..], &GRID, &["--json"], more].concat());
        assert!(output.status.success(), "{more:?}: {}", text(&output.stderr));
        let last = text(&output.stdout).lines().last().unwrap().to_string();
        let summary: Value = serde_json::from_str(&last).unwrap();
        assert_eq!(summary["kind"], "sweep_summary");
        summary
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_dir_all(self.0.with_extension("cache"));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The runs of a file without what the clock said, in an order of their own.
fn runs(file: &Path) -> Vec<Value> {
    let mut runs: Vec<Value> =
        fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for run in &mut runs {
        run["seconds"].take();
        run["evaluation"]["progress"]["train_s"].take();
    }
    runs.sort_by_key(|run| format!("{} {}", run["knobs"]["lr"], run["seed"]));
    runs
}

#[test]
fn results_are_the_same_for_any_number_of_threads_and_those_of_train() {
    let scratch = Scratch::new("threads");
    scratch.sweep(&["--threads", "1", "--out", "one.jsonl"]);
    let summary = scratch.sweep(&["--threads", "4", "--out", "four.jsonl"]);
    let (one, four) = (runs(&scratch.path("one.jsonl")), runs(&scratch.path("four.jsonl")));
    assert_eq!(one, four);
    assert_eq!((one.len(), &summary["runs"], &summary["complete"]), (9, &9.into(), &true.into()));

    let chosen = &one[4];
    let (lr, seed) = (format!("lr={}", chosen["knobs"]["lr"]), chosen["seed"].to_string());
    let train = ["train", "--json", "--threads", "2", "--set", &lr, "--seed", &seed];
    let output = scratch.run(&[&train[..], &SMALL].concat());
    let last = text(&output.stdout).lines().last().unwrap().to_string();
    let trained: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(trained["digest"], chosen["digest"]);
    assert_eq!(trained["evaluation"]["mean_return"], chosen["evaluation"]["mean_return"]);

    for setting in summary["settings"].as_array().unwrap() {
        let of_setting = |run: &&Value| run["knobs"]["lr"] == setting["knobs"]["lr"];
        let mut returns: Vec<f64> = one
            .iter()
            .filter(of_setting)
            .map(|run| run["evaluation"]["mean_return"].as_f64().unwrap())
            .collect();
        returns.sort_by(f64::total_cmp);
        let expected = [(returns[0] + returns[1]) / 2.0, returns[1], (returns[1] + returns[2]) / 2.0];
        for (name, expected) in ["q1", "median", "q3"].iter().zip(expected) {
            let told = setting["returns"][name].as_f64().unwrap();
            assert!((told - expected).abs() < 1e-9, "{name}: {told} and not {expected}");
        }
        let solved = one.iter().filter(of_setting).filter(|run| run["solved_steps"].is_u64()).count();
        assert_eq!(setting["solved"], solved);
        assert_eq!(setting["solved_steps"]["median"].is_null(), solved < 2, "an unsolved run takes for ever");
    }
}

#[test]
fn a_broken_last_line_is_done_again_and_more_seeds_add_to_what_there_is() {
    let scratch = Scratch::new("broken");
    scratch.sweep(&["--out", "runs.jsonl"]);
    let file = scratch.path("runs.jsonl");
    let (whole, bytes) = (runs(&file), fs::read(&file).unwrap());
    for cut in [1, 40, 300] {
        fs::write(&file, &bytes[..bytes.len() - cut]).unwrap();
        let summary = scratch.sweep(&["--out", "runs.jsonl"]);
        assert_eq!((&summary["from_file"], &summary["finished"]), (&8.into(), &9.into()), "{cut} bytes");
        assert_eq!(runs(&file), whole);
    }
    let more = ["--knob", "lr=1e-3..1e-2:log", "--points", "3", "--seeds", "4", "--out", "runs.jsonl"];
    let output = scratch.run(&[&["sweep"], &SMALL[..], &more].concat());
    let said = text(&output.stdout);
    assert!(said.contains("9 of 12 runs are in runs.jsonl already"), "{said}");
    assert!(said.contains("steps to solved") && said.contains("0 of 4") && said.contains("best"), "{said}");
    assert_eq!(runs(&file).len(), 12);
    let fewer = scratch.sweep(&["--out", "runs.jsonl"]);
    assert_eq!((&fewer["from_file"], &fewer["runs"]), (&9.into(), &9.into()));
}

#[test]
fn a_file_of_another_sweep_is_refused_and_left_alone() {
    let scratch = Scratch::new("other");
    scratch.sweep(&["--out", "runs.jsonl"]);
    fs::write(scratch.path("notes.txt"), "these are notes\n").unwrap();
    fs::write(scratch.path("line.txt"), "{\"kind\":\"notes\"").unwrap();
    for (file, args, said) in [
        ("runs.jsonl", &["--knob", "lr=0.5e-3,1e-2"][..], "another sweep"),
        ("runs.jsonl", &["--knob", "gamma=0.9..0.99"], "another sweep"),
        ("runs.jsonl", &["--knob", "lr=1e-3..1e-2:log", "--points", "3", "--until-solved"], "another sweep"),
        (
            "runs.jsonl",
            &["--knob", "lr=1e-3..1e-2:log", "--points", "3", "--isa", "portable"],
            "another sweep",
        ),
        ("notes.txt", &["--knob", "lr=1e-3,1e-2"], "no results of a sweep"),
        ("line.txt", &["--knob", "lr=1e-3,1e-2"], "no results of a sweep"),
    ] {
        let before = fs::read(scratch.path(file)).unwrap();
        let output = scratch.run(&[&["sweep", "control", "--out", file], &SMALL[..], args].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        assert!(
            told.contains(said) && told.contains("Name another file with --out"),
            "{args:?} said: {told}"
        );
        assert_eq!(fs::read(scratch.path(file)).unwrap(), before, "{file}");
    }
}

#[test]
fn a_wrong_grid_says_what_would_do() {
    let scratch = Scratch::new("usage");
    for (args, said) in [
        (&["sweep", "kitchen"][..], "rooms are"),
        (&["sweep", "control", "--knob", "wings=1,2"], "rollout_steps"),
        (&["sweep", "control", "--knob", "lr=1e-4..7"], "out of range"),
        (&["sweep", "control", "--knob", "lr=1e-2..1e-4"], "smaller end"),
        (&["sweep", "control", "--knob", "entropy=0..0.1:log"], "above 0"),
        (&["sweep", "control", "--knob", "lr"], "KNOB=FROM..TO"),
        (&["sweep", "control", "--knob", "lr=1e-3", "--knob", "lr=1e-2"], "twice"),
        (&["sweep", "control", "--knob", "lr=1e-3,1e-2", "--set", "lr=0.003"], "twice"),
        (&["sweep", "control", "--knob", "hidden=8.5"], "whole"),
        (&["sweep", "--knob", "envs=65536", "--set", "rollout_steps=1024"], "lower one of the two"),
        (
            &["sweep", "control", "--knob", "lr=1e-4..1e-2", "--points", "1000", "--seeds", "1000"],
            "100,000 runs",
        ),
        (&["sweep", "control", "--points", "1"], "2..=1000"),
        (&["sweep", "control", "--env", "Pong-v5"], "CartPole-v1"),
    ] {
        let output = scratch.run(args);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(said) && told.starts_with("error: "), "{args:?} said: {told}");
        assert!(output.stdout.is_empty(), "{args:?} ran all the same");
    }
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0, "no file is left of a refusal");
    let help = text(&scratch.run(&["sweep", "--help"]).stdout);
    for word in
        ["lr=1e-4..1e-2:log", "--seeds", "--points", "--until-solved", "--out", "Ctrl-C", "rollout_steps"]
    {
        assert!(help.contains(word), "--help lacks {word}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_finished_and_the_same_command_does_the_rest() {
    let scratch = Scratch::new("interrupt");
    // The first setting is done at once; the second goes on far longer than the test waits.
    let args = ["sweep", "--knob", "epochs=1,20", "--seeds", "1", "--threads", "2", "--set", "envs=2048"];
    let slow = ["--set", "rollout_steps=32", "--set", "hidden=128", "--steps", "6e4"];
    let mut child = scratch
        .hothouse(&[&args[..], &slow].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("[1/2]") {
        assert!(reader.read_line(&mut said).unwrap() > 0, "it ended before a run did: {said}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    reader.read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(said.contains("stopped     1 of 2 runs") && said.contains("continue    "), "{said}");
    assert!(said.contains("sweep --knob epochs=1,20"), "{said}");
    let output = scratch.run(&[&args[..], &slow].concat());
    let rest = text(&output.stdout);
    assert!(
        output.status.success() && rest.contains("1 of 2 runs are in sweep-control-CartPole-v1-"),
        "{rest}"
    );
    assert!(rest.contains("[2/2]") && !rest.contains("continue"), "{rest}");
}
