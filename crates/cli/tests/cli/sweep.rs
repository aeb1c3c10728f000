//! A sweep as people and scripts use it: its file, its table, and what stops and refuses it.

mod common;

use common::{SMALL_GAMES, Scratch, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs of two short iterations each.
const SMALL: [&str; 10] = [
    "--set",
    "envs=256",
    "--set",
    "rollout_steps=16",
    "--set",
    "hidden=32",
    "--set",
    "minibatches=4",
    "--steps",
    "8e3",
];
const GRID: [&str; 6] = ["--knob", "lr=1e-3..1e-2:log", "--points", "3", "--seeds", "3"];

/// The small grid with `more`; its last line.
fn sweep(scratch: &Scratch, more: &[&str]) -> Value {
    let told = scratch.records(&[&["sweep", "control"], &SMALL[..], &GRID, more].concat());
    let summary = told.last().unwrap().clone();
    assert_eq!(summary["kind"], "sweep_summary");
    summary
}

/// The runs of a file without what the clock said, in an order of their own.
fn runs(file: &Path) -> Vec<Value> {
    let mut runs: Vec<Value> =
        fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
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
    sweep(&scratch, &["--threads", "1", "--out", "one.jsonl"]);
    let summary = sweep(&scratch, &["--threads", "4", "--out", "four.jsonl"]);
    let (one, four) = (runs(&scratch.path("one.jsonl")), runs(&scratch.path("four.jsonl")));
    assert_eq!(one, four);
    assert_eq!((one.len(), &summary["runs"], &summary["complete"]), (9, &9.into(), &true.into()));

    let chosen = &one[4];
    let (lr, seed) = (format!("lr={}", chosen["knobs"]["lr"]), chosen["seed"].to_string());
    let train = ["train", "--threads", "2", "--set", &lr, "--seed", &seed];
    let told = scratch.records(&[&train[..], &SMALL].concat());
    let trained = common::summary(&told);
    assert_eq!(trained["digest"], chosen["digest"]);
    assert_eq!(trained["test"]["mean_return"], chosen["result"]);

    for setting in summary["settings"].as_array().unwrap() {
        let of_setting = |run: &&Value| run["knobs"]["lr"] == setting["knobs"]["lr"];
        let mut returns: Vec<f64> =
            one.iter().filter(of_setting).map(|run| run["result"].as_f64().unwrap()).collect();
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
    sweep(&scratch, &["--out", "runs.jsonl"]);
    let file = scratch.path("runs.jsonl");
    let (whole, bytes) = (runs(&file), fs::read(&file).unwrap());
    for cut in [1, 40, 300] {
        fs::write(&file, &bytes[..bytes.len() - cut]).unwrap();
        let summary = sweep(&scratch, &["--out", "runs.jsonl"]);
        assert_eq!((&summary["from_file"], &summary["finished"]), (&8.into(), &9.into()), "{cut} bytes");
        assert_eq!(runs(&file), whole);
    }
    let more = ["--knob", "lr=1e-3..1e-2:log", "--points", "3", "--seeds", "4", "--out", "runs.jsonl"];
    let output = scratch.run(&[&["sweep"], &SMALL[..], &more].concat());
    let said = stdout(&output);
    assert!(said.contains("9 of 12 runs are in runs.jsonl already"), "{said}");
    assert!(said.contains("steps to solved") && said.contains("0 of 4") && said.contains("best"), "{said}");
    assert_eq!(runs(&file).len(), 12);
    let fewer = sweep(&scratch, &["--out", "runs.jsonl"]);
    assert_eq!((&fewer["from_file"], &fewer["runs"]), (&9.into(), &9.into()));
}

#[test]
fn a_file_of_another_sweep_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    sweep(&scratch, &["--out", "runs.jsonl"]);
    fs::write(scratch.path("notes.txt"), "these are notes\n").unwrap();
    fs::write(scratch.path("line.txt"), "{\"kind\":\"notes\"").unwrap();
    for (file, args, said) in [
        ("runs.jsonl", &["--knob", "lr=0.5e-3,1e-2"][..], "another sweep"),
        ("runs.jsonl", &["--knob", "gamma=0.9..0.99"], "another sweep"),
        ("runs.jsonl", &["--knob", "lr=1e-3..1e-2:log", "--points", "3", "--until-solved"], "another sweep"),
        (
            "runs.jsonl",
            &["--knob", "lr=1e-3..1e-2:log", "--points", "3", "--isa", "portable"],
            "another sweep",
        ),
        ("notes.txt", &["--knob", "lr=1e-3,1e-2"], "results of a sweep"),
        ("line.txt", &["--knob", "lr=1e-3,1e-2"], "results of a sweep"),
    ] {
        let before = fs::read(scratch.path(file)).unwrap();
        let output = scratch.run(&[&["sweep", "control", "--out", file], &SMALL[..], args].concat());
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        assert!(
            told.contains(said) && told.contains("Name another file with --out"),
            "{args:?} said: {told}"
        );
        assert_eq!(fs::read(scratch.path(file)).unwrap(), before, "{file}");
    }
}

#[test]
fn a_wrong_grid_says_what_would_do() {
    let scratch = Scratch::new();
    for (args, said) in [
        (&["sweep", "kitchen"][..], "rooms are"),
        (&["sweep", "control", "--knob", "wings=1,2"], "rollout_steps"),
        (&["sweep", "control", "--knob", "lr=1e-4..7"], "out of range"),
        (&["sweep", "control", "--knob", "lr=1e-2..1e-4"], "smaller end"),
        (&["sweep", "control", "--knob", "entropy=0..0.1:log"], "above 0"),
        (&["sweep", "control", "--knob", "lr"], "KNOB=FROM..TO"),
        (&["sweep", "control", "--knob", "lr=1e-3", "--knob", "lr=1e-2"], "twice"),
        (&["sweep", "control", "--knob", "lr=1e-3,1e-2", "--set", "lr=0.003"], "twice"),
        (&["sweep", "control", "--knob", "hidden=8.5"], "whole"),
        (&["sweep", "--knob", "envs=65536", "--set", "rollout_steps=1024"], "lower"),
        (
            &["sweep", "control", "--knob", "lr=1e-4..1e-2", "--points", "1000", "--seeds", "1000"],
            "100,000 runs",
        ),
        (&["sweep", "control", "--points", "1"], "2..=1000"),
        (&["sweep", "control", "--env", "Pong-v5"], "CartPole-v1"),
    ] {
        let output = scratch.run(args);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(said) && told.starts_with("error: "), "{args:?} said: {told}");
        assert!(output.stdout.is_empty(), "{args:?} ran all the same");
    }
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0, "no file is left of a refusal");
    let help = scratch.told(&["sweep", "--help"]);
    for word in
        ["lr=1e-4..1e-2:log", "--seeds", "--points", "--until-solved", "--out", "Ctrl-C", "rollout_steps"]
    {
        assert!(help.contains(word), "--help lacks {word}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_finished_and_the_same_command_does_the_rest() {
    let scratch = Scratch::new();
    // The first setting is done at once; the second goes on far longer than the test waits.
    let args = ["sweep", "--knob", "epochs=1,20", "--seeds", "1", "--threads", "2", "--set", "envs=2048"];
    let slow = ["--set", "rollout_steps=32", "--set", "hidden=128", "--steps", "6e4"];
    let mut running = scratch.spawn(&[&args[..], &slow].concat());
    let mut said = running.read_to("[1/2]");
    running.interrupt();
    said += &running.rest();
    assert_eq!(running.wait(), Some(0), "{said}");
    assert!(said.contains("stopped     1 of 2 runs") && said.contains("continue    "), "{said}");
    assert!(said.contains("sweep --knob epochs=1,20"), "{said}");
    let output = scratch.run(&[&args[..], &slow].concat());
    let rest = stdout(&output);
    assert!(
        output.status.success() && rest.contains("1 of 2 runs are in sweep-control-CartPole-v1-"),
        "{rest}"
    );
    assert!(rest.contains("[2/2]") && !rest.contains("continue"), "{rest}");
}

#[test]
fn backgammon_is_swept_by_the_points_that_its_goal_counts() {
    let scratch = Scratch::new();
    let args = ["sweep", "backgammon", "--knob", "lr=0.001,0.003", "--seeds", "1", "--games", "24"];
    let told = scratch.records(&[&args[..], &SMALL_GAMES, &["--out", "runs.jsonl"]].concat());
    let summary = told.last().unwrap();
    assert_eq!((&summary["finished"], &summary["complete"]), (&2.into(), &true.into()));
    let room = run::room("backgammon").unwrap();
    let goal = room.variants()[0].goal;
    let column = goal.map_or(room.schema().tests[0].name, |goal| goal.column);
    for run in runs(&scratch.path("runs.jsonl")) {
        assert_eq!((&run["room"], &run["progress"]["games"]), (&"backgammon".into(), &24.into()));
        assert_eq!(run["result"], run["test"][column]);
    }
    let plain = scratch.told(&[&args[..], &SMALL_GAMES, &["--out", "runs.jsonl"]].concat());
    assert!(
        plain.contains("2 of 2 runs are in runs.jsonl already") && plain.contains("games to solved"),
        "{plain}"
    );
}

/// Said before the first run, so that nobody waits for hours that were not asked for.
#[test]
fn without_a_budget_each_variant_has_the_one_that_it_declares() {
    let scratch = Scratch::new();
    for room in run::rooms() {
        for variant in room.variants() {
            let unit = room.schema().counters[0].unit;
            let mut running =
                scratch.spawn(&["sweep", room.schema().id, "--variant", variant.id, "--seeds", "1"]);
            let said = running.read_to(" each until ");
            let budget = said.lines().last().unwrap().rsplit(" each until ").next().unwrap().to_string();
            let number: f64 =
                budget.strip_suffix(&format!(" {unit}")).unwrap().replace(',', "").parse().unwrap();
            assert_eq!(number, variant.sweep_budget, "{}: {budget}", variant.id);
            // So many games take minutes, and as many steps do not.
            assert!(unit != "games" || number <= 1e5, "{budget}");
        }
    }
}
