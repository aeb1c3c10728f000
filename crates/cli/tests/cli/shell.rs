//! The program as people and scripts use it: the built binary, its exit status, its words and its files.

mod common;

use common::{ITERATION_STEPS, SMALL, Scratch, of_kind, records, stderr, stdout, summary};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// One iteration that takes far longer than any test waits.
#[cfg(unix)]
const ENDLESS: [&str; 8] =
    ["--set", "envs=2048", "--set", "rollout_steps=256", "--set", "hidden=512", "--set", "epochs=20"];

#[test]
fn a_wrong_command_line_says_what_would_do() {
    let scratch = Scratch::new();
    fs::write(scratch.path("notes.txt"), "these are notes, not a checkpoint").unwrap();
    fs::write(scratch.path("empty.safetensors"), "").unwrap();
    for (args, status, said) in [
        (&["--sed", "3"][..], 2, "--seed"),
        (&["trian"], 2, "train"),
        (&["train", "kitchen"], 2, "rooms are"),
        (&["train", "--env", "Pong-v5"], 2, "CartPole-v1"),
        (&["train", "--variant", "Pong-v5"], 2, "CartPole-v1"),
        (&["resume"], 1, "hothouse train"),
        (&["watch", "empty.safetensors"], 1, "is empty"),
        (&["--set", "lr"], 2, "KNOB=VALUE"),
        (&["--set", "lr=fast"], 2, "a number from"),
        (&["--at", "lr=0.001"], 2, "320:lr=1e-4"),
        (&["--at", "5:lr=fast"], 2, "a number from"),
        (&["--at", "5:envs=64"], 2, "cannot change while a run goes on"),
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
        (&["bench", "everything"], 2, "core, gpu, control, backgammon"),
        (&["eval"], 2, "FILE"),
        (&["eval", "missing.safetensors"], 1, "hothouse train --save"),
        (&["eval", "notes.txt"], 1, "Choose a .safetensors file"),
        (&["resume", "empty.safetensors"], 1, "Choose a .safetensors file"),
        (&["resume", "."], 1, "folder"),
        (&["watch", "missing.jsonl"], 1, "--events"),
        (&["watch", "notes.txt"], 1, "holds no events"),
        (&["--save", "nowhere/run.safetensors"], 1, "Create it"),
        (&["--save", "."], 1, "file name"),
        (&["--events", "nowhere/run.jsonl"], 1, "Name another file with --events"),
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
    let scratch = Scratch::new();
    let help = stdout(&scratch.run(&["--help"]));
    for word in
        ["train", "resume", "eval", "bench", "watch", "--set lr=0.003 --steps 2e6", "Ctrl-C", "Exit status"]
    {
        assert!(help.contains(word), "{word} is missing in: {help}");
    }
    assert!(help.contains("`hothouse train --help` lists them"), "{help}");
    let help = stdout(&scratch.run(&["train", "--help"]));
    assert!(help.contains("All knobs are listed below") && !help.contains("lists them"), "{help}");
    for room in run::rooms() {
        let variants = room.variants();
        for knob in room.knobs(variants[0].id) {
            let default = knob.default.to_string();
            assert!(help.contains(&format!("  {}", knob.name)) && help.contains(&default), "{help}");
        }
        assert!(variants.iter().all(|variant| help.contains(variant.id)), "{help}");
    }
    assert!(stdout(&scratch.run(&["--version"])).starts_with("hothouse "));
}

/// A room's own verbs and every option are completed too.
#[cfg(target_os = "linux")]
#[test]
fn a_shell_completes_verbs_and_options() {
    let scratch = Scratch::new();
    fs::write(scratch.path("completions"), scratch.told(&["completions", "bash"])).unwrap();
    let completed = |words: &str, word: &str| {
        let ask = format!(
            "source ./completions; COMP_WORDS=({words} '{word}'); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _hothouse hothouse '{word}' ''; echo \"${{COMPREPLY[@]}}\""
        );
        let shell = std::process::Command::new("bash").current_dir(&scratch.0).args(["-c", &ask]).output();
        stdout(&shell.unwrap()).trim().to_string()
    };
    assert_eq!(completed("hothouse", "pl"), "play");
    assert_eq!(completed("hothouse", "gen"), "generate");
    assert_eq!(completed("hothouse play", "--kee"), "--keep");
    assert_eq!(scratch.run(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn a_run_ends_at_the_first_budget_it_reaches() {
    let scratch = Scratch::new();
    let steps = 3 * ITERATION_STEPS - 5;
    let done = scratch.train(&["--steps", &steps.to_string(), "--seconds", "600"]);
    assert_eq!(done["ended_by"], "steps");
    let progress = &done["progress"];
    assert_eq!(progress["env_steps"], 3 * ITERATION_STEPS, "at the end of the iteration that reached it");
    assert_eq!(progress["iteration"], 3);
    let cached = scratch.cached("safetensors");
    assert_eq!(done["file"], cached[0].to_str().unwrap(), "where nothing was said, it is in the cache");

    let done = scratch.train(&["--seconds", "0.3", "--steps", "1e15"]);
    assert_eq!(done["ended_by"], "seconds");
    assert!(done["seconds"].as_f64().unwrap() >= 0.3);

    let done = scratch.train(&["--cpu-seconds", "0.2", "--steps", "1e15"]);
    assert_eq!(done["ended_by"], "cpu_seconds");
    assert!(done["cpu_seconds"].as_f64().unwrap() >= 0.2);
    assert_eq!(done["test"]["episodes"].as_f64(), Some(100.0));
}

#[test]
fn what_is_left_of_a_budget_is_told_meanwhile() {
    let scratch = Scratch::new();
    let train =
        [&["train", "--seconds", "4", "--steps", "1e15", "--events", "run.jsonl"][..], &SMALL].concat();
    let text = scratch.told(&train);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("% done, about ")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.ends_with(" s left")), "{text}");
    assert_eq!(scratch.told(&["watch", "run.jsonl"]), text);
    let told = records(&fs::read_to_string(scratch.path("run.jsonl")).unwrap());
    let left = of_kind(&told, "left");
    assert!((1..=4).contains(&left.len()), "{left:?}");
    for left in left {
        // The end of the time is known, however fast it trains.
        let (done, seconds) = (left["done"].as_f64().unwrap(), left["seconds"].as_f64().unwrap());
        assert!((4.0 * (1.0 - done) - seconds).abs() < 1e-6 && done > 0.0, "{left}");
    }
}

#[test]
fn a_run_can_end_when_the_task_is_solved_and_be_judged_afterwards() {
    let scratch = Scratch::new();
    let told = scratch.records(&["--until-solved", "--steps", "2e7", "--save", "run.safetensors"]);
    let done = summary(&told);
    assert_eq!(done["ended_by"], "solved");
    assert!(done["solved"]["env_steps"].as_u64().unwrap() > 0);

    let output = scratch.run(&["eval", "run.safetensors", "--episodes", "200", "--seed", "9", "--json"]);
    let judged: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&judged["kind"], judged["episodes"].as_f64()), (&"test".into(), Some(200.0)));
    assert!(judged["mean_return"].as_f64().unwrap() > 400.0, "{judged}");
    assert!(scratch.told(&["eval", "run.safetensors"]).contains("steps: test "));
}

