//! Tests of runs in environments from files.

use crate::common::*;
use run::protocol::{Config, Dataset};

const CATCH: &str = include_str!("../../../worlds/src/control/script/templates/catch.py");
/// `OWN` of the room.
const OWN: &str = "own";

fn file(name: &str, text: &str) -> Config {
    let data = Some(Dataset::new(name, text.as_bytes().to_vec()));
    Config { data, ..small("control", OWN, 3) }
}

#[test]
fn file_trains_and_its_checkpoint_resumes_bit_for_bit() {
    let config = file("catch.py", CATCH);
    let whole = trained(&config, 4);
    let mut resumed = resume(&saved(&mut *trained(&config, 2)));
    train(&mut *resumed, 4);
    assert_eq!(resumed.digest(), whole.digest());
    assert_eq!(resumed.variant().name, "catch.py");
}

#[test]
fn each_fault_of_a_file_is_refused_with_its_line() {
    let cases = [
        ("class World:\n    def reset(self):\n        self.x = 1 +\n", "line 3"),
        ("\u{feff}", "catch.py"),
        (&"x = 1\n".repeat(60_000), "at most 256 kB"),
    ];
    for (text, expected) in cases {
        let error = run::validate(&file("catch.py", text), host()).unwrap_err();
        assert!(clear(&error).contains(expected), "{error}");
    }
}

#[test]
fn variant_without_its_file_and_file_with_another_variant_are_refused() {
    let config = Config { data: None, ..file("catch.py", CATCH) };
    assert!(clear(&begin_error(&config)).contains("needs its file"));
    let config = Config { variant: "CartPole-v1".into(), ..file("catch.py", CATCH) };
    assert!(clear(&begin_error(&config)).contains("built-in environment"));
}
