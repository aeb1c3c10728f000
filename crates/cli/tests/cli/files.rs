//! A run destroys no file that is not its own, and no two runs write into one.

mod common;

use common::{SMALL, Scratch, stderr, stdout};
use std::fs;

#[test]
fn no_name_of_a_run_or_of_another_file_is_written_over() {
    let scratch = Scratch::new();
    scratch.train(&["--steps", "4096", "--save", "run.safetensors"]);
    let run = scratch.path("run.safetensors");
    fs::hard_link(&run, scratch.path("hard")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("run.safetensors", scratch.path("soft")).unwrap();
    #[cfg(not(unix))]
    fs::write(scratch.path("soft"), "other").unwrap();
    fs::write(scratch.path("notes.txt"), "these are notes").unwrap();
    let whole = fs::read(&run).unwrap();
    for flag in ["--events", "--monitor"] {
        for name in ["run.safetensors", "./run.safetensors", "soft", "hard", "notes.txt"] {
            for verb in [&["resume", "run.safetensors", "--steps", "8192"][..], &["train", "--steps", "1"]] {
                let output = scratch.run(&[verb, &[flag, name]].concat());
                let said = stderr(&output);
                assert!(!output.status.success() && output.stdout.is_empty(), "{verb:?} {flag} {name}");
                assert!(
                    said.contains("same file") || said.contains("would be lost"),
                    "{flag} {name}: {said}"
                );
                assert!(said.contains("Give each its own") || said.contains("Name another file"), "{said}");
            }
            assert_eq!(fs::read(&run).unwrap(), whole, "{flag} {name}");
        }
    }
    let refused = scratch.run(&["train", "--steps", "1", "--save", "notes.txt"]);
    assert!(stderr(&refused).contains("is no checkpoint"), "{}", stderr(&refused));
    assert_eq!(fs::read_to_string(scratch.path("notes.txt")).unwrap(), "these are notes");
}

#[test]
fn what_a_run_wrote_another_may_write_anew() {
    let scratch = Scratch::new();
    for seed in ["1", "2"] {
        let files =
            ["--events", "e.jsonl", "--monitor", "m.ring", "--csv", "t.csv", "--save", "s.safetensors"];
        scratch.train(&[&["--steps", "4096", "--seed", seed][..], &files].concat());
        let began = fs::read_to_string(scratch.path("e.jsonl")).unwrap();
        assert!(began.contains(&format!("\"seed\":{seed},")), "{began}");
    }
}

#[test]
fn two_runs_do_not_write_into_one_file() {
    let scratch = Scratch::new();
    for (flag, name) in [("--csv", "run.csv"), ("--events", "run.jsonl")] {
        let args = ["train", "--json", "--steps", "1e12", flag, name];
        let mut first = scratch.spawn(&[&args[..], &SMALL].concat());
        first.read_until("metrics");
        let second = scratch.run(&[&["train", "--steps", "4096", flag, name][..], &SMALL].concat());
        assert!(!second.status.success());
        assert!(stderr(&second).contains("another run is writing"), "{}", stderr(&second));
        first.read_until("metrics");
    }
}

#[test]
fn the_newest_saves_stay() {
    let scratch = Scratch::new();
    for seed in 1..=22 {
        scratch.train(&["--steps", "1", "--seed", &seed.to_string()]);
    }
    assert_eq!(scratch.cached("safetensors").len(), 20);
}

#[test]
fn weights_that_diverged_leave_the_good_save_alone() {
    let scratch = Scratch::new();
    scratch.train(&["--steps", "4096", "--save", "run.safetensors"]);
    let whole = fs::read(scratch.path("run.safetensors")).unwrap();
    let wild = ["--set", "lr=0.1", "--set", "epochs=20"];
    let args = ["resume", "run.safetensors", "--steps", "200000", "--json"];
    let output = scratch.run(&[&args[..], &wild].concat());
    let told = common::records(&common::stdout(&output));
    let done = common::summary(&told);
    // Whichever way it went on, the file is a run that can be taken up.
    if done["ended_by"] == "diverged" {
        assert_eq!(fs::read(scratch.path("run.safetensors")).unwrap(), whole);
    }
    assert!(scratch.run(&["eval", "run.safetensors"]).status.success());
}

#[cfg(unix)]
mod special {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// The minor numbers of memory devices: what takes everything, what has no end, and what is always full.
    const NULL: &str = "3";
    const ZERO: &str = "5";
    const FULL: &str = "7";

    /// A device of the test's own. False where this user may make none, which is said.
    fn device(path: &Path, minor: &str) -> bool {
        let made = Command::new("mknod").arg(path).args(["c", "1", minor]).stderr(Stdio::null()).status();
        let made = made.is_ok_and(|status| status.success())
            // Some file systems have devices that nobody may open.
            && fs::OpenOptions::new().write(true).open(path).is_ok();
        if !made {
            let _ = fs::remove_file(path);
            testkit::skip("this user may make no device here");
        }
        made
    }

    fn pipe(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn devices_and_pipes_stay_what_they_are() {
        let scratch = Scratch::new();
        let mut names = vec!["pipe", "to-pipe"];
        pipe(&scratch.path("pipe"));
        symlink("pipe", scratch.path("to-pipe")).unwrap();
        if device(&scratch.path("null"), NULL) {
            symlink("null", scratch.path("to-null")).unwrap();
            names.extend(["null", "to-null"]);
        }
        let kinds = || -> Vec<fs::FileType> {
            names.iter().map(|name| fs::symlink_metadata(scratch.path(name)).unwrap().file_type()).collect()
        };
        let before = kinds();
        assert!(
            before[0].is_fifo()
                && before[1].is_symlink()
                && before.get(2).is_none_or(FileTypeExt::is_char_device)
        );
        let sweep = ["sweep", "control", "--knob", "lr=1e-3,1e-2", "--steps", "1", "--out"];
        for name in &names {
            for args in [
                &["train", "--steps", "1", "--save"][..],
                &["train", "--steps", "1", "--monitor"],
                &["train", "--steps", "1", "--csv"],
                &["export", "logic", "life", "--format", "json", "--out"],
                &["play", "backgammon", "linear", "--save"],
                &["play", "backgammon", "linear", "--keep"],
                &sweep,
            ] {
                let output = scratch.run(&[args, &[name]].concat());
                let said = stderr(&output);
                assert!(
                    !output.status.success() && said.contains("not a regular file"),
                    "{args:?} {name}: {said}"
                );
                assert!(said.contains("Name another file"), "{args:?} {name}: {said}");
            }
        }
        assert_eq!(kinds(), before);
        if names.contains(&"null") {
            // Lines can be sent there, and what is there stays.
            scratch.train(&["--steps", "4096", "--events", "to-null"]);
            assert_eq!(kinds(), before);
        }
    }

    #[test]
    fn a_link_stays_one_and_what_it_leads_to_is_written() {
        let scratch = Scratch::new();
        let names = ["s.safetensors", "m.ring", "e.jsonl", "t.csv"];
        fs::create_dir(scratch.path("there")).unwrap();
        for name in names {
            symlink(Path::new("there").join(name), scratch.path(name)).unwrap();
        }
        for seed in ["1", "2"] {
            let files = ["--save", names[0], "--monitor", names[1], "--events", names[2], "--csv", names[3]];
            scratch.train(&[&["--steps", "4096", "--seed", seed][..], &files].concat());
            for name in names {
                assert!(fs::symlink_metadata(scratch.path(name)).unwrap().is_symlink(), "{name}");
                let there = fs::symlink_metadata(scratch.path("there").join(name)).unwrap();
                assert!(there.is_file() && there.len() > 100, "{name}");
            }
        }
        assert!(scratch.run(&["eval", "there/s.safetensors"]).status.success());
    }

    #[test]
    fn a_match_is_not_written_over_what_is_none() {
        let scratch = Scratch::new();
        fs::write(scratch.path("thesis.txt"), "a thesis").unwrap();
        let mut game = scratch.hothouse(&["play", "backgammon", "linear", "--seed", "1", "--length", "3"]);
        let mut game =
            game.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let typed = "save thesis.txt\nsave match.mat\nsave match.mat\nsave .\nquit\n";
        game.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = game.wait_with_output().unwrap();
        let said = stdout(&output);
        assert!(output.status.success(), "{said} {}", stderr(&output));
        assert!(
            said.contains("thesis.txt is no match in text (.mat), and would be lost. Name another file"),
            "{said}"
        );
        assert_eq!(said.matches("The match is in match.mat.").count(), 2, "{said}");
        assert!(said.contains(". is a folder") || said.contains("names no file"), "{said}");
        assert_eq!(fs::read_to_string(scratch.path("thesis.txt")).unwrap(), "a thesis");
        assert!(fs::read_to_string(scratch.path("match.mat")).unwrap().contains("3 point match"));
        for name in ["--save", "--keep"] {
            let output = scratch.run(&["play", "backgammon", "linear", name, "thesis.txt"]);
            assert!(stderr(&output).contains(&format!("would be lost. Name another file with {name}")));
        }
        assert_eq!(fs::read_to_string(scratch.path("thesis.txt")).unwrap(), "a thesis");
    }

    #[test]
    fn what_is_exported_replaces_what_was_exported_and_nothing_else() {
        let scratch = Scratch::new();
        for (format, name) in [("svg", "c.svg"), ("json", "c.json"), ("verilog", "c.v"), ("rust", "c.rs")] {
            let args = ["export", "logic", "life", "--format", format, "--out", name];
            for _ in 0..2 {
                assert!(scratch.run(&args).status.success(), "{format}");
            }
            fs::write(scratch.path(name), "something else").unwrap();
            assert!(stderr(&scratch.run(&args)).contains("would be lost"), "{format}");
        }
        for name in ["grid.pbm", "grid.txt"] {
            let args = ["run", "logic", "life", "--grid", "16x16", "--steps", "3", "--out", name];
            for _ in 0..2 {
                let output = scratch.run(&args);
                assert!(output.status.success(), "{}", stderr(&output));
            }
            fs::write(scratch.path(name), "something else").unwrap();
            assert!(stderr(&scratch.run(&args)).contains("would be lost"), "{name}");
        }
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let scratch = Scratch::new();
        scratch.train(&["--steps", "4096", "--save", "run.safetensors"]);
        if device(&scratch.path("zero"), ZERO) {
            for args in [
                &["train", "words", "--data", "zero"][..],
                &["resume", "run.safetensors", "--data", "zero"],
                &["resume", "zero"],
                &["eval", "zero"],
                &["watch", "zero"],
                &["run", "logic", "zero", "--grid", "8x8", "--steps", "1"],
                &["run", "logic", "life", "--start", "zero", "--grid", "8x8", "--steps", "1"],
                &["eval", "backgammon", "linear", "--decisions", "zero"],
                &["train", "--config", "zero"],
            ] {
                let output = scratch.run(args);
                let said = stderr(&output);
                assert!(
                    !output.status.success() && said.contains("is a device, not a file"),
                    "{args:?}: {said}"
                );
            }
        }
        // A pipe may have an end, and a line of what is no event is enough to know.
        pipe(&scratch.path("endless"));
        for begins in ["these are no events", "{"] {
            let to = scratch.path("endless");
            let writer = std::thread::spawn(move || {
                let mut to = fs::OpenOptions::new().write(true).open(to).unwrap();
                let _ = to.write_all(begins.as_bytes());
                while to.write_all(&[b' '; 1 << 16]).is_ok() {}
            });
            let output = scratch.run(&["watch", "endless", "--plain"]);
            assert!(stderr(&output).contains("holds no events"), "{}", stderr(&output));
            writer.join().unwrap();
        }
    }

    #[test]
    fn a_full_disk_is_told_of_and_training_goes_on() {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path("full")).unwrap();
        let program = env!("CARGO_BIN_EXE_hothouse");
        let script = "mount -t tmpfs -o size=64k tmpfs full && exec \"$@\"";
        let args = ["-m", "sh", "-c", script, "sh", program, "train", "--steps", "4096", "--json"];
        let mut command = Command::new("unshare");
        command.args(args).args(SMALL).args(["--monitor", "full/run.ring", "--save", "run.safetensors"]);
        command.current_dir(&scratch.0).env("XDG_CACHE_HOME", scratch.cache()).stderr(Stdio::piped());
        let output = command.output();
        let said = output.as_ref().map_or("unshare:".into(), stderr);
        if ["unshare:", "mount:"].iter().any(|program| said.contains(program)) {
            testkit::skip("this user may mount no small disk");
        } else {
            let output = output.unwrap();
            assert!(output.status.success(), "{said}");
            let told = common::records(&stdout(&output));
            let at = |kind: &str, words: &str| {
                told.iter().position(|record| record["kind"] == kind && record.to_string().contains(words))
            };
            let notice = at("notice", "No space left on device").unwrap();
            assert!(told[notice].to_string().contains("cannot be watched"), "{}", told[notice]);
            // Whatever is said of a run before it begins is off the screen when it does.
            assert!(at("began", "").unwrap() < notice);
            assert_eq!(common::summary(&told)["ended_by"], "steps");
        }
        // Events that cannot be written any more end with a warning, and the run does not.
        if device(&scratch.path("always-full"), FULL) {
            let args = ["train", "--steps", "4096", "--json", "--events", "always-full"];
            let output = scratch.run(&[&args[..], &SMALL].concat());
            assert!(output.status.success());
            assert!(stderr(&output).contains("events are no longer written"), "{}", stderr(&output));
        }
    }
}
