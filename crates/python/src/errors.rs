//! What is refused, as Python's exceptions: the sentence says what is the matter and the next step.

use pyo3::create_exception;
use pyo3::exceptions::{PyArithmeticError, PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use run::RunError;

create_exception!(hothouse, CheckpointError, PyValueError, "A file that is no checkpoint, or is damaged, or of another version.");
create_exception!(hothouse, DivergedError, PyArithmeticError, "Training diverged: the weights are no longer numbers.");
create_exception!(hothouse, ForkError, PyRuntimeError, "It was made before this process was forked, and its threads are not here.");

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CheckpointError", py.get_type::<CheckpointError>())?;
    module.add("DivergedError", py.get_type::<DivergedError>())?;
    module.add("ForkError", py.get_type::<ForkError>())
}

pub fn refusal(error: RunError) -> PyErr {
    let text = error.to_string();
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
