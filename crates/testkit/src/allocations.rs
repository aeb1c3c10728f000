//! Counting allocator. It counts per thread, so that other tests and the harness do not affect a test's count.
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

/// The system allocator, which also counts allocations of threads that a [`Meter`] watches. Test files that count allocations set it as
/// `#[global_allocator]`.
pub struct Counting;

thread_local! {
    // Neither lazy nor with a destructor, so that access does not allocate.
    static METER: Cell<Option<&'static AtomicU64>> = const { Cell::new(None) };
    /// Bytes that this thread holds, and their maximum.
    static HELD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

/// Bytes that the whole process holds.
static LIVE: AtomicU64 = AtomicU64::new(0);

/// Bytes that all threads hold, if [`Counting`] is the allocator.
pub fn live_bytes() -> u64 {
    LIVE.load(Ordering::SeqCst)
}

/// Result of `work`, and the maximum of the additional bytes that the calling thread holds during it.
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
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        give_back(layout.size());
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Counts the allocations of the threads that it watches. Add the threads of a pool with `pool.broadcast(|_| meter.watch())`.
#[derive(Clone, Copy)]
pub struct Meter(&'static AtomicU64);

impl Meter {
    /// Watches the calling thread. Panics if [`Counting`] is not the allocator, because all counts would be 0.
    #[track_caller]
    #[allow(clippy::new_without_default)] // creating it has a side effect on the thread
    pub fn new() -> Meter {
        let meter = Meter(Box::leak(Box::new(AtomicU64::new(0))));
        meter.watch();
        let (_, taken) = meter.count(|| drop(std::hint::black_box(Box::new(1))));
        assert_eq!(taken, 1, "set testkit::Counting as the test file's #[global_allocator]");
        meter
    }

    /// Counts the calling thread's allocations from now on. Any other meter stops counting them.
    pub fn watch(&self) {
        METER.set(Some(self.0));
    }

    /// Result of `work`, and the number of allocations of the watched threads during it.
    pub fn count<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let before = self.0.load(Ordering::SeqCst);
        let result = work();
        (result, self.0.load(Ordering::SeqCst) - before)
    }
}

/// Number of allocations of the calling thread in `work`.
#[track_caller]
pub fn allocations(work: impl FnOnce()) -> u64 {
    Meter::new().count(work).1
}
