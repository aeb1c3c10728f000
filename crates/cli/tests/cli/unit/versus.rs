//! Tests of the comparison with PyTorch.

use bench::Figure;
use cli::internals::words::{MODES, Rival, SHAPES, fastest, python};
use std::process::Command;

/// A mock of the PyTorch script. The mock prints its arguments in place of the version, and fails at the third input line.
const MOCK: &str = "
import json, sys
arguments = sys.argv[1:]
print(json.dumps({'torch': ' '.join(arguments)}), flush=True)
for at, _ in enumerate(sys.stdin):
    if at == 2:
        sys.exit('out of memory')
    print(json.dumps({'tokens_per_s': 100.5 + at}), flush=True)
";

#[test]
fn rival_is_the_mode_with_the_higher_median() {
    // The eager mode has the fastest single round, but the compiled mode has the higher median.
    let eager = Figure::measured("eager", &[10.0, 11.0, 30.0], "");
    let compiled = Figure::measured("compiled", &[12.0, 13.0, 14.0], "");
    assert_eq!(fastest(&[eager.clone(), compiled.clone()]), 1);
    assert_eq!(fastest(&[compiled, eager]), 0);
    assert!(MODES.iter().all(|(modes, ..)| modes.iter().any(|mode| mode.ends_with("-compile"))));
    assert!(MODES.iter().all(|(modes, ..)| modes.iter().any(|mode| !mode.ends_with("-compile"))));
}

#[test]
fn rival_answers_line_by_line_and_its_last_error_is_reported() {
    if Command::new(python()).arg("--version").output().is_err() {
        return testkit::skip("there is no Python");
    }
    let script = std::env::temp_dir().join(format!("hothouse-rival-{}.py", std::process::id()));
    std::fs::write(&script, MOCK).unwrap();
    let mut rival = Rival::start(&script, &SHAPES[0].1, 3, "fp32").unwrap();
    assert_eq!(rival.torch, "65 128 4 4 64 32 3 2 fp32");
    assert_eq!(rival.tokens_per_s().unwrap(), 100.5);
    assert_eq!(rival.tokens_per_s().unwrap(), 101.5);
    let ended = rival.tokens_per_s().unwrap_err().to_string();
    assert!(ended.contains("ended: out of memory"), "{ended}");
    std::fs::remove_file(&script).unwrap();
    assert!(Rival::start(&script, &SHAPES[0].1, 3, "fp32").is_err());
}
