//! A progress line of a long command. The line is shown on standard error if standard error is a terminal. Each update overwrites the line.

use crate::format::plain;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const UPDATE_EVERY: Duration = Duration::from_millis(250);

/// The progress line. Dropping this value clears the line.
pub struct ProgressLine {
    on: bool,
    updated: Instant,
}

impl ProgressLine {
    /// Creates a progress line. The line is not printed if the output is JSON or standard error is not a terminal.
    pub fn new(json: bool) -> ProgressLine {
        ProgressLine { on: std::io::stderr().is_terminal() && !json, updated: Instant::now() }
    }

    /// Overwrites the line with `text`, at most once per 250 ms.
    pub fn update(&mut self, text: impl FnOnce() -> String) {
        if self.on && self.updated.elapsed() > UPDATE_EVERY {
            self.updated = Instant::now();
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", plain(&text()));
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.on {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
