//! Single environments in f64, stepped one at a time through the trait [`World64`]. `World64::set_state` and `World64::step` return an
//! error for an invalid state or action, and never panic. The caller must reset the environment after the end of an episode.

use super::fault::{FailedState, WorldFault};
use super::shape::Shape;
use math::Rng;
use std::borrow::Cow;
use std::marker::PhantomData;

/// Result of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step64 {
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
}

/// Valid actions of an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Actions {
    /// Discrete actions 0 to n - 1; the value is n.
    Choices(u32),
    /// `count` real numbers, each from `low` to `high`. The rules clip other numbers to this range.
    Box { count: u32, low: f64, high: f64 },
}

impl Actions {
    /// Returns the number of values in an action; 1 for a discrete action, which is an index.
    pub fn numbers(self) -> usize {
        match self {
            Actions::Choices(_) => 1,
            Actions::Box { count, .. } => count as usize,
        }
    }
}

/// An action: an index or real numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Choice(u32),
    Levels(Vec<f64>),
}

/// A text that is either a constant of the program or created at run time.
pub type Text = Cow<'static, str>;

/// Creates a constant list of [`Text`]s.
#[macro_export]
macro_rules! texts {
    ($($text:literal),* $(,)?) => {{
        const TEXTS: &[$crate::control::Text] = &[$(std::borrow::Cow::Borrowed($text)),*];
        std::borrow::Cow::Borrowed(TEXTS)
    }};
}

/// Constant properties of an environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    pub id: Text,
    pub summary: Text,
    pub actions: Actions,
    /// Names of the discrete actions; empty if an action consists of real numbers.
    pub choices: Cow<'static, [Text]>,
    /// Names of the numbers in a state, with their units.
    pub state: Cow<'static, [Text]>,
    pub observation: Cow<'static, [Text]>,
    /// Number of steps after which an episode is truncated.
    pub step_limit: u32,
    /// Mean return over a hundred episodes at which the task counts as solved. Infinite if no return counts as solved.
    pub solved_at: f64,
    /// Approximate lowest and highest return of an episode, for a chart axis.
    pub returns: [f64; 2],
}

/// Reason why a state or an action was rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    #[error("a state of {id} has {} numbers ({}); pass exactly these", state.len(), state.join(", "))]
    StateLength { id: Text, state: Cow<'static, [Text]> },
    #[error("the numbers of a state must be within ±{LARGEST}; pass smaller numbers")]
    StateSize,
    #[error(
        "the numbers are no state of {id}: integers are whole numbers, bools are 0 or 1, and `observe` and `mask` give no error; pass the \
         numbers of an earlier state"
    )]
    State { id: Text },
    #[error("an episode of {id} ends at step {limit}; pass a smaller elapsed step")]
    Elapsed { id: Text, limit: u32 },
    #[error(transparent)]
    Fault(#[from] WorldFault),
    #[error("an action of {id} is an integer from 0 to {}; pass one of them", count.saturating_sub(1))]
    Choice { id: Text, count: u32 },
    #[error("an action of {id} has the length {count}, each number clipped to {low} to {high}; pass numbers within ±{LARGEST}")]
    Box { id: Text, count: u32, low: f64, high: f64 },
}

/// Maximum permitted absolute value of a number in an action or a state. Larger values have no meaning, and their powers could overflow.
const LARGEST: f64 = 1e6;

/// Inputs of a step besides state and action.
#[derive(Clone, Copy)]
pub struct Moment {
    /// Number of steps already taken in this episode.
    pub steps: u32,
    /// Two horizontal external forces, N. Only CartPole uses them: the first force acts on the cart, the second on the tip of the pole.
    pub forces: [f64; 2],
}

/// Rules of one environment in f64. The state, the action and the [`Moment`] determine a step.
pub trait Twin<const STATE: usize, const ACTION: usize = 1>: Send + Sync + 'static {
    const SPEC: &'static Spec;

    /// Returns the observation of a state.
    fn show(state: &[f64; STATE]) -> Vec<f64> {
        state.to_vec()
    }
    /// Draws the initial state of an episode. `uniform(low, high)` returns a random number from `low` to `high`.
    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; STATE];
    /// Takes one step. Returns the reward, and true if the episode terminates. A discrete action is the index of a choice.
    fn step(state: &mut [f64; STATE], action: [f64; ACTION], moment: Moment) -> (f64, bool);
}

/// One environment in f64 with the rules `T`.
pub struct Single<T, const STATE: usize, const ACTION: usize = 1> {
    pub state: [f64; STATE],
    /// Number of steps taken in this episode.
    pub steps: u32,
    rules: PhantomData<T>,
}

