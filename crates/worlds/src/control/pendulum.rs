//! Pendulum-v1 with the meaning Gymnasium gives it: swing a rod up with a weak motor and hold it
//! there. A plain f64 twin, and thousands in f32.
//!
//! θ̈ = 3g/2l·sin θ + 3/ml²·u, θ from upright and never wrapped, semi-implicit Euler at 20 Hz. It
//! never terminates: an episode is *truncated* at 200 steps. The price of a step is of the state it
//! began in.

use super::angle;
use super::kind::{Kernels, Kind};
use super::many::{self, Many, Rules};
use super::numpy::{from_outside, python};
use super::world::{Actions, Spec, Step64, World64};
use math::Simd;
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
    choices: &[],
    state: &["angle from upright (rad)", "angular velocity (rad/s)"],
    observation: &["cos angle", "sin angle", "angular velocity (rad/s)"],
    step_limit: STEP_LIMIT,
    solved_at: -200.0,
    returns: [-1600.0, 0.0],
};

pub(super) static KIND: Kind = Kind {
    kernels: Some(Kernels::of::<Pendulum, 2, 3>(include_str!("pendulum.wgsl"), constants)),
    ..Kind::new(&SPEC, || Box::new(Pendulum64::new([0.0; 2])), |isa, seed, first, count| Box::new(Pendulums::new(isa, seed, first, count)))
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

/// The rules for a vector of pendulums.
pub struct Pendulum;

/// Many pendulums in f32; an action is a torque. Their angle is kept within ±π, which keeps its digits
/// and shows nowhere: neither observation nor reward knows turns.
pub type Pendulums = Many<Pendulum, 2, 3>;

impl Rules<2, 3> for Pendulum {
    const SPEC: &'static Spec = &SPEC;
    const STREAM: u32 = 0x0050_4531;

    #[inline(always)]
    fn advance<S: Simd>(s: S, [theta, w]: [S::F; 2], [_, sin, _]: [S::F; 3], action: S::F) -> ([S::F; 2], S::F, S::M) {
        let c = |value: f64| s.splat(value as f32);
        let torque = s.max(s.min(action, c(TORQUE_LIMIT)), c(-TORQUE_LIMIT));
        let cost = s.mul(s.mul(torque, torque), c(0.001));
        let cost = s.mul_add(s.mul(w, w), c(0.1), cost);
        let cost = s.mul_add(theta, theta, cost);
        let w = s.mul_add(sin, c(3.0 * GRAVITY / (2.0 * LENGTH) * STEP_S), w);
        let w = s.mul_add(torque, c(3.0 / (MASS * LENGTH * LENGTH) * STEP_S), w);
        let w = s.max(s.min(w, c(SPEED_LIMIT)), c(-SPEED_LIMIT));
        let theta = s.mul_add(w, c(STEP_S), theta);
        let theta = angle::within_a_turn(s, theta);
        let zero = c(0.0);
        ([theta, w], s.sub(zero, cost), s.lt(zero, zero))
    }

    #[inline(always)]
    fn observe<S: Simd>(s: S, [theta, w]: [S::F; 2]) -> [S::F; 3] {
        let (sin, cos) = angle::sin_cos(s, theta);
        [cos, sin, w]
    }

    #[inline(always)]
    fn first<S: Simd>(s: S, words: [S::U; 4]) -> [S::F; 2] {
        [many::spread(s, words[0], -PI, TAU), many::spread(s, words[1], -RESET_SPEED, 2.0 * RESET_SPEED)]
    }

    fn possible([theta, w]: [f32; 2]) -> bool {
        theta.abs() <= PI as f32 * 1.000_001 && w.abs() <= SPEED_LIMIT as f32
    }
}

/// What the kernels read.
fn constants() -> Vec<(&'static str, f64)> {
    vec![
        ("HALF_TURN", PI),
        ("RESET_SPEED", RESET_SPEED),
        ("TORQUE_LIMIT", TORQUE_LIMIT),
        ("SPEED_LIMIT", SPEED_LIMIT),
        ("STEP_S", STEP_S),
        ("GRAVITY_GAIN", 3.0 * GRAVITY / (2.0 * LENGTH) * STEP_S),
        ("TORQUE_GAIN", 3.0 / (MASS * LENGTH * LENGTH) * STEP_S),
    ]
}
