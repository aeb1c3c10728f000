//! State of training on another machine.

use crate::offload::PlanSteps;

pub struct Offloaded {
    pub machine: PlanSteps,
    /// Sequences per run.
    pub micro: usize,
    /// True if the machine keeps the text; then `sent` contains positions in it.
    pub keeps_text: bool,
    pub sent: Vec<f32>,
}

impl AsMut<PlanSteps> for Offloaded {
    fn as_mut(&mut self) -> &mut PlanSteps {
        &mut self.machine
    }
}
