//! A training step of a logic automaton allocates nothing, on any thread. Native only, as the pool is.

use learn::logic::automaton::{Automaton, GateForm};
use learn::logic::train::{Optimiser, Rollout, Trainer};
use learn::logic::{Architecture, Wiring, Wirings};
use math::Isa;
use testkit::Meter;

#[test]
fn a_steady_step_allocates_nothing() {
    let architecture = Architecture { channels: 8, kernels: 16, perception: vec![8, 4, 2], update: vec![256, 128, 64, 32, 16, 8, 8] };
    let rollout = Rollout { width: 24, height: 20, periodic: true, steps: 3, batch: 2, fire_rate: Some(0.6) };
    let wirings = Wirings::new(&architecture, Wiring::Unique, 1).unwrap();
    let plane = rollout.width * rollout.height * rollout.batch;
    let (start, target) = (vec![1.0; 8 * plane], vec![0.0; plane]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for form in [GateForm::Softmax, GateForm::Four, GateForm::Gumbel { temperature: 1.0 }] {
        pool.install(|| {
            let meter = Meter::new();
            rayon::broadcast(|_| meter.watch());
            let automaton = Automaton::new(architecture.clone(), wirings.clone(), form);
            let mut trainer = Trainer::new(Isa::best(), automaton, rollout.clone(), Optimiser::default(), 1);
            trainer.step(&start, &target, 1);
            let ((), taken) = meter.count(|| {
                for _ in 0..20 {
                    trainer.step(&start, &target, 1);
                }
            });
            assert_eq!(taken, 0, "{form:?}");
        });
    }
}
