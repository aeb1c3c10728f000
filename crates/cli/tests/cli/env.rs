//! `hothouse env` as another program drives it: the built binary, lines in, lines out.

use crate::common::*;
use serde_json::{Value, json};

const IDS: [&str; 5] = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1"];

/// A conversation with an environment.
struct Played(Talk);

impl Played {
    fn with(id: &str) -> Played {
        Played(Talk::with(format!("env {id} --stdio")))
    }

    fn say(&mut self, line: &str) -> Value {
        values(&self.0.ask(line)).remove(0)
    }

    fn ask(&mut self, request: Value) -> Value {
        self.say(&request.to_string())
    }

    fn end(self) {
        self.0.end();
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value}")).iter().map(|x| x.as_f64().unwrap()).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn one_step_from_gymnasiums_states_gives_what_gymnasium_gave() {
    // Worlds whose observation is their state, so that both can be held to the recording's f64.
    for (id, text) in [
        ("MountainCar-v0", include_str!("../../../../tests/golden/worlds_mountain_car.json")),
        ("MountainCarContinuous-v0", include_str!("../../../../tests/golden/worlds_mountain_car_continuous.json")),
    ] {
        let golden: Value = serde_json::from_str(text).unwrap();
        let mut talk = Played::with(id);
        for e in golden["episodes"].as_array().unwrap() {
            let flag = |name: &str, t: usize| e[name].as_str().unwrap().as_bytes()[t] == b'1';
            let first_step = e["first_step"].as_u64().unwrap() as usize;
            for t in (0..e["actions"].as_array().unwrap().len()).step_by(7) {
                let begun = talk.ask(json!({"reset": {"state": e["states"][t], "elapsed": first_step + t}}));
                assert_eq!(begun, json!({"obs": e["states"][t]}), "{id}");
                let action = &e["actions"][t];
                let action = if action.is_f64() { json!([action]) } else { action.clone() };
                let step = talk.ask(json!({ "action": action }));
                let (obs, expected) = (numbers(&step["obs"]), numbers(&e["states"][t + 1]));
                assert!(obs.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{id}: {step}");
                let reward = step["reward"].as_f64().unwrap() - e["rewards"][t].as_f64().unwrap();
                assert!(reward.abs() < 1e-9, "{id}: {step}");
                assert_eq!(step["terminated"], flag("terminated", t), "{id}: {step}");
                assert_eq!(step["truncated"], flag("truncated", t), "{id}: {step}");
            }
        }
        talk.end();
    }
}

#[test]
fn every_environment_plays_episodes_from_seeds() {
    for id in IDS {
        let mut talk = Played::with(id);
        let first = talk.ask(json!({"reset": {"seed": 1}}));
        assert_eq!(keys(&first), ["obs"], "{id}");
        let range = matches!(id, "Pendulum-v1" | "MountainCarContinuous-v0");
        let action = if range { json!({"action": [0.3]}) } else { json!({"action": 1}) };
        let mut steps = 0;
        loop {
            let step = talk.ask(action.clone());
            steps += 1;
            assert_eq!(keys(&step), ["obs", "reward", "terminated", "truncated"], "{id}");
            assert_eq!(numbers(&step["obs"]).len(), numbers(&first["obs"]).len(), "{id}");
            if step["terminated"] == true || step["truncated"] == true {
                break;
            }
            assert!(steps < 1000, "{id}: no end");
        }
        // After the end there is nothing to step, and a reset begins the same episode again.
        let over = talk.ask(action.clone());
        assert!(over["error"].as_str().unwrap().contains("reset"), "{id}: {over}");
        assert_eq!(talk.ask(json!({"reset": {"seed": 1}})), first, "{id}");
        assert_ne!(talk.ask(json!({"reset": {"seed": 2}})), first, "{id}");
        talk.end();
    }
}

/// Lines that no environment takes, whatever its actions are.
const BAD: [&str; 22] = [
    "",
    "   ",
    "step",
    "{",
    "[]",
    "null",
    "{}",
    r#"{"acton":1}"#,
    r#"{"reset":{}}"#,
    r#"{"reset":1}"#,
    r#"{"reset":{"seed":-1}}"#,
    r#"{"reset":{"seed":4294967296}}"#,
    r#"{"reset":{"seed":1,"state":[0,0,0,0]}}"#,
    r#"{"reset":{"sed":1}}"#,
    r#"{"reset":{"elapsed":3}}"#,
    r#"{"reset":{"state":[0,0,0],"elapsed":0}}"#,
    r#"{"reset":{"state":[0,"a"],"elapsed":0}}"#,
    r#"{"reset":{"state":[1e300,1e300],"elapsed":0}}"#,
    r#"{"reset":{"state":[0,0],"elapsed":500}}"#,
    r#"{"reset":{"state":[0,0,0,0],"elapsed":500}}"#,
    r#"{"reset":{"seed":2},"action":1}"#,
    r#"{"reset":{"seed":2}} {"action":1}"#,
];

#[test]
fn a_bad_line_is_answered_and_changes_nothing() {
    for (id, good, bad_actions) in [
        ("CartPole-v1", r#"{"action":1}"#, &["2", "-1", "1.5", "[1]", "\"left\"", "null", "1e400"][..]),
        ("Pendulum-v1", r#"{"action":[-0.7]}"#, &["0.3", "[]", "[1,2]", "[\"a\"]", "[1e300]", "{}"]),
    ] {
        let (mut troubled, mut calm) = (Played::with(id), Played::with(id));
        let early = troubled.say(good);
        assert!(early["error"].as_str().unwrap().contains("reset"), "{early}");
        let mut bad: Vec<String> = bad_actions.iter().map(|a| format!("{{\"action\":{a}}}")).collect();
        bad.extend(BAD.iter().chain(&[&*"[".repeat(10_000)]).map(|line| line.to_string()));
        for talk in [&mut troubled, &mut calm] {
            talk.say(r#"{"reset":{"seed":5}}"#);
            talk.say(good);
        }
        for line in &bad {
            let answer = troubled.say(line);
            assert_eq!(keys(&answer), ["error"], "{id}: {line} -> {answer}");
            let error = answer["error"].as_str().unwrap();
            let step = [r#"send {"reset""#, "give", "choose", "let fewer"];
            assert!(step.iter().any(|s| error.contains(s)), "{id}: no next step for {line}: {error}");
        }
        assert_eq!(troubled.say(good), calm.say(good), "{id}");
        troubled.end();
        calm.end();
    }
}

#[test]
fn what_cannot_be_driven_is_described_or_refused_with_what_can() {
    let scratch = Scratch::new();
    let said = scratch.refused("env Pong-v5 --stdio", 2, "");
    assert!(said.starts_with("error: ") && IDS.iter().all(|id| said.contains(id)), "{said}");
    assert_eq!(scratch.run("env").status.code(), Some(2));

    let said = scratch.told("env --help");
    assert!(IDS.iter().all(|id| said.contains(id)), "{said}");
    for word in [r#"{"reset":{"seed":1}}"#, r#""elapsed":0"#, r#"{"action":[0.3]}"#, r#"{"error":"#] {
        assert!(said.contains(word), "the help does not say {word}");
    }
    for id in IDS {
        let said = scratch.told(format!("env {id}"));
        assert!(said.contains(id) && said.contains("truncated"), "{said}");
    }
}
