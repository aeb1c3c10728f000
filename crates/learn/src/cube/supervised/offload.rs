//! Steps of the supervised learners on another machine: samples are drawn here and sent, an iteration's steps follow each other
//! without an answer, and what came of them is asked for at its end.

use super::Supervised;
use crate::cube::{Cube, Learner, Offloading, Slice, Stats};
use crate::offload::{PlanSteps, ProbeSlice, TrainResult};
use crate::{Fault, Machine};

impl<P: Cube> Supervised<P> {
    fn ready(&self, machine: &dyn Machine) -> Result<PlanSteps, Fault> {
        PlanSteps::new(machine, self.trainer.plan(), &self.trainer.params, &self.trainer.optimizer)
    }

    /// Draws the samples of the next step and begins it, and asks after the last one; the learning rate that it has.
    fn begin_step(&mut self, machine: &mut PlanSteps) -> Result<f32, Fault> {
        self.draw();
        for name in ["active", "target"] {
            machine.set_input(name, self.trainer.input_mut(name))?;
        }
        let adam = self.config.adam(self.trainer.optimizer.steps + machine.begun() as u64);
        machine.step(&adam, self.config.updates)?;
        Ok(adam.lr)
    }

    pub(super) fn advance_offloaded(&mut self) -> Slice {
        let Some(mut machine) = self.offloaded.take() else { return Slice::Worked };
        let began = (self.clock)();
        let slice = if self.update < self.config.updates {
            self.begin_step(&mut machine).map(|lr| {
                self.sums.lr += lr;
                self.update += 1;
                self.progress.updates += 1;
                self.progress.states += self.config.rows() as u64;
                Slice::Worked
            })
        } else {
            machine.poll().map(|trained| {
                let Some(trained) = trained else { return Slice::Waiting };
                self.take_over(trained);
                Slice::Iteration(self.end_iteration())
            })
        };
        self.sums.parts_s[3] += (self.clock)() - began;
        match slice {
            Ok(slice) => {
                self.offloaded = Some(machine);
                slice
            }
            Err(fault) => {
                self.give_up_begun();
                Slice::Stopped(fault)
            }
        }
    }

    /// Steps that were begun and not answered are done again here.
    fn give_up_begun(&mut self) {
        self.progress.updates -= self.update as u64;
        self.progress.states -= (self.update * self.config.rows()) as u64;
        (self.update, self.sums) = (0, Stats::default());
    }

    fn take_over(&mut self, trained: &TrainResult) {
        trained.put(&mut self.trainer.params, &mut self.trainer.optimizer);
        self.trainer.pack();
        // Of the newest step alone, which stands for all.
        let updates = self.update as f32;
        self.sums.loss = updates * trained.outputs[0].1[0];
        self.sums.grad_norm = updates * trained.norm;
    }
}

impl<P: Cube> Offloading for Supervised<P> {
    fn is_offloaded(&self) -> bool {
        self.offloaded.is_some()
    }

    fn begin_offload(&mut self, machine: &dyn Machine) -> Result<(), Fault> {
        assert!(self.at_boundary(), "between two iterations");
        self.offloaded = Some(self.ready(machine)?);
        Ok(())
    }

    fn end_offload(&mut self) {
        if self.offloaded.take().is_some() {
            self.give_up_begun();
        }
    }

    fn begin_probe(&mut self, machine: &dyn Machine) -> Result<(), Fault> {
        self.probe = Some(self.ready(machine)?);
        Ok(())
    }

    fn advance_probe(&mut self) -> Result<ProbeSlice, Fault> {
        let Some(mut probe) = self.probe.take() else { return Ok(ProbeSlice::Waiting) };
        // Samples that the next step here draws again.
        let slice = if probe.begun() < self.config.updates {
            self.begin_step(&mut probe)?;
            ProbeSlice::Worked
        } else if probe.poll()?.is_some() {
            ProbeSlice::Passed
        } else {
            ProbeSlice::Waiting
        };
        self.probe = Some(probe);
        Ok(slice)
    }

    fn end_probe(&mut self) {
        self.probe = None;
    }

    fn iteration_states(&self) -> u64 {
        (self.config.updates * self.config.rows()) as u64
    }
}
