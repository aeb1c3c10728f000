//! Tests of `hothouse sweep`: results file, table, interruption and errors.

use crate::common::{SMALL_GAMES, Scratch, stdout, values};
use cli::internals::Line;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Knobs and step limit for runs of two short iterations.
const SMALL: &str = "--set envs=256 --set rollout_steps=16 --set hidden=32 --set minibatches=4 --steps 8e3";
const LR: &str = "--knob lr=1e-3..1e-2:log --points 3";

/// Sweeps a small grid with the additional arguments `more`. Returns the summary.
fn sweep(scratch: &Scratch, more: &str) -> Value {
    let log = scratch.records(format!("sweep control {SMALL} {LR} --seeds 3 {more}"));
    let summary = log.last().unwrap().clone();
    assert_eq!(summary["kind"], "sweep_summary");
    summary
}

/// Returns the runs in a results file, sorted, and without the times that differ between two sweeps.
fn runs(file: &Path) -> Vec<Value> {
    let mut runs = values(&fs::read_to_string(file).unwrap());
    for run in &mut runs {
        run["seconds"].take();
        // The progress of each row contains the training time.
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
fn results_equal_those_of_train_with_any_number_of_threads() {
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
            let value = setting["result"][name].as_f64().unwrap();
            assert!((value - expected).abs() < 1e-9, "{name}: {value} and not {expected}");
        }
        let solved = one.iter().filter(of_setting).filter(|run| run["solved_at"].is_f64()).count();
        assert_eq!(setting["solved"], solved);
        assert_eq!(setting["solved_at"]["median"].is_null(), solved < 2, "an unsolved run counts as infinitely slow");
    }
}

#[test]
fn an_incomplete_last_line_is_repeated_and_seeds_can_be_added() {
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
    let message = stdout(&scratch.run(format!("sweep {SMALL} {LR} --seeds 4 --out runs.jsonl")));
    assert!(message.contains("runs.jsonl already contains 9 of 12 runs"), "{message}");
    assert!(message.contains("steps to solved") && message.contains("0 of 4") && message.contains("best"), "{message}");
    assert_eq!(runs(&file).len(), 12);
    let fewer = sweep(&scratch, "--out runs.jsonl");
    // Runs with further seeds are in the file, but belong to another number of seeds.
    assert_eq!((&fewer["from_file"], &fewer["runs"], &fewer["finished"]), (&9.into(), &9.into(), &9.into()));
    assert_eq!((&fewer["complete"], &fewer["resume"]), (&true.into(), &Value::Null));
    assert!(fewer["settings"].as_array().unwrap().iter().all(|setting| setting["runs"] == 3), "{fewer}");
    let one = scratch.stdout(format!("sweep control {SMALL} {LR} --seeds 1 --out runs.jsonl"));
    assert!(one.contains("3 of 3 runs") && one.contains("best ") && !one.contains("resume"), "{one}");
}

#[test]
fn a_file_of_another_sweep_is_an_error_and_stays_unchanged() {
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
        let message = scratch.fails(format!("sweep control --out {file} {SMALL} {args}"), 1, words);
        assert!(message.contains("Name another file with --out"), "{args} message: {message}");
        assert_eq!(scratch.bytes(file), before, "{file}");
    }
}

