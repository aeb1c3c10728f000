//! What words offloads: steps of the optimiser.

use super::room::Words;
use crate::room::{Offload, Pass};
use learn::words::Learner;
use learn::{Fault, Machine};

impl Words {
    /// Machines come in at boundaries alone, and there is none before it stands.
    fn standing(&mut self) -> &mut Learner {
        self.learner().expect("a text that is prepared")
    }
}

impl Offload for Words {
    fn ways(&self) -> &'static [&'static str] {
        &["Learning on the GPU turned out to be faster."]
    }

    fn trains_meanwhile(&self) -> bool {
        true
    }

    fn is_offloaded(&self) -> bool {
        self.learning().is_some_and(|learning| learning.learner.is_offloaded())
    }

    fn begin_offload(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.betas_changed = false;
        self.standing().begin_offload(machine)
    }

    fn must_offload_again(&self) -> bool {
        self.betas_changed
    }

    fn end_offload(&mut self) {
        if let Some(learner) = self.learner() {
            learner.end_offload();
        }
    }

    fn begin_probe(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.standing().begin_probe(machine)
    }

    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        let slice = self.standing().advance_probe()?;
        Ok(Pass::of(slice, self.pass_work()))
    }

    /// Tokens.
    fn pass_work(&mut self) -> f64 {
        self.standing().iteration_tokens() as f64
    }

    fn end_probe(&mut self) {
        if let Some(learner) = self.learner() {
            learner.end_probe();
        }
    }
}
