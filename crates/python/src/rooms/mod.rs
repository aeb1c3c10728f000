//! Functions of individual rooms that do not concern runs. Each such room has a file and a line here.

mod backgammon;
mod control;

use pyo3::prelude::*;

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    backgammon::register(module)?;
    control::register(module)
}
