//! Tests of the policy on fresh episodes. Tests do not affect training.

use crate::protocol::Row;
use crate::room::ByName;
use learn::Learner;
use learn::control::{Evaluation, Ppo};

pub const TEST_EPISODES: u32 = 100;
/// Minimum number of iterations between two tests: first before the run is solved, then afterwards.
const TEST_EVERY: [u32; 2] = [2, 16];
/// Maximum number of steps in a test, as a multiple of the training steps since the previous test.
const TEST_SHARE: f64 = 1.0;

/// Returns true if a test is due. The number of a test's steps is estimated from the length of training episodes.
pub(super) fn is_due(ppo: &Ppo, tests: &[Row], solved: bool) -> bool {
    let last = tests.last().map_or(0, |test| test.progress.iteration);
    let length = ppo.mean_length().map_or(ppo.kind().spec.step_limit.into(), f64::from);
    let samples = (ppo.config().envs * ppo.config().rollout_steps) as f64;
    let worth_it = f64::from(TEST_EPISODES) * length / (samples * TEST_SHARE);
    ppo.progress().iterations as u32 >= last + TEST_EVERY[usize::from(solved)].max(worth_it.ceil() as u32)
}

/// Returns the columns of a test with their values.
pub(super) fn columns(Evaluation { mean, min, max }: Evaluation, episodes: u32) -> ByName<Option<f64>> {
    let columns = [("mean_return", mean), ("min_return", min), ("max_return", max), ("episodes", episodes as f32)];
    columns.map(|(name, value)| (name, Some(value.into()))).to_vec()
}
