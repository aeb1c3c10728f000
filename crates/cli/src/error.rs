//! Errors of the command line.

use anyhow::{Result, anyhow};

/// An error in the command line; the process exits with status 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Combines two results. Two errors become one, so that a closed output, which is no failure, does not hide a failure.
pub fn both(first: Result<()>, second: Result<()>) -> Result<()> {
    match (first, second) {
        (Err(first), Err(second)) => Err(anyhow!("{first:#}; {second:#}")),
        (first, second) => first.and(second),
    }
}

/// Converts a run error that the command line caused into a [`Usage`] error.
pub fn usage_error(error: run::RunError) -> anyhow::Error {
    Usage(error.to_string()).into()
}
