//! File access with the same rules as in the command-line program. An error becomes the matching `OSError`, whose message contains a
//! remedy.

use files::{CHECKPOINT, FileKind, Refused};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use run::export::{Exported, Format};
use run::format::plain;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const KIND: FileKind = FileKind { next: "Name another file", ..CHECKPOINT };

/// Kind of event files. Only regular files are accepted: a pipe would block the run, and a device keeps no data.
const EVENTS: FileKind = FileKind { next: "Name another file with events=", is_stream: false, ..files::EVENTS };

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(file_version, module)?)?;
    module.add_function(wrap_pyfunction!(read_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(read_data, module)?)?;
    module.add_function(wrap_pyfunction!(write_checkpoint, module)?)
}

/// Writes a checkpoint completely or not at all. Overwrites only checkpoints. If `known` is a version of the file, raises an error unless
/// the file still has this version or does not exist. Returns the new version.
#[pyfunction]
#[pyo3(signature = (path, content, known=None))]
fn write_checkpoint(py: Python, path: PathBuf, content: &[u8], known: Option<String>) -> PyResult<Option<String>> {
    let write = || {
        let claim = files::Claim::new(&path, KIND)?;
        claim.expect_version(known)?;
        claim.write(content)?;
        Ok(files::version(&path))
    };
    py.detach(write).map_err(trouble)
}

/// A text that differs after each write of a file; `None` if the file does not exist.
#[pyfunction]
fn file_version(path: PathBuf) -> Option<String> {
    files::version(&path)
}

/// The right of this process to write a checkpoint file, until it is closed.
#[pyclass(module = "hothouse._native", frozen)]
pub struct Claim(Mutex<Option<files::Claim>>);

#[pymethods]
impl Claim {
    /// Raises an error if another process has claimed the file, or if a checkpoint cannot be written to it.
    #[new]
    fn new(py: Python, path: PathBuf) -> PyResult<Claim> {
        let claim = py.detach(|| files::Claim::new(&path, KIND)).map_err(trouble)?;
        Ok(Claim(Mutex::new(Some(claim))))
    }

    /// Writes a checkpoint completely or not at all.
    fn write(&self, py: Python, content: &[u8]) -> PyResult<()> {
        py.detach(|| match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(claim) => claim.write(content).map_err(trouble),
            None => Err(PyValueError::new_err("the claim is closed. Claim the file again")),
        })
    }

    fn close(&self, py: Python) {
        py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

/// Reads a checkpoint. If the file is not a checkpoint, only its beginning is read.
#[pyfunction]
fn read_checkpoint(py: Python, path: PathBuf) -> PyResult<Bound<PyBytes>> {
    files::check_no_pipe(&path).map_err(trouble)?;
    Ok(PyBytes::new(py, &py.detach(|| files::read_checkpoint(&path)).map_err(trouble)?))
}

/// Reads training data; returns its name and its contents. Raises an error if the data is larger than half of the free memory.
#[pyfunction]
fn read_data(py: Python, path: PathBuf) -> PyResult<(String, Bound<PyBytes>)> {
    files::check_no_pipe(&path).map_err(trouble)?;
    let data = py.detach(|| files::read_data(&path)).map_err(trouble)?;
    Ok((data.name, PyBytes::new(py, &data.content.unwrap_or_default())))
}

/// An event file, locked until it is closed.
#[pyclass(module = "hothouse._native", frozen)]
pub struct Events(Mutex<Option<File>>);

#[pymethods]
impl Events {
    /// Creates an event file, or clears the existing file.
    #[new]
    fn new(py: Python, path: PathBuf) -> PyResult<Events> {
        let file = py.detach(|| files::create_lines(&path, EVENTS)).map_err(trouble)?;
        Ok(Events(Mutex::new(Some(file))))
    }

    /// Writes a line without buffering, because other processes may read the file.
    fn write(&self, py: Python, line: &str) -> PyResult<()> {
        let line = format!("{line}\n");
        py.detach(|| {
            let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let closed = || PyValueError::new_err("the event file is closed. Open it again");
            Ok(file.as_mut().ok_or_else(closed)?.write_all(line.as_bytes())?)
        })
    }

    fn close(&self, py: Python) {
        py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

/// Raises an error if a model and its card cannot be written to `path`.
pub fn check_model(py: Python, path: &Path, format: Format) -> PyResult<()> {
    py.detach(|| files::check_model(path, format)).map_err(trouble)
}

/// Writes an exported model and its card.
pub fn write_model(py: Python, path: &Path, format: Format, exported: &Exported) -> PyResult<()> {
    py.detach(|| files::write_model(path, format, exported)).map(drop).map_err(trouble)
}

fn trouble(error: anyhow::Error) -> PyErr {
    let text = plain(&format!("{error:#}"));
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
