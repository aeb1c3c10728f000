//! MountainCar-v0 and MountainCarContinuous-v0 as in Gymnasium: a car that is too weak for its hill must swing to climb it. In
//! MountainCar-v0, the throttle has three positions and every step has the same cost. In MountainCarContinuous-v0, the throttle is
//! continuous and the cost of a step is proportional to the square of the throttle. This file contains scalar f64 references and vectorized
//! f32 versions.
//!
//! The equations are those of Moore (1990), in the form of Sutton & Barto. An episode is *terminated* at the flag and *truncated* at the
//! step limit. Rewards are not shaped.
//!
//! Gymnasium draws the continuous car's initial state in f64 and stores later states in f32, so NumPy's rounding is part of the rules (see
//! `numpy`). A throttle beyond its range is clipped for the motion, but the cost is computed from the unclipped value.

use super::angle;
use super::kind::{Kernels, Kind};
use super::many::{self, Rules};
use super::numpy::{Number, f64_number, fits_f32, from_outside, python, rounded};
use super::world::{Actions, Moment, Spec, Text, Twin};
use crate::{named, texts};
use math::Simd;
use std::borrow::Cow;

/// Position of the left end of the road. The end is an inelastic wall.
pub const X_MIN: f64 = -1.2;
pub const X_MAX: f64 = 0.6;
/// Maximum speed, in road units per step.
pub const SPEED_LIMIT: f64 = 0.07;
/// Change of the speed per step on the steepest slope, in road units per step.
pub const GRAVITY: f64 = 0.0025;
/// Lower bound of the initial position. The initial position is uniform from this bound to [`RESET_TO`]. The initial speed is 0.
pub const RESET_FROM: f64 = -0.6;
/// Upper bound of the initial position.
pub const RESET_TO: f64 = -0.4;

/// Constants that differ between the two cars.
pub trait Car: Send + Sync + 'static {
    const SPEC: &'static Spec;
    /// Number of the random stream of the initial states. The stream is separate from all other random streams of the same seed.
    const STREAM: u32;
    /// Position of the flag.
    const GOAL: f64;
    /// Change of the speed per step at full throttle, in road units per step.
    const POWER: f64;
    /// Action without throttle; `REST` + 1 is the action with full throttle forwards.
    const REST: f64;
    const STEP_REWARD: f64;
    const GOAL_REWARD: f64;
    /// Cost of a step with full throttle. The cost is proportional to the square of the throttle, where full throttle is 1.
    const THROTTLE_COST: f64;
    /// True if Gymnasium stores states and throttles in f32.
    const NARROW: bool;
}

/// The car with the actions back, coast and forward.
pub struct MountainCar;

/// The car with a continuous throttle.
pub struct MountainCarContinuous;

impl Car for MountainCar {
    const SPEC: &'static Spec = &SPEC;
    const STREAM: u32 = 0x004D_4331;
    const GOAL: f64 = 0.5;
    const POWER: f64 = 0.001;
    const REST: f64 = 1.0;
    const STEP_REWARD: f64 = -1.0;
    const GOAL_REWARD: f64 = 0.0;
    const THROTTLE_COST: f64 = 0.0;
    const NARROW: bool = false;
}

impl Car for MountainCarContinuous {
    const SPEC: &'static Spec = &CONTINUOUS;
    const STREAM: u32 = 0x4D43_4331;
    const GOAL: f64 = 0.45;
    const POWER: f64 = 0.0015;
    const REST: f64 = 0.0;
    const STEP_REWARD: f64 = 0.0;
    const GOAL_REWARD: f64 = 100.0;
    const THROTTLE_COST: f64 = 0.1;
    const NARROW: bool = true;
}

static SPEC: Spec = Spec {
    id: Cow::Borrowed("MountainCar-v0"),
    summary: Cow::Borrowed("swing a weak car up a hill; throttle back, none or forward"),
    actions: Actions::Choices(3),
    choices: texts!["back", "coast", "forward"],
    state: NUMBERS,
    observation: NUMBERS,
    step_limit: 200,
    solved_at: -110.0,
    returns: [-200.0, -80.0],
};

static CONTINUOUS: Spec = Spec {
    id: Cow::Borrowed("MountainCarContinuous-v0"),
    summary: Cow::Borrowed("swing a weak car up a hill and spare the throttle"),
    actions: Actions::Box { count: 1, low: -1.0, high: 1.0 },
    choices: Cow::Borrowed(&[]),
    state: NUMBERS,
    observation: NUMBERS,
    step_limit: 999,
    solved_at: 90.0,
    returns: [-100.0, 100.0],
};

// At first, a learner reaches the flag rarely and only by chance. Each rollout is therefore used for more epochs than by default.
pub(super) fn kind() -> Kind {
    Kind { tuned: Cow::Borrowed(&[("epochs", 8.0)]), steps: 3e6, ..of::<MountainCar>() }
}

