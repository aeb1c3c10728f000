//! Files and links of format 1 still open, and go on as the program that made them would have. Both files were saved by
//! Hothouse at commit 0e3bb78 with a fused instruction set, which also went on from them and said what it came to:
//! tests/golden/checkpoints_v1.rs made them.

use crate::common::*;
use math::Isa;
use run::protocol::{Command, Config, DeviceWish, Digest, Event, Progress, Value};
use run::{AnyRun, Host, VERSION, permalink};
use serde_json::json;

const CONTROL: &[u8] = include_bytes!("../../../../tests/golden/control.v1.safetensors");
const BACKGAMMON: &[u8] = include_bytes!("../../../../tests/golden/backgammon.v1.safetensors");

/// In the order in which format 1 had them.
const CONTROL_HISTORY: [&str; 23] = [
    "iteration",
    "env_steps",
    "episodes",
    "train_s",
    "mean_return",
    "mean_length",
    "policy_loss",
    "value_loss",
    "entropy",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
    "grad_norm",
    "lr",
    "steps_per_s",
    "policy",
    "world",
    "advantages",
    "gather",
    "gradient",
    "update",
    "rest",
    "device",
];
const BACKGAMMON_HISTORY: [&str; 22] = [
    "iteration",
    "games",
    "moves",
    "evaluations",
    "updates",
    "train_s",
    "loss",
    "grad_norm",
    "lr",
    "games_per_min",
    "evals_per_s",
    "mean_length",
    "gammons",
    "backgammons",
    "rules",
    "inputs",
    "network",
    "tree",
    "targets",
    "learning",
    "device",
    "rest",
];

/// Every number of the file's history stands in the row under its name.
fn history_is_read_by_name(file: &[u8], names: &[&str], run: &mut dyn AnyRun) {
    let schema = run.schema();
    let began = Told::by(run).began().clone();
    let mut parts = apart(file);
    let numbers: Vec<f64> = parts
        .tensor("run.history")
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(began.history.len(), numbers.len() / names.len());
    for (row, numbers) in began.history.iter().zip(numbers.chunks_exact(names.len())) {
        for (name, &number) in names.iter().zip(numbers) {
            let found = match *name {
                "iteration" => Some(f64::from(row.progress.iteration)),
                "train_s" => Some(row.progress.train_s),
                name => match (schema.counter(name), schema.metric(name)) {
                    (Some(at), _) => Some(row.progress.counts[at]),
                    (None, Some(at)) => row.values[at],
                    (None, None) => {
                        let part = schema.all_parts().position(|part| part.name == name);
                        row.values[schema.metrics.len() + part.unwrap_or_else(|| panic!("no {name}"))]
                    }
                },
            };
            assert_eq!(found, Some(number).filter(|x| !x.is_nan()), "{name}");
        }
        let tests = schema.all_parts().position(|part| part.name == "tests").unwrap();
        assert_eq!(row.values[schema.metrics.len() + tests], Some(0.0), "format 1 did not tell it apart");
    }
    assert_eq!(began.history.last().unwrap().progress, began.progress);
}

/// What the old program came to from the file after so many iterations more.
fn goes_on(file: &[u8], more: u32, fused: &str, unfused: &str) {
    for isa in Isa::available() {
        let mut run = run::restore(file, Host { isa, ..host() }).unwrap();
        run.command(Command::Device { wish: DeviceWish::Cpu }).unwrap();
        run.command(Command::Start).unwrap();
        let to = run.progress().iteration + more;
        train(&mut *run, to);
        let (weights, arithmetic) = if isa.fused() { (fused, "fused") } else { (unfused, "mixed") };
        let expected = Digest { iteration: to, weights: weights.into(), arithmetic: arithmetic.into() };
        assert_eq!(run.digest(), expected, "{}", isa.name());
        // What it saves now is of today's format, and the same run.
        let mut again = run::restore(&run.save().unwrap(), Host { isa, ..host() }).unwrap();
        assert_eq!(again.digest(), expected);
        let began = Told::by(&mut *again);
        assert_eq!(began.began().history.len() as u32, to);
    }
}

