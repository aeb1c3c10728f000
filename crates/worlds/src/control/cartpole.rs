//! CartPole-v1 as in Gymnasium. This file contains a scalar f64 reference for one pole, and a vectorized f32 version, whose arrays have the
//! panel layout that the networks read (see `vector`).
//!
//! The equations are those of Barto, Sutton & Anderson (1983) as corrected by Florian (2007), integrated by explicit Euler at 50 Hz.
//!
//! The reward of every step is 1 and is not shaped. An episode is *terminated* when the cart leaves the track or the pole leans more than
//! 12°, and *truncated* at 500 steps; both can happen on the same step.

use super::kind::{Kernels, Kind, Make};
use super::many::{load, place, store};
use super::vector::{InvalidState, LENGTH_SHIFT, TERMINATED, TRUNCATED, Vector};
use super::world::{Actions, Moment, Single, Spec, Twin};
use crate::{named, texts};
use math::{Buffer, Isa, PANEL, Rng, Simd, kernel, rng};
use std::borrow::Cow;
use std::sync::Arc;

/// Gravitational acceleration, m/s².
pub const GRAVITY: f64 = 9.8;
/// Mass of the cart, kg.
pub const MASS_CART: f64 = 1.0;
/// Mass of the pole, kg.
pub const MASS_POLE: f64 = 0.1;
/// Half of the pole's length, m.
pub const HALF_LENGTH: f64 = 0.5;
/// Absolute value of the horizontal force of an action, N. The force is to the left or to the right.
pub const FORCE: f64 = 10.0;
pub const STEP_S: f64 = 0.02;
/// Distance from the centre of the track to its ends, m.
pub const X_LIMIT: f64 = 2.4;
/// Maximum angle of the pole from upright: 12°, in rad.
pub const THETA_LIMIT: f64 = 12.0 * 2.0 * std::f64::consts::PI / 360.0;
/// Each number of an initial state is uniform within ± this bound.
pub const RESET_SPREAD: f64 = 0.05;
/// Maximum number of steps of an episode.
pub const STEP_LIMIT: u32 = 500;
/// Length of an observation: position (m) and speed (m/s) of the cart, angle (rad) and angular speed (rad/s) of the pole.
pub const OBSERVATION: usize = 4;
/// Number of actions: push left, push right.
pub const ACTIONS: usize = 2;

const MASS: f64 = MASS_CART + MASS_POLE;
const POLE_MOMENT: f64 = MASS_POLE * HALF_LENGTH;

/// Rules of CartPole in f64; a state is x, ẋ, θ, θ̇. These rules are the reference for the f32 version, `CartPoles`. They also step the
/// displayed pole that a user can push.
pub struct CartPole;

pub type CartPole64 = Single<CartPole, OBSERVATION>;

impl Twin<OBSERVATION> for CartPole {
    const SPEC: &'static Spec = &SPEC;

    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; OBSERVATION] {
        [(); OBSERVATION].map(|()| uniform(-RESET_SPREAD, RESET_SPREAD))
    }

    /// Takes one step. Action 1 pushes the cart to the right, any other action to the left. The two external forces (N) are horizontal; the
    /// first acts on the cart, the second on the tip of the pole.
    ///
    /// The tip is 2·l above the hinge, where l is half of the pole's length. A force f on the tip adds the force f to the cart's equation
    /// of motion, and the torque 2·l·f·cos θ to the pole's equation of motion.
    fn step(state: &mut [f64; OBSERVATION], [action]: [f64; 1], moment: Moment) -> (f64, bool) {
        let [x, v, theta, w] = *state;
        let [cart_force, tip_force] = moment.forces;
        let force = if action == 1.0 { FORCE } else { -FORCE } + cart_force + tip_force;
        let (sin, cos) = theta.sin_cos();
        let push = (force + POLE_MOMENT * (w * w) * sin) / MASS;
        let tip = 2.0 * tip_force * cos / MASS_POLE;
        let theta_acc = (GRAVITY * sin - cos * push + tip) / (HALF_LENGTH * (4.0 / 3.0 - MASS_POLE * (cos * cos) / MASS));
        let x_acc = push - POLE_MOMENT * theta_acc * cos / MASS;
        let [x, v, theta, w] = [x + STEP_S * v, v + STEP_S * x_acc, theta + STEP_S * w, w + STEP_S * theta_acc];
        *state = [x, v, theta, w];
        // A NaN counts as outside the limits.
        let inside = x.abs() <= X_LIMIT && theta.abs() <= THETA_LIMIT;
        (1.0, !inside)
    }
}

