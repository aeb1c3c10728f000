//! What every world is to those who drive it one step at a time: a plain f64 twin behind one trait,
//! found by the name Gymnasium gives it (`kinds`). It refuses what the rules have no answer for, and never
//! panics on it; it knows nothing of what comes before a reset or after an episode's end, which is
//! the driver's to keep.

use math::Rng;
use std::marker::PhantomData;

/// What one step gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step64 {
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
}

/// What an agent may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Actions {
    /// One of so many, counted from 0.
    Choices(u32),
    /// A number, clipped to this range by the rules.
    Range(f64, f64),
}

/// What an agent does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Choice(u32),
    Level(f64),
}

/// What is fixed about a world.
#[derive(Debug, PartialEq)]
pub struct Spec {
    pub id: &'static str,
    pub summary: &'static str,
    pub actions: Actions,
    /// What each choice does; empty where an action is a number.
    pub choices: &'static [&'static str],
    /// The numbers that make up a state, in order, with their units.
    pub state: &'static [&'static str],
    pub observation: &'static [&'static str],
    /// An episode is truncated at this many steps.
    pub step_limit: u32,
    /// The mean return of a hundred episodes from which on the task counts as solved.
    pub solved_at: f64,
    /// About the least and the greatest return of an episode, for an axis.
    pub returns: [f64; 2],
}

/// Why a world did not do as told.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    #[error("a state of {id} is {} numbers ({}); give as many", state.len(), state.join(", "))]
    StateLength { id: &'static str, state: &'static [&'static str] },
    #[error("no number of a state is beyond ±{LARGEST}; give smaller ones")]
    StateSize,
    #[error("an episode of {id} ends at step {limit}; let fewer have elapsed")]
    Elapsed { id: &'static str, limit: u32 },
    #[error("{id} takes a whole number from 0 to {}; choose one of them", count.saturating_sub(1))]
    Choice { id: &'static str, count: u32 },
    #[error("{id} takes one number, used from {low} to {high}; give one, not beyond ±{LARGEST}")]
    Range { id: &'static str, low: f64, high: f64 },
}

/// Larger numbers mean nothing in any world, and their squares would leave f64 sooner or later.
const LARGEST: f64 = 1e6;

/// What a step depends on beside state and action.
#[derive(Clone, Copy)]
pub struct Moment {
    /// Steps taken in this episode before.
    pub steps: u32,
    /// Two forces more, N, where a world says what they push: CartPole's cart and the tip of its pole.
    pub forces: [f64; 2],
}

/// The rules of one environment in f64, with Gymnasium's own internal state.
pub trait Twin<const STATE: usize>: Send + Sync + 'static {
    const SPEC: &'static Spec;

    fn show(state: &[f64; STATE]) -> Vec<f64> {
        state.to_vec()
    }
    /// Where an episode begins; `uniform(low, high)` draws a number.
    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; STATE];
    /// One step: the reward, and whether it terminates. `action` is one of [`Spec::actions`]; a choice is a whole number.
    fn step(state: &mut [f64; STATE], action: f64, moment: Moment) -> (f64, bool);
}

/// One environment by these rules.
pub struct Single<T, const STATE: usize> {
    pub state: [f64; STATE],
    /// Steps taken in this episode.
    pub steps: u32,
    rules: PhantomData<T>,
}

impl<T: Twin<STATE>, const STATE: usize> Single<T, STATE> {
    /// At the first episode of a seed.
    pub fn new(seed: u32) -> Self {
        let mut single = Self::at([0.0; STATE]);
        single.reset(seed);
        single
    }

    /// At the beginning of an episode in this state.
    pub fn at(state: [f64; STATE]) -> Self {
        Self { state, steps: 0, rules: PhantomData }
    }
}

/// One environment, whatever its rules.
pub trait World64: Send + Sync {
    fn spec(&self) -> &'static Spec;
    fn state(&self) -> &[f64];
    fn observation(&self) -> Vec<f64>;

    /// A new episode, the same for the same seed (not the one NumPy would draw from it).
    fn reset(&mut self, seed: u32);

    /// An episode taken up at a state, `elapsed` steps after its beginning.
    fn set_state(&mut self, new: &[f64], elapsed: u32) -> Result<(), WorldError>;

    /// One step by the rules, of an action that they know, under [`Moment::forces`].
    fn advance(&mut self, action: f64, forces: [f64; 2]) -> Step64;

    /// One step; it does not reset itself.
    fn step(&mut self, action: Action) -> Result<Step64, WorldError> {
        let id = self.spec().id;
        match (self.spec().actions, action) {
            (Actions::Choices(count), Action::Choice(choice)) if choice < count => Ok(self.advance(f64::from(choice), [0.0; 2])),
            (Actions::Range(..), Action::Level(level)) if level.abs() <= LARGEST => Ok(self.advance(level, [0.0; 2])),
            (Actions::Choices(count), _) => Err(WorldError::Choice { id, count }),
            (Actions::Range(low, high), _) => Err(WorldError::Range { id, low, high }),
        }
    }
}

impl<T: Twin<STATE>, const STATE: usize> World64 for Single<T, STATE> {
    fn spec(&self) -> &'static Spec {
        T::SPEC
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn observation(&self) -> Vec<f64> {
        T::show(&self.state)
    }

    fn reset(&mut self, seed: u32) {
        let mut numbers = Rng::new(seed, STREAM).sequence(0);
        let mut uniform = |low: f64, high: f64| {
            let (high_bits, low_bits) = (u64::from(numbers.word()), u64::from(numbers.word()));
            let unit = (high_bits << 21 | low_bits >> 11) as f64 / (1u64 << 53) as f64;
            low + (high - low) * unit
        };
        (self.state, self.steps) = (T::begin(&mut uniform), 0);
    }

    fn set_state(&mut self, new: &[f64], elapsed: u32) -> Result<(), WorldError> {
        let &Spec { id, state, step_limit: limit, .. } = T::SPEC;
        let new: [f64; STATE] = new.try_into().map_err(|_| WorldError::StateLength { id, state })?;
        // NaN is not within either.
        if !new.iter().all(|x| x.abs() <= LARGEST) {
            return Err(WorldError::StateSize);
        }
        if elapsed >= limit {
            return Err(WorldError::Elapsed { id, limit });
        }
        (self.state, self.steps) = (new, elapsed);
        Ok(())
    }

    fn advance(&mut self, action: f64, forces: [f64; 2]) -> Step64 {
        let (reward, terminated) = T::step(&mut self.state, action, Moment { steps: self.steps, forces });
        self.steps = self.steps.saturating_add(1);
        Step64 { reward, terminated, truncated: self.steps >= T::SPEC.step_limit }
    }
}

/// What first states are drawn from; apart from every other stream of the same seed.
const STREAM: u32 = 0x5736_3452;
