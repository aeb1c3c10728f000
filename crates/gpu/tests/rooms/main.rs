//! Tests of the offloaded work of rooms: worlds and learners.

mod backgammon;
#[path = "../common/mod.rs"]
mod common;
mod environments;
#[path = "../../../worlds/tests/worlds/fleet.rs"]
mod fleet;
mod logic;
mod lunar_lander;
#[path = "../../../worlds/tests/worlds/point.rs"]
mod point;
mod ppo;
mod script;
#[path = "../../../worlds/tests/worlds/script_fleet.rs"]
#[allow(dead_code, reason = "tests of the crate `worlds` use the rest")]
mod script_fleet;

use gpu::{Gpu, Program, Readback, Space};

/// Waits until all earlier submits are done. For this purpose, it waits for a new readback, which arrives after them.
async fn pause(gpu: &Gpu) {
    let mut space = Space::default();
    let region = space.floats(1);
    let memory = space.allocate(gpu).unwrap();
    Readback::new(&memory, &[region], &[]).fetch().await.unwrap();
}

fn submit(gpu: &Gpu, program: &Program, range: std::ops::Range<usize>) {
    let mut encoder = gpu.encoder();
    program.encode(&mut encoder, range);
    gpu.submit(encoder);
}

/// Asserts that values are equal up to `most` times the largest value.
#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f32], most: f32) {
    testkit::close(what, found, expected, most.into(), 1e-6);
}
