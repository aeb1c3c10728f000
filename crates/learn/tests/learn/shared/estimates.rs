//! Memory estimates must not overflow if `usize` has 32 bits, as in a browser. After an overflow, a size beyond the address space would
//! appear small.

use learn::cube::{DqnConfig, NetConfig, Preset, Signal, SupervisedConfig};
use learn::logic::experiment::{self, Config as LogicConfig};
use learn::logic::population::Population;
use learn::words::{Config, Mlp, Positions, Pretrainer, Reader, Shape};
use testkit::test;
use worlds::cube::Three;

/// Returns the size in bytes of an f32 array with these side lengths.
fn floats(lengths: &[u64]) -> u64 {
    4 * lengths.iter().product::<u64>()
}

#[track_caller]
fn at_least(estimated: u64, least: u64) {
    assert!(estimated >= least && least > 1 << 32, "estimate of {estimated} bytes, but at least {least} are needed");
}

#[test]
fn deep_and_wide_networks_of_the_cube() {
    let net = |net: NetConfig| NetConfig { hidden: vec![4096], blocks: 32, ..net };
    // A block has two layers of 4096 by 4096 weights. Each weight needs six floats: the weight, its gradient, two moments, and two packed
    // copies.
    let weights = floats(&[6, 2, 32, 4096, 4096]);
    let preset = SupervisedConfig::preset::<Three>(Signal::WalkLength);
    let supervised = SupervisedConfig { net: net(preset.net.clone()), ..preset };
    at_least(supervised.bytes::<Three>(), weights);
    // The output of each layer is kept for the gradient.
    let wide = SupervisedConfig { batch: 65_536, walk: 1, ..supervised };
    at_least(wide.bytes::<Three>(), weights + floats(&[2, 32, 65_536, 4096]));
    let preset = DqnConfig::preset(Preset::Tuned);
    let dqn = DqnConfig { net: net(preset.net.clone()), ..preset };
    at_least(dqn.bytes::<Three>(), weights);
}

#[test]
fn large_models_of_words() {
    let (positions, mlp) = (Positions::Learned, Mlp::Gelu);
    let shape = Shape { vocab: 256, width: 2048, layers: 32, heads: 32, context: 1024, positions, mlp, ..Shape::default() };
    let config = Config { shape, batch: 1, micro: 1, ..Config::default() };
    let products = shape.products();
    assert_eq!(products, 32 * 12 * 2048 * 2048 + 256 * 2048);
    at_least(Reader::bytes(&shape), floats(&[products]));
    at_least(Pretrainer::bytes(&config).unwrap(), floats(&[6, products]));
}

#[test]
fn large_populations_of_automata() {
    let config = LogicConfig::preset(experiment::Preset::Lizard);
    let config = LogicConfig { batch: 2, steps: 200, population: 256, ..config };
    let experiment = config.experiment().unwrap();
    let (shape, rollout) = (&experiment.architecture, &experiment.training);
    let cells = [rollout.width, rollout.height, rollout.batch, shape.channels].map(|n| n as u64);
    // The states of all steps of all rollouts are kept.
    let states = floats(&[256, 200, cells.iter().product()]);
    at_least(Population::bytes(&config).unwrap(), states);
}
