//! Pendulum-v1 as in Gymnasium: swing a rod up with a weak motor and hold it upright. This file contains a scalar f64 reference and a
//! vectorized f32 version.
//!
//! The equation of motion is θ̈ = 3g/2l·sin θ + 3/ml²·u. θ is the angle from upright, u the torque, g the gravitational acceleration, l the
//! length and m the mass. The equation is integrated by semi-implicit Euler at 20 Hz. Only the f32 version wraps θ. An episode never
//! terminates; it is *truncated* at 200 steps. The cost of a step depends on the state before the step.

use super::angle;
use super::kind::{Kernels, Kind};
use super::many::{self, Rules};
use super::numpy::{from_outside, python};
use super::world::{Actions, Moment, Spec, Twin};
use crate::{named, texts};
use math::Simd;
use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

/// Gravitational acceleration, m/s².
pub const GRAVITY: f64 = 10.0;
/// Mass of the rod, kg.
pub const MASS: f64 = 1.0;
/// Length of the rod, m.
pub const LENGTH: f64 = 1.0;
/// Maximum absolute value of the torque, N·m.
pub const TORQUE_LIMIT: f64 = 2.0;
/// Maximum absolute value of the angular speed, rad/s.
pub const SPEED_LIMIT: f64 = 8.0;
pub const STEP_S: f64 = 0.05;
/// Maximum absolute value of the initial angular speed, rad/s. The initial angular speed is uniform within ± this bound. The initial angle
/// is uniform over the circle.
pub const RESET_SPEED: f64 = 1.0;
/// Number of steps of every episode.
pub const STEP_LIMIT: u32 = 200;

static SPEC: Spec = Spec {
    id: Cow::Borrowed("Pendulum-v1"),
    summary: Cow::Borrowed("swing a rod up with a weak motor and hold it; torque in N·m"),
    actions: Actions::Box { count: 1, low: -TORQUE_LIMIT, high: TORQUE_LIMIT },
    choices: Cow::Borrowed(&[]),
    state: texts!["angle from upright (rad)", "angular velocity (rad/s)"],
    observation: texts!["cos angle", "sin angle", "angular velocity (rad/s)"],
    step_limit: STEP_LIMIT,
    solved_at: -200.0,
    returns: [-1600.0, 0.0],
};

pub(super) fn kind() -> Kind {
    Kind { kernels: Some(Kernels::of::<Pendulum, 2, 3, 1>(include_str!("pendulum.wgsl"), constants)), ..Kind::of::<Pendulum, 2, 3, 1>() }
}

/// Rules of Pendulum; a state is θ and θ̇. The f32 version wraps θ to ±π, because large angles would lose digits. Observations and rewards
/// do not depend on whole turns.
pub struct Pendulum;

impl Twin<2> for Pendulum {
    const SPEC: &'static Spec = &SPEC;

    fn show(&[theta, w]: &[f64; 2]) -> Vec<f64> {
        vec![theta.cos(), theta.sin(), w]
    }

    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; 2] {
        [uniform(-PI, PI), uniform(-RESET_SPEED, RESET_SPEED)]
    }

    fn step(state: &mut [f64; 2], [action]: [f64; 1], _: Moment) -> (f64, bool) {
        let [theta, w] = *state;
        // As in NumPy, the products of an f32 torque are rounded to f32.
        let torque = from_outside(action.clamp(-TORQUE_LIMIT, TORQUE_LIMIT));
        let pushed = (python(3.0 / (MASS * LENGTH * LENGTH)) * torque).value;
        let effort = (python(0.001) * (torque * torque)).value;

        let lean = (theta + PI).rem_euclid(TAU) - PI;
        let cost = lean * lean + 0.1 * (w * w) + effort;
        let w = w + (3.0 * GRAVITY / (2.0 * LENGTH) * theta.sin() + pushed) * STEP_S;
        let w = w.clamp(-SPEED_LIMIT, SPEED_LIMIT);
        *state = [theta + w * STEP_S, w];
        (-cost, false)
    }
}

impl Rules<2, 3> for Pendulum {
    const STREAM: u32 = 0x0050_4531;

    #[inline(always)]
    fn advance<S: Simd>(s: S, [theta, w]: [S::F; 2], [_, sin, _]: [S::F; 3], [action]: [S::F; 1]) -> ([S::F; 2], S::F, S::M) {
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

/// Returns the names and values of the constants in `pendulum.wgsl`.
fn constants() -> Vec<(&'static str, f64)> {
    let derived = [
        ("HALF_TURN", PI),
        ("GRAVITY_GAIN", 3.0 * GRAVITY / (2.0 * LENGTH) * STEP_S),
        ("TORQUE_GAIN", 3.0 / (MASS * LENGTH * LENGTH) * STEP_S),
    ];
    named![RESET_SPEED, TORQUE_LIMIT, SPEED_LIMIT, STEP_S].into_iter().chain(derived).collect()
}
