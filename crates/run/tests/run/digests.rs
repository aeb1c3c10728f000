//! Compares the trained weights of every variant with tests/golden/digests.txt. A change that should keep all bits must not change the
//! file. `DIGESTS=write cargo test --release -p run --test run digests` writes the file again, on a machine with fused multiply-add.
//!
//! A line contains room, variant, knobs in the form of a link, the class of arithmetic and the digest. Tests of the page's modules, of
//! other browsers and of other processors train the same runs and compare with the same lines (`scripts/digests.mjs`).

use crate::common::*;
use math::Isa;
use math::par::Threads;
use run::protocol::{Command, Config, Value};
use run::{DIGEST_EVERY, Host};
use std::collections::BTreeSet;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/digests.txt");
const SEED: u32 = 7;
/// Number of threads of each class of arithmetic. With `--all`, each class trains with both numbers.
const THREADS: [(&str, usize); 2] = [("fused", 3), ("unfused", 1)];

/// Runs with settings that no variant has by default: room, variant, and knobs in the form of a link.
const MORE: [(&str, &str, &str); 11] = [
    ("control", "CartPole-v1", "normalize_observation=1&normalize_reward=1&clip_value=1"),
    ("control", "Pendulum-v1", "squash=1"),
    ("control", "Acrobot-v1", "shared=1&tanh=0"),
    ("backgammon", "strong", "handmade=0&bearoff=0"),
    ("cube", "2x2x2", "blocks=1&norm=1&inputs=folded&metric=htm"),
    ("cube", "2x2x2-dqn-published", "hindsight=0.5&prioritised=1&n_step=3"),
    ("logic", "checkerboard", "gates=gumbel&wiring=random"),
    ("logic", "life", "gates=four"),
    ("words", "char", "mlp=gelu&norm=layer&positions=learned&tied=0&bias=1"),
    ("words", "char", "dropout=0.2&tokenizer=bytes"),
    ("words", "d256", "mlp=swiglu&norm=rms&positions=rotary&tokenizer=chars"),
];

/// Returns the config of every run in the golden file. The test room `bandit` is excluded.
fn runs() -> Vec<Config> {
    let presets = every(SEED).into_iter().map(|(_, config)| config).filter(|config| config.room != "bandit");
    let more = MORE.iter().map(|(room, variant, knobs)| {
        let mut config = small(room, variant, SEED);
        for (name, text) in knobs.split('&').map(|knob| knob.split_once('=').unwrap()) {
            let value = text.parse().map_or_else(|_| Value::from(text), |number: f64| number.into());
            config.knobs.insert(name.into(), value);
        }
        config
    });
    presets.chain(more).collect()
}

/// Returns the start of the run's lines in the golden file: room, variant and knobs.
fn name(Config { room, variant, knobs, .. }: &Config) -> String {
    let knob = |(name, value): (&String, &Value)| match value {
        Value::Number(number) => format!("{name}={number}"),
        Value::Text(text) => format!("{name}={text}"),
    };
    format!("{room} {variant} {}", knobs.iter().map(knob).collect::<Vec<_>>().join("&"))
}

/// Returns one instruction set for each class of arithmetic on this machine. All instruction sets of a class give the same bits.
fn classes() -> Vec<(&'static str, Isa)> {
    let fused = Some(Isa::best()).filter(|isa| isa.fused()).map(|isa| ("fused", isa));
    fused.into_iter().chain([("unfused", Isa::Portable)]).collect()
}

fn weights(config: &Config, isa: Isa, arithmetic: &str) -> String {
    let mut run = run::begin(config.clone(), Host::new(isa)).unwrap();
    let before = run.digest().weights;
    run.command(Command::Start).unwrap();
    train(&mut *run, DIGEST_EVERY);
    let digest = run.digest();
    assert_eq!((digest.iteration, &*digest.arithmetic), (DIGEST_EVERY, arithmetic));
    assert_ne!(digest.weights, before, "the weights are the initial ones");
    digest.weights
}

/// Returns the golden line of a run. Asserts that the number of threads does not change the line, if several numbers are tried.
fn line(config: &Config, (arithmetic, isa): (&str, Isa)) -> String {
    let tried = THREADS.iter().filter(|(class, _)| testkit::all() || *class == arithmetic);
    let found: Vec<(usize, String)> = tried
        .map(|&(_, count)| {
            let threads = Threads::of(count).expect("the thread pool was not created");
            (count, threads.run(|| weights(config, isa, arithmetic)))
        })
        .collect();
    let name = name(config);
    assert!(found.iter().all(|(_, weights)| *weights == found[0].1), "{name}, {arithmetic}, by number of threads: {found:?}");
    format!("{name} {arithmetic} {}", found[0].1)
}

/// Trains a run of each room on every instruction set with fused multiply-add, such as AVX2 on a processor with AVX-512.
#[test]
fn fused_instruction_sets_give_equal_digests() {
    let sets: Vec<Isa> = Isa::available().into_iter().filter(|isa| isa.fused()).collect();
    if sets.len() < 2 {
        return testkit::skip("fused instruction sets against each other: this machine has fewer than two");
    }
    let mut rooms = BTreeSet::new();
    for config in runs().iter().filter(|config| rooms.insert(config.room.clone())) {
        let found: Vec<(Isa, String)> = sets.iter().map(|&isa| (isa, weights(config, isa, "fused"))).collect();
        assert!(found.iter().all(|(_, weights)| *weights == found[0].1), "{}: {found:?}", name(config));
    }
}

#[test]
fn trained_weights_match_golden_digests() {
    let classes = classes();
    let runs = runs();
    let lines = runs.iter().flat_map(|config| classes.iter().map(move |&class| line(config, class)));
    let found: Vec<String> = lines.collect();
    if std::env::var("DIGESTS").is_ok_and(|mode| mode == "write") {
        assert_eq!(classes.len(), 2, "only a machine with fused multiply-add has both classes");
        std::fs::write(PATH, found.join("\n") + "\n").unwrap();
    }
    let golden = std::fs::read_to_string(PATH).unwrap_or_default();
    let class_is_here = |line: &&str| classes.iter().any(|(class, _)| line.split(' ').rev().nth(1) == Some(class));
    let expected: BTreeSet<&str> = golden.lines().filter(class_is_here).collect();
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let (new, gone): (Vec<_>, Vec<_>) = (found.difference(&expected).collect(), expected.difference(&found).collect());
    assert!(new.is_empty() && gone.is_empty(), "digests or runs changed: see the head of this file\nnew: {new:#?}\ngone: {gone:#?}");
    if classes.len() == 1 {
        testkit::skip("the fused digests: this machine's multiply-add rounds twice");
    }
}
