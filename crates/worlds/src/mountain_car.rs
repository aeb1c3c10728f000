//! MountainCar-v0 with the meaning Gymnasium gives it: a car too weak for its hill must swing to
//! climb it. A plain f64 twin, and thousands in f32.
//!
//! Equations: Moore (1990), in the form of Sutton & Barto. It refuses to shape rewards: every step
//! costs 1; an episode is *terminated* at the flag, *truncated* at 200 steps.

use crate::angle;
use crate::many::{self, Many, Rules};
use crate::world::{Actions, Axis, Of, Plane, Spec, Step64, World64};
use math::Simd;

/// The road begins here, at a wall without bounce.
pub const X_MIN: f64 = -1.2;
pub const X_MAX: f64 = 0.6;
/// The flag.
pub const X_GOAL: f64 = 0.5;
/// Road a step.
pub const SPEED_LIMIT: f64 = 0.07;
/// Speed that full throttle adds in a step.
pub const FORCE: f64 = 0.001;
/// Speed that the steepest slope adds in a step.
pub const GRAVITY: f64 = 0.0025;
/// An episode begins at rest, uniform between these.
pub const RESET_FROM: f64 = -0.6;
pub const RESET_TO: f64 = -0.4;
/// Steps an episode lasts at most.
pub const STEP_LIMIT: u32 = 200;

/// Place and speed on the road.
pub(crate) const PLANE: Plane = Plane {
    x: Axis { name: "place", low: X_MIN, high: X_MAX, of: Of::Number(0) },
    y: Axis { name: "speed", low: -SPEED_LIMIT, high: SPEED_LIMIT, of: Of::Number(1) },
    base: &[-0.5, 0.0],
};

pub(crate) static SPEC: Spec = Spec {
    id: "MountainCar-v0",
    summary: "swing a weak car up a hill; throttle back, none or forward",
    actions: Actions::Choices(3),
    choices: &["back", "coast", "forward"],
    state: &["place", "speed"],
    observation: &["place", "speed"],
    step_limit: STEP_LIMIT,
    solved_at: -110.0,
    returns: [-200.0, -80.0],
    shown_step_s: 1.0 / 30.0,
    plane: PLANE,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MountainCar64 {
    /// x and ẋ, in road and road a step.
    pub state: [f64; 2],
    /// Steps taken in this episode.
    pub steps: u32,
}

impl MountainCar64 {
    pub fn new(state: [f64; 2]) -> Self {
        Self { state, steps: 0 }
    }
}

impl World64 for MountainCar64 {
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
        let [x, v] = self.state;
        let v = v + ((action - 1.0) * FORCE + (3.0 * x).cos() * -GRAVITY);
        let v = v.clamp(-SPEED_LIMIT, SPEED_LIMIT);
        let x = (x + v).clamp(X_MIN, X_MAX);
        let v = if x == X_MIN && v < 0.0 { 0.0 } else { v };
        self.state = [x, v];
        self.steps = self.steps.saturating_add(1);
        Step64 { reward: -1.0, terminated: x >= X_GOAL && v >= 0.0, truncated: self.steps >= STEP_LIMIT }
    }
}

/// The rules for a vector of cars.
pub struct MountainCar;

/// Many cars in f32; an action is 0, 1 or 2, and the state is its own observation.
pub type MountainCars = Many<MountainCar, 2, 2>;

impl Rules<2, 2> for MountainCar {
    const ID: &'static str = SPEC.id;
    const STEP_LIMIT: u32 = STEP_LIMIT;
    const STREAM: u32 = 0x004D_4331;

    #[inline(always)]
    fn advance<S: Simd>(s: S, [x, v]: [S::F; 2], _: [S::F; 2], action: S::F) -> ([S::F; 2], S::F, S::M) {
        let c = |value: f64| s.splat(value as f32);
        let cos = angle::cos(s, s.mul(x, c(3.0)));
        let v = s.mul_add(s.sub(action, c(1.0)), c(FORCE), v);
        let v = s.neg_mul_add(cos, c(GRAVITY), v);
        let v = s.max(s.min(v, c(SPEED_LIMIT)), c(-SPEED_LIMIT));
        let x = s.max(s.min(s.add(x, v), c(X_MAX)), c(X_MIN));
        let zero = c(0.0);
        let walled = s.and_mask(s.eq(x, c(X_MIN)), s.lt(v, zero));
        let v = s.select(walled, zero, v);
        ([x, v], c(-1.0), s.and_mask(s.ge(x, c(X_GOAL)), s.ge(v, zero)))
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
        on_road && !(x >= X_GOAL as f32 && v >= 0.0)
    }
}
