//! List of the rooms (learning tasks of Hothouse) that have their own kernels.

use crate::device::Gpu;
use learn::Fault;
use std::any::Any;
use std::sync::RwLock;

/// Function that creates the offloaded work of one room, except plans. Returns `None` if the request is for another room.
pub type Special = fn(&Gpu, &dyn Any) -> Option<Result<Box<dyn Any>, Fault>>;

#[cfg(feature = "every_room")]
static SPECIAL: &[Special] = &[crate::control::special, crate::backgammon::special, crate::logic::special];
#[cfg(not(feature = "every_room"))]
static SPECIAL: &[Special] = &[];
/// Functions that [`add_special`] has added.
static MORE: RwLock<Vec<Special>> = RwLock::new(Vec::new());

/// Adds a room's kernels. Call this function before a run uses a GPU.
pub fn add_special(special: Special) {
    MORE.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(special);
}

pub(crate) fn special(gpu: &Gpu, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
    let more = MORE.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    SPECIAL.iter().chain(more.iter()).find_map(|serve| serve(gpu, request))
}
