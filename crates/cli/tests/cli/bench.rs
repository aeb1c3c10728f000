//! `hothouse bench` on the command line: where the time of a training step goes.

use crate::common::*;

/// With the real clock. That parts add up to the step is tested with a clock of ticks, in `bench::profile`.
#[test]
fn a_profile_has_every_part_of_a_step() {
    let scratch = Scratch::new();
    let told = scratch.told("bench core --profile --json");
    let rows = values(&told);
    for step in ["core.step_144_128_64_6_b64.profile.", "core.train.mlp2048.profile."] {
        let value = |name: &str| {
            let row = rows.iter().find(|row| row["name"] == format!("{step}{name}"));
            row.unwrap_or_else(|| panic!("{step}{name} is not in {told}"))["value"].as_f64().unwrap()
        };
        let (all, whole) = (value("all"), value("step"));
        let parts = rows.iter().filter(|row| row["unit"].as_str().unwrap().contains(" calls, "));
        let parts = parts.filter(|row| row["name"].as_str().unwrap().starts_with(step));
        let sum: f64 = parts.map(|row| row["value"].as_f64().unwrap()).sum();
        assert!(sum > 0.0 && all > 0.0 && whole > 0.0, "{step}: {sum}, {all} and {whole} ms");
        assert!(rows.iter().all(|row| row["lower"].as_f64() <= row["value"].as_f64()));
    }
    assert!(told.contains("core.train.mlp2048.profile.linear_dw.1536x2048x2048"), "{told}");
}

#[test]
fn what_is_not_profiled_names_what_is() {
    let scratch = Scratch::new();
    for room in ["gpu", "logic", "control"] {
        let said = scratch.refused(format!("bench {room} --profile"), 2, "--profile measures core and words, not");
        assert!(said.contains("Choose core or words"), "{said}");
    }
    scratch.refused("bench words --profile --versus pytorch", 2, "");
}
