//! Nothing is allocated in a steady iteration, nor by judging, by any thread of the pool. Native only, as the pool is.

use learn::cube::{Cube, CubeLearner, Exhaustive, Judge, Signal, Supervised, SupervisedConfig};
use learn::{Learner, Slice};
use math::Isa;
use std::sync::Arc;
use testkit::Meter;
use worlds::cube::{Distances, Metric, Three, Two};

fn steady<P: Cube>(signal: Signal, exact: Option<Arc<Distances>>, meter: Meter) {
    let config = SupervisedConfig { updates: 3, ..SupervisedConfig::preset::<P>(signal) };
    let mut learner = Supervised::<P>::new(config, exact, 1, Isa::best()).expect("sound settings");
    let mut judge = learner.judge().expect("a plan");
    let states = [P::SOLVED; 1000];
    let mut scores = vec![0.0; 1000 * judge.scores().count(12.min(P::MOVES.len() / 3 * 2))];
    let mut iterate = || {
        while !matches!(learner.advance(), Slice::Ended(_)) {}
        judge.set(learner.weights());
        judge.judge(&states, &mut scores);
    };
    iterate();
    let ((), taken) = meter.count(|| (0..2).for_each(|_| iterate()));
    assert_eq!(taken, 0, "{signal:?} {}", P::SIZE);
}

#[test]
fn a_steady_iteration_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let exact = Arc::new(Distances::new(Metric::Quarter));
    pool.install(|| {
        let meter = Meter::new();
        rayon::broadcast(|_| meter.watch());
        for signal in Signal::ALL {
            steady::<Two>(signal, Some(exact.clone()), meter);
        }
        steady::<Three>(Signal::LastMove, None, meter);
        // A pass over all states has what it needs before it begins.
        struct Nought;
        impl Judge<Two> for Nought {
            fn scores(&self) -> learn::cube::Scores {
                learn::cube::Scores::Value
            }
            fn judge(&mut self, _: &[Two], scores: &mut [f32]) {
                scores.fill(0.0);
            }
        }
        let mut all = Exhaustive::new(exact.clone());
        let mut pass = || while all.advance(&mut Nought).is_none() {};
        pass(); // makes room for ways and the report, once
        let ((), taken) = meter.count(pass);
        assert_eq!(taken, 0, "a pass over all states");
    });
}
