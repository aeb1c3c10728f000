//! Tests of training backgammon: exit status, output and files.

use crate::common::*;
use serde_json::Value;

#[test]
fn an_unreached_goal_leaves_the_end_to_the_other_limit() {
    // An agent cannot reach the goal after only 24 games.
    let done = Scratch::new().summary(format!("train backgammon --until-solved --games 24 {SMALL_GAMES}"));
    assert_eq!((&done["ended_by"], &done["solved"]), (&"steps".into(), &Value::Null));
    let room = run::room("backgammon").unwrap();
    let goal = room.variants()[0].goal.expect("a goal in points against a baseline");
    assert!(done["test"][goal.column].as_f64().unwrap() < goal.at);
}

#[test]
fn errors_name_the_valid_values() {
    let scratch = Scratch::new();
    for (more, words) in [
        ("--env CartPole-v1", "strong, published"),
        ("--set gamma=0.9", "lambda"),
        ("--set lr=9", "out of range"),
        ("--set hidden=17", "multiples of 16"),
    ] {
        scratch.fails(format!("train backgammon --seconds 1 {more}"), 2, words);
    }
    scratch.write("junk.safetensors", "not a checkpoint at all");
    scratch.fails("resume junk.safetensors", 1, "no Hothouse checkpoint");
    scratch.fails("solve backgammon", 2, "hothouse train backgammon");
}

#[test]
fn a_run_ends_when_the_agent_reaches_its_goal() {
    let scratch = Scratch::new();
    // These settings reach the goal quickly on one core. If they do not, `--steps` ends the run.
    let quick = "--set hidden=32 --set games=64 --set batch=128 --set lr=0.003";
    let log = scratch.records(format!("train backgammon --until-solved --steps 40000 {quick}"));
    let done = summary(&log);
    assert_eq!(done["ended_by"], "solved");
    let reached = of_kind(&log, "solved")[0];
    assert_eq!((&reached["goal"], &reached["progress"]), (&0.4.into(), &done["solved"]));
    // The last test reached the goal.
    let tests = of_kind(&log, "test");
    let scores: Vec<f64> = tests.iter().map(|test| test["linear_points"].as_f64().unwrap()).collect();
    assert!(*scores.last().unwrap() >= 0.4, "{scores:?}");
    // Every test that reached the goal was followed by a confirmation. Only the last confirmation succeeded.
    let confirmed: Vec<bool> = of_kind(&log, "confirmation").iter().map(|attempt| attempt["confirmed"] == true).collect();
    assert_eq!(confirmed.len(), scores.iter().filter(|score| **score >= 0.4).count(), "{scores:?}");
    let (last, before) = confirmed.split_last().unwrap();
    assert!(*last && !before.contains(&true), "{confirmed:?}");
    assert!(done["progress"]["games"].as_u64().unwrap() < 40_000);
}

/// Saves a checkpoint whose weights are finite, but so large that the next round diverges. Returns the checkpoint.
fn save_diverging(scratch: &Scratch, variant: &str, knobs: &str) -> Vec<u8> {
    let args = format!("train backgammon --variant {variant} --steps 12 --device cpu {knobs}");
    scratch.records(format!("{args} --save wild.safetensors"));
    let mut parts = testkit::apart(&scratch.bytes("wild.safetensors"));
    parts.set_extreme_weights();
    scratch.write("wild.safetensors", parts.together());
    scratch.bytes("wild.safetensors")
}

#[test]
fn divergence_is_reported_and_keeps_the_save() {
    for (variant, knobs) in [("strong", SMALL_GAMES), ("published", SMALL_PUBLISHED)] {
        let scratch = Scratch::new();
        let before = save_diverging(&scratch, variant, knobs);
        let diverged = |format: &str| {
            let args = format!("resume wild.safetensors --steps 100000 --device cpu {format}");
            let output = scratch.run(args);
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{variant}: {message}");
            let is_clear = message.starts_with("error: training diverged") && message.contains("--set lr=");
            assert!(is_clear, "{variant}: {message}");
            assert_eq!(scratch.bytes("wild.safetensors"), before, "{variant}");
            stdout(&output)
        };
        let log = records(&diverged("--json"));
        let done = summary(&log);
        assert_eq!((&done["ended_by"], &done["file"]), (&"diverged".into(), &Value::Null), "{variant}");
        assert_eq!(of_kind(&log, "notice").last().unwrap()["level"], "error", "{variant}");
        assert!(of_kind(&log, "file_saved").is_empty(), "{variant}");
        let log = diverged("--plain");
        let title = format!("backgammon / {variant}, seed 1: training diverged.");
        assert!(log.contains(&title) && log.contains("\n  progress "), "{log}");
    }
}
