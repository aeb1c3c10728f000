//! Tests of the cube: questions, searches in slices, invalid stickers, tests over all states, and the result of a seeded run.

use crate::common::*;
use run::cube::Cube;
use run::protocol::{Command, Config, Progress, Row};
use run::room::Room;
use run::{AnyRun, Run, RunError, config_of};
use serde_json::{Value, json};

const SOLVED: &str = "UUUURRRRFFFFDDDDLLLLBBBB";
const SOLVED_3: &str = "UUUUUUUUURRRRRRRRRFFFFFFFFFDDDDDDDDDLLLLLLLLLBBBBBBBBB";

fn solved_of(variant: &str) -> &'static str {
    if variant.starts_with('3') { SOLVED_3 } else { SOLVED }
}

fn moves(view: &Value) -> Vec<String> {
    view["moves"].as_array().unwrap().iter().map(|m| m.as_str().unwrap().to_string()).collect()
}

fn beam(width: u32) -> Value {
    json!({ "search": "beam", "width": width, "weight": 1.0, "nodes": 1_000_000 })
}

fn solving(facelets: &str, method: Value) -> Value {
    json!({ "ask": "solve", "facelets": facelets, "method": method })
}

/// Returns the run's search events since the previous call.
fn searches(run: &mut dyn AnyRun) -> Vec<Value> {
    let events = room_events(run);
    assert!(events.iter().all(|event| event["kind"] == "search"));
    events
}

/// Begins a search and advances the run to the search's end. Returns the last view of the search.
fn solve(run: &mut dyn AnyRun, facelets: &str, method: Value) -> Value {
    let mut view = value(run, solving(facelets, method));
    let mut slices = 0;
    while view["done"] == false {
        assert!(run.advance(0.0), "the search stopped early");
        let events = searches(run);
        assert!(events.len() == 1 && events[0]["number"] == view["number"], "{events:?}");
        assert!(events[0]["nodes"].as_f64() >= view["nodes"].as_f64());
        view = events[0].clone();
        slices += 1;
        assert!(slices < 100_000);
    }
    assert!(view["solution"].is_null() != view["failure"].is_null(), "{view}");
    view
}

/// Returns the reason and the next step of a failed search.
fn failure(view: &Value) -> String {
    let [text, next] = ["text", "next_step"].map(|part| view["failure"][part].as_str().unwrap());
    format!("{text}. {next}")
}

/// Returns the facelets after the moves. Each move is a separate question.
fn turned(run: &mut dyn AnyRun, facelets: &str, moves: &[String]) -> String {
    moves.iter().fold(facelets.to_string(), |facelets, by| {
        let there = value(run, json!({ "ask": "turn", "facelets": facelets, "moves": by }));
        there["facelets"].as_str().unwrap().to_string()
    })
}

#[test]
fn summaries_of_deep_q_learning_name_the_techniques_of_their_presets() {
    let variants = Cube::variants();
    let summary = |id: &str| variants.iter().find(|variant| variant.id == id).map(|variant| variant.summary.to_string()).unwrap();
    let techniques = |id: &str| summary(id).split_once("Techniques: ").map(|(_, names)| names.to_string());
    let averaging = "Polyak averaging of the target network.";
    assert_eq!(techniques("2x2x2-dqn"), Some(format!("dueling heads, prioritised replay, {averaging}")));
    assert_eq!(techniques("2x2x2-dqn-published").as_deref(), Some("double Q-learning, dueling heads."));
    let later = format!("double Q-learning, dueling heads, layer norm, prioritised replay, 3-step returns, {averaging}");
    assert_eq!(techniques("2x2x2-dqn-later"), Some(later));
    assert_eq!(techniques("2x2x2"), None);
}

