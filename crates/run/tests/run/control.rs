//! Tests of control only: frames of many environments, the single environment that a user can drive, and pictures.

use crate::common::*;
use run::Run;
use run::control::Control;
use run::control::protocol::{Environment, Frame, PlanView, Round, Stage, Touch};
use run::protocol::{Command, Config, TensorView};
use run::{AnyRun, RunError};
use serde_json::json;

fn cart_pole(seed: u32) -> Config {
    small("control", "CartPole-v1", seed)
}

fn control(config: Config) -> Run<Control> {
    Run::new(config, host()).unwrap()
}

/// Returns the description of every environment, with a config of default knobs.
fn environments() -> Vec<(Environment, Config)> {
    let of = |variant: run::protocol::Variant| {
        let config = Config { variant: variant.id.to_string(), ..run::config_of(room("control")) };
        (serde_json::from_value(variant.about).unwrap(), config)
    };
    room("control").variants().into_iter().map(of).collect()
}

fn touch(run: &mut dyn AnyRun, touch: Touch) -> Stage {
    // JSON has neither infinities nor NaN.
    let number = |x: f64| if x.is_finite() { x } else { f64::MAX };
    let touch = Touch { dt_s: number(touch.dt_s), drive: touch.drive.map(|drive| drive.into_iter().map(number).collect()), ..touch };
    ask(run, json!({ "ask": "touch", "touch": touch })).unwrap()
}

