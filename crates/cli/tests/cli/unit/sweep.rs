//! Tests of the results file of a sweep.

use anyhow::Result;
use clap::Parser;
use cli::internals::{Cli, Line, Machine, Sweep, Verb};
use run::protocol::Backend;
use serde_json::{Value, json};

/// Returns the sweep of a command line, and the arithmetic and version of its results.
fn sweep(words: &str) -> Result<(Sweep, Backend)> {
    let words = format!("hothouse sweep control {words}");
    let Some(Verb::Sweep { args, .. }) = Cli::parse_from(words.split(' ')).command else { panic!("{words} is a sweep") };
    Sweep::new(run::room("control").unwrap(), &args, &Machine::new(&args.machine).unwrap())
}

/// Arguments of the sweep to which [`finished`] belongs.
const ARGS: &str = "--knob lr=0.05,0.01 --seeds 2 --steps 8192 --until-solved --threads 1";

fn finished(opened: &Backend) -> Value {
    json!({
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
    })
}

fn text(finished: &Value) -> String {
    serde_json::from_value::<Line>(finished.clone()).unwrap().text() + "\n"
}

#[test]
fn a_result_belongs_to_the_sweep_with_the_same_config_and_limit() {
    let (sweep, opened) = sweep(ARGS).unwrap();
    let real = finished(&opened);
    for (path, value, belongs) in [
        ("/seed", json!(7), true),
        ("/knobs/lr", json!(0.01), true),
        ("/knobs/lr", json!(0.02), false),
        ("/room", json!("cube"), false),
        ("/variant", json!("Pendulum-v1"), false),
        ("/limit/steps", json!(8193), false),
        ("/limit/seconds", json!(2.0), false),
        ("/limit/until_solved", json!(false), false),
        ("/arithmetic", json!("bf16"), false),
        ("/version", json!("0.0.1"), false),
    ] {
        let mut other = real.clone();
        *other.pointer_mut(path).unwrap() = value;
        let file = text(&real) + &text(&other);
        assert_eq!(sweep.read(file.as_bytes()).is_ok(), belongs, "{other}");
    }
    // Of two results of one run, the first counts.
    let mut again = real.clone();
    again["result"] = 99.0.into();
    let (done, _) = sweep.read((text(&real) + &text(&again)).as_bytes()).unwrap();
    assert_eq!((done.len(), sweep.outcomes(&done)[0].result.median), (1, Some(21.0)));
    assert_eq!(sweep.outcomes(&done).iter().map(|outcome| outcome.runs).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn only_the_beginning_of_a_line_is_an_incomplete_line() {
    let (sweep, opened) = sweep(ARGS).unwrap();
    let line = text(&finished(&opened));
    for (rest, is_read) in
        [("", true), ("{", true), ("{\"kind\":\"sweep_run\",\"ro", true), ("notes", false), ("{\"kind\":\"notes\"", false)]
    {
        let read = sweep.read(format!("{line}{rest}").as_bytes());
        assert_eq!(read.map(|(_, whole)| whole).ok(), is_read.then_some(line.len()), "{rest}");
    }
}

/// Runs that train at the same time share the memory.
#[test]
fn memory_is_divided_among_the_parallel_runs() {
    let fits = |threads: u32, memory_bytes: u64| {
        let words = format!("hothouse sweep control --seeds 2 --steps 1 --threads {threads}");
        let Some(Verb::Sweep { args, .. }) = Cli::parse_from(words.split(' ')).command else { panic!("{words} is a sweep") };
        let mut machine = Machine::new(&args.machine).unwrap();
        machine.host.memory_bytes = memory_bytes;
        Sweep::new(run::room("control").unwrap(), &args, &machine).is_ok()
    };
    let enough = (20..50).map(|bits| 1 << bits).find(|&bytes| fits(1, bytes)).unwrap();
    assert!(!fits(1, enough / 2) && !fits(2, enough) && fits(2, 2 * enough));
    assert!(fits(8, 2 * enough), "only two runs train at the same time");
}

#[test]
fn a_sweep_has_100_000_runs_at_most() {
    let most = "--knob lr=1e-4..1e-2 --points 100";
    assert!(sweep(&format!("{most} --seeds 1000")).is_ok());
    let error = sweep(&format!("{most} --seeds 1001")).map(drop).unwrap_err().to_string();
    assert!(error.contains("more than 100,000 runs"), "{error}");
}

#[test]
fn result_files_fuzz() {
    let (sweep, opened) = sweep(ARGS).unwrap();
    let finished = finished(&opened);
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
