//! Tests that cannot run on this machine.

use std::io::Write;

/// Prints that the calling test does not run here, and why; the test returns with it. The harness counts such a test as passed, and
/// `npm test` counts this line as skipped. It goes past the harness's capture, so that `cargo test` shows it too.
pub fn skip(why: impl std::fmt::Display) {
    let thread = std::thread::current();
    let line = format!("\nSKIPPED {}: {why}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::stdout().write_all(line.as_bytes());
}
