//! Many environments of one kind in f32, stepped 4, 8 or 16 at a time. When an episode ends, the next episode of the same environment
//! starts in the same step. The trait [`Rules`] contains what differs between kinds. This module handles lanes, panels, the step limit and
//! resets. Steps do not allocate.
//!
//! A panel contains the values of `PANEL` environments. Arrays have the shape `[panels][features][PANEL]`, the input layout of the
//! networks. In the last panel, lanes beyond `count` are stepped too, and callers can ignore their results. An initial state is a function
//! of (seed, environment, episode) and does not depend on the number of lanes or threads.

use super::vector::{InvalidState, LENGTH_SHIFT, TERMINATED, TRUNCATED, Vector};
use super::world::Twin;
use math::{Buffer, Isa, Kernel, PANEL, Rng, Simd, dispatch, rng};
use std::marker::PhantomData;

/// Vectorized rules of one kind of environment. Mark every method with a parameter `s` as `#[inline(always)]`, because kernels must inline
/// these methods.
pub trait Rules<const STATE: usize, const OBSERVATION: usize, const ACTION: usize = 1>: Twin<STATE, ACTION> {
    /// Number of the random stream of the initial states. The stream is separate from all other random streams of the same seed.
    const STREAM: u32;

    /// Takes one step. `shown` is the observation of `state`. Returns the new state, the reward and the mask of lanes whose episode
    /// terminates.
    fn advance<S: Simd>(s: S, state: [S::F; STATE], shown: [S::F; OBSERVATION], action: [S::F; ACTION]) -> ([S::F; STATE], S::F, S::M);
    fn observe<S: Simd>(s: S, state: [S::F; STATE]) -> [S::F; OBSERVATION];
    /// Computes the initial state of each lane from four random words.
    fn first<S: Simd>(s: S, words: [S::U; 4]) -> [S::F; STATE];
    /// Returns true if an unfinished episode can have this state.
    fn possible(state: [f32; STATE]) -> bool;
}

pub struct Many<R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize = 1> {
    isa: Isa,
    rng: Rng,
    first: u32,
    count: usize,
    /// States, `[panels][STATE][PANEL]`.
    state: Buffer,
    /// Current observations, `[panels][OBSERVATION][PANEL]`.
    shown: Buffer,
    /// Number of steps that each environment has taken in its episode, `[panels][PANEL]`.
    steps: Buffer<u32>,
    /// Number of each environment's earlier episodes, `[panels][PANEL]`.
    episodes: Buffer<u32>,
    rules: PhantomData<R>,
}

impl<R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize> Many<R, STATE, OBSERVATION, ACTION>
where
    R: Rules<STATE, OBSERVATION, ACTION>,
{
    /// Creates environments `first..first + count` of a seed, each at the start of its first episode.
    pub fn new(isa: Isa, seed: u32, first: u32, count: usize) -> Self {
        let lanes = count.div_ceil(PANEL) * PANEL;
        let mut many = Self {
            isa,
            rng: Rng::new(seed, R::STREAM),
            first,
            count,
            state: Buffer::zeros(lanes * STATE),
            shown: Buffer::zeros(lanes * OBSERVATION),
            steps: Buffer::zeros(lanes),
            episodes: Buffer::zeros(lanes),
            rules: PhantomData,
        };
        many.reset(seed, first);
        many
    }
}

