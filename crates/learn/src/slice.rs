use crate::Fault;

/// What a call of [`crate::Learner::advance`] came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Slice<S> {
    Worked,
    /// There is nothing to do until another machine or whoever shares the iteration answers.
    Waiting,
    /// An iteration ended.
    Ended(S),
    /// The other machine stopped; the learner works here again and goes on where it was.
    Stopped(Fault),
}

impl<S> Slice<S> {
    /// What an iteration came to, where it ended.
    pub fn ended(self) -> Option<S> {
        if let Slice::Ended(stats) = self { Some(stats) } else { None }
    }
}
