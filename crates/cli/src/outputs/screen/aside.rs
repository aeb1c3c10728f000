//! Standard error while a full screen is up: drivers write to it, and what they write would stand in the middle of the screen. It is
//! kept line by line instead, for the screen to show as a notice.

use std::sync::mpsc::Receiver;

/// Characters of a line that are kept.
#[cfg(unix)]
const MOST: u64 = 4096;

/// Given back where it is dropped.
#[cfg_attr(not(unix), allow(dead_code))] // where it cannot be moved, none is made
pub struct Aside {
    #[cfg(unix)]
    terminal: std::sync::Arc<std::os::fd::OwnedFd>,
    pub lines: Receiver<String>,
}

#[cfg(unix)]
impl Aside {
    /// None where standard error cannot be moved; then it stays as it is.
    pub fn take() -> Option<Aside> {
        use std::io::{BufRead, BufReader, Read};
        use std::os::fd::AsFd;
        let terminal = std::io::stderr().as_fd().try_clone_to_owned().ok()?;
        let (reader, writer) = std::io::pipe().ok()?;
        rustix::stdio::dup2_stderr(&writer).ok()?;
        let (give, lines) = std::sync::mpsc::channel();
        // It ends when standard error is given back, for then nothing writes to the pipe any more.
        std::thread::spawn(move || {
            let mut reader = BufReader::new(reader);
            let mut line = Vec::new();
            while reader.by_ref().take(MOST).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = crate::plain::text(String::from_utf8_lossy(&line).trim());
                line.clear();
                if !text.is_empty() && give.send(text).is_err() {
                    // Nobody looks, and whoever writes must not wait.
                    let _ = std::io::copy(&mut reader, &mut std::io::sink());
                    return;
                }
            }
        });
        Some(Aside { terminal: terminal.into(), lines })
    }

    /// Gives it back from wherever a panic is.
    pub fn way_back(&self) -> impl Fn() + Send + Sync + 'static {
        let terminal = self.terminal.clone();
        move || {
            // Where it cannot be given back there is nobody to tell.
            let _ = rustix::stdio::dup2_stderr(&*terminal);
        }
    }
}

#[cfg(not(unix))]
impl Aside {
    pub fn take() -> Option<Aside> {
        None
    }

    pub fn way_back(&self) -> impl Fn() + Send + Sync + 'static {
        || {}
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.way_back()();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn what_a_driver_says_is_kept_and_standard_error_comes_back() {
        use rustix::fs::fstat;
        let which = || fstat(std::io::stderr()).map(|found| (found.st_dev, found.st_ino)).unwrap();
        let before = which();
        let aside = Aside::take().unwrap();
        assert_ne!(which(), before);
        // As C does: not through anything of Rust's that a test may catch.
        rustix::io::write(std::io::stderr(), b"error: XDG_RUNTIME_DIR is invalid\x1b[2J\n\n").unwrap();
        writeln!(std::io::stderr(), "{}", "x".repeat(5000)).unwrap();
        let mut heard = Vec::new();
        while heard.len() < 3 {
            heard.push(aside.lines.recv_timeout(Duration::from_secs(10)).unwrap());
        }
        assert!(heard.contains(&"error: XDG_RUNTIME_DIR is invalid[2J".to_string()), "{heard:?}");
        drop(aside);
        assert_eq!(which(), before);
    }
}
