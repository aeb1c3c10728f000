//! PPO whole on the device, and the same by the processor beside it.

use super::GpuPpo;
use crate::bench::report::{Sink, count, give};
use crate::{Gpu, OpenOptions};
use learn::control::{Ppo, PpoConfig};
use learn::{Fault, Learner, Offload, Slice};
use math::Isa;

pub fn all(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    let software = gpu.about().software;
    let (envs, minibatches) = if software { (256, 4) } else { (65_536, 16) };
    let of_size = PpoConfig { envs, minibatches, ..PpoConfig::default() };
    let shared = PpoConfig { shared: true, epochs: 1, ..of_size.clone() };
    let separate = PpoConfig { hidden: 64, ..of_size };
    for (name, config) in [("gpu.ppo.cartpole", shared), ("gpu.ppo.cartpole.4_64_64", separate)] {
        let apart = if config.shared { "shared" } else { "separate" };
        let PpoConfig { hidden, epochs, envs, rollout_steps, minibatches, .. } = config;
        let of = format!(
            "steps/s, {hidden}-{hidden} {apart}, epochs: {epochs}, minibatches: {minibatches}, {envs} environments x {rollout_steps}"
        );
        let mut ppo = cart_pole(config.clone(), isa)?;
        let snapshot = ppo.snapshot().map_err(|error| Fault::Refused { why: error.to_string() })?;
        let dispatches = GpuPpo::new(gpu, &snapshot)?.dispatches(epochs);
        ppo.begin_offload(gpu, 0)?;
        iteration_s(&mut ppo, now)?;
        let before = gpu.counts();
        iteration_s(&mut ppo, now)?;
        let after = gpu.counts();
        give(sink, format!("{name}.steps_per_s"), &steps_per_s(&mut ppo, now)?, of.clone());
        count(sink, format!("{name}.submits"), (after[0] - before[0]) as f64, "an iteration");
        count(sink, format!("{name}.readbacks"), (after[1] - before[1]) as f64, "an iteration");
        count(sink, format!("{name}.dispatches"), dispatches as f64, "an iteration");
        let mut ppo = cart_pole(config, isa)?;
        iteration_s(&mut ppo, now)?;
        let name = name.replacen("gpu.", "gpu.beside.", 1);
        give(sink, format!("{name}.steps_per_s"), &steps_per_s(&mut ppo, now)?, format!("{of}, all threads beside it"));
    }
    solve(isa, software, now, sink)
}

/// From opening the device to a solved task: an evaluation reaches the goal, and a second one on other episodes confirms it. An
/// evaluation that is not confirmed counts as an attempt, and training goes on.
fn solve(isa: Isa, software: bool, now: &dyn Fn() -> f64, sink: Sink) -> Result<(), Fault> {
    const EPISODES: u32 = 100;
    const ITERATIONS_BETWEEN: u32 = 2;
    const SEEDS: u32 = 5;
    /// No preset was tuned on it or on those after it.
    const FIRST_SEED: u32 = 101;
    /// Seeds of confirmations lie apart from those of evaluations.
    const CONFIRMATIONS: u32 = 1 << 31;
    const GIVE_UP_S: f64 = 60.0;
    let envs = if software { 1024 } else { 4096 };
    let config = PpoConfig { envs, shared: true, epochs: 1, lr: 0.005, ..PpoConfig::default() };
    let seeds = if software { 1 } else { SEEDS };
    let mut times_s = Vec::new();
    for seed in FIRST_SEED..FIRST_SEED + seeds {
        let began_s = now();
        let gpu = Gpu::open_blocking(OpenOptions::default())?;
        let mut ppo = seeded(config.clone(), seed, isa)?;
        ppo.begin_offload(&gpu, 0)?;
        let goal = ppo.kind().spec.solved_at as f32;
        let mut evaluations = 0;
        let took_s = loop {
            for _ in 0..ITERATIONS_BETWEEN {
                iteration_s(&mut ppo, now)?;
            }
            evaluations += 1;
            let took_s = now() - began_s;
            let mut reaches = |seed| ppo.evaluate(EPISODES, seed).mean >= goal;
            if reaches(evaluations) && reaches(CONFIRMATIONS + evaluations) {
                break now() - began_s;
            }
            if took_s > GIVE_UP_S {
                break f64::INFINITY;
            }
        };
        times_s.push(took_s);
    }
    let solved = times_s.iter().filter(|s| s.is_finite()).count();
    count(sink, "gpu.ppo.cartpole.solved", solved as f64, format!("of {seeds} seeds, within {GIVE_UP_S} s"));
    let unit = "s from opening the device to a confirmed evaluation, over seeds";
    give(sink, "gpu.ppo.cartpole.solve_s", &times_s, unit);
    Ok(())
}

fn cart_pole(config: PpoConfig, isa: Isa) -> Result<Ppo, Fault> {
    seeded(config, 1, isa)
}

fn seeded(config: PpoConfig, seed: u32, isa: Isa) -> Result<Ppo, Fault> {
    let unknown = || Fault::Unknown { what: "CartPole".into() };
    let kind = ::worlds::control::kind("CartPole-v1").ok_or_else(unknown)?;
    Ppo::new(kind, config, seed, isa).map_err(|error| Fault::Refused { why: error.to_string() })
}

fn iteration_s(ppo: &mut Ppo, now: &dyn Fn() -> f64) -> Result<f64, Fault> {
    let began_s = now();
    loop {
        match ppo.advance() {
            Slice::Ended(_) => return Ok(now() - began_s),
            Slice::Stopped(fault) => return Err(fault),
            _ => {}
        }
    }
}

/// Environment steps a second in rounds that are iterations.
fn steps_per_s(ppo: &mut Ppo, now: &dyn Fn() -> f64) -> Result<Vec<f64>, Fault> {
    const LEAST: usize = 3;
    const FILL_S: f64 = 1.0;
    let began_s = now();
    let samples = (ppo.config().envs * ppo.config().rollout_steps) as f64;
    let mut rounds = Vec::new();
    while rounds.len() < LEAST || now() - began_s < FILL_S {
        rounds.push(samples / iteration_s(ppo, now)?);
    }
    Ok(rounds)
}
