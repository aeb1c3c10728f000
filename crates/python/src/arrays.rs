//! Access to NumPy arrays that several Python threads share. For example, environments write observations while a policy reads them. A call
//! waits until no other call uses the array.

use numpy::ndarray::Dimension;
use numpy::{
    BorrowError, Element, PyArray, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray, PyReadwriteArray, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
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

/// Borrows the array `value`, whose rows are consecutive in memory. Raises an error that states the fault of another value and the call
/// that corrects it. `name` is the name of the argument.
pub fn read<'py, T: Element, D: Dimension>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<PyReadonlyArray<'py, T, D>> {
    match value.cast::<PyArray<T, D>>() {
        Ok(array) if array.is_aligned() && array.is_c_contiguous() => borrow(value.py(), || array.try_readonly()),
        _ => Err(PyTypeError::new_err(fault::<T, D>(value, name)?)),
    }
}

/// Describes why `value` is not an array that [`read`] accepts, and the call that corrects it.
fn fault<T: Element, D: Dimension>(value: &Bound<PyAny>, name: &str) -> PyResult<String> {
    let wanted = T::get_dtype(value.py());
    let call = format!("Use numpy.require({name}, numpy.{wanted}, \"CA\")");
    let Ok(array) = value.cast::<PyUntypedArray>() else {
        return Ok(format!("{name} must be a NumPy array of {wanted}, not {}. {call}", value.get_type().name()?));
    };
    let (found, dimensions) = (array.dtype(), D::NDIM.unwrap_or(1));
    let is = match array.ndim() {
        ndim if ndim != dimensions => return Ok(format!("{name} must have {dimensions} dimensions, not {ndim}. Change its shape")),
        _ if found.is_equiv_to(&wanted) && !array.is_aligned() => "not aligned in memory".into(),
        _ if found.is_equiv_to(&wanted) => format!("not contiguous: its strides are {:?} bytes", array.strides()),
        _ if found.num() == wanted.num() => format!("in another byte order ({})", found.getattr("str")?),
        _ => format!("of type {found}, not {wanted}"),
    };
    Ok(format!("{name} is {is}. {call}"))
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
