//! A round of the strong learner allocates nothing once its lists have grown, and neither does its player, with a search or without. Native
//! only, for the time it takes.

use learn::backgammon::{SelfTaught, Strong, StrongConfig};
use learn::{Learner, Slice};
use math::{Isa, Rng};
use testkit::Meter;
use worlds::backgammon::{Board, Roll};

/// A game that is longer than any before, or a roll with more results, makes room for itself. Such records get rarer and rarer;
/// what allocates every now and then does so in more of sixty stretches.
const RECORDS: usize = 3;

#[test]
fn playing_and_learning_allocate_nothing() {
    // Inside a pool: a thread outside hands each task over through a queue of the pool's, which allocates now and then. Of one
    // thread: which of several meets the longest game, and makes room for it, is chance.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let meter = Meter::new();
        rayon::broadcast(|_| meter.watch());
        let settings = StrongConfig { hidden: 32, games: 16, batch: 128, ..StrongConfig::default() };
        let mut strong = Strong::new(settings, 3, Isa::best()).expect("sound settings");
        let mut rounds = |count: usize| (0..count).for_each(|_| while strong.advance() == Slice::Worked {});
        rounds(20);
        let grew = (0..60).filter(|_| meter.count(|| rounds(1)).1 > 0).count();
        assert!(grew <= RECORDS, "{grew} of 60 rounds allocated");
        assert_eq!(strong.progress().iterations, 80);

        for evals in [1, 60] {
            let mut player = strong.player(evals);
            let (mut numbers, mut board, mut chosen) = (Rng::new(1, 2).sequence(0), Board::START, Vec::new());
            let mut play = |decisions: usize| {
                for _ in 0..decisions {
                    player.choose(&[(board, Roll::drawn(&mut numbers))], &mut chosen);
                    board = if chosen[0].points() == 0 { chosen[0].turned() } else { Board::START };
                }
            };
            play(500);
            let grew = (0..60).filter(|_| meter.count(|| play(10)).1 > 0).count();
            assert!(grew <= RECORDS, "{evals} evaluations: {grew} of 60 times some decisions allocated");
        }
    });
}
