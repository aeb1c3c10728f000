//! Helpers for the tests of several PPO modules.

#[track_caller]
pub fn close(what: &str, found: f32, expected: f64, tolerance: f64) {
    let error = (f64::from(found) - expected).abs() / expected.abs().max(1.0);
    assert!(error < tolerance, "{what} is {found}, not {expected}");
}
