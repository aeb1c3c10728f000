//! Tests of PPO on a device, compared with the learner on the CPU. From equal states, the results of an iteration are equal up to rounding.
//! Episodes and their lengths are also equal, because no random draw of these seeds is so close to a threshold that rounding changes its
//! result. On average, this happens in one of a few hundred thousand draws.

use crate::{close, pause, point};
use gpu::control::{GpuPpo, world};
use gpu::{Fault, Gpu, OpenOptions};
use learn::control::{Accelerator, IterationOutput, IterationStats, Ppo, PpoConfig, RECORDED_ENVS, RECORDED_STEPS};
use learn::{Data, Learner, Offload, Parts, Slice, part};
use math::{Isa, PANEL};
use worlds::control::Kind;

fn kind(id: &str) -> &'static Kind {
    worlds::control::kind(id).unwrap()
}

pub fn small() -> PpoConfig {
    // Neither 300 nor the minibatch size is a multiple of the workgroup size.
    PpoConfig { envs: 300, rollout_steps: 24, epochs: 2, minibatches: 3, hidden: 16, lr: 0.003, ..PpoConfig::default() }
}

pub fn normalized() -> PpoConfig {
    PpoConfig { normalize_observation: true, normalize_reward: true, tanh: true, ..small() }
}

pub fn of_kind(kind: &Kind, config: &PpoConfig) -> Ppo {
    Ppo::new(kind, config.clone(), 7, Isa::best()).unwrap()
}

fn new(id: &str, config: &PpoConfig) -> Ppo {
    of_kind(kind(id), config)
}

fn restore(ppo: &Ppo, parts: &Parts) -> Ppo {
    Ppo::restore(ppo.kind(), ppo.config().clone(), 7, Isa::best(), &|name| part(parts, name)).unwrap()
}

pub fn iterate_on_cpu(ppo: &mut Ppo) -> IterationStats {
    loop {
        match ppo.advance() {
            Slice::Ended(stats) => return stats,
            Slice::Waiting | Slice::Stopped(_) => panic!("the learner is offloaded"),
            Slice::Worked => {}
        }
    }
}

async fn iterate_on_device(gpu: &Gpu, ppo: &mut Ppo) -> IterationStats {
    for _ in 0..1000 {
        match ppo.advance() {
            Slice::Ended(stats) => return stats,
            Slice::Waiting => pause(gpu).await,
            slice => panic!("{slice:?}"),
        }
    }
    panic!("no answer");
}

/// Tolerance for states, observations and returns after hundreds of steps, relative to the largest value.
const STATE: f32 = 1e-3;
/// Tolerance for weights and Adam's moments. Adam amplifies the rounding of small gradients.
const WEIGHTS: f32 = 2e-3;
/// Tolerance for losses and for the moments of the normalisers.
const SUM: f64 = 5e-4;

#[track_caller]
fn close_sum(what: &str, found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= SUM * scale, "{what}: {found}, not {expected}");
}

/// Asserts that the saved states of two learners are equal within the tolerances.
#[track_caller]
fn assert_same(what: &str, found: &Ppo, expected: &Ppo) {
    assert_eq!(found.progress(), expected.progress(), "{what}");
    for ((name, shape, found), (_, _, expected)) in found.parts().iter().zip(&expected.parts()) {
        let what = format!("{what}: {name} {shape:?}");
        match (found, expected) {
            // The entries have different orders: by step and then by environment on the device, by slice on the CPU.
            _ if name.starts_with("recent.") => {}
            (Data::F32(found), Data::F32(expected)) => {
                let most = if name.starts_with("environments.") { STATE } else { WEIGHTS };
                close(&what, found, expected, most);
            }
            (Data::F64(found), Data::F64(expected)) => {
                let triples = found.as_chunks::<3>().0.iter().zip(expected.as_chunks::<3>().0);
                for (found, expected) in triples {
                    let [count, mean, squares] = *expected;
                    assert_eq!(found[0], count, "{what}");
                    close_sum(&what, found[1], mean, (squares / count).sqrt());
                    close_sum(&what, found[2], squares, squares);
                }
            }
            _ => assert_eq!(found, expected, "{what}"),
        }
    }
    let episodes = |ppo: &Ppo| {
        let state = ppo.parts();
        let (Some((_, Data::F32(totals))), Some((_, Data::U32(lengths)))) =
            (part(&state, "recent.returns"), part(&state, "recent.lengths"))
        else {
            panic!("no episodes")
        };
        let mut all: Vec<(u32, f32)> = lengths.iter().copied().zip(totals.iter().copied()).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        all
    };
    if expected.progress().episodes <= 100 {
        let (found, expected) = (episodes(found), episodes(expected));
        assert!(found.iter().map(|e| e.0).eq(expected.iter().map(|e| e.0)), "{what}: lengths");
        let totals = |list: Vec<(u32, f32)>| list.into_iter().map(|e| e.1).collect::<Vec<_>>();
        close(&format!("{what}: returns"), &totals(found), &totals(expected), STATE);
    }
}

