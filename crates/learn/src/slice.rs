use crate::Fault;

/// Result of a call of [`crate::Learner::advance`].
#[derive(Clone, Debug, PartialEq)]
pub enum Slice<S> {
    Worked,
    /// No work is possible until a response arrives: from the machine with offloaded work, or from a worker of a shared iteration.
    Waiting,
    /// The slice ended an iteration. Contains the iteration's statistics.
    Ended(S),
    /// The machine with offloaded work failed. The learner continues on the CPU and repeats the work whose results it did not receive.
    Stopped(Fault),
}

impl<S> Slice<S> {
    /// Returns the iteration's statistics if the slice ended an iteration.
    pub fn ended(self) -> Option<S> {
        if let Slice::Ended(stats) = self { Some(stats) } else { None }
    }
}