#[test]
fn look_scramble_and_draw_describe_states() {
    for variant in &variants("cube") {
        let mut run = begin(&small("cube", variant, 1));
        let (solved, exact) = (solved_of(variant), variant.starts_with('2'));
        let look = |run: &mut dyn AnyRun, facelets: &str| value(run, json!({ "ask": "look", "facelets": facelets }));
        let view = look(&mut *run, solved);
        assert_eq!((&view["solved"], &view["facelets"]), (&true.into(), &solved.into()));
        let actions: Vec<&str> = view["actions"].as_array().unwrap().iter().map(|a| a["action"].as_str().unwrap()).collect();
        match exact {
            true => assert_eq!(actions.join(" "), "R R' U U' F F'"),
            false => assert_eq!(actions.join(" "), "U U' R R' F F' D D' L L' B B'"),
        }
        let expected = if exact { json!(0) } else { json!(null) };
        assert_eq!(view["distance"], expected);
        let policy = variant.ends_with("last");
        assert_eq!(view["value"], if policy { json!(null) } else { json!(0.0) });

        let there = value(&mut *run, json!({ "ask": "scramble", "moves": 7, "seed": 5 }));
        assert_eq!(moves(&there).len(), 7);
        assert_eq!(turned(&mut *run, solved, &moves(&there)), there["facelets"].as_str().unwrap());
        let view = look(&mut *run, there["facelets"].as_str().unwrap());
        assert_eq!(view["distance"], there["distance"]);
        let scores: Vec<f64> = view["actions"].as_array().unwrap().iter().map(|a| a["score"].as_f64().unwrap()).collect();
        if policy {
            assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{scores:?}");
        }
        // No action has a better score than the best action.
        let better = |a: f64, b: f64| if policy { a > b } else { a < b };
        let best = view["best"].as_u64().unwrap() as usize;
        assert!(scores.iter().all(|&score| !better(score, scores[best])), "{view}");

        for distance in [0, 1, 9] {
            let drawn = value(&mut *run, json!({ "ask": "draw", "distance": distance, "seed": 3 }));
            assert_eq!(moves(&drawn).len(), distance);
            assert_eq!(turned(&mut *run, solved, &moves(&drawn)), drawn["facelets"].as_str().unwrap());
            let expected = if exact { json!(distance) } else { json!(null) };
            assert_eq!(drawn["distance"], expected);
            if let Some(neighbours) = look(&mut *run, drawn["facelets"].as_str().unwrap())["actions"].as_array()
                && exact
            {
                for neighbour in neighbours {
                    assert_eq!(neighbour["distance"].as_i64().unwrap().abs_diff(distance as i64), 1);
                }
            }
        }
        let one = |seed| json!({ "ask": "draw", "distance": 9, "seed": seed });
        let [a, b] = [1, 2].map(|seed| value(&mut *run, one(seed)));
        assert!(a != b && a == value(&mut *run, one(1)));
        let far = json!({ "ask": "draw", "distance": 15, "seed": 1 });
        match exact {
            true => assert!(ask_error(&mut *run, far).contains("0 to 14")),
            false => assert_eq!(moves(&value(&mut *run, far)).len(), 15),
        }
        assert!(ask_error(&mut *run, json!({ "ask": "scramble", "moves": 1001, "seed": 1 })).contains("0 to 1000"));
    }
}

#[test]
fn all_faces_turn_and_colour_letters_are_free() {
    for variant in ["2x2x2", "3x3x3"] {
        let mut run = begin(&small("cube", variant, 1));
        let mut turn = |facelets: &str, moves: &str| value(&mut *run, json!({ "ask": "turn", "facelets": facelets, "moves": moves }));
        let solved = solved_of(variant);
        for face in ["U", "R", "F", "D", "L", "B"] {
            let once = turn(solved, face);
            assert_ne!(once["facelets"], solved, "{face}");
            assert_eq!(turn(once["facelets"].as_str().unwrap(), &format!("{face}2 {face}"))["facelets"], solved);
            if variant == "2x2x2" {
                assert_eq!(once["distance"], 1, "{face}");
            }
        }
        let painted: String = solved.chars().map(|c| "wrgyob".as_bytes()["URFDLB".find(c).unwrap()] as char).collect();
        let there = turn(&painted, "R U2 D' L F B'");
        let letters = there["facelets"].as_str().unwrap();
        assert!(letters.chars().all(|c| "WRGYOB".contains(c)), "{letters}");
        let back = turn(letters, "B F' L' D U2 R'");
        assert_eq!(back["facelets"], painted.to_uppercase());
        assert_eq!(moves(&back), ["B", "F'", "L'", "D", "U2", "R'"]);
    }
}

