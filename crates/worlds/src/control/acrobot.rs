//! Acrobot-v1 as in Gymnasium: two links hang from a bar, and a motor between them swings the tip over a line. This file contains a scalar
//! f64 reference and a vectorized f32 version.
//!
//! The equations are those of Sutton & Barto's book (the equations in Sutton's paper of 1996 lack one term), integrated by fourth-order
//! Runge-Kutta over 0.2 s. An episode *terminates* when the tip is more than one link above the bar; it is *truncated* at 500 steps. The
//! reward is 0 for the terminating step and -1 for every other step.

use super::angle;
use super::kind::{Kernels, Kind};
use super::many::{self, Rules};
use super::numpy::rounded;
use super::world::{Actions, Moment, Spec, Twin};
use crate::{named, texts};
use math::Simd;
use std::borrow::Cow;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Gravitational acceleration, m/s².
pub const GRAVITY: f64 = 9.8;
/// Length of each link, m.
pub const LENGTH: f64 = 1.0;
/// Distance from a link's upper end to its centre of mass, m.
pub const CENTRE: f64 = 0.5;
/// Mass of each link, kg.
pub const MASS: f64 = 1.0;
/// Moment of inertia of each link about its centre of mass, kg·m².
pub const INERTIA: f64 = 1.0;
/// Absolute value of the motor's torque, N·m. An action applies this torque in one direction, applies no torque, or applies this torque in
/// the other direction.
pub const TORQUE: f64 = 1.0;
/// Maximum absolute speeds of angle 1 and of angle 2, rad/s.
pub const SPEED_LIMITS: [f64; 2] = [4.0 * PI, 9.0 * PI];
pub const STEP_S: f64 = 0.2;
/// Each number of an initial state is uniform within ± this bound, and is rounded to f32.
pub const RESET_SPREAD: f64 = 0.1;
/// Maximum number of steps of an episode.
pub const STEP_LIMIT: u32 = 500;

static SPEC: Spec = Spec {
    id: Cow::Borrowed("Acrobot-v1"),
    summary: Cow::Borrowed("swing two links up by a motor between them; torque of -1, 0 or 1 N·m"),
    actions: Actions::Choices(3),
    choices: texts!["one way", "rest", "other way"],
    state: texts!["angle 1 (rad)", "angle 2 (rad)", "angular velocity 1 (rad/s)", "speed 2 (rad/s)"],
    observation: texts!["cos angle 1", "sin angle 1", "cos angle 2", "sin angle 2", "angular velocity 1 (rad/s)", "speed 2 (rad/s)"],
    step_limit: STEP_LIMIT,
    solved_at: -100.0,
    returns: [-500.0, -60.0],
};

pub(super) fn kind() -> Kind {
    Kind { kernels: Some(Kernels::of::<Acrobot, 4, 6, 1>(include_str!("acrobot.wgsl"), constants)), ..Kind::of::<Acrobot, 4, 6, 1>() }
}

/// Rules of Acrobot. A state is the angle θ₁ of the first link from the hanging position, the angle θ₂ of the second link relative to the
/// first, and the speeds of both angles.
pub struct Acrobot;

impl Twin<4> for Acrobot {
    const SPEC: &'static Spec = &SPEC;

    fn show(&[a, b, va, vb]: &[f64; 4]) -> Vec<f64> {
        vec![a.cos(), a.sin(), b.cos(), b.sin(), va, vb]
    }

    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; 4] {
        [(); 4].map(|()| rounded(uniform(-RESET_SPREAD, RESET_SPREAD)))
    }

    fn step(state: &mut [f64; 4], [action]: [f64; 1], _: Moment) -> (f64, bool) {
        let torque = (action - 1.0) * TORQUE;
        let [a, b, va, vb] = runge_kutta(*state, torque);
        let [limit_a, limit_b] = SPEED_LIMITS;
        *state = [wrapped(a), wrapped(b), va.clamp(-limit_a, limit_a), vb.clamp(-limit_b, limit_b)];
        // The tip is more than one link above the bar.
        let terminated = height(*state) > 1.0;
        (if terminated { 0.0 } else { -1.0 }, terminated)
    }
}

