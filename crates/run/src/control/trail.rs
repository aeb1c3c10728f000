//! What the first environments went through since it was last asked for, for a drawing.

use super::protocol::Frame;
use learn::control::{Ppo, PpoConfig, RECORDED_ENVS};
use math::PANEL;
use worlds::control::Kind;

/// Steps that are kept until they are asked for.
const STEPS: usize = 128;

/// It keeps nothing until it is asked for the first time, and at most 128 steps from each time: a run without a drawing pays for
/// neither memory nor copies.
#[derive(Default)]
pub(super) struct Trail {
    is_watched: bool,
    steps: usize,
    observations: Vec<f32>,
    ended: Vec<u8>,
    /// Steps that every environment had taken when it looked last.
    seen: u64,
}

impl Trail {
    /// From here on.
    pub fn new(ppo: &Ppo) -> Trail {
        Trail { seen: ppo.recorded().now, ..Trail::default() }
    }

    /// What it takes at most.
    pub fn bytes(kind: &Kind, config: &PpoConfig) -> u64 {
        let envs = RECORDED_ENVS.min(config.envs).next_multiple_of(PANEL);
        (STEPS * envs * (size_of::<f32>() * kind.spec.observation.len() + 1)) as u64
    }

    /// Takes up the steps since it looked last, as far as there is room. Behind each slice of the learner: the next one may begin
    /// another rollout.
    pub fn follow(&mut self, ppo: &mut Ppo) {
        let recorded = ppo.recorded();
        if self.is_recording() {
            let from = (self.seen.saturating_sub(recorded.first) as usize).min(recorded.steps);
            let to = recorded.steps.min(from + STEPS - self.steps);
            recorded.read(from..to, &mut self.observations, &mut self.ended);
            self.steps += to - from;
        }
        self.seen = recorded.now;
        ppo.record(self.is_recording());
    }

    /// Takes another step.
    fn is_recording(&self) -> bool {
        self.is_watched && self.steps < STEPS
    }

    /// What it has, to begin anew.
    pub fn take(&mut self, ppo: &mut Ppo) -> Frame {
        let recorded = ppo.recorded();
        let frame = Frame {
            shown: recorded.envs as u32,
            steps: self.steps as u32,
            features: recorded.features as u32,
            observations: self.observations.clone(),
            ended: self.ended.clone(),
        };
        if !self.is_watched {
            self.observations.reserve_exact(STEPS * recorded.step_len());
            self.ended.reserve_exact(STEPS * recorded.envs);
        }
        (self.is_watched, self.steps) = (true, 0);
        self.observations.clear();
        self.ended.clear();
        ppo.record(true);
        frame
    }
}
