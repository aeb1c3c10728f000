//! The program as people and scripts use it: the built binary, its exit status, its words and its files.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Iterations of 4,096 steps: small enough to be quick, large enough to cut into several shards.
const SMALL: [&str; 8] =
    ["--set", "envs=256", "--set", "rollout_steps=16", "--set", "hidden=32", "--set", "minibatches=4"];
const ITERATION_STEPS: u64 = 256 * 16;
/// One iteration that takes far longer than any test waits.
const ENDLESS: [&str; 8] =
    ["--set", "envs=2048", "--set", "rollout_steps=256", "--set", "hidden=512", "--set", "epochs=20"];
/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of its own, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("hothouse-shell-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn hothouse(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hothouse"));
        command.current_dir(&self.0).args(args).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.0.with_extension("cache"));
        // Without it the system's software GPU complains on stderr.
        command.env("XDG_RUNTIME_DIR", &self.0);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.hothouse(args).output().unwrap()
    }

    /// `train` with the small configuration and `--json`; its summary.
    fn train(&self, args: &[&str]) -> Value {
        let output = self.run(&[&["train"], &SMALL[..], &["--json"], args].concat());
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        summary(&output)
    }

    fn spawn(&self, args: &[&str]) -> Child {
        self.hothouse(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_dir_all(self.0.with_extension("cache"));
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Every line is one JSON object; the last sums up.
fn summary(output: &Output) -> Value {
    let lines: Vec<Value> = stdout(output)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}")))
        .collect();
    assert_eq!(lines[0]["kind"], "opened");
    assert!(lines.iter().all(|l| l["kind"].is_string()));
    let last = lines.last().unwrap().clone();
    assert_eq!(last["kind"], "summary");
    last
}

/// Waits for the child to end by itself.
fn ended(mut child: Child) -> Output {
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the process did not end: {:?}", stderr(&child.wait_with_output().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

/// Reads the child's lines until one of this kind; the reader keeps the pipe open.
fn read_until(child: &mut Child, kind: &str) -> BufReader<impl Read + use<>> {
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains(&format!("\"kind\":\"{kind}\"")) {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the process ended before it told of {kind}");
    }
    reader
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_wrong_command_line_says_what_would_do() {
    let scratch = Scratch::new("usage");
    fs::write(scratch.path("notes.txt"), "these are notes, not a checkpoint").unwrap();
    fs::write(scratch.path("empty.safetensors"), "").unwrap();
    for (args, status, said) in [
        (&["--sed", "3"][..], 2, "--seed"),
        (&["trian"], 2, "train"),
        (&["train", "kitchen"], 2, "rooms are"),
        (&["train", "--env", "Pong-v5"], 2, "CartPole-v1"),
        (&["--set", "lr"], 2, "KNOB=VALUE"),
        (&["--set", "lr=fast"], 2, "number"),
        (&["--set", "lr=99"], 2, "out of range"),
        (&["--set", "wings=2"], 2, "rollout_steps"),
        (&["--steps", "1.5"], 2, "2e6"),
        (&["--steps", "-4"], 2, "whole number from 1"),
        (&["--seconds", "0"], 2, "above 0"),
        (&["--seed", "4294967296"], 2, "seed"),
        (&["--threads", "0"], 2, "1..=1024"),
        (&["--isa", "mmx"], 2, "This machine has"),
        (&["--json", "--plain"], 2, "cannot be used"),
        (&["--save", "one.file", "--events", "one.file"], 2, "Give each its own"),
        (&["bench", "everything"], 2, "core, control, backgammon or gpu"),
        (&["eval"], 2, "FILE"),
        (&["eval", "missing.safetensors"], 1, "hothouse train --save"),
        (&["eval", "notes.txt"], 1, "Choose a .safetensors file"),
        (&["resume", "empty.safetensors"], 1, "Choose a .safetensors file"),
        (&["resume", "."], 1, "folder"),
        (&["watch", "missing.jsonl"], 1, "--events"),
        (&["watch", "notes.txt"], 1, "holds no events"),
        (&["--save", "nowhere/run.safetensors"], 1, "Create it"),
        (&["--save", "."], 1, "file name"),
        (&["--events", "nowhere/run.jsonl"], 1, "cannot write events"),
    ] {
        let output = scratch.run(args);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?} said: {text}");
        assert!(text.starts_with("error: ") && !text.contains("panicked"), "{args:?} said: {text}");
        assert!(output.stdout.is_empty(), "{args:?} trained all the same");
    }
}

#[test]
fn help_is_enough_to_work_from() {
    let scratch = Scratch::new("help");
    let help = stdout(&scratch.run(&["--help"]));
    for word in
        ["train", "resume", "eval", "bench", "watch", "--set lr=0.003 --steps 2e6", "Ctrl-C", "Exit status"]
    {
        assert!(help.contains(word), "{word} is missing in: {help}");
    }
    let help = stdout(&scratch.run(&["train", "--help"]));
    for knob in run::knob_list(&run::default_config().env) {
        assert!(
            help.contains(&format!("  {}", knob.name)) && help.contains(&knob.default.to_string()),
            "{help}"
        );
    }
    assert!(stdout(&scratch.run(&["--version"])).starts_with("hothouse "));
}

#[test]
fn a_run_ends_at_the_first_budget_it_reaches() {
    let scratch = Scratch::new("budget");
    let steps = 3 * ITERATION_STEPS - 5;
    let done = scratch.train(&["--steps", &steps.to_string(), "--seconds", "600"]);
    assert_eq!(done["ended_by"], "steps");
    assert_eq!(done["steps"], 3 * ITERATION_STEPS, "at the end of the iteration that reached it");
    assert_eq!(done["iterations"], 3);
    assert_eq!(done["file"], Value::Null);

    let done = scratch.train(&["--seconds", "0.3", "--steps", "1e15"]);
    assert_eq!(done["ended_by"], "seconds");
    assert!(done["seconds"].as_f64().unwrap() >= 0.3);

    let done = scratch.train(&["--cpu-seconds", "0.2", "--steps", "1e15"]);
    assert_eq!(done["ended_by"], "cpu_seconds");
    assert!(done["cpu_seconds"].as_f64().unwrap() >= 0.2);
    assert_eq!(done["evaluation"]["episodes"], 100);
}

#[test]
fn a_run_can_end_when_the_task_is_solved_and_be_judged_afterwards() {
    let scratch = Scratch::new("solved");
    let args = ["--until-solved", "--steps", "2e7", "--json", "--save", "run.safetensors"];
    let output = scratch.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let done = summary(&output);
    assert_eq!(done["ended_by"], "solved");
    assert!(done["solved"]["env_steps"].as_u64().unwrap() > 0);

    let output = scratch.run(&["eval", "run.safetensors", "--episodes", "200", "--seed", "9", "--json"]);
    let judged: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&judged["kind"], &judged["episodes"]), (&"evaluation".into(), &200.into()));
    assert!(judged["mean_return"].as_f64().unwrap() > 400.0, "{judged}");
    assert!(stdout(&scratch.run(&["eval", "run.safetensors"])).contains("mean return"));
}

