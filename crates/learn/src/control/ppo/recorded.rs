//! Access to the latest rollout, step by step. Only the steps that are read are copied.

use super::accelerator::IterationOutput;
use super::actor::Actor;
use super::offloaded::Offloaded;
use super::{Ppo, rollout::LANES};
use math::PANEL;
use std::ops::Range;

/// Maximum number of environments whose steps can be read, counted from the first environment.
pub const RECORDED_ENVS: usize = 2048;
/// Maximum number of steps per iteration that another machine records.
pub const RECORDED_STEPS: usize = 128;

/// Recorded steps of the first environments. On the CPU, these are the steps of the iteration in progress or, at a boundary, of the last
/// iteration. Once the machine of an offloaded learner has returned an output, these are the first steps of the latest output, at most
/// [`RECORDED_STEPS`]. An output contains steps only if [`Ppo::record`] has enabled recording.
pub struct Recorded<'a> {
    pub envs: usize,
    pub features: usize,
    /// Number of steps that every environment took before the first recorded step.
    pub first: u64,
    /// Number of steps that every environment has taken so far.
    pub now: u64,
    /// Number of steps that can be read.
    pub steps: usize,
    place: Place<'a>,
}

enum Place<'a> {
    Here(&'a [Actor]),
    There(&'a IterationOutput),
}

impl Ppo {
    /// Sets whether the machine of an offloaded learner records the steps of its iterations. Steps on the CPU are always recorded.
    pub fn record(&mut self, record: bool) {
        self.away.record = record;
    }

    pub fn recorded(&self) -> Recorded<'_> {
        let envs = RECORDED_ENVS.min(self.config.envs);
        let rollout = self.config.rollout_steps as u64;
        let now = self.progress.env_steps / self.config.envs as u64;
        let begun = self.progress.iterations * rollout;
        let first = if now == begun { now.saturating_sub(rollout) } else { begun };
        let mut all = Recorded { envs, features: self.task.observation, first, now, steps: 0, place: Place::Here(&self.acting.actors) };
        all.steps = (now - first) as usize;
        if let Some(output) = self.away.offloaded.as_ref().and_then(Offloaded::newest) {
            all.steps = (output.recorded_ended.len() / envs).min(output.recorded_observations.len() / all.step_len());
            all.place = Place::There(output);
        }
        all
    }
}

impl Recorded<'_> {
    /// Returns the number of values in the observations of one step, padded to whole panels.
    pub fn step_len(&self) -> usize {
        self.envs.next_multiple_of(PANEL) * self.features
    }

    /// Appends the recorded steps with the indices `steps`. `observations` receives the observations before each step, in panels
    /// `[steps][envs/32, rounded up][features][32]`. `ended`, `[steps][envs]`, receives 1 if the step ended an episode, otherwise 0.
    pub fn read(&self, steps: Range<usize>, observations: &mut Vec<f32>, ended: &mut Vec<u8>) {
        let (step_len, width) = (self.step_len(), LANES * self.features);
        match self.place {
            Place::There(output) => {
                observations.extend(&output.recorded_observations[steps.start * step_len..steps.end * step_len]);
                ended.extend(&output.recorded_ended[steps.start * self.envs..steps.end * self.envs]);
            }
            Place::Here(actors) => {
                for t in steps {
                    for (actor, from) in actors.iter().zip((0..step_len).step_by(width)) {
                        observations.extend(&actor.record.observations[t * width..][..width.min(step_len - from)]);
                    }
                    let ends = actors.iter().flat_map(|actor| &actor.record.ended[t * LANES..][..LANES]);
                    ended.extend(ends.take(self.envs).map(|&end| u8::from(end != 0)));
                }
            }
        }
    }
}
