//! An allocator with canaries: guard bytes on both sides of all that is allocated, looked at when it is given back. A kernel that writes
//! past its buffer ends the test, whatever the test compares.
//!
//! ```
//! #[cfg(not(miri))] // which sees such a write itself, and would take the guards for a part of the buffer
//! #[global_allocator]
//! static GUARDED: testkit::Guarded = testkit::Guarded;
//!
//! assert_eq!(vec![1.5f32; 9].len(), 9);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with guards.
pub struct Guarded;

/// Bytes on either side, at least: a line of a cache, as wide as any store.
const GUARD: usize = 64;
const CANARY: u8 = 0xC5;

/// What is asked of the system for `layout`, and where in it the caller's part begins.
fn whole(layout: Layout) -> (Layout, usize) {
    let before = GUARD.max(layout.align());
    let size = before + layout.size() + GUARD;
    (Layout::from_size_align(size, layout.align()).expect("as large as memory"), before)
}

/// How far into the guards somebody wrote: the first such byte, counted from the beginning of the caller's part.
///
/// # Safety
/// `at` was given by [`Guarded`] for this layout.
#[allow(unsafe_code)]
unsafe fn damage(at: *mut u8, layout: Layout) -> Option<isize> {
    let (_, before) = whole(layout);
    let guards = (-(before as isize)..0).chain(layout.size() as isize..(layout.size() + GUARD) as isize);
    // SAFETY: both guards belong to what was allocated.
    guards.into_iter().find(|&i| unsafe { at.offset(i).read() } != CANARY)
}

#[allow(unsafe_code)] // an allocator cannot be written without
// SAFETY: the caller's part lies in what the system gave, at its alignment, since `before` is a multiple of that.
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (all, before) = whole(layout);
        // SAFETY: it has a size, and what is written lies in it.
        unsafe {
            let begin = System.alloc(all);
            if begin.is_null() {
                return begin;
            }
            begin.write_bytes(CANARY, before);
            begin.add(before + layout.size()).write_bytes(CANARY, GUARD);
            begin.add(before)
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: it was allocated above.
        unsafe {
            if let Some(byte) = damage(at, layout) {
                eprintln!("byte {byte} of a buffer of {} bytes was written", layout.size());
                std::process::abort();
            }
            let (all, before) = whole(layout);
            System.dealloc(at.sub(before), all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Where it is set, the test that is named writes beyond a buffer and gives it back.
    const WRITES: &str = "TESTKIT_WRITES_BEYOND_A_BUFFER";

    #[test]
    #[allow(unsafe_code)]
    fn a_write_beyond_a_buffer_ends_the_process() {
        if std::env::var_os(WRITES).is_some() {
            let layout = Layout::from_size_align(12, 4).unwrap();
            // SAFETY: what is written lies in the guard.
            unsafe {
                let at = Guarded.alloc(layout);
                at.add(12).write(0);
                Guarded.dealloc(at, layout);
            }
            return;
        }
        let name = "guarded::tests::a_write_beyond_a_buffer_ends_the_process";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", name, "--nocapture"]).env(WRITES, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{said}");
        assert!(said.contains("byte 12 of a buffer of 12 bytes was written"), "{said}");
    }

    #[test]
    #[allow(unsafe_code)]
    fn a_byte_beyond_either_end_is_found() {
        for (size, align) in [(1, 1), (12, 4), (64, 64), (100, 128)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            // SAFETY: what is written lies in the guards, and is put back before the memory is.
            unsafe {
                let at = Guarded.alloc(layout);
                assert!((at as usize).is_multiple_of(align));
                at.write_bytes(7, size);
                assert_eq!(damage(at, layout), None);
                for byte in [-64, -1, size as isize, size as isize + 63] {
                    at.offset(byte).write(0);
                    assert_eq!(damage(at, layout), Some(byte));
                    at.offset(byte).write(CANARY);
                }
                Guarded.dealloc(at, layout);
            }
        }
    }
}