#[test]
fn stopping_and_resuming_gives_the_run_that_never_stopped() {
    let scratch = Scratch::new("resume");
    let (half, whole) = ((4 * ITERATION_STEPS).to_string(), (9 * ITERATION_STEPS).to_string());
    let expected = scratch.train(&["--steps", &whole, "--threads", "1"]);

    let first = scratch.train(&["--steps", &half, "--save", "run.safetensors"]);
    assert_eq!(first["file"], "run.safetensors");
    assert_ne!(first["digest"], expected["digest"]);
    let output = scratch.run(&["resume", "run.safetensors", "--steps", &whole, "--json", "--threads", "2"]);
    let second = summary(&output);
    assert_eq!(second["digest"], expected["digest"]);
    assert_eq!(second["steps"], expected["steps"]);
    assert_eq!(second["evaluation"]["mean_return"], expected["evaluation"]["mean_return"]);

    // It was saved back, so going on to where it already is changes nothing.
    let third = summary(&scratch.run(&["resume", "run.safetensors", "--steps", &whole, "--json"]));
    assert_eq!(third["digest"], expected["digest"]);
    let plain = stdout(&scratch.run(&["resume", "run.safetensors", "--steps", &half]));
    assert!(plain.contains("--steps counts from its beginning"), "{plain}");
}

