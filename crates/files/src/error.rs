//! Error for paths.

use anyhow::Error;
use std::fmt;
use std::io::ErrorKind;

/// Error for a path that cannot be read or written. The text contains the remedy.
#[derive(Debug)]
pub struct Refused {
    pub kind: ErrorKind,
    text: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refused {}

pub fn refused(kind: ErrorKind, text: String) -> Error {
    Refused { kind, text }.into()
}