#[track_caller]
fn assert_same_stats(what: &str, found: &IterationStats, expected: &IterationStats) {
    assert_eq!((found.episodes, found.lr), (expected.episodes, expected.lr), "{what}");
    for (name, of) in [
        ("policy loss", (|s| s.policy_loss) as fn(&IterationStats) -> f32),
        ("value loss", |s| s.value_loss),
        ("entropy", |s| s.entropy),
        ("divergence", |s| s.approx_kl),
        ("clip fraction", |s| s.clip_fraction),
        ("explained variance", |s| s.explained_variance),
        ("length of the gradient", |s| s.grad_norm),
    ] {
        let (found, expected) = (f64::from(of(found)), f64::from(of(expected)));
        close_sum(&format!("{what}: {name}"), found, expected, expected.abs().max(1.0));
    }
}

/// Returns the recorded observations and ends of episodes of the last iteration. Lanes without an environment are left out.
fn recorded(ppo: &Ppo) -> (Vec<f32>, Vec<u8>) {
    let recorded = ppo.recorded();
    let (mut all, mut ended) = (Vec::new(), Vec::new());
    recorded.read(0..recorded.steps, &mut all, &mut ended);
    let (panel, panels) = (PANEL * recorded.features, recorded.envs.div_ceil(PANEL));
    let is_shown = |at: &usize| at / panel % panels * PANEL + at % PANEL < recorded.envs;
    ((0..all.len()).filter(is_shown).map(|at| all[at]).collect(), ended)
}

/// Creates two equal learners; the first is offloaded to the GPU.
fn pair(gpu: &Gpu, config: &PpoConfig) -> [Ppo; 2] {
    let mut pair = [(); 2].map(|()| new("CartPole-v1", config));
    pair[0].begin_offload(gpu, 0).unwrap();
    pair
}

/// Runs an iteration on the device (`there`) and on the CPU (`here`), and compares the results.
async fn compare_iteration(gpu: &Gpu, what: &str, there: &mut Ppo, here: &mut Ppo) {
    there.record(true);
    let stats = iterate_on_device(gpu, there).await;
    assert_same_stats(what, &stats, &iterate_on_cpu(here));
    assert_same(what, there, here);
    let ((found, found_ended), (expected, mut ended)) = (recorded(there), recorded(here));
    ended.truncate(RECORDED_STEPS * RECORDED_ENVS.min(here.config().envs));
    assert_eq!(found_ended, ended, "{what}");
    close(&format!("{what}: recorded observations"), &found, &expected[..found.len()], STATE);
}

async fn compare_iterations(gpu: &Gpu, id: &str, config: &PpoConfig, iterations: usize) {
    compare_kind(gpu, kind(id), config, iterations).await;
}

/// Compares `iterations` iterations on the device with the CPU. They start from the state after one iteration on the CPU.
pub async fn compare_kind(gpu: &Gpu, kind: &Kind, config: &PpoConfig, iterations: usize) {
    let (id, mut here) = (&kind.spec.id, of_kind(kind, config));
    iterate_on_cpu(&mut here);
    let mut there = restore(&here, &here.parts());
    there.begin_offload(gpu, 0).unwrap();
    for i in 0..iterations {
        compare_iteration(gpu, &format!("{id}, iteration {i}, {config:?}"), &mut there, &mut here).await;
    }
}

async fn iterations_with_discrete_actions_match_the_processor(gpu: Gpu) {
    compare_iterations(&gpu, "CartPole-v1", &PpoConfig { shared: true, tanh: true, clip_value: true, ..small() }, 2).await;
}

