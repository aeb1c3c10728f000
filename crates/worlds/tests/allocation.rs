//! Thousands are stepped without allocating, whatever the kind. Native only, for the time it takes.
#![cfg(not(target_arch = "wasm32"))]

use math::{Isa, Rng};
use testkit::allocations;
use worlds::{Actions, kinds};

#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;

#[test]
fn a_step_allocates_nothing() {
    const COUNT: usize = 96;
    for kind in kinds() {
        let mut many = (kind.many)(Isa::best(), 1, 0, COUNT);
        let (mut reached, mut rewards) = (vec![0.0; many.observations().len()], vec![0.0; COUNT]);
        let (mut actions, mut ended) = (vec![0.0; COUNT], vec![0; COUNT]);
        let rng = Rng::new(1, 2);
        let mut ends = 0;
        let taken = allocations(|| {
            for t in 0..3000 {
                rng.fill_uniform(Isa::best(), t, &mut actions);
                for action in &mut actions {
                    *action = match kind.spec.actions {
                        Actions::Choices(count) => (*action * count as f32).floor(),
                        Actions::Range(low, high) => (low + (high - low) * f64::from(*action)) as f32,
                    };
                }
                many.step(&actions, &mut reached, &mut rewards, &mut ended);
                ends += ended.iter().filter(|&&end| end != 0).count();
            }
        });
        assert_eq!(taken, 0, "{}", kind.spec.id);
        assert!(ends >= COUNT, "{}: episodes ended meanwhile", kind.spec.id);
    }
}
