//! Recorder of the steps of the first training environments, for a drawing.

use super::protocol::Frame;
use learn::control::{Ppo, PpoConfig, RECORDED_ENVS};
use math::PANEL;
use worlds::control::Kind;

/// Maximum number of steps that are recorded between two calls of [`Trail::take`].
const STEPS: usize = 128;

/// Recorder of steps. It records nothing before the first call of [`Trail::take`], and at most [`STEPS`] steps between two calls. If
/// nothing is drawn, the recorder therefore uses no memory and copies nothing.
#[derive(Default)]
pub(super) struct Trail {
    is_watched: bool,
    steps: usize,
    observations: Vec<f32>,
    ended: Vec<u8>,
    /// Number of steps that each environment had made at the last call of [`Trail::follow`].
    seen: u64,
}

impl Trail {
    /// Creates a recorder that ignores all steps that the learner has taken so far.
    pub fn new(ppo: &Ppo) -> Trail {
        Trail { seen: ppo.recorded().now, ..Trail::default() }
    }

    /// Returns the maximum size of the recorder in bytes.
    pub fn bytes(kind: &Kind, config: &PpoConfig) -> u64 {
        let envs = RECORDED_ENVS.min(config.envs).next_multiple_of(PANEL);
        (STEPS * envs * (size_of::<f32>() * kind.spec.observation.len() + 1)) as u64
    }

    /// Copies the learner's steps since the previous call, until [`STEPS`] steps are recorded. Must be called after each slice of the
    /// learner, because the next slice may begin another rollout, and the steps of the previous rollout are then lost.
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

    /// Returns true if the next step will be recorded.
    fn is_recording(&self) -> bool {
        self.is_watched && self.steps < STEPS
    }

    /// Returns the recorded steps and clears the recorder. The first call starts the recording.
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
