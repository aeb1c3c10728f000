//! Copy of policy and critic, independent of their learner.

use super::evaluation::Context;
use super::nets::{self, Task};
use super::normalizer::Normalizer;
use super::{Ppo, PpoError};
use graph::{Executor, Layout, Packed, Params, Plan};
use math::{Isa, PANEL};
use std::sync::Arc;

/// Copy of a learner's policy and critic.
pub struct Policy {
    isa: Isa,
    task: Task,
    params: Params,
    /// Executor of the policy without the critic, because acting needs no value.
    acting: Runner,
    /// Executor of policy and critic, for predictions.
    both: Runner,
    normalizer: Option<Normalizer>,
    /// Factor that converts the critic's values to the unit of rewards.
    unit: f32,
}

/// Executor of a plan for one panel of observations, with packed weights.
struct Runner {
    packed: Packed,
    executor: Executor,
}

impl Runner {
    fn new(plan: &Arc<Plan>, params: &Params) -> Runner {
        Runner { packed: Packed::new(plan, params), executor: Executor::new(plan) }
    }
}

impl Ppo {
    /// Returns a copy of the current policy, critic and observation normaliser.
    pub fn policy(&self) -> Result<Policy, PpoError> {
        let (task, config, isa) = (self.task, &self.config, self.isa);
        let acting = nets::plan_policy(task, config, PANEL, Layout::Panels, isa)?;
        let both = nets::plan_acting(task, config, PANEL, Layout::Panels, isa)?;
        Ok(Policy {
            isa,
            task,
            acting: Runner::new(&acting, &self.params),
            both: Runner::new(&both, &self.params),
            params: self.params.clone(),
            normalizer: self.scaling.observations.clone(),
            unit: 1.0 / self.reward_scale(),
        })
    }
}

impl crate::Policy for Policy {
    fn observation_len(&self) -> usize {
        self.task.observation
    }

    fn policy_len(&self) -> usize {
        self.task.policy_len()
    }

    fn action_len(&self) -> usize {
        self.task.head.numbers()
    }

    fn act(&mut self, observations: &[f32], actions: &mut [f32]) {
        let Self { isa, task, params, acting: Runner { packed, executor }, normalizer, .. } = self;
        let with = Context { isa: *isa, task: *task, params, packed, normalizer: normalizer.as_ref() };
        with.act(executor, observations, actions);
    }

    fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]) {
        let Self { isa, task, params, both: Runner { packed, executor }, normalizer, unit, .. } = self;
        let with = Context { isa: *isa, task: *task, params, packed, normalizer: normalizer.as_ref() };
        with.predict(executor, *unit, observations, policy, values);
    }
}
