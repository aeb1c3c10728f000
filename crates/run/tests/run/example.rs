//! Runs the Rust example.

#[path = "../../../../examples/train.rs"]
#[allow(dead_code)] // the example's `main` is not used
mod train;

use crate::common::host;

#[test]
fn example_trains_until_solved_and_saves() {
    let folder = testkit::Scratch::new("example");
    let file = folder.path("run.safetensors");
    train::train(&file).unwrap();
    let run = run::restore(&std::fs::read(&file).unwrap(), host()).unwrap();
    assert!(run.solved().is_some() && run.progress().iteration > 0);
}