static SPEC: Spec = Spec {
    id: Cow::Borrowed("CartPole-v1"),
    summary: Cow::Borrowed("balance a pole on a cart; push left or right"),
    actions: Actions::Choices(ACTIONS as u32),
    choices: texts!["push left", "push right"],
    state: texts!["position (m)", "velocity (m/s)", "angle (rad)", "angular velocity (rad/s)"],
    observation: texts!["position (m)", "velocity (m/s)", "angle (rad)", "angular velocity (rad/s)"],
    step_limit: STEP_LIMIT,
    solved_at: 475.0,
    returns: [0.0, 500.0],
};

const TUNED: &[(&str, f64)] =
    &[("lr", 0.01), ("lr_floor", 0.001), ("hidden", 32.0), ("tanh", 0.0), ("normalize_observation", 0.0), ("normalize_reward", 0.0)];

pub(super) fn kind() -> Kind {
    let text = Cow::Borrowed(include_str!("cartpole.wgsl"));
    let many: Make = Arc::new(|isa, seed, first, count| Box::new(CartPoles::new(isa, seed, first, count)));
    Kind {
        tuned: Cow::Borrowed(TUNED),
        kernels: Some(Kernels { text, repeated: &[], constants, key, episode_mask: EPISODES - 1, explain: None }),
        ..Kind::new(SPEC.clone(), Arc::new(|| Box::new(CartPole64::new(0))), many)
    }
}

/// Many poles in f32, stepped 4, 8 or 16 at a time. When a pole's episode ends, its next episode starts in the same step.
///
/// The state is also the observation. The states are stored in panels, `[panels][OBSERVATION][PANEL]`, the input layout of the networks.
/// Lanes beyond `count` in the last panel are stepped too and can be ignored. An initial state is a function of (seed, environment,
/// episode) and does not depend on the number of lanes or threads.
pub struct CartPoles {
    isa: Isa,
    keys: Keys,
    first: u32,
    count: usize,
    /// States, `[panels][OBSERVATION][PANEL]`.
    state: Buffer,
    /// One word per pole, `[panels][PANEL]`. The lower [`STEP_BITS`] bits are the number of steps in the episode; the upper bits are the
    /// number of earlier episodes, modulo 2²³.
    clock: Buffer<u32>,
    /// Initial state of each environment's next episode, in the layout of `state`. Each step recomputes every [`SHORTEST`]-th panel, so
    /// each panel is recomputed once in [`SHORTEST`] steps, the length of the shortest possible episode.
    starts: Buffer,
    /// Number of steps taken, modulo [`SHORTEST`]. This number selects the panels of `starts` to recompute.
    turn: usize,
}

/// Random stream of this environment, separate from all other streams of the same seed.
const STREAM: u32 = 0x0043_5031;

/// Hash keys of a seed. The key `start` hashes (environment, episode) to an initial state. The key `action` hashes (environment, game) to
/// random actions, where `game` is the argument of [`CartPoles::play`]. For random actions, the number of the step divided by [`COINS`] is
/// added to the key's first word.
#[derive(Clone, Copy)]
struct Keys {
    start: [u32; 2],
    action: [u32; 2],
}

impl Keys {
    fn new(seed: u32) -> Self {
        let [a, b, c, d] = key(seed);
        Self { start: [a, b], action: [c, d] }
    }
}

/// Returns the random key of a seed: two words for initial states and two for random actions.
pub fn key(seed: u32) -> [u32; 4] {
    Rng::new(seed, STREAM).block([0; 4])
}

/// Number of lower bits of a pole's `clock` that hold the number of steps in the episode. Between calls of `step`, this number is less than
/// [`STEP_LIMIT`].
pub const STEP_BITS: u32 = 9;
const STEP_MASK: u32 = (1 << STEP_BITS) - 1;
/// Number of episodes after which the episode counter returns to 0.
pub const EPISODES: u32 = 1 << (32 - STEP_BITS);
const _: () = assert!(STEP_LIMIT < STEP_MASK);

impl CartPoles {
    /// Creates environments `first..first + count` of a seed, each at the start of its first episode.
    pub fn new(isa: Isa, seed: u32, first: u32, count: usize) -> Self {
        let panels = count.div_ceil(PANEL);
        let mut poles = Self {
            isa,
            keys: Keys::new(seed),
            first,
            count,
            state: Buffer::zeros(panels * STATE),
            clock: Buffer::zeros(panels * PANEL),
            starts: Buffer::zeros(panels * STATE),
            turn: 0,
        };
        poles.reset(seed, first);
        poles
    }

