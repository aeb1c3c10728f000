//! CartPole against whole episodes recorded from Gymnasium (`tests/golden/worlds_cartpole.py`): one
//! step from every recorded state, and the first steps of a free run. A longer replay would prove
//! nothing: the pole is chaotic even in f64.

use math::Isa;
use serde_json::Value;
use testkit::{distance, worst};
use worlds::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED, Vector};
use worlds::{CartPole64, CartPoles};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;
#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

struct Episode {
    first_step: u32,
    states: Vec<[f64; 4]>,
    /// Per step: action, reward, terminated, truncated.
    steps: Vec<(u32, f64, bool, bool)>,
}

fn episodes() -> Vec<Episode> {
    let text = include_str!("../../../tests/golden/worlds_cartpole.json");
    let golden: Value = serde_json::from_str(text).unwrap();
    let digits = |v: &Value| v.as_str().unwrap().bytes().map(|b| u32::from(b - b'0')).collect::<Vec<_>>();
    let episode = |e: &Value| {
        let state = |s: &Value| std::array::from_fn(|i| s[i].as_f64().unwrap());
        let columns = ["actions", "rewards", "terminated", "truncated"].map(|name| digits(&e[name]));
        let [actions, rewards, terminated, truncated] = &columns;
        Episode {
            first_step: e["first_step"].as_u64().unwrap() as u32,
            states: e["states"].as_array().unwrap().iter().map(state).collect(),
            steps: (0..actions.len())
                .map(|t| (actions[t], f64::from(rewards[t]), terminated[t] == 1, truncated[t] == 1))
                .collect(),
        }
    };
    golden["episodes"].as_array().unwrap().iter().map(episode).collect()
}

#[test]
fn the_recording_holds_every_way_an_episode_ends() {
    let ends: Vec<_> = episodes().iter().map(|e| e.steps.last().map(|s| (s.2, s.3)).unwrap()).collect();
    for end in [(true, false), (false, true), (true, true)] {
        assert!(ends.contains(&end), "no episode ends with (terminated, truncated) = {end:?}");
    }
    let off_track = |e: &Episode| e.states.last().unwrap()[0].abs() > worlds::cartpole::X_LIMIT;
    assert!(episodes().iter().any(off_track), "no cart leaves the track");
}

#[test]
fn one_step_from_every_recorded_state() {
    for episode in episodes() {
        for (t, &(action, reward, terminated, truncated)) in episode.steps.iter().enumerate() {
            let mut pole = CartPole64 { state: episode.states[t], steps: episode.first_step + t as u32 };
            let step = pole.step(action);
            let error = distance(&pole.state, &episode.states[t + 1]);
            assert!(error < 1e-9, "step {t}: off by {error:e}");
            assert_eq!((step.reward, step.terminated, step.truncated), (reward, terminated, truncated));
        }
    }
}

#[test]
fn fifty_steps_of_a_free_run() {
    for episode in episodes() {
        let mut pole = CartPole64 { state: episode.states[0], steps: episode.first_step };
        for (t, &(action, ..)) in episode.steps.iter().enumerate().take(50) {
            pole.step(action);
            let error = distance(&pole.state, &episode.states[t + 1]);
            assert!(error < 1e-6, "step {t}: off by {error:e}");
        }
    }
}

#[test]
fn a_hand_pushes_where_it_says() {
    // No hand: exactly the rules.
    let (mut free, mut held) =
        (CartPole64::new([0.1, 0.2, 0.03, -0.4]), CartPole64::new([0.1, 0.2, 0.03, -0.4]));
    free.step(1);
    held.step_pushed(1, 0.0, 0.0);
    assert_eq!(free.state, held.state);
    // A cart pushed right runs from under its pole; a pushed tip turns the pole to the right.
    let mut cart = CartPole64::new([0.0; 4]);
    cart.step_pushed(0, 30.0, 0.0);
    assert!(cart.state[1] > 0.0 && cart.state[3] < 0.0);
    let mut tip = CartPole64::new([0.0; 4]);
    tip.step_pushed(0, 10.0, 2.0);
    assert!(tip.state[3] > 0.0);
}

