//! Running moments, and normalised observations.

use super::close;
use learn::internals::ppo::{Moments, Normalizer};
use math::rng::uniform_from_word;
use math::{Isa, PANEL, Rng};

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
