//! Benchmarks of environments and PPO on the GPU, and of the same work on the CPU.

use super::learners::{iteration_s, learner, samples};
use super::stepped::{TURNS, actions, stepped};
use super::{cart_pole, played, small};
use crate::device::{Device, iterations, refused, run_once};
use crate::measure::{Bench, Clock, rates};
use gpu::control::{GpuPpo, Stepping, Worlds, world};
use gpu::{Gpu, OpenOptions, Program, Region, Space, rounds_s};
use learn::control::{Ppo, PpoConfig};
use learn::{Fault, Offload};
use math::rounds::{FEW, Quartiles};
use worlds::control::{Kind, kind};

pub fn measure(device: &Device, bench: &mut Bench) -> Result<(), Fault> {
    poles(device, bench)?;
    let config = of_size(device);
    ppo(device, &config, bench)?;
    #[cfg(feature = "files")]
    files(device, &PpoConfig { hidden: 64, ..config }, bench)?;
    solve(device, bench)
}

fn of_size(device: &Device) -> PpoConfig {
    let (envs, minibatches) = if device.is_software() { (256, 4) } else { (65_536, 16) };
    PpoConfig { envs, minibatches, ..PpoConfig::default() }
}

/// Measures CartPole without a learner in two ways. In the first way, a dispatch performs many steps. In the second way, a dispatch
/// performs one step and writes all observations, rewards and flags to memory.
fn poles(device: &Device, bench: &mut Bench) -> Result<(), Fault> {
    const FUSED_STEPS: u32 = 1000;
    let (isa, now, gpu) = (bench.isa, bench.now, device.gpu);
    let envs = if device.is_software() { 1 << 14 } else { 1 << 20 };
    let Some((kind, world)) = kind("CartPole-v1").and_then(|kind| Some((kind, world(kind)?))) else { return Ok(()) };
    let shown_len = envs * world.observation;
    // Memory traffic of one step, in bytes. The state and the two counters of an environment are read and written, so they count twice. The
    // action is only read. The observation, the reward and the flag are only written.
    let step_bytes = 4 * (2 * world.state + 2 * 2 + world.observation + 3);
    let (mut space, mut program) = (Space::default(), Program::new(gpu));
    let worlds = Worlds::new(world, envs, &mut space);
    let turns: Vec<Region> = (0..TURNS).map(|_| space.floats(envs)).collect();
    let (shown, rewards, ended) = (space.floats(shown_len), space.floats(envs), space.words(envs));
    worlds.reset(&mut program, Some(shown));
    let fused = program.len();
    worlds.play(&mut program, FUSED_STEPS);
    let single = program.len();
    for &actions in &turns {
        worlds.step(&mut program, &Stepping { actions, shown, reached: None, rewards, ended });
    }
    let end = program.len();
    let memory = space.allocate(gpu)?;
    program.bind(&memory);
    worlds.set_up(&memory, 1, 0, 0);
    for (&region, actions) in turns.iter().zip(actions(kind.spec.actions, envs).chunks(envs)) {
        memory.write_floats(region, actions);
    }
    run_once(&program, 0..fused);
    let fused_s = rounds_s(&program, &memory, fused..single, FEW, &now)?;
    let of = format!("steps/s of {envs} environments");
    let steps = envs as f64 * f64::from(FUSED_STEPS);
    bench.give("gpu.cartpole.fused_steps_per_s", &rates(steps, &fused_s), format!("{of}, {FUSED_STEPS} a dispatch"));
    let single_s = rounds_s(&program, &memory, single..end, FEW, &now)?;
    let steps_per_s = rates((envs * TURNS) as f64, &single_s);
    bench.give("gpu.cartpole.steps_per_s", &steps_per_s, of);
    let bandwidth = Quartiles::of(&device.bytes_per_s).median;
    let shares: Vec<f64> = steps_per_s.iter().map(|rate| rate * step_bytes as f64 / bandwidth).collect();
    let unit = format!("of the median bandwidth, {step_bytes} bytes a step");
    bench.give("gpu.cartpole.steps_per_s.share", &shares, unit);
    let unit = "steps/s per CPU core";
    bench.give("gpu.beside.cartpole.fused_steps_per_s_core", &played(isa, now), unit);
    let single = stepped((kind.many)(isa, 1, 0, super::ENVS), kind.spec.actions, now);
    bench.give("gpu.beside.cartpole.steps_per_s_core", &single, unit);
    Ok(())
}

fn ppo(device: &Device, config: &PpoConfig, bench: &mut Bench) -> Result<(), Fault> {
    let (isa, now, gpu) = (bench.isa, bench.now, device.gpu);
    let shared = PpoConfig { shared: true, epochs: 1, ..config.clone() };
    let separate = PpoConfig { hidden: 64, ..config.clone() };
    for (name, config) in [("ppo.cartpole", shared), ("ppo.cartpole.4_64_64", separate)] {
        let apart = if config.shared { "shared" } else { "separate" };
        let PpoConfig { hidden, epochs, envs, rollout_steps, minibatches, .. } = config;
        let of = format!(
            "steps/s, {hidden}-{hidden} {apart}, epochs: {epochs}, minibatches: {minibatches}, {envs} environments x {rollout_steps}"
        );
        let mut ppo = cart_pole(config.clone(), 1, isa);
        let snapshot = ppo.snapshot().map_err(refused)?;
        let dispatches = GpuPpo::new(gpu, &snapshot)?.dispatches(epochs);
        ppo.begin_offload(gpu, 0)?;
        iteration_s(&mut ppo, now)?;
        let before = gpu.counts();
        iteration_s(&mut ppo, now)?;
        let after = gpu.counts();
        bench.give(format!("gpu.{name}.steps_per_s"), &steps_per_s(&mut ppo, now)?, of.clone());
        bench.count(format!("gpu.{name}.submits"), (after[0] - before[0]) as f64, "per iteration");
        bench.count(format!("gpu.{name}.readbacks"), (after[1] - before[1]) as f64, "per iteration");
        bench.count(format!("gpu.{name}.dispatches"), dispatches as f64, "per iteration");
        let beside = steps_per_s(&mut cart_pole(config, 1, isa), now)?;
        bench.give(format!("gpu.beside.{name}.steps_per_s"), &beside, format!("{of}, all CPU threads"));
    }
    Ok(())
}

