//! The f64 twins against whole episodes recorded from Gymnasium (`tests/golden/worlds_classic.py`): one
//! step from every recorded state, the first steps of a free run, and what an episode begins with.

use serde_json::Value;
use testkit::distance;
use worlds::{Action, Actions, World64, WorldError, kind, kinds};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;
#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

const RECORDED: [(&str, &str); 4] = [
    ("MountainCar-v0", include_str!("../../../tests/golden/worlds_mountain_car.json")),
    ("MountainCarContinuous-v0", include_str!("../../../tests/golden/worlds_mountain_car_continuous.json")),
    ("Pendulum-v1", include_str!("../../../tests/golden/worlds_pendulum.json")),
    ("Acrobot-v1", include_str!("../../../tests/golden/worlds_acrobot.json")),
];

struct Episode {
    first_step: u32,
    states: Vec<Vec<f64>>,
    steps: Vec<Recorded>,
    last_observation: Vec<f64>,
}

struct Recorded {
    action: Action,
    reward: f64,
    terminated: bool,
    truncated: bool,
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn episodes(id: &str, text: &str) -> Vec<Episode> {
    let continuous = matches!(world(id).spec().actions, Actions::Range(..));
    let act = |x: f64| if continuous { Action::Level(x) } else { Action::Choice(x as u32) };
    let golden: Value = serde_json::from_str(text).unwrap();
    let episode = |e: &Value| {
        let flags = |name: &str| e[name].as_str().unwrap().bytes().map(|b| b == b'1').collect::<Vec<_>>();
        let (actions, rewards) = (numbers(&e["actions"]), numbers(&e["rewards"]));
        let (terminated, truncated) = (flags("terminated"), flags("truncated"));
        Episode {
            first_step: e["first_step"].as_u64().unwrap() as u32,
            states: e["states"].as_array().unwrap().iter().map(numbers).collect(),
            steps: (0..actions.len())
                .map(|t| Recorded {
                    action: act(actions[t]),
                    reward: rewards[t],
                    terminated: terminated[t],
                    truncated: truncated[t],
                })
                .collect(),
            last_observation: numbers(&e["observation"]),
        }
    };
    golden["episodes"].as_array().unwrap().iter().map(episode).collect()
}

fn world(id: &str) -> Box<dyn World64> {
    (kind(id).unwrap_or_else(|| panic!("{id} is not in the list")).twin)()
}

#[test]
fn the_recordings_hold_every_way_an_episode_ends() {
    for (id, text) in RECORDED {
        let ends: Vec<_> = episodes(id, text)
            .iter()
            .filter_map(|e| e.steps.last().map(|s| (s.terminated, s.truncated)))
            .collect();
        assert!(ends.contains(&(false, true)), "{id}: no episode is truncated");
        let terminates = id != "Pendulum-v1";
        for end in [(true, false), (true, true)] {
            assert_eq!(ends.contains(&end), terminates, "{id}: (terminated, truncated) = {end:?}");
        }
    }
}

#[test]
fn one_step_from_every_recorded_state() {
    for (id, text) in RECORDED {
        let mut world = world(id);
        for (e, episode) in episodes(id, text).iter().enumerate() {
            for (t, recorded) in episode.steps.iter().enumerate() {
                world.set_state(&episode.states[t], episode.first_step + t as u32).unwrap();
                let step = world.step(recorded.action).unwrap();
                let error = distance(world.state(), &episode.states[t + 1]);
                assert!(error < 1e-9, "{id}: episode {e}, step {t}: off by {error:e}");
                let error = (step.reward - recorded.reward).abs();
                assert!(error < 1e-9, "{id}: episode {e}, step {t}: reward off by {error:e}");
                let flags = (recorded.terminated, recorded.truncated);
                assert_eq!((step.terminated, step.truncated), flags, "{id}: episode {e}, step {t}");
            }
            // Gymnasium rounds what it shows to f32.
            let shown = world.observation();
            let error = distance(&shown, &episode.last_observation);
            assert!(error < 1e-6 * shown.iter().fold(1.0, |m, x| x.abs().max(m)), "{id}: shows {shown:?}");
        }
    }
}

#[test]
fn fifty_steps_of_a_free_run() {
    for (id, text) in RECORDED {
        let mut world = world(id);
        for (e, episode) in episodes(id, text).iter().enumerate() {
            world.set_state(&episode.states[0], episode.first_step).unwrap();
            for (t, recorded) in episode.steps.iter().enumerate().take(50) {
                world.step(recorded.action).unwrap();
                let error = distance(world.state(), &episode.states[t + 1]);
                assert!(error < 1e-6, "{id}: episode {e}, step {t}: off by {error:e}");
            }
        }
    }
}

/// Every number of a first state is uniform between these.
#[test]
fn episodes_begin_where_gymnasium_begins_them() {
    use std::f64::consts::PI;
    let pole = [(-0.05, 0.05); 4];
    let car = [(-0.6, -0.4), (0.0, 0.0)];
    let bounds: [(&str, &[(f64, f64)]); 5] = [
        ("CartPole-v1", &pole),
        ("MountainCar-v0", &car),
        ("MountainCarContinuous-v0", &car),
        ("Pendulum-v1", &[(-PI, PI), (-1.0, 1.0)]),
        ("Acrobot-v1", &[(-0.1, 0.1); 4]),
    ];
    for (id, bounds) in bounds {
        let mut world = world(id);
        let starts: Vec<Vec<f64>> = (0..2000)
            .map(|seed| {
                world.reset(seed);
                world.state().to_vec()
            })
            .collect();
        for (i, &(low, high)) in bounds.iter().enumerate() {
            let values: Vec<f64> = starts.iter().map(|s| s[i]).collect();
            let mean = values.iter().sum::<f64>() / 2000.0;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2000.0;
            let width = high - low;
            // f32 rounding may carry Acrobot's to the edge.
            assert!(values.iter().all(|&v| v >= low - 1e-8 && v <= high + 1e-8), "{id}: number {i}");
            assert!((mean - (low + high) / 2.0).abs() <= 0.03 * width, "{id}: number {i} has mean {mean}");
            assert!(
                (variance - width * width / 12.0).abs() <= 0.08 * width * width / 12.0,
                "{id}: {variance}"
            );
        }
        world.reset(7);
        let again = world.state().to_vec();
        assert_eq!(again, starts[7], "{id}: the same seed, the same start");
        assert_ne!(starts[7], starts[8], "{id}: another seed, another start");
    }
}

#[test]
fn a_reset_forgets_the_steps_taken() {
    for mut world in kinds().iter().map(|kind| (kind.twin)()) {
        let limit = world.spec().step_limit;
        let action = match world.spec().actions {
            Actions::Choices(_) => Action::Choice(0),
            Actions::Range(..) => Action::Level(0.0),
        };
        let state = world.state().to_vec();
        world.set_state(&state, limit - 1).unwrap();
        assert!(world.step(action).unwrap().truncated, "{}", world.spec().id);
        world.reset(1);
        assert!(!world.step(action).unwrap().truncated, "{}", world.spec().id);
    }
}

#[test]
fn what_the_rules_have_no_answer_for_is_refused_and_changes_nothing() {
    for mut world in kinds().iter().map(|kind| (kind.twin)()) {
        let spec = world.spec();
        world.reset(3);
        let before = world.state().to_vec();
        let n = before.len();
        assert_eq!((n, world.observation().len()), (spec.state.len(), spec.observation.len()));
        assert!(matches!(world.set_state(&vec![0.0; n + 1], 0), Err(WorldError::StateLength { .. })));
        assert!(matches!(world.set_state(&[], 0), Err(WorldError::StateLength { .. })));
        for bad in [f64::NAN, f64::INFINITY, -1e7] {
            assert_eq!(world.set_state(&vec![bad; n], 0), Err(WorldError::StateSize));
        }
        let late = world.set_state(&before, spec.step_limit);
        assert!(matches!(late, Err(WorldError::Elapsed { .. })));
        let wrong = match spec.actions {
            Actions::Choices(count) => [Action::Choice(count), Action::Choice(u32::MAX), Action::Level(1.0)],
            Actions::Range(..) => [Action::Level(f64::NAN), Action::Level(1e300), Action::Choice(0)],
        };
        for action in wrong {
            assert!(world.step(action).is_err(), "{}: {action:?}", spec.id);
        }
        assert_eq!(world.state(), before, "{}", spec.id);
        // The largest states that are taken still give numbers.
        world.set_state(&vec![1e6; n], 0).unwrap();
        let action = if wrong[2] == Action::Choice(0) { Action::Level(-1e6) } else { Action::Choice(0) };
        let step = world.step(action).unwrap();
        assert!(step.reward.is_finite() && world.observation().iter().all(|x| x.is_finite()), "{}", spec.id);
    }
    assert!(kind("Pong-v5").is_none());
}
