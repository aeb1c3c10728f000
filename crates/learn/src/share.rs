//! Iterations that are shared: workers, which are other processes or machines, compute pieces of the work. The result does not depend on
//! the number of workers.

use crate::{Find, Parts};
use std::ops::Range;

/// A learner whose iteration contains independent, numbered pieces of work. A piece depends only on its number and the state at the start
/// of the iteration.
pub trait Sharing {
    /// Enables or disables sharing. With sharing, workers compute the pieces; without sharing, the learner computes the pieces. With
    /// sharing, [`crate::Learner::advance`] returns `Waiting` while pieces are missing and no other work remains.
    fn share(&mut self, shared: bool);

    fn is_shared(&self) -> bool;

    /// Returns true if workers can compute pieces whose results are missing. The learner may have other work at the same time.
    fn is_due(&self) -> bool;

    /// Returns the numbers of the missing pieces, and the data that workers need to compute these pieces. Returns `None` if workers have
    /// nothing to compute.
    fn due(&self) -> Option<(Range<u64>, Parts)>;

    /// Accepts the results of the next missing pieces. `find` returns the arrays of these results. On an error, the learner's state is
    /// unchanged.
    fn take(&mut self, find: &Find) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}
