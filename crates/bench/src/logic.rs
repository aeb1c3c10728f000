//! Benchmarks of the logic room: training steps of one automaton, and a hardened circuit (each gate is one fixed operation) on a large
//! grid.

#[cfg(feature = "device")]
pub mod device;

use crate::measure::{Bench, Clock, alone, rates, warmed_ms};
use learn::logic::automaton::{Automaton, GateForm};
use learn::logic::circuit::{Circuit, PackedGrid};
use learn::logic::experiment::{Config, Experiment, Preset};
use learn::logic::train::{Optimiser, Trainer};
use learn::logic::{OPS, Wirings};
use math::rounds::rounds_s;
use math::{Isa, Rng};

/// Runs the CPU benchmarks of the logic room. A benchmark uses one core if the name of its figure contains `core`, otherwise all cores.
pub fn measure(bench: &mut Bench) {
    let (isa, now) = (bench.isa, bench.now);
    bench.give("logic.checkerboard.step_ms_core", &alone(|| step_ms(Preset::Checkerboard, isa, now)), "ms");
    bench.give("logic.checkerboard.step_ms", &step_ms(Preset::Checkerboard, isa, now), "ms");
    bench.give("logic.life.step_ms", &step_ms(Preset::Life, isa, now), "ms");
    bench.give("logic.async.step_ms_core", &alone(|| step_ms(Preset::Asynchronous, isa, now)), "ms");
    bench.give("logic.lizard.step_ms_core", &alone(|| step_ms(Preset::Lizard, isa, now)), "ms");
    bench.give("logic.g.step_ms_core", &alone(|| step_ms(Preset::ColourG, isa, now)), "ms");
    bench.give("logic.hard.gate_cells_per_s_core", &alone(|| hard_rates(isa, now)), "gate-cells/s");
}

/// Returns the milliseconds per update, in each round, for an automaton of the published shape (see `learn::logic`).
fn step_ms(preset: Preset, isa: Isa, now: Clock) -> Vec<f64> {
    let config = Config::published(preset);
    let experiment = config.experiment().expect("a preset has a valid target");
    let rollout = &experiment.training;
    let cells = rollout.batch * rollout.width * rollout.height;
    let mut start = vec![0.0; cells * experiment.architecture.channels];
    let mut target = vec![0.0; cells * experiment.shown()];
    experiment.fill(1, 0, (0.0, &[]), &mut start, &mut target);
    let mut trainer = trainer(&config, &experiment, 1, isa);
    warmed_ms(now, || _ = trainer.step(&start, &target, experiment.shown()))
}

fn trainer(config: &Config, experiment: &Experiment, seed: u32, isa: Isa) -> Trainer {
    let shape = &experiment.architecture;
    let wirings = Wirings::new(shape, config.wiring, seed).expect("the published shape can be wired");
    let automaton = Automaton::new(shape.clone(), wirings, GateForm::Softmax);
    Trainer::new(isa, automaton, experiment.training.clone(), Optimiser::default(), seed)
}

/// Returns the gate evaluations per second, in each round. Each step evaluates every gate of a hardened circuit with random operations for
/// every cell.
fn hard_rates(isa: Isa, now: Clock) -> Vec<f64> {
    const SIDE: usize = 512;
    let config = Config::preset(Preset::Checkerboard);
    let shape = config.experiment().expect("a preset has a valid target").architecture;
    let wirings = Wirings::new(&shape, config.wiring, 1).expect("the published shape can be wired");
    let mut numbers = Rng::new(7, 3).sequence(0);
    let ops: Vec<u8> = (0..shape.gates()).map(|_| numbers.below(OPS as u32) as u8).collect();
    let circuit = Circuit::harden(&shape, &wirings, &ops).pruned();
    let mut packed = PackedGrid::new(isa, &circuit, SIDE, SIDE, true);
    packed.edit(|_, _, words| words.iter_mut().for_each(|word| *word = numbers.word()));
    let work = (packed.gates() * SIDE * SIDE) as f64;
    rates(work, &rounds_s(&now, || packed.run(1)))
}
