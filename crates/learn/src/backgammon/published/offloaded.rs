//! Work of the published learner that another machine does, as it stands.

use super::accelerator::{Accelerator, Answer, DECISION_WORDS, LANES, TrainResult, Work};
use super::selfplay::Games;
use super::trainer::TrainState;
use crate::Fault;
use crate::backgammon::Progress;
use math::par::Pinned;

/// Who works besides the processor.
#[derive(Default)]
pub(super) struct Away {
    pub offloaded: Option<Offloaded>,
    /// A machine that failed between two slices.
    pub failed: Option<Fault>,
    pub probe: Option<Box<Probe>>,
}

pub(super) struct Offloaded {
    pub work: Work,
    pub accelerator: Pinned<Box<dyn Accelerator>>,
    pub lanes: [Lane; LANES],
    /// The round's steps were all begun and their result asked for.
    pub result_requested: bool,
    pub learned: TrainResult,
    pub answer: Answer,
    pub words: Vec<[u32; DECISION_WORDS]>,
    /// Since when there is nothing to do, and how long that and talking to the machine has been in this round.
    pub waiting_since_s: Option<f64>,
    pub waited_s: f64,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Lane {
    /// Batches of this round whose answers are in.
    pub batches: usize,
    /// One more is away.
    pub asked: bool,
}

impl Offloaded {
    /// Nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.lanes.iter().all(|lane| lane.batches == 0 && !lane.asked)
    }
}

/// What there was before a probe, and how far its pass has come.
pub(super) struct Probe {
    pub progress: Progress,
    pub games: Games,
    pub state: TrainState,
    pub offloaded: Option<Offloaded>,
    /// Boards valued before this pass.
    pub before: u64,
}
