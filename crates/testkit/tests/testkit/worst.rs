//! Tests of distances between numbers.

use testkit::{distance, worst};

#[test]
fn worst_is_the_largest_error_and_nan_counts_as_infinite() {
    assert_eq!(worst([0f64; 0]), 0.0);
    assert_eq!(worst([0.5f32, 2.0, 1.0]), 2.0);
    for at in 0..3 {
        let mut errors = [0.5, 2.0, 1.0];
        errors[at] = f64::NAN;
        assert_eq!(worst(errors), f64::INFINITY, "{at}");
    }
    assert_eq!(distance(&[1.0f32, 2.0], &[1.5, 2.0]), 0.5);
    assert_eq!(distance(&[1.0, f64::NAN], &[1.0, 1.0]), f64::INFINITY);
    assert_eq!(distance(&[1.0, f64::INFINITY], &[1.0, f64::INFINITY]), f64::INFINITY);
}
