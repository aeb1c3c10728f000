//! Functions that individual rooms provide in addition to runs. Each room with such functions has a file, and two lines here: its `mod` and
//! its `register`.

mod backgammon;
mod control;

use pyo3::prelude::*;

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    backgammon::register(module)?;
    control::register(module)
}
