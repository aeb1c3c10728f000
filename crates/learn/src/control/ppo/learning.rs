//! Learning: minibatches gathered in a shuffled order, and their gradients.

use super::acting::{Actor, LANES, SAMPLE};
use super::config::PpoConfig;
use super::nets::METRICS;
use graph::{Executor, Packed, Params, Plan};
use math::Rng;
use std::sync::Arc;

/// A shuffle of `0..count` of which each place can be asked by itself: rounds of invertible arithmetic on
/// as many bits as the count needs, begun again where one leads out of the range.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    pub count: u32,
    pub mask: u32,
    pub shift: u32,
    /// Odd factors and summands of the rounds.
    pub rounds: [[u32; 2]; ROUNDS],
}

pub const ROUNDS: usize = 4;
/// Samples looked up before they are copied.
const BATCH: usize = 64;

impl Shuffle {
    pub fn new(rng: Rng, count: usize, iteration: u64, epoch: usize) -> Self {
        let bits = usize::BITS - (count.max(2) - 1).leading_zeros();
        let mut rounds = [[0; 2]; ROUNDS];
        for (i, pair) in rounds.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let [a, b, c, d] =
                rng.block([i as u32, epoch as u32, iteration as u32, (iteration >> 32) as u32]);
            *pair = [[a | 1, b], [c | 1, d]];
        }
        Self { count: count as u32, mask: (1u32 << bits) - 1, shift: bits.div_ceil(2), rounds }
    }

    /// What stands at a place.
    #[inline]
    pub fn at(&self, place: u32) -> u32 {
        let mut x = place;
        loop {
            for [factor, summand] in self.rounds {
                x = x.wrapping_mul(factor).wrapping_add(summand) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.count {
                return x;
            }
        }
    }
}

/// Works on some shards of each minibatch, one after the other.
pub(super) struct Learner {
    executor: Executor,
    /// Samples of the shard in progress, `[rows][features + SAMPLE]`.
    samples: Vec<f32>,
    rows: usize,
    /// Sum over this learner's shards.
    pub grads: Vec<f32>,
    pub metrics: [f64; METRICS.len()],
    /// Seconds in gathering and in the gradient, by the clock that the first learner is given.
    pub spent: [f64; 2],
}

/// What all learners share in a minibatch.
#[derive(Clone, Copy)]
pub(super) struct Learning<'a> {
    pub config: &'a PpoConfig,
    pub features: usize,
    pub params: &'a Params,
    pub packed: &'a Packed,
    pub actors: &'a [Actor],
    pub shuffle: Shuffle,
    /// Mean and 1/spread of the advantages.
    pub advantages: (f32, f32),
    pub clock: fn() -> f64,
}

impl Learning<'_> {
    /// Copies the samples at these places of the shuffle, each W numbers wide.
    fn copy<const W: usize>(&self, first: usize, to: &mut [f32]) {
        let actor_samples = (LANES * self.config.rollout_steps) as u32;
        // Samples come from all over: a batch of places first, so that many are on their way at once.
        for (batch, to) in to.as_chunks_mut::<W>().0.chunks_mut(BATCH).enumerate() {
            let mut places = [[0; 2]; BATCH];
            for (i, place) in places.iter_mut().enumerate().take(to.len()) {
                let index = self.shuffle.at((first + batch * BATCH + i) as u32);
                *place = [index / actor_samples, index % actor_samples];
            }
            for (to, [actor, row]) in to.iter_mut().zip(places) {
                *to = self.actors[actor as usize].samples.as_chunks::<W>().0[row as usize];
            }
        }
    }

    /// The same for any width.
    fn copy_any(&self, first: usize, width: usize, to: &mut [f32]) {
        let actor_samples = (LANES * self.config.rollout_steps) as u32;
        for (place, to) in to.chunks_exact_mut(width).enumerate() {
            let index = self.shuffle.at((first + place) as u32);
            let (actor, row) = (index / actor_samples, (index % actor_samples) as usize);
            to.copy_from_slice(&self.actors[actor as usize].samples[row * width..][..width]);
        }
    }
}

