//! Allocator with guard bytes before and after each allocation, which are checked on deallocation. If a kernel writes beyond its buffer,
//! the test aborts.
//!
//! ```
//! // Miri detects such writes itself, and would treat the guards as part of the buffer.
//! #[cfg(not(miri))]
//! #[global_allocator]
//! static GUARDED: testkit::Guarded = testkit::Guarded;
//!
//! assert_eq!(vec![1.5f32; 9].len(), 9);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};

/// The system allocator with guards.
pub struct Guarded;

/// Minimum number of guard bytes on each side: a cache line, which is as long as the widest store.
const GUARD: usize = 64;
const CANARY: u8 = 0xC5;

/// Returns the layout of the allocation with its guards, and the offset in bytes at which the caller's bytes begin.
fn whole(layout: Layout) -> (Layout, usize) {
    let before = GUARD.max(layout.align());
    let size = before + layout.size() + GUARD;
    (Layout::from_size_align(size, layout.align()).expect("as large as memory"), before)
}

/// Returns the offset in bytes of the first changed guard byte, relative to the caller's first byte. Returns `None` if all guard bytes are
/// unchanged.
///
/// # Safety
/// `at` was returned by [`Guarded`] for this layout.
#[allow(unsafe_code)]
unsafe fn damage(at: *mut u8, layout: Layout) -> Option<isize> {
    let (_, before) = whole(layout);
    let guards = (-(before as isize)..0).chain(layout.size() as isize..(layout.size() + GUARD) as isize);
    // SAFETY: both guards are part of the allocation.
    guards.into_iter().find(|&i| unsafe { at.offset(i).read() } != CANARY)
}

#[allow(unsafe_code)] // an allocator cannot be written without
// SAFETY: the caller's bytes are within the system's allocation. They have the requested alignment, because `before` is a multiple of it.
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (all, before) = whole(layout);
        // SAFETY: the size is not 0, and all writes are within the allocation.
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
        // SAFETY: `alloc` allocated this memory with this layout.
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
        let name = "guarded::tests::a_write_beyond_a_buffer_ends_the_process";
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
                    at.offset(byte).write(0);
                    assert_eq!(damage(at, layout), Some(byte));
                    at.offset(byte).write(CANARY);
                }
                Guarded.dealloc(at, layout);
            }
        }
    }
}