#[test]
fn a_pole_that_is_not_a_number_is_out() {
    let mut pole = CartPole64::new([f64::NAN; 4]);
    assert!(pole.step(0).terminated);
}

/// The fast form takes every recorded step at once, one environment each.
#[test]
fn the_f32_form_takes_every_recorded_step() {
    let episodes = episodes();
    let recorded: Vec<_> = episodes
        .iter()
        .flat_map(|e| (0..e.steps.len()).map(move |t| (e.first_step + t as u32, e.states[t], e.steps[t])))
        .collect();
    for isa in Isa::available() {
        let mut poles = CartPoles::new(isa, 1, 0, recorded.len());
        let lanes = poles.observations().len() / 4;
        let (mut actions, mut ended) = (vec![0.0; lanes], vec![0; lanes]);
        let (mut reached, mut rewards) = (vec![0.0; lanes * 4], vec![0.0; lanes]);
        for (env, &(steps, state, (action, ..))) in recorded.iter().enumerate() {
            poles.set_environment(env, state.map(|s| s as f32), steps, 0).unwrap();
            actions[env] = action as f32;
        }
        poles.step(&actions, &mut reached, &mut rewards, &mut ended);
        let mut off = 0.0;
        for (env, &(steps, state, (action, reward, terminated, truncated))) in recorded.iter().enumerate() {
            let mut twin = CartPole64 { state: state.map(|s| f64::from(s as f32)), steps };
            twin.step(action);
            let new: [f64; 4] =
                std::array::from_fn(|i| f64::from(reached[(env / 32 * 4 + i) * 32 + env % 32]));
            off = worst([off, distance(&new, &twin.state)]);
            assert_eq!(f64::from(rewards[env]), reward);
            let flags = if terminated { TERMINATED } else { 0 } + if truncated { TRUNCATED } else { 0 };
            let end = if flags == 0 { 0 } else { flags | (steps + 1) << LENGTH_SHIFT };
            assert_eq!(ended[env], end, "{}: environment {env}", isa.name());
            let (after, steps_after, episodes) = poles.environment(env);
            if flags == 0 {
                assert_eq!((after.map(f64::from), steps_after, episodes), (new, steps + 1, 0));
            } else {
                assert!(after.iter().all(|s| s.abs() <= 0.05), "a new episode begins near upright");
                assert_eq!((steps_after, episodes), (0, 1));
            }
        }
        assert!(off < 5e-7, "{}: off by {off:e}", isa.name());
    }
}

#[test]
fn the_f32_form_follows_its_twin_for_fifty_steps() {
    let episodes = episodes();
    for isa in Isa::available() {
        let mut poles = CartPoles::new(isa, 1, 0, episodes.len());
        let lanes = poles.observations().len() / 4;
        let (mut reached, mut rewards) = (vec![0.0; lanes * 4], vec![0.0; lanes]);
        let mut ended = vec![0; lanes];
        for (env, e) in episodes.iter().enumerate() {
            poles.set_environment(env, e.states[0].map(|s| s as f32), e.first_step, 0).unwrap();
        }
        for t in 0..50 {
            let mut actions = vec![0.0; lanes];
            for (env, e) in episodes.iter().enumerate() {
                actions[env] = e.steps.get(t).map_or(0.0, |s| s.0 as f32);
            }
            poles.step(&actions, &mut reached, &mut rewards, &mut ended);
            for (env, e) in episodes.iter().enumerate().filter(|(_, e)| t < e.steps.len()) {
                let new: [f64; 4] =
                    std::array::from_fn(|i| f64::from(reached[(env / 32 * 4 + i) * 32 + env % 32]));
                let error = distance(&new, &e.states[t + 1]);
                assert!(error < 2e-4, "{}: episode {env}, step {t}: off by {error:e}", isa.name());
            }
        }
    }
}
