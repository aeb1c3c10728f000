//! The room of the tests has all that a room has, without a line outside its folder: in the program of `src/main.rs`, which is
//! `hothouse` with this room in its list.

use bandit::Bandit;
use run::protocol::{Command as Ask, Event, Value};
use run::{AnyRun, Host, Run};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of this test's own, and the program with its cache there.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn run(&self, args: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_hothouse-bandit"))
            .args(args.split_whitespace())
            .current_dir(&self.0)
            .env("XDG_CACHE_HOME", &self.0)
            .output()
            .unwrap()
    }

    fn ok(&self, args: &str) -> String {
        let output = self.run(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{args}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
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
    place.ok(
        "train bandit --steps 20480 --csv run.csv --tensorboard board --set baseline=none --monitor run.ring",
    );
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

#[test]
fn choices_and_texts_change_and_travel_as_numbers_do() {
    bandit::add();
    let host = Host::new(math::Isa::best());
    let link = "#/bandit?machine=three-arms&seed=2&payouts=0.1%200.8&baseline=none";
    let config = run::permalink::decode(link, host).unwrap().config;
    assert_eq!(config.knobs["payouts"], Value::from("0.1 0.8"));
    let again = run::permalink::decode(&run::permalink::encode(&config, None), host).unwrap();
    assert_eq!(again.config, config);
    assert!(run::native_command(&config).contains("--set payouts='0.1 0.8'"));

    let mut run = Run::<Bandit>::new(config, host).unwrap();
    run.command(Ask::Start).unwrap();
    (0..20).for_each(|i| assert!(run.advance(f64::from(i))));
    run.command(Ask::SetKnob { name: "baseline".into(), value: "mean".into() }).unwrap();
    let marked = |event: &Event| matches!(event, Event::Mark(mark) if mark.to == Value::from("mean"));
    assert!(run.events().iter().any(marked));
    let refused = run.command(Ask::SetKnob { name: "payouts".into(), value: "1 2".into() }).unwrap_err();
    assert!(refused.next_step().contains("Reset"), "{refused}");
    let mut restored = Run::<Bandit>::restore(&run.save().unwrap(), host).unwrap();
    restored.command(Ask::Start).unwrap();
    for i in 20..60 {
        run.advance(f64::from(i));
        restored.advance(f64::from(i));
    }
    while restored.progress().iteration < run.progress().iteration {
        restored.advance(99.0);
    }
    assert_eq!(restored.digest(), run.digest());
}
