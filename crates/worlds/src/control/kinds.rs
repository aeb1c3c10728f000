//! Registry of the kinds of environments, by id. The ids of built-in kinds are Gymnasium's ids.

use super::kind::Kind;
use super::{acrobot, cartpole, lunar_lander, mountain_car, pendulum};
use std::sync::{LazyLock, RwLock};

/// Built-in kinds, the default kind first. Add new kinds here.
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

/// Adds a kind. Call this function before any other function of this module.
pub fn add(kind: &'static Kind) {
    MORE.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(kind);
}
