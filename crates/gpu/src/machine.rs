//! A GPU as the machine that learners offload work to.

use crate::backgammon::GpuPublished;
use crate::control::ppo::GpuPpo;
use crate::device::Gpu;
use crate::trainer::Trainer;
use graph::Plan;
use learn::backgammon::published::accelerator::{self as published, OffloadSpec};
use learn::offload::{PlanTrainer, TrainStateRef, serve};
use learn::{Accelerator, Fault, Machine, Snapshot};
use std::any::Any;
use std::sync::Arc;

impl Machine for Gpu {
    fn name(&self) -> String {
        format!("{} ({})", self.about().name, self.about().backend)
    }

    fn is_software(&self) -> bool {
        self.about().software
    }

    fn trainer(&self, plan: &Arc<Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        Ok(Box::new(Trainer::new(self, plan, state)?))
    }

    /// The rooms that have kernels of their own.
    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        let control = |from: &Snapshot| Ok(Box::new(GpuPpo::new(self, from)?) as Box<dyn Accelerator>);
        let backgammon = |spec: &OffloadSpec| {
            Ok(Box::new(GpuPublished::new(self, spec)?) as Box<dyn published::Accelerator>)
        };
        serve(request, control).or_else(|| serve(request, backgammon))
    }
}
