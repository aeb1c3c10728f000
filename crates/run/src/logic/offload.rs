//! What logic offloads: updates of the whole population.

use super::room::Logic;
use crate::room::{Offload, Pass};
use learn::{Fault, Machine};

impl Offload for Logic {
    fn ways(&self) -> &'static [&'static str] {
        &["Learning on the GPU turned out to be faster."]
    }

    fn trains_meanwhile(&self) -> bool {
        true
    }

    fn is_offloaded(&self) -> bool {
        self.population.is_offloaded()
    }

    fn begin_offload(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.population.begin_offload(machine)
    }

    fn end_offload(&mut self) {
        self.population.end_offload();
    }

    fn begin_probe(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.population.begin_probe(machine)
    }

    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        let slice = self.population.advance_probe()?;
        Ok(Pass::of(slice, self.pass_work()))
    }

    /// Updates.
    fn pass_work(&mut self) -> f64 {
        self.population.iteration_updates() as f64
    }

    fn end_probe(&mut self) {
        self.population.end_probe();
    }
}
