//! Training backgammon as people and scripts do it: the built binary, its exit status, its words and its files.

mod common;

use common::{SMALL_GAMES, Scratch, of_kind, stderr, stdout, summary};
use serde_json::Value;
use std::process::Command;

/// The lines of a run that ended well.
fn records(mut command: Command) -> Vec<Value> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    common::records(&stdout(&output))
}

#[test]
fn a_run_stopped_and_resumed_is_the_run_that_went_on_whatever_the_threads() {
    let scratch = Scratch::new();
    let train = |more: &[&str]| {
        summary(&scratch.records(&[&["train", "backgammon", "--seed", "3"], &SMALL_GAMES[..], more].concat()))
            .clone()
    };
    let whole = train(&["--steps", "120", "--threads", "1"]);
    let half = train(&["--steps", "48", "--threads", "2", "--save", "half.safetensors"]);
    assert_eq!(half["progress"]["games"], 48);
    assert!(half["resume"].as_str().unwrap().contains("resume half.safetensors"));
    let rest = scratch.records(&["resume", "half.safetensors", "--games", "120", "--threads", "2"]);
    let rest = summary(&rest);
    assert_eq!(rest["digest"], whole["digest"]);
    assert_eq!(rest["test"]["random_points"], whole["test"]["random_points"]);
    assert_eq!((&rest["progress"]["games"], &rest["ended_by"]), (&Value::from(120), &Value::from("steps")));
}

#[test]
fn plain_lines_tell_of_a_run_and_events_are_written_beside() {
    let scratch = Scratch::new();
    let args = ["train", "backgammon", "--steps", "48", "--events", "run.jsonl"];
    let text = scratch.told(&[&args[..], &SMALL_GAMES].concat());
    for part in
        ["backgammon / strong, seed 1", "48 games", "  test ", "random", "pubeval", "digest", "resume"]
    {
        assert!(text.contains(part), "{part} in: {text}");
    }
    let events = common::records(&std::fs::read_to_string(scratch.path("run.jsonl")).unwrap());
    assert_eq!(of_kind(&events, "metrics").len(), 2);
    summary(&events);
    assert_eq!(scratch.told(&["watch", "run.jsonl", "--plain"]), text);
}

#[test]
fn a_goal_that_is_not_reached_leaves_the_end_to_the_other_budget() {
    let scratch = Scratch::new();
    let args = ["train", "backgammon", "--until-solved", "--games", "24"];
    let told = scratch.records(&[&args[..], &SMALL_GAMES].concat());
    // So few games teach nobody that much.
    let done = summary(&told);
    assert_eq!((&done["ended_by"], &done["solved"]), (&"steps".into(), &Value::Null));
    let room = run::room("backgammon").unwrap();
    let goal = room.variants()[0].goal.expect("a goal in points against a baseline");
    assert!(done["test"][goal.column].as_f64().unwrap() < goal.at);
}

// ---- the device that trains ----

/// The learner that can use a GPU, with rounds that are quick.
fn published(more: &[&str]) -> Vec<String> {
    let knobs =
        ["tables=2", "games=4", "batch=16", "evals=4", "round_batches=12", "minibatch=32", "replay=512"];
    let knobs = knobs.iter().flat_map(|knob| ["--set", knob]);
    let train = ["train", "backgammon", "--learner", "published", "--seed", "3", "--json"];
    train.into_iter().chain(knobs).chain(more.iter().copied()).map(String::from).collect()
}