/// Returns the height of the tip above the bar, in links.
fn height([a, b, ..]: [f64; 4]) -> f64 {
    -a.cos() - (b + a).cos()
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
    let phi1 = -M * L * C * vb * vb * sin - 2.0 * M * L * C * vb * va * sin + (M * C + M * L) * GRAVITY * (a - FRAC_PI_2).cos() + phi2;
    let acc_b = (torque + d2 / d1 * phi1 - M * L * C * va * va * sin - phi2) / (M * C * C + INERTIA - d2 * d2 / d1);
    let acc_a = -(d2 * acc_b + phi1) / d1;
    [va, vb, acc_a, acc_b]
}

/// Wraps an angle to [-π, π] one turn at a time, as Gymnasium does. An angle of more than 100 turns is reduced in one division instead.
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

/// Moment of inertia of a link about its upper end, kg·m².
const END_INERTIA: f64 = MASS * CENTRE * CENTRE + INERTIA;
const ARM: f64 = MASS * LENGTH * CENTRE;

impl Rules<4, 6> for Acrobot {
    const STREAM: u32 = 0x0041_4331;

    #[inline(always)]
    fn advance<S: Simd>(
        s: S,
        state: [S::F; 4],
        [cos_a, sin_a, cos_b, sin_b, ..]: [S::F; 6],
        [action]: [S::F; 1],
    ) -> ([S::F; 4], S::F, S::M) {
        let c = |value: f64| s.splat(value as f32);
        let torque = s.mul(s.sub(action, c(1.0)), c(TORQUE));
        let [a, b, va, vb] = state;

        let k1 = accelerations(s, (sin_a, cos_a), (sin_b, cos_b), [va, vb], torque);
        let v2 = [s.mul_add(k1[0], c(STEP_S / 2.0), va), s.mul_add(k1[1], c(STEP_S / 2.0), vb)];
        let k2 = ahead(s, state, [va, vb], v2, STEP_S / 2.0, torque);
        let v3 = [s.mul_add(k2[0], c(STEP_S / 2.0), va), s.mul_add(k2[1], c(STEP_S / 2.0), vb)];
        let k3 = ahead(s, state, v2, v3, STEP_S / 2.0, torque);
        let v4 = [s.mul_add(k3[0], c(STEP_S), va), s.mul_add(k3[1], c(STEP_S), vb)];
        let k4 = ahead(s, state, v3, v4, STEP_S, torque);

        let sum = |from, k: [S::F; 4]| {
            let inner = s.mul_add(s.add(k[1], k[2]), c(2.0), s.add(k[0], k[3]));
            s.mul_add(inner, c(STEP_S / 6.0), from)
        };
        let within = |v, limit| s.max(s.min(v, c(limit)), c(-limit));
        let new = [
            angle::within_a_turn(s, sum(a, [va, v2[0], v3[0], v4[0]])),
            angle::within_a_turn(s, sum(b, [vb, v2[1], v3[1], v4[1]])),
            within(sum(va, [k1[0], k2[0], k3[0], k4[0]]), SPEED_LIMITS[0]),
            within(sum(vb, [k1[1], k2[1], k3[1], k4[1]]), SPEED_LIMITS[1]),
        ];
        let [cos_a, sin_a, cos_b, sin_b, ..] = Self::observe(s, new);
        // Depth of the tip below the bar, in links: cos a + cos (a + b).
        let depth = s.mul_add(cos_a, cos_b, s.neg_mul_add(sin_a, sin_b, cos_a));
        let over = s.lt(depth, c(-1.0));
        (new, s.select(over, c(0.0), c(-1.0)), over)
    }

    #[inline(always)]
    fn observe<S: Simd>(s: S, [a, b, va, vb]: [S::F; 4]) -> [S::F; 6] {
        let ((sin_a, cos_a), (sin_b, cos_b)) = (angle::sin_cos(s, a), angle::sin_cos(s, b));
        [cos_a, sin_a, cos_b, sin_b, va, vb]
    }

    #[inline(always)]
    fn first<S: Simd>(s: S, words: [S::U; 4]) -> [S::F; 4] {
        let mut state = [s.splat(0.0); 4];
        for i in 0..4 {
            state[i] = many::spread(s, words[i], -RESET_SPREAD, 2.0 * RESET_SPREAD);
        }
        state
    }

