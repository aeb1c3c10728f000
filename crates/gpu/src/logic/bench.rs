//! A population of published checkerboards, all members in one step, and the same by the processor beside it.

use super::GpuPopulation;
use crate::Gpu;
use crate::bench::report::{Sink, count, give};
use learn::logic::automaton::{Automaton, GateForm};
use learn::logic::experiment::{Config, Experiment, Preset};
use learn::logic::offload::{Local, OffloadSpec, Trained};
use learn::logic::train::{Optimiser, Trainer};
use learn::logic::{Wiring, Wirings};
use learn::offload::request;
use learn::{Fault, Machine};
use math::Isa;

pub fn all(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    let refused = |why: String| Fault::Refused { why };
    let experiment = Config::published(Preset::Checkerboard).experiment();
    let experiment = experiment.map_err(|error| refused(error.to_string()))?;
    let members = if gpu.about().software { 2 } else { 64 };
    let spec = OffloadSpec {
        architecture: experiment.architecture.clone(),
        form: GateForm::Softmax,
        rollout: experiment.training.clone(),
        loss_channels: experiment.shown(),
        members,
    };
    let trainers = (0..members as u32).map(|seed| {
        let wirings = Wirings::new(&spec.architecture, Wiring::Unique, seed);
        let wirings = wirings.map_err(|error| refused(error.to_string()))?;
        let automaton = Automaton::new(spec.architecture.clone(), wirings, spec.form);
        Ok(Trainer::new(isa, automaton, spec.rollout.clone(), Optimiser::default(), seed))
    });
    let trainers: Vec<Trainer> = trainers.collect::<Result<_, Fault>>()?;
    let of = format!("a step of {members} published checkerboards at once");
    let there = GpuPopulation::new(gpu, &spec)?;
    count(sink, "gpu.logic.checkerboards.dispatches", there.dispatches() as f64, of.clone());
    count(sink, "gpu.logic.checkerboards.mb", 1e-6 * there.bytes() as f64, "MB on the device");
    drop(there);
    let steps_ms = steps_ms(gpu, &spec, &experiment, &trainers, now)?;
    give(sink, "gpu.logic.checkerboards.step_ms", &steps_ms, format!("ms, {of}"));
    let beside_ms = self::steps_ms(&Local(isa), &spec, &experiment, &trainers, now)?;
    let unit = format!("ms, {of}, all threads beside it");
    give(sink, "gpu.beside.logic.checkerboards.step_ms", &beside_ms, unit);
    Ok(())
}

/// Milliseconds of a step in rounds that are iterations as a run has them, each with a few steps and one answer.
fn steps_ms(
    machine: &dyn Machine,
    spec: &OffloadSpec,
    experiment: &Experiment,
    trainers: &[Trainer],
    now: &dyn Fn() -> f64,
) -> Result<Vec<f64>, Fault> {
    const LEAST: usize = 3;
    const FILL_S: f64 = 1.0;
    let steps = if machine.is_software() { 2 } else { 10 };
    let mut there = request(machine, spec)?;
    let [mut starts, mut targets] = spec.sizes().map(|size| vec![0.0; spec.members * size]);
    let sizes = spec.sizes();
    for (i, trainer) in trainers.iter().enumerate() {
        there.set_member(i, trainer)?;
        let [start, target] = [&mut starts, &mut targets].map(|all| all.as_mut_slice());
        experiment.fill(trainer.seed(), 0, (0.0, &[]), &mut start[i * sizes[0]..][..sizes[0]], &mut target[i * sizes[1]..][..sizes[1]]);
    }
    let mut trained = Trained::default();
    let mut iteration = || -> Result<f64, Fault> {
        let began_s = now();
        for _ in 0..steps {
            there.step(&Optimiser::default(), &vec![true; spec.members], &starts, &targets)?;
        }
        there.ask()?;
        while !there.poll(&mut trained)? {}
        Ok(1e3 * (now() - began_s) / steps as f64)
    };
    iteration()?;
    let (began_s, mut rounds_ms) = (now(), Vec::new());
    while rounds_ms.len() < LEAST || now() - began_s < FILL_S {
        rounds_ms.push(iteration()?);
    }
    Ok(rounds_ms)
}
