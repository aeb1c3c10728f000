//! Running mean and variance, and normalisation of observations.

use math::{Isa, PANEL, kernel};

/// Maximum absolute value of a normalised number.
pub const NORMALIZED_LIMIT: f32 = 10.0;

/// Running mean and variance. All numbers of a rollout are included in one update (Chan, Golub & LeVeque 1979).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    pub count: f64,
    pub mean: f64,
    /// Sum of the squared differences from the mean.
    pub squares: f64,
}

impl Moments {
    /// Adds `count` numbers x. `sum` is the sum of x - `about`, and `sum_of_squares` is the sum of (x - `about`)².
    pub fn merge(&mut self, count: f64, about: f64, sum: f64, sum_of_squares: f64) {
        if count == 0.0 {
            return;
        }
        let (mean, squares) = (about + sum / count, sum_of_squares - sum * sum / count);
        let (all, apart) = (self.count + count, mean - self.mean);
        self.squares += squares.max(0.0) + apart * apart * self.count * count / all;
        self.mean += apart * count / all;
        self.count = all;
    }

    /// Returns the factor that scales the numbers to standard deviation 1. The factor is 1 if there are no numbers.
    pub fn scale(&self) -> f32 {
        if self.count > 0.0 { (1.0 / (self.squares / self.count + 1e-8).sqrt()) as f32 } else { 1.0 }
    }
}

/// Normaliser of network inputs: subtracts `mean`, multiplies by `scale` and clips. `mean` and `scale` are constant during an iteration, so
/// that acting and learning use the same inputs. `moments` includes newer observations.
#[derive(Debug)]
pub struct Normalizer {
    pub moments: Vec<Moments>,
    pub mean: Vec<f32>,
    pub scale: Vec<f32>,
}

impl Clone for Normalizer {
    fn clone(&self) -> Self {
        Self { moments: self.moments.clone(), mean: self.mean.clone(), scale: self.scale.clone() }
    }

    /// Does not allocate if both normalisers have the same number of features.
    fn clone_from(&mut self, source: &Self) {
        self.moments.clone_from(&source.moments);
        self.mean.clone_from(&source.mean);
        self.scale.clone_from(&source.scale);
    }
}

impl Normalizer {
    pub fn new(features: usize) -> Self {
        Self { moments: vec![Moments::default(); features], mean: vec![0.0; features], scale: vec![1.0; features] }
    }

    /// Adds `count` observations. For feature i, `sums(i)` returns the sum of the observations' differences from `mean`, and the sum of the
    /// squared differences.
    pub fn merge(&mut self, count: f64, sums: impl Fn(usize) -> [f64; 2]) {
        for (i, (moments, &mean)) in self.moments.iter_mut().zip(&self.mean).enumerate() {
            let [sum, squares] = sums(i);
            moments.merge(count, mean.into(), sum, squares);
        }
    }

    /// Updates `mean` and `scale` from `moments`.
    pub fn refresh(&mut self) {
        for (i, moments) in self.moments.iter().enumerate() {
            (self.mean[i], self.scale[i]) = (moments.mean as f32, moments.scale());
        }
    }

    /// Normalises feature `i` of an observation.
    pub fn normalize(&self, i: usize, x: f32) -> f32 {
        ((x - self.mean[i]) * self.scale[i]).clamp(-NORMALIZED_LIMIT, NORMALIZED_LIMIT)
    }

    /// Normalises panels of observations; copies them if there is no normaliser.
    pub fn apply(normalizer: Option<&Normalizer>, isa: Isa, observations: &[f32], to: &mut [f32]) {
        let Some(normalizer) = normalizer else { return to.copy_from_slice(observations) };
        kernel!(isa, |s: S, normalizer: &Normalizer, observations: &[f32], to: &mut [f32]| {
            let panel = normalizer.mean.len() * PANEL;
            let (low, high) = (s.splat(-NORMALIZED_LIMIT), s.splat(NORMALIZED_LIMIT));
            for (from, to) in observations.chunks_exact(panel).zip(to.chunks_exact_mut(panel)) {
                for (i, (&mean, &scale)) in normalizer.mean.iter().zip(&normalizer.scale).enumerate() {
                    for l in (i * PANEL..(i + 1) * PANEL).step_by(S::LANES) {
                        let x = s.mul(s.sub(s.load(&from[l..]), s.splat(mean)), s.splat(scale));
                        s.store(s.max(s.min(x, high), low), &mut to[l..]);
                    }
                }
            }
        });
    }
}

/// Normalisation of observations and rewards.
pub(super) struct Scaling {
    /// Normaliser of observations; `None` if observations are not normalised.
    pub observations: Option<Normalizer>,
    /// Moments of the discounted reward sums; unused if rewards are not normalised.
    pub returns: Moments,
}