    fn possible(state: [f32; 4]) -> bool {
        let half_turn = PI as f32 * 1.000_001;
        let limits = [half_turn, half_turn, SPEED_LIMITS[0] as f32, SPEED_LIMITS[1] as f32];
        let inside = state.iter().zip(limits).all(|(x, limit)| x.abs() <= limit);
        // The f32 rules and `height` may differ by rounding, so the limit has a tolerance.
        inside && height(state.map(f64::from)) <= 1.0 + 1e-5
    }
}

/// Computes the accelerations of both angles for a later stage of a Runge-Kutta step. The angles of the stage are the angles of `state`
/// after `time_s` seconds at the speeds `along`. `speeds` are the speeds of the stage.
#[inline(always)]
fn ahead<S: Simd>(s: S, state: [S::F; 4], along: [S::F; 2], speeds: [S::F; 2], time_s: f64, torque: S::F) -> [S::F; 2] {
    let time_s = s.splat(time_s as f32);
    let a = s.mul_add(along[0], time_s, state[0]);
    let b = s.mul_add(along[1], time_s, state[1]);
    accelerations(s, angle::sin_cos(s, a), angle::sin_cos(s, b), speeds, torque)
}

/// Computes the same accelerations as [`derivative`], with fewer operations. Here b is the angle of the second link, and d₁ and d₂ are the
/// variables `d1` and `d2` of `derivative`. Each link has the mass m, the length l, and the moment of inertia I about its upper end; its
/// centre of mass is at the distance c from this end. With x = m·l·c·cos b, d₂ is I + x and d₁ is 2·d₂ + m·l². The determinant of the two
/// equations of motion is I² + I·m·l² - x².
#[inline(always)]
fn accelerations<S: Simd>(
    s: S,
    (sin_a, cos_a): (S::F, S::F),
    (sin_b, cos_b): (S::F, S::F),
    [va, vb]: [S::F; 2],
    torque: S::F,
) -> [S::F; 2] {
    const M: f64 = MASS;
    const L: f64 = LENGTH;
    let c = |value: f64| s.splat(value as f32);
    let x = s.mul(cos_b, c(ARM));
    let d2 = s.add(x, c(END_INERTIA));
    let determinant = s.neg_mul_add(x, x, c(END_INERTIA * (END_INERTIA + M * L * L)));
    let scale = s.div(c(1.0), determinant);

    let turn = s.mul(sin_b, c(ARM));
    let sin_ab = s.mul_add(sin_a, cos_b, s.mul(cos_a, sin_b));
    let phi2 = s.mul(sin_ab, c(M * CENTRE * GRAVITY));
    let phi1 = s.mul_add(sin_a, c((M * CENTRE + M * L) * GRAVITY), phi2);
    let phi1 = s.neg_mul_add(s.mul(turn, vb), s.mul_add(va, c(2.0), vb), phi1);
    let rest = s.neg_mul_add(s.mul(turn, va), va, s.sub(torque, phi2));
    let acc_a = s.neg(s.mul_add(phi1, c(END_INERTIA), s.mul(d2, rest)));
    let acc_b = s.mul_add(d2, s.mul_add(rest, c(2.0), phi1), s.mul(rest, c(M * L * L)));
    [s.mul(acc_a, scale), s.mul(acc_b, scale)]
}

/// Returns the names and values of the constants that the WGSL text uses.
fn constants() -> Vec<(&'static str, f64)> {
    let link_inertia = MASS * LENGTH * LENGTH;
    let derived = [
        ("HALF_S", STEP_S / 2.0),
        ("SIXTH_S", STEP_S / 6.0),
        ("SPEED_LIMIT_1", SPEED_LIMITS[0]),
        ("SPEED_LIMIT_2", SPEED_LIMITS[1]),
        ("LINK_INERTIA", link_inertia),
        ("DETERMINANT", END_INERTIA * (END_INERTIA + link_inertia)),
        ("LOWER_WEIGHT", MASS * CENTRE * GRAVITY),
        ("UPPER_WEIGHT", (MASS * CENTRE + MASS * LENGTH) * GRAVITY),
    ];
    named![RESET_SPREAD, TORQUE, STEP_S, ARM, END_INERTIA].into_iter().chain(derived).collect()
}
