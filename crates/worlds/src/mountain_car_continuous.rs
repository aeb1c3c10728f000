//! MountainCarContinuous-v0 with the meaning Gymnasium gives it: the hill of MountainCar with a
//! throttle and a price on its use. A plain twin, in f64 where Gymnasium is.
//!
//! Gymnasium draws the first state in f64 and holds every later one in f32, so that NumPy's rounding
//! is part of the rules: see `numpy`. A throttle beyond its range moves the car as the end of
//! the range does, and is paid for in full. An episode is *terminated* at the flag, which gives 100,
//! *truncated* at 999 steps.

use crate::mountain_car::{GRAVITY, PLANE, RESET_FROM, RESET_TO, SPEED_LIMIT, X_MAX, X_MIN};
use crate::numpy::{f64_number, fits_f32, from_outside, python, rounded};
use crate::world::{Actions, Spec, Step64, World64};

/// The flag.
pub const X_GOAL: f64 = 0.45;
/// Speed that full throttle adds in a step.
pub const POWER: f64 = 0.0015;
/// What the flag is worth.
pub const GOAL_REWARD: f64 = 100.0;
/// What full throttle costs in a step; a part of it costs its square.
pub const THROTTLE_COST: f64 = 0.1;
/// Steps an episode lasts at most.
pub const STEP_LIMIT: u32 = 999;

pub(crate) static SPEC: Spec = Spec {
    id: "MountainCarContinuous-v0",
    summary: "swing a weak car up a hill and spare the throttle",
    actions: Actions::Range(-1.0, 1.0),
    choices: &[],
    state: &["place", "speed"],
    observation: &["place", "speed"],
    step_limit: STEP_LIMIT,
    solved_at: 90.0,
    returns: [-100.0, 100.0],
    shown_step_s: 1.0 / 30.0,
    plane: PLANE,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MountainCarContinuous64 {
    /// x and ẋ, in road and road a step.
    pub state: [f64; 2],
    /// Steps taken in this episode.
    pub steps: u32,
}

impl MountainCarContinuous64 {
    pub fn new(state: [f64; 2]) -> Self {
        Self { state, steps: 0 }
    }
}

impl World64 for MountainCarContinuous64 {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn observation(&self) -> Vec<f64> {
        self.state.to_vec()
    }

    fn parts(&mut self) -> (&mut [f64], &mut u32) {
        (&mut self.state, &mut self.steps)
    }

    fn first_state(&self, uniform: &mut dyn FnMut(f64, f64) -> f64) -> Vec<f64> {
        vec![uniform(RESET_FROM, RESET_TO), 0.0]
    }

    fn advance(&mut self, action: f64) -> Step64 {
        // A car at rest at the beginning of an episode is as a reset leaves it: in f64.
        let fresh = self.steps == 0 && self.state[1] == 0.0;
        let held = if !fresh && self.state.iter().all(|&s| fits_f32(s)) { from_outside } else { f64_number };
        let [mut x, mut v] = self.state.map(held);
        let throttle =
            if action.abs() > 1.0 { python(action.clamp(-1.0, 1.0)) } else { from_outside(action) };

        let slope = python(GRAVITY * (python(3.0) * x).value.cos());
        v = v + (throttle * python(POWER) - slope);
        if v > python(SPEED_LIMIT) {
            v = python(SPEED_LIMIT);
        }
        if v < python(-SPEED_LIMIT) {
            v = python(-SPEED_LIMIT);
        }
        x = x + v;
        if x > python(X_MAX) {
            x = python(X_MAX);
        }
        if x < python(X_MIN) {
            x = python(X_MIN);
        }
        if x == python(X_MIN) && v < python(0.0) {
            v = python(0.0);
        }
        self.state = [rounded(x.value), rounded(v.value)];
        self.steps = self.steps.saturating_add(1);
        let terminated = x >= python(X_GOAL) && v >= python(0.0);
        let gained = if terminated { GOAL_REWARD } else { 0.0 };
        Step64 {
            reward: gained - action * action * THROTTLE_COST,
            terminated,
            truncated: self.steps >= STEP_LIMIT,
        }
    }
}
