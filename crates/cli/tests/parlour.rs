//! Training backgammon as people and scripts do it: the built binary, its exit status, its words and its files.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Networks and rounds that are quick.
const SMALL: [&str; 6] = ["--set", "hidden=16", "--set", "games=24", "--set", "batch=128"];

/// A folder of its own, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("hothouse-parlour-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hothouse"));
        command.current_dir(&self.0).args(args).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", &self.0).env("XDG_RUNTIME_DIR", &self.0);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The last line of a run that ended well.
    fn summary(&self, args: &[&str]) -> Value {
        summary(&records(self.command(args)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The lines of a run that ended well.
fn records(mut command: Command) -> Vec<Value> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn summary(records: &[Value]) -> Value {
    let last = records.last().unwrap();
    assert_eq!(last["kind"], "summary");
    last.clone()
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

#[test]
fn a_run_stopped_and_resumed_is_the_run_that_went_on_whatever_the_threads() {
    let scratch = Scratch::new("resume");
    let train = |more: &[&str]| {
        scratch.summary(&[&["train", "backgammon", "--seed", "3", "--json"], &SMALL[..], more].concat())
    };
    let whole = train(&["--steps", "120", "--threads", "1"]);
    let half = train(&["--steps", "48", "--threads", "2", "--save", "half.safetensors"]);
    assert_eq!(half["progress"]["games"], 48);
    assert!(half["resume"].as_str().unwrap().contains("resume half.safetensors"));
    let rest = scratch.summary(&["resume", "half.safetensors", "--steps", "120", "--json", "--threads", "2"]);
    assert_eq!(rest["digest"], whole["digest"]);
    assert_eq!(rest["judged"]["random"], whole["judged"]["random"]);
    assert_eq!((&rest["progress"]["games"], &rest["ended_by"]), (&Value::from(120), &Value::from("steps")));
}

#[test]
fn plain_lines_tell_of_a_run_and_events_are_written_beside() {
    let scratch = Scratch::new("plain");
    let output = scratch
        .run(&[&["train", "backgammon", "--steps", "48", "--events", "run.jsonl"], &SMALL[..]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["backgammon / strong, seed 1", "games", "strength", "random", "linear", "digest"] {
        assert!(text.contains(part), "{part} in: {text}");
    }
    assert!(!text.contains("continue"), "nothing was saved: {text}");
    let events = std::fs::read_to_string(scratch.0.join("run.jsonl")).unwrap();
    let kinds: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "metrics").count(), 2);
    assert_eq!((kinds[0].as_str(), kinds.last().unwrap().as_str()), ("opened", "summary"));
    let watched = scratch.run(&["watch", "run.jsonl", "--plain"]);
    let text = String::from_utf8(watched.stderr).unwrap();
    assert!(!watched.status.success() && text.contains("tail -f"), "{text}");
}

#[test]
#[cfg(unix)]
fn ctrl_c_saves_the_run_and_prints_how_to_go_on() {
    let scratch = Scratch::new("interrupt");
    let mut command = scratch.command(&[&["train", "backgammon", "--json"], &SMALL[..]].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut interrupted = false;
    let mut last = String::new();
    for line in lines.map(Result::unwrap) {
        if line.contains(r#""kind":"metrics""#) && !interrupted {
            interrupted = true;
            assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        }
        last = line;
    }
    assert!(child.wait().unwrap().success());
    let summary: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(summary["ended_by"], "interrupt");
    let file = summary["file"].as_str().unwrap();
    assert_eq!(file, "hothouse-backgammon-strong-seed1.safetensors");
    assert!(scratch.0.join(file).exists() && summary["resume"].as_str().unwrap().contains(file));
}

// ---- the device that trains ----

/// The learner that can use a GPU, with rounds that are quick.
fn published(more: &[&str]) -> Vec<String> {
    let knobs =
        ["tables=2", "games=4", "batch=16", "evals=4", "round_batches=12", "minibatch=32", "replay=512"];
    let knobs = knobs.iter().flat_map(|knob| ["--set", knob]);
    let train = ["train", "backgammon", "--env", "published", "--seed", "3", "--json"];
    train.into_iter().chain(knobs).chain(more.iter().copied()).map(String::from).collect()
}

fn command(scratch: &Scratch, args: &[String]) -> Command {
    scratch.command(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_published_learner_trains_on_the_gpu_and_goes_on_on_the_processor() {
    let scratch = Scratch::new("gpu");
    let args = published(&["--device", "gpu", "--steps", "12", "--save", "run.safetensors"]);
    let told = records(command(&scratch, &args));
    let device = of_kind(&told, "device")[0];
    assert_eq!((&device["wish"], &device["on_gpu"]), (&"gpu".into(), &true.into()), "{device}");
    let on_gpu = summary(&told);
    assert_eq!((&on_gpu["device"], &on_gpu["arithmetic"]), (&device["gpu"], &"gpu".into()));
    assert!(on_gpu["progress"]["games"].as_u64().unwrap() >= 12);
    assert!(on_gpu["resume"].as_str().unwrap().ends_with("--device gpu"), "{}", on_gpu["resume"]);
    let metrics = of_kind(&told, "metrics");
    assert!(metrics.iter().any(|metrics| metrics["loss"].as_f64().unwrap() > 0.0), "it learned: {metrics:?}");
    // In the first round it gets ready.
    for metrics in &metrics[1..] {
        assert!(metrics["shares"][6].as_f64().unwrap() > 0.0, "the GPU took its time: {metrics}");
    }

    let back = scratch.summary(&["resume", "run.safetensors", "--device", "cpu", "--steps", "24", "--json"]);
    assert_eq!((&back["arithmetic"], &back["device"]), (&"mixed".into(), &Value::Null));
    assert!(back["progress"]["games"].as_u64().unwrap() >= 24);
    assert!(back["resume"].as_str().unwrap().ends_with("--device cpu"), "{}", back["resume"]);
}

#[test]
fn without_a_gpu_backgammon_trains_on_the_processor_and_says_so() {
    let scratch = Scratch::new("no-gpu");
    // The system's loader finds no driver.
    let nowhere = scratch.0.join("no-driver.json");
    let mut asked = command(&scratch, &published(&["--device", "gpu", "--steps", "12"]));
    asked.env("VK_DRIVER_FILES", &nowhere).env("VK_ICD_FILENAMES", &nowhere);
    let told = records(asked);
    let device = of_kind(&told, "device")[0];
    assert_eq!((&device["on_gpu"], &device["gpu"]), (&false.into(), &Value::Null), "{device}");
    let notice = of_kind(&told, "notice")[0];
    assert_eq!(notice["level"], "warning");
    assert!(notice["text"].as_str().unwrap().contains("no GPU"), "{notice}");
    let at_home = records(command(&scratch, &published(&["--device", "cpu", "--steps", "12"])));
    assert_eq!(summary(&told)["digest"], summary(&at_home)["digest"], "the same run as ever");
}

#[test]
fn the_strong_learner_says_why_it_stays_on_the_processor() {
    let scratch = Scratch::new("strong");
    let train = |device: &str| {
        let args = ["train", "backgammon", "--steps", "48", "--json", "--device", device];
        records(scratch.command(&[&args[..], &SMALL].concat()))
    };
    let (auto, gpu) = (train("auto"), train("gpu"));
    for told in [&auto, &gpu] {
        let why = of_kind(told, "device")[0]["why"].as_str().unwrap();
        assert!(why.contains("strong learner") && why.contains("a few rows"), "{why}");
        assert!(summary(told)["device"].is_null());
    }
    assert!(of_kind(&auto, "notice").is_empty(), "nobody asked for a GPU");
    let next_step = of_kind(&gpu, "notice")[0]["next_step"].as_str().unwrap();
    assert!(next_step.contains("published") && next_step.contains("processor"), "{next_step}");
    assert_eq!(summary(&auto)["digest"], summary(&gpu)["digest"]);
}

#[test]
fn what_does_not_apply_is_refused_with_what_would_do() {
    let scratch = Scratch::new("refused");
    let said = |args: &[&str]| {
        let output = scratch.run(args);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for (more, words) in [
        (&["--csv", "run.csv"][..], "--events FILE"),
        (&["--tensorboard", "runs"], "--events FILE"),
        (&["--monitor", "ring"], "--events FILE"),
        (&["--until-solved"], "--steps"),
        (&["--device", "tpu"], "auto, cpu or gpu"),
        (&["--env", "CartPole-v1"], "strong, published"),
        (&["--set", "gamma=0.9"], "lambda"),
        (&["--set", "lr=9"], "out of range"),
        (&["--set", "hidden=17"], "multiples of 16"),
        (&["--save", "a", "--events", "a"], "Give each its own"),
    ] {
        let (code, text) = said(&[&["train", "backgammon", "--seconds", "1"], more].concat());
        assert!(code == 2 && text.contains(words), "{more:?} gave {code}: {text}");
    }
    std::fs::write(scratch.0.join("junk.safetensors"), b"not a checkpoint at all").unwrap();
    let (code, text) = said(&["resume", "junk.safetensors"]);
    assert!(code == 1 && text.contains("no Hothouse checkpoint"), "{text}");
    for args in [&["sweep", "backgammon", "--knob", "lr=0.001,0.01"][..], &["solve", "backgammon"]] {
        let (code, text) = said(args);
        assert!(code == 2 && text.contains("hothouse train backgammon"), "{text}");
    }
}
