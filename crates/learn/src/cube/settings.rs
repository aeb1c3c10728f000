//! Settings that several learners of the cube share, and checks of settings.

use super::dqn::td::Loss;
use super::{Greedy, NetConfig, Scores};
use crate::settings::{Field, SettingError, Value, between, count, log};
use crate::state::{LONGEST, SavedError};
use crate::{choices, settings};
use graph::{Adam, PlanError};
use std::sync::Arc;
use worlds::cube::{Distances, Metric};

/// Reason why a learner cannot be created, configured or restored.
#[derive(Debug, thiserror::Error)]
pub enum LearnerError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("with these layers {name} = {value} would block for seconds; choose at most {most}, or smaller layers")]
    Long { name: &'static str, value: usize, most: usize },
    #[error("a layer cannot have {units} units; choose a multiple of 16 from 16 to 8192")]
    Units { units: usize },
    #[error("symmetric inputs support only values, because the moves of a mirrored state differ; choose folded, cubies or stickers")]
    Symmetric,
    #[error("these rewards do not favour short solutions; choose a step reward below 0, or a gamma below 1")]
    Pointless,
    #[error("this cube and metric have no table of distances to train on; choose {instead}")]
    Unknown { instead: &'static str },
    #[error("{what} are fixed; start a new run to change them")]
    Fixed { what: &'static str },
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error(transparent)]
    Plan(#[from] PlanError),
}

settings! {
    /// Optimizer settings.
    #[derive(Copy)]
    pub struct Steps {
        live lr: f32, [log(1e-5, 0.1).down_to(0.0), "Learning rate", "",
            "Step size of each update at the start of training. A small rate learns slowly; a large one can undo what was learned."];
        live lr_steps: f32, [log(1.0, 1e9), "Learning-rate decay", "updates",
            "After this many updates the learning rate has fallen to 0.7 of its start. It then falls with the square root of the updates."];
        live max_grad_norm: f32, [log(0.05, 1000.0).down_to(0.0), "Max gradient norm", "",
            "Longer gradients are scaled down to this norm, so that no single minibatch disturbs the training."];
        live updates: usize, [count(1.0, 10_000.0), "Updates per iteration", "updates",
            "Optimiser steps between reports. Changed knobs take effect at the next iteration."];
    }
}

impl Steps {
    /// Returns Adam's settings for the step that follows `steps` completed optimizer steps.
    pub(super) fn adam(&self, steps: u64) -> Adam {
        let decay = 1.0 + steps as f32 / self.lr_steps;
        Adam { lr: self.lr / decay.sqrt(), max_grad_norm: self.max_grad_norm, ..Adam::default() }
    }
}

choices!(impl Metric { Quarter = "qtm", "Quarter turns (qtm)"; Half = "htm", "Half turns too (htm)"; });

/// As a setting, the rule is a switch. The switch is on for [`Greedy::Onward`].
impl Field for Greedy {
    fn get(&self) -> Value {
        (*self == Greedy::Onward).get()
    }

    fn set(&mut self, value: &Value) {
        *self = if value.number() == 0.0 { Greedy::Plain } else { Greedy::Onward };
    }
}

/// As a setting, the loss is a number: the error above which the Huber loss is linear. 0 selects [`Loss::Squares`].
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

/// Returns true if a table of distances is given and has the metric `metric`.
pub(super) fn has_metric(exact: Option<&Arc<Distances>>, metric: Metric) -> bool {
    exact.is_some_and(|exact| exact.actions().metric() == metric)
}

/// Returns an error if work that must fit into one slice takes too long. The work processes `value` states with `each` multiply-adds per
/// state. `name` is the setting with the value `value`.
pub(super) fn check_work(name: &'static str, value: usize, each: u64) -> Result<(), LearnerError> {
    let most = (LONGEST / each.max(1) as f64) as usize;
    if value > most { Err(LearnerError::Long { name, value, most }) } else { Ok(()) }
}

impl NetConfig {
    /// Returns an error if the layers are invalid or the inputs do not support the scores.
    pub(super) fn check(&self, scores: Scores) -> Result<(), LearnerError> {
        between("layers", self.hidden.len(), 1, 8)?;
        let fits = |units: usize| (16..=8192).contains(&units) && units.is_multiple_of(16);
        if let Some(&units) = self.hidden.iter().find(|&&units| !fits(units)) {
            return Err(LearnerError::Units { units });
        }
        if self.inputs.serves(scores) { Ok(()) } else { Err(LearnerError::Symmetric) }
    }
}
