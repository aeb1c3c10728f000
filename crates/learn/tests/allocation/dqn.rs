//! No move of the episodes and no step of the deep-Q learner allocates once it has begun, on any thread of the pool. Native only,
//! as the pool is.

use learn::cube::dqn::curriculum::{CurriculumConfig, Schedule};
use learn::cube::{Cube, Dqn, DqnConfig, Preset};
use learn::{Learner, Slice};
use math::Isa;
use testkit::Meter;
use worlds::cube::{Three, Two};

fn steady<P: Cube>(config: DqnConfig, meter: Meter) {
    let mut learner = Dqn::<P>::new(config, None, 1, Isa::best()).expect("sound settings");
    let mut iterate = || while !matches!(learner.advance(), Slice::Ended(_)) {};
    iterate();
    // Episodes end, are relabelled and begin; the ring comes round; the target network is copied.
    let ((), taken) = meter.count(|| (0..4).for_each(|_| iterate()));
    assert_eq!(taken, 0, "{}", P::SIZE);
    assert!(learner.progress().episodes > 1000 && learner.replay().len() == learner.replay().capacity());
}

#[test]
fn a_steady_iteration_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    pool.install(|| {
        let meter = Meter::new();
        rayon::broadcast(|_| meter.watch());
        for preset in Preset::ALL {
            let config = DqnConfig::preset(preset);
            let curriculum = CurriculumConfig { schedule: Schedule::Fractional, ..config.curriculum };
            let config = DqnConfig {
                curriculum,
                replay: 4096,
                warmup: 1000,
                envs: 200,
                updates_per_move: 1,
                updates: 40,
                target_every: 50,
                hindsight: 0.5,
                ..config
            };
            steady::<Two>(config.clone(), meter);
            steady::<Three>(config, meter);
        }
    });
}
