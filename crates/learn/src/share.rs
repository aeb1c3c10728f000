//! Iterations whose data others make, in other processes or on other machines, so that any number of them come to what one comes to.

use crate::{Find, Parts};
use std::ops::Range;

/// A learner of whose iteration a part consists of pieces that depend on nothing but their numbers and on how the iteration began.
pub trait Sharing {
    /// From here on others do those pieces, or it does them itself again. A slice waits where nothing is left to do but to take some.
    fn share(&mut self, shared: bool);

    fn is_shared(&self) -> bool;

    /// Whether any of them are due. It may have other work meanwhile.
    fn is_due(&self) -> bool;

    /// What is due, and what it is to be done with.
    fn due(&self) -> Option<(Range<u64>, Parts)>;

    /// Takes the next pieces, as somebody did them; on a refusal it is as it was.
    fn take(&mut self, find: &Find) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}
