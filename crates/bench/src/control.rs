//! Benchmarks of control: speed of environments and of PPO, and the overhead of a monitor (the events that another process can read).

#[cfg(feature = "device")]
pub mod device;
#[cfg(feature = "files")]
mod files;
mod learners;
mod stepped;

#[cfg(feature = "files")]
pub use files::measure as measure_files;

use crate::measure::{Bench, Clock, rates};
use learn::Learner;
use learn::control::{Ppo, PpoConfig};
use learners::{iterations_rate, learner, medium};
use math::Isa;
use math::rounds::{ROUNDS, rounds_s};
use run::control::{Control, Refuses, TEST_EPISODES};
use run::monitor::Writer;
use run::protocol::{Command, Event};
use run::room::Room;
use run::{AnyRun, DIGEST_EVERY, Entry, Host, Run, config_of};
use stepped::{ENVS, stepped};
use worlds::control::{CartPoles, kind};

pub fn measure(bench: &mut Bench) {
    let (isa, now) = (bench.isa, bench.now);
    for kind in worlds::control::kinds() {
        let (name, _) = kind.spec.id.split_once('-').unwrap_or((&kind.spec.id, ""));
        let rates = stepped((kind.many)(isa, 1, 0, ENVS), kind.spec.actions, now);
        bench.give(format!("control.{}.steps_per_s_core", name.to_lowercase()), &rates, "steps/s");
    }
    bench.give("control.cartpole.fused_steps_per_s_core", &played(isa, now), "steps/s");
    bench.give("control.ppo.cartpole.steps_per_s", &ppo(isa, now), "steps/s");
    let (rates, reached) = small_ppo(isa, now);
    bench.give("control.ppo.cartpole.small.steps_per_s", &rates, "steps/s");
    bench.count("control.ppo.cartpole.small.mean_return", reached.into(), "best test of that run");
    if let Some(rounds) = monitored(bench) {
        bench.give("control.monitor.overhead", &rounds, "of the time without a monitor");
    }
}

/// Returns the steps per second of CartPole with random actions on one core, in each round. Each call of `play` takes many steps.
fn played(isa: Isa, now: Clock) -> Vec<f64> {
    const GAME: u32 = 100;
    let mut poles = CartPoles::new(isa, 1, 0, ENVS);
    let mut game = 0;
    let play = || {
        poles.play(game, GAME);
        game += 1;
    };
    rates(ENVS as f64 * f64::from(GAME), &rounds_s(&now, play))
}

/// Returns the environment steps per second of whole PPO iterations, in each round. The iterations use all threads and follow a warm-up.
/// The configuration is the default, but with 64 hidden units: policy and value have separate networks with 4 inputs and two layers of 64
/// units.
fn ppo(isa: Isa, now: Clock) -> Vec<f64> {
    let mut ppo = cart_pole(medium(), 1, isa);
    iterations_rate(&mut ppo, now);
    (0..ROUNDS).map(|_| iterations_rate(&mut ppo, now)).collect()
}

/// Measures the environment steps per second like [`ppo`], but with the configuration [`small`] and without a warm-up. The policy is
/// evaluated after each round, until its mean return reaches the goal. The rounds end when the goal is reached and there are `ROUNDS`
/// rounds, or after `GIVE_UP` environment steps. Returns the rates and the best mean return.
fn small_ppo(isa: Isa, now: Clock) -> (Vec<f64>, f32) {
    const GIVE_UP: u64 = 10_000_000;
    let mut ppo = cart_pole(small(4096), 1, isa);
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

/// Returns the configuration of [`small_ppo`]. Policy and value share a trunk of two layers with 32 units. Each rollout is used for one
/// epoch. The learning rate is 0.005.
fn small(envs: usize) -> PpoConfig {
    PpoConfig { shared: true, epochs: 1, envs, lr: 0.005, ..PpoConfig::default() }
}

fn cart_pole(config: PpoConfig, seed: u32, isa: Isa) -> Ppo {
    learner(kind("CartPole-v1").expect("a known environment"), config, seed, isa)
}

/// Returns the additional time of a run with a monitor, as a share of the time without a monitor, in each round. The run has the default
/// settings. Each round times the same number of iterations with and without a monitor. Returns `None` if no monitor can be attached.
fn monitored(bench: &mut Bench) -> Option<Vec<f64>> {
    const ROUNDS: usize = 33;
    /// Number of iterations per timing. With this number, all timings contain equally many digests (hashes of the weights) and, once the
    /// task is solved, equally many evaluations.
    const ITERATIONS: u32 = DIGEST_EVERY;
    const WARM_UP: u32 = 4;
    let now = bench.now;
    let config = config_of(&Entry::<Control<Refuses>>::NEW);
    let mut run = Run::<Control<Refuses>>::new(config, Host::new(bench.isa)).expect("the default config is in range");
    let began = run.events().into_iter().find(|event| matches!(event, Event::Began(_)))?;
    run.command(Command::Start).expect("a fresh run can start");
    let mut stretch_s = |mut monitor: Option<Writer>| {
        if let Some(monitor) = &mut monitor {
            monitor.event(&began);
        }
        let (began_s, until) = (now(), run.progress().iteration + ITERATIONS);
        while run.progress().iteration < until {
            run.advance(now());
            let events = run.events();
            if let Some(monitor) = &mut monitor {
                events.iter().for_each(|event| monitor.event(event));
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
        let with_s = stretch_s(Some((bench.attach)(<Control<Refuses>>::SCHEMA)?));
        shares.push(with_s / stretch_s(None) - 1.0);
    }
    Some(shares)
}
