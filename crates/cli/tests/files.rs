//! A run destroys no file that is not its own, and no two runs write into one.

mod common;

use common::{SMALL, Scratch, stderr};
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