    fn start(&self, env: usize, episode: u32) -> [f32; OBSERVATION] {
        let words = rng::hash_1(self.keys.start, [self.first.wrapping_add(env as u32), episode % EPISODES]);
        words.map(|word| word.cast_signed() as f32 * SPREAD)
    }

    /// Moves an environment to the start of an episode.
    fn place(&mut self, env: usize, episode: u32) {
        let (now, next) = (self.start(env, episode), self.start(env, episode + 1));
        for i in 0..OBSERVATION {
            (self.state[place::<OBSERVATION>(env, i)], self.starts[place::<OBSERVATION>(env, i)]) = (now[i], next[i]);
        }
        self.clock[env] = episode << STEP_BITS;
    }

    /// Takes `steps` steps with random actions. `game` selects the sequence of random actions. Returns the number of episodes that ended.
    /// Only the state after the last step is stored. [`CartPoles::coins`] writes the same actions.
    pub fn play(&mut self, game: u32, steps: u32) -> u64 {
        let poles = self;
        kernel!(poles.isa, |s: S, poles: &mut CartPoles, game: u32, steps: u32| -> u64 {
            let &mut CartPoles { keys, first, count, ref mut state, ref mut clock, ref mut starts, .. } = poles;
            let panels = state.as_chunks_mut::<STATE>().0.iter_mut();
            let mut ended = 0;
            let panels = panels.zip(clock.as_chunks_mut::<PANEL>().0).zip(starts.as_chunks_mut::<STATE>().0);
            for (panel, ((state, clock), starts)) in panels.enumerate() {
                for l in (0..PANEL).step_by(ABREAST * S::LANES) {
                    let env = panel * PANEL + l;
                    let id = s.count_u(first.wrapping_add(env as u32));
                    let mut ids = [id; ABREAST];
                    let mut poles = [Pole { state: load(s, state, l), clock: s.load_u(&clock[l..]) }; ABREAST];
                    for v in 1..ABREAST {
                        let l = l + v * S::LANES;
                        ids[v] = s.add_u(id, s.splat_u((v * S::LANES) as u32));
                        poles[v] = Pole { state: load(s, state, l), clock: s.load_u(&clock[l..]) };
                    }
                    random_steps(s, keys, game, steps, ids, &mut poles);
                    for v in 0..ABREAST {
                        let l = l + v * S::LANES;
                        let mut episodes = [0; 16];
                        let [old, new] = [s.load_u(&clock[l..]), poles[v].clock];
                        s.store_u(s.sub_u(s.shr_u(new, STEP_BITS), s.shr_u(old, STEP_BITS)), &mut episodes);
                        let seen = count.saturating_sub(panel * PANEL + l).min(S::LANES);
                        ended += episodes[..seen].iter().map(|n| u64::from(n % EPISODES)).sum::<u64>();
                        store(s, poles[v].state, state, l);
                        store(s, start(s, keys.start, ids[v], new), starts, l);
                        s.store_u(new, &mut clock[l..]);
                    }
                }
            }
            ended
        })
    }

    /// Writes the actions that [`CartPoles::play`] takes at step `step`. `game` is the number of the sequence of random actions. Each
    /// action is 0 or 1, a function of (seed, environment, game, step).
    pub fn coins(&self, game: u32, step: u32, actions: &mut [f32]) {
        let [c, d] = self.keys.action;
        let key = [c.wrapping_add(step / COINS), d];
        let bit = step % 32;
        for (env, action) in actions.iter_mut().enumerate().take(self.clock.len()) {
            let id = self.first.wrapping_add(env as u32);
            let words = rng::hash_1(key, [id, game]);
            *action = (words[(step % COINS / 32) as usize] << bit >> 31) as f32;
        }
    }
}

impl Vector for CartPoles {
    fn bytes(&self) -> usize {
        size_of::<Self>() + 4 * (self.state.len() + self.clock.len() + self.starts.len())
    }

    fn count(&self) -> usize {
        self.count
    }

