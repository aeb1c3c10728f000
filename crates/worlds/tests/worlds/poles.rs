//! Features that only CartPole has: external forces, and many random steps in one call.

use crate::fleet::Fleet;
use crate::many::play;
use crate::recorded::CART_POLE;
use math::Isa;
use testkit::test;
use worlds::control::cartpole::{EPISODES, STEP_LIMIT};
use worlds::control::vector::{LENGTH_SHIFT, Vector};
use worlds::control::{CartPole64, CartPoles, World64};

#[test]
fn external_forces_push_cart_and_tip() {
    let pushed = |state, action: f64, forces| {
        let mut pole = CartPole64::at(state);
        pole.advance(&[action], forces);
        pole.state
    };
    // If the cart is pushed to the right, the pole leans to the left. A push on the tip turns the pole to the right.
    let [_, cart_speed, _, turn] = pushed([0.0; 4], 0.0, [30.0, 0.0]);
    assert!(cart_speed > 0.0 && turn < 0.0);
    assert!(pushed([0.0; 4], 0.0, [10.0, 2.0])[3] > 0.0);
}

#[test]
fn a_nan_state_terminates() {
    assert!(CartPole64::at([f64::NAN; 4]).advance(&[0.0], [0.0; 2]).terminated);
}

/// `play` takes the same steps as `step` with the random actions of `coins`, on every instruction set.
#[test]
fn play_equals_steps_with_the_same_random_actions() {
    const STEPS: u32 = 300;
    for isa in Isa::available() {
        let [mut played, mut stepped] = [0, 0].map(|_| CartPoles::new(isa, 9, 40, 70));
        let (mut actions, mut rewards) = (vec![0.0; 96], vec![0.0; 96]);
        let (mut reached, mut ended, mut episodes, mut pushes) = (vec![0.0; 384], vec![0; 96], 0, 0.0);
        for env in 0..35 {
            // These environments are near the step limit and near the end of the episode counter's period.
            for poles in [&mut played, &mut stepped] {
                poles.set_environment(env, &[0.0; 4], STEP_LIMIT - 5, EPISODES - 1).unwrap();
            }
        }
        for step in 0..STEPS {
            stepped.coins(3, step, &mut actions);
            stepped.step(&actions, &mut reached, &mut rewards, &mut ended);
            episodes += ended[..70].iter().filter(|&&end| end != 0).count() as u64;
            pushes += actions[..70].iter().sum::<f32>();
        }
        assert_eq!(played.play(3, STEPS), episodes, "{}", isa.name());
        let [mut played, mut stepped] = [played, stepped].map(|poles| Fleet::of(CART_POLE, Box::new(poles)));
        assert_eq!(played.states(), stepped.states(), "{}", isa.name());
        let on = [&mut played, &mut stepped].map(|fleet| play(fleet, 0, 0..100));
        assert_eq!(on[0], on[1], "{}: later steps", isa.name());
        assert_eq!(played.states(), stepped.states(), "{}", isa.name());
        assert!(episodes > 600, "random actions end episodes: {episodes}");
        // The standard deviation of 21,000 fair coins is 72.
        assert!((pushes - 10_500.0).abs() < 360.0, "{pushes} pushes to the right");
    }
}

/// `CartPoles::play` relies on at least eight steps in an episode. The test pushes in one direction, from the worst corners and from random
/// initial states.
#[test]
fn episodes_have_at_least_eight_steps() {
    for (state, action) in [([-0.05; 4], 1.0), ([0.05; 4], 0.0), ([0.0, 0.0, 0.05, 0.05], 0.0)] {
        let mut pole = CartPole64::at(state);
        while !pole.advance(&[action], [0.0; 2]).terminated {}
        assert!(pole.steps >= 8, "{} steps", pole.steps);
    }
    let mut poles = CartPoles::new(Isa::best(), 2, 0, 4096);
    let (mut reached, mut rewards, mut ended) = (vec![0.0; 4096 * 4], vec![0.0; 4096], vec![0; 4096]);
    for t in 0..400 {
        poles.step(&[(t / 200) as f32; 4096], &mut reached, &mut rewards, &mut ended);
        assert!(ended.iter().all(|&end| end == 0 || end >> LENGTH_SHIFT >= 8));
    }
}