#[test]
fn a_file_of_control_is_read_whole() {
    let mut run = run::restore(CONTROL, host()).unwrap();
    let told = run.events();
    let Some(Event::Began(began)) = told.first() else { panic!("{told:?}") };
    let list = [("envs", 64.0), ("rollout_steps", 16.0), ("hidden", 8.0), ("minibatches", 2.0)];
    let config =
        Config { version: 1, ..Config { knobs: knobs(&list), ..small("control", "CartPole-v1", 1) } };
    assert_eq!(began.config, config);
    assert_eq!(began.progress.counts, [106_496.0, 967.0]);
    assert_eq!((began.progress.iteration, began.progress.train_s), (104, 0.9350000000000007));
    let [mark] = &began.marks[..] else { panic!("{:?}", began.marks) };
    assert_eq!((&*mark.knob, &mark.from, &mark.to), ("entropy", &Value::Number(0.01), &Value::Number(0.005)));
    assert_eq!((mark.progress.iteration, &mark.progress.counts[..]), (10, &[10_240.0, 388.0][..]));
    assert_eq!(began.knobs["entropy"], Value::Number(0.005));
    assert_eq!(run.config_now().changes[0].value, Value::Number(0.005));

    let solved = Progress { iteration: 89, counts: vec![91_136.0, 953.0], train_s: 0.8000000000000006 };
    // A test that came up to the goal was enough then; it was not confirmed.
    assert_eq!((run.solved(), &began.solved, began.attempts), (None, &None, 0));
    let iterations: Vec<_> = began.tests.iter().map(|row| row.progress.iteration).collect();
    assert_eq!(iterations, [2, 4, 7, 10, 13, 17, 33, 47, 60, 73, 89]);
    // Mean, least, greatest return and episodes.
    let values = |list: [f64; 4]| list.map(Some).to_vec();
    assert_eq!(began.tests[1].values, values([206.9600067138672, 60.0, 500.0, 100.0]));
    assert_eq!(began.tests[10].values, values([475.20001220703125, 292.0, 500.0, 100.0]));
    assert_eq!(began.tests[10].progress, solved);
    let [.., Event::Running { running: false }] = &told[..] else {
        // Another arithmetic says so in a notice, and nothing else is told.
        assert!(!Isa::best().fused() && matches!(told.last(), Some(Event::Notice { .. })));
        return testkit::skip("its digest: this machine's arithmetic is not that of the file");
    };
    assert_eq!(run.digest().weights, "ab389330c7dba633");
}

#[test]
fn the_history_of_a_file_of_control_stands_under_its_names() {
    let mut run = run::restore(CONTROL, host()).unwrap();
    history_is_read_by_name(CONTROL, &CONTROL_HISTORY, &mut *run);
}

#[test]
fn a_run_of_control_goes_on_as_the_program_that_saved_it_did() {
    goes_on(CONTROL, 32, "9fdad4abdd13d0ff", "08001a008e83f1ed");
}

#[test]
fn a_file_of_backgammon_is_read_whole() {
    let mut run = run::restore(BACKGAMMON, host()).unwrap();
    let told = Told::by(&mut *run);
    let began = told.began();
    assert_eq!(began.config, Config { version: 1, ..small("backgammon", "strong", 3) });
    assert_eq!(
        (began.progress.iteration, &began.progress.counts[..]),
        (12, &[288.0, 53_230.0, 982_442.0, 399.0][..])
    );
    assert_eq!(run.digest().weights, "1eef130270dd68fb");
    let [mark] = &began.marks[..] else { panic!("{:?}", began.marks) };
    assert_eq!((&*mark.knob, &mark.from, &mark.to), ("lr", &Value::Number(0.001), &Value::Number(0.002)));
    assert_eq!((mark.progress.iteration, mark.progress.counts[0]), (2, 48.0));

    // What was tested, by the names of the columns.
    let [test] = &began.tests[..] else { panic!("{:?}", began.tests) };
    assert_eq!(
        (test.progress.iteration, &test.progress.counts[..]),
        (5, &[120.0, 36_631.0, 709_346.0, 279.0][..])
    );
    for (name, value) in [
        ("random_points", 0.99),
        ("random_error", 0.11145955465204552),
        ("random_wins", 0.77),
        ("random_gammons_won", 0.43),
        ("random_gammons_lost", 0.1),
        ("random_games", 200.0),
        ("linear_points", -2.2),
        ("linear_error", 0.04714045207910304),
        ("linear_wins", 0.015),
        ("linear_gammons_won", 0.0),
        ("linear_gammons_lost", 0.91),
        ("linear_games", 200.0),
    ] {
        assert_eq!(test.values[run.schema().test(name).unwrap()], Some(value), "{name}");
    }
    assert_eq!(run.solved(), None);

    // No agent was kept, and the game in progress.
    assert_eq!(began.room["frozen"], json!([]));
    let session: serde_json::Value = ask(&mut *run, json!({ "ask": "session" })).unwrap();
    assert_eq!(
        (&session["position"]["id"], &session["phase"]),
        (&json!("kl+RATDgc/ABCQ"), &json!("to_play"))
    );
    assert_eq!((session["moves"].as_array().unwrap().len(), &session["setup"]["length"]), (7, &json!(3)));
}

