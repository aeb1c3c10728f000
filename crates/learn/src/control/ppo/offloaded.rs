//! Machines that a learner uses besides the CPU, with their latest outputs.

use super::accelerator::{Accelerator, IterationOutput};
use math::par::Pinned;

/// The machine in use and the machine of a probe.
#[derive(Default)]
pub(super) struct OffloadSlots {
    pub offloaded: Option<Offloaded>,
    /// Machine of a probe. A probe measures the machine's speed, and the results of its iterations are discarded.
    pub probe: Option<Offloaded>,
    /// True if each iteration of `offloaded` must also return the recorded steps of the first environments, so that these steps can be
    /// drawn.
    pub record: bool,
}

/// Machine that runs iterations of a learner.
pub(super) struct Offloaded {
    pub accelerator: Pinned<Box<dyn Accelerator>>,
    /// Value of the setting `clip_value` with which the machine's graph of the loss was built.
    pub clip_value: bool,
    /// Output of the latest iteration, with the current state of the environments; valid only if `has_output` is true.
    pub output: IterationOutput,
    pub has_output: bool,
    /// True if an iteration has started and its output has not arrived.
    pub in_flight: bool,
    /// Start of the iteration in flight, in seconds of the profiling clock.
    pub began_s: f64,
}

impl Offloaded {
    pub fn new(accelerator: Box<dyn Accelerator>, clip_value: bool) -> Offloaded {
        let accelerator = Pinned::new(accelerator);
        Offloaded { accelerator, clip_value, output: IterationOutput::default(), has_output: false, in_flight: false, began_s: 0.0 }
    }

    pub fn newest(&self) -> Option<&IterationOutput> {
        self.has_output.then_some(&self.output)
    }
}
