//! The fast form beside itself: neither lanes, nor how environments are cut into groups, nor the way
//! through a checkpoint changes a bit.

use math::Isa;
use worlds::cartpole::{EPISODES, STEP_LIMIT};
use worlds::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED, Vector};
use worlds::{CartPole64, CartPoles, Impossible};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;
#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Even environments balance well, odd ones push the wrong way at two steps of three.
fn play(poles: &mut CartPoles, steps: usize) -> Vec<u32> {
    let lanes = poles.observations().len() / 4;
    let (mut actions, mut reached) = (vec![0.0; lanes], vec![0.0; lanes * 4]);
    let (mut rewards, mut ended, mut seen) = (vec![0.0; lanes], vec![0; lanes], vec![]);
    for t in 0..steps {
        for env in 0..lanes {
            let (state, ..) = poles.environment(env);
            let lean = 0.1 * state[0] + 0.3 * state[1] + 3.0 * state[2] + 0.6 * state[3];
            actions[env] = if (lean > 0.0) == (env % 2 == 0 || t % 3 == 0) { 1.0 } else { 0.0 };
        }
        poles.step(&actions, &mut reached, &mut rewards, &mut ended);
        seen.extend_from_slice(&ended);
    }
    seen
}

fn everything(poles: &CartPoles) -> Vec<([f32; 4], u32, u32)> {
    (0..poles.count()).map(|env| poles.environment(env)).collect()
}

#[test]
fn all_sets_of_a_class_agree_bit_for_bit() {
    for fused in [false, true] {
        let sets = Isa::available().into_iter().filter(|isa| isa.fused() == fused);
        let runs: Vec<_> = sets
            .map(|isa| {
                let mut poles = CartPoles::new(isa, 7, 0, 96);
                (play(&mut poles, 600), everything(&poles))
            })
            .collect();
        assert!(runs.windows(2).all(|pair| pair[0] == pair[1]), "fused: {fused}");
    }
}

#[test]
fn episodes_end_in_both_ways_and_say_how_long_they_were() {
    let mut poles = CartPoles::new(Isa::best(), 7, 0, 96);
    let ended: Vec<u32> = play(&mut poles, 1200).into_iter().filter(|&e| e != 0).collect();
    assert!(ended.iter().any(|e| e & TERMINATED != 0) && ended.iter().any(|e| e & TRUNCATED != 0));
    for end in ended {
        let length = end >> LENGTH_SHIFT;
        assert!(length > 0 && length <= STEP_LIMIT);
        assert_eq!(end & TRUNCATED != 0, length == STEP_LIMIT);
    }
}

/// Many steps in one call are the same steps, on every set, whichever environments lie beside.
#[test]
fn playing_by_coins_is_stepping_by_coins() {
    const STEPS: u32 = 300;
    for isa in Isa::available() {
        let [mut played, mut stepped] = [0, 0].map(|_| CartPoles::new(isa, 9, 40, 70));
        let (mut actions, mut rewards) = (vec![0.0; 96], vec![0.0; 96]);
        let (mut reached, mut ended, mut episodes, mut pushes) = (vec![0.0; 384], vec![0; 96], 0, 0.0);
        for env in 0..35 {
            // Some are about to be cut short, and all of them soon fall.
            for poles in [&mut played, &mut stepped] {
                poles.set_environment(env, [0.0; 4], STEP_LIMIT - 5, EPISODES - 1).unwrap();
            }
        }
        for step in 0..STEPS {
            stepped.coins(3, step, &mut actions);
            stepped.step(&actions, &mut reached, &mut rewards, &mut ended);
            episodes += ended[..70].iter().filter(|&&end| end != 0).count() as u64;
            pushes += actions[..70].iter().sum::<f32>();
        }
        assert_eq!(played.play(3, STEPS), episodes, "{}", isa.name());
        assert_eq!(everything(&played), everything(&stepped), "{}", isa.name());
        assert_eq!(play(&mut played, 100), play(&mut stepped, 100), "{}: and so they go on", isa.name());
        assert_eq!(everything(&played), everything(&stepped), "{}", isa.name());
        assert!(episodes > 600, "coins do not balance a pole: {episodes}");
        // 21,000 throws have a spread of 72.
        assert!((pushes - 10_500.0).abs() < 360.0, "{pushes} pushes to the right");
    }
}