#[test]
fn stopping_and_resuming_gives_the_run_that_never_stopped() {
    let scratch = Scratch::new();
    let (half, whole) = ((4 * ITERATION_STEPS).to_string(), (9 * ITERATION_STEPS).to_string());
    let expected = scratch.train(&["--steps", &whole, "--threads", "1"]);

    let first = scratch.train(&["--steps", &half, "--save", "run.safetensors"]);
    assert_eq!(first["file"], "run.safetensors");
    assert_ne!(first["digest"], expected["digest"]);
    let again = scratch.records(&["resume", "run.safetensors", "--steps", &whole, "--threads", "2"]);
    let second = summary(&again);
    assert_eq!(second["digest"], expected["digest"]);
    assert_eq!(second["progress"]["env_steps"], expected["progress"]["env_steps"]);
    assert_eq!(second["test"]["mean_return"], expected["test"]["mean_return"]);

    // It was saved back, so going on to where it already is changes nothing.
    let third = scratch.records(&["resume", "run.safetensors", "--steps", &whole]);
    assert_eq!(summary(&third)["digest"], expected["digest"]);
    let plain = stdout(&scratch.run(&["resume", "run.safetensors", "--steps", &half]));
    assert!(plain.contains("--steps counts from its beginning"), "{plain}");
}

