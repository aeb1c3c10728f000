//! What rooms have beside their runs: a line each, and a file each.

mod backgammon;
mod control;

use pyo3::prelude::*;

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    backgammon::register(module)?;
    control::register(module)
}