#[test]
fn searches_run_in_slices_and_do_not_change_training() {
    for variant in &variants("cube") {
        let config = small("cube", variant, 2);
        let (mut plain, mut asked) = (start(&config), start(&config));
        train(&mut *asked, 1);
        asked.advance(0.0);
        let solved = solved_of(variant);
        // Within an iteration, a search uses the weights from the beginning of the iteration.
        let drawn = value(&mut *asked, json!({ "ask": "draw", "distance": 3, "seed": 8 }));
        let facelets = drawn["facelets"].as_str().unwrap();
        let view = solve(&mut *asked, facelets, beam(64));
        let solution = &view["solution"];
        assert_eq!(turned(&mut *asked, facelets, &moves(solution)), solved, "{variant}");
        let values = solution["values"].as_array().unwrap();
        match variant.ends_with("last") {
            true => assert!(values.is_empty()),
            false => assert_eq!((values.len(), &values[values.len() - 1]), (moves(solution).len() + 1, &json!(0.0))),
        }
        if variant.starts_with('2') {
            assert_eq!(solution["optimal"], 3);
            let exact = json!({ "search": "exact", "width": 1, "weight": 1.0, "nodes": 1 });
            let far = value(&mut *asked, json!({ "ask": "draw", "distance": 13, "seed": 8 }));
            let view = solve(&mut *asked, far["facelets"].as_str().unwrap(), exact);
            assert_eq!((moves(&view["solution"]).len(), &view["solution"]["optimal"]), (13, &json!(13)));
        }
        // A new search replaces the search in progress. A cancelled search reports nothing more.
        let first = value(&mut *asked, solving(facelets, beam(4)));
        let second = value(&mut *asked, solving(facelets, beam(4)));
        asked.advance(0.0);
        assert!(first["number"] != second["number"] && searches(&mut *asked)[0]["number"] == second["number"]);
        assert!(value(&mut *asked, solving(facelets, beam(4)))["done"] == false);
        assert!(value(&mut *asked, json!({ "ask": "cancel" })).is_null());
        for _ in 0..5 {
            asked.advance(0.0);
        }
        assert!(searches(&mut *asked).is_empty());
        let still = solve(&mut *asked, solved, beam(1));
        assert_eq!((&still["solution"]["moves"], &still["done"]), (&json!([]), &json!(true)));
        for _ in 0..20 {
            asked.advance(0.0);
            value(&mut *asked, json!({ "ask": "look", "facelets": facelets }));
            value(&mut *asked, json!({ "ask": "inside" }));
        }
        let at = asked.progress().iteration + 1;
        train(&mut *asked, at);
        train(&mut *plain, at);
        assert_eq!(plain.digest(), asked.digest(), "{variant}");
    }
}

#[test]
fn failed_search_reports_its_progress_and_a_next_step() {
    let mut run = begin(&small("cube", "2x2x2", 1));
    let drawn = value(&mut *run, json!({ "ask": "draw", "distance": 14, "seed": 1 }));
    let facelets = drawn["facelets"].as_str().unwrap().to_string();
    let view = solve(&mut *run, &facelets, json!({ "search": "beam", "width": 4, "weight": 1.0, "nodes": 100 }));
    let said = failure(&view);
    assert!(said.contains("limit") && said.contains("moves left"), "{said}");
    assert!(!run.advance(0.0), "the paused run still has work");
    assert!(said.contains("wider beam") && view["nearest"].is_number() && view["steps"] != 0, "{view}");
    let greedy = json!({ "search": "greedy", "width": 1, "weight": 1.0, "nodes": 1_000_000 });
    let view = solve(&mut *run, &facelets, greedy);
    let said = failure(&view);
    assert!(said.contains("repeat earlier states") || said.contains("within 40 moves"), "{said}");
    assert!(view["width"].is_null() && !said.contains("beams"), "{view}");

    let method =
        |search: &str, width: u32, weight: f64, nodes: u32| json!({ "search": search, "width": width, "weight": weight, "nodes": nodes });
    // The memory of a search is estimated before its allocation.
    let tight = run::Host { memory_bytes: 256 << 20, ..host() };
    for (variant, host, facelets, method, words) in [
        ("2x2x2", host(), &*facelets, method("beam", 0, 1.0, 100), "choose 1 or more"),
        ("2x2x2", host(), &*facelets, method("a_star", 8, -1.0, 100), "weight"),
        ("2x2x2-last", host(), &*facelets, method("a_star", 8, 1.0, 100), "A* needs values"),
        ("3x3x3", host(), SOLVED_3, method("exact", 1, 1.0, 1), "no table of distances"),
        ("2x2x2", tight, &*facelets, method("a_star", 8, 1.0, 100_000_000), "MB of memory, but"),
    ] {
        let mut run = run::begin(small("cube", variant, 1), host).unwrap();
        let said = ask_error(&mut *run, solving(facelets, method));
        assert!(said.contains(words), "{said}");
        assert!(!run.advance(0.0), "the rejected search began");
    }
}

