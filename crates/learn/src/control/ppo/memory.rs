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
    /// Estimates the memory of a run with these settings, in bytes. The estimate tends to be too high. Callers use it to reject runs that
    /// do not fit. Saving needs additional memory for a copy of the state. Returns `u64::MAX` for invalid settings.
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
    // Weights are stored twice, moments twice, gradients once per group and once as their sum. Packed weights are stored once for acting,
    // once for evaluation, and in two layouts for learning.
    let weights = learning.table().bytes() as f64 * (2.0 + 2.0 + sharding.groups() as f64 + 1.0 + 4.0);
    Ok(actors + Gradients::bytes(&learning, sharding, task) + Evaluators::bytes(&evaluating, kind, isa) + weights)
}
