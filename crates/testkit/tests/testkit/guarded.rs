//! Tests of the allocator with guard bytes.

use std::alloc::{GlobalAlloc, Layout};
use std::process::Command;
use testkit::Guarded;
use testkit::internals::damage;

/// Environment variable that makes the test below write beyond a buffer and free this buffer.
const WRITES: &str = "TESTKIT_WRITES_BEYOND_A_BUFFER";

#[test]
#[allow(unsafe_code)]
fn a_write_beyond_a_buffer_ends_the_process() {
    if std::env::var_os(WRITES).is_some() {
        let layout = Layout::from_size_align(12, 4).unwrap();
        // SAFETY: the write is within the guard.
        unsafe {
            let at = Guarded.alloc(layout);
            at.add(12).write(0);
            Guarded.dealloc(at, layout);
        }
        return;
    }
    let name = "guarded::a_write_beyond_a_buffer_ends_the_process";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", name, "--nocapture"]).env(WRITES, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("byte 12 of a buffer of 12 bytes was written"), "{said}");
}

#[test]
#[allow(unsafe_code)]
fn writes_beyond_either_end_are_detected() {
    for (size, align) in [(1, 1), (12, 4), (64, 64), (100, 128)] {
        let layout = Layout::from_size_align(size, align).unwrap();
        // SAFETY: the writes are within the guards, which are restored before deallocation.
        unsafe {
            let at = Guarded.alloc(layout);
            assert!((at as usize).is_multiple_of(align));
            at.write_bytes(7, size);
            assert_eq!(damage(at, layout), None);
            for byte in [-64, -1, size as isize, size as isize + 63] {
                let guard = at.offset(byte).replace(0);
                assert_eq!(damage(at, layout), Some(byte));
                at.offset(byte).write(guard);
            }
            Guarded.dealloc(at, layout);
        }
    }
}
