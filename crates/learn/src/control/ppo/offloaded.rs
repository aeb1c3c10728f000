//! Machines that work for a learner, or try it out, as they stand.

use super::accelerator::{Accelerator, IterationOutput};
use math::par::Pinned;

/// Who works besides the processor.
#[derive(Default)]
pub(super) struct Away {
    pub offloaded: Option<Offloaded>,
    pub probe: Option<Probe>,
    /// Steps are to be given back.
    pub record: bool,
}

/// A machine that works for a learner.
pub(super) struct Offloaded {
    pub accelerator: Pinned<Box<dyn Accelerator>>,
    /// Of the newest iteration, once there is one: then the environments stand here.
    pub output: IterationOutput,
    pub has_output: bool,
    pub in_flight: bool,
    pub began_s: f64,
}

impl Offloaded {
    pub fn is_in_flight(&self) -> bool {
        self.in_flight
    }

    pub fn newest(&self) -> Option<&IterationOutput> {
        self.has_output.then_some(&self.output)
    }
}

/// A second learner at work on the other machine, of which nothing is taken.
pub(super) struct Probe {
    pub accelerator: Pinned<Box<dyn Accelerator>>,
    pub output: IterationOutput,
    pub in_flight: bool,
}
