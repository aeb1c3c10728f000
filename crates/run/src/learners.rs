//! Learners of a room that has several.

use crate::RunError;
use crate::protocol::{Knob, Knobs};
use crate::room::Setup;
use learn::Find;

/// An entry in a room's list of learners; `T` is the room's common type for them.
pub(crate) struct Entry<T: ?Sized> {
    pub knobs: fn() -> Vec<Knob>,
    /// Returns an error if the knobs, each of which is valid, cannot be used together.
    pub check: fn(&Knobs) -> Result<(), RunError>,
    /// Upper bound of the bytes that it allocates.
    pub bytes: fn(&Knobs) -> Result<u64, RunError>,
    /// Creates the learner, from a saved state if one is given.
    pub make: fn(Setup, Option<&Find>) -> Result<Box<T>, RunError>,
}
