//! Test environment with an action of two numbers: a point must reach the origin of a plane.

use math::Simd;
use std::borrow::Cow;
use worlds::control::many::{Rules, spread};
use worlds::control::{Actions, Kernels, Kind, Moment, Spec, Twin};
use worlds::texts;

/// Distance by which an action of 1 in one coordinate moves the point in one step.
const STRIDE: f64 = 0.1;
/// Maximum absolute value of a coordinate at the beginning of an episode.
const AWAY: f64 = 1.0;
/// Squared distance from the origin within which an episode terminates.
const NEAR: f64 = 0.01;

pub const ID: &str = "Point-v0";

static SPEC: Spec = Spec {
    id: Cow::Borrowed(ID),
    summary: Cow::Borrowed("move a point to the origin of a plane"),
    actions: Actions::Box { count: 2, low: -2.0, high: 2.0 },
    choices: texts![],
    state: texts!["x", "y"],
    observation: texts!["x", "y"],
    step_limit: 40,
    solved_at: -4.0,
    returns: [-40.0, 0.0],
};

/// Returns the kind, with kernels for an accelerator.
pub fn kind() -> Kind {
    Kind { kernels: Some(Kernels::of::<Point, 2, 2, 2>(KERNELS, constants)), ..Kind::of::<Point, 2, 2, 2>() }
}

/// Rules of the point. The cost of a step is the distance from the origin before the step. Numbers of an action beyond ±2 count as ±2.
pub struct Point;

impl Twin<2, 2> for Point {
    const SPEC: &'static Spec = &SPEC;

    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; 2] {
        [uniform(-AWAY, AWAY), uniform(-AWAY, AWAY)]
    }

    fn step([x, y]: &mut [f64; 2], [right, up]: [f64; 2], _: Moment) -> (f64, bool) {
        let cost = x.hypot(*y);
        *x += STRIDE * right.clamp(-2.0, 2.0);
        *y += STRIDE * up.clamp(-2.0, 2.0);
        (-cost, *x * *x + *y * *y < NEAR)
    }
}

impl Rules<2, 2, 2> for Point {
    const STREAM: u32 = 0x506F_696E;

    #[inline(always)]
    fn advance<S: Simd>(s: S, [x, y]: [S::F; 2], _: [S::F; 2], action: [S::F; 2]) -> ([S::F; 2], S::F, S::M) {
        let square = |x: S::F, y: S::F| s.mul_add(x, x, s.mul(y, y));
        let cost = s.sqrt(square(x, y));
        let moved = |from, by| s.mul_add(s.max(s.min(by, s.splat(2.0)), s.splat(-2.0)), s.splat(STRIDE as f32), from);
        let (x, y) = (moved(x, action[0]), moved(y, action[1]));
        ([x, y], s.neg(cost), s.lt(square(x, y), s.splat(NEAR as f32)))
    }

    #[inline(always)]
    fn observe<S: Simd>(_: S, state: [S::F; 2]) -> [S::F; 2] {
        state
    }

    #[inline(always)]
    fn first<S: Simd>(s: S, words: [S::U; 4]) -> [S::F; 2] {
        [spread(s, words[0], -AWAY, 2.0 * AWAY), spread(s, words[1], -AWAY, 2.0 * AWAY)]
    }

    fn possible(state: [f32; 2]) -> bool {
        state.iter().all(|x| x.abs() < 10.0)
    }
}

const KERNELS: &str = "
fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State {
    let words = threefry(key, vec4<u32>(env, episode, 0u, 0u));
    return State(spread(words.x, -AWAY, 2.0 * AWAY), spread(words.y, -AWAY, 2.0 * AWAY));
}

fn world_shown(state: State) -> Shown { return state; }

fn world_step(state: State, shown: Shown, action: Action, when: Moment) -> Stepped {
    let cost = sqrt(state[0] * state[0] + state[1] * state[1]);
    let x = fma(clamp(action[0], -2.0, 2.0), STRIDE, state[0]);
    let y = fma(clamp(action[1], -2.0, 2.0), STRIDE, state[1]);
    return Stepped(State(x, y), -cost, x * x + y * y < NEAR);
}
";

fn constants() -> Vec<(&'static str, f64)> {
    worlds::named![STRIDE, AWAY, NEAR].to_vec()
}