impl Learner {
    pub fn new(plan: &Arc<Plan>, parameters: usize, rows: usize, features: usize) -> Self {
        let width = features + SAMPLE;
        Self {
            executor: Executor::new(plan),
            samples: vec![0.0; rows * width],
            rows,
            grads: vec![0.0; parameters],
            metrics: [0.0; METRICS.len()],
            spent: [0.0; 2],
        }
    }

    /// Gradients and metrics of the samples at these places of the shuffle, some rows at a time.
    pub fn learn(&mut self, with: Learning, places: std::ops::Range<usize>, timed: bool) {
        self.metrics = [0.0; METRICS.len()];
        self.spent = [0.0; 2];
        let config = with.config;
        for (name, value) in
            [("clip", config.clip), ("entropy_coef", config.entropy), ("value_coef", config.value_coef)]
        {
            self.executor.input_mut(name)[0] = value;
        }
        let now = || if timed { (with.clock)() } else { 0.0 };
        let first = places.start;
        for place in places.step_by(self.rows) {
            let began_s = now();
            self.gather(with, place);
            let gathered_s = now();
            self.executor.train(with.params, with.packed, &mut self.grads, place > first);
            for (sum, name) in self.metrics.iter_mut().zip(METRICS) {
                *sum += f64::from(self.executor.output(name)[0]);
            }
            self.spent[0] += gathered_s - began_s;
            self.spent[1] += now() - gathered_s;
        }
    }

    fn gather(&mut self, with: Learning, first: usize) {
        let (features, width) = (with.features, with.features + SAMPLE);
        let samples = &mut self.samples;
        // A copy of known size is a few moves.
        match width {
            6 => with.copy::<6>(first, samples),
            7 => with.copy::<7>(first, samples),
            8 => with.copy::<8>(first, samples),
            10 => with.copy::<10>(first, samples),
            12 => with.copy::<12>(first, samples),
            _ => with.copy_any(first, width, samples),
        }
        let observations = self.executor.input_mut("observation").chunks_exact_mut(features);
        for (to, sample) in observations.zip(self.samples.chunks_exact(width)) {
            to.iter_mut().zip(sample).for_each(|(to, &x)| *to = x);
        }
        let (mean, scale) = with.advantages;
        let mut column = |name, of: &dyn Fn(&[f32; SAMPLE]) -> f32| {
            let columns = self.executor.input_mut(name);
            for (to, sample) in columns.iter_mut().zip(self.samples.chunks_exact(width)) {
                *to = of(sample[features..].as_chunks().0.first().expect("four numbers"));
            }
        };
        column("action", &|s| s[0]);
        column("old_log_prob", &|s| s[1]);
        column("advantage", &|s| (s[2] - mean) * scale);
        column("return", &|s| s[2] + s[3]);
        if with.config.clip_value {
            column("old_value", &|s| s[3]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_has_each_number_once_and_mixes_them() {
        for count in [1, 2, 3, 100, 4096, 5000, 32_768] {
            let shuffle = |epoch| {
                let shuffle = Shuffle::new(Rng::new(1, 2), count, 9, epoch);
                (0..count as u32).map(|i| shuffle.at(i)).collect::<Vec<_>>()
            };
            let (a, b) = (shuffle(0), shuffle(1));
            let mut sorted = a.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count as u32), "{count}");
            if count >= 4096 {
                assert_ne!(a, b);
                // Neighbours land apart: of two random numbers below n, the mean distance is n/3.
                let far = a.windows(2).map(|w| f64::from(w[0].abs_diff(w[1]))).sum::<f64>() / count as f64;
                assert!((far / count as f64 - 1.0 / 3.0).abs() < 0.02, "{far} of {count}");
                // A minibatch holds numbers from everywhere: their mean is the middle, give or take.
                for part in a.chunks_exact(count / 4) {
                    let mean = part.iter().map(|&x| f64::from(x)).sum::<f64>() / part.len() as f64;
                    assert!((mean / count as f64 - 0.5).abs() < 0.04, "{mean} of {count}");
                }
            }
        }
    }
}
