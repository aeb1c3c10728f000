//! Control on the device: its environments, and PPO whole.

pub(crate) mod ppo;
pub(crate) mod worlds;

use crate::Gpu;
use learn::offload::serve;
use learn::{Accelerator, Fault, Start};
use std::any::Any;

/// Whole iterations of PPO.
pub fn special(gpu: &Gpu, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
    serve(request, |start: &Start| Ok(Box::new(ppo::OnGpu::new(gpu, start)?) as Box<dyn Accelerator>))
}
