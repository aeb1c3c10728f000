//! The published learner allocates nothing while it plays and learns, on any thread of the pool. Native only, as the pool is.

use learn::backgammon::{Published, PublishedConfig};
use learn::{Learner, Slice};
use math::Isa;
use testkit::Meter;

#[test]
fn a_steady_round_allocates_nothing() {
    let config = PublishedConfig {
        evals: 12,
        actors: 2,
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
        let meter = Meter::new();
        rayon::broadcast(|_| meter.watch());
        let mut learner = Published::new(config, 1, Isa::best()).unwrap();
        let mut round = || {
            let ((), taken) = meter.count(|| while learner.advance() == Slice::Worked {});
            (taken, learner.progress().games)
        };
        // A game that is longer than any before makes room for itself, so the first rounds may allocate.
        let (_, games) = (0..30).map(|_| round()).last().unwrap();
        let rounds: Vec<(u64, u64)> = (0..20).map(|_| round()).collect();
        (rounds[19].1 - games, rounds.iter().map(|round| round.0).sum::<u64>())
    });
    assert_eq!(taken, 0);
    assert!(games > 20, "{games}");
}
