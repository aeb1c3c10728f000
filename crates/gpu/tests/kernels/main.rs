//! Tests of memory, programs, products, plans and training steps on a device.

#[path = "../common/mod.rs"]
mod common;
#[cfg(not(target_family = "wasm"))]
mod half;
mod memory;
#[path = "../../../graph/tests/graph/nets.rs"]
mod nets;
#[path = "../../../graph/tests/graph/pieces.rs"]
mod pieces;
mod plans;
mod product;
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
    let mut encoder = gpu.encoder();
    program.encode(&mut encoder, 0..program.len());
    gpu.submit(encoder);
    Readback::new(&memory, read, &[]).fetch().await.unwrap().0
}
