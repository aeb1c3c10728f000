//! Test environment, in which an agent keeps a puck on ice near the middle.

use math::Simd;
use std::borrow::Cow;
use std::sync::LazyLock;
use worlds::control::many::{Rules, spread};
use worlds::control::{Actions, Kind, Moment, Spec, Twin};
use worlds::texts;

/// Change of the puck's speed by one push, which lasts one step.
const PUSH: f64 = 0.02;
/// Maximum distance from the middle at the beginning of an episode, at which the puck is at rest. An episode ends when the distance exceeds
/// 1.
const BEGINNING: f64 = 0.5;

static SPEC: Spec = Spec {
    id: Cow::Borrowed("Puck-v0"),
    summary: Cow::Borrowed("keep a puck in the middle; push it left, not at all or right"),
    actions: Actions::Choices(3),
    choices: texts!["left", "wait", "right"],
    state: texts!["place", "speed"],
    observation: texts!["place", "speed"],
    step_limit: 100,
    solved_at: 90.0,
    returns: [0.0, 100.0],
};

pub static KIND: LazyLock<Kind> = LazyLock::new(Kind::of::<Puck, 2, 2, 1>);

pub struct Puck;

impl Twin<2> for Puck {
    const SPEC: &'static Spec = &SPEC;

    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; 2] {
        [uniform(-BEGINNING, BEGINNING), 0.0]
    }

    fn step([x, v]: &mut [f64; 2], [action]: [f64; 1], _: Moment) -> (f64, bool) {
        *v += (action - 1.0) * PUSH;
        *x += *v;
        (1.0 - x.abs(), x.abs() > 1.0)
    }
}

impl Rules<2, 2> for Puck {
    const STREAM: u32 = 0x5075_636B;

    #[inline(always)]
    fn advance<S: Simd>(s: S, [x, v]: [S::F; 2], _: [S::F; 2], [action]: [S::F; 1]) -> ([S::F; 2], S::F, S::M) {
        let one = s.splat(1.0);
        let v = s.mul_add(s.sub(action, one), s.splat(PUSH as f32), v);
        let x = s.add(x, v);
        let away = s.max(x, s.sub(s.splat(0.0), x));
        ([x, v], s.sub(one, away), s.lt(one, away))
    }

    #[inline(always)]
    fn observe<S: Simd>(_: S, state: [S::F; 2]) -> [S::F; 2] {
        state
    }

    #[inline(always)]
    fn first<S: Simd>(s: S, words: [S::U; 4]) -> [S::F; 2] {
        [spread(s, words[0], -BEGINNING, 2.0 * BEGINNING), s.splat(0.0)]
    }

    fn possible([x, v]: [f32; 2]) -> bool {
        x.abs() <= 1.0 && v.is_finite()
    }
}
