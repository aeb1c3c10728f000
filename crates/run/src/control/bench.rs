//! The figures of control: how fast environments step and PPO learns, and what it costs when a run is watched.

use super::testing::TEST_EPISODES;
use crate::Host;
use crate::bench::{Bench, Figure, ROUNDS, noise, rounds_s};
use crate::digest::DIGEST_EVERY;
use crate::monitor::Writer;
use crate::protocol::{Command, Event};
use crate::room::{Room, Schema};
use crate::runs::{AnyRun, Entry, Run, config_of};
use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Slice};
use math::Isa;
use worlds::control::{Actions, CartPoles, Spec, Vector};

/// Of the room `R`, whose default is watched.
pub(super) fn run<R: Room>(bench: &mut Bench) {
    let Bench { isa, now, attach, sink, .. } = bench;
    let (isa, now): (Isa, &dyn Fn() -> f64) = (*isa, now);
    let mut give = |name: &str, rounds: &[f64]| sink(Figure::measured(name, rounds, "steps/s"));
    for kind in worlds::control::kinds() {
        let make = kind.many;
        let (name, _) = kind.spec.id.split_once('-').unwrap_or((kind.spec.id, ""));
        let name = format!("control.{}.steps_per_s_core", name.to_lowercase());
        give(&name, &stepped(make(isa, 1, 0, ENVS), kind.spec, now));
    }
    give("control.cartpole.fused_steps_per_s_core", &played(isa, now));
    give("control.ppo.cartpole.steps_per_s", &ppo(isa, now));
    let (rates, reached) = small_ppo(isa, now);
    give("control.ppo.cartpole.small.steps_per_s", &rates);
    let name = "control.ppo.cartpole.small.mean_return";
    sink(Figure::counted(name, reached.into(), "best test of that run"));
    if let Some(rounds) = monitored::<R>(isa, now, attach) {
        sink(Figure::measured("control.monitor.overhead", &rounds, "of the time without a monitor"));
    }
}

/// Environments stepped at once in the figures of the worlds.
const ENVS: usize = 4096;

/// Steps before those that count: by then episodes end at any time, and not all at once as they began.
const WARM_UP: usize = 512;

/// Steps a second on one core by the public call, with random actions drawn beforehand, in the steady state:
/// ends and resets of episodes included.
fn stepped(mut many: Box<dyn Vector>, spec: &Spec, now: &dyn Fn() -> f64) -> Vec<f64> {
    let action = |x: f32| match spec.actions {
        Actions::Choices(count) => (0.5 * (x + 1.0) * count as f32).floor(),
        Actions::Range(low, high) => (low + 0.5 * (f64::from(x) + 1.0) * (high - low)) as f32,
    };
    let actions: Vec<f32> = noise(8 * ENVS).into_iter().map(action).collect();
    let (mut reached, mut rewards) = (vec![0.0; many.observations().len()], vec![0.0; ENVS]);
    let (mut ended, mut t) = (vec![0; ENVS], 0);
    let mut step = || {
        many.step(&actions[t % 8 * ENVS..][..ENVS], &mut reached, &mut rewards, &mut ended);
        t += 1;
    };
    (0..WARM_UP).for_each(|_| step());
    rounds_s(now, step).into_iter().map(|step_s| ENVS as f64 / step_s).collect()
}

/// Steps a second of CartPole on one core by many steps in one call.
fn played(isa: Isa, now: &dyn Fn() -> f64) -> Vec<f64> {
    const GAME: u32 = 100;
    let mut poles = CartPoles::new(isa, 1, 0, ENVS);
    let mut game = 0;
    let play = || {
        poles.play(game, GAME);
        game += 1;
    };
    let steps = ENVS as f64 * f64::from(GAME);
    rounds_s(now, play).into_iter().map(|play_s| steps / play_s).collect()
}

