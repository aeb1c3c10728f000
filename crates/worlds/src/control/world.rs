//! What every world is to those who drive it one step at a time: a plain f64 twin behind one trait,
//! found by the name Gymnasium gives it (`kinds`). It refuses what the rules have no answer for, and never
//! panics on it; it knows nothing of what comes before a reset or after an episode's end, which is
//! the driver's to keep.

use math::Rng;

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

/// One environment in f64, with Gymnasium's own internal state.
pub trait World64: Send + Sync {
    fn spec(&self) -> &'static Spec;
    fn state(&self) -> &[f64];
    fn observation(&self) -> Vec<f64>;
    /// The state, and the steps taken in this episode.
    fn parts(&mut self) -> (&mut [f64], &mut u32);
    /// Where an episode begins; `uniform(low, high)` draws a number.
    fn first_state(&self, uniform: &mut dyn FnMut(f64, f64) -> f64) -> Vec<f64>;
    /// One step by the rules. `action` is one of [`Spec::actions`]; a choice is a whole number.
    fn advance(&mut self, action: f64) -> Step64;

    /// One step under two forces more, N, where a world says what they push: CartPole's cart and the tip of
    /// its pole.
    fn advance_pushed(&mut self, action: f64, _forces: [f64; 2]) -> Step64 {
        self.advance(action)
    }

    /// A new episode, the same for the same seed (not the one NumPy would draw from it).
    fn reset(&mut self, seed: u32) {
        let mut numbers = Rng::new(seed, STREAM).sequence(0);
        let mut uniform = |low: f64, high: f64| {
            let (high_bits, low_bits) = (u64::from(numbers.word()), u64::from(numbers.word()));
            let unit = (high_bits << 21 | low_bits >> 11) as f64 / (1u64 << 53) as f64;
            low + (high - low) * unit
        };
        let first = self.first_state(&mut uniform);
        let (state, elapsed) = self.parts();
        state.copy_from_slice(&first);
        *elapsed = 0;
    }

    /// An episode taken up at a state, `elapsed` steps after its beginning.
    fn set_state(&mut self, new: &[f64], elapsed: u32) -> Result<(), WorldError> {
        let &Spec { id, state, step_limit: limit, .. } = self.spec();
        if new.len() != state.len() {
            return Err(WorldError::StateLength { id, state });
        }
        // NaN is not within either.
        if !new.iter().all(|x| x.abs() <= LARGEST) {
            return Err(WorldError::StateSize);
        }
        if elapsed >= limit {
            return Err(WorldError::Elapsed { id, limit });
        }
        let (state, steps) = self.parts();
        state.copy_from_slice(new);
        *steps = elapsed;
        Ok(())
    }

    /// One step; it does not reset itself.
    fn step(&mut self, action: Action) -> Result<Step64, WorldError> {
        let id = self.spec().id;
        match (self.spec().actions, action) {
            (Actions::Choices(count), Action::Choice(choice)) if choice < count => Ok(self.advance(f64::from(choice))),
            (Actions::Range(..), Action::Level(level)) if level.abs() <= LARGEST => Ok(self.advance(level)),
            (Actions::Choices(count), _) => Err(WorldError::Choice { id, count }),
            (Actions::Range(low, high), _) => Err(WorldError::Range { id, low, high }),
        }
    }
}

/// What first states are drawn from; apart from every other stream of the same seed.
const STREAM: u32 = 0x5736_3452;
