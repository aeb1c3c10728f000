//! Output to the terminal. Texts may come from untrusted files, and a terminal interprets control characters. All text therefore leaves
//! through [`stdout`], [`stderr`] or [`data`], which escape these characters. A test checks that no other file writes to standard output
//! or standard error, except the full screen, whose characters `screen::terminal` checks.

use crate::format::plain;
use std::io::{IsTerminal, Result, StderrLock, StdoutLock, Write};

/// Returns standard output as a writer that escapes control characters. The lines may be JSON: an escape stays the same text there.
pub fn stdout() -> Plain<StdoutLock<'static>> {
    Plain::new(std::io::stdout().lock())
}

/// Returns standard error as a writer that escapes control characters.
pub fn stderr() -> Plain<StderrLock<'static>> {
    Plain::new(std::io::stderr().lock())
}

/// Returns standard output for data that other programs read, such as source code. Control characters are escaped only in a terminal.
pub fn data() -> Box<dyn Write> {
    match std::io::stdout().is_terminal() {
        true => Box::new(stdout()),
        false => Box::new(std::io::stdout().lock()),
    }
}

/// A writer that passes on text as [`plain`] returns it.
pub struct Plain<W: Write> {
    out: W,
    /// Beginning of a character whose other bytes are not written yet.
    begun: Vec<u8>,
}

impl<W: Write> Plain<W> {
    pub fn new(out: W) -> Self {
        Plain { out, begun: Vec::new() }
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let is_harmless = |&byte: &u8| (b' '..=b'~').contains(&byte) || byte == b'\n';
        if self.begun.is_empty() && bytes.iter().all(is_harmless) {
            return self.out.write(bytes);
        }
        let mut text = std::mem::take(&mut self.begun);
        text.extend_from_slice(bytes);
        self.begun = text.split_off(complete(&text));
        self.out.write_all(plain(&String::from_utf8_lossy(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// Returns the length of `bytes` without the beginning of a character at the end.
fn complete(bytes: &[u8]) -> usize {
    let is_begun = |at: &usize| std::str::from_utf8(&bytes[*at..]).is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none());
    (bytes.len().saturating_sub(3)..bytes.len()).find(is_begun).unwrap_or(bytes.len())
}
