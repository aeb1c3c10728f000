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
pub unsafe fn damage(at: *mut u8, layout: Layout) -> Option<isize> {
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
