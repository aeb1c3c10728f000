//! Learners of a room that has several.

use crate::RunError;
use crate::protocol::{Knob, Knobs};
use crate::room::Setup;
use learn::Find;

/// A learner in a room's list of learners; `T` is the common type of the room's learners.
pub(crate) struct Entry<T: ?Sized> {
    pub knobs: fn() -> Vec<Knob>,
    /// Returns an error if the knobs, each of which is valid, cannot be used together.
    pub check: fn(&Knobs) -> Result<(), RunError>,
    /// Upper bound of the bytes that the learner allocates.
    pub bytes: fn(&Knobs) -> Result<u64, RunError>,
    /// Creates the learner, from a saved state if one is given.
    pub make: fn(Setup, Option<&Find>) -> Result<Box<T>, RunError>,
}