    fn observations(&self) -> &[f32] {
        &self.state
    }

    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        self.turn = (self.turn + 1) % SHORTEST as usize;
        let poles = self;
        kernel!(poles.isa, |s: S, poles: &mut CartPoles, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]| {
            let &mut CartPoles { keys, first, turn, ref mut state, ref mut clock, ref mut starts, .. } = poles;
            let lanes = clock.len();
            assert!(actions.len() >= lanes && ended.len() >= lanes);
            assert!(reached.len() >= state.len());
            let state = state.as_chunks_mut::<STATE>().0.iter_mut();
            let clock = clock.as_chunks_mut::<PANEL>().0.iter_mut();
            let starts = starts.as_chunks_mut::<STATE>().0.iter_mut();
            let actions = actions.as_chunks::<PANEL>().0.iter();
            let reached = reached.as_chunks_mut::<STATE>().0.iter_mut();
            let rewards = rewards.as_chunks_mut::<PANEL>().0.iter_mut();
            let ended = ended.as_chunks_mut::<PANEL>().0.iter_mut();
            let panels = state.zip(clock).zip(starts).zip(actions).zip(reached).zip(rewards).zip(ended);
            for (panel, ((((((state, clock), starts), actions), reached), rewards), ended)) in panels.enumerate() {
                if panel % SHORTEST as usize == turn {
                    for l in (0..PANEL).step_by(S::LANES) {
                        let id = s.count_u(first.wrapping_add((panel * PANEL + l) as u32));
                        store(s, start(s, keys.start, id, s.load_u(&clock[l..])), starts, l);
                    }
                }
                for l in (0..PANEL).step_by(S::LANES) {
                    let right = s.eq(s.load(&actions[l..]), s.splat(1.0));
                    let force = s.select(right, s.splat((FORCE / MASS) as f32), s.splat((-FORCE / MASS) as f32));
                    let before = Pole { state: load(s, state, l), clock: s.load_u(&clock[l..]) };
                    let new = before.step(s, force);
                    store(s, new.state, reached, l);
                    s.store(s.splat(1.0), &mut rewards[l..]);
                    let after = new.begin_again(s, load(s, starts, l));
                    store(s, after.state, state, l);
                    s.store_u(after.clock, &mut clock[l..]);
                    s.store_u(new.end(s), &mut ended[l..]);
                }
            }
        });
    }

    fn reset(&mut self, seed: u32, first: u32) {
        self.keys = Keys::new(seed);
        self.first = first;
        (0..self.clock.len()).for_each(|env| self.place(env, 0));
    }

    fn begin(&mut self, env: usize) {
        self.place(env, ((self.clock[env] >> STEP_BITS) + 1) % EPISODES);
    }

    fn state_len(&self) -> usize {
        OBSERVATION
    }

    fn environment(&self, env: usize, state: &mut [f32]) -> (u32, u32) {
        state.iter_mut().enumerate().for_each(|(i, x)| *x = self.state[place::<OBSERVATION>(env, i)]);
        (self.clock[env] & STEP_MASK, self.clock[env] >> STEP_BITS)
    }

    fn set_environment(&mut self, env: usize, state: &[f32], steps: u32, episodes: u32) -> Result<(), InvalidState> {
        let inside = |&[x, _, theta, _]: &[f32; OBSERVATION]| x.abs() <= X_LIMIT as f32 && theta.abs() <= THETA_LIMIT as f32;
        let possible = <&[f32; OBSERVATION]>::try_from(state).is_ok_and(inside) && state.iter().all(|x| x.is_finite());
        if env >= self.count || steps >= STEP_LIMIT || episodes >= EPISODES || !possible {
            return Err(InvalidState { env: self.first as usize + env, id: SPEC.id.clone() });
        }
        let next = self.start(env, episodes + 1);
        for (i, &x) in state.iter().enumerate() {
            (self.state[place::<OBSERVATION>(env, i)], self.starts[place::<OBSERVATION>(env, i)]) = (x, next[i]);
        }
        self.clock[env] = episodes << STEP_BITS | steps;
        Ok(())
    }
}

/// Factor that converts a random word, read as i32, to a number of an initial state. The factor is slightly smaller than `RESET_SPREAD` /
/// 2³¹, so that no rounded product exceeds [`RESET_SPREAD`].
pub const SPREAD: f32 = ((1.0 - 1e-7) * RESET_SPREAD / 2_147_483_648.0) as f32;

/// Number of state values in a panel of environments.
const STATE: usize = OBSERVATION * PANEL;
/// Number of random actions in a hash of four words. A word contains 32 actions, the highest bit first.
const COINS: u32 = 128;

