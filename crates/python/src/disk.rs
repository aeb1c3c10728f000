//! Files as the terminal reads and writes them: what is wrong becomes the `OSError` of its kind, with the next step.

use files::{CHECKPOINT, Kind, Refused};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io;
use std::path::PathBuf;

const KIND: Kind = Kind { next: "Name another file", ..CHECKPOINT };

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
