//! The bandit in the program of `src/main.rs`. All commands of `hothouse` must work for a room that only this package defines.

use serde_json::Value as Json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Temporary folder of a test, used as the current folder and the cache folder of the program.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hothouse-bandit"));
        command.args(args.split_whitespace()).current_dir(&self.0).env("XDG_CACHE_HOME", &self.0);
        command
    }

    fn run(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    fn ok(&self, args: &str) -> String {
        let output = self.run(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{args}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// Runs the program with `input` as its standard input and returns its standard output.
    fn piped(&self, args: &str, input: &[u8]) -> String {
        let mut child = self.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

/// Parses the last line of the output as JSON.
fn last(lines: &str) -> Json {
    serde_json::from_str(lines.lines().last().unwrap()).unwrap()
}

#[test]
fn training_solves_the_bandit_unless_the_learning_rate_is_too_small() {
    let folder = Folder::new("learns");
    let summary = last(&folder.ok("train bandit --seed 3 --until-solved --steps 1e6 --json"));
    assert_eq!(summary["ended_by"], "solved", "{summary}");
    let broken = last(&folder.ok("train bandit --seed 3 --set lr=0.001 --until-solved --steps 4096 --json"));
    assert_ne!(broken["ended_by"], "solved", "{broken}");
}

#[test]
fn a_resumed_run_has_the_same_digest_as_an_uninterrupted_one() {
    let folder = Folder::new("resumes");
    let whole = last(&folder.ok("train bandit --steps 20480 --json"));
    folder.ok("train bandit --steps 10240 --save half.safetensors");
    let resumed = last(&folder.ok("resume half.safetensors --steps 20480 --json"));
    assert_eq!(resumed["digest"], whole["digest"]);
    assert_ne!(whole["digest"], Json::Null);
}

#[test]
fn csv_tensorboard_watch_sweep_and_help_include_the_room() {
    let folder = Folder::new("shown");
    folder.ok("train bandit --steps 20480 --csv run.csv --tensorboard board --set baseline=none --monitor run.ring");
    let csv = folder.read("run.csv");
    let head = csv.lines().next().unwrap();
    assert!(head.contains("pulls") && head.contains("mean_reward"), "{head}");
    assert!(csv.lines().count() > 40, "{csv}");
    assert!(std::fs::read_dir(folder.0.join("board")).unwrap().count() > 0);
    let watched = folder.ok("watch run.ring --json");
    assert!(watched.contains("\"mean_reward\"") && watched.contains("\"best\""), "{watched}");
    let swept = folder.ok("sweep bandit --knob baseline=mean,none --seeds 2 --steps 8192");
    assert!(swept.contains("mean") && swept.contains("none"), "{swept}");
    let help = folder.ok("train bandit --help");
    assert!(help.contains("baseline") && help.contains("payouts"), "{help}");
}

#[test]
fn user_data_is_read_saved_and_resumed() {
    let folder = Folder::new("data");
    std::fs::write(folder.0.join("payouts.txt"), "0.1 0.3 0.95 0.2 0.4\n").unwrap();
    let args = "train bandit --steps 10240 --json --save half.safetensors";
    let events = folder.ok(&format!("{args} --data payouts.txt"));
    let began: Json = events.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()).find(|e| e["kind"] == "began").unwrap();
    assert_eq!(began["config"]["data"]["name"], "payouts.txt", "{began}");
    assert_eq!(began["config"]["data"]["bytes"], 21);
    // Two runs read the same data: one through the alias `--text`, the other from a pipe. Their results must be equal.
    let whole = last(&folder.ok("train bandit --steps 20480 --json --text ./payouts.txt"));
    let piped = folder.piped("train bandit --steps 20480 --json --data -", b"0.1 0.3 0.95 0.2 0.4\n");
    assert_eq!(last(&piped)["digest"], whole["digest"]);
    // The run can be resumed without its data file, because the checkpoint contains the data.
    std::fs::remove_file(folder.0.join("payouts.txt")).unwrap();
    let resumed = last(&folder.ok("resume half.safetensors --steps 20480 --json"));
    assert_eq!(resumed["digest"], whole["digest"]);
    folder.ok("eval half.safetensors");
    std::fs::write(folder.0.join("other.txt"), "0.1 0.2").unwrap();
    let swept = folder.ok("sweep bandit --knob baseline=mean,none --seeds 1 --steps 4096 --text other.txt");
    assert!(swept.contains("mean") && swept.contains("none"), "{swept}");
    for (args, words) in [
        ("train bandit --data nowhere.txt", "does not exist"),
        ("train bandit --data .", "0.2 0.9"),
        ("train bandit --data half.safetensors", "0.2 0.9"),
        ("resume half.safetensors --data other.txt", "was not trained on"),
        ("train cube --data other.txt", "takes no data"),
    ] {
        let output = folder.run(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(words), "{args}: {error}");
    }
}

#[test]
fn large_user_data_must_be_passed_again_on_resume() {
    let folder = Folder::new("large");
    let mut text = b"0.1 0.3 0.95 0.2 0.4".to_vec();
    text.resize((16 << 20) + 1, b' ');
    std::fs::write(folder.0.join("large.txt"), text).unwrap();
    std::fs::write(folder.0.join("other.txt"), "0.1 0.2").unwrap();
    let half = folder.ok("train bandit --steps 10240 --save half.safetensors --data large.txt");
    assert!(half.contains("--data large.txt"), "the command to resume the run: {half}");
    for (args, words) in [
        ("resume half.safetensors --steps 20480", "large.txt (16777217 bytes)"),
        ("eval half.safetensors", "--data FILE"),
        ("resume half.safetensors --data other.txt", "Provide exactly that file"),
    ] {
        let output = folder.run(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(words), "{args}: {error}");
    }
    let resumed = last(&folder.ok("resume half.safetensors --steps 20480 --json --data large.txt"));
    let whole = last(&folder.ok("train bandit --steps 20480 --json --data large.txt"));
    assert_eq!(resumed["digest"], whole["digest"]);
    folder.ok("eval half.safetensors --data large.txt");
}

#[test]
fn invalid_input_is_rejected_with_the_remedy() {
    let folder = Folder::new("refuses");
    for (args, words) in [
        ("train bandit --set baseline=some", "one of: mean, none"),
        ("train bandit --set lr=9", "0.001 to 1"),
        ("train bandit --set payouts=0.5", "0.2 0.9"),
        ("train bandit --variant nine-arms", "three-arms"),
    ] {
        let output = folder.run(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(words), "{args}: {error}");
    }
}
