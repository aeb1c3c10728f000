//! The file that has every event as a line, which `watch` reads along.

use crate::record::{BEGINS, Record};
use anyhow::{Context, Result};
use files::Kind;
use run::room::Schema;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const EVENTS: Kind = Kind {
    name: "file of events",
    is_one: |file| files::begins(file, BEGINS),
    next: "Name another file with --events",
    is_stream: true,
};

pub struct EventLog {
    file: BufWriter<File>,
    schema: &'static Schema,
}

impl EventLog {
    /// Begins the file anew where it is one of these, and refuses where it is some other file.
    pub fn create(path: &Path, schema: &'static Schema) -> Result<EventLog> {
        let file = files::open_lines(path, EVENTS)?;
        // A pipe or a device has nothing that could be lost.
        if file.metadata().is_ok_and(|there| there.is_file()) {
            file.set_len(0).with_context(|| format!("cannot write events to {}", path.display()))?;
        }
        Ok(EventLog { file: BufWriter::new(file), schema })
    }

    /// At once, since others read along.
    pub fn record(&mut self, record: &Record) -> std::io::Result<()> {
        writeln!(self.file, "{}", record.line(self.schema))?;
        self.file.flush()
    }
}