#[test]
fn failed_beam_retries_wider_and_reports_the_width() {
    let mut run = trained(&small("cube", "2x2x2", 1), 30);
    run.command(Command::Pause).unwrap();
    let drawn = value(&mut *run, json!({ "ask": "draw", "distance": 13, "seed": 1 }));
    let facelets = drawn["facelets"].as_str().unwrap().to_string();
    let mut by = |width: u64, nodes: u64| {
        let method = json!({ "search": "beam", "width": width, "weight": 1.0, "nodes": nodes });
        solve(&mut *run, &facelets, method)
    };
    let nodes_of = |view: &Value| view["nodes"].as_f64().unwrap();
    // 900 nodes are too few for a second, wider beam.
    let narrow = by(2, 900);
    let said = failure(&narrow);
    assert!(narrow["width"] == 2 && said.contains("within 40 moves"), "{narrow}");
    assert!(!said.contains("beams"), "{said}");
    // 2000 nodes suffice for wider beams, but not for a solution.
    let few = by(2, 2000);
    let (said, width) = (failure(&few), few["width"].as_u64().unwrap());
    assert!(width > 2 && said.contains(&format!("by beams of 2 to {width} states")), "{few}");
    assert!(said.contains("more nodes") && nodes_of(&few) > nodes_of(&narrow), "{few}");
    assert!(few["nearest"].as_f64() <= narrow["nearest"].as_f64(), "{few}");
    // The solution equals the solution of a search that begins with the final width. The reported number of nodes includes the nodes of the
    // narrower beams.
    let found = by(2, 1_000_000);
    let width = found["width"].as_u64().unwrap();
    assert!(width > 2 && width.is_power_of_two(), "{found}");
    let alone = by(width, 1_000_000);
    assert_eq!((&alone["solution"], &alone["width"]), (&found["solution"], &found["width"]));
    assert!(nodes_of(&found) > nodes_of(&alone) + nodes_of(&narrow), "{found} {alone}");
    let way = moves(&found["solution"]);
    assert_eq!(turned(&mut *run, &facelets, &way), solved_of("2x2x2"));
}

/// Each kind of error has one case here. The tests of `worlds` cover the other errors.
#[test]
fn invalid_stickers_and_moves_are_rejected_with_reasons() {
    let cases = [
        ("2x2x2", SOLVED_3.to_string(), "24 stickers"),
        ("2x2x2", SOLVED.replacen('U', "R", 1), "times"),
        ("3x3x3", SOLVED.to_string(), "54 stickers"),
        ("3x3x3", SOLVED_3.replacen('U', "?", 1), "is not a colour"),
    ];
    for (variant, facelets, words) in cases {
        let mut run = begin(&small("cube", variant, 1));
        let digest = run.digest();
        for question in [
            json!({ "ask": "look", "facelets": facelets }),
            json!({ "ask": "turn", "facelets": facelets, "moves": "R" }),
            solving(&facelets, beam(8)),
        ] {
            let error = ask::<Value>(&mut *run, question).unwrap_err();
            assert!(matches!(error, RunError::Refused { .. }) && error.what().contains(words), "{error}");
            assert!(!error.next_step().is_empty(), "{error}");
        }
        assert_eq!(run.digest(), digest);
        let said = ask_error(&mut *run, json!({ "ask": "turn", "facelets": solved_of(variant), "moves": "R Q" }));
        assert!(said.contains("\"Q\" is not a move"), "{said}");
    }
}

