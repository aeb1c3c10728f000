//! Tests of numbers with NumPy's rounding.

use testkit::test;
use worlds::internals::{f64_number, from_outside, python, rounded};

/// The expected results are those of NumPy 2 with the operands `np.float32(0.1)`, `0.1` and `np.float64(0.1)`.
#[test]
fn numbers_are_compared_at_the_wider_width() {
    let single = from_outside(rounded(0.1));
    assert!(single == python(0.1) && python(0.1) == single);
    assert!(single > f64_number(0.1) && f64_number(0.1) < single);
    assert!(f64_number(0.1) == python(0.1));
}
