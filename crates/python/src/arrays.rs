//! Access to NumPy arrays that several Python threads share. For example, environments write observations while a policy reads them. A call
//! waits until no other call uses the array.

use numpy::ndarray::Dimension;
use numpy::{BorrowError, Element, PyArray, PyArrayMethods, PyReadonlyArray, PyReadwriteArray};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Maximum time for which a call waits for an array. Every call of this module uses an array for a shorter time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two attempts to use an array.
const LOOK: Duration = Duration::from_micros(50);

/// Number of calls that wait for an array (low 32 bits), and id of their process (high 32 bits). A forked process inherits this value. The
/// id then shows that the calls belong to the parent process.
static WAITING: AtomicU64 = AtomicU64::new(0);

pub fn read<'py, T: Element, D: Dimension>(array: &Bound<'py, PyArray<T, D>>) -> PyResult<PyReadonlyArray<'py, T, D>> {
    borrow(array.py(), || array.try_readonly())
}

pub fn write<'py, T: Element, D: Dimension>(array: &Bound<'py, PyArray<T, D>>) -> PyResult<PyReadwriteArray<'py, T, D>> {
    borrow(array.py(), || array.try_readwrite())
}

/// Waits until no other call waits for an array, but not longer than [`PATIENCE`]. The caller must not hold an array, because the other
/// calls may wait for that array.
pub fn let_pass(py: Python) {
    let began = Instant::now();
    while waiting() > 0 && began.elapsed() < PATIENCE {
        py.detach(|| std::thread::sleep(LOOK));
    }
}

fn borrow<T>(py: Python, take: impl Fn() -> Result<T, BorrowError>) -> PyResult<T> {
    let mut waits = None;
    let began = Instant::now();
    loop {
        match take() {
            Err(BorrowError::AlreadyBorrowed) => {}
            taken => return Ok(taken?),
        }
        if began.elapsed() > PATIENCE {
            return Err(PyRuntimeError::new_err("another thread has used this array for a minute. Pass a copy of it"));
        }
        waits.get_or_insert_with(Waits::new);
        py.detach(|| std::thread::sleep(LOOK));
        py.check_signals()?;
    }
}

fn here() -> u64 {
    u64::from(std::process::id()) << 32
}

fn waiting() -> u64 {
    of_this_process(WAITING.load(Relaxed))
}

fn of_this_process(all: u64) -> u64 {
    let count = all & u64::from(u32::MAX);
    if count > 0 && all - count == here() { count } else { 0 }
}

/// Guard that counts one waiting call until the guard is dropped.
struct Waits;

impl Waits {
    fn new() -> Waits {
        // After a fork, the calls of the parent process do not count.
        let _ = WAITING.fetch_update(Relaxed, Relaxed, |all| Some(here() + of_this_process(all) + 1));
        Waits
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Relaxed);
    }
}
