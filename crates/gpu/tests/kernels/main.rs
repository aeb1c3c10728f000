//! Memory, programs, products, plans and training steps on a device.

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