impl<T: Twin<STATE, ACTION>, const STATE: usize, const ACTION: usize> Single<T, STATE, ACTION> {
    /// Creates an environment at the start of the episode that the seed determines.
    pub fn new(seed: u32) -> Self {
        let mut single = Self::at([0.0; STATE]);
        single.reset(seed);
        single
    }

    /// Creates an environment at the start of an episode with the initial state `state`.
    pub fn at(state: [f64; STATE]) -> Self {
        Self { state, steps: 0, rules: PhantomData }
    }
}

/// One environment of any kind in f64.
pub trait World64: Send + Sync {
    fn spec(&self) -> &Spec;
    fn state(&self) -> &[f64];
    fn observation(&self) -> Vec<f64>;

    /// Returns one flag per choice, which is true if the choice is permitted in the current state. Returns an empty list if all choices are
    /// always permitted.
    fn permitted(&self) -> Vec<bool> {
        Vec::new()
    }

    /// Starts the episode that the seed determines. Gymnasium draws a different initial state from the same seed.
    fn reset(&mut self, seed: u32);

    /// Sets the state, and sets the number of steps taken in the episode to `elapsed`. Returns an error if the values are invalid.
    fn set_state(&mut self, new: &[f64], elapsed: u32) -> Result<(), WorldError>;

    /// Restores the state before a failed step. An environment with user-written rules (see `script`) also restores the seed and the
    /// numbers that determine the random draws, so the failed action fails again.
    fn set_failed(&mut self, failed: &FailedState) -> Result<(), WorldError> {
        let state: Vec<f64> = failed.state.iter().map(|&x| x.into()).collect();
        self.set_state(&state, failed.steps())
    }

    /// Returns the error that the rules raised in the latest step; `None` without an error. After an error, the environment keeps the state
    /// before this step.
    fn fault(&self) -> Option<WorldFault> {
        None
    }

    /// Draws the picture of the current state; see [`Vector::draw`](super::Vector::draw).
    fn draw(&mut self) -> Result<Vec<Shape>, WorldFault> {
        Ok(Vec::new())
    }

    /// Takes one step. The action must be valid; a discrete action is the index of a choice. `forces` are [`Moment::forces`].
    fn advance(&mut self, action: &[f64], forces: [f64; 2]) -> Step64;

    /// Takes one step, or returns an error if the action is invalid or the rules raise an error. A step never starts a new episode.
    fn step(&mut self, action: Action) -> Result<Step64, WorldError> {
        let id = self.spec().id.clone();
        let fits = |levels: &[f64], count| levels.len() == count as usize && levels.iter().all(|level| level.abs() <= LARGEST);
        let step = match (self.spec().actions, action) {
            (Actions::Choices(count), Action::Choice(choice)) if choice < count => self.advance(&[choice.into()], [0.0; 2]),
            (Actions::Box { count, .. }, Action::Levels(levels)) if fits(&levels, count) => self.advance(&levels, [0.0; 2]),
            (Actions::Choices(count), _) => return Err(WorldError::Choice { id, count }),
            (Actions::Box { count, low, high }, _) => return Err(WorldError::Box { id, count, low, high }),
        };
        self.fault().map_or(Ok(step), |fault| Err(fault.into()))
    }
}

impl<T: Twin<STATE, ACTION>, const STATE: usize, const ACTION: usize> World64 for Single<T, STATE, ACTION> {
    fn spec(&self) -> &Spec {
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
        let Spec { id, state, step_limit: limit, .. } = T::SPEC;
        let new: [f64; STATE] = new.try_into().map_err(|_| WorldError::StateLength { id: id.clone(), state: state.clone() })?;
        // The comparison rejects NaN too.
        if !new.iter().all(|x| x.abs() <= LARGEST) {
            return Err(WorldError::StateSize);
        }
        if elapsed >= *limit {
            return Err(WorldError::Elapsed { id: id.clone(), limit: *limit });
        }
        (self.state, self.steps) = (new, elapsed);
        Ok(())
    }

    fn advance(&mut self, action: &[f64], forces: [f64; 2]) -> Step64 {
        let mut numbers = [0.0; ACTION];
        numbers.iter_mut().zip(action).for_each(|(to, &number)| *to = number);
        let (reward, terminated) = T::step(&mut self.state, numbers, Moment { steps: self.steps, forces });
        self.steps = self.steps.saturating_add(1);
        Step64 { reward, terminated, truncated: self.steps >= T::SPEC.step_limit }
    }
}

/// Number of the random stream of the initial states. The stream is separate from all other random streams of the same seed.
const STREAM: u32 = 0x5736_3452;
