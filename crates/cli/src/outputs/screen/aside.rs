//! Captures standard error during a full-screen display. Drivers write to standard error, which would corrupt the screen; the screen
//! shows the captured lines as notices instead.

use std::sync::mpsc::Receiver;

/// Maximum length of a captured line in bytes; longer lines are split.
#[cfg(unix)]
const MOST: u64 = 4096;

/// A capture of standard error. Dropping the capture restores standard error.
#[cfg_attr(not(unix), allow(dead_code))] // other systems never construct the capture
pub struct StderrCapture {
    #[cfg(unix)]
    terminal: std::sync::Arc<std::os::fd::OwnedFd>,
    pub lines: Receiver<String>,
}

#[cfg(unix)]
impl StderrCapture {
    /// Redirects standard error into a new capture; returns `None` if the system refuses the redirection.
    pub fn start() -> Option<StderrCapture> {
        use std::io::{BufRead, BufReader, Read};
        use std::os::fd::AsFd;
        let terminal = std::io::stderr().as_fd().try_clone_to_owned().ok()?;
        let (reader, writer) = std::io::pipe().ok()?;
        rustix::stdio::dup2_stderr(&writer).ok()?;
        let (sender, lines) = std::sync::mpsc::channel();
        // The thread ends when standard error is restored, because restoring closes the last writer of the pipe.
        std::thread::spawn(move || {
            let mut reader = BufReader::new(reader);
            let mut line = Vec::new();
            while reader.by_ref().take(MOST).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = crate::format::plain(String::from_utf8_lossy(&line).trim());
                line.clear();
                if !text.is_empty() && sender.send(text).is_err() {
                    // Without a receiver, the thread must still drain the pipe, so that writers do not block.
                    let _ = std::io::copy(&mut reader, &mut std::io::sink());
                    return;
                }
            }
        });
        Some(StderrCapture { terminal: terminal.into(), lines })
    }

    /// Returns a function for the panic hook. The function restores standard error.
    pub fn restorer(&self) -> impl Fn() + Send + Sync + 'static {
        let terminal = self.terminal.clone();
        move || {
            // The error is ignored, because without standard error it cannot be reported.
            let _ = rustix::stdio::dup2_stderr(&*terminal);
        }
    }
}

#[cfg(not(unix))]
impl StderrCapture {
    pub fn start() -> Option<StderrCapture> {
        None
    }

    pub fn restorer(&self) -> impl Fn() + Send + Sync + 'static {
        || {}
    }
}

impl Drop for StderrCapture {
    fn drop(&mut self) {
        self.restorer()();
    }
}
