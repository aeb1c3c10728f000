//! Parallel execution: the only module of this crate that uses threads. The caller divides the work into pieces. The division and the order
//! of the pieces may depend on the number of threads; the result must not. Without the `threads` feature, or with a pool of one thread, all
//! pieces run in order on the calling thread.

use std::cell::Cell;

thread_local! {
    /// True if calls of this module from this thread must use this thread alone.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Returns the number of threads that parallel calls from this thread use.
pub fn threads() -> usize {
    #[cfg(feature = "threads")]
    {
        if ALONE.get() { 1 } else { rayon::current_num_threads() }
    }
    #[cfg(not(feature = "threads"))]
    {
        1
    }
}

/// A pool with a fixed number of threads, for example to compare numbers of threads in tests and benches.
pub struct Threads(PoolKind);

enum PoolKind {
    One,
    /// All threads of the current pool.
    All,
    #[cfg(all(feature = "threads", not(target_family = "wasm")))]
    Pool(rayon::ThreadPool),
}

impl Threads {
    /// Returns a pool of `count` threads, or `None` if the platform cannot create this pool. One thread is always possible. A browser
    /// supports one thread, or all threads of its pool.
    pub fn of(count: usize) -> Option<Threads> {
        if count == 1 {
            return Some(Threads(PoolKind::One));
        }
        if threads() == count {
            return Some(Threads(PoolKind::All));
        }
        #[cfg(all(feature = "threads", not(target_family = "wasm")))]
        return rayon::ThreadPoolBuilder::new().num_threads(count).build().ok().map(|p| Threads(PoolKind::Pool(p)));
        #[cfg(not(all(feature = "threads", not(target_family = "wasm"))))]
        None
    }

    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            PoolKind::One => {
                let before = ALONE.replace(true);
                let result = f();
                ALONE.set(before);
                result
            }
            PoolKind::All => inside(f),
            #[cfg(all(feature = "threads", not(target_family = "wasm")))]
            PoolKind::Pool(pool) => pool.install(f),
        }
    }
}

/// Returns true if this thread belongs to the pool and its parallel calls use several threads.
fn is_inside() -> bool {
    #[cfg(feature = "threads")]
    return threads() > 1 && rayon::current_thread_index().is_some();
    #[cfg(not(feature = "threads"))]
    false
}

/// Runs `f` on a thread of the pool, so that the parallel calls in `f` enter the pool only once. Runs `f` on this thread if parallel calls
/// use one thread only, or if this thread belongs to the pool.
pub fn inside<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    #[cfg(feature = "threads")]
    if threads() > 1 && rayon::current_thread_index().is_none() {
        return rayon::join(f, || ()).0;
    }
    f()
}

/// Calls `f(i)` for every `i < count`, in any order and on any thread.
pub fn each(count: usize, f: impl Fn(usize) + Sync) {
    #[cfg(feature = "threads")]
    if count > 1 && threads() > 1 {
        return halve(0..count, &f);
    }
    (0..count).for_each(f);
}

/// Halves the range recursively until one index is left, and calls `f` for each index.
#[cfg(feature = "threads")]
fn halve(range: std::ops::Range<usize>, f: &(impl Fn(usize) + Sync)) {
    if range.len() < 2 {
        return range.for_each(f);
    }
    let half = range.start + range.len() / 2;
    rayon::join(|| halve(range.start..half, f), || halve(half..range.end, f));
}

/// Calls `f(i, &mut items[i])` for every item, in any order and on any thread.
pub fn each_mut<T: Send>(items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    #[cfg(feature = "threads")]
    if items.len() > 1 && threads() > 1 {
        return split(0, items, &f);
    }
    for (i, item) in items.iter_mut().enumerate() {
        f(i, item);
    }
}

/// Does the same as [`each_mut`], for large items. If there are at least as many items as threads, calls of this module within `f` use one
/// thread only.
pub fn each_apart<T: Send>(items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    if items.len() < threads() || items.len() < 2 {
        return each_mut(items, f);
    }
    each_mut(items, |i, item| {
        let before = ALONE.replace(true);
        f(i, item);
        ALONE.set(before);
    });
}

/// Runs both functions, possibly at the same time.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    #[cfg(feature = "threads")]
    if threads() > 1 {
        return rayon::join(a, b);
    }
    (a(), b())
}

/// Number of floats that justifies another thread in a pass over memory: about 50 µs of work, in a browser 200 µs.
pub const CHUNK: usize = if cfg!(target_family = "wasm") { 1 << 17 } else { 1 << 16 };

/// Number of multiply-adds after which a long computation returns to its caller. On two threads, this work takes a few hundredths of a
/// second.
pub const TURN: f64 = if cfg!(target_family = "wasm") { 1e9 } else { 4e9 };

/// Returns the number of items per piece, for `count` items of `size` numbers each. Each piece but the last has at least [`CHUNK`] numbers.
/// [`evenly`] rounds the number of pieces.
pub fn share(count: usize, size: usize) -> usize {
    count.div_ceil(evenly(count * size / CHUNK)).max(1)
}

/// Rounds a number of pieces down to a multiple of the number of threads, so that all threads get the same number of pieces. Fewer pieces
/// than threads are not rounded. The result is at least 1.
pub fn evenly(pieces: usize) -> usize {
    let threads = threads();
    if pieces > threads { pieces / threads * threads } else { pieces.max(1) }
}

