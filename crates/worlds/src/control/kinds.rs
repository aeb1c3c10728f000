//! Registry of the environment kinds. Each kind has an id. Built-in kinds have the ids of Gymnasium's environments.

use super::kind::Kind;
use super::{acrobot, cartpole, lunar_lander, mountain_car, pendulum};
use std::sync::{LazyLock, RwLock};

/// Built-in kinds. The first kind is the default. Add new built-in kinds to this list.
static KINDS: LazyLock<[Kind; 6]> = LazyLock::new(|| {
    [cartpole::kind(), mountain_car::kind(), mountain_car::continuous_kind(), pendulum::kind(), acrobot::kind(), lunar_lander::kind()]
});

/// Kinds added by [`add`].
static MORE: RwLock<Vec<&'static Kind>> = RwLock::new(Vec::new());

pub fn kinds() -> Vec<&'static Kind> {
    let more = MORE.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    KINDS.iter().chain(more.iter().copied()).collect()
}

pub fn ids() -> Vec<&'static str> {
    kinds().into_iter().map(|kind| &*kind.spec.id).collect()
}

/// Returns the kind with the id `id`; `None` if there is no such kind.
pub fn kind(id: &str) -> Option<&'static Kind> {
    kinds().into_iter().find(|kind| kind.spec.id == id)
}

/// Adds a kind. Call this function before any other function of this module, because the other functions find only the kinds added so far.
pub fn add(kind: &'static Kind) {
    MORE.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(kind);
}
