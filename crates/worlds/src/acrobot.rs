//! Acrobot-v1 with the meaning Gymnasium gives it: two links hang from a bar, a motor at the elbow
//! swings the tip over a line. A plain f64 twin.
//!
//! Equations: Sutton & Barto's book (not the paper of 1996, which has one term less), fourth-order
//! Runge-Kutta over 0.2 s. Every step costs 1 but the one that *terminates*, with the tip more than a
//! link above the bar; an episode is *truncated* at 500 steps.

use crate::numpy::rounded;
use crate::world::{Actions, Axis, Of, Plane, Spec, Step64, World64};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// m/s²
pub const GRAVITY: f64 = 9.8;
/// Of either link, m.
pub const LENGTH: f64 = 1.0;
/// From a link's upper end to its centre of mass, m.
pub const CENTRE: f64 = 0.5;
/// Of either link, kg.
pub const MASS: f64 = 1.0;
/// Moment of inertia of either link, kg·m².
pub const INERTIA: f64 = 1.0;
/// N·m at the elbow: one way, none, or the other.
pub const TORQUE: f64 = 1.0;
/// rad/s of the upper and of the lower link.
pub const SPEED_LIMITS: [f64; 2] = [4.0 * PI, 9.0 * PI];
/// Seconds a step.
pub const STEP_S: f64 = 0.2;
/// An episode begins with every number uniform within ± this, rounded to f32.
pub const RESET_SPREAD: f64 = 0.1;
/// Steps an episode lasts at most.
pub const STEP_LIMIT: u32 = 500;

pub(crate) static SPEC: Spec = Spec {
    id: "Acrobot-v1",
    summary: "swing two links up by a motor between them; torque of -1, 0 or 1 N·m",
    actions: Actions::Choices(3),
    choices: &["one way", "rest", "other way"],
    state: &["angle 1 (rad)", "angle 2 (rad)", "speed 1 (rad/s)", "speed 2 (rad/s)"],
    observation: &[
        "cos angle 1",
        "sin angle 1",
        "cos angle 2",
        "sin angle 2",
        "speed 1 (rad/s)",
        "speed 2 (rad/s)",
    ],
    step_limit: STEP_LIMIT,
    solved_at: -100.0,
    returns: [-500.0, -60.0],
    shown_step_s: 1.0 / 15.0,
    plane: Plane {
        x: Axis { name: "angle 1 (rad)", low: -PI, high: PI, of: Of::Angle { cos: 0, sin: 1 } },
        y: Axis { name: "speed 1 (rad/s)", low: -2.0 * PI, high: 2.0 * PI, of: Of::Number(4) },
        base: &[1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acrobot64 {
    /// θ₁ from hanging, θ₂ from the line of the first link, and their speeds.
    pub state: [f64; 4],
    /// Steps taken in this episode.
    pub steps: u32,
}

impl Acrobot64 {
    pub fn new(state: [f64; 4]) -> Self {
        Self { state, steps: 0 }
    }

    /// The tip is more than a link above the bar.
    pub fn is_over(&self) -> bool {
        let [a, b, ..] = self.state;
        -a.cos() - (b + a).cos() > 1.0
    }
}

impl World64 for Acrobot64 {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn observation(&self) -> Vec<f64> {
        let [a, b, va, vb] = self.state;
        vec![a.cos(), a.sin(), b.cos(), b.sin(), va, vb]
    }

    fn parts(&mut self) -> (&mut [f64], &mut u32) {
        (&mut self.state, &mut self.steps)
    }

    fn first_state(&self, uniform: &mut dyn FnMut(f64, f64) -> f64) -> Vec<f64> {
        (0..4).map(|_| rounded(uniform(-RESET_SPREAD, RESET_SPREAD))).collect()
    }

    fn advance(&mut self, action: f64) -> Step64 {
        let torque = (action - 1.0) * TORQUE;
        let [a, b, va, vb] = runge_kutta(self.state, torque);
        let [limit_a, limit_b] = SPEED_LIMITS;
        self.state = [wrapped(a), wrapped(b), va.clamp(-limit_a, limit_a), vb.clamp(-limit_b, limit_b)];
        self.steps = self.steps.saturating_add(1);
        let terminated = self.is_over();
        let reward = if terminated { 0.0 } else { -1.0 };
        Step64 { reward, terminated, truncated: self.steps >= STEP_LIMIT }
    }
}

fn runge_kutta(y: [f64; 4], torque: f64) -> [f64; 4] {
    let ahead = |k: [f64; 4], by: f64| std::array::from_fn(|i| y[i] + by * k[i]);
    let k1 = derivative(y, torque);
    let k2 = derivative(ahead(k1, STEP_S / 2.0), torque);
    let k3 = derivative(ahead(k2, STEP_S / 2.0), torque);
    let k4 = derivative(ahead(k3, STEP_S), torque);
    std::array::from_fn(|i| y[i] + STEP_S / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

fn derivative([a, b, va, vb]: [f64; 4], torque: f64) -> [f64; 4] {
    const M: f64 = MASS;
    const L: f64 = LENGTH;
    const C: f64 = CENTRE;
    let (sin, cos) = b.sin_cos();
    let d1 = M * C * C + M * (L * L + C * C + 2.0 * L * C * cos) + INERTIA + INERTIA;
    let d2 = M * (C * C + L * C * cos) + INERTIA;
    let phi2 = M * C * GRAVITY * (a + b - FRAC_PI_2).cos();
    let phi1 = -M * L * C * vb * vb * sin - 2.0 * M * L * C * vb * va * sin
        + (M * C + M * L) * GRAVITY * (a - FRAC_PI_2).cos()
        + phi2;
    let acc_b =
        (torque + d2 / d1 * phi1 - M * L * C * va * va * sin - phi2) / (M * C * C + INERTIA - d2 * d2 / d1);
    let acc_a = -(d2 * acc_b + phi1) / d1;
    [va, vb, acc_a, acc_b]
}

/// Turned into [-π, π], a turn at a time as Gymnasium does; many turns at once where there are many.
fn wrapped(angle: f64) -> f64 {
    let mut angle = if angle.abs() > 100.0 * TAU { angle % TAU } else { angle };
    while angle > PI {
        angle -= TAU;
    }
    while angle < -PI {
        angle += TAU;
    }
    angle
}
