//! CartPole-v1 with the meaning Gymnasium gives it, twice: a plain f64 twin that steps one pole, and
//! thousands of poles as a structure of f32 arrays in the kernels' panel layout.
//!
//! Equations: Barto, Sutton & Anderson (1983) as corrected by Florian (2007), explicit Euler at 50 Hz.
//!
//! It refuses to render, to shape rewards and to know who acts. Every step is worth 1; an episode is
//! *terminated* when the cart leaves the track or the pole leans over 12°, *truncated* at 500 steps,
//! and both can happen on the same step.

/// m/s²
pub const GRAVITY: f64 = 9.8;
/// kg
pub const MASS_CART: f64 = 1.0;
/// kg
pub const MASS_POLE: f64 = 0.1;
/// Half of the pole's length, m.
pub const HALF_LENGTH: f64 = 0.5;
/// N, to the left or to the right.
pub const FORCE: f64 = 10.0;
/// Seconds a step.
pub const STEP_S: f64 = 0.02;
/// The track ends here on either side, m.
pub const X_LIMIT: f64 = 2.4;
/// 12°, rad.
pub const THETA_LIMIT: f64 = 12.0 * 2.0 * std::f64::consts::PI / 360.0;
/// An episode begins with every number uniform within ± this.
pub const RESET_SPREAD: f64 = 0.05;
/// Steps an episode lasts at most.
pub const STEP_LIMIT: u32 = 500;
/// Numbers in an observation: place (m) and speed (m/s) of the cart, angle (rad) and speed (rad/s) of the pole.
pub const OBSERVATION: usize = 4;
/// Push left, push right.
pub const ACTIONS: usize = 2;

const MASS: f64 = MASS_CART + MASS_POLE;
const POLE_MOMENT: f64 = MASS_POLE * HALF_LENGTH;

/// What one step gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step64 {
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
}

/// One pole in f64: the reference for the fast form, and the large pole that a hand can push.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CartPole64 {
    /// x, ẋ, θ, θ̇
    pub state: [f64; 4],
    /// Steps taken in this episode.
    pub steps: u32,
}

impl CartPole64 {
    pub fn new(state: [f64; 4]) -> Self {
        Self { state, steps: 0 }
    }

    /// One step; action 1 pushes right and any other left. It does not reset itself.
    pub fn step(&mut self, action: u32) -> Step64 {
        self.step_pushed(action, 0.0, 0.0)
    }

    /// One step under two more forces, N, both horizontal: on the cart and on the tip of the pole.
    ///
    /// The tip lies 2l above the hinge: its force f adds f to the cart's equation and the torque
    /// 2·l·f·cos θ to the pole's.
    pub fn step_pushed(&mut self, action: u32, cart_force: f64, tip_force: f64) -> Step64 {
        let [x, v, theta, w] = self.state;
        let force = if action == 1 { FORCE } else { -FORCE } + cart_force + tip_force;
        let (sin, cos) = theta.sin_cos();
        let push = (force + POLE_MOMENT * (w * w) * sin) / MASS;
        let tip = 2.0 * tip_force * cos / MASS_POLE;
        let theta_acc =
            (GRAVITY * sin - cos * push + tip) / (HALF_LENGTH * (4.0 / 3.0 - MASS_POLE * (cos * cos) / MASS));
        let x_acc = push - POLE_MOMENT * theta_acc * cos / MASS;
        self.state = [x + STEP_S * v, v + STEP_S * x_acc, theta + STEP_S * w, w + STEP_S * theta_acc];
        self.steps = self.steps.saturating_add(1);
        Step64 { reward: 1.0, terminated: self.is_out(), truncated: self.steps >= STEP_LIMIT }
    }

    /// The cart has left the track, or the pole leans too far. NaN counts as out.
    pub fn is_out(&self) -> bool {
        let [x, _, theta, _] = self.state;
        !(x.abs() <= X_LIMIT && theta.abs() <= THETA_LIMIT)
    }
}