async fn iterations_with_continuous_actions_match_the_processor(gpu: Gpu) {
    compare_iterations(&gpu, "Pendulum-v1", &PpoConfig { squash: true, ..normalized() }, 2).await;
}

async fn iterations_with_two_numbers_an_action_match_the_processor(gpu: Gpu) {
    let kind = point::kind();
    compare_kind(&gpu, &kind, &PpoConfig { squash: true, ..normalized() }, 2).await;
    compare_kind(&gpu, &kind, &PpoConfig { spread: 0.5, clip_value: true, shared: true, ..small() }, 2).await;
}

/// Tests that a kind of environment without kernels is rejected and trains on the CPU.
async fn unsupported_kinds_are_rejected(gpu: Gpu) {
    let kind = Kind { kernels: None, ..kind("CartPole-v1").clone() };
    assert!(world(&kind).is_none());
    let mut ppo = of_kind(&kind, &small());
    let fault = ppo.begin_offload(&gpu, 0).unwrap_err();
    assert!(matches!(&fault, Fault::Unknown { what } if *what == kind.spec.id), "{fault:?}");
    assert!(!ppo.is_offloaded());
    iterate_on_cpu(&mut ppo);
}

async fn equal_starts_give_equal_bits(gpu: Gpu) {
    let run = async || {
        let mut ppo = new("CartPole-v1", &normalized());
        ppo.begin_offload(&gpu, 0).unwrap();
        ppo.record(true);
        iterate_on_device(&gpu, &mut ppo).await;
        let stats = iterate_on_device(&gpu, &mut ppo).await;
        (ppo.parts(), stats, recorded(&ppo))
    };
    assert_eq!(run().await, run().await);
}

async fn iteration_takes_three_submits_and_one_readback(gpu: Gpu) {
    let ppo = new("CartPole-v1", &small());
    let mut on = GpuPpo::new(&gpu, &ppo.snapshot().unwrap()).unwrap();
    let mut output = IterationOutput::default();
    for _ in 0..2 {
        let [submits, readbacks] = gpu.counts();
        ppo.with_input(false, |input| on.begin(input)).unwrap();
        let [after, answers] = gpu.counts();
        assert!(after - submits <= 3 && answers - readbacks == 1);
        while !on.poll(&mut output).unwrap() {
            pause(&gpu).await;
        }
        assert!(!on.poll(&mut output).unwrap(), "a result was returned twice");
    }
    let config = ppo.config();
    let (one, two) = (on.dispatches(1), on.dispatches(2));
    let (a_minibatch, steps) = ((two - one) / config.minibatches, config.rollout_steps);
    assert_eq!((two - one) % config.minibatches, 0);
    // A minibatch has forward pass, loss, backward pass and Adam for two networks of three layers. A rollout step has the forward pass and
    // a step of the environments. If there are more dispatches than these limits, a fused kernel was split.
    let rollout = one - a_minibatch * config.minibatches;
    println!("{a_minibatch} dispatches a minibatch, {rollout} in {steps} steps");
    assert!(a_minibatch <= 24 && rollout <= 8 * (steps + 2), "{a_minibatch}, {rollout}");
}

async fn unsupported_sizes_are_rejected_at_the_start(gpu: Gpu) {
    let tiny = Gpu::open(OpenOptions { largest_buffer: Some(1 << 20), ..Default::default() }).await.unwrap();
    let mut ppo = new("CartPole-v1", &PpoConfig { envs: 4096, ..small() });
    assert!(matches!(ppo.begin_offload(&tiny, 0), Err(Fault::TooSmall { .. })));
    assert!(!ppo.is_offloaded());
    iterate_on_cpu(&mut ppo);
    let long = PpoConfig { envs: 1, rollout_steps: 20_000, ..small() };
    assert!(matches!(new("CartPole-v1", &long).begin_offload(&gpu, 0), Err(Fault::Unknown { .. })));
}

