//! Tests that a run overwrites no foreign file, and that no two outputs use the same file.

use crate::common::*;
use std::fs;
use std::path::Path;

#[test]
fn checkpoints_and_other_files_are_not_overwritten() {
    let scratch = Scratch::new();
    scratch.train("--steps 4096 --save run.safetensors");
    fs::hard_link(scratch.path("run.safetensors"), scratch.path("hard")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("run.safetensors", scratch.path("soft")).unwrap();
    #[cfg(not(unix))]
    scratch.write("soft", "other");
    scratch.write("notes.txt", "these are notes");
    let whole = scratch.bytes("run.safetensors");
    for flag in ["--events", "--monitor"] {
        for name in ["run.safetensors", "./run.safetensors", "soft", "hard", "notes.txt"] {
            for verb in ["resume run.safetensors --steps 8192", "train --steps 1"] {
                let output = scratch.run(format!("{verb} {flag} {name}"));
                let message = stderr(&output);
                let says = |words: [&str; 2]| words.iter().any(|words| message.contains(words));
                assert!(!output.status.success() && output.stdout.is_empty(), "{verb} {flag} {name}");
                assert!(says(["same file", "would be lost"]), "{flag} {name}: {message}");
                assert!(says(["Use different files", "Name another file"]), "{message}");
            }
            assert_eq!(scratch.bytes("run.safetensors"), whole, "{flag} {name}");
        }
    }
    let refused = scratch.run("train --steps 1 --save notes.txt");
    assert!(stderr(&refused).contains("is not a checkpoint"), "{}", stderr(&refused));
    assert_eq!(scratch.text("notes.txt"), "these are notes");
}

#[test]
fn a_run_may_overwrite_the_files_of_another_run() {
    let scratch = Scratch::new();
    for seed in [1, 2] {
        let files = "--events e.jsonl --monitor m.ring --csv t.csv --save s.safetensors";
        scratch.train(format!("--steps 4096 --seed {seed} {files}"));
        let began = scratch.text("e.jsonl");
        assert!(began.contains(&format!("\"seed\":{seed},")), "{began}");
    }
}

#[test]
fn two_runs_cannot_write_one_file() {
    let scratch = Scratch::new();
    for file in ["--csv run.csv", "--events run.jsonl"] {
        let mut first = scratch.spawn(format!("train --json --steps 1e12 {file} {SMALL}"));
        first.read_until("metrics");
        let second = scratch.run(format!("train --steps 4096 {file} {SMALL}"));
        assert!(!second.status.success());
        assert!(stderr(&second).contains("another run is writing"), "{}", stderr(&second));
        first.read_until("metrics");
    }
}

#[test]
fn a_folder_is_no_output_and_the_error_names_a_file_of_the_right_kind() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("d")).unwrap();
    for (args, example) in [
        ("train --save", "run.safetensors"),
        ("train --monitor", "run.ring"),
        ("train --events", "run.jsonl"),
        ("train --csv", "run.csv"),
        ("train --entry", "entry.json"),
        ("sweep control --knob lr=1e-3,1e-2 --out", "sweep.jsonl"),
        ("export control none.safetensors --format onnx --out", "model.onnx"),
        ("export control none.safetensors --format js --out", "model.js"),
        ("export logic life --format svg --out", "circuit.svg"),
        ("play backgammon linear --save", "match.mat"),
    ] {
        let example = Path::new("d").join(example);
        scratch.fails(format!("{args} d"), 1, &format!("d is a folder. Add a file name, such as {}", example.display()));
    }
}

#[test]
fn divergence_keeps_the_last_good_save() {
    let scratch = Scratch::new();
    scratch.train("--steps 4096 --save run.safetensors");
    let whole = scratch.bytes("run.safetensors");
    let output = scratch.run("resume run.safetensors --steps 200000 --json --set lr=0.1 --set epochs=20");
    // Whether or not the run diverged, the file is a valid checkpoint.
    if summary(&records(&stdout(&output)))["ended_by"] == "diverged" {
        assert_eq!(scratch.bytes("run.safetensors"), whole);
    }
    scratch.stdout("eval run.safetensors");
}

#[cfg(unix)]
mod special {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::process::{Command, Output, Stdio};
    use std::time::{Duration, Instant};

    /// Minor device number of `/dev/null`.
    const NULL: &str = "3";
    /// Minor device number of `/dev/zero`.
    const ZERO: &str = "5";

    /// Creates a character device. Returns false and reports the test as skipped if this user cannot create or open it.
    fn device(path: &Path, minor: &str) -> bool {
        let made = Command::new("mknod").arg(path).args(["c", "1", minor]).stderr(Stdio::null()).status();
        let made = made.is_ok_and(|status| status.success())
            // Some file systems do not allow opening a device.
            && fs::OpenOptions::new().write(true).open(path).is_ok();
        if !made {
            let _ = fs::remove_file(path);
            testkit::skip("this user cannot create a device here");
        }
        made
    }

