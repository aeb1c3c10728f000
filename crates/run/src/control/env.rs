//! A single environment for callers that have no run. Input and output are plain numbers. The f64 reference implementation of the
//! environment computes the steps. A step before the first reset, or after the end of an episode, is an error.

use serde::Serialize;
pub use worlds::control::{Action, Actions, COLOURS, Kind, Shape, Spec, Text};
use worlds::control::{World64, WorldError};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transition {
    pub obs: Vec<f64>,
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
    /// One flag per choice: true if the choice is permitted in the state after the step. Empty if all choices are always permitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mask: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EnvError {
    #[error("there is no environment called '{id}'. Choose one of: {known}")]
    Unknown { id: String, known: String },
    #[error("no episode has begun; reset first")]
    Fresh,
    #[error("the episode has ended; reset to begin another")]
    Over,
    #[error(transparent)]
    World(#[from] WorldError),
}

/// An environment, which also stores whether an episode is in progress.
pub struct Env {
    world: Box<dyn World64>,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Fresh,
    Running,
    Over,
}

impl Env {
    /// Creates a built-in environment.
    pub fn new(id: &str) -> Result<Env, EnvError> {
        let unknown = || EnvError::Unknown { id: id.into(), known: worlds::control::ids().join(", ") };
        Ok(Env::of(worlds::control::kind(id).ok_or_else(unknown)?))
    }

    pub fn of(kind: &Kind) -> Env {
        Env { world: (kind.twin)(), phase: Phase::Fresh }
    }

    pub fn spec(&self) -> &Spec {
        self.world.spec()
    }

    /// Begins the episode that the seed determines. Returns the first observation.
    pub fn reset(&mut self, seed: u32) -> Result<Vec<f64>, EnvError> {
        self.phase = Phase::Fresh;
        self.world.reset(seed);
        if let Some(fault) = self.world.fault() {
            return Err(EnvError::World(fault.into()));
        }
        self.phase = Phase::Running;
        Ok(self.world.observation())
    }

    /// Returns one flag per choice, true if the choice is permitted now. Returns an empty list if all choices are always permitted.
    pub fn mask(&self) -> Vec<bool> {
        self.world.permitted()
    }

    /// Begins an episode in the state `state`, as if `elapsed` steps had been made. `Spec::state` names the numbers of a state. Returns the
    /// observation of this state.
    pub fn reset_to(&mut self, state: &[f64], elapsed: u32) -> Result<Vec<f64>, EnvError> {
        self.world.set_state(state, elapsed)?;
        self.phase = Phase::Running;
        Ok(self.world.observation())
    }

    /// Draws the picture of the current state.
    pub fn draw(&mut self) -> Result<Vec<Shape>, EnvError> {
        self.world.draw().map_err(|fault| EnvError::World(fault.into()))
    }

    pub fn step(&mut self, action: Action) -> Result<Transition, EnvError> {
        match self.phase {
            Phase::Fresh => return Err(EnvError::Fresh),
            Phase::Over => return Err(EnvError::Over),
            Phase::Running => {}
        }
        let step = self.world.step(action)?;
        if step.terminated || step.truncated {
            self.phase = Phase::Over;
        }
        let (obs, mask) = (self.world.observation(), self.mask());
        Ok(Transition { obs, reward: step.reward, terminated: step.terminated, truncated: step.truncated, mask })
    }
}

/// Returns the specifications of all environments.
pub fn specs() -> Vec<&'static Spec> {
    worlds::control::kinds().into_iter().map(|kind| &*kind.spec).collect()
}
