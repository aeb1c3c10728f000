//! Implements `learn::Machine` for a GPU. This trait is the interface of devices that do work for a learner.

use crate::device::Gpu;
use crate::evaluator::Evaluator;
use crate::rooms;
use crate::trainer::Trainer;
use graph::Plan;
use learn::offload::{PlanEvaluator, PlanTrainer, TrainStateRef};
use learn::{Fault, Machine};
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

    fn evaluator(&self, plan: &Arc<Plan>, weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        Ok(Box::new(Evaluator::new(self, plan, weights)?))
    }

    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        rooms::special(self, request)
    }
}
