//! Tests of the commands that all rooms share: exit status, output and files.

use crate::common::*;
use run::format::steers;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn command_line_errors_name_the_remedy() {
    let scratch = Scratch::new();
    scratch.write("notes.txt", "these are notes, not a checkpoint");
    scratch.write("empty.safetensors", "");
    for (args, status, message) in [
        ("--sed 3", 2, "--seed"),
        ("trian", 2, "train"),
        ("train kitchen", 2, "rooms are"),
        ("train --env Pong-v5", 2, "CartPole-v1"),
        ("train --variant Pong-v5", 2, "CartPole-v1"),
        ("resume", 1, "hothouse train"),
        ("watch empty.safetensors", 1, "is empty"),
        ("--set lr", 2, "KNOB=VALUE"),
        ("--set lr=fast", 2, "a number from"),
        ("--at lr=0.001", 2, "320:lr=1e-4"),
        ("--at 5:lr=fast", 2, "a number from"),
        ("--at 5:envs=64", 2, "cannot change during a run"),
        ("--set lr=99", 2, "out of range"),
        ("--set wings=2", 2, "rollout_steps"),
        ("--steps 1.5", 2, "2e6"),
        ("--steps -4", 2, "whole number from 1"),
        ("--seconds 0", 2, "above 0"),
        ("--seed 4294967296", 2, "seed"),
        ("--threads 0", 2, "1..=1024"),
        ("--isa mmx", 2, "is not available. Choose one of"),
        ("--json --plain", 2, "cannot be used"),
        ("--save one.file --events one.file", 2, "Use different files"),
        ("bench everything", 2, "core, gpu, worlds, control, backgammon"),
        ("eval", 2, "FILE"),
        ("eval missing.safetensors", 1, "hothouse train --save"),
        ("eval notes.txt", 1, "Choose a .safetensors file"),
        ("resume empty.safetensors", 1, "Choose a .safetensors file"),
        ("resume .", 1, "folder"),
        ("watch missing.jsonl", 1, "--events"),
        ("watch notes.txt", 1, "contains no events"),
        ("--save nowhere/run.safetensors", 1, "Create it"),
        ("--save .", 1, "file name"),
        ("--events nowhere/run.jsonl", 1, "Name another file with --events"),
        ("train --device tpu", 2, "auto, cpu or gpu"),
        ("completions tcsh", 2, ""),
    ] {
        let text = scratch.fails(args, status, message);
        assert!(text.starts_with("error: "), "{args} message: {text}");
    }
}

#[test]
fn help_lists_commands_rooms_and_knobs() {
    let scratch = Scratch::new();
    let help = stdout(&scratch.run("--help"));
    for word in ["train", "resume", "eval", "bench", "watch", "--set lr=0.003 --steps 2e6", "Ctrl-C", "Exit status"] {
        assert!(help.contains(word), "{word} is missing in: {help}");
    }
    assert!(help.contains("`hothouse train --help` lists them"), "{help}");
    let help = stdout(&scratch.run("train --help"));
    assert!(help.contains("All knobs are listed below") && !help.contains("lists them"), "{help}");
    for room in run::rooms() {
        let variants = room.variants();
        for knob in room.knobs(&variants[0].id) {
            let default = knob.default.to_string();
            assert!(help.contains(&format!("  {}", knob.name)) && help.contains(&default), "{help}");
        }
        assert!(variants.iter().all(|variant| help.contains(&*variant.id)), "{help}");
    }
    assert!(stdout(&scratch.run("--version")).starts_with("hothouse "));
}

/// For the completions, clap builds the grammar of every command. In a debug build, clap checks that the grammar is consistent.
#[test]
fn the_grammar_is_consistent() {
    assert!(Scratch::new().stdout("completions bash").contains("hothouse"));
}

/// The completion also contains the commands of single rooms.
#[cfg(target_os = "linux")]
#[test]
fn shell_completes_commands_and_options() {
    let scratch = Scratch::new();
    scratch.write("completions", scratch.stdout("completions bash"));
    let completed = |words: &str, word: &str| {
        let ask = format!(
            "source ./completions; COMP_WORDS=({words} '{word}'); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _hothouse hothouse '{word}' ''; echo \"${{COMPREPLY[@]}}\""
        );
        let shell = Command::new("bash").current_dir(&scratch.0).args(["-c", &ask]).output();
        stdout(&shell.unwrap()).trim().to_string()
    };
    assert_eq!(completed("hothouse", "pl"), "play");
    assert_eq!(completed("hothouse", "gen"), "generate");
    assert_eq!(completed("hothouse play backgammon", "--kee"), "--keep");
}

