//! Compares the trained weights of every variant with tests/golden/digests.txt. A change that should keep all bits must not change the
//! file. `DIGESTS=write cargo test --release -p run --test run digests` writes the file again, on a machine with fused multiply-add.

use crate::common::*;
use math::Isa;
use math::par::Threads;
use run::Host;
use run::protocol::{Command, Config, Value};
use std::collections::BTreeSet;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/digests.txt");
const SEED: u32 = 7;
/// Number of iterations of training. Within these iterations, every learner updates its weights, even if it first fills a replay.
const ITERATIONS: u32 = 6;
const THREADS: [usize; 2] = [1, 3];

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

/// Returns the name and the config of every run in the golden file. The test room `bandit` is excluded.
fn runs() -> Vec<(String, Config)> {
    let presets = every(SEED).into_iter().map(|(_, config)| (format!("{} {}", config.room, config.variant), config));
    let presets = presets.filter(|(_, config)| config.room != "bandit");
    let more = MORE.iter().map(|(room, variant, knobs)| {
        let mut config = small(room, variant, SEED);
        for (name, text) in knobs.split('&').map(|knob| knob.split_once('=').unwrap()) {
            let value = text.parse().map_or_else(|_| Value::from(text), |number: f64| number.into());
            config.knobs.insert(name.into(), value);
        }
        (format!("{room} {variant} {knobs}"), config)
    });
    presets.chain(more).collect()
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
    train(&mut *run, ITERATIONS);
    let digest = run.digest();
    assert_eq!((digest.iteration, &*digest.arithmetic), (ITERATIONS, arithmetic));
    assert_ne!(digest.weights, before, "the weights are the initial ones");
    digest.weights
}

/// Returns the golden line of a run. Asserts that the number of threads does not change the line.
fn line(name: &str, config: &Config, (arithmetic, isa): (&str, Isa)) -> String {
    let [one, three] = THREADS.map(|count| {
        let threads = Threads::of(count).expect("the thread pool was not created");
        threads.run(|| weights(config, isa, arithmetic))
    });
    assert_eq!(one, three, "{name}, {arithmetic}: by {} threads and by {}", THREADS[0], THREADS[1]);
    format!("{name} {arithmetic} {one}")
}

#[test]
fn trained_weights_match_golden_digests() {
    let classes = classes();
    let runs = runs();
    let lines = runs.iter().flat_map(|(name, config)| classes.iter().map(move |&class| line(name, config, class)));
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