#[test]
fn resuming_takes_live_knobs_and_marks_the_change() {
    let scratch = Scratch::new();
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
fn live_changes_are_made_again_at_their_iterations() {
    let scratch = Scratch::new();
    let steps = (4 * ITERATION_STEPS).to_string();
    let all = (16 * ITERATION_STEPS).to_string();
    scratch.train(&["--steps", &steps, "--save", "run.safetensors"]);
    let turned = scratch.records(&["resume", "run.safetensors", "--set", "lr=0.001", "--steps", &all]);
    let records = scratch.records(
        &[&["train", "--at", "4:lr=1e-3", "--at", "5_000:lr=1e-4", "--steps", &all][..], &SMALL].concat(),
    );
    assert_eq!(of_kind(&records, "mark").len(), 1);
    let digest = |records: &[Value]| records.last().unwrap()["digest"].clone();
    assert_eq!(digest(&records), digest(&turned));
    assert_ne!(digest(&records), scratch.train(&["--steps", &all])["digest"]);
}

/// Whoever gave no place for it finds it all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_ends_on_the_screen_says_where_it_is_kept() {
    let scratch = Scratch::new();
    let said = in_a_terminal(&scratch, &format!("train --steps 4096 {}", SMALL.join(" ")), "");
    let [kept] = &scratch.cached("safetensors")[..] else { panic!("{said}") };
    let resume = format!("resume {}", kept.display());
    assert!(said.contains(&resume), "{said}");
}

/// The full screen takes the terminal and gives it back; who leaves reads how to go on, and goes on.
#[cfg(target_os = "linux")]
#[test]
fn a_person_plays_on_the_screen_and_goes_on_another_time() {
    const ALTERNATE: &str = "\u{1b}[?1049h";
    const GREEN: &str = "\u{1b}[38;5;2";
    let scratch = Scratch::new();
    let said = in_a_terminal(&scratch, "play backgammon random --seed 5 --length 3", "rq");
    assert!(said.contains(ALTERNATE) && said.contains("\u{1b}[?1049l"), "{said:?}");
    let games = scratch.cache().join("hothouse").join("games");
    let kept = fs::read_dir(&games).unwrap().next().expect("a kept game").unwrap().path();
    let command = format!("play backgammon {}", kept.display());
    assert!(said.contains(&format!("go on with  {} {command}", env!("CARGO_BIN_EXE_hothouse"))), "{said:?}");
    let lines = in_a_terminal(&scratch, &format!("{command} --plain"), "quit\n");
    assert!(!lines.contains(ALTERNATE) && lines.contains("goes on"), "{lines:?}");
    let again = in_a_terminal(&scratch, &command, "q");
    assert!(again.contains(ALTERNATE) && again.contains(GREEN), "{again:?}");
    assert_eq!(fs::read_dir(&games).unwrap().count(), 1, "it is kept where it was");
    assert!(scratch.cached("safetensors").is_empty(), "no run to resume");
    let colourless = format!("NO_COLOR=1 {}", env!("CARGO_BIN_EXE_hothouse"));
    let said = typed(&scratch, &format!("{colourless} {command}"), "q");
    assert!(said.contains(ALTERNATE) && !said.contains("\u{1b}[38;"), "{said:?}");
    let dumb = format!("TERM=dumb {}", env!("CARGO_BIN_EXE_hothouse"));
    let said = typed(&scratch, &format!("{dumb} {command}"), "quit\n");
    assert!(!said.contains(ALTERNATE) && said.contains("13-14-15"), "{said:?}");
}

