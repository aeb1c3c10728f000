//! Functions that individual rooms provide in addition to runs. Each room with such functions has a file and a line here.

mod backgammon;
mod control;

use pyo3::prelude::*;

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    backgammon::register(module)?;
    control::register(module)
}
