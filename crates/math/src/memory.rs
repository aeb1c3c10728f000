//! Large pages. A large product reads a matrix column by column, so each step reads from another small page. With small pages, the address
//! translation would cost more than a tenth of the time.

/// Number of 4-byte words in a large page of 2 MiB; `None` on platforms other than Linux, where [`ask_for_large_pages`] does nothing.
pub const LARGE_PAGE: Option<usize> = if cfg!(target_os = "linux") { Some((2 << 20) / size_of::<u32>()) } else { None };

/// Requests large pages for `memory`, which should begin at a multiple of [`LARGE_PAGE`] and should not have been accessed before. The
/// system may decline.
pub fn ask_for_large_pages<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::{c_int, c_void};
        const MADV_HUGEPAGE: c_int = 14;
        unsafe extern "C" {
            fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
        }
        // SAFETY: this advice may change the location of memory, never its contents. The system rejects an invalid address, without
        // consequences here.
        unsafe { madvise(memory.as_mut_ptr().cast(), size_of_val(memory), MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
