//! State of the published learner's offloaded work.

use super::accelerator::{Accelerator, Answer, DECISION_WORDS, LANES, TrainResult, Work};
use super::selfplay::Games;
use super::trainer::TrainState;
use crate::Fault;
use crate::backgammon::Progress;
use math::par::Pinned;

/// State of the work on other devices: offloaded work and a probe.
#[derive(Default)]
pub(super) struct OffloadSlots {
    pub offloaded: Option<Offloaded>,
    /// Fault of a device that failed between two slices, until it is reported.
    pub failed: Option<Fault>,
    pub probe: Option<Box<Probe>>,
}

pub(super) struct Offloaded {
    pub work: Work,
    pub accelerator: Pinned<Box<dyn Accelerator>>,
    pub lanes: [Lane; LANES],
    /// True once all steps of the round were started and their result was requested.
    pub result_requested: bool,
    pub learned: TrainResult,
    pub answer: Answer,
    pub words: Vec<[u32; DECISION_WORDS]>,
    /// Start of the current wait in seconds; `None` while not waiting.
    pub waiting_since_s: Option<f64>,
    /// Seconds of this round spent waiting for the device or calling it.
    pub waited_s: f64,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Lane {
    /// Number of batches of this round whose results were received.
    pub batches: usize,
    /// True while a batch is being evaluated.
    pub asked: bool,
}

impl Offloaded {
    /// Returns true if no batch of the round has begun.
    pub fn is_idle(&self) -> bool {
        self.lanes.iter().all(|lane| lane.batches == 0 && !lane.asked)
    }
}

/// Learner state before a probe, and the progress of its current pass.
pub(super) struct Probe {
    pub progress: Progress,
    pub games: Games,
    pub state: TrainState,
    pub offloaded: Option<Offloaded>,
    /// Number of boards evaluated before the current pass.
    pub before: u64,
}
