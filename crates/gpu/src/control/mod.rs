//! Control tasks on a GPU: environments, and whole iterations of PPO.

mod ppo;
mod worlds;

pub use ppo::GpuPpo;
pub use worlds::{POLY, RNG, Stepping, World, Worlds, world};

use crate::Gpu;
use learn::Fault;
use learn::control::{Accelerator, Snapshot};
use learn::offload::serve;
use std::any::Any;

/// Creates a [`GpuPpo`] if `request` is a [`Snapshot`]; else returns `None`.
pub fn special(gpu: &Gpu, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
    serve(request, |from: &Snapshot| Ok(Box::new(ppo::GpuPpo::new(gpu, from)?) as Box<dyn Accelerator>))
}