#[test]
fn damaged_and_newer_checkpoints_are_named_as_such() {
    let scratch = Scratch::new();
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

    let mark = br#"{\"version\":2"#;
    let at = whole.windows(mark.len()).position(|w| w == mark).expect("the header begins with its version");
    let mut newer = whole.clone();
    newer[at + mark.len() - 1] = b'9';
    assert!(said("newer.safetensors", &newer).contains("Update Hothouse"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_prints_a_command_that_resumes() {
    let scratch = Scratch::new();
    let args =
        [&["train", "--seed", "3", "--json", "--steps", "1e12", "--threads", "1"][..], &SMALL].concat();
    let mut running = scratch.spawn(&args);
    running.read_until("metrics");
    running.interrupt();
    let told = records(&running.rest());
    assert_eq!(running.wait(), Some(0));
    let done = told.last().unwrap();
    assert_eq!((&done["kind"], &done["ended_by"]), (&"summary".into(), &"interrupt".into()));
    assert_eq!(done["file"], scratch.cached("safetensors")[0].to_str().unwrap());

    let command = done["resume"].as_str().unwrap();
    assert!(command.ends_with("--steps 1000000000000 --threads 1"), "{command}");
    let steps = done["progress"]["env_steps"].as_u64().unwrap() + 2 * ITERATION_STEPS;
    // Without a file it is the newest run that goes on.
    let again = scratch.run(&["resume", "--steps", &steps.to_string(), "--json"]);
    assert!(stderr(&again).contains("nobody can be asked, so the newest run goes on"), "{}", stderr(&again));
    let again = records(&stdout(&again));
    let done = summary(&again);
    assert_eq!((&done["progress"]["env_steps"], &done["seed"]), (&steps.into(), &3.into()));
    assert_eq!(scratch.cached("safetensors").len(), 1, "it is saved where it came from");
}

/// In a terminal of its own, that of `script`, with these keys.
#[cfg(target_os = "linux")]
fn in_a_terminal(scratch: &Scratch, args: &str, keys: &str) -> String {
    typed(scratch, &format!("{} {args}", env!("CARGO_BIN_EXE_hothouse")), keys)
}

/// The same of any command.
#[cfg(target_os = "linux")]
fn typed(scratch: &Scratch, command: &str, keys: &str) -> String {
    // A terminal of this size, which that of `script` has not by itself.
    let inside = format!("stty rows 24 columns 80; {command}");
    let mut script = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &inside, "/dev/null"])
        .env("XDG_CACHE_HOME", scratch.cache())
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .current_dir(&scratch.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("util-linux has `script`");
    std::io::Write::write_all(script.stdin.as_mut().unwrap(), keys.as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stdout(&output));
    stdout(&output)
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_file_a_person_is_asked_which_run_goes_on() {
    let scratch = Scratch::new();
    for seed in ["5", "6"] {
        scratch.train(&["--steps", "1", "--seed", seed]);
    }
    let none = in_a_terminal(&scratch, "resume --plain --steps 8192", "q\n");
    assert!(none.contains("1  CartPole-v1-seed6") && none.contains("2  CartPole-v1-seed5"), "{none}");
    assert!(!none.contains("digest"), "{none}");
    let second = in_a_terminal(&scratch, "resume --plain --steps 8192", "7\n2\n");
    assert!(second.contains("There is no 7 in the list"), "{second}");
    assert!(second.contains("control / CartPole-v1, seed 5") && second.contains("8,192 steps"), "{second}");
    // It is the newest now.
    let again = in_a_terminal(&scratch, "resume --plain --steps 12288", "\n");
    assert!(again.contains("control / CartPole-v1, seed 5") && again.contains("12,288 steps"), "{again}");
}

/// `script` gives the program a terminal of its own, which goes away with it.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_goes_away_ends_the_run_and_keeps_it() {
    let scratch = Scratch::new();
    let inside = format!("echo $$ > pid; exec {} train --seed 6 --threads 1", env!("CARGO_BIN_EXE_hothouse"));
    let mut script = std::process::Command::new("script")
        .args(["--quiet", "--command", &inside, "/dev/null"])
        .env("XDG_CACHE_HOME", scratch.cache())
        .current_dir(&scratch.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("util-linux has `script`");
    // Something was drawn: the run is under way.
    let mut drawn = [0; 200];
    std::io::Read::read_exact(script.stdout.as_mut().unwrap(), &mut drawn).unwrap();
    let pid = fs::read_to_string(scratch.path("pid")).unwrap();
    script.kill().unwrap();
    script.wait().unwrap();
    let alive = || Path::new("/proc").join(pid.trim()).join("exe").exists();
    let waited = std::iter::repeat_n(Duration::from_millis(50), 400).any(|nap| {
        std::thread::sleep(nap);
        !alive()
    });
    assert!(waited, "the program is still there 20 s after its terminal went away");
    // It may have been hung up on within its first iteration.
    assert!(scratch.cached("safetensors").len() <= 1);
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_quits_at_once() {
    let scratch = Scratch::new();
    let mut running = scratch.spawn(&[&["train", "--json"], &ENDLESS[..]].concat());
    running.read_until("running");
    running.interrupt();
    std::thread::sleep(Duration::from_millis(300)); // two that come at once are one
    running.interrupt();
    // Had the first one ended the run, or its long iteration, it would have ended well and saved.
    assert_eq!(running.wait(), Some(130));
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0);
}

#[test]
fn watching_shows_what_training_showed() {
    let scratch = Scratch::new();
    let plain = scratch.told(&[&["train", "--events", "run.jsonl", "--steps", "20000"][..], &SMALL].concat());
    assert!(plain.contains("  test ") && plain.contains("digest"), "{plain}");
    assert_eq!(scratch.told(&["watch", "run.jsonl"]), plain);
    let json = scratch.told(&["watch", "run.jsonl", "--json"]);
    assert_eq!(json, fs::read_to_string(scratch.path("run.jsonl")).unwrap());
}

#[test]
fn watching_a_run_that_was_killed_says_that_it_fell_silent() {
    let scratch = Scratch::new();
    scratch.train(&["--steps", "4096", "--events", "e.jsonl"]);
    let text = fs::read_to_string(scratch.path("e.jsonl")).unwrap();
    let without_the_end = &text[..text.trim_end().rfind('\n').unwrap() + 1];
    fs::write(scratch.path("e.jsonl"), without_the_end).unwrap();
    scratch.spawn(&["watch", "e.jsonl", "--json"]).read_until("notice");
}

#[test]
fn watching_follows_a_run_to_its_end() {
    let scratch = Scratch::new();
    let args = ["train", "--events", "run.jsonl", "--seconds", "1", "--json"];
    let mut training = scratch.spawn(&[&args[..], &SMALL].concat());
    training.read_until("metrics");
    let mut watching = scratch.spawn(&["watch", "run.jsonl", "--json"]);
    let (trained, watched) = (training.rest(), watching.rest());
    assert_eq!((training.wait(), watching.wait()), (Some(0), Some(0)));
    assert_eq!(watched.lines().last(), trained.lines().last());
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let scratch = Scratch::new();
    for format in ["--json", "--plain"] {
        let args = [&["train", format, "--save", "run.safetensors"][..], &SMALL].concat();
        let mut running = scratch.spawn(&args);
        running.hang_up();
        assert_eq!((running.complaint().as_str(), running.wait()), ("", Some(0)));
    }
}

/// The places that a test cannot take away: the folder for temporary files, the cache and the current folder.
fn with_places(scratch: &Scratch, args: &[&str], place: &Path) -> std::process::Command {
    let mut command = scratch.hothouse(args);
    command.envs(["TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME"].map(|name| (name, place)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[cfg(unix)]
#[test]
fn a_folder_that_goes_away_does_not_take_the_run_with_it() {
    let scratch = Scratch::new();
    let (folder, refuge) = (scratch.path("runs"), scratch.path("tmp"));
    fs::create_dir(&folder).unwrap();
    fs::create_dir(&refuge).unwrap();
    let args = ["train", "--json", "--save", "runs/run.safetensors"];
    let command = with_places(&scratch, &[&args[..], &SMALL].concat(), &refuge);
    let mut running = common::Running::start(command);
    running.read_until("metrics");
    fs::remove_dir_all(&folder).unwrap();
    running.interrupt();
    let told = records(&running.rest());
    assert!(running.complaint().contains("the run is safe in"));
    assert_eq!(running.wait(), Some(1));
    let kept = Path::new(told.last().unwrap()["file"].as_str().unwrap());
    assert!(kept.starts_with(&refuge) && kept.is_file());
    scratch.told(&["resume", kept.to_str().unwrap(), "--seconds", "0.1", "--json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_can_be_saved_nowhere_waits_for_a_place() {
    let scratch = Scratch::new();
    let (folder, inside, nowhere) = (scratch.path("runs"), scratch.path("inside"), scratch.path("nowhere"));
    fs::create_dir(&folder).unwrap();
    fs::create_dir(&inside).unwrap();
    // A file stands where the cache and the folder for temporary files would be.
    fs::write(&nowhere, "").unwrap();
    let save = folder.join("run.safetensors");
    let args = ["train", "--json", "--save", save.to_str().unwrap()];
    let mut command = with_places(&scratch, &[&args[..], &SMALL].concat(), &nowhere);
    command.current_dir(&inside);
    let mut running = common::Running::start(command);
    running.read_until("metrics");
    fs::remove_dir_all(&folder).unwrap();
    fs::remove_dir_all(&inside).unwrap();
    running.interrupt();
    let told = running.read_until("notice");
    assert!(told.last().unwrap()["next_step"].as_str().unwrap().contains("waits for room"), "{told:?}");
    fs::create_dir(&folder).unwrap();
    let told = records(&running.rest());
    assert_eq!(running.wait(), Some(0));
    assert_eq!(told.last().unwrap()["file"], save.to_str().unwrap());
    assert!(save.is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_for_events_does_not_stop_training() {
    let scratch = Scratch::new();
    let output =
        scratch.run(&[&["train", "--json", "--events", "/dev/full", "--steps", "8192"][..], &SMALL].concat());
    assert!(output.status.success());
    assert_eq!(summary(&records(&stdout(&output)))["progress"]["env_steps"], 8192);
    assert_eq!(stderr(&output).matches("training goes on").count(), 1, "{}", stderr(&output));
}

// ---- the device that trains ----

fn three_iterations(scratch: &Scratch, args: &[&str]) -> std::process::Command {
    let steps = (3 * ITERATION_STEPS).to_string();
    scratch.hothouse(&[&["train"], &SMALL[..], &["--json", "--steps", &steps], args].concat())
}

#[test]
fn a_run_trains_on_the_gpu_and_goes_on_on_the_processor() {
    let scratch = Scratch::new();
    let output =
        three_iterations(&scratch, &["--device", "gpu", "--save", "run.safetensors"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let told = records(&stdout(&output));
    let device = of_kind(&told, "device")[0];
    assert_eq!((&device["wish"], &device["on_gpu"]), (&"gpu".into(), &true.into()), "{device}");
    let on_gpu = summary(&told);
    assert_eq!((&on_gpu["device"], &on_gpu["arithmetic"]), (&device["gpu"], &"gpu".into()));
    let progress = &on_gpu["progress"];
    assert_eq!((&progress["iteration"], &progress["env_steps"]), (&3.into(), &(3 * ITERATION_STEPS).into()));
    for metrics in of_kind(&told, "metrics") {
        assert!(metrics["shares"]["device"].as_f64().unwrap() > 0.0, "the GPU took its time: {metrics}");
        assert!(metrics["mean_return"].as_f64().unwrap() > 8.0);
    }

    let steps = (5 * ITERATION_STEPS).to_string();
    let output = scratch.run(&["resume", "run.safetensors", "--device", "cpu", "--steps", &steps, "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let told = records(&stdout(&output));
    let back = summary(&told);
    assert_eq!((&back["progress"]["iteration"], &back["arithmetic"]), (&5.into(), &"mixed".into()));
    assert!(back["device"].is_null() && back["test"]["mean_return"].as_f64().unwrap() > 8.0);
}

#[test]
fn without_a_gpu_the_processor_trains_and_says_so() {
    let scratch = Scratch::new();
    // The system's loader finds no driver.
    let nowhere = scratch.path("no-driver.json");
    let mut command = three_iterations(&scratch, &["--device", "gpu"]);
    let output = command.env("VK_DRIVER_FILES", &nowhere).env("VK_ICD_FILENAMES", &nowhere).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let told = records(&stdout(&output));
    let device = of_kind(&told, "device")[0];
    assert_eq!((&device["on_gpu"], &device["gpu"]), (&false.into(), &Value::Null), "{device}");
    let notice = of_kind(&told, "notice")[0];
    assert_eq!(notice["level"], "warning");
    assert!(notice["text"].as_str().unwrap().contains("no GPU"), "{notice}");
    assert!(notice["next_step"].as_str().unwrap().contains("driver"), "{notice}");
    let at_home = scratch.train(&["--steps", &(3 * ITERATION_STEPS).to_string(), "--device", "cpu"]);
    assert_eq!(summary(&told)["digest"], at_home["digest"], "the same run as ever");
}

#[test]
fn a_run_too_large_for_the_gpu_stays_on_the_processor() {
    let scratch = Scratch::new();
    // As much as an iteration can hold, with layers so wide that their numbers pass 4 GB.
    let wide =
        ["--set", "envs=65536", "--set", "rollout_steps=64", "--set", "hidden=512", "--set", "minibatches=1"];
    let args = [&["train", "--device", "gpu", "--steps", "1e15", "--json"], &wide[..]].concat();
    let told = scratch.spawn(&args).read_until("notice");
    let notice = told.last().unwrap();
    assert!(notice["text"].as_str().unwrap().contains("bytes"), "{notice}");
    assert!(notice["next_step"].as_str().unwrap().contains("fewer environments"), "{notice}");
}

#[test]
fn there_is_no_other_device() {
    let scratch = Scratch::new();
    let output = scratch.run(&["train", "--device", "tpu"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("auto, cpu or gpu"), "{}", stderr(&output));
}

/// Small runs of other rooms, each with a name.
const LEARNED: [(&str, &[&str]); 3] = [
    (
        "cube",
        &[
            "--set",
            "batch=64",
            "--set",
            "walk=8",
            "--set",
            "updates=4",
            "--set",
            "hidden=32-16",
            "--steps",
            "2000",
        ],
    ),
    ("backgammon", &["--set", "hidden=16", "--set", "games=24", "--set", "batch=128", "--steps", "24"]),
    (
        "words",
        &[
            "--set",
            "width=32",
            "--set",
            "layers=1",
            "--set",
            "heads=2",
            "--set",
            "context=16",
            "--set",
            "batch=4",
            "--set",
            "micro=2",
            "--set",
            "steps=2",
            "--set",
            "characters=20000",
            "--set",
            "vocab=300",
            "--steps",
            "64",
        ],
    ),
];

#[test]
#[cfg(target_os = "linux")]
fn no_verb_ends_well_where_its_output_is_full() {
    use std::io::Write;
    let scratch = Scratch::new();
    for (room, args) in LEARNED {
        scratch.told(&[&["train", room, "--save", room, "--plain"][..], args].concat());
    }
    scratch.told(
        &[&["train", "--save", "control", "--events", "events", "--steps", "8192"][..], &SMALL].concat(),
    );
    let small = |args: &[&'static str]| [args, &SMALL[..]].concat();
    let verbs = [
        vec!["--help"],
        vec!["--version"],
        vec!["train", "--help"],
        vec!["completions", "bash"],
        small(&["train", "--steps", "8192", "--plain"]),
        small(&["train", "--steps", "8192", "--json"]),
        vec!["resume", "control", "--steps", "12288", "--plain"],
        vec!["eval", "control"],
        vec!["eval", "control", "--json"],
        vec!["watch", "--list"],
        vec!["watch", "events", "--plain"],
        vec![
            "sweep",
            "--knob",
            "lr=0.001",
            "--set",
            "envs=64",
            "--set",
            "hidden=16",
            "--seeds",
            "1",
            "--steps",
            "4096",
        ],
        vec!["solve", "--variant", "CartPole-v1", "--seeds", "1"],
        vec!["env", "CartPole-v1"],
        vec!["env", "CartPole-v1", "--stdio"],
        vec!["moves", "backgammon", "--stdio"],
        vec!["play", "backgammon", "backgammon", "--stdio"],
        vec!["play", "backgammon", "random"],
        vec!["eval", "backgammon", "backgammon", "--against", "random", "--games", "4"],
        vec!["eval", "backgammon", "linear", "--against", "random", "--games", "4", "--json"],
        vec!["solve", "cube", "--from", "cube", "--scramble", "U"],
        vec!["solve", "cube", "--from", "cube", "--scramble", "-"],
        vec!["eval", "cube", "cube", "--states", "1"],
        vec!["run", "logic", "life", "--grid", "32x32", "--steps", "2"],
        vec!["run", "logic", "life", "--grid", "32x32", "--steps", "2", "--json"],
        vec!["export", "logic", "life", "--format", "json"],
        vec!["generate", "words", "words", "--tokens", "4", "--prompt", "a"],
        vec!["generate", "words", "words", "--tokens", "4", "--prompt", "a", "--json"],
    ];
    for args in &verbs {
        let mut command = scratch.hothouse(args);
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut child = command.stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        // A line that each of those that read lines has an answer to; who reads none has no such input.
        let _ = child.stdin.take().unwrap().write_all(b"4HPwATDgc/ABMA 3 1\n");
        let output = child.wait_with_output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?} said: {text}");
        assert!(
            text.contains("error: cannot write the output (No space left on device"),
            "{args:?} said: {text}"
        );
        assert!(!text.contains("panicked"), "{args:?} said: {text}");
    }
    // Whoever closes the pipe has what they wanted.
    for args in verbs.iter().filter(|args| args[0] != "solve") {
        let mut command = scratch.hothouse(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let _ = child.stdin.take().unwrap().write_all(b"4HPwATDgc/ABMA 3 1\n");
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn what_a_file_is_called_steers_no_terminal() {
    let scratch = Scratch::new();
    let words = LEARNED[2].1;
    let story = "Once there was a fox. The fox had a red ball. ".repeat(200);
    fs::write(scratch.path("story.txt"), story).unwrap();
    scratch
        .told(&[&["train", "words", "--data", "story.txt", "--save", "run", "--plain"][..], words].concat());
    let evil = "\u{1b}]0;owned\u{7}\u{9b}2J'; touch pwned; '";
    let good = testkit::apart(&fs::read(scratch.path("run")).unwrap());
    let with = |edit: &dyn Fn(&mut Value)| {
        let mut parts = testkit::apart(&fs::read(scratch.path("run")).unwrap());
        edit(&mut parts.header);
        fs::write(scratch.path("evil"), parts.together()).unwrap();
    };
    let calm = |args: &[&str]| {
        let output = scratch.run(args);
        let text = stdout(&output) + &stderr(&output);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{args:?}: {text:?}");
        (output.status.code(), text)
    };
    with(&|header| header["config"]["data"]["name"] = evil.into());
    assert_eq!(calm(&["resume", "evil", "--steps", "72", "--plain"]).0, Some(0));
    let run =
        run::restore(&fs::read(scratch.path("evil")).unwrap(), run::Host::new(math::Isa::best())).unwrap();
    let name = &run.config().data.as_ref().unwrap().name;
    assert_eq!(name, "]0;owned2J'; touch pwned; '");
    #[cfg(unix)]
    {
        let said = format!("set -- {}; printf '%s\\n' \"$@\"", run::native_command(&run.config_now()));
        let output =
            std::process::Command::new("sh").current_dir(&scratch.0).args(["-c", &said]).output().unwrap();
        assert!(stdout(&output).ends_with(&format!("\n--data\n{name}\n")), "{}", stdout(&output));
        assert!(!scratch.path("pwned").exists());
    }
    with(&|header| header["config"]["variant"] = evil.into());
    let (status, text) = calm(&["resume", "evil", "--plain"]);
    assert!(status == Some(1) && text.contains("owned"), "{text}");
    with(&|header| header["config"]["room"] = evil.into());
    assert_eq!(calm(&["eval", "evil"]).0, Some(1));
    let progress = &good.header["progress"];
    with(&|header| {
        header["marks"] =
            serde_json::json!([{ "progress": progress, "knob": evil, "from": 1.0, "to": evil }]);
    });
    assert_eq!(calm(&["resume", "evil", "--plain"]).0, Some(1));
}
