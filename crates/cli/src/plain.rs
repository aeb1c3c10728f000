//! Removes control characters from terminal output, because a run's names and texts may come from untrusted files.

use std::io::{Result, StdoutLock, Write};

/// Returns standard output as a writer that omits control characters.
pub fn stdout() -> Plain<StdoutLock<'static>> {
    Plain::new(std::io::stdout().lock())
}

/// A writer that omits control characters except line breaks and tabs. Control characters are those of ASCII, and U+0080 to U+009F, which
/// some terminals interpret.
pub struct Plain<W: Write> {
    out: W,
    /// True if the last byte was `LATIN`, which is not written yet. The next byte shows whether the two bytes are a control character.
    begun: bool,
}

/// First UTF-8 byte of each character from U+0080 to U+00BF. The second byte identifies the character.
const LATIN: u8 = 0xc2;

impl<W: Write> Plain<W> {
    pub fn new(out: W) -> Self {
        Plain { out, begun: false }
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let harmless = |byte: u8| !byte.is_ascii_control() && byte != LATIN;
        if !self.begun && bytes.iter().all(|&byte| harmless(byte) || byte == b'\n') {
            return self.out.write(bytes);
        }
        let mut kept = Vec::with_capacity(bytes.len() + 1);
        for &byte in bytes {
            if std::mem::take(&mut self.begun) {
                if (0x80..0xa0).contains(&byte) {
                    continue;
                }
                kept.push(LATIN);
            }
            match byte {
                LATIN => self.begun = true,
                b'\n' | b'\t' => kept.push(byte),
                _ if harmless(byte) => kept.push(byte),
                _ => {}
            }
        }
        self.out.write_all(&kept)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// Removes control characters, except line breaks and tabs, from a text.
pub fn text(text: &str) -> String {
    text.chars().filter(|&c| !c.is_control() || c == '\n' || c == '\t').collect()
}
