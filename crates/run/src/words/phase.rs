//! Phases of a run: first the text is prepared, then a learner trains on it.

use super::protocol::Preparing;
use super::text::{Preparation, Prepared};
use super::validation::Validation;
use learn::Learner;
use learn::words::Pretrainer;

pub enum Phase {
    Preparing(Box<Preparation>),
    Learning(Box<Learning>),
}

/// A prepared text and its learner.
pub struct Learning {
    pub prepared: Prepared,
    pub learner: Pretrainer,
    pub validation: Validation,
}

impl Phase {
    pub fn begin(preparation: Preparation) -> Phase {
        Phase::Preparing(Box::new(preparation))
    }

    pub fn learn(prepared: Prepared, mut learner: Pretrainer, clock: fn() -> f64) -> Phase {
        learner.set_clock(clock);
        let validation = Validation::new(&prepared);
        Phase::Learning(Box::new(Learning { prepared, learner, validation }))
    }

    /// Returns the learner with its text; `None` until the text is prepared.
    pub fn learning(&self) -> Option<&Learning> {
        match self {
            Phase::Learning(learning) => Some(learning),
            Phase::Preparing(_) => None,
        }
    }

    pub fn learning_mut(&mut self) -> Option<&mut Learning> {
        match self {
            Phase::Learning(learning) => Some(learning),
            Phase::Preparing(_) => None,
        }
    }
}

/// Time spent on the preparation of the text.
#[derive(Default)]
pub struct Spent {
    /// Total time in seconds of all parts of the preparation. The first iteration reports these seconds as a part of its time.
    pub all_s: f64,
    /// Value of `all_s` at the beginning of the current part of the preparation.
    parts_before_s: f64,
}

impl Spent {
    /// Adds the time of a slice of the preparation. `before` is the progress before the slice, and `now` the progress after it. Returns
    /// `now` with an estimate of the seconds until the current part is complete, or `None` if no report is due. A report is due when a part
    /// begins and after each 5% of a part.
    pub fn add(&mut self, seconds: f64, before: &Preparing, now: Preparing) -> Option<Preparing> {
        self.all_s += seconds;
        if now.part != before.part {
            self.parts_before_s = self.all_s;
        }
        let is_due = now.part != before.part || (20.0 * now.done).floor() > (20.0 * before.done).floor();
        let spent_s = (self.all_s - self.parts_before_s) as f32;
        let left_s = (now.done >= 0.05).then_some(spent_s * (1.0 - now.done) / now.done);
        is_due.then_some(Preparing { left_s, ..now })
    }
}
