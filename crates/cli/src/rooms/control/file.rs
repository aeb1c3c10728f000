//! Environments that Python files define.

use crate::error::usage_error;
use anyhow::Result;
use run::control::env::Kind;
use std::path::Path;

/// Ending of the names of files that define environments.
const PYTHON: &str = ".py";

/// Compiles the environment that a Python file defines. Returns `None` if `name` is not the name of a Python file.
pub fn kind_of_file(name: &str) -> Result<Option<Kind>> {
    if !name.ends_with(PYTHON) {
        return Ok(None);
    }
    let file = files::read_data(Path::new(name))?;
    Ok(Some(run::control::kind_of(&file).map_err(usage_error)?))
}