async fn learner_survives_device_loss(_: Gpu) {
    let gpu = crate::common::open().await;
    let [mut there, mut here] = pair(&gpu, &small());
    compare_iteration(&gpu, "before", &mut there, &mut here).await;
    assert_eq!(there.advance(), Slice::Waiting);
    gpu.destroy();
    let slice = there.advance();
    assert!(matches!(slice, Slice::Stopped(Fault::Lost { .. })), "{slice:?}");
    assert!(!there.is_offloaded());
    assert_same("after", &there, &here);
    iterate_on_cpu(&mut there);
    iterate_on_cpu(&mut here);
    assert_same("after another iteration", &there, &here);
    assert!(matches!(there.begin_offload(&gpu, 0), Err(Fault::Lost { .. })));
}

async fn iterations_of_other_worlds_and_settings_match_the_processor(gpu: Gpu) {
    compare_iterations(&gpu, "CartPole-v1", &PpoConfig { normalize_advantage: false, ..normalized() }, 2).await;
    let config = PpoConfig { spread: 0.5, clip_value: true, ..small() };
    compare_iterations(&gpu, "MountainCarContinuous-v0", &config, 2).await;
    if !testkit::all() {
        return;
    }
    compare_iterations(&gpu, "CartPole-v1", &small(), 3).await;
    compare_iterations(&gpu, "Acrobot-v1", &PpoConfig { shared: true, ..normalized() }, 1).await;
    compare_iterations(&gpu, "LunarLander-v3", &PpoConfig { clip_value: true, ..normalized() }, 1).await;
}

/// Tests truncated episodes. All environments start close to their step limit.
async fn truncated_episodes_are_bootstrapped_from_the_critic(gpu: Gpu) {
    let mut here = new("CartPole-v1", &normalized());
    iterate_on_cpu(&mut here);
    let mut parts = here.parts();
    for (name, _, data) in &mut parts {
        if let (true, Data::U32(steps)) = (name == "environments.steps", data) {
            steps.iter_mut().enumerate().for_each(|(env, steps)| *steps = 470 + env as u32 % 30);
        }
    }
    let mut here = restore(&here, &parts);
    let mut there = restore(&here, &parts);
    there.begin_offload(&gpu, 0).unwrap();
    compare_iteration(&gpu, "cut short", &mut there, &mut here).await;
}

/// Compares the order of recent episodes. With 8,200 environments, a slice of work on the CPU is one rollout step. The CPU therefore
/// records episodes in the same order as the device.
async fn recent_episodes_are_recorded_in_order(gpu: Gpu) {
    let config = PpoConfig { envs: 8200, rollout_steps: 21, hidden: 4, epochs: 1, minibatches: 4, ..small() };
    let [mut there, mut here] = pair(&gpu, &config);
    let recent = |ppo: &Ppo| {
        let state = ppo.parts();
        state.into_iter().filter(|part| part.0.starts_with("recent.")).collect::<Parts>()
    };
    compare_iteration(&gpu, "many", &mut there, &mut here).await;
    assert!(there.progress().episodes > 1000, "{:?}", there.progress());
    assert_eq!(recent(&there), recent(&here));
}

/// Covers shapes at the edges of padding: one environment, one step, and one environment more than a multiple of the actor size.
async fn iterations_of_odd_shapes_match_the_processor(gpu: Gpu) {
    for (id, [envs, rollout_steps, minibatches]) in
        [("CartPole-v1", [1, 60, 1]), ("Pendulum-v1", [129, 1, 2]), ("CartPole-v1", [65, 3, 97])]
    {
        let config = PpoConfig { envs, rollout_steps, minibatches, epochs: 1, ..normalized() };
        compare_iterations(&gpu, id, &config, 1).await;
    }
}

/// Covers rollouts that are longer than the step limit. Each environment is truncated two or three times.
async fn episodes_truncate_more_than_once_per_rollout(gpu: Gpu) {
    let config = PpoConfig { envs: 70, rollout_steps: 450, epochs: 1, ..small() };
    compare_iterations(&gpu, "MountainCar-v0", &config, 1).await;
    compare_iterations(&gpu, "Pendulum-v1", &PpoConfig { envs: 70, rollout_steps: 450, epochs: 1, ..normalized() }, 1).await;
}

