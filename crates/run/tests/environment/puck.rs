//! An environment of the tests' own: a puck on ice that is to stay in the middle.

use math::Simd;
use worlds::control::many::{Many, Rules, spread};
use worlds::control::{Actions, Kind, Spec, Step64, World64};

/// Speed that a push adds in a step.
const PUSH: f64 = 0.02;
/// An episode begins at rest within ± this, and ends beyond 1.
const BEGINNING: f64 = 0.5;

static SPEC: Spec = Spec {
    id: "Puck-v0",
    summary: "keep a puck in the middle; push it left, not at all or right",
    actions: Actions::Choices(3),
    choices: &["left", "wait", "right"],
    state: &["place", "speed"],
    observation: &["place", "speed"],
    step_limit: 100,
    solved_at: 90.0,
    returns: [0.0, 100.0],
};

pub static KIND: Kind = Kind::new(
    &SPEC,
    || Box::new(Puck64 { state: [0.0; 2], steps: 0 }),
    |isa, seed, first, count| Box::new(Many::<Puck, 2, 2>::new(isa, seed, first, count)),
);

struct Puck64 {
    state: [f64; 2],
    steps: u32,
}

impl World64 for Puck64 {
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
        vec![uniform(-BEGINNING, BEGINNING), 0.0]
    }

    fn advance(&mut self, action: f64) -> Step64 {
        let v = self.state[1] + (action - 1.0) * PUSH;
        let x = self.state[0] + v;
        self.state = [x, v];
        self.steps += 1;
        Step64 { reward: 1.0 - x.abs(), terminated: x.abs() > 1.0, truncated: self.steps >= SPEC.step_limit }
    }
}

struct Puck;

impl Rules<2, 2> for Puck {
    const SPEC: &'static Spec = &SPEC;
    const STREAM: u32 = 0x5075_636B;

    #[inline(always)]
    fn advance<S: Simd>(s: S, [x, v]: [S::F; 2], _: [S::F; 2], action: S::F) -> ([S::F; 2], S::F, S::M) {
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
