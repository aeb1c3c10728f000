//! The format of what leaves a run.

use crate::RunError;

/// The format of configs, links and checkpoints. Another one is refused, with a way out.
pub const VERSION: u32 = 2;

pub(crate) fn check_version(found: u32) -> Result<(), RunError> {
    match found {
        VERSION => Ok(()),
        ..VERSION => Err(RunError::NoSuchVersion { found }),
        _ => Err(RunError::Future { found, known: VERSION }),
    }
}
