//! What settings of every learner are held to.

use super::dqn::td::Loss;
use super::{Greedy, NetConfig, Scores};
use crate::choices;
use crate::settings::{Field, SettingError, Value, between};
use crate::state::LONGEST;
use graph::PlanError;
use worlds::cube::Metric;

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
    #[error("the checkpoint has no {name} of the right kind and shape; load one saved with the same cube and settings")]
    Missing { name: String },
    #[error("{name} of the checkpoint holds a value that cannot be; load an earlier checkpoint")]
    BadValue { name: String },
    #[error(transparent)]
    Plan(#[from] PlanError),
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
