//! Iterations whose data is produced by other processes or machines. The result is the same for any number of workers.

use crate::{Find, Parts};
use std::ops::Range;

/// A learner whose iteration contains independent, numbered pieces of work. A piece depends only on its number and the state at the start
/// of the iteration.
pub trait Sharing {
    /// Enables or disables sharing: if enabled, workers compute the pieces; otherwise the learner does. [`crate::Learner::advance`] returns
    /// `Waiting` if all other work is done and pieces are missing.
    fn share(&mut self, shared: bool);

    fn is_shared(&self) -> bool;

    /// Returns true if pieces are missing. The learner may have other work meanwhile.
    fn is_due(&self) -> bool;

    /// Numbers of the missing pieces, and the data needed to compute them. `None` if no piece is missing.
    fn due(&self) -> Option<(Range<u64>, Parts)>;

    /// Accepts the results of the next missing pieces. On an error, the learner's state is unchanged.
    fn take(&mut self, find: &Find) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}