/// Measures PPO on the GPU with environments from files. The first figure is the rate with the template `cartpole`, relative to the rate
/// with the built-in CartPole. The other figures are the rates with the other templates. Software adapters omit these other figures,
/// because they need minutes to compile large shaders.
#[cfg(feature = "files")]
fn files(device: &Device, config: &PpoConfig, bench: &mut Bench) -> Result<(), Fault> {
    use super::files::{TEMPLATES, compiled};
    let (isa, now) = (bench.isa, bench.now);
    let begun = |kind: &Kind| -> Result<Ppo, Fault> {
        let mut ppo = learner(kind, config.clone(), 1, isa);
        ppo.begin_offload(device.gpu, 0)?;
        iteration_s(&mut ppo, now)?;
        Ok(ppo)
    };
    let [cart_pole, others @ ..] = TEMPLATES.map(|(name, text)| compiled(text).kind(name));
    let (mut own, mut built_in) = (begun(&cart_pole)?, begun(kind("CartPole-v1").expect("a known environment"))?);
    let ratio = |_| {
        let own_s = iteration_s(&mut own, now)?;
        Ok(iteration_s(&mut built_in, now)? / own_s)
    };
    let ratios = (0..FEW).map(ratio).collect::<Result<Vec<f64>, Fault>>()?;
    bench.give("gpu.worlds.ppo.cartpole.ratio", &ratios, "of the rate with the built-in CartPole on the GPU");
    for kind in others.iter().filter(|_| !device.is_software()) {
        let rates = steps_per_s(&mut begun(kind)?, now)?;
        bench.give(format!("gpu.worlds.ppo.{}.steps_per_s", kind.spec.id), &rates, "steps/s");
    }
    Ok(())
}

/// Returns the environment steps per second, in each round. A round is one iteration.
fn steps_per_s(ppo: &mut Ppo, now: Clock) -> Result<Vec<f64>, Fault> {
    let samples = samples(ppo);
    iterations(now, || Ok(samples / iteration_s(ppo, now)?))
}

/// Measures the seconds from opening the device until the task is solved. The task is solved when an evaluation reaches the goal and a
/// confirmation (second evaluation on other episodes) also reaches the goal. After a failed confirmation, training continues.
fn solve(device: &Device, bench: &mut Bench) -> Result<(), Fault> {
    const SEEDS: u32 = 5;
    /// First seed. No preset was tuned on this seed or on a larger seed.
    const FIRST_SEED: u32 = 101;
    let envs = if device.is_software() { 1024 } else { 4096 };
    let seeds = if device.is_software() { 1 } else { SEEDS };
    let mut times_s = Vec::new();
    for seed in FIRST_SEED..FIRST_SEED + seeds {
        let began_s = (bench.now)();
        let gpu = Gpu::open_blocking(OpenOptions::default())?;
        let mut ppo = cart_pole(small(envs), seed, bench.isa);
        ppo.begin_offload(&gpu, 0)?;
        times_s.push(solved_s(&mut ppo, began_s, bench.now)?);
    }
    let solved = times_s.iter().filter(|s| s.is_finite()).count();
    bench.count("gpu.ppo.cartpole.solved", solved as f64, format!("of {seeds} seeds, within {GIVE_UP_S} s"));
    let unit = "s from opening the device to a confirmed evaluation, over seeds";
    bench.give("gpu.ppo.cartpole.solve_s", &times_s, unit);
    Ok(())
}

const GIVE_UP_S: f64 = 60.0;

/// Trains until the task is solved. Returns the seconds since `began_s`, or infinity if the time limit is exceeded.
fn solved_s(ppo: &mut Ppo, began_s: f64, now: Clock) -> Result<f64, Fault> {
    const EPISODES: u32 = 100;
    const ITERATIONS_BETWEEN: u32 = 2;
    /// Number that is added to an evaluation's seed for its confirmation, so that the confirmation has other episodes.
    const CONFIRMATIONS: u32 = 1 << 31;
    let goal = ppo.kind().spec.solved_at as f32;
    let mut evaluations = 0;
    loop {
        for _ in 0..ITERATIONS_BETWEEN {
            iteration_s(ppo, now)?;
        }
        evaluations += 1;
        let took_s = now() - began_s;
        let mut reaches = |seed| ppo.evaluate(EPISODES, seed).mean >= goal;
        if reaches(evaluations) && reaches(CONFIRMATIONS + evaluations) {
            return Ok(now() - began_s);
        }
        if took_s > GIVE_UP_S {
            return Ok(f64::INFINITY);
        }
    }
}