impl<R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize> Vector for Many<R, STATE, OBSERVATION, ACTION>
where
    R: Rules<STATE, OBSERVATION, ACTION>,
{
    fn bytes(&self) -> usize {
        let lanes = self.state.len() + self.shown.len() + self.steps.len() + self.episodes.len();
        size_of::<Self>() + 4 * lanes
    }

    fn reset(&mut self, seed: u32, first: u32) {
        self.rng = Rng::new(seed, R::STREAM);
        self.first = first;
        self.steps.fill(0);
        self.episodes.fill(0);
        let Self { isa, state, shown, rng, .. } = self;
        dispatch(*isa, Begin::<R, STATE, OBSERVATION, ACTION> { key: rng.key, first, episode: 0, state, shown, rules: PhantomData });
    }

    fn begin(&mut self, env: usize) {
        let episode = self.episodes[env].wrapping_add(1);
        // The buffers hold one panel; its lane 0 is the environment `env`.
        let (mut state, mut shown) = (vec![0.0; STATE * PANEL], vec![0.0; OBSERVATION * PANEL]);
        let (key, first) = (self.rng.key, self.first.wrapping_add(env as u32));
        let begin =
            Begin::<R, STATE, OBSERVATION, ACTION> { key, first, episode, state: &mut state, shown: &mut shown, rules: PhantomData };
        dispatch(self.isa, begin);
        (0..STATE).for_each(|i| self.state[place::<STATE>(env, i)] = state[i * PANEL]);
        (0..OBSERVATION).for_each(|i| self.shown[place::<OBSERVATION>(env, i)] = shown[i * PANEL]);
        (self.steps[env], self.episodes[env]) = (0, episode);
    }

    fn count(&self) -> usize {
        self.count
    }

    fn observations(&self) -> &[f32] {
        &self.shown
    }

    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        dispatch(self.isa, Advance { many: self, actions, reached, rewards, ended });
    }

    fn state_len(&self) -> usize {
        STATE
    }

    fn environment(&self, env: usize, state: &mut [f32]) -> (u32, u32) {
        state.iter_mut().enumerate().for_each(|(i, x)| *x = self.state[place::<STATE>(env, i)]);
        (self.steps[env], self.episodes[env])
    }

    fn set_environment(&mut self, env: usize, state: &[f32], steps: u32, episodes: u32) -> Result<(), InvalidState> {
        let possible = state.try_into().is_ok_and(R::possible);
        if env >= self.count || steps >= R::SPEC.step_limit || !possible {
            return Err(InvalidState { env: self.first as usize + env, id: R::SPEC.id.clone() });
        }
        state.iter().enumerate().for_each(|(i, &x)| self.state[place::<STATE>(env, i)] = x);
        (self.steps[env], self.episodes[env]) = (steps, episodes);
        dispatch(self.isa, Show { many: self, panel: env / PANEL });
        Ok(())
    }
}

/// Returns the index of feature `i` of the environment `env` in an array of panels.
#[inline(always)]
pub(super) fn place<const FEATURES: usize>(env: usize, i: usize) -> usize {
    (env / PANEL * FEATURES + i) * PANEL + env % PANEL
}

#[inline(always)]
pub(super) fn load<S: Simd, const N: usize>(s: S, from: &[f32], env: usize) -> [S::F; N] {
    let mut x = [s.splat(0.0); N];
    for i in 0..N {
        x[i] = s.load(&from[place::<N>(env, i)..]);
    }
    x
}

#[inline(always)]
pub(super) fn store<S: Simd, const N: usize>(s: S, x: [S::F; N], to: &mut [f32], env: usize) {
    for i in 0..N {
        s.store(x[i], &mut to[place::<N>(env, i)..]);
    }
}

#[inline(always)]
fn words<S: Simd>(s: S, key: [u32; 4], env: u32, episodes: S::U) -> [S::U; 4] {
    let zero = s.splat_u(0);
    rng::threefry(s, key, [s.count_u(env), episodes, zero, zero])
}

struct Begin<'a, R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize> {
    key: [u32; 4],
    first: u32,
    episode: u32,
    state: &'a mut [f32],
    shown: &'a mut [f32],
    rules: PhantomData<R>,
}

impl<R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize> Kernel for Begin<'_, R, STATE, OBSERVATION, ACTION>
where
    R: Rules<STATE, OBSERVATION, ACTION>,
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for env in (0..self.state.len() / STATE).step_by(S::LANES) {
            let words = words(s, self.key, self.first.wrapping_add(env as u32), s.splat_u(self.episode));
            let state = R::first(s, words);
            store(s, state, self.state, env);
            store(s, R::observe(s, state), self.shown, env);
        }
    }
}

