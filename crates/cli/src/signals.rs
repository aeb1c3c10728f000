//! Requests to stop the run of this process. Any thread can make a request.

use anyhow::{Context, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

pub static SIGNALS: Signals = Signals::new();

#[derive(Default)]
pub struct Signals {
    /// Number of requests to stop: Ctrl-C, termination signals, and `q` on the full screen.
    pub interrupts: AtomicU32,
    pub output_closed: AtomicBool,
    /// True while the full screen controls the terminal.
    pub screen: AtomicBool,
}

impl Signals {
    pub const fn new() -> Signals {
        Signals { interrupts: AtomicU32::new(0), output_closed: AtomicBool::new(false), screen: AtomicBool::new(false) }
    }

    /// Counts an interrupt. The first interrupt requests a clean end; the second ends the process at once. The first also does so while the
    /// process waits for the bytes of a pipe or of standard input, because it would not notice the request.
    pub fn interrupt(&self) {
        if self.interrupts.fetch_add(1, Relaxed) > 0 || files::is_waiting() {
            if self.screen.load(Relaxed) {
                ratatui::restore();
            }
            std::process::exit(130);
        }
    }

    pub fn stopping(&self) -> bool {
        self.interrupts.load(Relaxed) > 0 || self.output_closed.load(Relaxed)
    }
}

/// Installs a handler that counts Ctrl-C and termination signals in [`SIGNALS`].
pub fn listen() -> Result<()> {
    ctrlc::set_handler(|| SIGNALS.interrupt()).context("cannot listen for Ctrl-C")
}