/// Divides several slices into corresponding pieces: piece i of slice j is `sizes[j]` floats from i·`sizes[j]` on. Calls `f(i, pieces)` in
/// any order and on any thread. Outside the pool, all calls run on the calling thread, because a transfer to the pool may cost more time
/// than the threads save. The first slice determines the number of pieces. For an absent slice, pass an empty slice and the size 0.
pub fn chunks_mut<const N: usize>(slices: [&mut [f32]; N], sizes: [usize; N], f: impl Fn(usize, [&mut [f32]; N]) + Sync) {
    if slices[0].len() <= sizes[0] {
        return f(0, slices);
    }
    if !is_inside() {
        return chunks_in_order(slices, sizes, f);
    }
    let count = slices[0].len().div_ceil(sizes[0]);
    halve_slices(0, count, slices, sizes, &f);
}

/// Does the same as [`chunks_mut`] on this thread, in order.
pub fn chunks_in_order<const N: usize>(slices: [&mut [f32]; N], sizes: [usize; N], f: impl Fn(usize, [&mut [f32]; N])) {
    let mut rest = slices;
    let mut i = 0;
    while !rest[0].is_empty() {
        let mut pieces: [&mut [f32]; N] = std::array::from_fn(|_| <&mut [f32]>::default());
        for (j, slice) in rest.iter_mut().enumerate() {
            let whole = std::mem::take(slice);
            (pieces[j], *slice) = whole.split_at_mut(sizes[j].min(whole.len()));
        }
        f(i, pieces);
        i += 1;
    }
}

fn halve_slices<const N: usize>(
    first: usize,
    count: usize,
    slices: [&mut [f32]; N],
    sizes: [usize; N],
    f: &(impl Fn(usize, [&mut [f32]; N]) + Sync),
) {
    if count < 2 {
        return f(first, slices);
    }
    let half = count / 2;
    let mut right: [&mut [f32]; N] = std::array::from_fn(|_| <&mut [f32]>::default());
    let mut left: [&mut [f32]; N] = std::array::from_fn(|_| <&mut [f32]>::default());
    for (i, slice) in slices.into_iter().enumerate() {
        (left[i], right[i]) = slice.split_at_mut((half * sizes[i]).min(slice.len()));
    }
    join(|| halve_slices(first, half, left, sizes, f), || halve_slices(first + half, count - half, right, sizes, f));
}

/// Halves the items recursively until one is left, and calls `f` for each item. `rayon::join` keeps its tasks on the stack, so nothing is
/// allocated.
#[cfg(feature = "threads")]
fn split<T: Send>(first: usize, items: &mut [T], f: &(impl Fn(usize, &mut T) + Sync)) {
    match items {
        [] => {}
        [item] => f(first, item),
        _ => {
            let half = items.len() / 2;
            let (left, right) = items.split_at_mut(half);
            rayon::join(|| split(first, left, f), || split(first + half, right, f));
        }
    }
}

/// Bound on values that threads exchange. Natively, the bound is `Send + Sync`. In a browser, there is no bound, because GPU handles stay
/// on the thread that created them.
#[cfg(not(target_family = "wasm"))]
pub trait Movable: Send + Sync {}
#[cfg(not(target_family = "wasm"))]
impl<T: Send + Sync + ?Sized> Movable for T {}
#[cfg(target_family = "wasm")]
pub trait Movable {}
#[cfg(target_family = "wasm")]
impl<T: ?Sized> Movable for T {}

/// Native version of `Pinned`, which stores the value directly. A `Pinned` therefore moves to another thread only if the value is `Send`.
/// Callers must nevertheless use the value only on the thread that created it, because the browser's version below requires this.
#[cfg(not(target_family = "wasm"))]
pub struct Pinned<T>(T);

#[cfg(not(target_family = "wasm"))]
impl<T: 'static> Pinned<T> {
    pub fn new(value: T) -> Self {
        Pinned(value)
    }

    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.0)
    }

    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0)
    }
}

/// A value that is used only on the thread that created it. The value remains in that thread's storage. This struct contains only the
/// value's index there, so it may move to other threads.
#[cfg(target_family = "wasm")]
pub struct Pinned<T> {
    number: u32,
    of: std::marker::PhantomData<fn() -> T>,
}

#[cfg(target_family = "wasm")]
mod pinned {
    use super::Pinned;
    use std::any::Any;
    use std::cell::RefCell;
    use std::collections::HashMap;
    use std::marker::PhantomData;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    static NEXT: AtomicU32 = AtomicU32::new(0);

    thread_local! {
        static KEPT: RefCell<HashMap<u32, Box<dyn Any>>> = RefCell::default();
    }

    /// A value that is removed from the storage while a function uses it, so that the function may access other values. Drop stores the
    /// value again.
    struct Taken(u32, Option<Box<dyn Any>>);

    impl Drop for Taken {
        fn drop(&mut self) {
            if let Some(value) = self.1.take() {
                let _ = KEPT.try_with(|kept| kept.borrow_mut().insert(self.0, value));
            }
        }
    }

    impl<T: 'static> Pinned<T> {
        pub fn new(value: T) -> Self {
            let number = NEXT.fetch_add(1, Relaxed);
            KEPT.with_borrow_mut(|kept| kept.insert(number, Box::new(value)));
            Pinned { number, of: PhantomData }
        }

        pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
            self.take(|value| f(value))
        }

        pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> R {
            self.take(f)
        }

        fn take<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
            let value = KEPT.with_borrow_mut(|kept| kept.remove(&self.number));
            let mut taken = Taken(self.number, value);
            let value = taken.1.as_mut().and_then(|value| value.downcast_mut());
            f(value.expect("used on the thread that made it, and by one at a time"))
        }
    }

    impl<T> Drop for Pinned<T> {
        fn drop(&mut self) {
            let value = KEPT.try_with(|kept| kept.borrow_mut().remove(&self.number));
            drop(value);
        }
    }
}
