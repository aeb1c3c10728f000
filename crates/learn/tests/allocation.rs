//! Nothing is allocated in a steady iteration. A file of its own: the counter counts for the whole
//! process, so nothing else may run beside it. Native only, as the counter is.
#![cfg(not(target_arch = "wasm32"))]

use learn::{Ppo, PpoConfig, Slice};
use math::Isa;
use std::alloc::System;

#[global_allocator]
static COUNTER: &stats_alloc::StatsAlloc<System> = &stats_alloc::INSTRUMENTED_SYSTEM;

#[test]
fn a_steady_iteration_allocates_nothing() {
    let config = PpoConfig { envs: 300, rollout_steps: 40, epochs: 2, ..PpoConfig::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let mut ppo = Ppo::new(worlds::kind("CartPole-v1").unwrap(), config, 1, Isa::best()).unwrap();
        ppo.trail_clear(); // makes room for what is watched, once
        let mut iterate = || while !matches!(ppo.advance(), Slice::Iteration(_)) {};
        iterate();
        let before = COUNTER.stats();
        for _ in 0..15 {
            iterate();
        }
        assert_eq!(COUNTER.stats().allocations - before.allocations, 0);
        assert_eq!(COUNTER.stats().reallocations - before.reallocations, 0);
        let before = COUNTER.stats();
        ppo.evaluate(200, 3);
        ppo.think(&[0.0; 4], &mut [0.0; 2], &mut [0.0]);
        ppo.trail_clear();
        assert_eq!(COUNTER.stats().allocations - before.allocations, 0);
    });
}
