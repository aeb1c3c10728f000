//! CartPole-v1 with the meaning Gymnasium gives it, twice: a plain f64 twin that steps one pole, and
//! thousands of poles as a structure of f32 arrays in the kernels' panel layout.
//!
//! Equations: Barto, Sutton & Anderson (1983) as corrected by Florian (2007), explicit Euler at 50 Hz.
//!
//! It refuses to render, to shape rewards and to know who acts. Every step is worth 1; an episode is
//! *terminated* when the cart leaves the track or the pole leans over 12°, *truncated* at 500 steps,
//! and both can happen on the same step.

pub use crate::world::Step64;

use crate::world::{Actions, Spec, World64};
use math::{Isa, Kernel, PANEL, Rng, Simd, dispatch, rng};

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

static SPEC: Spec = Spec {
    id: "CartPole-v1",
    summary: "balance a pole on a cart; push left or right",
    actions: Actions::Choices(ACTIONS as u32),
    state: &["place (m)", "speed (m/s)", "angle (rad)", "speed of the angle (rad/s)"],
    observation: &["place (m)", "speed (m/s)", "angle (rad)", "speed of the angle (rad/s)"],
    step_limit: STEP_LIMIT,
};

impl World64 for CartPole64 {
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
        (0..OBSERVATION).map(|_| uniform(-RESET_SPREAD, RESET_SPREAD)).collect()
    }

    fn advance(&mut self, action: f64) -> Step64 {
        CartPole64::step(self, action as u32)
    }
}

/// Flags of [`CartPoles::step`]'s `ended`; the bits above them hold the length of the episode.
pub const TERMINATED: u32 = 1;
pub const TRUNCATED: u32 = 2;
pub const LENGTH_SHIFT: u32 = 2;

/// A state that no environment can be in between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("environment {env} is in no state that CartPole can be in; load an earlier checkpoint")]
pub struct BadState {
    pub env: usize,
}

/// Many poles in f32, 16 or 8 or 4 at a time, each beginning again by itself when its episode ends.
///
/// The state is its own observation, in panels: `[count/PANEL][OBSERVATION][PANEL]`, ready for a
/// network. Lanes beyond `count` in the last panel are poles too; nobody need look at them. A new
/// episode's state is a function of (seed, environment, episode), whatever the lanes or threads.
pub struct CartPoles {
    isa: Isa,
    rng: Rng,
    first: u32,
    count: usize,
    /// `[panels][OBSERVATION][PANEL]`
    state: Vec<f32>,
    /// Steps taken in this episode, `[panels][PANEL]`.
    steps: Vec<u32>,
    /// Episodes begun before this one, `[panels][PANEL]`.
    episodes: Vec<u32>,
}

/// What a world draws its numbers from; apart from every other stream of the same seed.
const STREAM: u32 = 0x0043_5031;

impl CartPoles {
    /// Environments `first..first + count` of a seed, each at the start of its first episode.
    pub fn new(isa: Isa, seed: u32, first: u32, count: usize) -> Self {
        let lanes = count.div_ceil(PANEL) * PANEL;
        let mut poles = Self {
            isa,
            rng: Rng::new(seed, STREAM),
            first,
            count,
            state: vec![0.0; lanes * OBSERVATION],
            steps: vec![0; lanes],
            episodes: vec![0; lanes],
        };
        poles.reset(seed, first);
        poles
    }

