//! Large pages of memory. Large products walk matrices across their rows, where each step is on another small page, and finding
//! those costs more than a tenth of the time. (`hothouse bench core`)

/// Floats in a large page, where pages are asked for at all.
pub const LARGE_PAGE: Option<usize> = if cfg!(target_os = "linux") { Some((2 << 20) / size_of::<f32>()) } else { None };

/// Asks for large pages under `memory`, which begins at a multiple of [`LARGE_PAGE`] and is best not touched before. The system
/// may not have any, or be told to give none.
pub fn ask_for_large_pages(memory: &mut [f32]) {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::{c_int, c_void};
        const MADV_HUGEPAGE: c_int = 14;
        unsafe extern "C" {
            fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
        }
        // SAFETY: this advice changes where memory lies, never what it holds, and an address that it cannot be given for is an
        // error that is no matter.
        unsafe { madvise(memory.as_mut_ptr().cast(), size_of_val(memory), MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