#[test]
fn dqn_learners_show_curriculum_and_replay() {
    for variant in &variants("cube") {
        let more = if variant.contains("dqn") { "prioritised=1" } else { "" };
        let config = with(small("cube", variant, 1), more);
        let mut run = trained(&config, 20);
        let inside = value(&mut *run, json!({ "ask": "inside" }));
        let metrics = Events::drain(&mut *run);
        let metrics = metrics.metrics();
        let schema = room("cube").schema();
        let epsilon = metrics[0].values[schema.metric("epsilon").unwrap()];
        if !variant.contains("dqn") {
            assert!(inside.is_null() && epsilon.is_none());
            continue;
        }
        assert!(epsilon.is_some());
        let depths = inside["depths"].as_array().unwrap();
        let share: f64 = depths.iter().map(|depth| depth["share"].as_f64().unwrap()).sum();
        assert!((share - 1.0).abs() < 1e-4, "{inside}");
        let replay = &inside["replay"];
        assert_eq!((&replay["capacity"], &replay["prioritised"]), (&json!(512), &json!(true)));
        let bins: f64 = replay["priorities"].as_array().unwrap().iter().map(|bin| bin.as_f64().unwrap()).sum();
        assert!((bins - 1.0).abs() < 1e-4, "{replay}");
        let top = replay["top"].as_array().unwrap();
        assert_eq!(top[0]["q"].as_array().unwrap().len(), 6);
        value(&mut *run, json!({ "ask": "look", "facelets": top[0]["facelets"] }));
        assert!(top.windows(2).all(|pair| pair[0]["priority"].as_f64() >= pair[1]["priority"].as_f64()));
    }
}

#[test]
fn changed_reward_rescales_values_at_once() {
    let config = with(small("cube", "2x2x2-dqn", 1), "gamma=1 step_reward=-0.1 goal_reward=0");
    let mut run = trained(&config, 2);
    let question = || json!({ "ask": "look", "facelets": SOLVED });
    let score = |view: Value| view["actions"][0]["score"].as_f64().unwrap();
    run.command(Command::Pause).unwrap();
    let before = score(value(&mut *run, question()));
    run.command(set("step_reward", -0.05)).unwrap();
    let after = score(value(&mut *run, question()));
    assert!((after - 2.0 * before).abs() < 1e-3 * before.abs().max(1.0), "{before} {after}");
}

#[test]
fn distances_in_both_metrics_are_equal_in_runs_of_either() {
    let [mut quarter, mut half] = ["qtm", "htm"].map(|metric| begin(&with(small("cube", "2x2x2", 1), &format!("metric={metric}"))));
    let pair = |run: &mut dyn AnyRun, facelets: &str| {
        let view = value(run, json!({ "ask": "look", "facelets": facelets }));
        ["distance", "other_distance"].map(|name| view[name].as_u64().unwrap())
    };
    for (moves, expected) in [("", [0, 0]), ("R", [1, 1]), ("R2", [2, 1]), ("R2 U", [3, 2]), ("R U2 F'", [4, 3])] {
        let turned = value(&mut *quarter, json!({ "ask": "turn", "facelets": SOLVED, "moves": moves }));
        let facelets = turned["facelets"].as_str().unwrap();
        let [in_quarters, in_halves] = pair(&mut *quarter, facelets);
        assert_eq!([in_quarters, in_halves], expected, "{moves}");
        assert_eq!(pair(&mut *half, facelets), [in_halves, in_quarters], "{moves}");
    }
    let mut larger = begin(&small("cube", "3x3x3", 1));
    let view = value(&mut *larger, json!({ "ask": "look", "facelets": SOLVED_3 }));
    assert!(view["distance"].is_null() && view["other_distance"].is_null());
}

