//! A sweep as people and scripts use it: its file, its table, and what stops and refuses it.

use crate::common::{SMALL_GAMES, Scratch, stdout, values};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs of two short iterations each.
const SMALL: &str = "--set envs=256 --set rollout_steps=16 --set hidden=32 --set minibatches=4 --steps 8e3";
const LR: &str = "--knob lr=1e-3..1e-2:log --points 3";

/// The small grid with `more`; its last line.
fn sweep(scratch: &Scratch, more: &str) -> Value {
    let told = scratch.records(format!("sweep control {SMALL} {LR} --seeds 3 {more}"));
    let summary = told.last().unwrap().clone();
    assert_eq!(summary["kind"], "sweep_summary");
    summary
}

/// The runs of a file without what the clock said, in an order of their own.
fn runs(file: &Path) -> Vec<Value> {
    let mut runs = values(&fs::read_to_string(file).unwrap());
    for run in &mut runs {
        run["seconds"].take();
        // Where nothing diverged there are rows, and in them what the clock said.
        for row in ["metrics", "test"] {
            run[row]["progress"]["train_s"].take();
        }
        run["progress"]["train_s"].take();
        run["metrics"]["steps_per_s"].take();
        run["metrics"]["shares"].take();
    }
    runs.sort_by_key(|run| format!("{} {}", run["knobs"]["lr"], run["seed"]));
    runs
}

#[test]
fn results_are_the_same_for_any_number_of_threads_and_those_of_train() {
    let scratch = Scratch::new();
    sweep(&scratch, "--threads 1 --out one.jsonl");
    let summary = sweep(&scratch, "--threads 4 --out four.jsonl");
    let (one, four) = (runs(&scratch.path("one.jsonl")), runs(&scratch.path("four.jsonl")));
    assert_eq!(one, four);
    assert_eq!((one.len(), &summary["runs"], &summary["complete"]), (9, &9.into(), &true.into()));

    let chosen = &one[4];
    let (lr, seed) = (&chosen["knobs"]["lr"], &chosen["seed"]);
    let trained = scratch.summary(format!("train --threads 2 --set lr={lr} --seed {seed} {SMALL}"));
    assert_eq!(trained["digest"], chosen["digest"]);
    assert_eq!(trained["test"]["mean_return"], chosen["result"]);

    for setting in summary["settings"].as_array().unwrap() {
        let of_setting = |run: &&Value| run["knobs"]["lr"] == setting["knobs"]["lr"];
        let mut returns: Vec<f64> = one.iter().filter(of_setting).map(|run| run["result"].as_f64().unwrap()).collect();
        returns.sort_by(f64::total_cmp);
        let expected = [(returns[0] + returns[1]) / 2.0, returns[1], (returns[1] + returns[2]) / 2.0];
        for (name, expected) in ["q1", "median", "q3"].iter().zip(expected) {
            let told = setting["result"][name].as_f64().unwrap();
            assert!((told - expected).abs() < 1e-9, "{name}: {told} and not {expected}");
        }
        let solved = one.iter().filter(of_setting).filter(|run| run["solved_at"].is_f64()).count();
        assert_eq!(setting["solved"], solved);
        assert_eq!(setting["solved_at"]["median"].is_null(), solved < 2, "an unsolved run takes for ever");
    }
}

#[test]
fn a_broken_last_line_is_done_again_and_more_seeds_add_to_what_there_is() {
    let scratch = Scratch::new();
    sweep(&scratch, "--out runs.jsonl");
    let file = scratch.path("runs.jsonl");
    let (whole, bytes) = (runs(&file), fs::read(&file).unwrap());
    for cut in [1, 40, 300] {
        fs::write(&file, &bytes[..bytes.len() - cut]).unwrap();
        let summary = sweep(&scratch, "--out runs.jsonl");
        assert_eq!((&summary["from_file"], &summary["finished"]), (&8.into(), &9.into()), "{cut} bytes");
        assert_eq!(runs(&file), whole);
    }
    let said = stdout(&scratch.run(format!("sweep {SMALL} {LR} --seeds 4 --out runs.jsonl")));
    assert!(said.contains("9 of 12 runs are in runs.jsonl already"), "{said}");
    assert!(said.contains("steps to solved") && said.contains("0 of 4") && said.contains("best"), "{said}");
    assert_eq!(runs(&file).len(), 12);
    let fewer = sweep(&scratch, "--out runs.jsonl");
    assert_eq!((&fewer["from_file"], &fewer["runs"]), (&9.into(), &9.into()));
}