/// What [`CartPoles::play`] stands on: pushed one way from the worst corner, and from anywhere at the start.
#[test]
fn no_episode_is_shorter_than_eight_steps() {
    for (state, action) in [([-0.05; 4], 1), ([0.05; 4], 0), ([0.0, 0.0, 0.05, 0.05], 0)] {
        let mut pole = CartPole64::new(state);
        while !pole.step(action).terminated {}
        assert!(pole.steps >= 8, "{} steps", pole.steps);
    }
    let mut poles = CartPoles::new(Isa::best(), 2, 0, 4096);
    let (mut reached, mut rewards, mut ended) = (vec![0.0; 4096 * 4], vec![0.0; 4096], vec![0; 4096]);
    for t in 0..400 {
        poles.step(&[(t / 200) as f32; 4096], &mut reached, &mut rewards, &mut ended);
        assert!(ended.iter().all(|&end| end == 0 || end >> LENGTH_SHIFT >= 8));
    }
}

#[test]
fn a_group_is_the_same_wherever_it_is_cut() {
    let mut whole = CartPoles::new(Isa::best(), 3, 0, 128);
    let mut half = CartPoles::new(Isa::best(), 3, 64, 64);
    play(&mut whole, 200);
    play(&mut half, 200);
    assert_eq!(everything(&whole)[64..], everything(&half)[..]);
}

#[test]
fn saved_environments_go_on_as_if_never_saved() {
    let mut run = CartPoles::new(Isa::best(), 5, 0, 40);
    play(&mut run, 77);
    let mut resumed = CartPoles::new(Isa::best(), 5, 0, 40);
    for (env, (state, steps, episodes)) in everything(&run).into_iter().enumerate() {
        resumed.set_environment(env, state, steps, episodes).unwrap();
    }
    play(&mut run, 200);
    play(&mut resumed, 200);
    assert_eq!(everything(&run), everything(&resumed));
}

#[test]
fn episodes_begin_evenly_within_their_bounds_and_apart_from_each_other() {
    let poles = CartPoles::new(Isa::best(), 11, 0, 4096);
    let starts = everything(&poles);
    for i in 0..4 {
        let values: Vec<f64> = starts.iter().map(|s| f64::from(s.0[i])).collect();
        let mean = values.iter().sum::<f64>() / 4096.0;
        let variance = values.iter().map(|v| v * v).sum::<f64>() / 4096.0;
        assert!(values.iter().all(|v| v.abs() <= 0.05));
        assert!(mean.abs() < 0.002, "mean {mean}");
        assert!((variance / (0.1 * 0.1 / 12.0) - 1.0).abs() < 0.05, "variance {variance}");
    }
    let other = everything(&CartPoles::new(Isa::best(), 12, 0, 4096));
    assert!(starts.iter().zip(&other).all(|(a, b)| a.0 != b.0), "another seed, other states");
}

#[test]
fn states_that_cannot_be_are_refused() {
    let mut poles = CartPoles::new(Isa::best(), 1, 100, 8);
    for (state, steps) in [
        ([3.0, 0.0, 0.0, 0.0], 0),
        ([0.0, 0.0, 0.3, 0.0], 0),
        ([0.0, f32::NAN, 0.0, 0.0], 0),
        ([0.0, 0.0, 0.0, f32::INFINITY], 0),
        ([0.0; 4], STEP_LIMIT),
    ] {
        assert_eq!(
            poles.set_environment(2, state, steps, 0),
            Err(Impossible { env: 102, id: "CartPole-v1" })
        );
    }
    assert!(poles.set_environment(2, [0.0; 4], 0, EPISODES).is_err(), "episodes are counted up to there");
    assert!(poles.set_environment(2, [0.0; 4], 0, EPISODES - 1).is_ok());
    assert!(poles.set_environment(8, [0.0; 4], 0, 0).is_err(), "there is no ninth environment");
}