/// Number of vectors of poles that are stepped together. A single vector leaves execution units idle, because each step depends on the
/// previous step; more than two vectors do not fit the registers.
const ABREAST: usize = 2;

/// Steps poles with random actions. The next initial states are computed only every [`SHORTEST`] steps, because a pole cannot end two
/// episodes in this time.
#[inline(always)]
fn random_steps<S: Simd>(s: S, keys: Keys, game: u32, steps: u32, ids: [S::U; ABREAST], poles: &mut [Pole<S>; ABREAST]) {
    let sign = s.splat_u(1 << 31);
    let left = s.to_bits(s.splat((-FORCE / MASS) as f32));
    let [c, d] = keys.action;
    let mut words = [[left; 4]; ABREAST];
    let mut coins = [left; ABREAST];
    let mut starts = [poles[0].state; ABREAST];
    for from in (0..steps).step_by(SHORTEST as usize) {
        for v in 0..ABREAST {
            if from % COINS == 0 {
                let key = [c.wrapping_add(from / COINS), d];
                words[v] = rng::hash(s, key, [ids[v], s.splat_u(game)]);
            }
            if from % 32 == 0 {
                coins[v] = words[v][(from % COINS / 32) as usize];
            }
            starts[v] = start(s, keys.start, ids[v], poles[v].clock);
        }
        for _ in (from..steps).take(SHORTEST as usize) {
            for v in 0..ABREAST {
                let force = s.f32_from_bits(s.xor_u(left, s.and_u(coins[v], sign)));
                coins[v] = s.shl_u(coins[v], 1);
                let reached = poles[v].step(s, force);
                poles[v] = reached.begin_again(s, starts[v]);
            }
        }
    }
}

/// Minimum number of steps of an episode, because the pole cannot reach its limit of 0.209 rad in seven steps. Seven steps from ±0.05 rad
/// and ±0.05 rad/s, with at most 18 rad/s² at any valid angle, lead to at most 0.05 + 7·0.02·0.05 + 21·0.02²·18 = 0.208 rad.
pub const SHORTEST: u32 = 8;

/// State and clock of the poles in one SIMD vector.
#[derive(Clone, Copy)]
struct Pole<S: Simd> {
    state: [S::F; OBSERVATION],
    clock: S::U,
}

/// A vector of poles after a step. Each mask selects poles: `inside` those within the limits, `truncated` those at the step limit, `over`
/// those whose episode has ended.
struct Reached<S: Simd> {
    state: [S::F; OBSERVATION],
    clock: S::U,
    inside: S::M,
    truncated: S::M,
    over: S::M,
}

impl<S: Simd> Pole<S> {
    #[inline(always)]
    fn step(self, s: S, force: S::F) -> Reached<S> {
        let state = euler(s, self.state, force);
        let inside = s.and_mask(s.le(s.abs(state[0]), s.splat(X_LIMIT as f32)), s.le(s.abs(state[2]), s.splat(THETA_LIMIT as f32)));
        let clock = s.add_u(self.clock, s.splat_u(1));
        let truncated = s.eq_u(s.and_u(clock, s.splat_u(STEP_MASK)), s.splat_u(STEP_LIMIT));
        Reached { state, clock, inside, truncated, over: s.or_mask(s.not_mask(inside), truncated) }
    }
}

impl<S: Simd> Reached<S> {
    /// Starts the next episode of the poles whose episode is over. `start` contains the initial states.
    #[inline(always)]
    fn begin_again(&self, s: S, start: [S::F; OBSERVATION]) -> Pole<S> {
        let next = s.add_u(s.or_u(self.clock, s.splat_u(STEP_MASK)), s.splat_u(1));
        let mut state = self.state;
        for i in 0..OBSERVATION {
            state[i] = s.select(self.over, start[i], state[i]);
        }
        Pole { state, clock: s.select_u(self.over, next, self.clock) }
    }

    /// Returns the words for `ended` of [`Vector::step`]: the flags and the length of each episode that has ended, and 0 for the other
    /// poles.
    #[inline(always)]
    fn end(&self, s: S) -> S::U {
        let length = s.shl_u(s.and_u(self.clock, s.splat_u(STEP_MASK)), LENGTH_SHIFT);
        let end = s.select_u(self.truncated, s.or_u(length, s.splat_u(TRUNCATED)), length);
        let end = s.select_u(self.inside, end, s.or_u(end, s.splat_u(TERMINATED)));
        s.select_u(self.over, end, s.splat_u(0))
    }
}

