//! Tests of the random order of an epoch's samples.

use math::{Rng, Shuffle};
use testkit::test;

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
            // Adjacent elements are far apart on average: the mean distance of two random numbers below n is n/3.
            let far = a.windows(2).map(|w| f64::from(w[0].abs_diff(w[1]))).sum::<f64>() / count as f64;
            assert!((far / count as f64 - 1.0 / 3.0).abs() < 0.02, "{far} of {count}");
            // A minibatch covers the whole range: its mean is near the middle.
            for part in a.chunks_exact(count / 4) {
                let mean = part.iter().map(|&x| f64::from(x)).sum::<f64>() / part.len() as f64;
                assert!((mean / count as f64 - 0.5).abs() < 0.04, "{mean} of {count}");
            }
        }
    }
}
