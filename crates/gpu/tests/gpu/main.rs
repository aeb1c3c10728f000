//! The tests of the gpu crate in one binary: memory, programs, products, plans and training steps on a device, and the offloaded work of
//! rooms.

mod backgammon;
mod common;
mod environments;
#[path = "../../../worlds/tests/worlds/fleet.rs"]
mod fleet;
#[cfg(not(target_family = "wasm"))]
mod half;
mod logic;
mod lunar_lander;
mod memory;
#[path = "../../../graph/tests/graph/nets.rs"]
mod nets;
#[path = "../../../graph/tests/graph/pieces.rs"]
mod pieces;
mod plans;
#[path = "../../../worlds/tests/worlds/point.rs"]
mod point;
mod ppo;
mod product;
mod script;
#[path = "../../../worlds/tests/worlds/script_fleet.rs"]
#[allow(dead_code, reason = "tests of the crate `worlds` use the rest")]
mod script_fleet;
mod shader;
#[cfg(not(target_family = "wasm"))]
mod trainer;

use gpu::{Gpu, Program, Readback, Region, Space};

fn noise(stream: u32, len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    math::Rng::new(7, stream).fill_normal(math::Isa::best(), 0, &mut values);
    values
}

/// Runs a program in a new memory: writes the regions in `written`, executes the program, and returns the contents of the regions in
/// `read`.
async fn run_program(gpu: &Gpu, program: &mut Program, space: &Space, written: &[(Region, &[f32])], read: &[Region]) -> Vec<Vec<f32>> {
    let memory = space.allocate(gpu).unwrap();
    program.bind(&memory);
    written.iter().for_each(|(at, values)| memory.write_floats(*at, values));
    submit(gpu, program, 0..program.len());
    Readback::new(&memory, read, &[]).fetch().await.unwrap().0
}

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