/// Kernel that recomputes the observations of one panel.
struct Show<'a, R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize> {
    many: &'a mut Many<R, STATE, OBSERVATION, ACTION>,
    panel: usize,
}

impl<R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize> Kernel for Show<'_, R, STATE, OBSERVATION, ACTION>
where
    R: Rules<STATE, OBSERVATION, ACTION>,
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { many, panel } = self;
        for env in (panel * PANEL..(panel + 1) * PANEL).step_by(S::LANES) {
            let state = load::<S, STATE>(s, &many.state, env);
            store(s, R::observe(s, state), &mut many.shown, env);
        }
    }
}

struct Advance<'a, R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize> {
    many: &'a mut Many<R, STATE, OBSERVATION, ACTION>,
    actions: &'a [f32],
    reached: &'a mut [f32],
    rewards: &'a mut [f32],
    ended: &'a mut [u32],
}

impl<R, const STATE: usize, const OBSERVATION: usize, const ACTION: usize> Kernel for Advance<'_, R, STATE, OBSERVATION, ACTION>
where
    R: Rules<STATE, OBSERVATION, ACTION>,
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        // The slices are local variables, so the compiler can assume that no store changes their pointers.
        let &mut Many { rng: Rng { key }, first, ref mut state, ref mut shown, ref mut steps, ref mut episodes, .. } = self.many;
        let (all, all_shown) = (&mut state[..], &mut shown[..]);
        let (all_steps, all_episodes) = (&mut steps[..], &mut episodes[..]);
        let lanes = all_steps.len();
        assert!(self.actions.len() >= lanes * ACTION && self.rewards.len() >= lanes && self.ended.len() >= lanes);
        assert!(self.reached.len() >= all_shown.len());
        for env in (0..lanes).step_by(S::LANES) {
            let old = load::<S, STATE>(s, all, env);
            let shown = load::<S, OBSERVATION>(s, all_shown, env);
            let (new, reward, terminated) = R::advance(s, old, shown, load::<S, ACTION>(s, self.actions, env));
            let reached = R::observe(s, new);
            store(s, reached, self.reached, env);
            s.store(reward, &mut self.rewards[env..]);

            let zero = s.splat_u(0);
            let steps = s.add_u(s.load_u(&all_steps[env..]), s.splat_u(1));
            let truncated = s.eq_u(steps, s.splat_u(R::SPEC.step_limit));
            let over = s.or_mask(terminated, truncated);
            if s.mask_bits(over) == 0 {
                store(s, new, all, env);
                store(s, reached, all_shown, env);
                s.store_u(steps, &mut all_steps[env..]);
                s.store_u(zero, &mut self.ended[env..]);
                continue;
            }
            let flags = s.add_u(s.select_u(terminated, s.splat_u(TERMINATED), zero), s.select_u(truncated, s.splat_u(TRUNCATED), zero));
            let end = s.or_u(flags, s.shl_u(steps, LENGTH_SHIFT));
            s.store_u(s.select_u(over, end, zero), &mut self.ended[env..]);
            s.store_u(s.select_u(over, zero, steps), &mut all_steps[env..]);

            let episodes = s.load_u(&all_episodes[env..]);
            let episodes = s.select_u(over, s.add_u(episodes, s.splat_u(1)), episodes);
            s.store_u(episodes, &mut all_episodes[env..]);
            let words = words(s, key, first.wrapping_add(env as u32), episodes);
            let fresh = R::first(s, words);
            let mut state = new;
            for i in 0..STATE {
                state[i] = s.select(over, fresh[i], new[i]);
            }
            store(s, state, all, env);
            store(s, R::observe(s, state), all_shown, env);
        }
    }
}

/// Converts a random word to a uniform number from `low` to `low + width`. The multiplication and the addition are not fused, so the bits
/// are the same on every instruction set.
#[inline(always)]
pub fn spread<S: Simd>(s: S, word: S::U, low: f64, width: f64) -> S::F {
    s.add(s.mul(rng::uniform(s, word), s.splat(width as f32)), s.splat(low as f32))
}
