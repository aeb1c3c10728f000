//! State of a population's updates on another machine.

use crate::Fault;
use crate::logic::offload::{Accelerator, Trained};
use math::par::Pinned;

/// Machine that updates all members, and the data that the machine and the CPU exchange.
pub struct Offloaded {
    pub machine: Pinned<Box<dyn Accelerator>>,
    pub trained: Trained,
    /// For each member, the seed and the number of updates of the copy on the machine; `None` before the first copy was sent.
    pub sent: Vec<Option<(u32, u64)>>,
    /// Number of updates started in this iteration, or in this pass of a probe.
    pub begun: u32,
    /// For each member, true if the member trains in this iteration.
    pub learns: Vec<bool>,
    pub starts: Vec<f32>,
    pub targets: Vec<f32>,
}

impl Offloaded {
    /// Returns true if the result of all started updates has been received. In this case, also resets `begun` to 0.
    pub fn is_here(&mut self) -> Result<bool, Fault> {
        let Offloaded { machine, trained, .. } = self;
        let here = machine.with_mut(|there| there.poll(trained))?;
        if here {
            self.begun = 0;
        }
        Ok(here)
    }
}
