//! Threads, and the process that they belong to.

use crate::errors::ForkError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Instant;

/// Beyond this, more threads are a slip of the pen.
const MOST_THREADS: usize = 1024;

/// Threads of a process. One thread is the caller's own.
pub struct Threads {
    pool: Option<ThreadPool>,
    process: u32,
}

impl Threads {
    pub fn new(count: usize) -> PyResult<Threads> {
        check(count)?;
        let pool = if count > 1 { Some(pool(count)?) } else { None };
        Ok(Threads { pool, process: std::process::id() })
    }

    /// With a thread apart from the caller's even where it is one, for work that asks rayon how many there are.
    pub fn apart(count: usize) -> PyResult<Threads> {
        check(count)?;
        Ok(Threads { pool: Some(pool(count)?), process: std::process::id() })
    }

    /// Refuses where the threads were left behind by a fork.
    pub fn here(&self, what: &str) -> PyResult<()> {
        if std::process::id() == self.process {
            return Ok(());
        }
        Err(ForkError::new_err(format!(
            "{what} was made before this process was forked, and its threads stayed behind. Make it in the process \
             that uses it, or start processes by multiprocessing.get_context(\"spawn\")"
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
    /// In a forked process nobody answers the pool.
    fn drop(&mut self) {
        if std::process::id() != self.process {
            std::mem::forget(self.pool.take());
        }
    }
}

/// What threads of Python use in turns.
pub struct Turns<T> {
    /// Whoever waits holds it, so that a thread that has just had its turn comes after those that wait.
    door: Mutex<()>,
    inner: Mutex<T>,
}

impl<T> Turns<T> {
    pub fn new(inner: T) -> Turns<T> {
        Turns { door: Mutex::new(()), inner: Mutex::new(inner) }
    }

    /// Waits until no other thread uses it, without Python's lock. In a forked process whoever used it may not be there to end its
    /// turn, so `here` refuses instead.
    pub fn take(&self, py: Python, here: impl Fn() -> PyResult<()>) -> PyResult<MutexGuard<'_, T>> {
        let _door = lock(&self.door, py, &here)?;
        lock(&self.inner, py, &here)
    }
}

fn lock<'a, T>(of: &'a Mutex<T>, py: Python, here: impl Fn() -> PyResult<()>) -> PyResult<MutexGuard<'a, T>> {
    // After a panic it is as that left it, and Python has been told.
    match of.try_lock() {
        Ok(held) => Ok(held),
        Err(TryLockError::Poisoned(held)) => Ok(held.into_inner()),
        Err(TryLockError::WouldBlock) => {
            here()?;
            Ok(of.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
        }
    }
}

/// On the calling thread, without a look at any pool.
pub fn alone<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    math::par::Threads::of(1).expect("one there always is").run(work)
}

fn check(count: usize) -> PyResult<()> {
    if (1..=MOST_THREADS).contains(&count) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("threads = {count} is out of range. Choose 1 to {MOST_THREADS}")))
}

fn pool(count: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(count)
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start {count} threads ({error}). Ask for fewer with threads=")))
}

/// As many as this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Seconds since it was first asked.
pub fn now_s() -> f64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64()
}
