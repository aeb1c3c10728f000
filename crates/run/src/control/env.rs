//! One environment for callers outside of a run, with plain numbers as input and output. It is computed by the f64 reference
//! implementation. A step before a reset, or after the end of an episode, is an error.

use serde::Serialize;
pub use worlds::control::{Action, Actions, Spec};
use worlds::control::{World64, WorldError};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transition {
    pub obs: Vec<f64>,
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
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

/// An environment, and whether its episode has begun or ended.
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
    pub fn new(id: &str) -> Result<Env, EnvError> {
        let unknown = || EnvError::Unknown { id: id.into(), known: worlds::control::ids().join(", ") };
        let kind = worlds::control::kind(id).ok_or_else(unknown)?;
        Ok(Env { world: (kind.twin)(), phase: Phase::Fresh })
    }

    pub fn spec(&self) -> &'static Spec {
        self.world.spec()
    }

    /// Begins an episode, determined by the seed, and returns its first observation.
    pub fn reset(&mut self, seed: u32) -> Vec<f64> {
        self.world.reset(seed);
        self.phase = Phase::Running;
        self.world.observation()
    }

    /// Begins an episode in the given state (Gymnasium's internal state), as if `elapsed` steps had been made.
    pub fn reset_to(&mut self, state: &[f64], elapsed: u32) -> Result<Vec<f64>, EnvError> {
        self.world.set_state(state, elapsed)?;
        self.phase = Phase::Running;
        Ok(self.world.observation())
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
        Ok(Transition { obs: self.world.observation(), reward: step.reward, terminated: step.terminated, truncated: step.truncated })
    }
}

/// Specifications of all environments.
pub fn specs() -> Vec<&'static Spec> {
    worlds::control::kinds().iter().map(|kind| kind.spec).collect()
}