#[test]
fn a_file_of_another_sweep_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    sweep(&scratch, "--out runs.jsonl");
    scratch.write("notes.txt", "these are notes\n");
    scratch.write("line.txt", "{\"kind\":\"notes\"");
    for (file, args, words) in [
        ("runs.jsonl", "--knob lr=0.5e-3,1e-2", "another sweep"),
        ("runs.jsonl", "--knob gamma=0.9..0.99", "another sweep"),
        ("runs.jsonl", &format!("{LR} --until-solved"), "another sweep"),
        ("runs.jsonl", &format!("{LR} --isa portable"), "another sweep"),
        ("notes.txt", "--knob lr=1e-3,1e-2", "results of a sweep"),
        ("line.txt", "--knob lr=1e-3,1e-2", "results of a sweep"),
    ] {
        let before = scratch.bytes(file);
        let said = scratch.refused(format!("sweep control --out {file} {SMALL} {args}"), 1, words);
        assert!(said.contains("Name another file with --out"), "{args} said: {said}");
        assert_eq!(scratch.bytes(file), before, "{file}");
    }
}

#[test]
fn a_wrong_grid_says_what_would_do() {
    let scratch = Scratch::new();
    for (args, words) in [
        ("kitchen", "rooms are"),
        ("control --knob wings=1,2", "rollout_steps"),
        ("control --knob lr=1e-4..7", "out of range"),
        ("control --knob lr=1e-2..1e-4", "smaller end"),
        ("control --knob entropy=0..0.1:log", "above 0"),
        ("control --knob lr", "KNOB=FROM..TO"),
        ("control --knob lr=1e-3 --knob lr=1e-2", "twice"),
        ("control --knob lr=1e-3,1e-2 --set lr=0.003", "twice"),
        ("control --knob hidden=8.5", "whole"),
        ("--knob envs=65536 --set rollout_steps=1024", "lower"),
        ("control --knob lr=1e-4..1e-2 --points 1000 --seeds 1000", "100,000 runs"),
        ("control --points 1", "2..=1000"),
        ("control --env Pong-v5", "CartPole-v1"),
    ] {
        let said = scratch.refused(format!("sweep {args}"), 2, words);
        assert!(said.starts_with("error: "), "{args} said: {said}");
    }
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0, "no file is left of a refusal");
    let help = scratch.told("sweep --help");
    for word in ["lr=1e-4..1e-2:log", "--seeds", "--points", "--until-solved", "--out", "Ctrl-C", "rollout_steps"] {
        assert!(help.contains(word), "--help lacks {word}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_finished_and_the_same_command_does_the_rest() {
    let scratch = Scratch::new();
    // The first setting is done at once; the second goes on far longer than the test waits.
    let slow = "--set rollout_steps=32 --set hidden=128 --steps 6e4";
    let args = format!("sweep --knob epochs=1,20 --seeds 1 --threads 2 --set envs=2048 {slow}");
    let mut running = scratch.spawn(&args);
    let mut said = running.read_to("[1/2]");
    running.interrupt();
    said += &running.rest();
    assert_eq!(running.wait(), Some(0), "{said}");
    assert!(said.contains("stopped     1 of 2 runs") && said.contains("continue    "), "{said}");
    assert!(said.contains("sweep --knob epochs=1,20"), "{said}");
    let rest = scratch.told(&args);
    assert!(rest.contains("1 of 2 runs are in sweep-control-CartPole-v1-"), "{rest}");
    assert!(rest.contains("[2/2]") && !rest.contains("continue"), "{rest}");
}

#[test]
fn backgammon_is_swept_by_the_points_that_its_goal_counts() {
    let scratch = Scratch::new();
    let knob = "--knob lr=0.001,0.003 --seeds 1 --games 24";
    let args = format!("sweep backgammon {knob} {SMALL_GAMES} --out runs.jsonl");
    let told = scratch.records(&args);
    let summary = told.last().unwrap();
    assert_eq!((&summary["finished"], &summary["complete"]), (&2.into(), &true.into()));
    let room = run::room("backgammon").unwrap();
    let goal = room.variants()[0].goal;
    let column = goal.map_or(room.schema().tests[0].name, |goal| goal.column);
    for run in runs(&scratch.path("runs.jsonl")) {
        assert_eq!((&run["room"], &run["progress"]["games"]), (&"backgammon".into(), &24.into()));
        assert_eq!(run["result"], run["test"][column]);
    }
    let plain = scratch.told(&args);
    assert!(plain.contains("2 of 2 runs are in runs.jsonl already") && plain.contains("games to solved"), "{plain}");
}

/// Said before the first run, so that nobody waits for hours that were not asked for.
#[test]
fn without_a_budget_each_variant_has_the_one_that_it_declares() {
    let scratch = Scratch::new();
    for room in run::rooms() {
        for variant in room.variants() {
            let unit = room.schema().counters[0].unit;
            let (id, variant_id) = (room.schema().id, variant.id);
            let mut running = scratch.spawn(format!("sweep {id} --variant {variant_id} --seeds 1"));
            let said = running.read_to(" each until ");
            let budget = said.lines().last().unwrap().rsplit(" each until ").next().unwrap().to_string();
            let number: f64 = budget.strip_suffix(&format!(" {unit}")).unwrap().replace(',', "").parse().unwrap();
            assert_eq!(number, variant.sweep_budget, "{}: {budget}", variant.id);
            // So many games take minutes, and as many steps do not.
            assert!(unit != "games" || number <= 1e5, "{budget}");
        }
    }
}
