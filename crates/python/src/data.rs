//! Conversion of plain data between Rust and Python.

use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub fn to_python<'py, T: Serialize + ?Sized>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize::pythonize(py, value)?)
}

pub fn from_python<T: DeserializeOwned>(value: &Bound<PyAny>) -> PyResult<T> {
    Ok(pythonize::depythonize(value)?)
}
