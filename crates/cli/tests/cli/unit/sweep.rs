//! Tests of the results file of a sweep.

use clap::Parser;
use cli::internals::{Cli, Line, Machine, Sweep, Verb};
use serde_json::{Value, json};

#[test]
fn result_files_fuzz() {
    let words = "hothouse sweep control --knob lr=0.05,0.01 --seeds 2 --steps 8192 --until-solved --threads 1";
    let Some(Verb::Sweep { args, .. }) = Cli::parse_from(words.split(' ')).command else { panic!("{words} is a sweep") };
    let (sweep, opened) = Sweep::new(run::room("control").unwrap(), &args, &Machine::new(&args.machine).unwrap()).unwrap();
    let finished = json!({
        "kind": "sweep_run",
        "room": "control",
        "variant": "CartPole-v1",
        "knobs": { "lr": 0.05 },
        "seed": 1,
        "limit": { "steps": 8192, "seconds": null, "until_solved": true },
        "arithmetic": opened.arithmetic,
        "version": opened.version,
        "progress": { "iteration": 2, "steps": 8192.0 },
        "seconds": 1.5,
        "metrics": { "return": 20.0 },
        "test": { "mean": 21.0 },
        "result": 21.0,
        "solved_at": null,
        "diverged": false,
        "digest": "0123456789abcdef",
    });
    let line = serde_json::from_value::<Line>(finished).unwrap().text();
    let (done, whole) = sweep.read(format!("{line}\n").as_bytes()).unwrap();
    assert_eq!((done.len(), whole), (1, line.len() + 1));
    let document: Value = serde_json::from_str(&line).unwrap();
    testkit::fuzz("sweep file", testkit::cases(300), |mutator| {
        let file = match mutator.below(2) {
            0 => mutator.bytes(format!("{line}\n{line}\n").as_bytes()),
            _ => format!("{}\n{line}\n", mutator.json(&document)).into_bytes(),
        };
        match sweep.read(&file) {
            Err(error) => assert!(error.len() > 10, "{error}"),
            Ok((done, whole)) => {
                assert!(whole <= file.len());
                sweep.outcomes(&done);
                done.values().for_each(|run| drop(Line::SweepRun(run.clone()).text()));
            }
        }
    });
}
