//! Thread pools that detect a fork, and mutexes for Python threads.

use crate::counts::whole;
use crate::errors::ForkError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Instant;

/// Maximum number of threads. The limit detects typing errors in the requested number.
const MOST_THREADS: u64 = 1024;

/// Threads for the work of one process. If `pool` is `None`, the calling thread does the work.
pub struct Threads {
    pool: Option<ThreadPool>,
    process: u32,
}

impl Threads {
    pub fn new(count: usize) -> PyResult<Threads> {
        let pool = if count > 1 { Some(pool(count)?) } else { None };
        Ok(Threads { pool, process: std::process::id() })
    }

    /// Creates a pool even for one thread, for work that reads the number of threads from rayon.
    pub fn apart(count: usize) -> PyResult<Threads> {
        Ok(Threads { pool: Some(pool(count)?), process: std::process::id() })
    }

    /// Raises an error if the process was forked after the pool was created. `what` names the object that the caller uses.
    pub fn here(&self, what: &str) -> PyResult<()> {
        if std::process::id() == self.process {
            return Ok(());
        }
        Err(ForkError::new_err(format!(
            "{what} was created before this process was forked, so its threads do not exist here. Create it in the process \
             that uses it, or start processes with multiprocessing.get_context(\"spawn\")"
        )))
    }

    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => alone(work),
        }
    }

    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }
}

impl Drop for Threads {
    /// Leaks the pool in a forked process. The pool's threads do not exist in such a process, so dropping the pool would block.
    fn drop(&mut self) {
        if std::process::id() != self.process {
            std::mem::forget(self.pool.take());
        }
    }
}

/// A mutex for Python threads. A thread that has just released the mutex cannot lock it before the next waiting thread.
pub struct Turns<T> {
    /// Locked by the next waiting thread. A thread that has just released `inner` must lock `door` first, so it cannot overtake the waiting
    /// thread.
    door: Mutex<()>,
    inner: Mutex<T>,
}

impl<T> Turns<T> {
    pub fn new(inner: T) -> Turns<T> {
        Turns { door: Mutex::new(()), inner: Mutex::new(inner) }
    }

    /// Locks the mutex. Waits for other threads without holding the global interpreter lock (GIL). In a forked process, the thread that
    /// holds the mutex may not exist. `here` must return an error in such a process; this error ends the wait.
    pub fn take(&self, py: Python, here: impl Fn() -> PyResult<()>) -> PyResult<MutexGuard<'_, T>> {
        let _door = lock(&self.door, py, &here)?;
        lock(&self.inner, py, &here)
    }
}

fn lock<'a, T>(of: &'a Mutex<T>, py: Python, here: impl Fn() -> PyResult<()>) -> PyResult<MutexGuard<'a, T>> {
    // The poisoning of a mutex by a panic is ignored, because Python has already received the panic as an exception.
    match of.try_lock() {
        Ok(held) => Ok(held),
        Err(TryLockError::Poisoned(held)) => Ok(held.into_inner()),
        Err(TryLockError::WouldBlock) => {
            here()?;
            Ok(of.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
        }
    }
}

/// Runs `work` on the calling thread only.
pub fn alone<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    math::par::Threads::of(1).expect("one thread is always available").run(work)
}

/// Returns the number of threads that a caller requests; `None` for the default.
pub fn threads(given: Option<&Bound<PyAny>>) -> PyResult<Option<usize>> {
    given.map(|count| Ok(whole("threads", count, 1..=MOST_THREADS)? as usize)).transpose()
}

fn pool(count: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(count)
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start {count} threads ({error}). Choose fewer with threads=")))
}

/// Returns the number of cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the number of seconds since the first call.
pub fn now_s() -> f64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64()
}
