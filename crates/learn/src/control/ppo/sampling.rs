//! Actions from the policy's outputs: random samples for a rollout, or greedy actions.

use super::nets::to_range;
use math::{Kernel, PANEL, Simd, poly, rng};
use std::f32::consts::{PI, TAU};

/// Inputs and outputs for sampling an action in each of 128 environments, which form four panels. Each number of an action uses random
/// blocks of four words. Four lanes share a block: the lanes with the same index in the four panels. A discrete action in panel w uses word
/// w. A continuous action uses two words for the normal numbers of two panels: words 0 and 1 for panels 0 and 1, words 2 and 3 for panels 2
/// and 3.
pub struct Draw<'a> {
    pub key: [u32; 4],
    /// Counter of the first lane's random block: 32 times the actor's index, then the lower and the upper half of the step number. Lane l
    /// of a panel adds l to the first number.
    pub counter: [u32; 3],
    /// Outputs of the policy, `[LANES/PANEL][outputs][PANEL]`.
    pub policy: &'a [f32],
    /// Actions, `[LANES/PANEL][numbers][PANEL]`.
    pub actions: &'a mut [f32],
    pub log_probs: &'a mut [f32],
}

impl Draw<'_> {
    #[inline(always)]
    fn words<S: Simd>(&self, s: S, l: usize, number: usize) -> [S::U; 4] {
        let [lane, low, high] = self.counter;
        let counter = [s.count_u(lane + l as u32), s.splat_u(low), s.splat_u(high), s.splat_u(number as u32)];
        rng::threefry(s, self.key, counter)
    }
}

/// Number of choices whose cumulative probabilities are stored. The cumulative probabilities of further choices are computed again.
pub const KEPT: usize = 16;

/// Samples one of `count` choices: the first choice whose cumulative probability exceeds a uniform number.
pub struct SampleChoice<'a> {
    pub draw: Draw<'a>,
    pub count: usize,
}

impl Kernel for SampleChoice<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { draw, count } = self;
        let (zero, one) = (s.splat(0.0), s.splat(1.0));
        for l in (0..PANEL).step_by(S::LANES) {
            for (panel, word) in draw.words(s, l, 0).into_iter().enumerate() {
                let logit = |i: usize| s.load(&draw.policy[(count * panel + i) * PANEL + l..]);
                let mut top = logit(0);
                for i in 1..count {
                    top = s.max(top, logit(i));
                }
                let power = |i: usize| poly::exp(s, s.sub(logit(i), top));
                let mut reached = [zero; KEPT];
                let mut sum = zero;
                for i in 0..count.min(KEPT) {
                    sum = s.add(sum, power(i));
                    reached[i] = sum;
                }
                let mut below = sum;
                for i in KEPT..count {
                    sum = s.add(sum, power(i));
                }
                let target = s.mul(rng::uniform(s, word), sum);
                let (mut choice, mut chosen) = (zero, logit(0));
                for i in 1..count.min(KEPT) {
                    let beyond = s.ge(target, reached[i - 1]);
                    choice = s.add(choice, s.select(beyond, one, zero));
                    chosen = s.select(beyond, logit(i), chosen);
                }
                for i in KEPT..count {
                    let beyond = s.ge(target, below);
                    below = s.add(below, power(i));
                    choice = s.add(choice, s.select(beyond, one, zero));
                    chosen = s.select(beyond, logit(i), chosen);
                }
                let at = panel * PANEL + l;
                s.store(choice, &mut draw.actions[at..]);
                s.store(s.sub(s.sub(chosen, top), poly::ln(s, sum)), &mut draw.log_probs[at..]);
            }
        }
    }
}

/// Samples one of the permitted choices. If all choices are permitted, the result is that of [`SampleChoice`].
pub struct SampleMasked<'a> {
    pub draw: Draw<'a>,
    pub count: usize,
    /// Masks in the layout of the policy's outputs; see [`worlds::control::Vector::masks`].
    pub masks: &'a [f32],
}

impl Kernel for SampleMasked<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { draw, count, masks } = self;
        let zero = s.splat(0.0);
        for l in (0..PANEL).step_by(S::LANES) {
            for (panel, word) in draw.words(s, l, 0).into_iter().enumerate() {
                let at = |i: usize| (count * panel + i) * PANEL + l;
                let logit = |i: usize| s.load(&draw.policy[at(i)..]);
                let permitted = |i: usize| s.gt(s.load(&masks[at(i)..]), zero);
                let mut top = s.splat(f32::NEG_INFINITY);
                for i in 0..count {
                    top = s.select(permitted(i), s.max(top, logit(i)), top);
                }
                let power = |i: usize| s.select(permitted(i), poly::exp(s, s.sub(logit(i), top)), zero);
                let mut sum = zero;
                for i in 0..count {
                    sum = s.add(sum, power(i));
                }
                // A permitted choice replaces the choice selected so far if the uniform number is at least the cumulative probability of
                // all earlier choices. The first permitted choice is always selected at first. Rounding errors therefore cannot select a
                // forbidden choice.
                let target = s.mul(rng::uniform(s, word), sum);
                let (mut choice, mut chosen) = (s.splat(-1.0), zero);
                let mut below = zero;
                for i in 0..count {
                    let reached = s.or_mask(s.lt(choice, zero), s.ge(target, below));
                    let taken = s.and_mask(permitted(i), reached);
                    choice = s.select(taken, s.splat(i as f32), choice);
                    chosen = s.select(taken, logit(i), chosen);
                    below = s.add(below, power(i));
                }
                let at = panel * PANEL + l;
                s.store(s.max(choice, zero), &mut draw.actions[at..]);
                s.store(s.sub(s.sub(chosen, top), poly::ln(s, sum)), &mut draw.log_probs[at..]);
            }
        }
    }
}

