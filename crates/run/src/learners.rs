//! Type of the entries in a room's list of learners, for rooms with several learners.

use crate::RunError;
use crate::protocol::{Knob, Knobs};
use crate::room::Setup;
use learn::Find;

/// A learner in a room's list of learners. `T` is the trait object type of the room's learners.
pub(crate) struct Entry<T: ?Sized> {
    pub knobs: fn() -> Vec<Knob>,
    /// Returns an error if a knob is invalid or the knobs cannot be used together.
    pub check: fn(&Knobs) -> Result<(), RunError>,
    /// Returns an upper bound of the bytes that the learner allocates.
    pub bytes: fn(&Knobs) -> Result<u64, RunError>,
    /// Creates the learner. If the second argument is a saved state, the learner continues from it.
    pub make: fn(Setup, Option<&Find>) -> Result<Box<T>, RunError>,
}
