//! Offloaded training of the supervised learners. The CPU draws the samples and sends them to the device.

use super::Supervised;
use crate::cube::{Cube, Stats};
use crate::offload::{OffloadSlots, PlanSteps, Planned};
use crate::{Fault, Machine};

impl<P: Cube> Planned for Supervised<P> {
    type There = PlanSteps;

    fn slots(&self) -> &OffloadSlots<PlanSteps> {
        &self.away
    }

    fn slots_mut(&mut self) -> &mut OffloadSlots<PlanSteps> {
        &mut self.away
    }

    fn ready(&mut self, machine: &dyn Machine) -> Result<PlanSteps, Fault> {
        PlanSteps::new(machine, self.trainer.plan(), &self.trainer.params, &self.trainer.optimizer)
    }

    fn steps(&self) -> usize {
        self.config.steps.updates
    }

    /// Draws the samples of the next step and sends them to the device. Samples depend only on the seed and the number of the step. After a
    /// probe (a measurement of the device's speed), training therefore draws the same samples again.
    fn begin_step(&mut self, machine: &mut PlanSteps) -> Result<(), Fault> {
        self.draw();
        for name in ["active", "target"] {
            machine.set_input(name, self.trainer.input_mut(name))?;
        }
        let adam = self.config.steps.adam(self.trainer.optimizer.steps + machine.begun() as u64);
        machine.step(&adam, self.config.steps.updates)
    }

    fn count_step(&mut self, lr: f32) {
        self.sums.lr += lr;
        self.update += 1;
        self.progress.updates += 1;
        self.progress.states += self.config.rows() as u64;
    }

    fn discard_started_steps(&mut self) {
        self.progress.updates -= self.update as u64;
        self.progress.states -= (self.update * self.config.rows()) as u64;
        (self.update, self.sums) = (0, Stats::default());
    }

    fn apply_result(&mut self, machine: &mut PlanSteps) {
        let trained = machine.trained();
        trained.put(&mut self.trainer.params, &mut self.trainer.optimizer);
        self.trainer.pack();
        // The device reports the loss and the gradient norm of the latest step only. The sums count these two values for every step of the
        // iteration.
        let updates = self.update as f32;
        self.sums.loss = updates * trained.outputs[0].1[0];
        self.sums.grad_norm = updates * trained.norm;
    }

    fn end_iteration(&mut self) -> Stats {
        self.finish()
    }

    fn now_s(&self) -> f64 {
        (self.clock)()
    }

    fn add_spent(&mut self, seconds: f64) {
        self.sums.parts_s[3] += seconds;
    }

    /// Returns the number of states that an iteration uses.
    fn iteration_work(&self) -> f64 {
        (self.config.steps.updates * self.config.rows()) as f64
    }
}
