//! Every kind of environment there is, by the name Gymnasium gives it.

use super::kind::Kind;
use super::{acrobot, cartpole, lunar_lander, mountain_car, pendulum};
use std::sync::RwLock;

/// The one list that a new one joins; the first is the default.
static KINDS: &[&Kind] =
    &[&cartpole::KIND, &mountain_car::KIND, &mountain_car::CONTINUOUS_KIND, &pendulum::KIND, &acrobot::KIND, &lunar_lander::KIND];

/// Those that a program adds.
static MORE: RwLock<Vec<&'static Kind>> = RwLock::new(Vec::new());

pub fn kinds() -> Vec<&'static Kind> {
    let more = MORE.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    KINDS.iter().chain(more.iter()).copied().collect()
}

/// Their names.
pub fn ids() -> Vec<&'static str> {
    kinds().iter().map(|kind| kind.spec.id).collect()
}

/// The kind that Gymnasium calls so.
pub fn kind(id: &str) -> Option<&'static Kind> {
    kinds().into_iter().find(|kind| kind.spec.id == id)
}

/// Adds a kind, before anything is asked of them.
pub fn add(kind: &'static Kind) {
    MORE.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(kind);
}
