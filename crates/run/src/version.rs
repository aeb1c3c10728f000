//! Format version of configs, links and checkpoints.

use crate::RunError;

/// Current format version. Data with another version are refused, with an error that contains a remedy.
pub const VERSION: u32 = 2;

pub(crate) fn check_version(found: u32) -> Result<(), RunError> {
    match found {
        VERSION => Ok(()),
        ..VERSION => Err(RunError::NoSuchVersion { found }),
        _ => Err(RunError::Future { found, known: VERSION }),
    }
}