async fn learning_stops_at_the_target_divergence(gpu: Gpu) {
    for target_kl in [1e-5, 0.002] {
        let config = PpoConfig { target_kl, lr: 0.01, epochs: 4, ..small() };
        let [mut there, mut here] = pair(&gpu, &config);
        let steps = |ppo: &Ppo| {
            let state = ppo.parts();
            if let Some((_, Data::U64(steps))) = part(&state, "adam.steps") { steps[0] } else { 0 }
        };
        compare_iteration(&gpu, "stopped", &mut there, &mut here).await;
        assert!((1..12).contains(&steps(&there)), "{}", steps(&there));
        compare_iteration(&gpu, "stopped again", &mut there, &mut here).await;
    }
}

async fn settings_change_between_iterations(gpu: Gpu) {
    let [mut there, mut here] = pair(&gpu, &small());
    compare_iteration(&gpu, "before", &mut there, &mut here).await;
    for config in [
        PpoConfig { lr: 0.001, epochs: 3, gamma: 0.9, lambda: 0.8, ..small() },
        PpoConfig { epochs: 1, clip: 0.05, entropy: 0.1, value_coef: 1.0, max_grad_norm: 0.05, ..small() },
        PpoConfig { normalize_advantage: false, anneal_steps: 1e5, ..small() },
    ] {
        here.set_config(config.clone()).unwrap();
        there.set_config(config.clone()).unwrap();
        compare_iteration(&gpu, &format!("{config:?}"), &mut there, &mut here).await;
    }
    let config = PpoConfig { clip_value: true, ..small() };
    here.set_config(config.clone()).unwrap();
    there.set_config(config.clone()).unwrap();
    there.begin_offload(&gpu, 0).unwrap();
    compare_iteration(&gpu, "another loss", &mut there, &mut here).await;
}

async fn learner_moves_to_the_device_and_back(gpu: Gpu) {
    let mut here = new("CartPole-v1", &normalized());
    let mut there = new("CartPole-v1", &normalized());
    for i in 0..3 {
        there.begin_offload(&gpu, 0).unwrap();
        compare_iteration(&gpu, &format!("on the device {i}"), &mut there, &mut here).await;
        there.end_offload();
        assert_eq!((iterate_on_cpu(&mut there).episodes), iterate_on_cpu(&mut here).episodes);
        assert_same(&format!("on the processor {i}"), &there, &here);
    }
}

/// Trains on the device until the learner solves CartPole, and evaluates on the CPU. Does not use the crate `run`.
async fn learner_on_the_device_solves_cart_pole(gpu: Gpu) {
    let config = PpoConfig {
        envs: 256,
        rollout_steps: 32,
        epochs: 4,
        minibatches: 4,
        hidden: 16,
        lr: 0.01,
        anneal_steps: 1e6,
        ..PpoConfig::default()
    };
    let mut ppo = Ppo::new(kind("CartPole-v1"), config, 2, Isa::best()).unwrap();
    assert!(ppo.evaluate(64, 5).mean < 100.0, "before");
    ppo.begin_offload(&gpu, 0).unwrap();
    for _ in 0..12 {
        for _ in 0..5 {
            iterate_on_device(&gpu, &mut ppo).await;
        }
        if ppo.evaluate(64, 5).mean >= 475.0 && ppo.evaluate(64, 6).mean >= 475.0 {
            return;
        }
    }
    panic!("{:?} after {:?}", ppo.evaluate(64, 5), ppo.progress());
}

crate::common::tests!(
    iterations_with_discrete_actions_match_the_processor,
    iterations_with_continuous_actions_match_the_processor,
    iterations_with_two_numbers_an_action_match_the_processor,
    unsupported_kinds_are_rejected,
    unsupported_sizes_are_rejected_at_the_start;
    natively:
    equal_starts_give_equal_bits,
    iteration_takes_three_submits_and_one_readback,
    learner_survives_device_loss,
    iterations_of_other_worlds_and_settings_match_the_processor,
    truncated_episodes_are_bootstrapped_from_the_critic,
    recent_episodes_are_recorded_in_order,
    iterations_of_odd_shapes_match_the_processor,
    episodes_truncate_more_than_once_per_rollout,
    learning_stops_at_the_target_divergence,
    settings_change_between_iterations,
    learner_moves_to_the_device_and_back,
    #[ignore = "all: iterations_with_discrete_actions_match_the_processor"]
    fn learner_on_the_device_solves_cart_pole,
);
