//! State of training on another machine.

use crate::offload::PlanSteps;

pub struct Offloaded {
    pub machine: PlanSteps,
    /// Number of sequences per run.
    pub micro: usize,
    /// True if the machine keeps the text.
    pub keeps_text: bool,
    /// Latest input of a run: the index of each sequence's first token if the machine keeps the text, otherwise the tokens of the windows.
    pub sent: Vec<f32>,
}

impl AsMut<PlanSteps> for Offloaded {
    fn as_mut(&mut self) -> &mut PlanSteps {
        &mut self.machine
    }
}
