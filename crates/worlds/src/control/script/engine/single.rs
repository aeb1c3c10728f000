//! One environment of a file, stepped through the trait [`World64`]. Its numbers have the precision of the engine, f32.

use super::super::program::Type;
use super::fleet::Fleet;
use super::world::World;
use crate::control::fault::{FailedState, WorldFault};
use crate::control::shape::Shape;
use crate::control::vector::{TERMINATED, Vector};
use crate::control::world::{Spec, Step64, World64, WorldError};
use math::{Isa, PANEL};
use std::sync::Arc;

/// One environment. A step never starts a new episode.
pub struct One {
    spec: Arc<Spec>,
    /// The engine with one environment, in lane 0.
    fleet: Fleet,
    /// Elements of all attributes, in the order of the attributes' names.
    state: Vec<f64>,
    /// Number of steps taken in this episode.
    steps: u32,
    /// Error of the latest step, or of the start of the episode.
    fault: Option<WorldFault>,
    actions: Vec<f32>,
    reached: Vec<f32>,
}

impl One {
    /// Creates an environment at the start of episode 0 of environment 0 of seed 0.
    pub fn new(world: &World, spec: &Arc<Spec>) -> One {
        let mut one = One {
            spec: spec.clone(),
            fleet: world.fleet(Isa::best(), 0, 0, 1),
            state: Vec::new(),
            steps: 0,
            fault: None,
            actions: vec![0.0; world.action_len() * PANEL],
            reached: vec![0.0; world.observation_len() * PANEL],
        };
        one.reset(0);
        one
    }

    /// Reads the state from the engine.
    fn read(&mut self) {
        let Self { fleet, state, .. } = self;
        state.clear();
        state.extend(fleet.world().attributes.iter().flat_map(|attribute| fleet.elements(0, attribute)));
    }

    /// Converts the elements of all attributes to a saved state. Returns `None` if an element of an integer attribute is not an integer of
    /// 32 bits.
    fn saved(&self, elements: &[f64]) -> Option<Vec<f32>> {
        let types = self.fleet.world().attributes.iter().flat_map(|attribute| std::iter::repeat_n(attribute.ty, attribute.len));
        let mut saved = Vec::new();
        for (ty, &x) in types.zip(elements) {
            if ty == Type::Int {
                let whole = x as i32;
                if f64::from(whole) != x {
                    return None;
                }
                saved.extend([(whole >> 16) as f32, (whole & 0xFFFF) as f32]);
            } else {
                saved.push(x as f32);
            }
        }
        Some(saved)
    }
}

impl World64 for One {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn observation(&self) -> Vec<f64> {
        self.fleet.observations().iter().step_by(PANEL).map(|x| f64::from(*x)).collect()
    }

    fn permitted(&self) -> Vec<bool> {
        self.fleet.masks().iter().step_by(PANEL).map(|x| *x != 0.0).collect()
    }

    fn reset(&mut self, seed: u32) {
        self.fleet.reset(seed, 0);
        (self.steps, self.fault) = (0, self.fleet.fault());
        self.read();
    }

    fn set_state(&mut self, new: &[f64], elapsed: u32) -> Result<(), WorldError> {
        let Spec { id, state, step_limit: limit, .. } = &*self.spec;
        if new.len() != state.len() {
            return Err(WorldError::StateLength { id: id.clone(), state: state.clone() });
        }
        if elapsed >= *limit {
            return Err(WorldError::Elapsed { id: id.clone(), limit: *limit });
        }
        let impossible = || WorldError::State { id: id.clone() };
        let saved = self.saved(new).ok_or_else(impossible)?;
        self.fleet.set_environment(0, &saved, elapsed, 0).map_err(|_| impossible())?;
        (self.steps, self.fault) = (elapsed, None);
        self.read();
        Ok(())
    }

    fn set_failed(&mut self, failed: &FailedState) -> Result<(), WorldError> {
        let FailedState { seed, fault, state } = failed;
        self.fleet.reset(*seed, fault.env);
        let impossible = |_| WorldError::State { id: self.spec.id.clone() };
        self.fleet.set_environment(0, state, failed.steps(), fault.episode).map_err(impossible)?;
        (self.steps, self.fault) = (failed.steps(), None);
        self.read();
        Ok(())
    }

    fn fault(&self) -> Option<WorldFault> {
        self.fault.clone()
    }

    fn draw(&mut self) -> Result<Vec<Shape>, WorldFault> {
        self.fleet.shapes(0)
    }

    fn advance(&mut self, action: &[f64], _: [f64; 2]) -> Step64 {
        // An episode whose start failed has no state from which a step is possible.
        if self.fault.as_ref().is_some_and(|fault| fault.step == 0) {
            return Step64 { reward: 0.0, terminated: false, truncated: false };
        }
        for (k, x) in action.iter().take(self.actions.len() / PANEL).enumerate() {
            self.actions[k * PANEL] = *x as f32;
        }
        let (mut rewards, mut ended) = ([0.0; PANEL], [0; PANEL]);
        self.fault = self.fleet.step_once(&self.actions, &mut self.reached, &mut rewards, &mut ended, self.steps);
        if self.fault.is_none() {
            self.steps = self.steps.saturating_add(1);
        }
        self.read();
        let truncated = self.fault.is_none() && self.steps >= self.spec.step_limit;
        Step64 { reward: rewards[0].into(), terminated: ended[0] & TERMINATED != 0, truncated }
    }
}