fn command(scratch: &Scratch, args: &[String]) -> Command {
    scratch.hothouse(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_published_learner_trains_on_the_gpu_and_goes_on_on_the_processor() {
    let scratch = Scratch::new();
    let args = published(&["--device", "gpu", "--steps", "12", "--save", "run.safetensors"]);
    let told = records(command(&scratch, &args));
    let device = of_kind(&told, "device")[0];
    assert_eq!((&device["wish"], &device["on_gpu"]), (&"gpu".into(), &true.into()), "{device}");
    let on_gpu = summary(&told);
    assert_eq!((&on_gpu["device"], &on_gpu["arithmetic"]), (&device["gpu"], &"gpu".into()));
    assert!(on_gpu["progress"]["games"].as_u64().unwrap() >= 12);
    assert!(on_gpu["resume"].as_str().unwrap().ends_with("--device gpu"), "{}", on_gpu["resume"]);
    let metrics = of_kind(&told, "metrics");
    assert!(metrics.iter().any(|metrics| metrics["loss"].as_f64().unwrap() > 0.0), "it learned: {metrics:?}");
    // In the first round it gets ready.
    for metrics in &metrics[1..] {
        assert!(metrics["shares"]["device"].as_f64().unwrap() > 0.1, "the GPU took its time: {metrics}");
    }

    let back = scratch.records(&["resume", "run.safetensors", "--device", "cpu", "--steps", "24"]);
    let back = summary(&back);
    assert_eq!((&back["arithmetic"], &back["device"]), (&"mixed".into(), &Value::Null));
    assert!(back["progress"]["games"].as_u64().unwrap() >= 24);
    assert!(back["resume"].as_str().unwrap().ends_with("--device cpu"), "{}", back["resume"]);
}

#[test]
fn without_a_gpu_backgammon_trains_on_the_processor_and_says_so() {
    let scratch = Scratch::new();
    // The system's loader finds no driver.
    let nowhere = scratch.path("no-driver.json");
    let mut asked = command(&scratch, &published(&["--device", "gpu", "--steps", "12"]));
    asked.env("VK_DRIVER_FILES", &nowhere).env("VK_ICD_FILENAMES", &nowhere);
    let told = records(asked);
    let device = of_kind(&told, "device")[0];
    assert_eq!((&device["on_gpu"], &device["gpu"]), (&false.into(), &Value::Null), "{device}");
    let notice = of_kind(&told, "notice")[0];
    assert_eq!(notice["level"], "warning");
    assert!(notice["text"].as_str().unwrap().contains("no GPU"), "{notice}");
    let at_home = records(command(&scratch, &published(&["--device", "cpu", "--steps", "12"])));
    assert_eq!(summary(&told)["digest"], summary(&at_home)["digest"], "the same run as ever");
}

#[test]
fn the_strong_learner_says_why_it_stays_on_the_processor() {
    let scratch = Scratch::new();
    let train = |device: &str| {
        let args = ["train", "backgammon", "--steps", "48", "--json", "--device", device];
        records(scratch.hothouse(&[&args[..], &SMALL_GAMES].concat()))
    };
    let (auto, gpu) = (train("auto"), train("gpu"));
    for told in [&auto, &gpu] {
        let why = of_kind(told, "device")[0]["why"].as_str().unwrap();
        assert!(why.contains("strong learner") && why.contains("a few rows"), "{why}");
        assert!(summary(told)["device"].is_null());
    }
    assert!(of_kind(&auto, "notice").is_empty(), "nobody asked for a GPU");
    let next_step = of_kind(&gpu, "notice")[0]["next_step"].as_str().unwrap();
    assert!(next_step.contains("another learner") && next_step.contains("processor"), "{next_step}");
    assert_eq!(summary(&auto)["digest"], summary(&gpu)["digest"]);
}

#[test]
fn what_does_not_apply_is_refused_with_what_would_do() {
    let scratch = Scratch::new();
    let said = |args: &[&str]| {
        let output = scratch.run(args);
        (output.status.code().unwrap(), stderr(&output))
    };
    for (more, words) in [
        (&["--device", "tpu"][..], "auto, cpu or gpu"),
        (&["--env", "CartPole-v1"], "strong, published"),
        (&["--set", "gamma=0.9"], "lambda"),
        (&["--set", "lr=9"], "out of range"),
        (&["--set", "hidden=17"], "multiples of 16"),
        (&["--save", "a", "--events", "a"], "Give each its own"),
    ] {
        let (code, text) = said(&[&["train", "backgammon", "--seconds", "1"], more].concat());
        assert!(code == 2 && text.contains(words), "{more:?} gave {code}: {text}");
    }
    std::fs::write(scratch.path("junk.safetensors"), b"not a checkpoint at all").unwrap();
    let (code, text) = said(&["resume", "junk.safetensors"]);
    assert!(code == 1 && text.contains("no Hothouse checkpoint"), "{text}");
    let (code, text) = said(&["solve", "backgammon"]);
    assert!(code == 2 && text.contains("hothouse train backgammon"), "{text}");
}

#[test]
fn backgammon_can_end_when_the_agent_reaches_its_goal() {
    let scratch = Scratch::new();
    // Quick to learn on one core; were it not, it would end all the same.
    let quick = ["--set", "hidden=32", "--set", "games=64", "--set", "batch=128", "--set", "lr=0.003"];
    let told = scratch
        .records(&[&["train", "backgammon", "--until-solved", "--steps", "40000"][..], &quick].concat());
    let done = summary(&told);
    assert_eq!(done["ended_by"], "solved");
    let reached = of_kind(&told, "solved")[0];
    assert_eq!((&reached["goal"], &reached["progress"]), (&0.4.into(), &done["solved"]));
    // At the end of the round in which the test ended that reached it, and before the next one was due.
    let tests = of_kind(&told, "test");
    let scores: Vec<f64> = tests.iter().map(|test| test["linear_points"].as_f64().unwrap()).collect();
    assert!(*scores.last().unwrap() >= 0.4, "{scores:?}");
    // Each test that reached the goal had one attempt to confirm it, and the last attempt alone did.
    let confirmed: Vec<bool> =
        of_kind(&told, "confirmation").iter().map(|attempt| attempt["confirmed"] == true).collect();
    assert_eq!(confirmed.len(), scores.iter().filter(|score| **score >= 0.4).count(), "{scores:?}");
    let (last, before) = confirmed.split_last().unwrap();
    assert!(*last && !before.contains(&true), "{confirmed:?}");
    assert!(done["progress"]["games"].as_u64().unwrap() < 40_000);
}

/// A save whose weights are numbers still, of which the next round makes none.
fn save_gone_wild(scratch: &Scratch, variant: &str, knobs: &[&str]) -> Vec<u8> {
    let args = ["train", "backgammon", "--variant", variant, "--steps", "12", "--device", "cpu"];
    scratch.records(&[&args[..], knobs, &["--save", "wild.safetensors"]].concat());
    let file = scratch.path("wild.safetensors");
    let mut parts = testkit::apart(&std::fs::read(&file).unwrap());
    parts.drive_wild();
    let bytes = parts.together();
    std::fs::write(&file, &bytes).unwrap();
    bytes
}

#[test]
fn a_learner_that_diverged_says_so_sums_up_and_leaves_the_save_alone() {
    // Without the words before its knobs.
    let published = published(&[]).split_off(7);
    let published: Vec<&str> = published.iter().map(String::as_str).collect();
    for (variant, knobs) in [("strong", &SMALL_GAMES[..]), ("published", &published)] {
        let scratch = Scratch::new();
        let before = save_gone_wild(&scratch, variant, knobs);
        for more in [&["--json"][..], &["--plain"]] {
            let args = ["resume", "wild.safetensors", "--steps", "100000", "--device", "cpu"];
            let output = scratch.run(&[&args[..], more].concat());
            let (said, told) = (stderr(&output), common::stdout(&output));
            assert_eq!(output.status.code(), Some(1), "{variant}: {said}");
            assert!(
                said.starts_with("error: training diverged") && said.contains("--set lr="),
                "{variant}: {said}"
            );
            assert_eq!(std::fs::read(scratch.path("wild.safetensors")).unwrap(), before, "{variant}");
            if more == ["--json"] {
                let told = common::records(&told);
                let done = summary(&told);
                assert_eq!(
                    (&done["ended_by"], &done["file"]),
                    (&"diverged".into(), &Value::Null),
                    "{variant}"
                );
                assert_eq!(of_kind(&told, "notice").last().unwrap()["level"], "error", "{variant}");
                assert!(of_kind(&told, "file_saved").is_empty(), "{variant}");
            } else {
                let sums_up = format!("backgammon / {variant}, seed 1: training diverged.");
                assert!(told.contains(&sums_up) && told.contains("\n  did "), "{told}");
            }
        }
    }
}
