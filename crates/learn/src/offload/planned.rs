//! Offloading for all learners whose training steps run a single plan. The learner requests one result per iteration, after the last step.
//! If the machine is lost, the CPU repeats at most one iteration.

use super::{Machine, Offload, Pass, PlanTrainer, TrainResult, TrainStateRef};
use crate::{Fault, Learner, Slice};
use graph::{Adam, Optimizer, Params, Plan};
use math::par::Pinned;
use std::sync::Arc;

/// Trainer of one plan on another machine, with a counter of the steps that have started in the current iteration. The counter returns to 0
/// when the iteration's result has arrived.
pub struct PlanSteps {
    trainer: Pinned<Box<dyn PlanTrainer>>,
    trained: TrainResult,
    begun: usize,
    /// Learning rate of the latest started step.
    lr: f32,
}

impl PlanSteps {
    /// Creates a trainer on `machine` that starts from the learner's current `params` and `optimizer`.
    pub fn new(machine: &dyn Machine, plan: &Arc<Plan>, params: &Params, optimizer: &Optimizer) -> Result<PlanSteps, Fault> {
        let Optimizer { m, v, steps } = optimizer;
        let state = TrainStateRef { weights: params.values(), m, v, steps: *steps };
        let trainer = Pinned::new(machine.trainer(plan, &state)?);
        Ok(PlanSteps { trainer, trained: TrainResult::default(), begun: 0, lr: 0.0 })
    }

    /// Returns the number of steps of the current iteration that have started.
    pub fn begun(&self) -> usize {
        self.begun
    }

    /// Returns the result of the last complete iteration.
    pub fn trained(&self) -> &TrainResult {
        &self.trained
    }

    pub fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        self.trainer.set_input(name, values)
    }

    /// Starts a run of the plan for the next step, without an update. For the last run of a step, call [`PlanSteps::step`] instead.
    pub fn accumulate(&mut self) -> Result<(), Fault> {
        self.trainer.accumulate()
    }

    /// Starts the last run of the plan for the next step, and then the update of this step. After the last of the iteration's `count`
    /// steps, also requests the result.
    pub fn step(&mut self, adam: &Adam, count: usize) -> Result<(), Fault> {
        self.trainer.step(adam)?;
        (self.begun, self.lr) = (self.begun + 1, adam.lr);
        if self.begun == count { self.trainer.ask() } else { Ok(()) }
    }

    /// Returns true if the result of an iteration has arrived. The next iteration may then begin.
    fn poll(&mut self) -> Result<bool, Fault> {
        let here = self.trainer.poll(&mut self.trained)?;
        if here {
            self.begun = 0;
        }
        Ok(here)
    }
}

/// Slots for the machine in use and for the machine of a probe (a measurement of speed). `M` consists of a machine and the learner's data
/// for this machine.
pub struct OffloadSlots<M> {
    offloaded: Option<M>,
    probe: Option<M>,
}

impl<M> OffloadSlots<M> {
    pub const NONE: OffloadSlots<M> = OffloadSlots { offloaded: None, probe: None };

    pub fn is_offloaded(&self) -> bool {
        self.offloaded.is_some()
    }
}

/// Learner whose training steps run a single plan.
pub trait Planned: Learner {
    /// A machine, and the learner's data for this machine.
    type There: AsMut<PlanSteps>;

    fn slots(&self) -> &OffloadSlots<Self::There>;
    fn slots_mut(&mut self) -> &mut OffloadSlots<Self::There>;
    fn ready(&mut self, machine: &dyn Machine) -> Result<Self::There, Fault>;

