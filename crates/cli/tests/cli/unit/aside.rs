//! Tests of the capture of standard error.

use cli::internals::StderrCapture;
use std::io::Write;
use std::time::Duration;

#[test]
fn stderr_lines_are_captured_and_stderr_is_restored() {
    use rustix::fs::fstat;
    let inode = || fstat(std::io::stderr()).map(|found| (found.st_dev, found.st_ino)).unwrap();
    let before = inode();
    let capture = StderrCapture::start().unwrap();
    assert_ne!(inode(), before);
    // The test writes directly, as C code does, because the test harness captures Rust's own output.
    rustix::io::write(std::io::stderr(), b"error: XDG_RUNTIME_DIR is invalid\x1b[2J\n\n").unwrap();
    writeln!(std::io::stderr(), "{}", "x".repeat(5000)).unwrap();
    // Programs that other tests start meanwhile may also write to standard error.
    let is_own = |line: &String| line.starts_with("error: XDG_RUNTIME_DIR") || line.bytes().all(|byte| byte == b'x');
    let mut lines = Vec::new();
    while lines.len() < 3 {
        lines.extend(Some(capture.lines.recv_timeout(Duration::from_secs(10)).unwrap()).filter(is_own));
    }
    assert!(lines.contains(&"error: XDG_RUNTIME_DIR is invalid\\u001b[2J".to_string()), "{lines:?}");
    drop(capture);
    assert_eq!(inode(), before);
}
