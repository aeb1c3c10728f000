//! Tests of `hothouse bench --profile`.

use crate::common::*;

/// This test uses the real clock. A test of `bench::profile` uses a simulated clock, and checks that the times of the operations add up to
/// the time of the step.
#[test]
fn profile_contains_every_part_of_a_step() {
    let scratch = Scratch::new();
    let log = scratch.stdout("bench core --profile --json");
    let rows = values(&log);
    for step in ["core.step_144_128_64_6_b64.profile.", "core.train.mlp2048.profile."] {
        let value = |name: &str| {
            let row = rows.iter().find(|row| row["name"] == format!("{step}{name}"));
            row.unwrap_or_else(|| panic!("{step}{name} is not in {log}"))["value"].as_f64().unwrap()
        };
        let (all, whole) = (value("all"), value("step"));
        let parts = rows.iter().filter(|row| row["unit"].as_str().unwrap().contains(" calls, "));
        let parts = parts.filter(|row| row["name"].as_str().unwrap().starts_with(step));
        let sum: f64 = parts.map(|row| row["value"].as_f64().unwrap()).sum();
        assert!(sum > 0.0 && all > 0.0 && whole > 0.0, "{step}: {sum}, {all} and {whole} ms");
        assert!(rows.iter().all(|row| row["lower"].as_f64() <= row["value"].as_f64()));
    }
    assert!(log.contains("core.train.mlp2048.profile.linear_dw.1536x2048x2048"), "{log}");
}

#[test]
fn profile_error_names_the_valid_suites() {
    let scratch = Scratch::new();
    for room in ["gpu", "logic", "control"] {
        let message = scratch.fails(format!("bench {room} --profile"), 2, "--profile measures core and words, not");
        assert!(message.contains("Choose core or words"), "{message}");
    }
    scratch.fails("bench words --profile --versus pytorch", 2, "");
}
