//! Distances between numbers.

/// Returns the largest of the errors, or 0 if there are no errors. NaN counts as infinity, because `f64::max` and comparisons would ignore
/// NaN.
pub fn worst<T: Into<f64>>(errors: impl IntoIterator<Item = T>) -> f64 {
    let errors = errors.into_iter().map(Into::into);
    errors.map(|error| if error.is_nan() { f64::INFINITY } else { error }).fold(0.0, f64::max)
}

/// Returns the largest absolute difference between corresponding elements of two lists, which must have the same length.
#[track_caller]
pub fn distance<T: Copy + Into<f64>>(found: &[T], wanted: &[T]) -> f64 {
    assert_eq!(found.len(), wanted.len(), "lists of different lengths");
    worst(found.iter().zip(wanted).map(|(&found, &wanted)| (found.into() - wanted.into()).abs()))
}

/// Asserts that each number differs from the expected number by at most `tolerance` times a scale. The scale is the largest absolute value
/// in `expected`, or `least` if `least` is larger.
#[track_caller]
pub fn close<T: Copy + Into<f64>>(what: &str, found: &[f32], expected: &[T], tolerance: f64, least: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(least, |most, &x| most.max(x.into().abs()));
    for (i, (&x, &y)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(x) - y.into()).abs() / scale;
        assert!(error <= tolerance, "{what}: element {i} is {x}, not {}: relative error {error}", y.into());
    }
}
