//! The learners of a room that has several.

use crate::RunError;
use crate::protocol::{Knob, Knobs};
use crate::room::Setup;
use learn::Find;

/// A learner in the list of a room, which is made into a `T` of the room.
pub(crate) struct Entry<T: ?Sized> {
    pub knobs: fn() -> Vec<Knob>,
    /// Refuses knobs that are each legal but cannot be used together.
    pub check: fn(&Knobs) -> Result<(), RunError>,
    /// An upper bound of what it allocates.
    pub bytes: fn(&Knobs) -> Result<u64, RunError>,
    /// Restores it from `saved`, where that is given.
    pub make: fn(Setup, Option<&Find>) -> Result<Box<T>, RunError>,
}
