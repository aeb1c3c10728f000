//! Tests of the control room's PPO learner, its components and its training.

mod actor;
mod advantages;
mod faults;
mod gradients;
mod learning;
mod masks;
mod nets;
mod normalizer;
mod numbers;
mod ppo;
mod sampling;
mod script;
mod wide;

/// Asserts that `found` differs from `expected` by less than `tolerance`. The difference is relative if `expected` is above 1.
#[track_caller]
fn close(what: &str, found: f32, expected: f64, tolerance: f64) {
    let error = (f64::from(found) - expected).abs() / expected.abs().max(1.0);
    assert!(error < tolerance, "{what} is {found}, not {expected}");
}
