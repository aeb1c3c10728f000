//! State of the published learner's offloaded work, and of a probe (a measurement of a device's speed).

use super::accelerator::{Accelerator, Answer, DECISION_WORDS, LANES, TrainResult, Work};
use super::selfplay::Games;
use super::trainer::TrainState;
use crate::Fault;
use crate::backgammon::Progress;
use math::par::Pinned;

/// The work that is currently offloaded, and the probe in progress.
#[derive(Default)]
pub(super) struct OffloadSlots {
    pub offloaded: Option<Offloaded>,
    /// Fault of a device that failed at the end of a round. The next call of `advance` reports the fault and clears this field.
    pub failed: Option<Fault>,
    pub probe: Option<Box<Probe>>,
}

pub(super) struct Offloaded {
    pub work: Work,
    pub accelerator: Pinned<Box<dyn Accelerator>>,
    pub lanes: [Lane; LANES],
    /// True once all steps of the round were started and the learner requested their result.
    pub result_requested: bool,
    pub learned: TrainResult,
    pub answer: Answer,
    pub words: Vec<[u32; DECISION_WORDS]>,
    /// Time at which the current wait began, in seconds. `None` if the learner is not waiting.
    pub waiting_since_s: Option<f64>,
    /// Seconds in this round during which the learner waited for the device or executed calls of the device.
    pub waited_s: f64,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Lane {
    /// Number of the lane's batches in this round whose results were received.
    pub batches: usize,
    /// True while the device evaluates a batch of the lane.
    pub asked: bool,
}

impl Offloaded {
    /// Returns true if no lane has begun a batch of this round.
    pub fn is_idle(&self) -> bool {
        self.lanes.iter().all(|lane| lane.batches == 0 && !lane.asked)
    }
}

/// State of the learner from before a probe, and the probe's own counter.
pub(super) struct Probe {
    pub progress: Progress,
    pub games: Games,
    pub state: TrainState,
    pub offloaded: Option<Offloaded>,
    /// Number of boards that the probe evaluated before the current pass.
    pub before: u64,
}
