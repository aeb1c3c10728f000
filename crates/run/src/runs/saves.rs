//! What of a run can be saved before its iteration ends.

use crate::protocol::Progress;

/// Seconds of an iteration after which nobody waits for its end to stop or to save.
pub(super) const LONG_S: f64 = 0.9;

#[derive(Default)]
pub(super) struct Saves {
    /// Somebody waits for a file.
    pub wanted: bool,
    /// As this iteration began, where nothing else can be saved and it may be a long one.
    began: Option<(Progress, Vec<u8>)>,
    /// The iteration before was over soon, with the knobs as they are.
    is_brief: bool,
}

impl Saves {
    pub fn began(&self) -> Option<&(Progress, Vec<u8>)> {
        self.began.as_ref()
    }

    pub fn iteration_took(&mut self, seconds: f64) {
        self.is_brief = seconds < LONG_S;
    }

    pub fn knobs_changed(&mut self) {
        (self.is_brief, self.began) = (false, None);
    }

    /// At a boundary: whether a file of the run as it is there is to be kept. A test may hold back the iteration's end; its state may
    /// be one that can be saved at any time.
    pub fn wants_beginning(&mut self, iteration: u32, holds_back: bool, within: bool) -> bool {
        if !holds_back && (self.is_brief || within) {
            self.began = None;
            return false;
        }
        self.began.as_ref().is_none_or(|(began, _)| began.iteration != iteration)
    }

    pub fn keep_beginning(&mut self, began: Option<(Progress, Vec<u8>)>) {
        self.began = began;
    }
}
