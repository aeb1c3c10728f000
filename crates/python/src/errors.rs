//! Conversion of errors to Python exceptions. Each message contains a remedy.

use pyo3::create_exception;
use pyo3::exceptions::{PyArithmeticError, PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use run::RunError;
use run::format::plain;

create_exception!(hothouse, CheckpointError, PyValueError, "The file is not a checkpoint, is damaged, or has another version.");
create_exception!(hothouse, DivergedError, PyArithmeticError, "Training diverged: the weights are not finite.");
create_exception!(hothouse, ForkError, PyRuntimeError, "The object was created before a fork; its threads do not exist in this process.");

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CheckpointError", py.get_type::<CheckpointError>())?;
    module.add("DivergedError", py.get_type::<DivergedError>())?;
    module.add("ForkError", py.get_type::<ForkError>())
}

pub fn refusal(error: RunError) -> PyErr {
    let text = plain(&error.to_string());
    match error {
        RunError::Future { .. } | RunError::NoSuchVersion { .. } | RunError::Foreign { .. } | RunError::Damaged { .. } => {
            CheckpointError::new_err(text)
        }
        RunError::Diverged => DivergedError::new_err(text),
        RunError::TooMuchMemory { .. } | RunError::DataTooLarge { .. } => PyMemoryError::new_err(text),
        RunError::WrongKind { .. } => PyTypeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