    fn pipe(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn devices_and_pipes_are_not_replaced() {
        let scratch = Scratch::new();
        let mut names = vec!["pipe", "to-pipe"];
        pipe(&scratch.path("pipe"));
        symlink("pipe", scratch.path("to-pipe")).unwrap();
        if device(&scratch.path("null"), NULL) {
            symlink("null", scratch.path("to-null")).unwrap();
            names.extend(["null", "to-null"]);
        }
        let kinds =
            || -> Vec<fs::FileType> { names.iter().map(|name| fs::symlink_metadata(scratch.path(name)).unwrap().file_type()).collect() };
        let before = kinds();
        assert!(before[0].is_fifo() && before[1].is_symlink() && before.get(2).is_none_or(FileTypeExt::is_char_device));
        for name in &names {
            for args in [
                "train --steps 1 --save",
                "train --steps 1 --monitor",
                "train --steps 1 --csv",
                "export logic life --format json --out",
                "play backgammon linear --save",
                "play backgammon linear --keep",
                "sweep control --knob lr=1e-3,1e-2 --steps 1 --out",
            ] {
                let output = scratch.run(format!("{args} {name}"));
                let message = stderr(&output);
                let refused = message.contains("not a regular file") && message.contains("Name another file");
                assert!(!output.status.success() && refused, "{args} {name}: {message}");
            }
        }
        assert_eq!(kinds(), before);
        if names.contains(&"null") {
            // Events can be written to a device. The device is not replaced by a file.
            scratch.train("--steps 4096 --events to-null");
            assert_eq!(kinds(), before);
        }
    }

    #[test]
    fn links_are_kept_and_their_targets_written() {
        let scratch = Scratch::new();
        let names = ["s.safetensors", "m.ring", "e.jsonl", "t.csv"];
        fs::create_dir(scratch.path("there")).unwrap();
        for name in names {
            symlink(Path::new("there").join(name), scratch.path(name)).unwrap();
        }
        for seed in [1, 2] {
            let files = "--save s.safetensors --monitor m.ring --events e.jsonl --csv t.csv";
            scratch.train(format!("--steps 4096 --seed {seed} {files}"));
            for name in names {
                assert!(fs::symlink_metadata(scratch.path(name)).unwrap().is_symlink(), "{name}");
                let there = fs::symlink_metadata(scratch.path("there").join(name)).unwrap();
                assert!(there.is_file() && there.len() > 100, "{name}");
            }
        }
        scratch.stdout("eval there/s.safetensors");
    }

    #[test]
    fn a_match_overwrites_only_match_files() {
        let scratch = Scratch::new();
        scratch.write("thesis.txt", "a thesis");
        let typed = "save thesis.txt\nsave match.mat\nsave match.mat\nsave .\nquit\n";
        let message = scratch.stdout_with_input("play backgammon linear --seed 1 --length 3", typed);
        assert!(message.contains("thesis.txt is not a match in text (.mat) and would be lost. Name another file"), "{message}");
        assert_eq!(message.matches("Match saved to match.mat.").count(), 2, "{message}");
        assert!(message.contains(". is a folder") || message.contains("names no file"), "{message}");
        assert_eq!(scratch.text("thesis.txt"), "a thesis");
        assert!(scratch.text("match.mat").contains("3 point match"));
        for name in ["--save", "--keep"] {
            let output = scratch.run(format!("play backgammon linear {name} thesis.txt"));
            assert!(stderr(&output).contains(&format!("would be lost. Name another file with {name}")));
        }
        assert_eq!(scratch.text("thesis.txt"), "a thesis");
    }

    #[test]
    fn exports_overwrite_only_earlier_exports() {
        let scratch = Scratch::new();
        for (verb, name) in [
            ("export logic life --format svg", "c.svg"),
            ("export logic life --format json", "c.json"),
            ("export logic life --format verilog", "c.v"),
            ("export logic life --format rust", "c.rs"),
            ("run logic life --grid 16x16 --steps 3", "grid.pbm"),
            ("run logic life --grid 16x16 --steps 3", "grid.txt"),
        ] {
            let args = format!("{verb} --out {name}");
            (0..2).for_each(|_| drop(scratch.stdout(&args)));
            scratch.write(name, "something else");
            assert!(stderr(&scratch.run(&args)).contains("would be lost"), "{args}");
        }
    }

    #[test]
    fn endless_inputs_are_errors() {
        let scratch = Scratch::new();
        scratch.train("--steps 4096 --save run.safetensors");
        if device(&scratch.path("zero"), ZERO) {
            for args in [
                "train words --data zero",
                "resume run.safetensors --data zero",
                "resume zero",
                "eval zero",
                "watch zero",
                "run logic zero --grid 8x8 --steps 1",
                "run logic life --start zero --grid 8x8 --steps 1",
                "eval backgammon linear --decisions zero",
                "train --config zero",
                "verify zero",
                "export control zero --format c --out model.c",
                "generate words zero",
                "train control --world zero",
            ] {
                let output = scratch.run(args);
                let message = stderr(&output) + &stdout(&output);
                assert!(!output.status.success() && message.contains("is a device, not a file"), "{args}: {message}");
            }
        }
        // The pipe never ends. The command must stop when the first bytes show that the pipe contains no events.
        pipe(&scratch.path("endless"));
        for begins in ["these are no events", "{"] {
            let to = scratch.path("endless");
            let writer = std::thread::spawn(move || {
                let mut to = fs::OpenOptions::new().write(true).open(to).unwrap();
                let _ = to.write_all(begins.as_bytes());
                while to.write_all(&[b' '; 1 << 16]).is_ok() {}
            });
            let output = scratch.run("watch endless --plain");
            assert!(stderr(&output).contains("contains no events"), "{}", stderr(&output));
            writer.join().unwrap();
        }
    }

    /// Time after which a program that was started is surely reading.
    const STARTED: Duration = Duration::from_millis(1000);
    const TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn one_interrupt_ends_a_program_that_waits_for_a_pipe() {
        const VERBS: [&str; 8] = [
            "verify",
            "eval",
            "watch --plain",
            "train --config",
            "generate words",
            "eval cube",
            "run logic --grid 8x8 --steps 1",
            "eval backgammon linear --decisions",
        ];
        let scratch = Scratch::new();
        let path = |i: usize| scratch.path(&format!("pipe-{i}"));
        (0..VERBS.len()).for_each(|i| pipe(&path(i)));
        // First the programs wait for a writer, then for bytes.
        for has_writer in [false, true] {
            let start = |(i, args)| (args, scratch.spawn(format!("{args} pipe-{i}")));
            let mut running: Vec<_> = VERBS.into_iter().enumerate().map(start).collect();
            let open = |i| fs::OpenOptions::new().write(true).open(path(i)).unwrap();
            let writers: Vec<fs::File> = if has_writer { (0..VERBS.len()).map(open).collect() } else { Vec::new() };
            std::thread::sleep(STARTED);
            for (_, program) in &mut running {
                program.assert_running();
                program.interrupt();
            }
            let began = Instant::now();
            for (args, program) in &mut running {
                while program.process.try_wait().unwrap().is_none() {
                    assert!(began.elapsed() < TIMEOUT, "{args}, writer: {has_writer}");
                    std::thread::sleep(Duration::from_millis(5));
                }
                assert_ne!(program.wait(), Some(0), "{args}");
            }
            drop(writers);
        }
    }

    /// Runs the program with the folder `full`, which is a disk of 64 kB. Returns `None` and reports the test as skipped if this user
    /// cannot mount a disk.
    fn with_small_disk(scratch: &Scratch, args: &str, cache: &Path) -> Option<Output> {
        let script = format!("mount -t tmpfs -o size=64k tmpfs full && head -c 40000 /dev/zero > full/filler && exec {HOTHOUSE} {args}");
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &script]).current_dir(&scratch.0).env("XDG_CACHE_HOME", cache);
        let output = command.output();
        let message = output.as_ref().map_or("unshare:".into(), stderr);
        if ["unshare:", "mount:"].iter().any(|program| message.contains(program)) {
            testkit::skip("this user cannot mount a small disk");
            return None;
        }
        Some(output.unwrap())
    }

    #[test]
    fn a_full_disk_does_not_stop_training_but_fails_the_program() {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path("full")).unwrap();
        let brief = "--set envs=32 --set rollout_steps=16 --set hidden=16 --set minibatches=1 --set epochs=1";
        let files = "--save run.safetensors --csv full/run.csv --tensorboard full/board --events full/run.jsonl";
        let train = format!("train --steps 1e5 --json {brief} {files}");
        let Some(output) = with_small_disk(&scratch, &train, &scratch.path("full")) else { return };
        let (log, message) = (records(&stdout(&output)), stderr(&output));
        let at = |kind: &str, words: &str| log.iter().position(|record| record["kind"] == kind && record.to_string().contains(words));
        let notice = at("notice", "No space left on device").unwrap();
        assert!(log[notice].to_string().contains("cannot be watched"), "{}", log[notice]);
        // `began` clears the notice on the screen, so this notice must come after `began`.
        assert!(at("began", "").unwrap() < notice);
        assert_eq!((&summary(&log)["ended_by"], &summary(&log)["file"]), (&"steps".into(), &"run.safetensors".into()));
        assert_eq!(output.status.code(), Some(1));
        let (_, failures) = message.split_once("error: a requested file is incomplete: ").unwrap();
        for file in ["full/run.csv", "full/board/", "full/run.jsonl"] {
            assert!(failures.contains(&format!("cannot write to {file}")), "{file}: {message}");
        }
        // A requested monitor is created before training.
        let train = format!("train --steps 1e5 --json {brief} --monitor full/run.ring");
        let output = with_small_disk(&scratch, &train, &scratch.cache()).unwrap();
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
        assert!(stderr(&output).contains("cannot write full/run.ring. Name another file with --monitor: No space left"));
    }
}
