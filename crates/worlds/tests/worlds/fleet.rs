//! Test fixture: a vector of environments of one kind, with the results of the last step.

use math::Isa;
use worlds::control::{InvalidState, Kind, Vector, kind};

/// Saved environment: its state, the number of steps in its episode, and the number of its earlier episodes.
pub type Saved = (Vec<f32>, u32, u32);

fn of_kind(id: &str) -> &'static Kind {
    kind(id).unwrap_or_else(|| panic!("{id} is not registered"))
}

pub struct Fleet {
    pub kind: &'static Kind,
    pub many: Box<dyn Vector>,
    pub actions: Vec<f32>,
    pub rewards: Vec<f32>,
    pub ended: Vec<u32>,
    reached: Vec<f32>,
}

impl Fleet {
    pub fn new(id: &str, isa: Isa, seed: u32, first: u32, count: usize) -> Fleet {
        Fleet::of(id, (of_kind(id).many)(isa, seed, first, count))
    }

    pub fn of(id: &str, many: Box<dyn Vector>) -> Fleet {
        let kind = of_kind(id);
        let reached = vec![0.0; many.observations().len()];
        let lanes = reached.len() / kind.spec.observation.len();
        Fleet { kind, many, actions: vec![0.0; lanes], rewards: vec![0.0; lanes], ended: vec![0; lanes], reached }
    }

    /// Steps all environments with `actions`.
    pub fn step(&mut self) {
        self.many.step(&self.actions, &mut self.reached, &mut self.rewards, &mut self.ended);
    }

    /// Steps all environments. `act` returns the action of an environment for its index and observation.
    pub fn step_by(&mut self, act: impl Fn(usize, &[f32]) -> f32) {
        for env in 0..self.many.count() {
            self.actions[env] = act(env, &self.shown(env));
        }
        self.step();
    }

    fn seen(&self, panels: &[f32], env: usize) -> Vec<f32> {
        let features = self.kind.spec.observation.len();
        (0..features).map(|i| panels[(env / 32 * features + i) * 32 + env % 32]).collect()
    }

    pub fn shown(&self, env: usize) -> Vec<f32> {
        self.seen(self.many.observations(), env)
    }

    pub fn reached(&self, env: usize) -> Vec<f32> {
        self.seen(&self.reached, env)
    }

    pub fn state(&self, env: usize) -> Saved {
        let mut state = vec![0.0; self.many.state_len()];
        let (steps, episodes) = self.many.environment(env, &mut state);
        (state, steps, episodes)
    }

    pub fn states(&self) -> Vec<Saved> {
        (0..self.many.count()).map(|env| self.state(env)).collect()
    }

    pub fn set(&mut self, env: usize, (state, steps, episodes): &Saved) -> Result<(), InvalidState> {
        self.many.set_environment(env, state, *steps, *episodes)
    }
}

pub fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}
