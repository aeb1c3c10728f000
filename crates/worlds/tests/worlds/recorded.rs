//! Episodes recorded from Gymnasium (`tests/golden/worlds_cartpole.py`, `worlds_classic.py`), and bounds of initial states.

use serde_json::Value;
use std::f64::consts::PI;
use worlds::control::{Action, Actions, World64, kind};

pub const CART_POLE: &str = "CartPole-v1";
pub const PENDULUM: &str = "Pendulum-v1";

pub const RECORDED: [(&str, &str); 5] = [
    (CART_POLE, include_str!("../../../../tests/golden/worlds_cartpole.json")),
    ("MountainCar-v0", include_str!("../../../../tests/golden/worlds_mountain_car.json")),
    ("MountainCarContinuous-v0", include_str!("../../../../tests/golden/worlds_mountain_car_continuous.json")),
    (PENDULUM, include_str!("../../../../tests/golden/worlds_pendulum.json")),
    ("Acrobot-v1", include_str!("../../../../tests/golden/worlds_acrobot.json")),
];

const CAR: [(f64, f64); 2] = [(-0.6, -0.4), (0.0, 0.0)];
/// Lower and upper bound of each number of an initial state, by environment. The numbers are uniform between their bounds.
pub const BEGINNINGS: [(&str, &[(f64, f64)]); 5] = [
    (CART_POLE, &[(-0.05, 0.05); 4]),
    ("MountainCar-v0", &CAR),
    ("MountainCarContinuous-v0", &CAR),
    (PENDULUM, &[(-PI, PI), (-1.0, 1.0)]),
    ("Acrobot-v1", &[(-0.1, 0.1); 4]),
];

/// Asserts that initial states are uniform. `mean_off` is the tolerance of the means, as a fraction of the distance between the bounds.
/// `variance_off` is the relative tolerance of the variances. `rounding` is the tolerance of the bounds.
pub fn begin_evenly(id: &str, starts: &[Vec<f64>], [mean_off, variance_off]: [f64; 2], rounding: f64) {
    let (_, bounds) = BEGINNINGS.into_iter().find(|(of, _)| *of == id).expect("bounds of each kind");
    let count = starts.len() as f64;
    for (i, &(low, high)) in bounds.iter().enumerate() {
        let (width, values) = (high - low, starts.iter().map(|s| s[i]));
        let mean = values.clone().sum::<f64>() / count;
        let variance = values.clone().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        let even = width * width / 12.0;
        assert!(values.clone().all(|v| v >= low - rounding && v <= high + rounding), "{id}: number {i}");
        assert!((mean - (low + high) / 2.0).abs() <= mean_off * width, "{id}: number {i} has mean {mean}");
        assert!((variance - even).abs() <= variance_off * even, "{id}: number {i} has variance {variance}");
    }
}

pub struct Episode {
    pub first_step: u32,
    pub states: Vec<Vec<f64>>,
    pub steps: Vec<Recorded>,
    pub last_observation: Vec<f64>,
}

pub struct Recorded {
    pub action: f64,
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
}

/// Reads numbers from a list or from a string of digits.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::String(digits) => digits.bytes().map(|digit| f64::from(digit - b'0')).collect(),
        list => list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect(),
    }
}

pub fn episodes(text: &str) -> Vec<Episode> {
    let golden: Value = serde_json::from_str(text).unwrap();
    let episode = |e: &Value| {
        let columns = ["actions", "rewards", "terminated", "truncated"].map(|name| numbers(&e[name]));
        let step = |t: usize| Recorded {
            action: columns[0][t],
            reward: columns[1][t],
            terminated: columns[2][t] == 1.0,
            truncated: columns[3][t] == 1.0,
        };
        let states: Vec<_> = e["states"].as_array().unwrap().iter().map(numbers).collect();
        // Recordings of CartPole contain no observations, because each observation is equal to the state.
        let last_observation = e.get("observation").map_or_else(|| states.last().unwrap().clone(), numbers);
        Episode {
            first_step: e["first_step"].as_u64().unwrap() as u32,
            steps: (0..columns[0].len()).map(step).collect(),
            states,
            last_observation,
        }
    };
    golden["episodes"].as_array().unwrap().iter().map(episode).collect()
}

pub fn twin(id: &str) -> Box<dyn World64> {
    (kind(id).unwrap_or_else(|| panic!("{id} is not registered")).twin)()
}

/// Converts a number to an action of an environment.
pub fn act(world: &dyn World64, action: f64) -> Action {
    match world.spec().actions {
        Actions::Choices(_) => Action::Choice(action as u32),
        Actions::Box { .. } => Action::Levels(vec![action]),
    }
}
