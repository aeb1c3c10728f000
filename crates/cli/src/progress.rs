//! How far a long verb is: a line on standard error, written over again and again, where that is a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const TELL_EVERY: Duration = Duration::from_millis(250);

/// The line goes where this is dropped.
pub struct Live {
    on: bool,
    told: Instant,
}

impl Live {
    /// Not beside lines for another program.
    pub fn new(json: bool) -> Live {
        Live { on: std::io::stderr().is_terminal() && !json, told: Instant::now() }
    }

    pub fn tell(&mut self, words: impl FnOnce() -> String) {
        if self.on && self.told.elapsed() > TELL_EVERY {
            self.told = Instant::now();
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", words());
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if self.on {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
