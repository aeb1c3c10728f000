//! The parallel seam: the only place that knows of threads. Work is cut by the caller, by the size of the problem; how many
//! threads there are changes when a piece runs, never what it computes. Without the `threads` feature, or with a pool of
//! one, everything runs in order on the calling thread.

/// How many threads share the pieces.
pub fn threads() -> usize {
    #[cfg(feature = "threads")]
    {
        rayon::current_num_threads()
    }
    #[cfg(not(feature = "threads"))]
    {
        1
    }
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

/// Runs both, perhaps at once.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    #[cfg(feature = "threads")]
    if threads() > 1 {
        return rayon::join(a, b);
    }
    (a(), b())
}

/// Halves the items until one is left: `rayon::join` keeps its tasks on the stack, so nothing is allocated.
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

/// What other threads may have and look at, where the platform lets them: a browser's handles on its GPU stay where they
/// were made.
#[cfg(not(target_family = "wasm"))]
pub trait Movable: Send + Sync {}
#[cfg(not(target_family = "wasm"))]
impl<T: Send + Sync + ?Sized> Movable for T {}
#[cfg(target_family = "wasm")]
pub trait Movable {}
#[cfg(target_family = "wasm")]
impl<T: ?Sized> Movable for T {}
