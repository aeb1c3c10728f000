//! Tests of logic: questions about members, grids and circuits, invalid targets, and the results of seeded runs.

use crate::common::*;
use run::Learner;
use run::logic::Logic;
use run::protocol::{Command, Config, Event};
use run::room::{Room, Saved, Setup};
use run::{AnyRun, Run, config_of};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

fn len(of: &Value) -> usize {
    of.as_array().unwrap().len()
}

fn number(of: &Value) -> usize {
    of.as_u64().unwrap() as usize
}

fn begun(width: u32, height: u32, start: &str, soft: bool) -> Value {
    json!({ "ask": "grid", "width": width, "height": height, "start": start, "seed": 5, "member": 1, "soft": soft })
}

#[test]
fn members_gates_and_circuits_are_described() {
    for variant in &variants("logic") {
        let mut run = trained(&small("logic", variant, 1), 2);
        let shape = value(&mut *run, json!({ "ask": "automaton" }));
        let gates = number(&shape["gates"]);
        let layers: usize = shape["layers"].as_array().unwrap().iter().map(number).sum();
        assert_eq!((layers, number(&shape["parameters"])), (gates, 16 * gates), "{variant}");
        let about = &run.variant().about.clone();
        assert_eq!(shape["target"].is_null(), about["rule"] == true, "{variant}");
        if let Some(target) = shape["target"].as_object() {
            assert_eq!((&target["width"], &target["height"]), (&about["width"], &about["height"]));
            let values: Vec<usize> = target["values"].as_array().unwrap().iter().map(number).collect();
            let most = if about["shows"] == "rgb" { 7 } else { 1 };
            assert!(values.contains(&most) && values.iter().all(|&v| v <= most), "{variant}");
        }

        let all = value(&mut *run, json!({ "ask": "population" }));
        let members = all["members"].as_array().unwrap();
        assert_eq!((members.len(), &all["ended"], &all["perfect"]), (2, &json!(0), &json!(0)), "{variant}");
        assert!(number(&all["best"]) < 2 && members[0]["seed"] != members[1]["seed"]);
        for member in members {
            assert_eq!((&member["state"], &member["updates"]), (&json!("learning"), &json!(4)));
            assert!(member["loss"].as_f64().unwrap() > 0.0 && member["hard_loss"].as_f64().unwrap() > 0.0);
            let (width, height) = (number(&member["picture"]["width"]), number(&member["picture"]["height"]));
            assert_eq!(len(&member["picture"]["values"]), width * height, "{variant}");
        }

        let gates_view = value(&mut *run, json!({ "ask": "gates", "member": 1 }));
        assert_eq!((len(&gates_view["ops"]), len(&gates_view["certainty"])), (gates, 4 * gates));
        let circuit = value(&mut *run, json!({ "ask": "circuit", "member": 1 }));
        assert_eq!((&circuit["equal"], &circuit["updates"]), (&json!(true), &json!(4)), "{variant}");
        assert_eq!(circuit["evaluated"], shape["gates_per_cell"]);
        assert_eq!(len(&circuit["outputs"]), number(&shape["channels"]));
        let inputs = len(&circuit["inputs"]);
        for (i, gate) in circuit["gates"].as_array().unwrap().iter().enumerate() {
            let wires = [&gate["a"], &gate["b"]].map(number);
            assert!(wires.iter().all(|&wire| wire < inputs + i), "a gate comes before its inputs");
        }
        for (format, has) in [("svg", "<svg"), ("json", "hothouse circuit"), ("verilog", "module"), ("rust", "fn step")] {
            let file = value(&mut *run, json!({ "ask": "export", "member": 1, "format": format }));
            assert!(file["text"].as_str().unwrap().contains(has), "{variant} {format}");
            assert!(file["name"].as_str().unwrap().starts_with(variant), "{file}");
        }
        for question in ["gates", "circuit"] {
            assert!(ask_error(&mut *run, json!({ "ask": question, "member": 2 })).contains("0 to 1"));
        }
    }
}

