//! What settings of every learner are held to.

use super::dqn::td::Loss;
use super::{Greedy, NetConfig, Scores};
use crate::settings::{Field, SettingError, Value, between, count, log};
use crate::state::{LONGEST, SavedError};
use crate::{choices, settings};
use graph::{Adam, PlanError};
use std::sync::Arc;
use worlds::cube::{Distances, Metric};

/// Settings or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LearnerError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("with these layers {name} = {value} would take seconds without a pause; choose {most} at most, or smaller layers")]
    Long { name: &'static str, value: usize, most: usize },
    #[error("a layer cannot have {units} units; choose a multiple of 16 from 16 to 8192")]
    Units { units: usize },
    #[error("symmetric inputs serve values of states alone, as an image has other moves; choose folded, cubies or stickers")]
    Symmetric,
    #[error("with these rewards long ways are worth as much as short ones; choose a step below 0, or a gamma below 1")]
    Pointless,
    #[error("there is no table of distances of this cube and metric to learn from; choose {instead}")]
    Unknown { instead: &'static str },
    #[error("{what} stay as they began; begin a new run for others")]
    Fixed { what: &'static str },
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error(transparent)]
    Plan(#[from] PlanError),
}

settings! {
    /// Steps of the optimiser.
    #[derive(Copy)]
    pub struct Steps {
        live lr: f32, [log(1e-5, 0.1).down_to(0.0), "Learning rate", "",
            "How far each update moves the network at the beginning. Too small and nothing happens; too large and it forgets what it \
             knew."];
        live lr_steps: f32, [log(1.0, 1e9), "Learning-rate decay", "updates",
            "After this many updates the learning rate is down to 0.7 of what it was, and it goes on falling with the root of their \
             number."];
        live max_grad_norm: f32, [log(0.05, 1000.0).down_to(0.0), "Max gradient norm", "",
            "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network."];
        live updates: usize, [count(1.0, 10_000.0), "Updates an iteration", "updates",
            "Steps of the optimiser before the run tells how it stands and takes up new knobs."];
    }
}

impl Steps {
    /// After so many steps.
    pub(super) fn adam(&self, steps: u64) -> Adam {
        let worn = 1.0 + steps as f32 / self.lr_steps;
        Adam { lr: self.lr / worn.sqrt(), max_grad_norm: self.max_grad_norm, ..Adam::default() }
    }
}

choices!(impl Metric { Quarter = "qtm", "Quarter turns (qtm)"; Half = "htm", "Half turns too (htm)"; });

/// A switch.
impl Field for Greedy {
    fn get(&self) -> Value {
        (*self == Greedy::Onward).get()
    }

    fn set(&mut self, value: &Value) {
        *self = if value.number() == 0.0 { Greedy::Plain } else { Greedy::Onward };
    }
}

/// The error from which on Huber's loss is straight; 0 for squares alone.
impl Field for Loss {
    fn get(&self) -> Value {
        match self {
            Loss::Squares => Value::Number(0.0),
            Loss::Huber(delta) => delta.get(),
        }
    }

    fn set(&mut self, value: &Value) {
        *self = if value.number() == 0.0 { Loss::Squares } else { Loss::Huber(value.number() as f32) };
    }
}

/// Whether these are the distances by a metric.
pub(super) fn is_known(exact: Option<&Arc<Distances>>, metric: Metric) -> bool {
    exact.is_some_and(|exact| exact.actions().metric() == metric)
}

/// Refuses a piece of work of so many states, each of so many multiply-adds, that nothing could interrupt for long.
pub(super) fn brief(name: &'static str, value: usize, each: u64) -> Result<(), LearnerError> {
    let most = (LONGEST / each.max(1) as f64) as usize;
    if value > most { Err(LearnerError::Long { name, value, most }) } else { Ok(()) }
}

impl NetConfig {
    /// Whether there can be such a network, and whether it can say that.
    pub(super) fn check(&self, scores: Scores) -> Result<(), LearnerError> {
        between("layers", self.hidden.len(), 1, 8)?;
        let fits = |units: usize| (16..=8192).contains(&units) && units.is_multiple_of(16);
        if let Some(&units) = self.hidden.iter().find(|&&units| !fits(units)) {
            return Err(LearnerError::Units { units });
        }
        if self.inputs.serves(scores) { Ok(()) } else { Err(LearnerError::Symmetric) }
    }
}
