//! What other threads tell the training without waiting for it.

use anyhow::{Context, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

pub static SIGNALS: Signals = Signals::new();

pub struct Signals {
    /// Ctrl-C so far.
    pub interrupts: AtomicU32,
    pub output_closed: AtomicBool,
    /// The terminal is in the hands of the full screen.
    pub screen: AtomicBool,
}

impl Signals {
    pub const fn new() -> Signals {
        Signals { interrupts: AtomicU32::new(0), output_closed: AtomicBool::new(false), screen: AtomicBool::new(false) }
    }

    /// The first asks for a clean end; the second ends the process at once.
    pub fn interrupt(&self) {
        if self.interrupts.fetch_add(1, Relaxed) > 0 {
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

/// From here on Ctrl-C and the system's signals to end arrive in [`SIGNALS`].
pub fn listen() -> Result<()> {
    ctrlc::set_handler(|| SIGNALS.interrupt()).context("cannot listen for Ctrl-C")
}
