//! Counting allocator. A `Meter` counts only the allocations of the threads that it watches, so that other tests and the harness do not
//! affect a test's count. Live bytes (allocated and not freed) are counted for the whole process.
//!
//! ```
//! #[global_allocator]
//! static COUNTING: testkit::Counting = testkit::Counting;
//!
//! assert_eq!(testkit::allocations(|| drop(Vec::<u8>::with_capacity(9))), 1);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// System allocator that also counts the live bytes, and the allocations of the threads that a [`Meter`] watches. A test file that counts
/// allocations sets `Counting` as `#[global_allocator]`.
pub struct Counting;

thread_local! {
    // The variable is not lazy and has no destructor, so access to it does not allocate.
    static METER: Cell<Option<&'static AtomicU64>> = const { Cell::new(None) };
    /// Number of bytes that this thread has allocated and not freed, and the maximum of this number since the last call of [`peak_bytes`].
    static HELD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

/// Number of bytes that the whole process has allocated and not freed.
static LIVE: AtomicU64 = AtomicU64::new(0);

/// Returns the number of bytes that all threads have allocated and not freed, or 0 if [`Counting`] is not the allocator.
pub fn live_bytes() -> u64 {
    LIVE.load(Ordering::SeqCst)
}

/// Runs `work`. Returns the result of `work`, and the largest number of bytes that the calling thread held during `work` in addition to the
/// bytes that the thread held before. Panics if [`Counting`] is not the allocator.
#[track_caller]
pub fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let (before, _) = HELD.get();
    HELD.set((before, before));
    let kept = std::hint::black_box(Box::new([0u8; 4096]));
    assert!(HELD.get().1 >= before + 4096, "set testkit::Counting as the test file's #[global_allocator]");
    drop(kept);
    HELD.set((before, before));
    let result = work();
    (result, (HELD.get().1 - before) as u64)
}

fn hold(bytes: i64) {
    let (held, most) = HELD.get();
    HELD.set((held + bytes, most.max(held + bytes)));
}

fn count(bytes: usize) {
    LIVE.fetch_add(bytes as u64, Ordering::Relaxed);
    hold(bytes as i64);
    if let Some(meter) = METER.get() {
        meter.fetch_add(1, Ordering::Relaxed);
    }
}

fn give_back(bytes: usize) {
    LIVE.fetch_sub(bytes as u64, Ordering::Relaxed);
    hold(-(bytes as i64));
}

#[allow(unsafe_code)] // an allocator cannot be written without
// SAFETY: every call is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        give_back(layout.size());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Counts the allocations of the threads that the meter watches. `pool.broadcast(|_| meter.watch())` watches the threads of a pool.
#[derive(Clone, Copy)]
pub struct Meter(&'static AtomicU64);

impl Meter {
    /// Creates a meter that watches the calling thread. Panics if [`Counting`] is not the allocator, because all counts would be 0.
    #[track_caller]
    #[allow(clippy::new_without_default)] // creating it has a side effect on the thread
    pub fn new() -> Meter {
        let meter = Meter(Box::leak(Box::new(AtomicU64::new(0))));
        meter.watch();
        let (_, taken) = meter.count(|| drop(std::hint::black_box(Box::new(1))));
        assert_eq!(taken, 1, "set testkit::Counting as the test file's #[global_allocator]");
        meter
    }

    /// Counts the calling thread's allocations from now on. If the thread had an earlier meter, that meter no longer counts them.
    pub fn watch(&self) {
        METER.set(Some(self.0));
    }

    /// Runs `work`. Returns the result of `work`, and the number of allocations that the watched threads made during `work`.
    pub fn count<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let before = self.0.load(Ordering::SeqCst);
        let result = work();
        (result, self.0.load(Ordering::SeqCst) - before)
    }
}

/// Runs `work`. Returns the number of allocations that the calling thread makes in `work`.
#[track_caller]
pub fn allocations(work: impl FnOnce()) -> u64 {
    Meter::new().count(work).1
}