/// Returns the initial state of the next episode of each pole.
#[inline(always)]
fn start<S: Simd>(s: S, key: [u32; 2], id: S::U, clock: S::U) -> [S::F; OBSERVATION] {
    let next = s.shr_u(s.add_u(clock, s.splat_u(1 << STEP_BITS)), STEP_BITS);
    let words = rng::hash(s, key, [id, next]);
    let mut start = [s.splat(0.0); OBSERVATION];
    for i in 0..OBSERVATION {
        start[i] = s.mul(s.f32_from_i32(words[i]), s.splat(SPREAD));
    }
    start
}

/// Maximum θ² in an unfinished episode. The short polynomials of [`euler`] are accurate up to this value. Each polynomial is a truncated
/// series in which lower powers approximate the first omitted term, so the error has both signs.
const SQUARE: f64 = THETA_LIMIT * THETA_LIMIT;

/// Returns the state after a step as [`CartPole::step`] takes it, without external forces. `force` is the force of the action divided by
/// the total mass.
#[inline(always)]
fn euler<S: Simd>(s: S, [x, v, theta, w]: [S::F; OBSERVATION], force: S::F) -> [S::F; OBSERVATION] {
    let c = |value: f64| s.splat(value as f32);
    // For θ² ≤ q = SQUARE, θ⁷ ≈ 0.85·q·θ⁵ and θ⁶ ≈ 3/2·q·θ⁴ - 9/16·q²·θ². The error of the sine is below 1e-9, that of the cosine below
    // 1e-8.
    let square = s.mul(theta, theta);
    let series = s.mul_add(square, c(1.0 / 120.0 - 0.85 * SQUARE / 5040.0), c(-1.0 / 6.0));
    let sin = s.mul_add(s.mul(square, theta), series, theta);
    let quartic = c(1.0 / 24.0 - 1.5 * SQUARE / 720.0);
    let series = s.mul_add(square, quartic, c(-0.5 + 9.0 / 16.0 * SQUARE * SQUARE / 720.0));
    let cos = s.mul_add(square, series, c(1.0));

    let push = s.mul_add(s.mul(c(POLE_MOMENT / MASS), s.mul(w, w)), sin, force);
    let torque = s.neg_mul_add(cos, push, s.mul(c(GRAVITY), sin));
    let inertia = s.neg_mul_add(s.mul(cos, cos), c(HALF_LENGTH * MASS_POLE / MASS), c(HALF_LENGTH * 4.0 / 3.0));
    let theta_acc = s.div(torque, inertia);
    let x_acc = s.neg_mul_add(s.mul(c(POLE_MOMENT / MASS), theta_acc), cos, push);
    let tau = c(STEP_S);
    [s.mul_add(tau, v, x), s.mul_add(tau, x_acc, v), s.mul_add(tau, w, theta), s.mul_add(tau, theta_acc, w)]
}

/// Returns the names and values of the constants that the WGSL text uses.
fn constants() -> Vec<(&'static str, f64)> {
    let q = SQUARE;
    // EASE_0, EASE_2 and EASE_4 are the coefficients of θ⁰, θ² and θ⁴ in a polynomial that approximates 1 / (a - b·cos²θ), the reciprocal
    // of the inertia, with r = b/(a - b).
    let (a, b) = (HALF_LENGTH * 4.0 / 3.0, HALF_LENGTH * MASS_POLE / MASS);
    let r = b / (a - b);
    let last = -(2.0 / 45.0 * r + 2.0 / 3.0 * r * r + r * r * r);
    let ease = |c: f64| c / (a - b);
    let derived = [
        ("SPREAD", f64::from(SPREAD)),
        ("PUSH", FORCE / MASS),
        ("POLE_SHARE", POLE_MOMENT / MASS),
        ("SIN_3", -1.0 / 6.0),
        ("SIN_5", 1.0 / 120.0 - 0.85 * q / 5040.0),
        ("COS_2", -0.5 + 9.0 / 16.0 * q * q / 720.0),
        ("COS_4", 1.0 / 24.0 - 1.5 * q / 720.0),
        ("EASE_0", ease(1.0 + last * q * q * q / 32.0)),
        ("EASE_2", ease(-r - 9.0 / 16.0 * last * q * q)),
        ("EASE_4", ease(r / 3.0 + r * r + 1.5 * last * q)),
    ];
    named![GRAVITY, STEP_S, X_LIMIT, THETA_LIMIT].into_iter().chain(derived).collect()
}
