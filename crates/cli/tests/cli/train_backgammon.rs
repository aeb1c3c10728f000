//! Training backgammon as people and scripts do it: the built binary, its exit status, its words and its files.

use crate::common::*;
use serde_json::Value;

#[test]
fn a_goal_that_is_not_reached_leaves_the_end_to_the_other_budget() {
    // So few games teach nobody that much.
    let done = Scratch::new().summary(format!("train backgammon --until-solved --games 24 {SMALL_GAMES}"));
    assert_eq!((&done["ended_by"], &done["solved"]), (&"steps".into(), &Value::Null));
    let room = run::room("backgammon").unwrap();
    let goal = room.variants()[0].goal.expect("a goal in points against a baseline");
    assert!(done["test"][goal.column].as_f64().unwrap() < goal.at);
}

#[test]
fn what_does_not_apply_is_refused_with_what_would_do() {
    let scratch = Scratch::new();
    for (more, words) in [
        ("--env CartPole-v1", "strong, published"),
        ("--set gamma=0.9", "lambda"),
        ("--set lr=9", "out of range"),
        ("--set hidden=17", "multiples of 16"),
    ] {
        scratch.refused(format!("train backgammon --seconds 1 {more}"), 2, words);
    }
    scratch.write("junk.safetensors", "not a checkpoint at all");
    scratch.refused("resume junk.safetensors", 1, "no Hothouse checkpoint");
    scratch.refused("solve backgammon", 2, "hothouse train backgammon");
}

#[test]
fn backgammon_can_end_when_the_agent_reaches_its_goal() {
    let scratch = Scratch::new();
    // Quick to learn on one core; were it not, it would end all the same.
    let quick = "--set hidden=32 --set games=64 --set batch=128 --set lr=0.003";
    let told = scratch.records(format!("train backgammon --until-solved --steps 40000 {quick}"));
    let done = summary(&told);
    assert_eq!(done["ended_by"], "solved");
    let reached = of_kind(&told, "solved")[0];
    assert_eq!((&reached["goal"], &reached["progress"]), (&0.4.into(), &done["solved"]));
    // At the end of the round in which the test ended that reached it, and before the next one was due.
    let tests = of_kind(&told, "test");
    let scores: Vec<f64> = tests.iter().map(|test| test["linear_points"].as_f64().unwrap()).collect();
    assert!(*scores.last().unwrap() >= 0.4, "{scores:?}");
    // Each test that reached the goal had one attempt to confirm it, and the last attempt alone did.
    let confirmed: Vec<bool> = of_kind(&told, "confirmation").iter().map(|attempt| attempt["confirmed"] == true).collect();
    assert_eq!(confirmed.len(), scores.iter().filter(|score| **score >= 0.4).count(), "{scores:?}");
    let (last, before) = confirmed.split_last().unwrap();
    assert!(*last && !before.contains(&true), "{confirmed:?}");
    assert!(done["progress"]["games"].as_u64().unwrap() < 40_000);
}

/// A save whose weights are numbers still, of which the next round makes none.
fn save_gone_wild(scratch: &Scratch, variant: &str, knobs: &str) -> Vec<u8> {
    let args = format!("train backgammon --variant {variant} --steps 12 --device cpu {knobs}");
    scratch.records(format!("{args} --save wild.safetensors"));
    let mut parts = testkit::apart(&scratch.bytes("wild.safetensors"));
    parts.set_extreme_weights();
    scratch.write("wild.safetensors", parts.together());
    scratch.bytes("wild.safetensors")
}

#[test]
fn a_learner_that_diverged_says_so_sums_up_and_leaves_the_save_alone() {
    for (variant, knobs) in [("strong", SMALL_GAMES), ("published", SMALL_PUBLISHED)] {
        let scratch = Scratch::new();
        let before = save_gone_wild(&scratch, variant, knobs);
        let diverged = |format: &str| {
            let args = format!("resume wild.safetensors --steps 100000 --device cpu {format}");
            let output = scratch.run(args);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{variant}: {said}");
            let is_clear = said.starts_with("error: training diverged") && said.contains("--set lr=");
            assert!(is_clear, "{variant}: {said}");
            assert_eq!(scratch.bytes("wild.safetensors"), before, "{variant}");
            stdout(&output)
        };
        let told = records(&diverged("--json"));
        let done = summary(&told);
        assert_eq!((&done["ended_by"], &done["file"]), (&"diverged".into(), &Value::Null), "{variant}");
        assert_eq!(of_kind(&told, "notice").last().unwrap()["level"], "error", "{variant}");
        assert!(of_kind(&told, "file_saved").is_empty(), "{variant}");
        let told = diverged("--plain");
        let sums_up = format!("backgammon / {variant}, seed 1: training diverged.");
        assert!(told.contains(&sums_up) && told.contains("\n  did "), "{told}");
    }
}