#[test]
fn a_run_ends_at_its_first_limit() {
    let scratch = Scratch::new();
    let done = scratch.train(format!("--steps {} --seconds 600", 3 * ITERATION_STEPS - 5));
    assert_eq!(done["ended_by"], "steps");
    let progress = &done["progress"];
    assert_eq!(progress["env_steps"], 3 * ITERATION_STEPS, "the run ends with the iteration that reaches the limit");
    assert_eq!(progress["iteration"], 3);
    let cached = scratch.cached("safetensors");
    assert_eq!(done["file"], cached[0].to_str().unwrap(), "without --save, the checkpoint is in the cache");

    for (budget, name, least) in [("--seconds 0.3", "seconds", 0.3), ("--cpu-seconds 0.2", "cpu_seconds", 0.2)] {
        let done = scratch.train(format!("{budget} --steps 1e15"));
        assert_eq!(done["ended_by"], name);
        assert!(done[name].as_f64().unwrap() >= least);
        assert_eq!(done["test"]["episodes"].as_f64(), Some(100.0));
    }
}

#[test]
fn remaining_budget_is_reported_during_training() {
    let scratch = Scratch::new();
    let text = scratch.stdout(format!("train --seconds 4 --steps 1e15 --events run.jsonl {SMALL}"));
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("% done, about ")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.ends_with(" s left")), "{text}");
    assert!(text.contains("  test ") && text.contains("  state       ") && text.contains("digest"), "{text}");
    assert_eq!(scratch.stdout("watch run.jsonl"), text, "watching shows what training showed");
    let events = scratch.text("run.jsonl");
    assert_eq!(scratch.stdout("watch run.jsonl --json"), events);
    let log = records(&events);
    let left = of_kind(&log, "left");
    assert!((1..=4).contains(&left.len()), "{left:?}");
    for left in left {
        // The remaining time up to a time limit does not depend on the speed of training.
        let (done, seconds) = (left["done"].as_f64().unwrap(), left["seconds"].as_f64().unwrap());
        assert!((4.0 * (1.0 - done) - seconds).abs() < 1e-6 && done > 0.0, "{left}");
    }
}

#[test]
fn a_run_ends_when_solved_and_can_be_tested_afterwards() {
    let scratch = Scratch::new();
    let done = scratch.summary("--until-solved --steps 2e7 --save run.safetensors");
    assert_eq!(done["ended_by"], "solved");
    assert!(done["solved"]["env_steps"].as_u64().unwrap() > 0);

    let tested = scratch.json("eval run.safetensors --episodes 200 --seed 9");
    assert_eq!((&tested["kind"], tested["episodes"].as_f64()), (&"test".into(), Some(200.0)));
    assert!(tested["mean_return"].as_f64().unwrap() > 400.0, "{tested}");
    assert!(scratch.stdout("eval run.safetensors").contains("steps: test "));
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    let scratch = Scratch::new();
    let [half, whole] = [4, 9].map(|iterations| iterations * ITERATION_STEPS);
    let expected = scratch.train(format!("--steps {whole} --threads 1"));

    let first = scratch.train(format!("--steps {half} --save run.safetensors"));
    assert_eq!(first["file"], "run.safetensors");
    assert_ne!(first["digest"], expected["digest"]);
    let resume = format!("resume run.safetensors --steps {whole}");
    let second = scratch.summary(format!("{resume} --threads 2"));
    assert_eq!(second["digest"], expected["digest"]);
    assert_eq!(second["progress"]["env_steps"], expected["progress"]["env_steps"]);
    assert_eq!(second["test"]["mean_return"], expected["test"]["mean_return"]);

    // The first resumed run replaced the checkpoint, so the run in the checkpoint has already reached the limit. Resuming this run changes
    // nothing.
    assert_eq!(scratch.summary(resume)["digest"], expected["digest"]);
    let plain = stdout(&scratch.run(format!("resume run.safetensors --steps {half}")));
    assert!(plain.contains("--steps counts from its beginning"), "{plain}");
}