/// The file is of a run's first minute. Later ones of format 1 have agents as they were, each with its weights, here the learner's.
#[test]
fn agents_that_a_file_of_backgammon_kept_are_there_to_play() {
    let mut parts = apart(BACKGAMMON);
    parts.header["frozen"] = json!([{ "minutes": 1, "progress": {
        "rounds": 6, "games": 144, "moves": 39205, "evaluations": 747998, "updates": 298, "train_s": 71.2,
    } }]);
    let mut kept = parts.tensors.iter().find(|t| t.0 == "strong.weights").unwrap().clone();
    kept.0 = "frozen.1".into();
    // First, as the checksum has them.
    parts.tensors.insert(0, kept);
    let mut run = run::restore(&parts.together(), host()).unwrap();
    let began = Told::by(&mut *run).began().clone();
    let frozen = &began.room["frozen"];
    assert_eq!((frozen.as_array().unwrap().len(), &frozen[0]["minutes"]), (1, &json!(1)));
    assert_eq!(frozen[0]["progress"]["iteration"], 6);
    assert_eq!(frozen[0]["progress"]["counts"], json!([144.0, 39_205.0, 747_998.0, 298.0]));
    let mut asked = |who: serde_json::Value| -> serde_json::Value {
        let request = json!({ "id": "4HPwATDgc/ABMA", "dice": [3, 1], "who": who, "evals": 1 });
        ask(&mut *run, json!({ "ask": "analyse", "request": request })).unwrap()
    };
    let (then, now) = (asked(json!({ "kind": "frozen", "minutes": 1 })), asked(json!({ "kind": "now" })));
    assert_eq!(then["name"], "agent at 1 min");
    assert_eq!(then["candidates"], now["candidates"]);

    parts.tensors[0].3.truncate(4);
    parts.tensors[0].2 = vec![1];
    let error = clear(&run::restore(&parts.together(), host()).err().unwrap());
    assert!(error.contains("frozen.1"), "{error}");
}

#[test]
fn the_history_of_a_file_of_backgammon_stands_under_its_names() {
    let mut run = run::restore(BACKGAMMON, host()).unwrap();
    history_is_read_by_name(BACKGAMMON, &BACKGAMMON_HISTORY, &mut *run);
}

#[test]
fn a_run_of_backgammon_goes_on_as_the_program_that_saved_it_did() {
    goes_on(BACKGAMMON, 16, "d3634b9dc23365d2", "48e535a3db0c3f9a");
}

#[test]
fn links_of_format_1_are_read() {
    let read = |link: &str| permalink::decode(link, host()).unwrap();
    let link =
        read("#/control?env=Acrobot-v1&seed=7&hidden=32&lr=0.003&v=1&digest=32.0123456789abcdef.fused");
    let config = Config {
        variant: "Acrobot-v1".into(),
        seed: 7,
        knobs: knobs(&[("hidden", 32.0), ("lr", 0.003)]),
        ..run::config_of(room("control"))
    };
    assert_eq!(link.config, config);
    assert_eq!((link.config.version, link.digest.unwrap().iteration), (VERSION, 32));
    let link = read("#/backgammon?env=published&seed=3&evals=16&v=1");
    assert_eq!((&*link.config.variant, &link.config.knobs["evals"]), ("published", &Value::Number(16.0)));
    let old: Config = serde_json::from_value(json!({
        "version": 1, "room": "control", "env": "Pendulum-v1", "seed": 2, "knobs": { "lr": 0.002 }
    }))
    .unwrap();
    run::validate(&old, host()).unwrap();
    assert_eq!(old.variant, "Pendulum-v1");
}

/// A restored run of format 1 that is shown in a monitor, which has columns of today.
#[test]
fn an_old_file_can_be_watched() {
    for file in [CONTROL, BACKGAMMON] {
        let mut run = run::restore(file, host()).unwrap();
        let memory = run::monitor::heap(run.schema());
        let mut writer = run::monitor::Writer::new(Box::new(memory.clone()), run.schema(), "about").unwrap();
        let told = run.events();
        told.iter().for_each(|event| writer.event(event));
        let mut reader = run::monitor::Reader::open(Box::new(memory)).unwrap();
        let read = reader.poll();
        assert_eq!(read[0], run::monitor::Told::Event(told[0].clone()));
    }
}
