//! `hothouse._native`: environments and runs for the Python package in `python/hothouse`. That package contains the documentation, the
//! spaces and the rendering. This module writes NumPy arrays in place, without Python's global interpreter lock (GIL). Errors are raised as
//! exceptions with a remedy; nothing aborts the process. There is no unsafe code except in PyO3's macros.
#![allow(unsafe_code)] // for PyO3's macros; crates/run/tests/run/invariants.rs checks that there is no other unsafe code

mod arrays;
mod counts;
mod data;
mod disk;
mod errors;
mod host;
mod policy;
mod rooms;
mod run;
mod sweep;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Environments and runs; see the package `hothouse`.
#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<run::Run>()?;
    module.add_class::<policy::Policy>()?;
    module.add_class::<disk::Claim>()?;
    module.add_class::<disk::Events>()?;
    module.add_function(wrap_pyfunction!(every_room, module)?)?;
    module.add_function(wrap_pyfunction!(run::play, module)?)?;
    module.add_function(wrap_pyfunction!(knobs, module)?)?;
    disk::register(module)?;
    rooms::register(module)?;
    sweep::register(module)?;
    errors::register(module)
}

/// Every room with its variants and columns, by the room's id.
#[pyfunction(name = "rooms")]
fn every_room(py: Python) -> PyResult<Bound<PyDict>> {
    let rooms = PyDict::new(py);
    for room in ::run::rooms() {
        rooms.set_item(room.schema().id, data::to_python(py, &room.info())?)?;
    }
    Ok(rooms)
}

/// Knobs of a room's variant. Without `variant`, the room's default variant is used.
#[pyfunction]
#[pyo3(signature = (room, variant=None))]
fn knobs<'py>(py: Python<'py>, room: &str, variant: Option<String>) -> PyResult<Bound<'py, PyAny>> {
    let config = run::config(room, variant)?;
    data::to_python(py, &::run::room(room).map_err(errors::refusal)?.knobs(&config.variant))
}