    /// Returns the number of steps in an iteration.
    fn steps(&self) -> usize;
    /// Starts the next step on the machine.
    fn begin_step(&mut self, there: &mut Self::There) -> Result<(), Fault>;
    /// Advances the learner's counters by one step, after the step has started. `lr` is the learning rate of the step.
    fn count_step(&mut self, lr: f32);
    /// Undoes [`Planned::count_step`] for all steps of the current iteration, because the CPU repeats these steps.
    fn discard_started_steps(&mut self);
    /// Copies the machine's result of the latest iteration into the learner.
    fn apply_result(&mut self, there: &mut Self::There);
    fn end_iteration(&mut self) -> Self::Stats;

    fn now_s(&self) -> f64;
    /// Adds the duration of a slice of offloaded work, in seconds, to the statistics.
    fn add_spent(&mut self, seconds: f64);
    /// Returns the amount of work of an iteration, in the unit of [`Offload::pass_work`].
    fn iteration_work(&self) -> f64;
    /// Returns true if a setting has changed since the machine was prepared, and the machine still uses the old value. [`Planned::ready`]
    /// must then prepare the machine again.
    fn is_outdated(&self) -> bool {
        false
    }
}

/// Starts the next step. If all steps of the iteration have started, polls for the result instead.
fn advance_machine<L: Planned>(learner: &mut L, there: &mut L::There) -> Result<Pass, Fault> {
    if there.as_mut().begun < learner.steps() {
        learner.begin_step(there)?;
        Ok(Pass::Worked)
    } else if there.as_mut().poll()? {
        Ok(Pass::Ended(learner.iteration_work()))
    } else {
        Ok(Pass::Waiting)
    }
}

/// Runs one slice of an offloaded iteration.
pub(crate) fn advance<L: Planned>(learner: &mut L) -> Slice<L::Stats> {
    let Some(mut there) = learner.slots_mut().offloaded.take() else { return Slice::Worked };
    let began_s = learner.now_s();
    let pass = advance_machine(learner, &mut there);
    match &pass {
        Ok(Pass::Worked) => learner.count_step(there.as_mut().lr),
        Ok(Pass::Ended(_)) => learner.apply_result(&mut there),
        Ok(Pass::Waiting) | Err(_) => {}
    }
    learner.add_spent(learner.now_s() - began_s);
    let pass = match pass {
        Ok(pass) => pass,
        Err(fault) => {
            learner.discard_started_steps();
            return Slice::Stopped(fault);
        }
    };
    learner.slots_mut().offloaded = Some(there);
    match pass {
        Pass::Worked => Slice::Worked,
        Pass::Waiting => Slice::Waiting,
        Pass::Ended(_) => Slice::Ended(learner.end_iteration()),
    }
}

impl AsMut<PlanSteps> for PlanSteps {
    fn as_mut(&mut self) -> &mut PlanSteps {
        self
    }
}

impl<L: Planned> Offload for L {
    fn ways(&self) -> &'static [&'static str] {
        &["Training on the GPU is faster."]
    }

    fn is_offloaded(&self) -> bool {
        self.slots().is_offloaded()
    }

    fn begin_offload(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        assert!(self.at_boundary(), "offloading begins between two iterations");
        let there = self.ready(machine)?;
        self.slots_mut().offloaded = Some(there);
        Ok(())
    }

    fn must_offload_again(&self) -> bool {
        self.is_outdated()
    }

    fn end_offload(&mut self) {
        if self.slots_mut().offloaded.take().is_some() {
            self.discard_started_steps();
        }
    }

    fn begin_probe(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        let there = self.ready(machine)?;
        self.slots_mut().probe = Some(there);
        Ok(())
    }

    /// Runs one slice of a probe. A pass is one iteration, whose results are discarded.
    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        let Some(mut probe) = self.slots_mut().probe.take() else { return Ok(Pass::Waiting) };
        let pass = advance_machine(self, &mut probe)?;
        self.slots_mut().probe = Some(probe);
        Ok(pass)
    }

    fn pass_work(&mut self) -> f64 {
        self.iteration_work()
    }

    fn end_probe(&mut self) {
        self.slots_mut().probe = None;
    }
}
