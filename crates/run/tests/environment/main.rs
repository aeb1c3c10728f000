//! Tests that a new environment needs only one file (`puck.rs`) and one line ([`add`]): PPO solves the environment, and checkpoints,
//! pictures and manual control work. `own.rs` tests environments that exist at run time only.
//!
//! These tests need their own process. An added environment is a variant of control in the whole process, and the tests in `tests/run`
//! train every variant and compare the variants with golden files.

mod own;
#[path = "../../../worlds/tests/worlds/point.rs"]
mod point;
mod puck;
#[path = "../../../worlds/tests/worlds/rooms.rs"]
mod rooms;

use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Slice};
use math::{Isa, PANEL};
use run::control::env::Env;
use run::control::{Control, TEST_EPISODES};
use run::protocol::{Command, Config};
use run::room::Room;
use run::{AnyRun, Host, Run};
use serde_json::{Value as Json, json};
use std::sync::Once;
use worlds::control::Action;

/// Registers the environment, as an entry in the list of `worlds/src/control/kinds.rs` would do.
fn add() {
    static ADDED: Once = Once::new();
    ADDED.call_once(|| worlds::control::add(&puck::KIND));
}

/// Creates a run of the environment with its default settings and 256 parallel environments.
fn begin(seed: u32) -> Run<Control> {
    add();
    let knobs = [("envs", 256.0)].map(|(name, value)| (name.to_string(), value.into())).into();
    let config = Config { variant: "Puck-v0".into(), seed, knobs, ..run::config_of(run::room("control").unwrap()) };
    Run::new(config, Host::new(Isa::best())).unwrap()
}

/// Advances the run until `iterations` iterations are complete.
fn train(run: &mut dyn AnyRun, iterations: u32) {
    while run.progress().iteration < iterations {
        run.advance(0.0);
    }
}

fn answer(run: &mut dyn AnyRun, question: Json) -> Json {
    serde_json::to_value(run.ask(question).unwrap()).unwrap()
}

#[test]
fn ppo_solves_puck_with_general_settings() {
    add();
    assert_eq!(PpoConfig::preset(&puck::KIND), PpoConfig::general());
    let config = PpoConfig { envs: 256, ..PpoConfig::general() };
    // Some untrained policies score well by chance, so the baseline is the worst of four untrained policies.
    let mut worst = f32::INFINITY;
    let trained = if testkit::all() { 4 } else { 1 };
    for seed in 1..=4 {
        let mut ppo = Ppo::new(&puck::KIND, config.clone(), seed, Isa::best()).unwrap();
        worst = worst.min(ppo.evaluate(TEST_EPISODES, 1).mean);
        if seed > trained {
            continue;
        }
        while ppo.progress().env_steps < 200_000 {
            while !matches!(ppo.advance(), Slice::Ended(_)) {}
        }
        let mean = ppo.evaluate(TEST_EPISODES, 2).mean;
        assert!(f64::from(mean) >= puck::KIND.spec.solved_at, "seed {seed}: {mean}");
    }
    assert!(worst < 60.0, "{worst} without learning");
}

#[test]
fn vectorised_steps_equal_single_environment_steps() {
    for isa in Isa::available() {
        let mut many = (puck::KIND.many)(isa, 3, 0, PANEL);
        let mut twin = (puck::KIND.twin)();
        let mut state = [0.0; 2];
        let (mut reached, mut rewards, mut ended) = ([0.0; 2 * PANEL], [0.0; PANEL], [0; PANEL]);
        for t in 0..1000 {
            let (steps, _) = many.environment(0, &mut state);
            twin.set_state(&state.map(f64::from), steps).unwrap();
            let choice = t % 7 % 3;
            many.step(&[choice as f32; PANEL], &mut reached, &mut rewards, &mut ended);
            let step = twin.step(Action::Choice(choice)).unwrap();
            assert!((f64::from(reached[0]) - twin.state()[0]).abs() < 1e-6, "step {t}");
            assert!((f64::from(rewards[0]) - step.reward).abs() < 1e-6, "step {t}");
            assert_eq!(ended[0] != 0, step.terminated || step.truncated, "step {t}");
        }
    }
}

#[test]
fn puck_is_a_variant_with_goal_and_budget() {
    add();
    let variants = run::room("control").unwrap().variants();
    let variant = variants.iter().find(|variant| variant.id == "Puck-v0").unwrap();
    assert_eq!((&*variant.name, variant.goal.unwrap().at), ("Puck", 90.0));
    assert_eq!(variant.sweep_budget, puck::KIND.steps);
    assert_eq!(variant.about["axes"][1]["name"], "speed");
    assert!(<Control>::knobs("Puck-v0").iter().any(|knob| knob.name == "envs"));
}

#[test]
fn resumed_run_matches_uninterrupted_run_bit_for_bit() {
    let mut whole = begin(4);
    whole.command(Command::Start).unwrap();
    train(&mut whole, 6);
    let mut half = begin(4);
    half.command(Command::Start).unwrap();
    train(&mut half, 3);
    let mut resumed = run::restore(&half.save().unwrap(), Host::new(Isa::best())).unwrap();
    resumed.command(Command::Start).unwrap();
    train(&mut *resumed, 6);
    assert_eq!(resumed.digest(), whole.digest());
}

#[test]
fn frames_pictures_manual_control_and_env_work_for_puck() {
    let mut run = begin(1);
    run.command(Command::Start).unwrap();
    run.room().frame();
    train(&mut run, 1);
    let frame = run.room().frame();
    assert_eq!((frame.features, frame.steps), (2, 16));
    let axes = run.variant().about["axes"].clone();
    let picture = answer(&mut run, json!({ "ask": "picture", "width": 5, "height": 3, "axes": axes }));
    assert_eq!((&picture["width"], &picture["channels"]), (&json!(5), &json!(3)));
    let touch = json!({ "dt_s": 0.1, "cart_force": 0, "tip_force": 0, "drive": [2], "handovers": 1, "singles": 0 });
    let stage = answer(&mut run, json!({ "ask": "touch", "touch": touch }));
    assert_eq!((&stage["player"]["steps"], &stage["player"]["action"]), (&json!(2), &json!([2.0])));
    let mut env = Env::new("Puck-v0").unwrap();
    let first = env.reset(1).unwrap();
    let next = env.step(Action::Choice(2)).unwrap();
    assert!(next.obs[0] > first[0] && !next.terminated);
}
