//! The test: fresh episodes, which leave no trace in the training.

use crate::protocol::Row;
use crate::room::ByName;
use learn::Learner;
use learn::control::{Evaluation, Ppo};

/// Episodes of a test.
pub const TEST_EPISODES: u32 = 100;
/// Iterations between tests, before and after the task is solved, at least.
const TEST_EVERY: [u32; 2] = [2, 16];
/// And so many that the steps of a test are this many times those of training at most.
const TEST_SHARE: f64 = 1.0;

/// Of the episodes that train it is known how long one takes.
pub(super) fn is_due(ppo: &Ppo, tests: &[Row], solved: bool) -> bool {
    let last = tests.last().map_or(0, |test| test.progress.iteration);
    let length = ppo.mean_length().map_or(ppo.kind().spec.step_limit.into(), f64::from);
    let samples = (ppo.config().envs * ppo.config().rollout_steps) as f64;
    let worth_it = f64::from(TEST_EPISODES) * length / (samples * TEST_SHARE);
    ppo.progress().iterations as u32 >= last + TEST_EVERY[usize::from(solved)].max(worth_it.ceil() as u32)
}

/// Mean, least and greatest return, and their number.
pub(super) fn columns(Evaluation { mean, min, max }: Evaluation, episodes: u32) -> ByName<Option<f64>> {
    let columns = [("mean_return", mean), ("min_return", min), ("max_return", max), ("episodes", episodes as f32)];
    columns.map(|(name, value)| (name, Some(value.into()))).to_vec()
}
