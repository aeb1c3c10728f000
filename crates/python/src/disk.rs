//! Files as the terminal reads and writes them: what is wrong becomes the `OSError` of its kind, with the next step.

use files::{CHECKPOINT, Kind, Refused};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

const KIND: Kind = Kind { next: "Name another file", ..CHECKPOINT };

/// A pipe would hold up the run, and a device keeps nothing.
const EVENTS: Kind = Kind { next: "Name another file with events=", is_stream: false, ..files::EVENTS };

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(read_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(read_data, module)?)?;
    module.add_function(wrap_pyfunction!(write_checkpoint, module)?)
}

/// Whole, or as it was, and over nothing but a checkpoint.
#[pyfunction]
fn write_checkpoint(py: Python, path: PathBuf, content: &[u8]) -> PyResult<()> {
    py.detach(|| files::write_whole(&path, KIND, content)).map_err(trouble)
}

/// Refuses a place where a checkpoint cannot go, before a run is trained for it.
#[pyfunction]
fn check_checkpoint(path: PathBuf) -> PyResult<()> {
    files::check(&path, KIND).map_err(trouble)
}

/// No more of a file than a checkpoint has.
#[pyfunction]
fn read_checkpoint(py: Python, path: PathBuf) -> PyResult<Bound<PyBytes>> {
    Ok(PyBytes::new(py, &py.detach(|| files::read_checkpoint(&path)).map_err(trouble)?))
}

/// The name and the bytes of what a run learns from, where they fit the memory.
#[pyfunction]
fn read_data(py: Python, path: PathBuf) -> PyResult<(String, Bound<PyBytes>)> {
    let data = py.detach(|| files::read_data(&path)).map_err(trouble)?;
    Ok((data.name, PyBytes::new(py, &data.content.unwrap_or_default())))
}

/// A file of events, which no other run writes to until it is closed.
#[pyclass(module = "hothouse._native", frozen)]
pub struct Events(Mutex<Option<File>>);

#[pymethods]
impl Events {
    /// Begins the file anew where it is one of these.
    #[new]
    fn new(py: Python, path: PathBuf) -> PyResult<Events> {
        let file = py.detach(|| files::begin_lines(&path, EVENTS)).map_err(trouble)?;
        Ok(Events(Mutex::new(Some(file))))
    }

    /// At once, since others read along.
    fn write(&self, py: Python, line: &str) -> PyResult<()> {
        let line = format!("{line}\n");
        py.detach(|| {
            let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let closed = || PyValueError::new_err("the file of events is closed. Open it anew");
            Ok(file.as_mut().ok_or_else(closed)?.write_all(line.as_bytes())?)
        })
    }

    fn close(&self, py: Python) {
        py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

fn trouble(error: anyhow::Error) -> PyErr {
    let text = format!("{error:#}");
    let kind = match (error.downcast_ref::<Refused>(), error.downcast_ref::<io::Error>()) {
        (Some(refused), _) => refused.kind,
        (_, Some(error)) => error.kind(),
        _ => match error.downcast::<run::RunError>() {
            Ok(error) => return crate::errors::refusal(error),
            Err(_) => io::ErrorKind::Other,
        },
    };
    io::Error::new(kind, text).into()
}