#[test]
fn half_turn_metric_adds_half_turn_actions() {
    let mut run = begin(&with(small("cube", "2x2x2", 1), "metric=htm inputs=stickers"));
    let view = value(&mut *run, json!({ "ask": "look", "facelets": SOLVED }));
    assert_eq!(view["actions"].as_array().unwrap().len(), 9);
    let turned = value(&mut *run, json!({ "ask": "turn", "facelets": SOLVED, "moves": "R2" }));
    assert_eq!(turned["distance"], 1);
    assert!(ask_error(&mut *run, json!({ "ask": "draw", "distance": 12, "seed": 1 })).contains("0 to 11"));
    let test = run.test().unwrap();
    let schema = run.schema();
    let at = |distance: u32| test.values[schema.test(&format!("at_{distance}")).unwrap()];
    assert!(at(11).is_some() && at(12).is_none() && at(14).is_none());
}

/// Knobs with which training on millions of states takes seconds. Other kinds of inputs take several times as long.
const LARGE_BATCHES: &str = "batch=16384 inputs=stickers";

/// The number of training states determines when a test is due. The first tests are early, and the intervals between later tests grow.
#[test]
fn tests_come_early_at_growing_intervals() {
    let count = if testkit::all() { 3 } else { 2 };
    let mut run = start(&with(small("cube", "2x2x2", 1), LARGE_BATCHES));
    let events = until(&mut *run, |events| events.tests().len() >= count);
    assert!(events.tests().iter().all(|row| row.values.len() == room("cube").schema().tests.len()));
    let at: Vec<f64> = events.tests().iter().map(|row| row.progress.counts[0]).collect();
    assert!(at[0] < 5e5 && at[1] < 2e6 && at.windows(2).all(|two| two[1] >= 4.0 * two[0]), "{at:?}");
}

/// Training on 1.8 million states takes as much time as a test. The first test is due after a fifth of these states. After a test at `n`
/// states, the wait for the next test is `3 * n` states, but at least the wait for the first test.
#[test]
fn test_is_due_by_states_since_the_previous_test() {
    let config = with(small("cube", "2x2x2", 1), LARGE_BATCHES);
    let mut run = Run::<Cube>::new(config, host()).unwrap();
    let room = run.room();
    let at = |states: f64| {
        let progress = Progress { counts: vec![states, 0.0, 0.0, 0.0], ..Progress::default() };
        [Row { progress, values: Vec::new() }]
    };
    assert!(!room.test_is_due(&[], false));
    while room.agent().learner().progress().states < 600_000 {
        room.agent().learner_mut().advance();
    }
    let states = room.agent().learner().progress().states as f64;
    assert!(states < 1.4e6, "{states}");
    assert!(room.test_is_due(&[], false));
    for (share, is_due) in [(0.1, true), (0.24, true), (0.26, false), (0.9, false)] {
        assert_eq!(room.test_is_due(&at(share * states), false), is_due, "{share} of {states}");
    }
}

/// The run is a small version of the default learner and trains until its first test, for a second or two. In the test, it solves nearly
/// all states near the solved cube and most of all states. After 307,200 states, the shares were 100% at distance 7 and 84% of all states.
/// With a tenth of the learning rate, they were 66% and 19%.
#[test]
fn seeded_run_learns_to_solve_the_small_cube() {
    let config = Config { seed: 3, ..config_of(room("cube")) };
    let mut run = start(&with(config, "hidden=128-64"));
    let events = until(&mut *run, |events| !events.tests().is_empty());
    run.command(Command::Pause).unwrap();
    let test = events.tests()[0];
    assert!(test.progress.counts[0] < 5e5, "{test:?}");
    let of = |name: &str| test.values[room("cube").schema().test(name).unwrap()].unwrap();
    assert!(of("at_7") > 0.9 && of("solved") > 0.5, "{} {}", of("at_7"), of("solved"));
    assert!(of("solved") >= of("optimal") && of("solved") > of("solved_plain"));
    for seed in 0..10 {
        let drawn = value(&mut *run, json!({ "ask": "draw", "distance": 11, "seed": seed }));
        let view = solve(&mut *run, drawn["facelets"].as_str().unwrap(), beam(256));
        assert!(!view["solution"].is_null(), "{view}");
    }
}
