//! Generalised advantage estimation (Schulman et al. 2016) over a rollout.

use super::rollout::LANES;
use math::{Kernel, Simd};

/// Backward recursion over the rollout: δ = r + γ·V' - V, A = δ + γλ·A'. r is the reward, V the critic's value, and A the advantage. A
/// prime marks the next step. If a step ends its episode, A' is 0. After a truncation, V' is then the critic's value of the episode's last
/// state. After a termination, V' is 0.
pub struct Advantages<'a> {
    pub gamma: f32,
    /// Factor γλ of the recursion.
    pub decay: f32,
    /// Factor applied to rewards.
    pub scale: f32,
    /// Limit of the absolute value of a scaled reward.
    pub limit: f32,
    pub rewards: &'a [f32],
    pub values: &'a [f32],
    pub bootstraps: &'a [f32],
    pub ended: &'a [u32],
    pub advantages: &'a mut [f32],
}

impl Kernel for Advantages<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let zero = s.splat(0.0);
        let (gamma, decay) = (s.splat(self.gamma), s.splat(self.decay));
        let (scale, limit) = (s.splat(self.scale), s.splat(self.limit));
        for lane in (0..LANES).step_by(S::LANES) {
            let mut later = zero;
            for at in (0..self.ended.len() / LANES).rev().map(|t| t * LANES + lane) {
                let going = s.eq_u(s.load_u(&self.ended[at..]), s.splat_u(0));
                let next = s.load(&self.values[at + LANES..]);
                let next = s.select(going, next, s.load(&self.bootstraps[at..]));
                let reward = s.mul(s.load(&self.rewards[at..]), scale);
                let reward = s.max(s.min(reward, limit), s.neg(limit));
                let delta = s.sub(s.mul_add(gamma, next, reward), s.load(&self.values[at..]));
                later = s.mul_add(decay, s.select(going, later, zero), delta);
                s.store(later, &mut self.advantages[at..]);
            }
        }
    }
}
