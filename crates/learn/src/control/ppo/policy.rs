//! Policy and critic as they are at a moment, apart from their learner, which goes on without a trace of them.

use super::evaluation::Context;
use super::nets::{self, Task};
use super::normalizer::Normalizer;
use super::{Ppo, PpoError};
use graph::{Executor, Layout, Packed, Params};
use math::{Isa, PANEL};

pub struct Policy {
    isa: Isa,
    task: Task,
    params: Params,
    packed: Packed,
    executor: Executor,
    normalizer: Option<Normalizer>,
    /// What a value is multiplied by.
    unit: f32,
}

impl Ppo {
    /// A copy of what the learner would act with now.
    pub fn policy(&self) -> Result<Policy, PpoError> {
        let plan = nets::plan_acting(self.task, &self.config, PANEL, Layout::Panels, self.isa)?;
        Ok(Policy {
            isa: self.isa,
            task: self.task,
            packed: Packed::new(&plan, &self.params),
            executor: Executor::new(&plan),
            params: self.params.clone(),
            normalizer: self.normalizer.clone(),
            unit: 1.0 / self.reward_scale(),
        })
    }
}

impl Policy {
    pub fn observation_len(&self) -> usize {
        self.task.observation
    }

    pub fn policy_len(&self) -> usize {
        self.task.policy_len()
    }

    /// The greedy actions in some states `[n][observation]`: a choice as a whole number.
    pub fn act(&mut self, observations: &[f32], actions: &mut [f32]) {
        let (with, executor, _) = self.parts();
        with.act(executor, observations, actions);
    }

    /// As [`Ppo::predict`].
    pub fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]) {
        let (with, executor, unit) = self.parts();
        with.predict(executor, unit, observations, policy, values);
    }

    fn parts(&mut self) -> (Context<'_>, &mut Executor, f32) {
        let Self { isa, task, params, packed, executor, normalizer, unit } = self;
        let with = Context { isa: *isa, task: *task, params, packed, normalizer: normalizer.as_ref() };
        (with, executor, *unit)
    }
}