fn floats(bytes: &serde_json::Value) -> Vec<f32> {
    let bytes: Vec<u8> = serde_json::from_value(bytes.clone()).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// Returns the question for a picture of the default plane.
fn question(run: &dyn AnyRun, width: u32, height: u32) -> serde_json::Value {
    let axes = &run.variant().about["axes"];
    json!({ "ask": "picture", "width": width, "height": height, "axes": [axes[0], axes[1]] })
}

struct Picture {
    width: u32,
    channels: u32,
    policy: Vec<f32>,
    values: Vec<f32>,
}

fn picture(run: &mut dyn AnyRun, width: u32, height: u32) -> Picture {
    let question = question(run, width, height);
    let json: serde_json::Value = ask(run, question).unwrap();
    let whole = |name: &str| json[name].as_u64().unwrap() as u32;
    Picture { width: whole("width"), channels: whole("channels"), policy: floats(&json["policy"]), values: floats(&json["values"]) }
}

#[test]
fn watching_does_not_change_the_weights() {
    let plain = trained(&cart_pole(8), 4);

    let mut watched = control(cart_pole(8));
    watched.command(Command::Start).unwrap();
    let mut now_s = 100.0;
    while watched.progress().iteration < 4 {
        now_s += 7.0;
        watched.advance(now_s);
        touch(&mut watched, Touch { dt_s: 0.05, cart_force: 9.0, tip_force: -1.0, drive: None, ..Touch::default() });
        watched.room().frame();
        watched.room().evaluate(3, 1);
        let nine = question(&watched, 9, 9);
        watched.ask(nine).unwrap();
        watched.ask(json!({ "ask": "networks" })).unwrap();
    }
    assert_eq!(plain.digest(), watched.digest());
}

#[test]
fn frames_contain_recorded_steps() {
    let mut run = control(cart_pole(1));
    run.command(Command::Start).unwrap();
    assert_eq!(run.room().frame().steps, 0, "recording starts at the first frame");
    train(&mut run, 1);
    let frame = run.room().frame();
    let Frame { steps, shown, features, .. } = frame;
    assert_eq!((steps, features), (16, 4));
    let panels = shown.div_ceil(32);
    assert_eq!(frame.observations.len(), (steps * panels * features * 32) as usize);
    assert_eq!(frame.ended.len(), (steps * shown) as usize);
    assert!(frame.observations.iter().all(|v| v.is_finite()));
    assert!(frame.observations.iter().any(|v| *v != frame.observations[0]));
    assert_eq!(run.room().frame().steps, 0, "a frame was returned twice");
    train(&mut run, 12);
    assert_eq!(run.room().frame().steps, 128, "the recording exceeds its limit");
}

#[test]
fn pushed_pole_falls_and_the_episode_restarts() {
    let mut run = begin(&cart_pole(1));
    let shove = Touch { dt_s: 0.02, tip_force: 30.0, ..Touch::default() };
    let steps = (0..200).position(|_| touch(&mut *run, shove.clone()).player.over).expect("30 N on the tip did not tip the pole over");
    assert!(steps < 40);
    let calm = Touch { dt_s: 0.1, ..Touch::default() };
    assert!((0..20).any(|_| !touch(&mut *run, calm.clone()).player.over), "no new episode began");
    // After an invalid `dt_s`, the state is still finite.
    for dt_s in [f64::NAN, f64::INFINITY, -5.0, 1e9] {
        assert!(touch(&mut *run, Touch { dt_s, ..calm.clone() }).player.state.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn manual_player_and_agent_start_from_the_same_state() {
    for (environment, config) in environments() {
        let mut run = begin(&config);
        let mut drive = |action, dt_s| touch(&mut *run, Touch { dt_s, drive: Some(vec![action]), ..Touch::default() });
        let first = drive(f64::NAN, 0.0);
        assert_eq!(first.player, first.rival.unwrap(), "{}", environment.id);
        let longest = (f64::from(environment.step_limit) * environment.step_s / 0.05) as u32 + 10;
        let [low, high] = environment.range;
        let view = (0..longest).map(|i| drive([low, 1e9, high][i as usize % 3], 0.05));
        let view = view.into_iter().find(|view| !view.rounds.is_empty()).expect("no episode ended");
        let (player, rival) = (view.player, view.rival.unwrap());
        assert!(player.over && rival.over && player.steps <= environment.step_limit);
        assert_eq!(view.rounds, [Round { yours: player.total, agents: rival.total }], "{}", environment.id);
        assert_eq!(view.best, Some(rival.total));
        let released = touch(&mut *run, Touch { dt_s: 0.05, ..Touch::default() });
        assert!(released.rival.is_none(), "the rival stayed after release");
    }
}

/// A new round begins if a user gives the controls back and takes them again between two touches.
#[test]
fn handover_begins_a_round() {
    let mut run = begin(&cart_pole(1));
    let mut drive = |handovers, dt_s| touch(&mut *run, Touch { dt_s, drive: Some(vec![0.0]), handovers, ..Touch::default() });
    drive(1, 0.0);
    assert!(drive(1, 0.1).player.steps > 0);
    let next = drive(3, 0.0);
    assert_eq!((next.player.steps, next.handovers), (0, 3));
    assert_eq!(next.player, next.rival.unwrap());
}

#[test]
fn picture_contains_policy_and_value_per_point() {
    for (environment, config) in environments() {
        let config = Config { variant: config.variant, ..cart_pole(1) };
        let mut run = begin(&config);
        let first = picture(&mut *run, 7, 5);
        assert_eq!(first.channels as usize, environment.choices.len().max(1));
        assert_eq!(first.values.len(), 35);
        assert_eq!(first.policy.len(), 35 * first.channels as usize);
        if first.channels > 1 {
            for odds in first.policy.chunks_exact(first.channels as usize) {
                assert!((odds.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{odds:?}");
            }
        }
        run.command(Command::Start).unwrap();
        train(&mut *run, 1);
        assert_ne!(picture(&mut *run, 7, 5).values, first.values, "training did not change the values");
        assert_eq!(picture(&mut *run, 0, u32::MAX).width, 1, "extreme sizes are clamped");
    }
}

#[test]
fn network_plan_contains_all_parameters() {
    let mut run = begin(&cart_pole(1));
    let plan: PlanView = ask(&mut *run, json!({ "ask": "plan" })).unwrap();
    assert_eq!(plan.parameters, plan.nodes.iter().map(|node| node.parameters).sum::<u32>());
    // The plan has two networks with layers of 4, 32 and 32 units. One network has two policy outputs, the other has one value output.
    assert_eq!(plan.parameters, 2 * (5 * 32 + 33 * 32) + 33 * 2 + 33);
    assert!(plan.arena_bytes < plan.unshared_bytes);
}

/// The outputs of the drawn network's last layers must equal the policy's probabilities and the critic's value, which the plans compute.
#[test]
fn drawn_network_agrees_with_the_plans() {
    for knobs in ["shared=0", "shared=1 hidden=96"] {
        for tanh in ["tanh=0", "tanh=1 normalize_observation=1"] {
            let mut run = begin(&with(with(cart_pole(5), knobs), tanh));
            run.command(Command::Start).unwrap();
            settle(&mut *run, 3);
            let stage = touch(&mut *run, Touch::default());
            let networks = value(&mut *run, json!({ "ask": "networks" }));
            let last = |net: usize| floats(&networks[net]["layers"][2]["activations"]);
            let (logits, critic) = (last(0), last(1));
            let sum: f32 = logits.iter().map(|x| x.exp()).sum();
            for (logit, odds) in logits.iter().zip(&stage.odds) {
                assert!((f64::from(logit.exp() / sum) - odds).abs() < 1e-4, "{knobs} {tanh}: {logits:?} {:?}", stage.odds);
            }
            assert!((f64::from(critic[0]) - stage.value).abs() < 1e-3 * stage.value.abs().max(1.0), "{knobs} {tanh}: {critic:?}");
            let policy = &networks[0];
            let stage: Vec<f32> = stage.player.observation.iter().map(|&x| x as f32).collect();
            assert!(tanh != "tanh=0" || floats(&policy["inputs"]) == stage, "the inputs are the observation");
            assert_eq!((&policy["input_names"][2], &policy["output_names"][1]), (&json!("angle (rad)"), &json!("push right")));
            let [first, second] = [0, 1].map(|i| &policy["layers"][i]);
            let (units, listed) = (second["units"].as_u64().unwrap() as usize, floats(&second["activations"]).len());
            assert_eq!(listed, units.min(64));
            assert_eq!((floats(&first["weights"]).len(), floats(&second["gradients"]).len()), (4 * listed, listed * listed));
            // The environment has made no step, so the histograms of activations are those of one state.
            let tensors: Vec<TensorView> = ask(&mut *run, json!({ "ask": "tensors" })).unwrap();
            let of = |name: &str| tensors.iter().find(|tensor| tensor.name == name).unwrap().activations.as_ref();
            let value = of("critic.2.weight").unwrap();
            assert_eq!((value.min, value.max, value.counts.iter().sum()), (critic[0].into(), critic[0].into(), 1));
            let hidden = if knobs.starts_with("shared=1") { "trunk.1.weight" } else { "policy.1.weight" };
            assert_eq!(of(hidden).unwrap().counts.iter().sum::<u32>(), units as u32);
            assert!(of("critic.2.bias").is_none());
        }
    }
}

#[test]
fn evaluation_runs_the_given_episodes_and_is_reproducible() {
    let mut run = control(cart_pole(3));
    run.command(Command::Start).unwrap();
    train(&mut run, 3);
    let first = run.room().evaluate(20, 5);
    assert_eq!((first[3], run.room().evaluate(20, 5)), (Some(20.0), first.clone()));
    assert!(first[1] <= first[0] && first[0] <= first[2], "least, mean, greatest: {first:?}");
    assert_ne!(run.room().evaluate(20, 6), first);
}

#[test]
fn unknown_environment_error_lists_the_known_ones() {
    let config = Config { variant: "Pong".into(), ..cart_pole(1) };
    let error = begin_error(&config);
    assert!(matches!(&error, RunError::UnknownVariant { word: "environment", .. }));
    assert!(clear(&error).contains("CartPole-v1, "), "{error}");
}
