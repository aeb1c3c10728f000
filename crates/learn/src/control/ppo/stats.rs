//! Statistics of PPO: progress, iteration metrics and time per part.

use super::nets::METRICS;
use crate::progress;
use crate::{Failure, Iteration};
use worlds::control::WorldFault;

/// Number of latest episodes over which returns and lengths are averaged.
pub(super) const RECENT: usize = 100;

/// Statistics of one iteration. The fields from `policy_loss` to `clip_fraction`, and `grad_norm`, are means over the iteration's updates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationStats {
    /// Mean return of the last 100 finished episodes, or of all if there are fewer; `None` if there are none.
    pub mean_return: Option<f32>,
    /// Mean length, in steps, of the episodes that `mean_return` includes.
    pub mean_length: Option<f32>,
    pub policy_loss: f32,
    pub value_loss: f32,
    pub entropy: f32,
    pub approx_kl: f32,
    pub clip_fraction: f32,
    pub explained_variance: f32,
    pub grad_norm: f32,
    pub lr: f32,
    /// Number of episodes that ended in this iteration.
    pub episodes: u64,
    /// Number of environment steps in this iteration, over all environments.
    pub samples: u64,
    pub times: Times,
    /// Error that an environment's rules raised; `None` if there was none. After an error, the iteration ends without updates.
    pub fault: Option<WorldFault>,
}

impl From<IterationStats> for Iteration {
    fn from(stats: IterationStats) -> Iteration {
        // After a fault, an iteration has neither updates nor losses.
        let (finite, learned) = (stats.is_finite(), stats.fault.is_none());
        let loss = |x: f32| learned.then_some(x);
        let metrics = [
            ("mean_return", stats.mean_return),
            ("mean_length", stats.mean_length),
            ("policy_loss", loss(stats.policy_loss)),
            ("value_loss", loss(stats.value_loss)),
            ("entropy", loss(stats.entropy)),
            ("approx_kl", loss(stats.approx_kl)),
            ("clip_fraction", loss(stats.clip_fraction)),
            ("explained_variance", loss(stats.explained_variance)),
            ("grad_norm", loss(stats.grad_norm)),
            ("lr", Some(stats.lr)),
        ];
        let failure = match stats.fault {
            Some(fault) => Some(Failure::World(fault.to_string())),
            None => Failure::unless(finite),
        };
        let Times { policy, world, advantages, gather, gradient, update, device } = stats.times;
        Iteration {
            metrics: metrics.map(|(name, value)| (name, value.map(f64::from))).to_vec(),
            parts_s: vec![
                ("policy", policy),
                ("world", world),
                ("advantages", advantages),
                ("gather", gather),
                ("gradient", gradient),
                ("update", update),
                ("device", device),
            ],
            failure,
            work: Some(stats.samples as f64),
        }
    }
}

impl IterationStats {
    pub fn is_finite(&self) -> bool {
        self.policy_loss.is_finite() && self.value_loss.is_finite() && self.grad_norm.is_finite()
    }
}

progress! {
    /// Number of environment steps, over all environments.
    env_steps,
    episodes,
}

/// Seconds spent on each part of an iteration, measured with the profiling clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    pub policy: f64,
    pub world: f64,
    pub advantages: f64,
    pub gather: f64,
    pub gradient: f64,
    pub update: f64,
    /// Time of the whole iteration if another machine computed the iteration, otherwise 0. For such an iteration, all other fields are 0,
    /// because the machine does not report parts.
    pub device: f64,
}

/// An episode that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    pub total: f32,
    pub length: u32,
}

/// The last 100 episodes. The episode with number n is at index n modulo 100.
pub(super) struct RecentEpisodes(pub [Episode; RECENT]);

impl RecentEpisodes {
    pub fn new() -> Self {
        Self([Episode { total: 0.0, length: 0 }; RECENT])
    }

    pub fn set(&mut self, n: u64, episode: Episode) {
        self.0[(n % RECENT as u64) as usize] = episode;
    }

    /// Returns the mean return and the mean length of the last 100 episodes, or of all if there are fewer. `episodes` is the number of
    /// episodes that have ended. Returns `None` if `episodes` is 0.
    pub fn means(&self, episodes: u64) -> Option<[f32; 2]> {
        let recent = &self.0[..episodes.min(RECENT as u64) as usize];
        let mean = |sum: f64| (sum / recent.len() as f64) as f32;
        let returns = mean(recent.iter().map(|e| f64::from(e.total)).sum());
        let lengths = mean(recent.iter().map(|e| f64::from(e.length)).sum());
        (!recent.is_empty()).then_some([returns, lengths])
    }
}

/// Sums over the updates that an iteration made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossSums {
    /// Metrics of the loss, in the order of [`METRICS`].
    pub metrics: [f64; METRICS.len()],
    pub grad_norm: f64,
    pub updates: u32,
}

impl LossSums {
    /// Returns the KL divergence from the policy of the rollout, summed over the updates.
    pub fn approx_kl(&self) -> f64 {
        self.metrics[KL]
    }
}

/// Index of the KL divergence in [`METRICS`].
const KL: usize = 3;
const _: () = assert!(METRICS.len() == 5 && matches!(METRICS[KL].as_bytes(), b"approx_kl"));

/// Returns the element-wise sum of `parts`, added in their order.
pub(super) fn sum<const N: usize>(parts: impl Iterator<Item = [f64; N]>) -> [f64; N] {
    parts.fold([0.0; N], |sum, part| std::array::from_fn(|i| sum[i] + part[i]))
}

/// Splits the wall time `whole` in the ratio `a`:`b`, where `a` and `b` are times measured on one thread. If both are 0, the first result
/// is `whole`.
pub fn divided(whole: f64, [a, b]: [f64; 2]) -> (f64, f64) {
    let first = if a + b > 0.0 { whole * a / (a + b) } else { whole };
    (first, whole - first)
}
