//! A file that the user requested beside the checkpoint. An error of such a file does not stop the run.

use crate::plain;
use anyhow::Result;
use std::io::{Error, ErrorKind, Write};

/// A requested file. It is closed after its first error.
pub struct Output<S> {
    open: Option<S>,
    failure: Option<String>,
}

impl<S> Output<S> {
    /// Creates an output; without `open`, the user did not request it.
    pub fn new(open: Option<S>) -> Output<S> {
        Output { open, failure: None }
    }

    /// Writes to the file. After an error, prints a warning and closes the file. A pipe that its reader has closed is no failure, because
    /// the reader needs no more.
    pub fn write(&mut self, write: impl FnOnce(&mut S) -> Result<()>) {
        let Some(error) = self.open.as_mut().and_then(|open| write(open).err()) else { return };
        let _ = writeln!(plain::stderr(), "warning: {error:#}; training continues without this file");
        self.open = None;
        if error.downcast_ref::<Error>().is_none_or(|error| error.kind() != ErrorKind::BrokenPipe) {
            self.failure = Some(format!("{error:#}"));
        }
    }

    /// Returns the error of the file; `None` if the file is complete or was not requested.
    pub fn failure(self) -> Option<String> {
        self.failure
    }
}