/// Samples each number of an action from a Gaussian (Box & Muller 1958), and converts the number to the environment's range.
pub struct SampleGaussian<'a> {
    pub draw: Draw<'a>,
    /// ln σ of each number.
    pub log_spreads: &'a [f32],
    pub middle: f32,
    pub half: f32,
    pub squash: bool,
    pub env_actions: &'a mut [f32],
}

impl Kernel for SampleGaussian<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { draw, log_spreads, middle, half, squash, env_actions } = self;
        for (number, &log_spread) in log_spreads.iter().enumerate() {
            let constant = s.splat(-log_spread - 0.5 * LN_TAU);
            let spread = poly::exp(s, s.splat(log_spread));
            for l in (0..PANEL).step_by(S::LANES) {
                let [a, b, c, d] = draw.words(s, l, number);
                let [a, b] = normals(s, a, b);
                let [c, d] = normals(s, c, d);
                for (panel, noise) in [a, b, c, d].into_iter().enumerate() {
                    let (lane, at) = (panel * PANEL + l, (panel * log_spreads.len() + number) * PANEL + l);
                    let drawn = s.mul_add(noise, spread, s.load(&draw.policy[at..]));
                    s.store(drawn, &mut draw.actions[at..]);
                    s.store(to_range(s, drawn, middle, half, squash), &mut env_actions[at..]);
                    let mut log_prob = s.mul_add(s.mul(noise, noise), s.splat(-0.5), constant);
                    if number > 0 {
                        log_prob = s.add(s.load(&draw.log_probs[lane..]), log_prob);
                    }
                    s.store(log_prob, &mut draw.log_probs[lane..]);
                }
            }
        }
    }
}

/// ln 2π
const LN_TAU: f32 = 1.837_877_1;

/// Converts two random words to two independent normal numbers.
#[inline(always)]
fn normals<S: Simd>(s: S, a: S::U, b: S::U) -> [S::F; 2] {
    // 1 - u is positive, so that its logarithm is finite.
    let log = poly::ln(s, s.sub(s.splat(1.0), rng::uniform(s, a)));
    let radius = s.sqrt(s.mul(s.splat(-2.0), log));
    let angle = s.sub(s.mul(rng::uniform(s, b), s.splat(TAU)), s.splat(PI));
    let (sin, cos) = poly::sin_cos(s, angle);
    [s.mul(radius, cos), s.mul(radius, sin)]
}

/// Returns the choice with the highest logit, or the first of several such choices.
pub fn greedy(logit: impl Fn(usize) -> f32, count: usize) -> usize {
    (1..count).fold(0, |best, i| if logit(i) > logit(best) { i } else { best })
}

/// Selects the permitted choice with the highest logit for each environment of a panel. If several choices have the highest logit, selects
/// the first.
pub struct GreedyMasked<'a> {
    /// Outputs of the policy, `[choices][PANEL]`.
    pub logits: &'a [f32],
    /// Masks, `[choices][PANEL]`; see [`worlds::control::Vector::masks`].
    pub masks: &'a [f32],
    pub choices: usize,
    pub env_actions: &'a mut [f32],
}

impl Kernel for GreedyMasked<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { logits, masks, choices, env_actions } = self;
        let zero = s.splat(0.0);
        for l in (0..PANEL).step_by(S::LANES) {
            let (mut best, mut highest) = (s.splat(-1.0), zero);
            for i in 0..choices {
                let logit = s.load(&logits[i * PANEL + l..]);
                let permitted = s.gt(s.load(&masks[i * PANEL + l..]), zero);
                let higher = s.and_mask(permitted, s.or_mask(s.lt(best, zero), s.gt(logit, highest)));
                best = s.select(higher, s.splat(i as f32), best);
                highest = s.select(higher, logit, highest);
            }
            s.store(s.max(best, zero), &mut env_actions[l..]);
        }
    }
}

/// Computes [`greedy`] for each environment of a panel.
pub struct GreedyActions<'a> {
    /// Outputs of the policy, `[choices][PANEL]`.
    pub logits: &'a [f32],
    pub choices: usize,
    pub env_actions: &'a mut [f32],
}

impl Kernel for GreedyActions<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { logits, choices, env_actions } = self;
        for l in (0..PANEL).step_by(S::LANES) {
            let (mut best, mut highest) = (s.splat(0.0), s.load(&logits[l..]));
            for i in 1..choices {
                let logit = s.load(&logits[i * PANEL + l..]);
                let higher = s.gt(logit, highest);
                best = s.select(higher, s.splat(i as f32), best);
                highest = s.select(higher, logit, highest);
            }
            s.store(best, &mut env_actions[l..]);
        }
    }
}

/// Converts the means of the policy's Gaussians to environment actions. Means and actions have the same layout.
pub(super) struct MeanActions<'a> {
    pub means: &'a [f32],
    pub middle: f32,
    pub half: f32,
    pub squash: bool,
    pub env_actions: &'a mut [f32],
}

impl Kernel for MeanActions<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { means, middle, half, squash, env_actions } = self;
        for l in (0..env_actions.len()).step_by(S::LANES) {
            let mean = s.load(&means[l..]);
            s.store(to_range(s, mean, middle, half, squash), &mut env_actions[l..]);
        }
    }
}