#[test]
fn resume_accepts_live_knobs_and_marks_the_change() {
    let scratch = Scratch::new();
    scratch.train("--steps 4096 --save run.safetensors");
    let args = "resume run.safetensors --set lr=0.001 --steps 8192 --save other.safetensors --json";
    let text = stdout(&scratch.run(args));
    assert!(text.contains(r#""kind":"mark""#) && text.contains(r#""knob":"lr""#), "{text}");
    assert!(scratch.path("other.safetensors").is_file());
    scratch.fails("resume run.safetensors --set envs=64", 2, "cannot change during a run");
}

#[test]
fn scheduled_changes_reproduce_live_changes() {
    let scratch = Scratch::new();
    let [steps, all] = [4, 16].map(|iterations| iterations * ITERATION_STEPS);
    scratch.train(format!("--steps {steps} --save run.safetensors"));
    let changed = scratch.summary(format!("resume run.safetensors --set lr=0.001 --steps {all}"));
    let log = scratch.records(format!("train --at 4:lr=1e-3 --at 5_000:lr=1e-4 --steps {all} {SMALL}"));
    assert_eq!(of_kind(&log, "mark").len(), 1);
    assert_eq!(summary(&log)["digest"], changed["digest"]);
    assert_ne!(changed["digest"], scratch.train(format!("--steps {all}"))["digest"]);
}

#[test]
fn damaged_and_newer_checkpoints_are_distinguished() {
    let scratch = Scratch::new();
    scratch.train("--steps 4096 --save run.safetensors");
    let whole = scratch.bytes("run.safetensors");
    let message = |bytes: &[u8]| {
        scratch.write("bad.safetensors", bytes);
        let output = scratch.run("resume bad.safetensors --steps 1e5");
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(scratch.bytes("bad.safetensors"), bytes, "the file stays as it was");
        stderr(&output)
    };
    for cut in [9, 40, whole.len() / 2, whole.len() - 1] {
        let text = message(&whole[..cut]);
        assert!(text.contains("cut short") || text.contains("no Hothouse checkpoint"), "{cut}: {text}");
    }
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert!(message(&flipped).contains("damaged"));

    let mark = br#"{\"version\":2"#;
    let at = whole.windows(mark.len()).position(|w| w == mark).expect("the header begins with its version");
    let mut newer = whole.clone();
    newer[at + mark.len() - 1] = b'9';
    assert!(message(&newer).contains("Update Hothouse"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_prints_a_command_that_resumes() {
    let scratch = Scratch::new();
    let mut running = scratch.spawn(format!("train --seed 3 --json --steps 1e12 --threads 1 {SMALL}"));
    running.read_until("metrics");
    running.interrupt();
    let log = records(&running.rest());
    assert_eq!(running.wait(), Some(0));
    let done = log.last().unwrap();
    assert_eq!((&done["kind"], &done["ended_by"]), (&"summary".into(), &"interrupt".into()));
    assert_eq!(done["file"], scratch.cached("safetensors")[0].to_str().unwrap());

    let command = done["resume"].as_str().unwrap();
    assert!(command.ends_with("--steps 1000000000000 --threads 1"), "{command}");
    let steps = done["progress"]["env_steps"].as_u64().unwrap() + 2 * ITERATION_STEPS;
    // If no file is named, the latest run is resumed.
    let again = scratch.run(format!("resume --steps {steps} --json"));
    assert!(stderr(&again).contains("not in a terminal: resuming the latest run"), "{}", stderr(&again));
    let again = records(&stdout(&again));
    let done = summary(&again);
    assert_eq!((&done["progress"]["env_steps"], &done["seed"]), (&steps.into(), &3.into()));
    assert_eq!(scratch.cached("safetensors").len(), 1, "the resumed run saves to its own file");
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_quits_at_once() {
    let scratch = Scratch::new();
    // The test interrupts the first iteration, which takes far longer than the test waits.
    let endless = "--set envs=2048 --set rollout_steps=256 --set hidden=512 --set epochs=20";
    let mut running = scratch.spawn(format!("train --json {endless}"));
    running.read_until("running");
    running.interrupt();
    std::thread::sleep(std::time::Duration::from_millis(300)); // two simultaneous signals would count as one
    running.interrupt();
    // A clean end would have status 0 and would save a file.
    assert_eq!(running.wait(), Some(130));
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0);
}

#[test]
fn watch_reports_a_silent_run() {
    let scratch = Scratch::new();
    scratch.train("--steps 4096 --events e.jsonl");
    let text = scratch.text("e.jsonl");
    let without_summary = &text[..text.trim_end().rfind('\n').unwrap() + 1];
    scratch.write("e.jsonl", without_summary);
    scratch.spawn("watch e.jsonl --json").read_until("notice");
}

#[test]
fn watch_follows_a_run_to_its_end() {
    let scratch = Scratch::new();
    let mut training = scratch.spawn(format!("train --events run.jsonl --seconds 1 --json {SMALL}"));
    training.read_until("metrics");
    let mut watching = scratch.spawn("watch run.jsonl --json");
    let (trained, watched) = (training.rest(), watching.rest());
    assert_eq!((training.wait(), watching.wait()), (Some(0), Some(0)));
    assert_eq!(watched.lines().last(), trained.lines().last());
}

#[test]
fn closing_the_output_ends_the_run_without_an_error() {
    let scratch = Scratch::new();
    for format in ["--json", "--plain"] {
        let mut running = scratch.spawn(format!("train {format} --save run.safetensors {SMALL}"));
        running.close_output();
        assert_eq!((running.errors().as_str(), running.wait()), ("", Some(0)));
    }
}

/// Starts the program with `temporary` as its temporary folder and its cache folder, and with `current` as its current folder.
#[cfg(unix)]
fn start_in(scratch: &Scratch, args: String, temporary: &Path, current: &Path) -> Running {
    let mut command = scratch.hothouse(args);
    command.envs(["TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME"].map(|name| (name, temporary)));
    Running::start(command.current_dir(current).stdout(Stdio::piped()).stderr(Stdio::piped()))
}

#[cfg(unix)]
#[test]
fn a_removed_folder_does_not_lose_the_run() {
    let scratch = Scratch::new();
    let (folder, fallback) = (scratch.path("runs"), scratch.path("tmp"));
    fs::create_dir(&folder).unwrap();
    fs::create_dir(&fallback).unwrap();
    let args = format!("train --json --save runs/run.safetensors {SMALL}");
    let mut running = start_in(&scratch, args, &fallback, &scratch.0);
    running.read_until("metrics");
    fs::remove_dir_all(&folder).unwrap();
    running.interrupt();
    let log = records(&running.rest());
    assert!(running.errors().contains("the run is safe in"));
    assert_eq!(running.wait(), Some(1));
    let kept = Path::new(log.last().unwrap()["file"].as_str().unwrap());
    assert!(kept.starts_with(&fallback) && kept.is_file());
    scratch.stdout(format!("resume {} --seconds 0.1 --json", kept.display()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_cannot_be_saved_waits() {
    let scratch = Scratch::new();
    let (folder, inside, nowhere) = (scratch.path("runs"), scratch.path("inside"), scratch.path("nowhere"));
    fs::create_dir(&folder).unwrap();
    fs::create_dir(&inside).unwrap();
    // The cache and the temporary folder cannot be used, because their path is a file.
    fs::write(&nowhere, "").unwrap();
    let save = folder.join("run.safetensors");
    let args = format!("train --json --save {} --save-every 0.1 {SMALL}", save.display());
    let mut running = start_in(&scratch, args, &nowhere, &inside);
    running.read_until("metrics");
    fs::remove_dir_all(&folder).unwrap();
    fs::remove_dir_all(&inside).unwrap();
    // An automatic save fails before the save at the end.
    for (is_end, expected) in [(false, "Training continues"), (true, "the run waits")] {
        if is_end {
            running.interrupt();
        }
        let log = running.read_until("notice");
        assert!(log.last().unwrap()["next_step"].as_str().unwrap().contains(expected), "{log:?}");
    }
    fs::create_dir(&folder).unwrap();
    let log = records(&running.rest());
    assert_eq!(running.wait(), Some(0));
    assert_eq!(log.last().unwrap()["file"], save.to_str().unwrap());
    assert!(save.is_file());
}

/// The program fails at the end, because a requested file is incomplete.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_for_events_does_not_stop_training() {
    let scratch = Scratch::new();
    let output = scratch.run(format!("train --json --events /dev/full --steps 8192 {SMALL}"));
    let (log, message) = (records(&stdout(&output)), stderr(&output));
    assert_eq!((output.status.code(), &summary(&log)["progress"]["env_steps"]), (Some(1), &8192.into()));
    assert_eq!(message.matches("cannot write to /dev/full: No space left").count(), 2, "{message}");
    assert_eq!(message.matches("training continues").count(), 1, "{message}");
    assert!(message.contains("error: a requested file is incomplete"), "{message}");
}

#[test]
fn a_missing_entry_is_a_failure() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("there")).unwrap();
    let mut running = scratch.spawn(format!("train --json --steps 40960 --entry there/entry.json {SMALL}"));
    running.read_until("began");
    fs::remove_dir_all(scratch.path("there")).unwrap();
    assert_eq!(records(&running.rest()).last().unwrap()["ended_by"], "steps");
    assert_eq!(running.wait(), Some(1));
    let message = running.errors();
    assert!(message.contains("a requested file is incomplete: cannot write there/entry.json"), "{message}");
    scratch.fails("train --entry missing/entry.json", 1, "missing does not exist");
}

/// `nohup` and shells that start a command in the background let it ignore signals.
#[cfg(unix)]
#[test]
fn signals_that_were_ignored_stay_ignored() {
    let scratch = Scratch::new();
    let mut command = Command::new("sh");
    let train = format!("train --json --steps 1e12 --threads 1 {SMALL}");
    command.args(["-c", &format!("trap '' HUP INT; exec {HOTHOUSE} {train}")]).current_dir(&scratch.0);
    command.env("XDG_CACHE_HOME", scratch.cache()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::start(&mut command);
    running.read_until("metrics");
    running.signal("HUP");
    running.signal("INT");
    running.read_times("metrics", 200);
    running.assert_running();
    running.signal("TERM");
    let log = records(&running.rest());
    assert_eq!((running.wait(), &log.last().unwrap()["ended_by"]), (Some(0), &"interrupt".into()));
    // Without the ignored signal, the end of the terminal ends the run.
    let mut running = scratch.spawn(train);
    running.read_until("metrics");
    running.signal("HUP");
    running.rest();
    assert_eq!(running.wait(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn every_command_fails_on_a_full_output() {
    let scratch = Scratch::new();
    for (room, small, steps) in [("cube", SMALL_CUBES, 2000), ("backgammon", SMALL_GAMES, 24), ("words", SMALL_TEXTS, 64)] {
        scratch.stdout(format!("train {room} --save {room} --plain {small} --steps {steps}"));
    }
    scratch.stdout(format!("train --save control --events events --steps 8192 {SMALL}"));
    let small = |format: &str| format!("train --steps 8192 {format} {SMALL}");
    let verbs = [
        "--help",
        "--version",
        "train --help",
        "completions bash",
        &small("--plain"),
        &small("--json"),
        "resume control --steps 12288 --plain",
        "eval control",
        "eval control --json",
        "info",
        "train --print-config",
        "export words words",
        "watch --list",
        "watch events --plain",
        "sweep --knob lr=0.001 --set envs=64 --set hidden=16 --seeds 1 --steps 4096",
        "solve --variant CartPole-v1 --seeds 1",
        "env CartPole-v1",
        "env CartPole-v1 --stdio",
        "moves backgammon --stdio",
        "play backgammon backgammon --stdio",
        "play backgammon random",
        "eval backgammon backgammon --against random --games 4",
        "eval backgammon linear --against random --games 4 --json",
        "solve cube --from cube --scramble U",
        "solve cube --from cube --scramble -",
        "eval cube cube --states 1",
        "run logic life --grid 32x32 --steps 2",
        "run logic life --grid 32x32 --steps 2 --json",
        "export logic life --format json",
        "generate words words --tokens 4 --prompt a",
        "generate words words --tokens 4 --prompt a --json",
    ];
    // Runs a command with `to` as its standard output. If `is_open` is false, the reading end of this output is closed. The command
    // receives one input line, which only some commands read.
    let ended = |args: &str, to: Stdio, is_open: bool| {
        let mut command = scratch.hothouse(args);
        let mut child = command.stdin(Stdio::piped()).stdout(to).stderr(Stdio::piped()).spawn().unwrap();
        if !is_open {
            drop(child.stdout.take());
        }
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"4HPwATDgc/ABMA 3 1\n");
        let output = child.wait_with_output().unwrap();
        (output.status.code(), stderr(&output))
    };
    for args in verbs {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let (status, message) = ended(args, full.into(), true);
        assert_eq!(status, Some(1), "{args} message: {message}");
        let words = "error: cannot write the output (No space left on device";
        assert!(message.contains(words) && !message.contains("panicked"), "{args} message: {message}");
        // If the reader has closed the pipe, the command must still succeed.
        if !args.starts_with("solve") {
            assert_eq!(ended(args, Stdio::piped(), false), (Some(0), String::new()), "{args}");
        }
    }
}

#[test]
fn names_in_files_cannot_control_the_terminal() {
    let scratch = Scratch::new();
    scratch.write("story.txt", "Once there was a fox. The fox had a red ball. ".repeat(200));
    scratch.stdout(format!("train words --data story.txt --save run --plain {SMALL_TEXTS} --steps 64"));
    let evil = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}'; touch pwned; '";
    let good = testkit::apart(&scratch.bytes("run"));
    let with = |edit: &dyn Fn(&mut Value)| {
        let mut parts = good.clone();
        edit(&mut parts.header);
        scratch.write("evil", parts.together());
    };
    let calm = |args: &str| {
        let output = scratch.run(args);
        let text = stdout(&output) + &stderr(&output);
        assert!(!text.contains(|c: char| steers(c) && c != '\n'), "{args}: {text:?}");
        (output.status.code(), text)
    };
    with(&|header| header["config"]["data"]["name"] = evil.into());
    assert_eq!(calm("resume evil --steps 72 --plain").0, Some(0));
    let run = run::restore(&scratch.bytes("evil"), run::Host::new(math::Isa::best())).unwrap();
    let name = &run.config().data.as_ref().unwrap().name;
    assert_eq!(name, "]0;owned2J'; touch pwned; '");
    #[cfg(unix)]
    {
        let message = format!("set -- {}; printf '%s\\n' \"$@\"", run::native_command(&run.config_now()));
        let output = Command::new("sh").current_dir(&scratch.0).args(["-c", &message]).output().unwrap();
        assert!(stdout(&output).ends_with(&format!("\n--data\n{name}\n")), "{}", stdout(&output));
        assert!(!scratch.path("pwned").exists());
    }
    with(&|header| header["config"]["variant"] = evil.into());
    let (status, text) = calm("resume evil --plain");
    assert!(status == Some(1) && text.contains("owned"), "{text}");
    with(&|header| header["config"]["room"] = evil.into());
    assert_eq!(calm("eval evil").0, Some(1));
    let progress = &good.header["progress"];
    with(&|header| {
        header["marks"] = serde_json::json!([{ "progress": progress, "knob": evil, "from": 1.0, "to": evil }]);
    });
    assert_eq!(calm("resume evil --plain").0, Some(1));
    // The text of a file is shown with escapes.
    let catch = include_str!("../../../worlds/src/control/script/templates/catch.py");
    scratch.write("evil.py", catch.replacen("Catch ten", "Catch \u{1b}]0;owned\u{7}\u{202e} ten", 1));
    let (status, text) = calm("env evil.py");
    assert!(status == Some(0) && text.contains("Catch \\u001b]0;owned\\u0007\\u202e ten"), "{text}");
    // So are names of files and other words of the command line.
    scratch.write("\u{1b}[31m.safetensors", good.together());
    assert_eq!(calm("eval \u{1b}[31m.safetensors").0, Some(0));
    for args in ["eval \u{1b}[31m", "train --set lr=\u{1b}[31m", "\u{9b}31m", "verify #/\u{1b}[31m?lr=1", "train --config \u{1b}[31m"] {
        let (status, text) = calm(args);
        assert!(status != Some(0) && text.contains("31m"), "{args}: {text}");
    }
}
