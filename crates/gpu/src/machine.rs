//! A GPU as the machine that learners offload work to.

use crate::backgammon::CoachOnGpu;
use crate::control::ppo::OnGpu;
use crate::device::Gpu;
use crate::trainer::Trainer;
use graph::Plan;
use learn::backgammon::published::away::{Blueprint, Coach};
use learn::offload::{PlanTrainer, Standing, serve};
use learn::{Accelerator, Fault, Machine, Start};
use std::any::Any;
use std::sync::Arc;

impl Machine for Gpu {
    fn name(&self) -> String {
        format!("{} ({})", self.about().name, self.about().backend)
    }

    fn is_software(&self) -> bool {
        self.about().software
    }

    fn trainer(&self, plan: &Arc<Plan>, standing: &Standing) -> Result<Box<dyn PlanTrainer>, Fault> {
        Ok(Box::new(Trainer::new(self, plan, standing)?))
    }

    /// The rooms that have kernels of their own.
    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        let control = |start: &Start| Ok(Box::new(OnGpu::new(self, start)?) as Box<dyn Accelerator>);
        let backgammon = |of: &Blueprint| Ok(Box::new(CoachOnGpu::new(self, of)?) as Box<dyn Coach>);
        serve(request, control).or_else(|| serve(request, backgammon))
    }
}