#[test]
fn resuming_takes_live_knobs_and_marks_the_change() {
    let scratch = Scratch::new("live");
    scratch.train(&["--steps", "4096", "--save", "run.safetensors"]);
    let args =
        ["resume", "run.safetensors", "--set", "lr=0.001", "--steps", "8192", "--save", "other.safetensors"];
    let output = scratch.run(&[&args[..], &["--json"]].concat());
    let text = stdout(&output);
    assert!(text.contains(r#""kind":"mark""#) && text.contains(r#""knob":"lr""#), "{text}");
    assert!(scratch.path("other.safetensors").is_file());

    let refused = scratch.run(&["resume", "run.safetensors", "--set", "envs=64"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("cannot change while a run goes on"));
}

#[test]
fn damaged_and_newer_checkpoints_are_named_as_such() {
    let scratch = Scratch::new("damaged");
    scratch.train(&["--steps", "4096", "--save", "run.safetensors"]);
    let whole = fs::read(scratch.path("run.safetensors")).unwrap();
    let said = |name: &str, bytes: &[u8]| {
        fs::write(scratch.path(name), bytes).unwrap();
        let output = scratch.run(&["resume", name, "--steps", "1e5"]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(fs::read(scratch.path(name)).unwrap(), bytes, "the file stays as it was");
        stderr(&output)
    };
    for cut in [9, 40, whole.len() / 2, whole.len() - 1] {
        let text = said("cut.safetensors", &whole[..cut]);
        assert!(text.contains("cut short") || text.contains("no Hothouse checkpoint"), "{cut}: {text}");
    }
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert!(said("flipped.safetensors", &flipped).contains("damaged"));

    let mark = br#"{\"version\":1"#;
    let at = whole.windows(mark.len()).position(|w| w == mark).expect("the header begins with its version");
    let mut newer = whole.clone();
    newer[at + mark.len() - 1] = b'9';
    assert!(said("newer.safetensors", &newer).contains("Update Hothouse"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_prints_a_command_that_resumes() {
    let scratch = Scratch::new("interrupt");
    let args =
        [&["train", "--seed", "3", "--json", "--steps", "1e12", "--threads", "1"][..], &SMALL].concat();
    let mut child = scratch.spawn(&args);
    let mut rest = read_until(&mut child, "metrics");
    interrupt(&child);
    let mut text = String::new();
    rest.read_to_string(&mut text).unwrap();
    assert_eq!(ended(child).status.code(), Some(0));
    let done: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&done["kind"], &done["ended_by"]), (&"summary".into(), &"interrupt".into()));
    assert_eq!(done["file"], "hothouse-CartPole-v1-seed3.safetensors");

    let command = done["resume"].as_str().unwrap();
    assert!(command.ends_with("--steps 1000000000000 --threads 1"), "{command}");
    let steps = done["steps"].as_u64().unwrap() + 2 * ITERATION_STEPS;
    let command = format!("{} --json", command.replace("1000000000000", &steps.to_string()));
    let output = Command::new("sh")
        .args(["-c", &command])
        .env("XDG_CACHE_HOME", scratch.0.with_extension("cache"))
        .current_dir(&scratch.0)
        .output()
        .unwrap();
    assert_eq!(summary(&output)["steps"], steps, "{}", stderr(&output));

    // The same run, interrupted again, does not write over the first file.
    let mut child = scratch.spawn(&args);
    let mut rest = read_until(&mut child, "metrics");
    interrupt(&child);
    rest.read_to_string(&mut text).unwrap();
    ended(child);
    assert!(scratch.path("hothouse-CartPole-v1-seed3-2.safetensors").is_file());
}

/// `script` gives the program a terminal of its own, which goes away with it.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_goes_away_ends_the_run_and_keeps_it() {
    let scratch = Scratch::new("hangup");
    let inside = format!("echo $$ > pid; exec {} train --seed 6 --threads 1", env!("CARGO_BIN_EXE_hothouse"));
    let mut script = Command::new("script")
        .args(["--quiet", "--command", &inside, "/dev/null"])
        .env("XDG_CACHE_HOME", scratch.0.with_extension("cache"))
        .current_dir(&scratch.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("util-linux has `script`");
    // Something was drawn: the run is under way.
    let mut drawn = [0; 200];
    script.stdout.as_mut().unwrap().read_exact(&mut drawn).unwrap();
    let pid = fs::read_to_string(scratch.path("pid")).unwrap();
    script.kill().unwrap();
    script.wait().unwrap();
    let alive = || Path::new("/proc").join(pid.trim()).join("exe").exists();
    let waited = std::iter::repeat_n(Duration::from_millis(50), 400).any(|nap| {
        std::thread::sleep(nap);
        !alive()
    });
    assert!(waited, "the program is still there 20 s after its terminal went away");
    assert!(scratch.path("hothouse-CartPole-v1-seed6.safetensors").is_file());
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_quits_at_once() {
    let scratch = Scratch::new("twice");
    let mut child = scratch.spawn(&[&["train", "--json"], &ENDLESS[..]].concat());
    let _pipe = read_until(&mut child, "running");
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(300)); // two that come at once are one
    interrupt(&child);
    // Had the first one ended the run, or its long iteration, it would have ended well and saved.
    assert_eq!(ended(child).status.code(), Some(130));
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0);
}

#[test]
fn watching_shows_what_training_showed() {
    let scratch = Scratch::new("watch");
    let args = [&["train", "--events", "run.jsonl", "--steps", "20000"][..], &SMALL].concat();
    let plain = stdout(&scratch.run(&args));
    assert!(plain.contains("evaluation  mean return") && plain.contains("digest"), "{plain}");
    assert_eq!(stdout(&scratch.run(&["watch", "run.jsonl"])), plain);
    let json = stdout(&scratch.run(&["watch", "run.jsonl", "--json"]));
    assert_eq!(json, fs::read_to_string(scratch.path("run.jsonl")).unwrap());
}

#[test]
fn watching_a_run_that_was_killed_says_that_it_fell_silent() {
    let scratch = Scratch::new("silent");
    scratch.train(&["--steps", "4096", "--events", "e.jsonl"]);
    let text = fs::read_to_string(scratch.path("e.jsonl")).unwrap();
    let without_the_end = &text[..text.trim_end().rfind('\n').unwrap() + 1];
    fs::write(scratch.path("e.jsonl"), without_the_end).unwrap();
    let mut watch = scratch.spawn(&["watch", "e.jsonl", "--json"]);
    let rest = read_until(&mut watch, "notice");
    watch.kill().unwrap();
    watch.wait().unwrap();
    drop(rest);
}

#[test]
fn watching_follows_a_run_to_its_end() {
    let scratch = Scratch::new("follow");
    let mut training = scratch
        .spawn(&[&["train", "--events", "run.jsonl", "--seconds", "1", "--json"][..], &SMALL].concat());
    let mut rest = read_until(&mut training, "metrics");
    let watching = scratch.spawn(&["watch", "run.jsonl", "--json"]);
    let (mut sink, mut watched) = (String::new(), String::new());
    rest.read_to_string(&mut sink).unwrap();
    let mut watching = watching;
    watching.stdout.take().unwrap().read_to_string(&mut watched).unwrap();
    assert!(ended(training).status.success() && ended(watching).status.success());
    assert_eq!(watched.lines().last(), sink.lines().last());
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let scratch = Scratch::new("pipe");
    for format in ["--json", "--plain"] {
        let args = [&["train", format, "--save", "run.safetensors"][..], &SMALL].concat();
        let mut child = scratch.spawn(&args);
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let output = ended(child);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        assert!(scratch.path("run.safetensors").is_file(), "what --save asks for is kept");
    }
}

#[test]
fn a_folder_that_goes_away_does_not_take_the_run_with_it() {
    let scratch = Scratch::new("vanish");
    let (folder, refuge) = (scratch.path("runs"), scratch.path("tmp"));
    fs::create_dir(&folder).unwrap();
    fs::create_dir(&refuge).unwrap();
    let args =
        [&["train", "--json", "--save", "runs/run.safetensors", "--seconds", "1"][..], &SMALL].concat();
    let mut child = scratch
        .hothouse(&args)
        .envs(["TMPDIR", "TEMP", "TMP"].map(|name| (name, &refuge)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut rest = read_until(&mut child, "metrics");
    fs::remove_dir_all(&folder).unwrap();
    let mut text = String::new();
    rest.read_to_string(&mut text).unwrap();
    let output = ended(child);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("the run is safe in"), "{}", stderr(&output));
    let done: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let kept = Path::new(done["file"].as_str().unwrap());
    assert!(kept.starts_with(&refuge) && kept.is_file());
    let resumed = scratch.run(&["resume", kept.to_str().unwrap(), "--seconds", "0.1", "--json"]);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_for_events_does_not_stop_training() {
    let scratch = Scratch::new("full");
    let output =
        scratch.run(&[&["train", "--json", "--events", "/dev/full", "--steps", "8192"][..], &SMALL].concat());
    assert!(output.status.success());
    assert_eq!(summary(&output)["steps"], 8192);
    assert_eq!(stderr(&output).matches("training goes on").count(), 1, "{}", stderr(&output));
}

// ---- the device that trains ----

/// The records of one kind.
fn records(output: &Output, kind: &str) -> Vec<Value> {
    let all = stdout(output);
    let parsed = all.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    parsed.filter(|record| record["kind"] == kind).collect()
}

fn three_iterations(scratch: &Scratch, args: &[&str]) -> Command {
    let steps = (3 * ITERATION_STEPS).to_string();
    scratch.hothouse(&[&["train"], &SMALL[..], &["--json", "--steps", &steps], args].concat())
}

#[test]
fn a_run_trains_on_the_gpu_and_goes_on_on_the_processor() {
    let scratch = Scratch::new("gpu");
    let output =
        three_iterations(&scratch, &["--device", "gpu", "--save", "run.safetensors"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let device = records(&output, "device").remove(0);
    assert_eq!((&device["wish"], &device["on_gpu"]), (&"gpu".into(), &true.into()), "{device}");
    let on_gpu = summary(&output);
    assert_eq!((&on_gpu["device"], &on_gpu["arithmetic"]), (&device["gpu"], &"gpu".into()));
    assert_eq!((&on_gpu["iterations"], &on_gpu["steps"]), (&3.into(), &(3 * ITERATION_STEPS).into()));
    for metrics in records(&output, "metrics") {
        assert!(metrics["shares"][7].as_f64().unwrap() > 0.0, "the GPU took its time: {metrics}");
        assert!(metrics["episodes"].is_null() && metrics["mean_return"].as_f64().unwrap() > 8.0);
    }

    let steps = (5 * ITERATION_STEPS).to_string();
    let output = scratch.run(&["resume", "run.safetensors", "--device", "cpu", "--steps", &steps, "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let back = summary(&output);
    assert_eq!((&back["iterations"], &back["arithmetic"]), (&5.into(), &"mixed".into()));
    assert!(back["device"].is_null() && back["evaluation"]["mean_return"].as_f64().unwrap() > 8.0);
}

#[test]
fn without_a_gpu_the_processor_trains_and_says_so() {
    let scratch = Scratch::new("no-gpu");
    // The system's loader finds no driver.
    let nowhere = scratch.path("no-driver.json");
    let mut command = three_iterations(&scratch, &["--device", "gpu"]);
    let output = command.env("VK_DRIVER_FILES", &nowhere).env("VK_ICD_FILENAMES", &nowhere).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let device = records(&output, "device").remove(0);
    assert_eq!((&device["on_gpu"], &device["gpu"]), (&false.into(), &Value::Null), "{device}");
    let notice = records(&output, "notice").remove(0);
    assert_eq!(notice["level"], "warning");
    assert!(notice["text"].as_str().unwrap().contains("no GPU"), "{notice}");
    assert!(notice["next_step"].as_str().unwrap().contains("driver"), "{notice}");
    let at_home = scratch.train(&["--steps", &(3 * ITERATION_STEPS).to_string(), "--device", "cpu"]);
    assert_eq!(summary(&output)["digest"], at_home["digest"], "the same run as ever");
}

#[test]
fn a_run_too_large_for_the_gpu_stays_on_the_processor() {
    let scratch = Scratch::new("large-gpu");
    // As much as an iteration can hold, with layers so wide that their numbers pass 4 GB.
    let wide =
        ["--set", "envs=65536", "--set", "rollout_steps=64", "--set", "hidden=512", "--set", "minibatches=1"];
    let args = [&["train", "--device", "gpu", "--steps", "1e15", "--json"], &wide[..]].concat();
    let mut child = scratch.spawn(&args);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let notice = lines
        .by_ref()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|record| record["kind"] == "notice" && record["level"] == "warning")
        .expect("it says so before it begins");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(notice["text"].as_str().unwrap().contains("bytes"), "{notice}");
    assert!(notice["next_step"].as_str().unwrap().contains("fewer environments"), "{notice}");
}

#[test]
fn there_is_no_other_device() {
    let scratch = Scratch::new("device");
    let output = scratch.run(&["train", "--device", "tpu"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("auto, cpu or gpu"), "{}", stderr(&output));
}
