//! Benchmark of a population of automata with the published checkerboard settings. The population is trained on the GPU, then on the CPU.
//! Each step trains all automata of the population.

use super::trainer;
use crate::device::{Device, iterations, refused};
use crate::measure::{Bench, Clock};
use gpu::logic::GpuPopulation;
use learn::logic::automaton::GateForm;
use learn::logic::experiment::{Config, Experiment, Preset};
use learn::logic::offload::{Local, OffloadSpec, Trained};
use learn::logic::train::{Optimiser, Trainer};
use learn::offload::request;
use learn::{Fault, Machine};

pub fn measure(device: &Device, bench: &mut Bench) -> Result<(), Fault> {
    let (isa, now) = (bench.isa, bench.now);
    let config = Config::published(Preset::Checkerboard);
    let experiment = config.experiment().map_err(refused)?;
    let members = if device.is_software() { 2 } else { 64 };
    let spec = OffloadSpec {
        architecture: experiment.architecture.clone(),
        form: GateForm::Softmax,
        rollout: experiment.training.clone(),
        loss_channels: experiment.shown(),
        members,
    };
    let trainers: Vec<Trainer> = (0..members as u32).map(|seed| trainer(&config, &experiment, seed, isa)).collect();
    let of = format!("a step of {members} published checkerboards");
    let there = GpuPopulation::new(device.gpu, &spec)?;
    bench.count("gpu.logic.checkerboards.dispatches", there.dispatches() as f64, of.clone());
    bench.count("gpu.logic.checkerboards.mb", 1e-6 * there.bytes() as f64, "MB on the device");
    drop(there);
    let there_ms = steps_ms(device.gpu, &spec, &experiment, &trainers, now)?;
    bench.give("gpu.logic.checkerboards.step_ms", &there_ms, format!("ms, {of}"));
    let beside_ms = steps_ms(&Local(isa), &spec, &experiment, &trainers, now)?;
    bench.give("gpu.beside.logic.checkerboards.step_ms", &beside_ms, format!("ms, {of}, all CPU threads"));
    Ok(())
}

/// Returns the milliseconds per step, in each round. A round is an iteration as in a run: a few steps, then one request for the result.
fn steps_ms(
    machine: &dyn Machine,
    spec: &OffloadSpec,
    experiment: &Experiment,
    trainers: &[Trainer],
    now: Clock,
) -> Result<Vec<f64>, Fault> {
    let steps = if machine.is_software() { 2 } else { 10 };
    let mut there = request(machine, spec)?;
    let sizes = spec.sizes();
    let [mut starts, mut targets] = sizes.map(|size| vec![0.0; spec.members * size]);
    let members = starts.chunks_mut(sizes[0]).zip(targets.chunks_mut(sizes[1]));
    for (i, (trainer, (start, target))) in trainers.iter().zip(members).enumerate() {
        there.set_member(i, trainer)?;
        experiment.fill(trainer.seed(), 0, (0.0, &[]), start, target);
    }
    let mut trained = Trained::default();
    iterations(now, || {
        let began_s = now();
        for _ in 0..steps {
            there.step(&Optimiser::default(), &vec![true; spec.members], &starts, &targets)?;
        }
        there.ask()?;
        while !there.poll(&mut trained)? {}
        Ok(1e3 * (now() - began_s) / steps as f64)
    })
}
