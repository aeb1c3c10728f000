//! The file that has every event as a line, which `watch` reads along.

use crate::session::record::Record;
use anyhow::Result;
use run::room::Schema;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

pub struct EventLog {
    file: BufWriter<File>,
    schema: &'static Schema,
}

impl EventLog {
    /// Begins the file anew where it is one of these, and refuses where it is some other file.
    pub fn create(path: &Path, schema: &'static Schema) -> Result<EventLog> {
        let file = files::create_lines(path, files::EVENTS)?;
        Ok(EventLog { file: BufWriter::new(file), schema })
    }

    /// At once, since others read along.
    pub fn record(&mut self, record: &Record) -> std::io::Result<()> {
        writeln!(self.file, "{}", record.line(self.schema))?;
        self.file.flush()
    }
}
