//! State of the machines that work for a learner or are being timed.

use super::accelerator::{Accelerator, IterationOutput};
use math::par::Pinned;

/// Machines in use besides the CPU.
#[derive(Default)]
pub(super) struct OffloadSlots {
    pub offloaded: Option<Offloaded>,
    /// Second learner on another machine, for timing; its results are discarded.
    pub probe: Option<Offloaded>,
    /// True if recorded steps are returned.
    pub record: bool,
}

/// Machine that works for a learner.
pub(super) struct Offloaded {
    pub accelerator: Pinned<Box<dyn Accelerator>>,
    /// Output of the newest iteration; if there is one, it contains the state of the environments.
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
