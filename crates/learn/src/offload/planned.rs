//! Offloading for every learner that trains by steps of one plan: an iteration's steps follow each other on the machine without an
//! answer, and what came of them is asked for behind the last. So a machine that is lost takes one iteration along.

use super::{Machine, Offload, Pass, PlanTrainer, TrainResult, TrainStateRef};
use crate::{Fault, Learner, Slice};
use graph::{Adam, Optimizer, Params, Plan};
use math::par::Pinned;
use std::sync::Arc;

/// Steps of one plan on another machine, an iteration's at a time.
pub struct PlanSteps {
    trainer: Pinned<Box<dyn PlanTrainer>>,
    trained: TrainResult,
    begun: usize,
    /// Of the newest of them.
    lr: f32,
}

impl PlanSteps {
    /// From where a learner stands.
    pub fn new(machine: &dyn Machine, plan: &Arc<Plan>, params: &Params, optimizer: &Optimizer) -> Result<PlanSteps, Fault> {
        let Optimizer { m, v, steps } = optimizer;
        let state = TrainStateRef { weights: params.values(), m, v, steps: *steps };
        let trainer = Pinned::new(machine.trainer(plan, &state)?);
        Ok(PlanSteps { trainer, trained: TrainResult::default(), begun: 0, lr: 0.0 })
    }

    /// Steps of this iteration that were begun.
    pub fn begun(&self) -> usize {
        self.begun
    }

    /// What came of the last iteration that was answered.
    pub fn trained(&self) -> &TrainResult {
        &self.trained
    }

    pub fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        self.trainer.set_input(name, values)
    }

    /// Begins a run of the next step that is not its last.
    pub fn accumulate(&mut self) -> Result<(), Fault> {
        self.trainer.accumulate()
    }

    /// Begins the next of an iteration's `count` steps, or its last run.
    pub fn step(&mut self, adam: &Adam, count: usize) -> Result<(), Fault> {
        self.trainer.step(adam)?;
        (self.begun, self.lr) = (self.begun + 1, adam.lr);
        if self.begun == count { self.trainer.ask() } else { Ok(()) }
    }

    /// Whether what came of an iteration's steps is here; then the next may begin.
    fn poll(&mut self) -> Result<bool, Fault> {
        let here = self.trainer.poll(&mut self.trained)?;
        if here {
            self.begun = 0;
        }
        Ok(here)
    }
}

/// Another machine with what a learner knows of it, and one that is being tried out.
pub struct Away<M> {
    offloaded: Option<M>,
    probe: Option<M>,
}

impl<M> Away<M> {
    pub const NONE: Away<M> = Away { offloaded: None, probe: None };

    pub fn is_offloaded(&self) -> bool {
        self.offloaded.is_some()
    }
}

/// A learner that trains by steps of one plan.
pub trait Planned: Learner {
    /// A machine, with what the learner knows of it.
    type There: AsMut<PlanSteps>;

    fn away(&self) -> &Away<Self::There>;
    fn away_mut(&mut self) -> &mut Away<Self::There>;
    fn ready(&mut self, machine: &dyn Machine) -> Result<Self::There, Fault>;

    /// Steps of an iteration.
    fn steps(&self) -> usize;
    /// Has the machine begin the next step.
    fn begin_step(&mut self, there: &mut Self::There) -> Result<(), Fault>;
    /// Counts a step that was begun with this learning rate as done.
    fn count_step(&mut self, lr: f32);
    /// Counts those of this iteration as not done: they are done again here.
    fn give_up_begun(&mut self);
    /// Takes over what came of an iteration's steps.
    fn take_over(&mut self, there: &mut Self::There);
    fn end_iteration(&mut self) -> Self::Stats;

    fn now_s(&self) -> f64;
    /// Seconds that the machine has kept this processor.
    fn add_spent(&mut self, seconds: f64);
    /// What an iteration does, in the unit of the rates.
    fn iteration_work(&self) -> f64;
    /// Whether a setting has changed since a machine was made ready that it was told once and for all.
    fn is_outdated(&self) -> bool {
        false
    }
}

/// Begins the machine's next step, or looks whether those of an iteration are answered.
fn go_on<L: Planned>(learner: &mut L, there: &mut L::There) -> Result<Pass, Fault> {
    if there.as_mut().begun < learner.steps() {
        learner.begin_step(there)?;
        Ok(Pass::Worked)
    } else if there.as_mut().poll()? {
        Ok(Pass::Ended(learner.iteration_work()))
    } else {
        Ok(Pass::Waiting)
    }
}

/// A slice of the iteration that the machine works on.
pub(crate) fn advance<L: Planned>(learner: &mut L) -> Slice<L::Stats> {
    let Some(mut there) = learner.away_mut().offloaded.take() else { return Slice::Worked };
    let began_s = learner.now_s();
    let pass = go_on(learner, &mut there);
    match &pass {
        Ok(Pass::Worked) => learner.count_step(there.as_mut().lr),
        Ok(Pass::Ended(_)) => learner.take_over(&mut there),
        Ok(Pass::Waiting) | Err(_) => {}
    }
    learner.add_spent(learner.now_s() - began_s);
    let pass = match pass {
        Ok(pass) => pass,
        Err(fault) => {
            learner.give_up_begun();
            return Slice::Stopped(fault);
        }
    };
    learner.away_mut().offloaded = Some(there);
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
        &["Learning on the GPU turned out to be faster."]
    }

    fn is_offloaded(&self) -> bool {
        self.away().is_offloaded()
    }

    fn begin_offload(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        assert!(self.at_boundary(), "between two iterations");
        let there = self.ready(machine)?;
        self.away_mut().offloaded = Some(there);
        Ok(())
    }

    fn must_offload_again(&self) -> bool {
        self.is_outdated()
    }

    fn end_offload(&mut self) {
        if self.away_mut().offloaded.take().is_some() {
            self.give_up_begun();
        }
    }

    fn begin_probe(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        let there = self.ready(machine)?;
        self.away_mut().probe = Some(there);
        Ok(())
    }

    /// Steps that are thrown away, an iteration a pass.
    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        let Some(mut probe) = self.away_mut().probe.take() else { return Ok(Pass::Waiting) };
        let pass = go_on(self, &mut probe)?;
        self.away_mut().probe = Some(probe);
        Ok(pass)
    }

    fn pass_work(&mut self) -> f64 {
        self.iteration_work()
    }

    fn end_probe(&mut self) {
        self.away_mut().probe = None;
    }
}
