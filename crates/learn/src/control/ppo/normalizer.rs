//! Running mean and variance, and normalisation of observations.

use math::{Isa, PANEL, kernel};

/// Maximum absolute value of a normalised number.
pub const NORMALIZED_LIMIT: f32 = 10.0;

/// Running mean and variance. All numbers of a rollout are included in one update (Chan, Golub & LeVeque 1979).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
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
pub(super) struct Normalizer {
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

#[cfg(test)]
mod tests {
    use super::super::testing::close;
    use super::*;
    use math::{Rng, rng::uniform_from_word};

    #[test]
    fn merged_moments_equal_the_moments_of_all_numbers() {
        for (offset, tolerance) in [(0.0, 1e-12), (-3.0, 1e-12), (1e4, 1e-7), (-1e6, 1e-3)] {
            let rng = Rng::new(5, 6);
            let numbers: Vec<f64> =
                (0..9000).map(|i| offset + f64::from(uniform_from_word(rng.block([i, 0, 0, 0])[0])) + f64::from(i) * 1e-4).collect();
            let mut merged = Moments::default();
            assert_eq!(merged.scale(), 1.0, "no numbers yet");
            let (mut from, mut about) = (0, 0.0);
            for count in [1, 2, 997, 3000, 0, 5000] {
                let part = &numbers[from..from + count];
                let sum = part.iter().map(|x| x - about).sum();
                let squares = part.iter().map(|x| (x - about).powi(2)).sum();
                merged.merge(count as f64, about, sum, squares);
                // The sums of the next part are relative to the mean of all parts so far, as in [`Normalizer`].
                (from, about) = (from + count, f64::from(merged.mean as f32));
            }
            assert_eq!(from, numbers.len());
            let n = numbers.len() as f64;
            let mean = numbers.iter().sum::<f64>() / n;
            let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            assert_eq!(merged.count, n);
            assert!((merged.mean - mean).abs() < 1e-12 * offset.abs().max(1.0), "{} of {mean}", merged.mean);
            let found = merged.squares / n;
            assert!((found / variance - 1.0).abs() < tolerance, "{offset}: {found}, not {variance}");
            close("the scale", merged.scale(), 1.0 / (variance + 1e-8).sqrt(), tolerance.max(1e-6));
        }
    }

    #[test]
    fn normalised_values_subtract_the_mean_and_divide_by_the_deviation() {
        let normalizer = Normalizer { moments: Vec::new(), mean: vec![0.5, -30.0, 0.0], scale: vec![4.0, 0.1, 1000.0] };
        let observations: Vec<f32> = (0..2 * 3 * PANEL).map(|i| (i as f32 - 90.0) * 0.07).collect();
        for isa in Isa::available() {
            let mut shown = vec![0.0; observations.len()];
            Normalizer::apply(Some(&normalizer), isa, &observations, &mut shown);
            for (at, (&x, &y)) in observations.iter().zip(&shown).enumerate() {
                let i = at / PANEL % 3;
                let expected = (f64::from(x) - f64::from(normalizer.mean[i])) * f64::from(normalizer.scale[i]);
                close("a normalised value", y, expected.clamp(-10.0, 10.0), 1e-6);
            }
            assert!(shown.contains(&10.0) && shown.contains(&-10.0));
            Normalizer::apply(None, isa, &observations, &mut shown);
            assert_eq!(shown, observations);
        }
    }
}
