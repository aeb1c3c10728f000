//! Machines that work for a learner, or try it out, as they stand.

use super::accelerator::{Accelerator, IterationOutput};
use math::par::Pinned;

/// Who works besides the processor.
#[derive(Default)]
pub(super) struct Away {
    pub offloaded: Option<Offloaded>,
    /// A second learner at work on the other machine, of which nothing is taken.
    pub probe: Option<Offloaded>,
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
    pub fn new(accelerator: Box<dyn Accelerator>) -> Offloaded {
        let accelerator = Pinned::new(accelerator);
        Offloaded { accelerator, output: IterationOutput::default(), has_output: false, in_flight: false, began_s: 0.0 }
    }

    pub fn newest(&self) -> Option<&IterationOutput> {
        self.has_output.then_some(&self.output)
    }
}