// The car can need almost a thousand steps to reach the flag, so γ is near 1.
pub(super) fn continuous_kind() -> Kind {
    Kind { tuned: Cow::Borrowed(&[("gamma", 0.999)]), ..of::<MountainCarContinuous>() }
}

fn of<C: Car>() -> Kind {
    let kernels = Kernels::of::<C, 2, 2, 1>(include_str!("mountain_car.wgsl"), constants::<C>);
    Kind { kernels: Some(kernels), ..Kind::of::<C, 2, 2, 1>() }
}

const NUMBERS: Cow<'static, [Text]> = texts!["position", "velocity"];

impl<C: Car> Twin<2> for C {
    const SPEC: &'static Spec = C::SPEC;

    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; 2] {
        [uniform(RESET_FROM, RESET_TO), 0.0]
    }

    fn step(state: &mut [f64; 2], [action]: [f64; 1], Moment { steps, .. }: Moment) -> (f64, bool) {
        let number: fn(f64) -> Number = if C::NARROW { from_outside } else { f64_number };
        let given = action - C::REST;
        let throttle = if given.abs() > 1.0 { python(given.clamp(-1.0, 1.0)) } else { number(given) };
        // The initial state of an episode is an f64, as after Gymnasium's reset.
        let fresh = steps == 0 && state[1] == 0.0;
        let wide = fresh || !state.iter().all(|&s| fits_f32(s));
        let [x, v] = drive(state.map(if wide { f64_number } else { number }), throttle, C::POWER);
        *state = [x, v].map(|s| if C::NARROW { rounded(s.value) } else { s.value });
        let terminated = x >= python(C::GOAL) && v >= python(0.0);
        let gained = C::STEP_REWARD + if terminated { C::GOAL_REWARD } else { 0.0 };
        (gained - given * given * C::THROTTLE_COST, terminated)
    }
}

fn drive([mut x, mut v]: [Number; 2], throttle: Number, power: f64) -> [Number; 2] {
    let slope = python(GRAVITY * (python(3.0) * x).value.cos());
    v = v + (throttle * python(power) - slope);
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
    [x, v]
}

impl<C: Car> Rules<2, 2> for C {
    const STREAM: u32 = C::STREAM;

    #[inline(always)]
    fn advance<S: Simd>(s: S, [x, v]: [S::F; 2], _: [S::F; 2], [action]: [S::F; 1]) -> ([S::F; 2], S::F, S::M) {
        let c = |value: f64| s.splat(value as f32);
        let zero = c(0.0);
        let given = s.sub(action, c(C::REST));
        let throttle = s.max(s.min(given, c(1.0)), c(-1.0));
        let v = s.mul_add(throttle, c(C::POWER), v);
        let v = s.neg_mul_add(angle::cos(s, s.mul(x, c(3.0))), c(GRAVITY), v);
        let v = s.max(s.min(v, c(SPEED_LIMIT)), c(-SPEED_LIMIT));
        let x = s.max(s.min(s.add(x, v), c(X_MAX)), c(X_MIN));
        let walled = s.and_mask(s.eq(x, c(X_MIN)), s.lt(v, zero));
        let v = s.select(walled, zero, v);
        let terminated = s.and_mask(s.ge(x, c(C::GOAL)), s.ge(v, zero));
        let gained = s.select(terminated, c(C::STEP_REWARD + C::GOAL_REWARD), c(C::STEP_REWARD));
        let reward = s.neg_mul_add(s.mul(given, given), c(C::THROTTLE_COST), gained);
        ([x, v], reward, terminated)
    }

    #[inline(always)]
    fn observe<S: Simd>(_: S, state: [S::F; 2]) -> [S::F; 2] {
        state
    }

    #[inline(always)]
    fn first<S: Simd>(s: S, words: [S::U; 4]) -> [S::F; 2] {
        [many::spread(s, words[0], RESET_FROM, RESET_TO - RESET_FROM), s.splat(0.0)]
    }

    fn possible([x, v]: [f32; 2]) -> bool {
        let on_road = x >= X_MIN as f32 && x <= X_MAX as f32 && v.abs() <= SPEED_LIMIT as f32;
        on_road && !(x >= C::GOAL as f32 && v >= 0.0)
    }
}

/// Returns the names and values of the constants in `mountain_car.wgsl`.
fn constants<C: Car>() -> Vec<(&'static str, f64)> {
    let derived = [
        ("RESET_WIDTH", RESET_TO - RESET_FROM),
        ("GOAL", C::GOAL),
        ("POWER", C::POWER),
        ("REST", C::REST),
        ("STEP_REWARD", C::STEP_REWARD),
        ("LAST_REWARD", C::STEP_REWARD + C::GOAL_REWARD),
        ("THROTTLE_COST", C::THROTTLE_COST),
    ];
    named![RESET_FROM, GRAVITY, SPEED_LIMIT, X_MIN, X_MAX].into_iter().chain(derived).collect()
}
