//! An allocator that counts, thread by thread, so that a test counts its own work exactly and nothing of what else the
//! process does: other tests beside it, the harness.
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

/// The system's allocator, counting for threads that a [`Meter`] watches. A test file that counts makes it its global one.
pub struct Counting;

thread_local! {
    // Neither lazy nor with a destructor: to look at it allocates nothing.
    static METER: Cell<Option<&'static AtomicU64>> = const { Cell::new(None) };
    /// Bytes that this thread has taken and not given back, and the most that they were.
    static HELD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

/// Bytes that the whole process holds.
static LIVE: AtomicU64 = AtomicU64::new(0);

/// Bytes that all threads hold now, where [`Counting`] is the allocator.
pub fn live_bytes() -> u64 {
    LIVE.load(Ordering::SeqCst)
}

/// The most bytes that the calling thread holds while `work` goes on, beyond what it held before.
#[track_caller]
pub fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let (before, _) = HELD.get();
    HELD.set((before, before));
    let kept = std::hint::black_box(Box::new([0u8; 4096]));
    assert!(HELD.get().1 >= before + 4096, "the test's file names testkit::Counting as its #[global_allocator]");
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
// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        give_back(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Counts what the threads allocate that it watches. Those of a pool join by `pool.broadcast(|_| meter.watch())`.
#[derive(Clone, Copy)]
pub struct Meter(&'static AtomicU64);

impl Meter {
    /// Watches the calling thread. It refuses where [`Counting`] is not the allocator, since there every count would be 0.
    #[track_caller]
    #[allow(clippy::new_without_default)] // it watches a thread, which no default should
    pub fn new() -> Meter {
        let meter = Meter(Box::leak(Box::new(AtomicU64::new(0))));
        meter.watch();
        let (_, taken) = meter.count(|| drop(std::hint::black_box(Box::new(1))));
        assert_eq!(taken, 1, "the test's file names testkit::Counting as its #[global_allocator]");
        meter
    }

    /// Counts the calling thread's allocations from now on, and no other meter does.
    pub fn watch(&self) {
        METER.set(Some(self.0));
    }

    /// How often the watched threads allocate while `work` goes on.
    pub fn count<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let before = self.0.load(Ordering::SeqCst);
        let result = work();
        (result, self.0.load(Ordering::SeqCst) - before)
    }
}

/// How often the calling thread allocates in `work`.
#[track_caller]
pub fn allocations(work: impl FnOnce()) -> u64 {
    Meter::new().count(work).1
}
