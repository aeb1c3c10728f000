//! Tests of the rule for measured speeds.

use math::rounds::{Quartiles, sustained_s};
use std::cell::Cell;
use testkit::test;

/// Samples, each with its quartiles by NumPy. The tests of the scripts and of the Python package also use this file.
const CASES: &str = include_str!("../../../../tests/golden/quartiles.txt");

#[test]
fn quartiles_are_numpys() {
    let numbers = |text: &str| -> Vec<f64> { text.split_whitespace().map(|x| x.parse().unwrap()).collect() };
    let cases: Vec<_> = CASES.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(cases.len() >= 6);
    for case in cases {
        let (samples, expected) = case.split_once("->").unwrap();
        let found = Quartiles::of(&numbers(samples));
        assert_eq!([found.lower, found.median, found.upper], numbers(expected)[..], "{case}");
    }
}

#[test]
fn samples_without_an_end_are_infinite() {
    let never = f64::INFINITY;
    let found = Quartiles::of(&[never, 10.0, 30.0, never, 20.0]);
    assert_eq!([found.lower, found.median, found.upper], [20.0, 30.0, never]);
}

#[test]
#[should_panic(expected = "no samples")]
fn without_a_round_there_is_no_figure() {
    Quartiles::of(&[]);
}

/// Every tenth call takes 11 ms, the others 1 ms.
#[test]
fn slow_calls_are_counted() {
    let (clock_s, calls) = (Cell::new(0.0), Cell::new(0));
    let call = || {
        calls.set(calls.get() + 1);
        clock_s.set(clock_s.get() + if calls.get() % 10 == 0 { 0.011 } else { 0.001 });
    };
    let call_s = sustained_s(2.0, &|| clock_s.get(), call);
    assert!((call_s - 0.002).abs() < 1e-4, "{call_s}");
    assert!(clock_s.get() >= 2.0 && clock_s.get() < 2.2, "{clock_s:?}");
}

#[test]
fn a_coarse_clock_ends_the_round() {
    let calls = Cell::new(0u64);
    // The clock advances in steps of 100 µs; a call takes 1 µs.
    let now = || (calls.get() / 100) as f64 * 1e-4;
    let call_s = sustained_s(0.04, &now, || calls.set(calls.get() + 1));
    assert!((call_s - 1e-6).abs() < 1e-8, "{call_s}");
}
