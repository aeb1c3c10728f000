//! PPO on a device against the learner on the processor: from the same place, whatever an iteration brings back is what the
//! processor makes of it, but for roundings. With the seeds here no draw lies so close to an edge that a rounding
//! decides it, so episodes and their lengths are equal; a draw in a few hundred thousand would not be.

use crate::{close, pause};
use gpu::control::GpuPpo;
use gpu::{Fault, Gpu, OpenOptions};
use learn::control::{Accelerator, IterationOutput, IterationStats, Ppo, PpoConfig, RECORDED_ENVS, RECORDED_STEPS};
use learn::{Data, Learner, Offload, Parts, Slice, part};
use math::{Isa, PANEL};
use worlds::control::Kind;

fn kind(id: &str) -> &'static Kind {
    worlds::control::kind(id).unwrap()
}

fn small() -> PpoConfig {
    // 300 is no multiple of a workgroup or an actor, and a minibatch none of a workgroup.
    PpoConfig { envs: 300, rollout_steps: 24, epochs: 2, minibatches: 3, hidden: 16, lr: 0.003, ..PpoConfig::default() }
}

fn normalized() -> PpoConfig {
    PpoConfig { normalize_observation: true, normalize_reward: true, tanh: true, ..small() }
}

fn new(id: &str, config: &PpoConfig) -> Ppo {
    Ppo::new(kind(id), config.clone(), 7, Isa::best()).unwrap()
}

fn restore(ppo: &Ppo, parts: &Parts) -> Ppo {
    Ppo::restore(ppo.kind(), ppo.config().clone(), 7, Isa::best(), &|name| part(parts, name)).unwrap()
}

fn at_home(ppo: &mut Ppo) -> IterationStats {
    loop {
        match ppo.advance() {
            Slice::Ended(stats) => return stats,
            Slice::Waiting | Slice::Stopped(_) => panic!("it is not at home"),
            Slice::Worked => {}
        }
    }
}

async fn offloaded(gpu: &Gpu, ppo: &mut Ppo) -> IterationStats {
    for _ in 0..1000 {
        match ppo.advance() {
            Slice::Ended(stats) => return stats,
            Slice::Waiting => pause(gpu).await,
            slice => panic!("{slice:?}"),
        }
    }
    panic!("no answer");
}

/// Of states, observations and returns, in parts of the largest: hundreds of steps of roundings.
const STATE: f32 = 1e-3;
/// Of weights and Adam's moments: those, and what Adam makes of small gradients.
const WEIGHTS: f32 = 2e-3;
/// Of losses and moments.
const SUM: f64 = 5e-4;

#[track_caller]
fn close_sum(what: &str, found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= SUM * scale, "{what}: {found}, not {expected}");
}