#[test]
fn grid_errors_name_the_remedy() {
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
        let message = scratch.fails(format!("sweep {args}"), 2, words);
        assert!(message.starts_with("error: "), "{args} message: {message}");
    }
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0, "an error leaves no file");
    let help = scratch.stdout("sweep --help");
    for word in ["lr=1e-4..1e-2:log", "--seeds", "--points", "--until-solved", "--out", "Ctrl-C", "rollout_steps"] {
        assert!(help.contains(word), "--help lacks {word}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_is_resumed_by_the_same_command() {
    let scratch = Scratch::new();
    // The first setting is quick. A run of the second setting takes far longer than the test waits.
    let slow = "--set rollout_steps=32 --set hidden=64 --steps 6e4";
    let args = format!("sweep --knob epochs=1,20 --seeds 1 --threads 2 --set envs=2048 {slow}");
    let mut running = scratch.spawn(&args);
    let mut message = running.read_to("[1/2]");
    running.interrupt();
    message += &running.rest();
    assert_eq!(running.wait(), Some(0), "{message}");
    assert!(message.contains("stopped     1 of 2 runs") && message.contains("resume      "), "{message}");
    assert!(message.contains("sweep --knob epochs=1,20"), "{message}");
    let rest = scratch.stdout(&args);
    assert!(rest.contains("sweep-control-CartPole-v1-") && rest.contains("already contains 1 of 2 runs"), "{rest}");
    assert!(rest.contains("[2/2]") && !rest.contains("resume"), "{rest}");
}

/// Sweeps one setting with one seed, with the default results file. Returns the result of the run, the name of the file and the summary.
fn single(scratch: &Scratch, args: &str) -> (Value, String, Value) {
    let log = scratch.records(format!("sweep control --seeds 1 {args}"));
    let summary = log.last().unwrap().clone();
    let file = summary["file"].as_str().unwrap().to_string();
    (values(&scratch.text(&file)).remove(0), file, summary)
}

#[test]
fn a_run_ends_at_each_limit() {
    const KNOBS: &str = "--set envs=256 --set rollout_steps=16 --set hidden=32 --set minibatches=4";
    let scratch = Scratch::new();
    let (run, ..) = single(&scratch, &format!("--seconds 0.2 {KNOBS}"));
    assert_eq!((&run["limit"]["steps"], &run["limit"]["seconds"]), (&Value::Null, &0.2.into()));
    assert!(run["seconds"].as_f64().unwrap() >= 0.2, "{run}");
    // The run ends with an iteration.
    let steps = &run["progress"]["env_steps"];
    assert_eq!(scratch.summary(format!("train --threads 1 --device cpu --steps {steps} {KNOBS}"))["digest"], run["digest"]);

    let (run, ..) = single(&scratch, "--until-solved --steps 4e6");
    let (solved_at, steps) = (run["solved_at"].as_f64().unwrap(), run["progress"]["env_steps"].as_f64().unwrap());
    assert!(solved_at > 0.0 && solved_at <= steps && steps < 4e6, "{run}");
}

#[test]
fn a_failed_run_has_no_result() {
    let scratch = Scratch::new();
    let catch = include_str!("../../../worlds/src/control/script/templates/catch.py");
    scratch.write("catch.py", catch.replace("self.y += 1", "self.y += 1 + 0 // (2 - self.y)"));
    let (run, _, summary) = single(&scratch, "--data catch.py --set envs=32 --steps 8192");
    assert_eq!((&run["diverged"], &run["result"], &run["test"]), (&true.into(), &Value::Null, &Value::Null));
    assert_eq!(summary["settings"][0]["diverged"], 1);
}

/// The default results file is that of all sweeps with the same runs, apart from the number of seeds.
#[test]
fn the_default_file_depends_on_all_that_determines_a_run() {
    let scratch = Scratch::new();
    let catch = include_str!("../../../worlds/src/control/script/templates/catch.py");
    scratch.write("catch.py", catch);
    let small = "--set envs=32 --set rollout_steps=16";
    let args = [
        "--steps 1",
        "--steps 2",
        "--steps 1 --until-solved",
        "--steps 1 --set lr=0.002",
        "--steps 1 --knob lr=0.002",
        "--steps 1 --knob lr=0.003",
        "--steps 1 --data catch.py",
    ];
    let file = |args: &str| single(&scratch, &format!("{args} {small}")).1;
    let mut files: Vec<String> = args.map(file).into();
    scratch.write("catch.py", catch.replace("fruits = 10", "fruits = 9"));
    files.push(file(args[6]));
    let distinct: std::collections::BTreeSet<_> = files.iter().collect();
    assert_eq!(distinct.len(), files.len(), "{files:?}");
    let more = scratch.stdout(format!("sweep control --seeds 2 --steps 1 {small}"));
    assert!(more.contains(&format!("{} already contains 1 of 2 runs", files[0])), "{more}");
}

/// Each case has two settings with two seeds each. A seed has a result, and the steps until it was solved; `None` if it was not solved.
#[test]
fn the_best_setting_is_solved_most_often_then_better_then_faster() {
    type Seed = (f64, Option<f64>);
    let scratch = Scratch::new();
    let (good, bad) = ((9.0, Some(50.0)), (9.0, None));
    let cases: [([[Seed; 2]; 2], [usize; 2]); 6] = [
        ([[(1.0, Some(90.0)); 2], [good, bad]], [0, 0]),
        ([[(1.0, Some(50.0)); 2], [(2.0, Some(90.0)); 2]], [1, 0]),
        ([[(1.0, Some(90.0)); 2], [(1.0, Some(50.0)); 2]], [1, 1]),
        ([[(1.0, None); 2], [(2.0, None); 2]], [1, 1]),
        ([[(2.0, Some(50.0)); 2], [(1.0, Some(50.0)); 2]], [0, 0]),
        ([[good; 2], [good; 2]], [0, 0]),
    ];
    for (kind, flag) in ["", "--until-solved"].into_iter().enumerate() {
        let args = format!("sweep control --knob lr=1e-3,1e-2 --seeds 2 {SMALL} {flag} --out runs{kind}.jsonl");
        scratch.stdout(&args);
        let name = format!("runs{kind}.jsonl");
        let real = runs(&scratch.path(&name));
        assert_eq!(real.len(), 4);
        for (settings, best) in cases {
            let mut lines = String::new();
            for (run, (result, solved_at)) in real.iter().zip(settings.concat()) {
                let mut run = run.clone();
                (run["result"], run["solved_at"], run["seconds"]) = (result.into(), solved_at.into(), 1.0.into());
                lines += &format!("{}\n", serde_json::from_value::<Line>(run).unwrap().text());
            }
            scratch.write(&name, lines);
            let text = scratch.stdout(&args);
            let lr = ["0.001", "0.01"][best[kind]];
            let (_, found) = text.split_once("\nbest ").unwrap();
            assert!(found.lines().next().unwrap().contains(&format!(" lr={lr} ")), "{flag} {settings:?}: {text}");
            assert!(found.contains(&format!(" --set lr={lr} ")), "{text}");
            let unsolved = settings.concat().iter().any(|(_, solved_at)| solved_at.is_none());
            assert_eq!(text.contains("Unsolved runs count as infinitely slow"), unsolved, "{text}");
        }
    }
    let text = scratch.stdout(format!("sweep control --seeds 1 {SMALL} --out single.jsonl"));
    assert!(!text.contains("best "), "a sweep of one setting has no best one: {text}");
}

#[test]
fn backgammon_runs_are_compared_by_the_goal_column() {
    let scratch = Scratch::new();
    let knob = "--knob lr=0.001,0.003 --seeds 1 --games 24";
    let args = format!("sweep backgammon {knob} {SMALL_GAMES} --out runs.jsonl");
    let log = scratch.records(&args);
    let summary = log.last().unwrap();
    assert_eq!((&summary["finished"], &summary["complete"]), (&2.into(), &true.into()));
    let room = run::room("backgammon").unwrap();
    let goal = room.variants()[0].goal;
    let column = goal.map_or(room.schema().tests[0].name, |goal| goal.column);
    for run in runs(&scratch.path("runs.jsonl")) {
        assert_eq!((&run["room"], &run["progress"]["games"]), (&"backgammon".into(), &24.into()));
        assert_eq!(run["result"], run["test"][column]);
    }
    let plain = scratch.stdout(&args);
    assert!(plain.contains("runs.jsonl already contains 2 of 2 runs") && plain.contains("games to solved"), "{plain}");
}

/// The program prints the limit before the first run, so a user can stop a sweep that would take hours.
#[test]
fn each_variant_declares_a_default_limit() {
    let scratch = Scratch::new();
    for room in run::rooms() {
        for variant in room.variants() {
            let unit = room.schema().counters[0].unit;
            let (id, variant_id) = (room.schema().id, &variant.id);
            let mut running = scratch.spawn(format!("sweep {id} --variant {variant_id} --seeds 1"));
            let message = running.read_to(" each until ");
            let budget = message.lines().last().unwrap().rsplit(" each until ").next().unwrap().to_string();
            let number: f64 = budget.strip_suffix(&format!(" {unit}")).unwrap().replace(',', "").parse().unwrap();
            assert_eq!(number, variant.sweep_budget, "{}: {budget}", variant.id);
            // A game takes far longer than a step, so the default number of games is limited.
            assert!(unit != "games" || number <= 1e5, "{budget}");
        }
    }
}
