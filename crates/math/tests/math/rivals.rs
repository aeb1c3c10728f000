//! Tests of the products of other libraries.

use math::rivals::ALL;
use testkit::test;

#[test]
fn rivals_compute_the_compared_product() {
    let (m, n, k) = (5, 7, 3);
    let a: Vec<f32> = (0..m * k).map(|i| i as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| 0.5 * i as f32 - 4.0).collect();
    let mut right = vec![0.0; m * n];
    for (i, j, l) in (0..m * n * k).map(|x| (x / (n * k), x / k % n, x % k)) {
        right[i * n + j] += a[i * k + l] * b[l * n + j];
    }
    for rival in ALL {
        let mut c = vec![9.0; m * n];
        (rival.product)(m, n, k, &a, &b, &mut c);
        assert_eq!(c, right, "{}", rival.name);
    }
}
