//! What settings of every learner are held to.

use super::{NetConfig, Scores};
use crate::state::LONGEST;
use graph::PlanError;

/// Settings or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LearnerError {
    #[error("{name} is {value}, but must lie between {min} and {max}; choose a value in that range")]
    Range { name: &'static str, value: f64, min: f64, max: f64 },
    #[error(
        "with these layers {name} = {value} would take seconds without a pause; choose {most} at most, or smaller layers"
    )]
    Long { name: &'static str, value: usize, most: usize },
    #[error("a layer cannot have {units} units; choose a multiple of 16 from 16 to 8192")]
    Units { units: usize },
    #[error(
        "symmetric inputs serve values of states alone, as an image has other moves; choose folded, cubies or stickers"
    )]
    Symmetric,
    #[error(
        "with these rewards long ways are worth as much as short ones; choose a step below 0, or a gamma below 1"
    )]
    Pointless,
    #[error("there is no table of distances of this cube and metric to learn from; choose {instead}")]
    Unknown { instead: &'static str },
    #[error("{what} stay as they began; begin a new run for others")]
    Fixed { what: &'static str },
    #[error(
        "the checkpoint has no {name} of the right kind and shape; load one saved with the same cube and settings"
    )]
    Missing { name: String },
    #[error("{name} of the checkpoint holds a value that cannot be; load an earlier checkpoint")]
    BadValue { name: String },
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// A setting with its name, and between what it must lie.
pub(super) type Bounded = (&'static str, f64, f64, f64);

pub(super) fn whole(name: &'static str, value: usize, min: usize, max: usize) -> Bounded {
    (name, value as f64, min as f64, max as f64)
}

pub(super) fn real(name: &'static str, value: f32, min: f32, max: f32) -> Bounded {
    (name, value.into(), min.into(), max.into())
}

pub(super) fn within(settings: impl IntoIterator<Item = Bounded>) -> Result<(), LearnerError> {
    for (name, value, min, max) in settings {
        // Written so that NaN is out of range.
        if !(value >= min && value <= max) {
            return Err(LearnerError::Range { name, value, min, max });
        }
    }
    Ok(())
}

/// Refuses a piece of work of so many states, each of so many multiply-adds, that nothing could interrupt for long.
pub(super) fn brief(name: &'static str, value: usize, each: u64) -> Result<(), LearnerError> {
    let most = (LONGEST / each.max(1) as f64) as usize;
    if value > most { Err(LearnerError::Long { name, value, most }) } else { Ok(()) }
}

impl NetConfig {
    /// Whether there can be such a network, and whether it can say that.
    pub(super) fn check(&self, scores: Scores) -> Result<(), LearnerError> {
        within([whole("layers", self.hidden.len(), 1, 8), whole("blocks", self.blocks, 0, 32)])?;
        let fits = |units: usize| (16..=8192).contains(&units) && units.is_multiple_of(16);
        if let Some(&units) = self.hidden.iter().find(|&&units| !fits(units)) {
            return Err(LearnerError::Units { units });
        }
        if self.inputs.serves(scores) { Ok(()) } else { Err(LearnerError::Symmetric) }
    }
}
