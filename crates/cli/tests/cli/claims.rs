//! Tests that a file of a running process is neither removed nor written by another process.

use crate::common::*;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Returns the names of the hidden files in the cache: lock files and temporary files.
fn hidden(scratch: &Scratch) -> Vec<String> {
    let names = fs::read_dir(scratch.cache().join("hothouse")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

#[test]
fn the_cache_keeps_the_files_of_a_live_run() {
    let scratch = Scratch::new();
    let mut live = scratch.spawn(format!("train --json --steps 1e12 --seed 77 --save-every 0.01 --threads 1 {SMALL}"));
    live.read_until("file_saved");
    // The process lives, but writes nothing more, like a run that the user has paused.
    live.signal("STOP");
    let of_live = || -> Vec<PathBuf> {
        let files = ["ring", "safetensors"].into_iter().flat_map(|extension| scratch.cached(extension));
        files.filter(|path| path.to_str().unwrap().contains("-seed77-")).collect()
    };
    let [ring, save] = &of_live()[..] else { panic!("{:?}", of_live()) };
    let hour = Duration::from_secs(3600);
    fs::File::options().append(true).open(save).unwrap().set_modified(SystemTime::now() - hour).unwrap();
    let part_of = |path: &PathBuf| path.with_file_name(format!(".{}.7.part", path.file_name().unwrap().to_str().unwrap()));
    fs::write(part_of(save), "part").unwrap();
    let dead = part_of(&ring.with_file_name("0000000000007-CartPole-v1-seed7-7.safetensors"));
    fs::write(&dead, "part").unwrap();
    let run = |seed: u32| drop(scratch.train(format!("--steps 1 --seed {seed}")));
    run(1);
    assert!(!dead.exists() && part_of(save).exists(), "a dead process wrote the first, and may have written the second");
    // Copies of its files are those of further runs.
    for extension in ["ring", "safetensors"] {
        let first = scratch.cached(extension).into_iter().find(|path| path.to_str().unwrap().contains("-seed1-")).unwrap();
        for copy in 2..=25 {
            let name = first.file_name().unwrap().to_str().unwrap().replacen('1', &format!("{}", copy % 10), 1);
            fs::copy(&first, first.with_file_name(format!("9{copy:03}{}", &name[4..]))).unwrap();
        }
    }
    run(2);
    assert_eq!(of_live(), [ring.clone(), save.clone()]);
    assert_eq!(scratch.cached("safetensors").len(), 21);
    // The checkpoint of the live run is whole, and can be resumed after a kill.
    live.process.kill().unwrap();
    live.wait();
    let kept = scratch.path("kept.safetensors");
    fs::copy(save, &kept).unwrap();
    scratch.stdout("eval kept.safetensors");
    run(3);
    assert_eq!((of_live(), hidden(&scratch)), (Vec::new(), Vec::new()));
}

#[test]
fn a_file_belongs_to_one_run() {
    let scratch = Scratch::new();
    scratch.train("--steps 4096 --save run.safetensors");
    let endless = format!("--json --steps 1e12 --threads 1 {SMALL}");
    let mut resumed = scratch.spawn("resume run.safetensors --json --steps 1e12 --threads 1");
    // These runs have not written their checkpoints yet.
    let mut trained = scratch.spawn(format!("train --save new.safetensors --monitor own.ring --entry entry.json {endless}"));
    resumed.read_until("metrics");
    trained.read_until("metrics");
    for (args, file) in [
        ("resume run.safetensors --steps 8192", "run.safetensors"),
        ("resume run.safetensors --save new.safetensors --steps 8192", "new.safetensors"),
        ("train --steps 1 --save run.safetensors", "run.safetensors"),
        ("train --steps 1 --save ./new.safetensors", "./new.safetensors"),
        ("train --steps 1 --monitor own.ring", "own.ring"),
        ("train --steps 1 --entry entry.json", "entry.json"),
        ("play backgammon linear --keep new.safetensors", "new.safetensors"),
    ] {
        let error = scratch.fails(args, 1, &format!("another run is writing to {file}. Wait until it ends. Name another file with --"));
        assert!(!scratch.path("new.safetensors").exists(), "{args}: {error}");
    }
    // The file can be read, also as the beginning of another run.
    scratch.stdout("eval run.safetensors");
    scratch.stdout("resume run.safetensors --save other.safetensors --steps 8192 --plain");
    for mut run in [resumed, trained] {
        run.process.kill().unwrap();
        run.wait();
    }
    // A killed process leaves its lock files. They claim nothing.
    assert!(scratch.path(".run.safetensors.lock").exists());
    scratch.stdout(format!("train --steps 4096 --save new.safetensors --monitor own.ring --entry entry.json --plain {SMALL}"));
    scratch.stdout("resume run.safetensors --steps 8192 --plain");
    let mut names: Vec<String> = fs::read_dir(&scratch.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["entry.json", "new.safetensors", "other.safetensors", "own.ring", "run.safetensors"]);
}

/// A limit of file sizes is reported like a full disk.
#[test]
fn a_failed_save_goes_to_the_file_of_the_user_again() {
    let scratch = Scratch::new();
    // The checkpoint has about 100 kB, so it exceeds the soft limit of 8 blocks, which another process can raise.
    let train = format!("train --json --steps 1e12 --save-every 0.05 --save run.safetensors --threads 1 {SMALL}");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("ulimit -S -f 8; exec {HOTHOUSE} {train}")]).current_dir(&scratch.0);
    command.env("XDG_CACHE_HOME", scratch.cache()).env("TMPDIR", &*scratch.0);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut running = Running::start(&mut command);
    let log = running.read_times("notice", 2);
    let notice = log.last().unwrap();
    assert!(notice["text"].as_str().unwrap().contains("cannot save to run.safetensors (File too large"), "{log:?}");
    let monitor = of_kind(&log, "notice")[0].to_string();
    assert!(monitor.contains("cannot be watched") && monitor.contains("File too large"), "{monitor}");
    let pid = running.process.id().to_string();
    let raised = std::process::Command::new("prlimit").args(["--pid", &pid, "--fsize=unlimited"]).status();
    if !raised.is_ok_and(|status| status.success()) {
        testkit::skip("this system has no prlimit");
        return;
    }
    // The limit may have been raised within a save, whose fallback is beside the file.
    while running.read_until("file_saved").last().unwrap()["file"] != "run.safetensors" {}
    running.interrupt();
    let log = records(&running.rest());
    assert_eq!((running.wait(), &log.last().unwrap()["file"]), (Some(0), &"run.safetensors".into()));
    assert!(fs::read_dir(&scratch.0).unwrap().all(|entry| !entry.unwrap().file_name().to_str().unwrap().starts_with('.')));
}