/// Everything that is saved.
#[track_caller]
fn assert_same(what: &str, found: &Ppo, expected: &Ppo) {
    assert_eq!(found.progress(), expected.progress(), "{what}");
    for ((name, shape, found), (_, _, expected)) in found.parts().iter().zip(&expected.parts()) {
        let what = format!("{what}: {name} {shape:?}");
        match (found, expected) {
            // Told in another order: by step and then environment, not in slices.
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

/// What lanes that hold an environment showed in the last iteration, and where episodes ended.
fn recorded(ppo: &Ppo) -> (Vec<f32>, Vec<u8>) {
    let recorded = ppo.recorded();
    let (mut all, mut ended) = (Vec::new(), Vec::new());
    recorded.read(0..recorded.steps, &mut all, &mut ended);
    let (panel, panels) = (PANEL * recorded.features, recorded.envs.div_ceil(PANEL));
    let is_shown = |at: &usize| at / panel % panels * PANEL + at % PANEL < recorded.envs;
    ((0..all.len()).filter(is_shown).map(|at| all[at]).collect(), ended)
}

/// Two of the same poles, of which the first is offloaded.
fn pair(gpu: &Gpu, config: &PpoConfig) -> [Ppo; 2] {
    let mut pair = [(); 2].map(|()| new("CartPole-v1", config));
    pair[0].begin_offload(gpu, 0).unwrap();
    pair
}

/// An iteration on either side.
async fn both(gpu: &Gpu, what: &str, there: &mut Ppo, here: &mut Ppo) {
    there.record(true);
    let stats = offloaded(gpu, there).await;
    assert_same_stats(what, &stats, &at_home(here));
    assert_same(what, there, here);
    let ((found, found_ended), (expected, mut ended)) = (recorded(there), recorded(here));
    ended.truncate(RECORDED_STEPS * RECORDED_ENVS.min(here.config().envs));
    assert_eq!(found_ended, ended, "{what}");
    close(&format!("{what}: what was shown"), &found, &expected[..found.len()], STATE);
}

/// Some iterations on either side, after one on the processor.
async fn same(gpu: &Gpu, id: &str, config: &PpoConfig, iterations: usize) {
    let mut here = new(id, config);
    at_home(&mut here);
    let mut there = restore(&here, &here.parts());
    there.begin_offload(gpu, 0).unwrap();
    for i in 0..iterations {
        both(gpu, &format!("{id}, iteration {i}, {config:?}"), &mut there, &mut here).await;
    }
}

async fn iterations_with_choices_are_the_processors(gpu: Gpu) {
    same(&gpu, "CartPole-v1", &PpoConfig { shared: true, tanh: true, clip_value: true, ..small() }, 2).await;
}

async fn iterations_with_numbers_are_the_processors(gpu: Gpu) {
    same(&gpu, "Pendulum-v1", &PpoConfig { squash: true, ..normalized() }, 2).await;
}

async fn the_same_start_gives_the_same_bits(gpu: Gpu) {
    let run = async || {
        let mut ppo = new("CartPole-v1", &normalized());
        ppo.begin_offload(&gpu, 0).unwrap();
        ppo.record(true);
        offloaded(&gpu, &mut ppo).await;
        let stats = offloaded(&gpu, &mut ppo).await;
        (ppo.parts(), stats, recorded(&ppo))
    };
    assert_eq!(run().await, run().await);
}

async fn an_iteration_is_three_submits_and_one_readback(gpu: Gpu) {
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
        assert!(!on.poll(&mut output).unwrap(), "it was told already");
    }
    let config = ppo.config();
    let (one, two) = (on.dispatches(1), on.dispatches(2));
    let (a_minibatch, steps) = ((two - one) / config.minibatches, config.rollout_steps);
    assert_eq!((two - one) % config.minibatches, 0);
    // Two networks of three layers: forward, the loss, backward and Adam; and in a rollout forward and a step of the
    // world. What is fused comes apart where these grow.
    let rollout = one - a_minibatch * config.minibatches;
    println!("{a_minibatch} dispatches a minibatch, {rollout} in {steps} steps");
    assert!(a_minibatch <= 24 && rollout <= 8 * (steps + 2), "{a_minibatch}, {rollout}");
}

async fn what_cannot_be_is_refused_before_it_begins(gpu: Gpu) {
    let tiny = Gpu::open(OpenOptions { largest_buffer: Some(1 << 20), ..Default::default() }).await.unwrap();
    let mut ppo = new("CartPole-v1", &PpoConfig { envs: 4096, ..small() });
    assert!(matches!(ppo.begin_offload(&tiny, 0), Err(Fault::TooSmall { .. })));
    assert!(!ppo.is_offloaded());
    at_home(&mut ppo);
    let long = PpoConfig { envs: 1, rollout_steps: 20_000, ..small() };
    assert!(matches!(new("CartPole-v1", &long).begin_offload(&gpu, 0), Err(Fault::Unknown { .. })));
}

async fn a_learner_outlives_its_device(_: Gpu) {
    let gpu = crate::common::open().await;
    let [mut there, mut here] = pair(&gpu, &small());
    both(&gpu, "before", &mut there, &mut here).await;
    assert_eq!(there.advance(), Slice::Waiting);
    gpu.destroy();
    let slice = there.advance();
    assert!(matches!(slice, Slice::Stopped(Fault::Lost { .. })), "{slice:?}");
    assert!(!there.is_offloaded());
    assert_same("after", &there, &here);
    at_home(&mut there);
    at_home(&mut here);
    assert_same("and on", &there, &here);
    assert!(matches!(there.begin_offload(&gpu, 0), Err(Fault::Lost { .. })));
}

async fn iterations_of_other_worlds_and_ways_are_the_processors(gpu: Gpu) {
    same(&gpu, "CartPole-v1", &small(), 3).await;
    same(&gpu, "CartPole-v1", &PpoConfig { normalize_advantage: false, ..normalized() }, 2).await;
    let config = PpoConfig { spread: 0.5, clip_value: true, ..small() };
    same(&gpu, "MountainCarContinuous-v0", &config, 2).await;
    same(&gpu, "Acrobot-v1", &PpoConfig { shared: true, ..normalized() }, 1).await;
    same(&gpu, "LunarLander-v3", &PpoConfig { clip_value: true, ..normalized() }, 1).await;
}

/// Told by the processor where environments stand, most of them just before their limit.
async fn episodes_that_the_limit_cuts_short_are_worth_what_the_critic_expects(gpu: Gpu) {
    let mut here = new("CartPole-v1", &normalized());
    at_home(&mut here);
    let mut parts = here.parts();
    for (name, _, data) in &mut parts {
        if let (true, Data::U32(steps)) = (name == "environments.steps", data) {
            steps.iter_mut().enumerate().for_each(|(env, steps)| *steps = 470 + env as u32 % 30);
        }
    }
    let mut here = restore(&here, &parts);
    let mut there = restore(&here, &parts);
    there.begin_offload(&gpu, 0).unwrap();
    both(&gpu, "cut short", &mut there, &mut here).await;
}

/// Slices of a rollout are single steps with so many environments, so the processor too tells them in order.
async fn the_newest_episodes_are_told_in_order(gpu: Gpu) {
    let config = PpoConfig { envs: 8200, rollout_steps: 21, hidden: 4, epochs: 1, minibatches: 4, ..small() };
    let [mut there, mut here] = pair(&gpu, &config);
    let recent = |ppo: &Ppo| {
        let state = ppo.parts();
        state.into_iter().filter(|part| part.0.starts_with("recent.")).collect::<Parts>()
    };
    both(&gpu, "many", &mut there, &mut here).await;
    assert!(there.progress().episodes > 1000, "{:?}", there.progress());
    assert_eq!(recent(&there), recent(&here));
}

/// One environment, one step, one actor and one environment more: what is padded or cut has edges there.
async fn iterations_of_odd_shapes_are_the_processors(gpu: Gpu) {
    for (id, [envs, rollout_steps, minibatches]) in
        [("CartPole-v1", [1, 60, 1]), ("Pendulum-v1", [129, 1, 2]), ("CartPole-v1", [65, 3, 97])]
    {
        let config = PpoConfig { envs, rollout_steps, minibatches, epochs: 1, ..normalized() };
        same(&gpu, id, &config, 1).await;
    }
}

/// Rollouts longer than an episode may be: each is cut short two or three times on the way.
async fn episodes_are_cut_short_more_than_once(gpu: Gpu) {
    let config = PpoConfig { envs: 70, rollout_steps: 450, epochs: 1, ..small() };
    same(&gpu, "MountainCar-v0", &config, 1).await;
    same(&gpu, "Pendulum-v1", &PpoConfig { envs: 70, rollout_steps: 450, epochs: 1, ..normalized() }, 1).await;
}

async fn learning_stops_where_the_policy_has_moved_far_enough(gpu: Gpu) {
    for target_kl in [1e-5, 0.002] {
        let config = PpoConfig { target_kl, lr: 0.01, epochs: 4, ..small() };
        let [mut there, mut here] = pair(&gpu, &config);
        let steps = |ppo: &Ppo| {
            let state = ppo.parts();
            if let Some((_, Data::U64(steps))) = part(&state, "adam.steps") { steps[0] } else { 0 }
        };
        both(&gpu, "stopped", &mut there, &mut here).await;
        assert!((1..12).contains(&steps(&there)), "{}", steps(&there));
        both(&gpu, "stopped again", &mut there, &mut here).await;
    }
}

async fn knobs_turn_between_iterations(gpu: Gpu) {
    let [mut there, mut here] = pair(&gpu, &small());
    both(&gpu, "before", &mut there, &mut here).await;
    for config in [
        PpoConfig { lr: 0.001, epochs: 3, gamma: 0.9, lambda: 0.8, ..small() },
        PpoConfig { epochs: 1, clip: 0.05, entropy: 0.1, value_coef: 1.0, max_grad_norm: 0.05, ..small() },
        PpoConfig { normalize_advantage: false, anneal_steps: 1e5, ..small() },
    ] {
        here.set_config(config.clone()).unwrap();
        there.set_config(config.clone()).unwrap();
        both(&gpu, &format!("{config:?}"), &mut there, &mut here).await;
    }
    let config = PpoConfig { clip_value: true, ..small() };
    here.set_config(config.clone()).unwrap();
    there.set_config(config.clone()).unwrap();
    there.begin_offload(&gpu, 0).unwrap();
    both(&gpu, "another loss", &mut there, &mut here).await;
}

async fn a_run_moves_out_and_home_again(gpu: Gpu) {
    let mut here = new("CartPole-v1", &normalized());
    let mut there = new("CartPole-v1", &normalized());
    for i in 0..3 {
        there.begin_offload(&gpu, 0).unwrap();
        both(&gpu, &format!("away {i}"), &mut there, &mut here).await;
        there.end_offload();
        assert_eq!((at_home(&mut there).episodes), at_home(&mut here).episodes);
        assert_same(&format!("home {i}"), &there, &here);
    }
}

/// It is the learner's own work: no other part of the program has seen this run.
async fn a_pole_is_balanced_after_learning_on_the_device(gpu: Gpu) {
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
            offloaded(&gpu, &mut ppo).await;
        }
        if ppo.evaluate(64, 5).mean >= 475.0 && ppo.evaluate(64, 6).mean >= 475.0 {
            return;
        }
    }
    panic!("{:?} after {:?}", ppo.evaluate(64, 5), ppo.progress());
}

crate::common::tests!(
    iterations_with_choices_are_the_processors,
    iterations_with_numbers_are_the_processors,
    what_cannot_be_is_refused_before_it_begins;
    natively:
    the_same_start_gives_the_same_bits,
    an_iteration_is_three_submits_and_one_readback,
    a_learner_outlives_its_device,
    iterations_of_other_worlds_and_ways_are_the_processors,
    episodes_that_the_limit_cuts_short_are_worth_what_the_critic_expects,
    the_newest_episodes_are_told_in_order,
    iterations_of_odd_shapes_are_the_processors,
    episodes_are_cut_short_more_than_once,
    learning_stops_where_the_policy_has_moved_far_enough,
    knobs_turn_between_iterations,
    a_run_moves_out_and_home_again,
    a_pole_is_balanced_after_learning_on_the_device,
);
