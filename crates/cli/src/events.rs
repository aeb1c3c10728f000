//! The file that has every event as a line, which `watch` reads along.

use crate::files;
use crate::record::{BEGINS, Record};
use anyhow::{Context, Result, bail};
use run::room::Schema;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

pub struct EventLog {
    file: BufWriter<File>,
    schema: &'static Schema,
}

impl EventLog {
    /// Begins the file anew where it is one of these, and refuses where it is some other file.
    pub fn create(path: &Path, schema: &'static Schema) -> Result<EventLog> {
        let shown = path.display();
        // A pipe or a device has nothing that could be lost.
        let is_plain = fs::metadata(path).map_or(true, |metadata| metadata.is_file());
        let mut options = File::options();
        options.write(true);
        if is_plain {
            options.read(true).create(true).truncate(false);
        }
        let mut file = options.open(path).with_context(|| {
            format!("cannot write events to {shown}. Name a file in a folder that can be written")
        })?;
        if is_plain {
            files::claim(&file, path, "--events")?;
            let mut begins = Vec::new();
            let read = (&file).take(BEGINS.len() as u64).read_to_end(&mut begins);
            read.with_context(|| format!("cannot read {shown}"))?;
            if !BEGINS.starts_with(&begins) {
                bail!("{shown} has no events of a run, and would be lost. Name another file with --events");
            }
            let anew = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0)));
            anew.with_context(|| format!("cannot write events to {shown}"))?;
        }
        Ok(EventLog { file: BufWriter::new(file), schema })
    }

    /// At once, since others read along.
    pub fn record(&mut self, record: &Record) -> std::io::Result<()> {
        writeln!(self.file, "{}", record.line(self.schema))?;
        self.file.flush()
    }
}
