//! Pendulum-v1 with the meaning Gymnasium gives it: swing a rod up with a weak motor and hold it
//! there. A plain f64 twin.
//!
//! θ̈ = 3g/2l·sin θ + 3/ml²·u, θ from upright and never wrapped, semi-implicit Euler at 20 Hz. It
//! never terminates: an episode is *truncated* at 200 steps. The price of a step is of the state it
//! began in.

use crate::numpy::{from_outside, python};
use crate::world::{Actions, Spec, Step64, World64};
use std::f64::consts::{PI, TAU};

/// m/s²
pub const GRAVITY: f64 = 10.0;
/// kg
pub const MASS: f64 = 1.0;
/// m
pub const LENGTH: f64 = 1.0;
/// N·m, either way.
pub const TORQUE_LIMIT: f64 = 2.0;
/// rad/s, either way.
pub const SPEED_LIMIT: f64 = 8.0;
/// Seconds a step.
pub const STEP_S: f64 = 0.05;
/// An episode begins at any angle, and with a speed uniform within ± this, rad/s.
pub const RESET_SPEED: f64 = 1.0;
/// Steps an episode lasts.
pub const STEP_LIMIT: u32 = 200;

static SPEC: Spec = Spec {
    id: "Pendulum-v1",
    summary: "swing a rod up with a weak motor and hold it; torque in N·m",
    actions: Actions::Range(-TORQUE_LIMIT, TORQUE_LIMIT),
    state: &["angle from upright (rad)", "speed (rad/s)"],
    observation: &["cos angle", "sin angle", "speed (rad/s)"],
    step_limit: STEP_LIMIT,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pendulum64 {
    /// θ, θ̇
    pub state: [f64; 2],
    /// Steps taken in this episode.
    pub steps: u32,
}

impl Pendulum64 {
    pub fn new(state: [f64; 2]) -> Self {
        Self { state, steps: 0 }
    }
}

impl World64 for Pendulum64 {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn observation(&self) -> Vec<f64> {
        let [theta, w] = self.state;
        vec![theta.cos(), theta.sin(), w]
    }

    fn parts(&mut self) -> (&mut [f64], &mut u32) {
        (&mut self.state, &mut self.steps)
    }

    fn first_state(&self, uniform: &mut dyn FnMut(f64, f64) -> f64) -> Vec<f64> {
        vec![uniform(-PI, PI), uniform(-RESET_SPEED, RESET_SPEED)]
    }

    fn advance(&mut self, action: f64) -> Step64 {
        let [theta, w] = self.state;
        // A torque that came as f32 is multiplied in f32.
        let torque = from_outside(action.clamp(-TORQUE_LIMIT, TORQUE_LIMIT));
        let pushed = (python(3.0 / (MASS * LENGTH * LENGTH)) * torque).value;
        let effort = (python(0.001) * (torque * torque)).value;

        let lean = (theta + PI).rem_euclid(TAU) - PI;
        let cost = lean * lean + 0.1 * (w * w) + effort;
        let w = w + (3.0 * GRAVITY / (2.0 * LENGTH) * theta.sin() + pushed) * STEP_S;
        let w = w.clamp(-SPEED_LIMIT, SPEED_LIMIT);
        self.state = [theta + w * STEP_S, w];
        self.steps = self.steps.saturating_add(1);
        Step64 { reward: -cost, terminated: false, truncated: self.steps >= STEP_LIMIT }
    }
}
