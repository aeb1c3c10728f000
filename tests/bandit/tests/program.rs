//! The room of the tests has all that a room has, without a line outside its folder: in the program of `src/main.rs`, which is
//! `hothouse` with this room in its list.

use serde_json::Value as Json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of this test's own, and the program with its cache there.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
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

    /// With something on its standard input.
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

fn last(lines: &str) -> Json {
    serde_json::from_str(lines.lines().last().unwrap()).unwrap()
}

#[test]
fn it_learns_which_arm_pays_and_fails_where_it_cannot_learn() {
    let place = Place::new("learns");
    let summary = last(&place.ok("train bandit --seed 3 --until-solved --steps 1e6 --json"));
    assert_eq!(summary["ended_by"], "solved", "{summary}");
    let broken = last(&place.ok("train bandit --seed 3 --set lr=0.001 --until-solved --steps 4096 --json"));
    assert_ne!(broken["ended_by"], "solved", "{broken}");
}

#[test]
fn what_is_saved_goes_on_to_the_bit() {
    let place = Place::new("resumes");
    let whole = last(&place.ok("train bandit --steps 20480 --json"));
    place.ok("train bandit --steps 10240 --save half.safetensors");
    let resumed = last(&place.ok("resume half.safetensors --steps 20480 --json"));
    assert_eq!(resumed["digest"], whole["digest"]);
    assert_ne!(whole["digest"], Json::Null);
}

#[test]
fn it_is_watched_swept_and_written_down() {
    let place = Place::new("shown");
    place.ok("train bandit --steps 20480 --csv run.csv --tensorboard board --set baseline=none --monitor run.ring");
    let csv = place.read("run.csv");
    let head = csv.lines().next().unwrap();
    assert!(head.contains("pulls") && head.contains("mean_reward"), "{head}");
    assert!(csv.lines().count() > 40, "{csv}");
    assert!(std::fs::read_dir(place.0.join("board")).unwrap().count() > 0);
    let watched = place.ok("watch run.ring --json");
    assert!(watched.contains("\"mean_reward\"") && watched.contains("\"best\""), "{watched}");
    let swept = place.ok("sweep bandit --knob baseline=mean,none --seeds 2 --steps 8192");
    assert!(swept.contains("mean") && swept.contains("none"), "{swept}");
    let help = place.ok("train bandit --help");
    assert!(help.contains("baseline") && help.contains("payouts"), "{help}");
}

#[test]
fn it_learns_from_a_file_of_payouts() {
    let place = Place::new("brought");
    std::fs::write(place.0.join("payouts.txt"), "0.1 0.3 0.95 0.2 0.4\n").unwrap();
    let args = "train bandit --steps 10240 --json --save half.safetensors";
    let told = place.ok(&format!("{args} --data payouts.txt"));
    let began: Json = told.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()).find(|e| e["kind"] == "began").unwrap();
    assert_eq!(began["config"]["data"]["name"], "payouts.txt", "{began}");
    assert_eq!(began["config"]["data"]["bytes"], 21);
    // The same under its other name, and through a pipe.
    let whole = last(&place.ok("train bandit --steps 20480 --json --text ./payouts.txt"));
    let piped = place.piped("train bandit --steps 20480 --json --data -", b"0.1 0.3 0.95 0.2 0.4\n");
    assert_eq!(last(&piped)["digest"], whole["digest"]);
    // The checkpoint has what it learns from.
    std::fs::remove_file(place.0.join("payouts.txt")).unwrap();
    let resumed = last(&place.ok("resume half.safetensors --steps 20480 --json"));
    assert_eq!(resumed["digest"], whole["digest"]);
    place.ok("eval half.safetensors");
    std::fs::write(place.0.join("other.txt"), "0.1 0.2").unwrap();
    let swept = place.ok("sweep bandit --knob baseline=mean,none --seeds 1 --steps 4096 --text other.txt");
    assert!(swept.contains("mean") && swept.contains("none"), "{swept}");
    for (args, words) in [
        ("train bandit --data nowhere.txt", "there"),
        ("train bandit --data .", "0.2 0.9"),
        ("train bandit --data half.safetensors", "0.2 0.9"),
        ("resume half.safetensors --data other.txt", "was not trained on"),
        ("train control --data other.txt", "takes no data"),
    ] {
        let output = place.run(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(words), "{args}: {said}");
    }
}

#[test]
fn large_payouts_are_named_again() {
    let place = Place::new("large");
    let mut text = b"0.1 0.3 0.95 0.2 0.4".to_vec();
    text.resize((16 << 20) + 1, b' ');
    std::fs::write(place.0.join("large.txt"), text).unwrap();
    std::fs::write(place.0.join("other.txt"), "0.1 0.2").unwrap();
    let half = place.ok("train bandit --steps 10240 --save half.safetensors --data large.txt");
    assert!(half.contains("--data large.txt"), "the command that resumes it: {half}");
    for (args, words) in [
        ("resume half.safetensors --steps 20480", "large.txt (16777217 bytes)"),
        ("eval half.safetensors", "--data FILE"),
        ("resume half.safetensors --data other.txt", "Provide exactly that file"),
    ] {
        let output = place.run(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(words), "{args}: {said}");
    }
    let resumed = last(&place.ok("resume half.safetensors --steps 20480 --json --data large.txt"));
    let whole = last(&place.ok("train bandit --steps 20480 --json --data large.txt"));
    assert_eq!(resumed["digest"], whole["digest"]);
    place.ok("eval half.safetensors --data large.txt");
}

#[test]
fn bad_input_is_refused_with_the_next_step() {
    let place = Place::new("refuses");
    for (args, words) in [
        ("train bandit --set baseline=some", "one of: mean, none"),
        ("train bandit --set lr=9", "0.001 to 1"),
        ("train bandit --set payouts=0.5", "0.2 0.9"),
        ("train bandit --variant nine-arms", "three-arms"),
    ] {
        let output = place.run(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(words), "{args}: {said}");
    }
}
