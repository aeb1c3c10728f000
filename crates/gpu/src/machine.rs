//! A GPU as the machine that learners offload work to.

use crate::device::Gpu;
use crate::evaluator::Evaluator;
use crate::trainer::Trainer;
use graph::Plan;
use learn::offload::{PlanEvaluator, PlanTrainer, TrainStateRef};
use learn::{Fault, Machine};
use std::any::Any;
use std::sync::{Arc, RwLock};

/// What a room asks of a device beyond plans, served where the request is that room's.
pub type Special = fn(&Gpu, &dyn Any) -> Option<Result<Box<dyn Any>, Fault>>;

/// The rooms that have kernels of their own.
#[cfg(feature = "every_room")]
static SPECIAL: &[Special] = &[crate::control::special, crate::backgammon::special, crate::logic::special];
#[cfg(not(feature = "every_room"))]
static SPECIAL: &[Special] = &[];
/// Those that a shell adds.
static MORE: RwLock<Vec<Special>> = RwLock::new(Vec::new());

/// Adds a room's kernels, before any device is offered to a run.
pub fn add_special(special: Special) {
    MORE.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(special);
}

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
        let more = MORE.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        SPECIAL.iter().chain(more.iter()).find_map(|serve| serve(self, request))
    }
}
