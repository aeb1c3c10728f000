//! Runs of environments that exist at run time only: one with an action of two numbers, one with masks, and one whose rules raise errors.

use crate::point;
use crate::rooms::{self, Trap};
use crate::{answer, train};
use learn::control::Ppo;
use math::Isa;
use run::control::Control;
use run::control::protocol::Touch;
use run::protocol::{Command, Config, Event, Level};
use run::room::Room;
use run::{AnyRun, Host, Run, RunError};
use serde_json::json;
use std::sync::{Arc, Once};
use worlds::control::Kind;

/// Number of the first test environment. Training environments have lower numbers.
const TESTED: u32 = 1 << 31;

fn add() {
    static ADDED: Once = Once::new();
    let trapped = |id, env, episode| rooms::kind(id, &Arc::default(), Some(Trap { env, episode, step: 5 }));
    let kinds =
        || [point::kind(), rooms::kind("Rooms-v0", &Arc::default(), None), trapped("Trap-v0", 9, 1), trapped("Trap-v1", TESTED + 9, 0)];
    ADDED.call_once(|| kinds().into_iter().for_each(|kind: Kind| worlds::control::add(Box::leak(Box::new(kind)))));
}

/// Returns the question for a picture of the default plane, with three rows.
fn picture(run: &dyn AnyRun, width: u32) -> serde_json::Value {
    let axes = &run.variant().about["axes"];
    json!({ "ask": "picture", "width": width, "height": 3, "axes": [axes[0], axes[1]] })
}

fn begin(variant: &str) -> Run<Control> {
    add();
    let knobs = [("envs", 64.0)].map(|(name, value)| (name.to_string(), value.into())).into();
    let config = Config { variant: variant.into(), knobs, ..run::config_of(run::room("control").unwrap()) };
    let mut run = Run::new(config, Host::new(Isa::best())).unwrap();
    run.command(Command::Start).unwrap();
    run
}

#[test]
fn runs_resume_bit_for_bit() {
    for variant in [point::ID, "Rooms-v0"] {
        let (mut whole, mut half) = (begin(variant), begin(variant));
        train(&mut whole, 4);
        train(&mut half, 2);
        let mut resumed = run::restore(&half.save().unwrap(), Host::new(Isa::best())).unwrap();
        resumed.command(Command::Start).unwrap();
        train(&mut *resumed, 4);
        assert_eq!(resumed.digest(), whole.digest(), "{variant}");
    }
}

#[test]
fn two_numbers_are_shown_and_driven() {
    let mut run = begin(point::ID);
    train(&mut run, 1);
    let question = picture(&run, 5);
    let picture = answer(&mut run, question);
    assert_eq!((&picture["channels"], picture["policy"].as_array().unwrap().len()), (&json!(2), 4 * 2 * 15));
    let about = &run.variant().about;
    assert_eq!((&about["numbers"], &about["range"]), (&json!(2), &json!([-2.0, 2.0])));
    let touch = |dt_s: f64, drive| {
        let touch = json!({ "dt_s": dt_s, "cart_force": 0, "tip_force": 0, "drive": drive, "handovers": 0, "singles": 0 });
        json!({ "ask": "touch", "touch": touch })
    };
    let before = answer(&mut run, touch(0.0, json!([0.5, -9])))["player"]["state"].clone();
    let stage = answer(&mut run, touch(0.05, json!([0.5, -9])));
    assert_eq!(stage["player"]["action"], json!([0.5, -2.0]));
    for (number, by) in [(0, 0.05), (1, -0.2)] {
        let [from, to] = [&before, &stage["player"]["state"]].map(|state| state[number].as_f64().unwrap());
        assert!((to - from - by).abs() < 1e-9, "{from} to {to}");
    }
    assert_eq!(stage["odds"].as_array().unwrap().len(), 4);
}

/// An episode of `Rooms-v0` terminates only after a forbidden choice.
#[test]
fn the_shown_agent_takes_permitted_choices() {
    let mut run = begin("Rooms-v0");
    let mut steps = 0;
    for _ in 0..200 {
        let touch = json!({ "dt_s": 0.1, "cart_force": 0, "tip_force": 0, "drive": null, "handovers": 0, "singles": 0 });
        let touch = json!({ "ask": "touch", "touch": touch });
        let stage = answer(&mut run, touch);
        assert_eq!(stage["player"]["terminated"], json!(false));
        let odds = stage["odds"].as_array().unwrap().iter().filter(|p| p.as_f64().unwrap() > 0.0).count();
        assert_eq!(odds, 3, "{stage}");
        steps = steps.max(stage["player"]["steps"].as_u64().unwrap());
    }
    assert_eq!(steps, 32);
}

/// Advances the run until it stops. Returns the text of the error notice.
fn failed(run: &mut Run<Control>) -> String {
    let mut errors = Vec::new();
    for _ in 0..100_000 {
        run.advance(0.0);
        errors.extend(run.events().into_iter().filter_map(|event| match event {
            Event::Notice { level: Level::Error, text, next_step } => Some(format!("{text} {next_step}")),
            _ => None,
        }));
        if !run.running() {
            break;
        }
    }
    assert!(!run.running());
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

#[test]
fn an_error_of_the_rules_stops_the_run_and_its_state_can_be_inspected() {
    for (variant, env, episode, iterations) in [("Trap-v0", 9, 1, Some(3)), ("Trap-v1", TESTED + 9, 0, None)] {
        let mut run = begin(variant);
        let text = failed(&mut run);
        let expected =
            format!("Environment {env} failed in step 6 of episode {episode}, line 7: the index 6 is beyond the list of length 6.");
        assert!(text.starts_with(&expected) && text.contains("Correct the rules"), "{text}");
        assert!(matches!(run.failure(), Some(RunError::WorldFailed { .. })));
        assert!(matches!(run.save(), Err(RunError::WorldFailed { .. })), "{variant}");
        assert!(matches!(run.command(Command::Save), Err(RunError::WorldFailed { .. })));
        assert!(run.at_boundary());
        if let Some(iterations) = iterations {
            assert_eq!(run.progress().iteration, iterations, "episode 1 begins after 32 steps, in the third rollout of 16");
            let ppo: &Ppo = run.room().learner().unwrap();
            let (state, steps, episodes) = ppo.environment(9).unwrap();
            assert_eq!((state.len(), steps, episodes), (2, 5, 1));
        }
        let mut touch = |singles: u32| {
            let touch = json!({ "dt_s": 0.5, "cart_force": 0, "tip_force": 0, "drive": null, "handovers": 0, "singles": singles });
            answer(&mut run, json!({ "ask": "touch", "touch": touch }))
        };
        // In the failed state, time stops until a single step is requested.
        for (singles, steps) in [(0, 5), (0, 5), (1, 6), (1, 6)] {
            let stage = touch(singles);
            assert!(stage["failed"].as_str().unwrap().contains("failed in step 6"), "{stage}");
            assert_eq!(stage["player"]["steps"], json!(steps), "{variant}");
        }
        // The run still answers questions, and a reset begins another run.
        let question = picture(&run, 3);
        answer(&mut run, question);
        run.command(Command::Reset { config: None }).unwrap();
        assert_eq!(answer(&mut run, json!({ "ask": "touch", "touch": Touch::default() }))["failed"], json!(null));
        assert!(run.failure().is_none() && run.progress().iteration == 0);
    }
}
