//! Updates of a population on another machine, as they stand.

use crate::Fault;
use crate::logic::offload::{Accelerator, Trained};
use math::par::Pinned;

/// Somebody who updates all members.
pub struct Offloaded {
    pub machine: Pinned<Box<dyn Accelerator>>,
    pub trained: Trained,
    /// Seed and updates of each member as it stands there.
    pub standing: Vec<Option<(u32, u64)>>,
    /// Updates of this iteration, or pass, that were begun, and who takes part.
    pub begun: u32,
    pub learns: Vec<bool>,
    pub starts: Vec<f32>,
    pub targets: Vec<f32>,
}

impl Offloaded {
    /// Whether all that was begun has been answered.
    pub fn is_here(&mut self) -> Result<bool, Fault> {
        let Offloaded { machine, trained, .. } = self;
        let here = machine.with_mut(|there| there.poll(trained))?;
        if here {
            self.begun = 0;
        }
        Ok(here)
    }
}
