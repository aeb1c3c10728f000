//! The published learner allocates nothing while it plays and learns. A file of its own: the counter counts for the whole process, so
//! nothing else may run beside it. Native only, as the counter is.
#![cfg(not(target_arch = "wasm32"))]

use learn::backgammon::{Learner, Published, PublishedConfig, Slice};
use math::Isa;
use std::alloc::System;

#[global_allocator]
static COUNTER: &stats_alloc::StatsAlloc<System> = &stats_alloc::INSTRUMENTED_SYSTEM;

#[test]
fn a_steady_round_allocates_nothing() {
    let config = PublishedConfig {
        evals: 12,
        tables: 2,
        games: 10,
        batch: 32,
        round_batches: 80,
        replay: 500,
        minibatch: 64,
        duel_pairs: 0,
        ..PublishedConfig::default()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (games, taken) = pool.install(|| {
        let mut learner = Published::new(config, 1, Isa::best()).unwrap();
        let mut round = || {
            let before = COUNTER.stats();
            while learner.advance() == Slice::Worked {}
            let taken = COUNTER.stats() - before;
            (taken.allocations + taken.reallocations, learner.progress().games)
        };
        // A game that is longer than any before makes room for itself, so the first rounds may allocate.
        let (_, games) = (0..30).map(|_| round()).last().unwrap();
        let rounds: Vec<(usize, u64)> = (0..5).map(|_| round()).collect();
        (rounds[4].1 - games, rounds.iter().map(|round| round.0).min())
    });
    assert_eq!(taken, Some(0));
    assert!(games > 5, "{games}");
}
