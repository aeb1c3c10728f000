//! The events file, with one record (an event of the run, as JSON) per line. `hothouse watch` can follow the file while it is written.

use crate::session::record::Record;
use anyhow::{Context, Result};
use run::room::Schema;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

pub struct EventLog {
    path: PathBuf,
    file: BufWriter<File>,
    schema: &'static Schema,
}

impl EventLog {
    /// Creates the file. An existing events file is overwritten; any other file is an error.
    pub fn create(path: &Path, schema: &'static Schema) -> Result<EventLog> {
        let file = files::create_lines(path, files::EVENTS)?;
        Ok(EventLog { path: path.to_path_buf(), file: BufWriter::new(file), schema })
    }

    /// Writes a record and flushes the file, since other processes may read it during the run.
    pub fn record(&mut self, record: &Record) -> Result<()> {
        let written = writeln!(self.file, "{}", record.line(self.schema)).and_then(|()| self.file.flush());
        written.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}
