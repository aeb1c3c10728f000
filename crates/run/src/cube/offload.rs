//! What the cube offloads: whole iterations of learners whose steps are large enough, and with them the judging of many states, in
//! tests and in wide searches.

use super::room::Cube;
use crate::room::{Offload, Pass};
use learn::cube::Offloading;
use learn::{Fault, Machine};

impl Cube {
    fn offloading(&mut self) -> &mut dyn Offloading {
        self.agent().offloading().expect("one that can offload was asked for")
    }
}

impl Offload for Cube {
    fn ways(&self) -> &'static [&'static str] {
        &["Learning and judging many states on the GPU turned out to be faster."]
    }

    fn trains_meanwhile(&self) -> bool {
        true
    }

    fn is_offloaded(&self) -> bool {
        self.offloaded
    }

    fn begin_offload(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.end_offload();
        self.agent().lend_judges(machine)?;
        self.offloading().begin_offload(machine)?;
        self.offloaded = true;
        Ok(())
    }

    fn must_offload_again(&self) -> bool {
        self.settings_changed
    }

    fn end_offload(&mut self) {
        (self.offloaded, self.settings_changed) = (false, false);
        self.agent().end_lending();
        if let Some(learner) = self.agent().offloading() {
            learner.end_offload();
        }
    }

    fn begin_probe(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.offloading().begin_probe(machine)
    }

    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        let slice = self.offloading().advance_probe()?;
        Ok(Pass::of(slice, self.pass_work()))
    }

    /// States learned from.
    fn pass_work(&mut self) -> f64 {
        self.offloading().iteration_states() as f64
    }

    fn end_probe(&mut self) {
        self.offloading().end_probe();
    }
}
