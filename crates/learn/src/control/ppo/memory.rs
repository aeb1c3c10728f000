//! Memory of a learner, estimated before allocation.

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
    /// Estimates the memory of a run with these settings, in bytes. Returns `u64::MAX` for invalid settings. The estimate tends to be too
    /// high. Callers use the estimate to reject runs that do not fit into memory. Saving needs additional memory for a copy of the state.
    pub fn bytes(&self, kind: &Kind) -> u64 {
        // 5% are added for plans and names. The cast to `u64` saturates.
        bytes(kind, self).map_or(u64::MAX, |bytes| (1.05 * bytes) as u64)
    }
}

fn bytes(kind: &Kind, config: &PpoConfig) -> Result<f64, PpoError> {
    config.check()?;
    let (task, isa) = (Task::new(kind, config)?, Isa::best());
    let sharding = Sharding::of(config);
    let acting = nets::plan_acting(task, config, LANES, Layout::Panels, isa)?;
    let evaluating = nets::plan_acting(task, config, PANEL, Layout::Panels, isa)?;
    let learning = nets::plan_learning(task, config, sharding.rows, isa)?;
    let (whole, rest) = (config.envs / LANES, config.envs % LANES);
    let actor = |count| Actor::bytes(&acting, kind, isa, count, config.rollout_steps);
    let actors = whole as f64 * actor(LANES) + if rest > 0 { actor(rest) } else { 0.0 };
    // Arrays as large as the weights: two copies of the weights, two moments, one gradient per group, and the mean gradient. Packed
    // weights: one copy for acting, one copy for evaluation, and two layouts for learning.
    let weights = learning.table().bytes() as f64 * (2.0 + 2.0 + sharding.groups() as f64 + 1.0 + 4.0);
    Ok(actors + Gradients::bytes(&learning, sharding, task) + Evaluators::bytes(&evaluating, kind, isa) + weights)
}
