//! Nothing is allocated in a steady iteration. A file of its own: the counter counts for the whole
//! process, so nothing else may run beside it. Native only, as the counter is.
#![cfg(not(target_arch = "wasm32"))]

use learn::{Ppo, PpoConfig, Slice};
use math::Isa;
use std::alloc::System;

#[global_allocator]
static COUNTER: &stats_alloc::StatsAlloc<System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// How often `work` allocates. The test harness's own thread allocates now and then while a test runs, so the least of some
/// rounds is what the work itself took.
fn allocations(mut work: impl FnMut()) -> usize {
    let round = |_| {
        let before = COUNTER.stats();
        work();
        let taken = COUNTER.stats() - before;
        taken.allocations + taken.reallocations
    };
    (0..5).map(round).min().unwrap_or(0)
}

#[test]
fn a_steady_iteration_allocates_nothing() {
    let config = PpoConfig { envs: 300, rollout_steps: 40, epochs: 2, ..PpoConfig::default() };
    let normalized = PpoConfig { normalize_observation: true, normalize_reward: true, ..config.clone() };
    let shared = PpoConfig { shared: true, tanh: true, clip_value: true, target_kl: 0.01, ..config.clone() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let ways = [
        ("CartPole-v1", config),
        ("Pendulum-v1", PpoConfig { squash: true, ..normalized.clone() }),
        ("Acrobot-v1", shared),
        ("LunarLander-v3", normalized),
    ];
    for (id, config) in ways {
        pool.install(|| {
            let mut ppo = Ppo::new(worlds::kind(id).unwrap(), config, 1, Isa::best()).unwrap();
            ppo.trail_clear(); // makes room for what is watched, once
            let mut iterate = || while !matches!(ppo.advance(), Slice::Iteration(_)) {};
            iterate();
            assert_eq!(allocations(|| (0..3).for_each(|_| iterate())), 0, "{id}");
            let state = vec![0.0; ppo.kind().spec.observation.len()];
            let mut odds = vec![0.0; ppo.odds_len()];
            let judged = allocations(|| {
                ppo.evaluate(200, 3);
                ppo.think(&state, &mut odds, &mut [0.0]);
                ppo.trail_clear();
            });
            assert_eq!(judged, 0, "{id}");
        });
    }
}
