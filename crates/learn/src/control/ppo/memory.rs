//! The memory that a learner takes, reckoned before anything is allocated.

use super::actor::Actor;
use super::evaluation::Evaluators;
use super::gradients::{Gradients, Sharding};
use super::nets::{self, Task};
use super::rollout::LANES;
use super::{PpoConfig, PpoError};
use graph::Layout;
use math::{Isa, PANEL};
use worlds::control::Kind;

impl PpoConfig {
    /// Bytes that a run of an environment with these settings takes, about, and rather more than less: for who has to refuse one
    /// that does not fit before anything is allocated. A save takes a copy of the state besides. Settings that cannot be used take
    /// more than there is.
    pub fn bytes(&self, kind: &'static Kind) -> u64 {
        // A little for plans and names. Casts saturate.
        bytes(kind, self).map_or(u64::MAX, |bytes| (1.05 * bytes) as u64)
    }
}

fn bytes(kind: &'static Kind, config: &PpoConfig) -> Result<f64, PpoError> {
    config.check()?;
    let (task, isa) = (Task::new(kind, config)?, Isa::best());
    let sharding = Sharding::of(config);
    let acting = nets::plan_acting(task, config, LANES, Layout::Panels, isa)?;
    let evaluating = nets::plan_acting(task, config, PANEL, Layout::Panels, isa)?;
    let learning = nets::plan_learning(task, config, sharding.rows, isa)?;
    let (whole, rest) = (config.envs / LANES, config.envs % LANES);
    let actor = |count| Actor::bytes(&acting, kind, isa, count, config.rollout_steps);
    let actors = whole as f64 * actor(LANES) + if rest > 0 { actor(rest) } else { 0.0 };
    // Twice the weights, two moments, gradients and their sum, and packed: for acting, for evaluation, and both ways for learning.
    let weights = learning.table().bytes() as f64 * (2.0 + 2.0 + sharding.groups() as f64 + 1.0 + 4.0);
    Ok(actors + Gradients::bytes(&learning, sharding, task.observation) + Evaluators::bytes(&evaluating, kind, isa) + weights)
}