#[test]
fn grids_advance_and_heal_without_changing_training() {
    for variant in &variants("logic") {
        let config = small("logic", variant, 2);
        let (mut plain, mut asked) = (start(&config), start(&config));
        train(&mut *asked, 1);
        asked.advance(0.0);
        let run = &mut *asked;
        assert!(ask_error(run, json!({ "ask": "advance", "steps": 1 })).contains("Begin one"));
        let about = run.variant().about.clone();
        let (width, height) = (number(&about["width"]) as u32 + 5, number(&about["height"]) as u32 + 2);
        for soft in [false, true] {
            let first = value(run, begun(width, height, "random", soft));
            let cells = (width * height) as usize;
            let shown = if about["shows"] == "rgb" { 3 } else { 1 };
            assert_eq!((len(&first["values"]), &first["step"]), (cells, &json!(0)));
            assert_eq!(len(&first["soft"]), if soft { 4 * shown * cells } else { 0 });
            assert_eq!(first, value(run, begun(width, height, "random", soft)), "{variant}");
            let one = value(run, json!({ "ask": "advance", "steps": 3 }));
            value(run, begun(width, height, "random", soft));
            let steps: Vec<Value> = (0..3).map(|_| value(run, json!({ "ask": "advance", "steps": 1 }))).collect();
            assert_eq!(one, steps[2], "{variant}");
            let damage = json!({ "ask": "damage", "x": 2, "y": 1, "radius": 1, "how": "flip" });
            let hit = value(run, damage);
            let differ = |a: &Value, b: &Value| {
                let [a, b] = [a, b].map(|view| view["values"].as_array().unwrap().clone());
                a.iter().zip(&b).filter(|(a, b)| a != b).count()
            };
            assert_eq!(differ(&hit, &one), 5, "{variant}");
            let outside = json!({ "ask": "damage", "x": width, "y": 0, "radius": 1, "how": "blank" });
            assert!(ask_error(run, outside).contains("outside the grid"));
            assert!(ask_error(run, json!({ "ask": "advance", "steps": 100_000 })).contains("at most 1000"));
            assert_eq!(value(run, json!({ "ask": "advance", "steps": 0 }))["values"], hit["values"], "intact");
            let blank = json!({ "ask": "damage", "x": 0, "y": 0, "radius": 99, "how": "blank" });
            let blank = value(run, blank);
            assert_eq!(differ(&blank, &value(run, begun(width, height, "blank", soft))), 0);
        }
        value(run, begun(width, height, "random", false));
        let circuit = value(run, json!({ "ask": "circuit", "member": 1 }));
        let values = value(run, json!({ "ask": "values", "x": 1, "y": 1 }));
        assert_eq!(len(&values["inputs"]), len(&circuit["inputs"]));
        assert_eq!(len(&values["gates"]), len(&circuit["gates"]));
        assert_eq!(values["updates"], circuit["updates"]);
        // The output wires carry the cell's next state.
        let wire = number(&circuit["outputs"][0]);
        let bits: Vec<Value> = [&values["inputs"], &values["gates"]].iter().flat_map(|v| v.as_array().unwrap().clone()).collect();
        if about["asynchronous"] == false {
            let next = value(run, json!({ "ask": "advance", "steps": 1 }));
            let cell = number(&next["values"][(width + 1) as usize]) & 1;
            assert_eq!(number(&bits[wire]), cell, "{variant}");
        }
        assert!(ask_error(run, json!({ "ask": "values", "x": 0, "y": height })).contains("outside the grid"));
        assert!(ask_error(run, begun(0, 4, "random", false)).contains("1 to"));
        assert!(ask_error(run, begun(4096, 4, "random", false)).contains("1 to"));
        // A grid of the same size as the target can start from the target.
        let (width, height) = (number(&about["width"]) as u32, number(&about["height"]) as u32);
        let target = value(run, begun(width, height, "target", false));
        if about["rule"] == false {
            assert_eq!(target["wrong"], 0.0, "{variant}");
        }
        let learned = value(run, begun(width, height, "learned", false));
        assert!(learned["wrong"].is_null() == (about["rule"] == true), "{variant}");

        train(run, 2);
        train(&mut *plain, 2);
        assert_eq!(plain.digest(), run.digest(), "{variant}");
    }
}

#[test]
fn big_grids_are_packed_and_oversized_ones_are_rejected() {
    let mut run = start(&small("logic", "life", 1));
    let big = |width: u32, height: u32| json!({ "ask": "big", "width": width, "height": height, "seed": 3, "member": 0 });
    assert!(ask_error(&mut *run, json!({ "ask": "big_advance", "ms": 1.0 })).contains("Begin one"));
    let first = value(&mut *run, big(70, 9));
    assert_eq!((len(&first["words"]), &first["step"]), (9 * 9, &json!(0)));
    // Before training, every gate copies its first input, so a step changes no cell.
    let next = value(&mut *run, json!({ "ask": "big_advance", "ms": 0.0 }));
    assert_eq!(next["step"], 1);
    for (width, height) in [(0, 8), (8, 70_000)] {
        assert!(ask_error(&mut *run, big(width, height)).contains("1 to 65536"));
    }
    let host = run::Host { memory_bytes: 256 << 20, ..host() };
    let mut tight = run::begin(small("logic", "life", 1), host).unwrap();
    assert!(ask_error(&mut *tight, big(65_536, 65_536)).contains("MB of memory"));
    assert_eq!(value(&mut *run, json!({ "ask": "big_advance", "ms": 0.0 }))["step"], 2, "intact");

    // With another initialization and after some training, the gates change the cells.
    let mut run = trained(&with(small("logic", "life", 1), "init=0.5"), 5);
    let first = value(&mut *run, big(70, 9));
    let next = value(&mut *run, json!({ "ask": "big_advance", "ms": 0.0 }));
    assert!(next["words"] != first["words"]);
}

