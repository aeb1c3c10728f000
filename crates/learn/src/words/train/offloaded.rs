//! Steps on another machine, as they stand.

use crate::offload::PlanSteps;

pub struct Offloaded {
    pub machine: PlanSteps,
    /// Sequences at once.
    pub micro: usize,
    /// It has the text, and what it is sent are places in it.
    pub keeps_text: bool,
    pub sent: Vec<f32>,
}

impl AsMut<PlanSteps> for Offloaded {
    fn as_mut(&mut self) -> &mut PlanSteps {
        &mut self.machine
    }
}
