//! Phase of a run: the text is being prepared, or a learner trains on it.

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

    /// The learner with its text; `None` until the text is prepared.
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

/// Seconds spent on the preparation.
#[derive(Default)]
pub struct Spent {
    /// Total of all parts of the preparation, which the first iteration reports.
    pub all_s: f64,
    /// Value of `all_s` when the present part of the preparation began.
    parts_before_s: f64,
}

impl Spent {
    /// Adds a slice of the preparation, with the progress before and after it. Returns the progress with an estimate of the remaining time,
    /// if it is due for a report.
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
