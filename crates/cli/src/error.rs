//! Errors of the command line.

/// The command line is wrong: status 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// What the person typed cannot be; the rest is the program's trouble.
pub fn refusal(error: run::RunError) -> anyhow::Error {
    Usage(error.to_string()).into()
}