/// Environment steps a second of whole iterations, after the first few, on all threads there are: the
/// preset with two networks of 4-64-64.
fn ppo(isa: Isa, now: &dyn Fn() -> f64) -> Vec<f64> {
    const WARM_UP: usize = 3;
    let mut ppo = cart_pole(PpoConfig { hidden: 64, epochs: 4, ..PpoConfig::default() }, isa);
    for _ in 0..WARM_UP {
        iteration_s(&mut ppo, now);
    }
    (0..ROUNDS).map(|_| iterations_rate(&mut ppo, now)).collect()
}

/// The same for a trunk of 32-32 that policy and critic share and one pass over the data, in a run that is
/// judged until it has solved the task; and the best evaluation it reached.
fn small_ppo(isa: Isa, now: &dyn Fn() -> f64) -> (Vec<f64>, f32) {
    const GIVE_UP: u64 = 10_000_000;
    let small = PpoConfig { shared: true, epochs: 1, envs: 4096, lr: 0.005, ..PpoConfig::default() };
    let mut ppo = cart_pole(small, isa);
    let goal = ppo.kind().spec.solved_at as f32;
    let (mut best, mut rates) = (0f32, Vec::new());
    while (best < goal || rates.len() < ROUNDS) && ppo.progress().env_steps < GIVE_UP {
        rates.push(iterations_rate(&mut ppo, now));
        if best < goal {
            best = best.max(ppo.evaluate(TEST_EPISODES, rates.len() as u32).mean);
        }
    }
    (rates, best)
}

fn cart_pole(config: PpoConfig, isa: Isa) -> Ppo {
    let kind = worlds::control::kind("CartPole-v1").expect("a world there is");
    Ppo::new(kind, config, 1, isa).expect("the settings are in range")
}

fn iteration_s(ppo: &mut Ppo, now: &dyn Fn() -> f64) -> f64 {
    let began_s = now();
    while !matches!(ppo.advance(), Slice::Ended(_)) {}
    now() - began_s
}

/// Environment steps a second of a few iterations together.
fn iterations_rate(ppo: &mut Ppo, now: &dyn Fn() -> f64) -> f64 {
    const ITERATIONS: usize = 3;
    let samples = (ITERATIONS * ppo.config().envs * ppo.config().rollout_steps) as f64;
    samples / (0..ITERATIONS).map(|_| iteration_s(ppo, now)).sum::<f64>()
}

/// The share of its time that a monitor takes from the default run: a stretch with one and a stretch without in each round. None where
/// it cannot be attached.
fn monitored<R: Room>(isa: Isa, now: &dyn Fn() -> f64, attach: &mut dyn FnMut(&Schema) -> Option<Writer>) -> Option<Vec<f64>> {
    const ROUNDS: usize = 33;
    /// Each stretch has the same number of evaluations and digests in it, once the task is solved.
    const ITERATIONS: u32 = DIGEST_EVERY;
    const WARM_UP: u32 = 4;
    let config = config_of(&Entry::<R>::NEW);
    let mut run = Run::<R>::new(config, Host::new(isa)).expect("the default config is in range");
    let began = run.events().into_iter().find(|event| matches!(event, Event::Began(_)))?;
    run.command(Command::Start).expect("a fresh run can start");
    let mut stretch_s = |mut monitor: Option<Writer>| {
        if let Some(monitor) = &mut monitor {
            monitor.event(&began);
        }
        let (began_s, until) = (now(), run.progress().iteration + ITERATIONS);
        while run.progress().iteration < until {
            run.advance(now());
            for event in run.events() {
                if let Some(monitor) = &mut monitor {
                    monitor.event(&event);
                }
            }
            if let Some(monitor) = &mut monitor {
                monitor.beat(&run.progress());
            }
        }
        now() - began_s
    };
    for _ in 0..WARM_UP {
        stretch_s(None);
    }
    let mut shares = Vec::new();
    for _ in 0..ROUNDS {
        let with_s = stretch_s(Some(attach(R::SCHEMA)?));
        shares.push(with_s / stretch_s(None) - 1.0);
    }
    Some(shares)
}