#[test]
fn cells_per_second_need_an_advancing_clock() {
    fn half_seconds() -> f64 {
        static TICKS: AtomicU64 = AtomicU64::new(0);
        0.5 * TICKS.fetch_add(1, Relaxed) as f64
    }
    let mut run = start(&small("logic", "life", 1));
    value(&mut *run, json!({ "ask": "big", "width": 64, "height": 8, "seed": 3, "member": 0 }));
    let clocks: [(fn() -> f64, f64); 2] = [(|| 5.0, 0.0), (half_seconds, 1024.0)];
    for (i, (clock, cells_per_s)) in clocks.into_iter().enumerate() {
        run.set_clock(clock);
        let view = value(&mut *run, json!({ "ask": "big_advance", "ms": 0.0 }));
        assert_eq!((&view["step"], view["cells_per_s"].as_f64()), (&json!(i + 1), Some(cells_per_s)));
    }
}

#[test]
fn completed_test_has_no_more_slices() {
    let mut run = Run::<Logic>::new(small("logic", "life", 1), host()).unwrap();
    let room = run.room();
    assert_eq!(room.advance_test().unwrap(), None, "a test result without a test");
    for _ in 0..2 {
        room.begin_test();
        let values = loop {
            if let Some(values) = room.advance_test().unwrap() {
                break values;
            }
        };
        assert_eq!(values.len(), Logic::SCHEMA.tests.len());
        assert_eq!(room.advance_test().unwrap(), None, "the completed test returned a second result");
    }
}

#[test]
fn confirmed_member_is_the_best() {
    let config = small("logic", "life", 1);
    let mut run = Run::<Logic>::new(config.clone(), host()).unwrap();
    let tensors = run.room().population().parts();
    for confirmed in 0..2 {
        let member = &run.room().population().members()[confirmed];
        let notes = json!({ "verdicts": [[member.seed, member.trainer.updates(), 1.0]] });
        let saved = Saved { tensors: &tensors, notes: &notes };
        let mut room = Logic::restore(Setup::new(&config, &config.knobs, host()), saved).unwrap();
        let question = serde_json::from_value(json!({ "ask": "population" })).unwrap();
        let answer = room.ask(question).unwrap();
        assert_eq!(serde_json::to_value(&answer).unwrap()["best"], confirmed);
    }
}

#[test]
fn invalid_targets_are_rejected_and_the_run_continues() {
    for (variant, knob, text, next) in [
        ("own", "target", "", "draw rows"),
        ("own", "target", "....../..x.../....../......", "use . (or 0)"),
        ("rule", "rule", "B3S23", "B3/S23"),
    ] {
        let mut run = trained(&small("logic", variant, 1), 1);
        let digest = run.digest();
        let config = with_text(run.config().clone(), knob, text);
        for error in
            [run::validate(&config, host()).unwrap_err(), run.command(Command::Reset { config: Some(config.clone()) }).unwrap_err()]
        {
            assert!(clear(&error).contains(next), "{text}: {error}");
        }
        assert_eq!(run.digest(), digest);
        train(&mut *run, 2);
    }
    // A larger target needs a greater value of the knob `steps`.
    let config = with(small("logic", "own", 1), &format!("target={}", vec![".#".repeat(10); 20].join("/")));
    assert!(clear(&run::validate(&config, host()).unwrap_err()).contains("steps = 10"));
    run::validate(&with(config, "steps=10"), host()).unwrap();
}

/// Trains until the run is solved. Fails if the run needs more than `most` updates.
fn train_until_solved(config: &Config, most: f64) -> Box<dyn AnyRun> {
    let mut run = start(config);
    work(&mut *run, |run| {
        let updates = run.progress().counts[0];
        assert!(updates <= most, "{} is not perfect after {updates} updates", config.variant);
        run.solved().is_some()
    });
    run
}

#[test]
fn life_is_learned_and_its_circuit_equals_the_rule() {
    let config = Config { variant: "life".into(), ..config_of(room("logic")) };
    let mut run = train_until_solved(&config, 8000.0);
    let events = Events::drain(&mut *run);
    let test = events.tests().pop().unwrap();
    let column = |name: &str| test.values[run.schema().test(name).unwrap()];
    assert_eq!((column("perfect"), column("larger")), (Some(1.0), Some(1.0)));
    // The test covers all neighbourhoods, so it needs no confirmation.
    let last = *events.confirmations().last().unwrap();
    assert_eq!((&last.progress, last.value, run.attempts()), (&test.progress, column("perfect"), 0));
    assert!(events.0.iter().any(|event| matches!(event, Event::Solved { goal: 1.0, .. })));
    let all = value(&mut *run, json!({ "ask": "population" }));
    let best = all["best"].clone();
    assert_eq!(all["members"][number(&best)]["state"], "perfect");
    let circuit = value(&mut *run, json!({ "ask": "circuit", "member": best }));
    assert_eq!((&circuit["perfect"], &circuit["equal"], &circuit["verified"]), (&json!(true), &json!(true), &json!(512)));
    value(&mut *run, json!({ "ask": "grid", "width": 31, "height": 17, "start": "random", "seed": 1, "member": best, "soft": false }));
    for _ in 0..20 {
        assert_eq!(value(&mut *run, json!({ "ask": "advance", "steps": 5 }))["wrong"], 0.0);
    }
    // The run remains solved while other members continue to train.
    let at = run.progress().iteration;
    train(&mut *run, at + 3);
    let again = resume(&run.save().unwrap());
    assert!(again.solved().is_some());
}
