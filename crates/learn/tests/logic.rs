//! Training of logic automata, held to its plain twin.

use learn::logic::automaton::{Automaton, GateForm};
use learn::logic::train::{Optimiser, Rollout, Trainer};
use learn::logic::{Architecture, Wiring, Wirings};
use math::{Isa, Rng};

fn uniform(seed: u32, len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    Rng::new(seed, 99).fill_uniform(Isa::best(), 0, &mut values);
    values
}

fn life() -> Architecture {
    Architecture { channels: 1, kernels: 8, perception: vec![8, 4, 2, 1], update: vec![16, 8, 4, 2, 1] }
}

#[test]
fn a_step_lowers_the_loss() {
    let architecture = life();
    let wirings = Wirings::new(&architecture, Wiring::Unique, 1).unwrap();
    for form in [GateForm::Softmax, GateForm::Four] {
        let automaton = Automaton::new(architecture.clone(), wirings.clone(), form);
        assert!(automaton.ops().iter().all(|&op| op == 3));
        let certainty = automaton.certainty();
        assert!(certainty.iter().all(|&c| (0.99..1.0).contains(&c)), "{certainty:?}");
        let rollout = Rollout { width: 3, height: 3, periodic: true, steps: 1, batch: 4, fire_rate: None };
        let start: Vec<f32> = uniform(1, 36).iter().map(|x| x.round()).collect();
        let target: Vec<f32> = uniform(2, 36).iter().map(|x| x.round()).collect();
        let mut trainer = Trainer::new(Isa::best(), automaton, rollout, Optimiser::default(), 1);
        let first = trainer.step(&start, &target, 1).loss;
        for _ in 0..300 {
            trainer.step(&start, &target, 1);
        }
        let last = trainer.step(&start, &target, 1).loss;
        assert!(last < 0.7 * first, "{form:?}: {first} to {last}");
    }
}
