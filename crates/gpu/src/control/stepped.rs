//! How fast environments step on the device, and on a core of the processor beside it.

use super::worlds::{Stepping, Worlds, world};
use crate::bench::report::{Sink, give, rates};
use crate::device::Gpu;
use crate::product::{replay_s, rounds_s};
use crate::program::{Program, Region, Space};
use ::worlds::control::{CartPoles, Vector, kind};
use learn::Fault;
use math::Isa;
use math::rounds::{FEW, Quartiles, rounds_s as call_rounds_s};

/// CartPole stepped by itself: many steps a dispatch, and one step a dispatch with everything written out.
pub async fn poles(gpu: &Gpu, isa: Isa, bytes_per_s: &[f64], now: &dyn Fn() -> f64, sink: Sink<'_>) -> Result<(), Fault> {
    const FUSED_STEPS: u32 = 1000;
    /// Dispatches of single steps before the same actions come again.
    const TURNS: usize = 8;
    let envs = if gpu.about().software { 1 << 14 } else { 1 << 20 };
    let Some(world) = kind("CartPole-v1").and_then(world) else { return Ok(()) };
    let shown_len = envs * world.observation;
    // State and clocks are read and written; action, observation, reward and flag are one or the other.
    let step_bytes = 4 * (2 * world.state + 2 * 2 + world.observation + 3);
    let (mut space, mut program) = (Space::default(), Program::new(gpu));
    let worlds = Worlds::new(world, envs, &mut space);
    let actions: Vec<Region> = (0..TURNS).map(|_| space.floats(envs)).collect();
    let (shown, rewards, ended) = (space.floats(shown_len), space.floats(envs), space.words(envs));
    worlds.reset(&mut program, Some(shown));
    let fused = program.len();
    worlds.play(&mut program, FUSED_STEPS);
    let single = program.len();
    for &actions in &actions {
        worlds.step(&mut program, &Stepping { actions, shown, reached: None, rewards, ended });
    }
    let end = program.len();
    let memory = space.allocate(gpu)?;
    program.bind(&memory);
    worlds.set_up(&memory, 1, 0, 0);
    for (turn, &region) in actions.iter().enumerate() {
        memory.write_floats(region, &thrown(turn, envs));
    }
    replay_s(&program, &memory, 0..fused, 1, now).await?;
    let fused_s = rounds_s(&program, &memory, fused..single, FEW, now).await?;
    let of = format!("steps/s of {envs} environments");
    let steps = envs as f64 * f64::from(FUSED_STEPS);
    let unit = format!("{of}, {FUSED_STEPS} a dispatch");
    give(sink, "gpu.cartpole.fused_steps_per_s", &rates(steps, &fused_s), unit);
    let single_s = rounds_s(&program, &memory, single..end, FEW, now).await?;
    let steps_per_s = rates((envs * TURNS) as f64, &single_s);
    give(sink, "gpu.cartpole.steps_per_s", &steps_per_s, of);
    let bandwidth = Quartiles::of(bytes_per_s).median;
    let shares: Vec<f64> = steps_per_s.iter().map(|rate| rate * step_bytes as f64 / bandwidth).collect();
    let unit = format!("of the median bandwidth, {step_bytes} bytes a step");
    give(sink, "gpu.cartpole.steps_per_s.share", &shares, unit);
    poles_beside(isa, now, sink);
    Ok(())
}

/// The same on a core of the processor.
fn poles_beside(isa: Isa, now: &dyn Fn() -> f64, sink: Sink) {
    const ENVS: usize = 4096;
    const FUSED_STEPS: u32 = 100;
    let mut poles = CartPoles::new(isa, 1, 0, ENVS);
    let mut game = 0;
    let fused_s = call_rounds_s(now, || {
        poles.play(game, FUSED_STEPS);
        game += 1;
    });
    let steps = ENVS as f64 * f64::from(FUSED_STEPS);
    let unit = "steps/s of a core beside it";
    give(sink, "gpu.beside.cartpole.fused_steps_per_s_core", &rates(steps, &fused_s), unit);
    let actions: Vec<Vec<f32>> = (0..8).map(|turn| thrown(turn, ENVS)).collect();
    let (mut shown, mut rewards, mut ended) = (vec![0.0; poles.observations().len()], vec![0.0; ENVS], vec![0; ENVS]);
    let mut turn = 0;
    let step_s = call_rounds_s(now, || {
        poles.step(&actions[turn % 8], &mut shown, &mut rewards, &mut ended);
        turn += 1;
    });
    give(sink, "gpu.beside.cartpole.steps_per_s_core", &rates(ENVS as f64, &step_s), unit);
}

/// Left or right for each environment, without a pattern.
fn thrown(turn: usize, envs: usize) -> Vec<f32> {
    let word = |env: usize| math::rng::hash_1([1, turn as u32], [env as u32, 0])[0];
    (0..envs).map(|env| (word(env) & 1) as f32).collect()
}
