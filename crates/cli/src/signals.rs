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

/// Counts Ctrl-C and termination signals in [`SIGNALS`] from now on. A signal that the process ignores since its start, as after `nohup`,
/// stays ignored.
pub fn listen() -> Result<()> {
    system::listen().context("cannot listen for Ctrl-C")
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) an error, as on a full disk. Otherwise, the system ends the process.
pub fn report_full_files() {
    system::report_full_files();
}

#[cfg(unix)]
pub mod system {
    use super::SIGNALS;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use std::io::Result;
    use std::process::Command;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    pub fn listen() -> Result<()> {
        let heard = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
        let mut signals = Signals::new(heard)?;
        std::thread::spawn(move || signals.forever().for_each(|_| SIGNALS.interrupt()));
        Ok(())
    }

    /// Handles the signal of the limit by a flag that nothing reads.
    pub fn report_full_files() {
        // If this fails, the signal still ends the process.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }

    fn is_ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").ok();
        status.and_then(|status| ignored_in(&status, signal)).unwrap_or_else(|| child_ignores(signal))
    }

    /// Returns true if the text of Linux's /proc/self/status lists the signal as ignored; `None` if the text has no such list.
    pub fn ignored_in(status: &str, signal: i32) -> Option<bool> {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? >> (signal - 1) & 1 == 1)
    }

    /// Returns true if a child process, which inherits the ignored signals, survives the signal. For systems without /proc.
    pub fn child_ignores(signal: i32) -> bool {
        Command::new("sh").args(["-c", &format!("kill -{signal} $$")]).status().is_ok_and(|status| status.success())
    }
}

#[cfg(not(unix))]
mod system {
    use super::SIGNALS;

    pub fn listen() -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(|| SIGNALS.interrupt())
    }

    /// Does nothing, because only Unix has this limit.
    pub fn report_full_files() {}
}