    /// Begins anew, as [`CartPoles::new`] does.
    pub fn reset(&mut self, seed: u32, first: u32) {
        self.rng = Rng::new(seed, STREAM);
        self.first = first;
        self.steps.fill(0);
        self.episodes.fill(0);
        for env in 0..self.steps.len() {
            let words = self.rng.block([self.first.wrapping_add(env as u32), 0, 0, 0]);
            for (i, word) in words.into_iter().enumerate() {
                self.state[place(env, i)] = rng::uniform_from_word(word) * SPREAD - HALF_SPREAD;
            }
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// What the environments show, in panels.
    pub fn observations(&self) -> &[f32] {
        &self.state
    }

    /// One step of every environment. In panels of one feature: `actions`, 1 pushes right and any
    /// other left; `ended`, 0 while the episode goes on, else [`TERMINATED`] and [`TRUNCATED`] and
    /// the episode's length. `reached` is the observation the step led to, which for an episode that
    /// ended is its last; [`CartPoles::observations`] already shows the next one's first.
    pub fn step(&mut self, actions: &[f32], reached: &mut [f32], ended: &mut [u32]) {
        let key = self.rng.key;
        let Self { isa, first, state, steps, episodes, .. } = self;
        dispatch(*isa, Advance { key, first: *first, state, steps, episodes, actions, reached, ended });
    }

    /// State, steps and episodes so far of one environment: all there is to save.
    pub fn environment(&self, env: usize) -> ([f32; OBSERVATION], u32, u32) {
        (std::array::from_fn(|i| self.state[place(env, i)]), self.steps[env], self.episodes[env])
    }

    /// Puts back what [`CartPoles::environment`] gave.
    pub fn set_environment(
        &mut self,
        env: usize,
        state: [f32; OBSERVATION],
        steps: u32,
        episodes: u32,
    ) -> Result<(), BadState> {
        let inside = state[0].abs() <= X_LIMIT as f32 && state[2].abs() <= THETA_LIMIT as f32;
        if env >= self.count || steps >= STEP_LIMIT || !inside || state.iter().any(|s| !s.is_finite()) {
            return Err(BadState { env: self.first as usize + env });
        }
        state.into_iter().enumerate().for_each(|(i, s)| self.state[place(env, i)] = s);
        (self.steps[env], self.episodes[env]) = (steps, episodes);
        Ok(())
    }
}

const SPREAD: f32 = (2.0 * RESET_SPREAD) as f32;
const HALF_SPREAD: f32 = RESET_SPREAD as f32;

/// Where feature i of an environment lies in panels.
fn place(env: usize, i: usize) -> usize {
    (env / PANEL * OBSERVATION + i) * PANEL + env % PANEL
}

struct Advance<'a> {
    key: [u32; 4],
    first: u32,
    state: &'a mut [f32],
    steps: &'a mut [u32],
    episodes: &'a mut [u32],
    actions: &'a [f32],
    reached: &'a mut [f32],
    ended: &'a mut [u32],
}

impl Kernel for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let lanes = self.steps.len();
        assert!(self.actions.len() >= lanes && self.ended.len() >= lanes);
        assert!(self.reached.len() >= self.state.len());
        for env in (0..lanes).step_by(S::LANES) {
            let at: [usize; OBSERVATION] = std::array::from_fn(|i| place(env, i));
            let right = s.eq(s.load(&self.actions[env..]), s.splat(1.0));
            let old = at.map(|i| s.load(&self.state[i..]));
            let new = euler(s, old, right);
            for (x, i) in new.into_iter().zip(at) {
                s.store(x, &mut self.reached[i..]);
            }

            let inside = s.and_mask(
                s.le(s.abs(new[0]), s.splat(X_LIMIT as f32)),
                s.le(s.abs(new[2]), s.splat(THETA_LIMIT as f32)),
            );
            let zero = s.splat_u(0);
            let steps = s.add_u(s.load_u(&self.steps[env..]), s.splat_u(1));
            let truncated = s.eq_u(steps, s.splat_u(STEP_LIMIT));
            let over = s.or_mask(s.not_mask(inside), truncated);
            if s.mask_bits(over) == 0 {
                for (x, i) in new.into_iter().zip(at) {
                    s.store(x, &mut self.state[i..]);
                }
                s.store_u(steps, &mut self.steps[env..]);
                s.store_u(zero, &mut self.ended[env..]);
                continue;
            }
            let flags = s.add_u(
                s.select_u(inside, zero, s.splat_u(TERMINATED)),
                s.select_u(truncated, s.splat_u(TRUNCATED), zero),
            );
            let end = s.or_u(flags, s.shl_u(steps, LENGTH_SHIFT));
            s.store_u(s.select_u(over, end, zero), &mut self.ended[env..]);
            s.store_u(s.select_u(over, zero, steps), &mut self.steps[env..]);

            let episodes = s.load_u(&self.episodes[env..]);
            let episodes = s.select_u(over, s.add_u(episodes, s.splat_u(1)), episodes);
            s.store_u(episodes, &mut self.episodes[env..]);
            let id = s.count_u(self.first.wrapping_add(env as u32));
            let words = rng::threefry(s, self.key, [id, episodes, zero, zero]);
            for (i, word) in words.into_iter().enumerate() {
                // Multiplied, then subtracted: the same bits on every set.
                let fresh = s.sub(s.mul(rng::uniform(s, word), s.splat(SPREAD)), s.splat(HALF_SPREAD));
                s.store(s.select(over, fresh, new[i]), &mut self.state[at[i]..]);
            }
        }
    }
}

/// [`CartPole64::step`] for a vector of poles.
#[inline(always)]
fn euler<S: Simd>(s: S, [x, v, theta, w]: [S::F; 4], right: S::M) -> [S::F; 4] {
    let c = |value: f64| s.splat(value as f32);
    // Between two steps |θ| ≤ 12°, where these Taylor polynomials are right to 1e-10.
    let square = s.mul(theta, theta);
    let series = s.mul_add(square, c(-1.0 / 5040.0), c(1.0 / 120.0));
    let series = s.mul_add(square, series, c(-1.0 / 6.0));
    let sin = s.mul_add(s.mul(square, theta), series, theta);
    let series = s.mul_add(square, c(-1.0 / 720.0), c(1.0 / 24.0));
    let series = s.mul_add(square, series, c(-0.5));
    let cos = s.mul_add(square, series, c(1.0));

    let force = s.select(right, c(FORCE / MASS), c(-FORCE / MASS));
    let push = s.mul_add(s.mul(c(POLE_MOMENT / MASS), s.mul(w, w)), sin, force);
    let torque = s.neg_mul_add(cos, push, s.mul(c(GRAVITY), sin));
    let inertia =
        s.neg_mul_add(s.mul(cos, cos), c(HALF_LENGTH * MASS_POLE / MASS), c(HALF_LENGTH * 4.0 / 3.0));
    let theta_acc = s.div(torque, inertia);
    let x_acc = s.neg_mul_add(s.mul(c(POLE_MOMENT / MASS), theta_acc), cos, push);
    let tau = c(STEP_S);
    [s.mul_add(tau, v, x), s.mul_add(tau, x_acc, v), s.mul_add(tau, w, theta), s.mul_add(tau, theta_acc, w)]
}
