//! How learners are saved.

use super::LearnerError;
use crate::state::Unusable;
use crate::{Data, Find};

impl From<Unusable> for LearnerError {
    fn from(part: Unusable) -> LearnerError {
        match part {
            Unusable::Missing { name } => LearnerError::Missing { name },
            Unusable::BadValue { name } => LearnerError::BadValue { name },
        }
    }
}

pub(super) fn missing(name: &str) -> LearnerError {
    LearnerError::Missing { name: name.into() }
}

pub(super) fn bad(name: &str) -> LearnerError {
    LearnerError::BadValue { name: name.into() }
}

/// The counters of a learner, `N` of them.
pub(super) fn counters<const N: usize>(find: &Find) -> Result<[u64; N], LearnerError> {
    match find("counters") {
        Some((_, Data::U64(counters))) => counters[..].try_into().map_err(|_| missing("counters")),
        _ => Err(missing("counters")),
    }
}
