use crate::Fault;

/// Result of a call of [`crate::Learner::advance`].
#[derive(Clone, Debug, PartialEq)]
pub enum Slice<S> {
    Worked,
    /// No work is possible until the other machine or another worker of a shared iteration responds.
    Waiting,
    /// An iteration ended.
    Ended(S),
    /// The other machine failed; the learner continues on the CPU from the same state.
    Stopped(Fault),
}

impl<S> Slice<S> {
    /// Statistics of the iteration, if it ended.
    pub fn ended(self) -> Option<S> {
        if let Slice::Ended(stats) = self { Some(stats) } else { None }
    }
}
