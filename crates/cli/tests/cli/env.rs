//! Tests of `hothouse env` with the built binary.

use crate::common::*;
use serde_json::{Value, json};

const IDS: [&str; 5] = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1"];

/// Client of `hothouse env`.
struct EnvClient(LineClient);

impl EnvClient {
    fn start(id: &str) -> EnvClient {
        EnvClient(LineClient::start(format!("env {id} --stdio")))
    }

    fn ask_line(&mut self, line: &str) -> Value {
        values(&self.0.ask(line)).remove(0)
    }

    fn ask(&mut self, request: Value) -> Value {
        self.ask_line(&request.to_string())
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
fn steps_equal_those_of_gymnasium() {
    // In these environments the observation is the whole state, so states can be compared in f64.
    for (id, text) in [
        ("MountainCar-v0", include_str!("../../../../tests/golden/worlds_mountain_car.json")),
        ("MountainCarContinuous-v0", include_str!("../../../../tests/golden/worlds_mountain_car_continuous.json")),
    ] {
        let golden: Value = serde_json::from_str(text).unwrap();
        let mut client = EnvClient::start(id);
        for e in golden["episodes"].as_array().unwrap() {
            let flag = |name: &str, t: usize| e[name].as_str().unwrap().as_bytes()[t] == b'1';
            let first_step = e["first_step"].as_u64().unwrap() as usize;
            for t in (0..e["actions"].as_array().unwrap().len()).step_by(7) {
                let begun = client.ask(json!({"reset": {"state": e["states"][t], "elapsed": first_step + t}}));
                assert_eq!(begun, json!({"obs": e["states"][t]}), "{id}");
                let action = &e["actions"][t];
                let action = if action.is_f64() { json!([action]) } else { action.clone() };
                let step = client.ask(json!({ "action": action }));
                let (obs, expected) = (numbers(&step["obs"]), numbers(&e["states"][t + 1]));
                assert!(obs.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{id}: {step}");
                let reward = step["reward"].as_f64().unwrap() - e["rewards"][t].as_f64().unwrap();
                assert!(reward.abs() < 1e-9, "{id}: {step}");
                assert_eq!(step["terminated"], flag("terminated", t), "{id}: {step}");
                assert_eq!(step["truncated"], flag("truncated", t), "{id}: {step}");
            }
        }
        client.end();
    }
}

#[test]
fn every_environment_plays_episodes_from_seeds() {
    for id in IDS {
        let mut client = EnvClient::start(id);
        let first = client.ask(json!({"reset": {"seed": 1}}));
        assert_eq!(keys(&first), ["obs"], "{id}");
        let range = matches!(id, "Pendulum-v1" | "MountainCarContinuous-v0");
        let action = if range { json!({"action": [0.3]}) } else { json!({"action": 1}) };
        let mut steps = 0;
        loop {
            let step = client.ask(action.clone());
            steps += 1;
            assert_eq!(keys(&step), ["obs", "reward", "terminated", "truncated"], "{id}");
            assert_eq!(numbers(&step["obs"]).len(), numbers(&first["obs"]).len(), "{id}");
            if step["terminated"] == true || step["truncated"] == true {
                break;
            }
            assert!(steps < 1000, "{id}: no end");
        }
        // A step after the end of an episode is an error. A reset with the same seed repeats the episode.
        let over = client.ask(action.clone());
        assert!(over["error"].as_str().unwrap().contains("reset"), "{id}: {over}");
        assert_eq!(client.ask(json!({"reset": {"seed": 1}})), first, "{id}");
        assert_ne!(client.ask(json!({"reset": {"seed": 2}})), first, "{id}");
        client.end();
    }
}

/// Lines that are invalid in every environment.
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
fn an_invalid_line_gets_an_error_and_changes_nothing() {
    for (id, good, bad_actions) in [
        ("CartPole-v1", r#"{"action":1}"#, &["2", "-1", "1.5", "[1]", "\"left\"", "null", "1e400"][..]),
        ("Pendulum-v1", r#"{"action":[-0.7]}"#, &["0.3", "[]", "[1,2]", "[\"a\"]", "[1e300]", "{}"]),
    ] {
        let (mut tested, mut reference) = (EnvClient::start(id), EnvClient::start(id));
        let early = tested.ask_line(good);
        assert!(early["error"].as_str().unwrap().contains("reset"), "{early}");
        let mut bad: Vec<String> = bad_actions.iter().map(|a| format!("{{\"action\":{a}}}")).collect();
        bad.extend(BAD.iter().chain(&[&*"[".repeat(10_000)]).map(|line| line.to_string()));
        for client in [&mut tested, &mut reference] {
            client.ask_line(r#"{"reset":{"seed":5}}"#);
            client.ask_line(good);
        }
        for line in &bad {
            let answer = tested.ask_line(line);
            assert_eq!(keys(&answer), ["error"], "{id}: {line} -> {answer}");
            let error = answer["error"].as_str().unwrap();
            let step = [r#"send {"reset""#, "pass", "choose", "let fewer"];
            assert!(step.iter().any(|s| error.contains(s)), "{id}: no remedy for {line}: {error}");
        }
        assert_eq!(tested.ask_line(good), reference.ask_line(good), "{id}");
        tested.end();
        reference.end();
    }
}

#[test]
fn long_lines_and_bytes_that_are_no_text_get_one_answer_each() {
    let mut lines = vec![b'['; 3 * LINE_BYTES];
    lines.extend_from_slice(b"\n\xff\xfe\n");
    // Adds a line of the maximum length, then a last line without a line break.
    lines.resize(lines.len() + LINE_BYTES - 1, b' ');
    lines.extend_from_slice(b"\n{\"reset\":{\"seed\":1}}");
    let answers = values(&Scratch::new().stdout_with_input("env CartPole-v1 --stdio", lines));
    assert_eq!(answers.len(), 4);
    assert!(answers[..3].iter().all(|a| a["error"].is_string()), "{answers:?}");
    assert!(answers[0]["error"].as_str().unwrap().contains("longer"));
    assert!(!answers[2]["error"].as_str().unwrap().contains("longer"));
    assert!(answers[3]["obs"].is_array());
}

#[test]
fn environments_are_described_and_unknown_ids_are_errors() {
    let scratch = Scratch::new();
    let message = scratch.fails("env Pong-v5 --stdio", 2, "");
    assert!(message.starts_with("error: ") && IDS.iter().all(|id| message.contains(id)), "{message}");
    assert_eq!(scratch.run("env").status.code(), Some(2));

    let message = scratch.stdout("env --help");
    assert!(IDS.iter().all(|id| message.contains(id)), "{message}");
    for word in [r#"{"reset":{"seed":1}}"#, r#""elapsed":0"#, r#"{"action":[0.3]}"#, r#"{"error":"#] {
        assert!(message.contains(word), "the help lacks {word}");
    }
    for id in IDS {
        let message = scratch.stdout(format!("env {id}"));
        assert!(message.contains(id) && message.contains("truncated"), "{message}");
    }
}

const CATCH: &str = include_str!("../../../worlds/src/control/script/templates/catch.py");

#[test]
fn environment_of_a_file_is_described_and_served() {
    let scratch = Scratch::new();
    scratch.write("catch.py", CATCH);
    let described = scratch.stdout("env catch.py");
    assert!(described.contains("catch.py: Catch") && described.contains("basket, caught"), "{described}");
    let lines = b"{\"reset\":{\"seed\":3}}\n{\"action\":1}\n{\"action\":7}\n";
    let answers = values(&scratch.stdout_with_input("env catch.py --stdio", lines));
    assert_eq!((answers.len(), numbers(&answers[1]["obs"]).len()), (3, 5));
    assert!(answers[2]["error"].is_string(), "{answers:?}");
    scratch.write("taxi.py", include_str!("../../../worlds/src/control/script/templates/taxi.py"));
    let masks = values(&scratch.stdout_with_input("env taxi.py --stdio", b"{\"reset\":{\"seed\":3}}\n{\"action\":0}\n"));
    for answer in &masks {
        let mask = answer["mask"].as_array().unwrap();
        assert!(mask.contains(&true.into()) && mask.contains(&false.into()), "{masks:?}");
    }
    scratch.write("wrong.py", "class World:\n    def reset(self):\n        self.x = 1 +\n");
    scratch.fails("env wrong.py --stdio", 2, "line 3");
    scratch.fails("env none.py", 1, "none.py");
}

#[test]
fn goal_of_a_file_ends_a_run_and_is_proposed_if_it_is_missing() {
    let scratch = Scratch::new();
    let text = "class World:\n    actions = 2\n    solved = 0.1\n    def reset(self):\n        self.x = 0\n    def step(self, action):\n\
                \x20       return 0.2 * min(1, 1 + action), True\n    def observe(self):\n        return [self.x]\n";
    scratch.write("solved.py", text);
    let solved = scratch.stdout("train control --world solved.py --until-solved --steps 2e6 --plain");
    assert!(solved.contains("  solved at "), "{solved}");
    scratch.write("endless.py", text.replace("    solved = 0.1\n", ""));
    let endless = scratch.stdout("train control --world endless.py --until-solved --steps 2000 --plain");
    assert!(endless.contains("cannot end this run. Write a goal such as `solved = 0.9` in the class. Stop it with"), "{endless}");
}

#[test]
fn run_in_a_file_is_trained_tested_and_resumed() {
    let scratch = Scratch::new();
    scratch.write("catch.py", CATCH);
    scratch.stdout("train control --world catch.py --seed 3 --steps 20_000 --save run.safetensors --plain");
    // The checkpoint contains the Python file, so the file itself is not needed.
    std::fs::remove_file(scratch.path("catch.py")).unwrap();
    let tested = scratch.stdout("eval run.safetensors --episodes 20");
    assert!(tested.contains("control / own, seed 3") && tested.contains(": test "), "{tested}");
    scratch.stdout("resume run.safetensors --steps 50_000 --plain");
    scratch.write("catch.py", CATCH);
    let swept = scratch.stdout("sweep control --world catch.py --knob lr=1e-3,3e-3 --seeds 1 --steps 10_000");
    assert!(swept.contains("--variant own --data catch.py --set lr="), "{swept}");
    scratch.fails("train control --variant CartPole-v1 --world catch.py", 2, "built-in environment");
    scratch.fails("train control --variant own", 2, "needs its file");
    scratch.fails("play control catch.py", 2, "needs a terminal");
    scratch.fails("play control run.safetensors", 2, "no Python file");
}
