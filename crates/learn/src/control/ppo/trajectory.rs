//! What the first environments do, recorded for whoever watches.

use super::actor::Actor;
use super::rollout::LANES;
use math::PANEL;

/// Environments that are recorded, at most.
pub const RECORDED_ENVS: usize = 2048;
/// Steps that are recorded until they are taken.
pub(super) const STEPS: usize = 128;

/// The newest steps of the first environments: what each showed before a step, and whether that step ended the episode. It records
/// nothing until it is cleared for the first time, and at most 128 steps from each time it is: whoever does not watch pays for
/// neither memory nor copies.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// Environments that are recorded.
    pub envs: usize,
    pub steps: usize,
    pub features: usize,
    observations: Vec<f32>,
    ended: Vec<u8>,
}

impl Trajectory {
    pub(super) fn new(envs: usize, features: usize) -> Self {
        Self { envs, steps: 0, features, observations: Vec::new(), ended: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.steps = 0;
        self.observations.resize(STEPS * self.step_len(), 0.0);
        self.ended.resize(STEPS * self.envs, 0);
    }

    /// Floats of one step.
    fn step_len(&self) -> usize {
        self.envs.div_ceil(PANEL) * PANEL * self.features
    }

    /// In panels: `[steps][envs/32, rounded up][features][32]`
    pub fn observations(&self) -> &[f32] {
        &self.observations[..self.steps * self.step_len()]
    }

    /// `[steps][envs]`: 1 where the episode ended.
    pub fn ended(&self) -> &[u8] {
        &self.ended[..self.steps * self.envs]
    }

    /// Whether it takes another step.
    pub(super) fn is_recording(&self) -> bool {
        !self.ended.is_empty() && self.steps < STEPS
    }

    /// Adds what another machine recorded, as far as it fits.
    pub(super) fn extend(&mut self, observations: &[f32], ended: &[u8]) {
        let (step, envs) = (self.step_len(), self.envs);
        let steps = (ended.len() / envs).min(observations.len() / step);
        let steps = if self.is_recording() { steps.min(STEPS - self.steps) } else { 0 };
        self.observations[self.steps * step..][..steps * step].copy_from_slice(&observations[..steps * step]);
        self.ended[self.steps * envs..][..steps * envs].copy_from_slice(&ended[..steps * envs]);
        self.steps += steps;
    }

    /// Adds step t of a rollout.
    pub(super) fn push(&mut self, actors: &[Actor], t: usize) {
        let (step, envs) = (self.step_len(), self.envs);
        if !self.is_recording() {
            return;
        }
        let observations = self.observations[self.steps * step..][..step].chunks_mut(LANES * self.features);
        for (to, actor) in observations.zip(actors) {
            to.copy_from_slice(&actor.record.observations[t * LANES * self.features..][..to.len()]);
        }
        let ended = self.ended[self.steps * envs..][..envs].chunks_mut(LANES);
        for (to, actor) in ended.zip(actors) {
            let from = &actor.record.ended[t * LANES..];
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = u8::from(from != 0));
        }
        self.steps += 1;
    }
}
