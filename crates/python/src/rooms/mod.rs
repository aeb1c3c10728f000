//! Functions of individual rooms besides runs: a line here and a file for each room.

mod backgammon;
mod control;

use pyo3::prelude::*;

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    backgammon::register(module)?;
    control::register(module)
}
