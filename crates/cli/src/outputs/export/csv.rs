//! A file of comma-separated values with one row per iteration.

use super::row::{Row, cells};
use anyhow::{Context, Result, anyhow};
use files::FileKind;
use run::protocol::Progress;
use run::room::Schema;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const TABLE: FileKind = FileKind {
    name: "table of metrics",
    is_kind: |file| files::begins(file, b"iteration,"),
    next: "Name another file with --csv",
    example: "run.csv",
    is_stream: false,
};

pub struct Csv {
    path: PathBuf,
    file: File,
    schema: &'static Schema,
    /// Iteration of the last row; 0 if the table has no rows.
    last: u32,
}

impl Csv {
    pub fn open(path: &Path, schema: &'static Schema, progress: &Progress) -> Result<Csv> {
        files::check(path, TABLE)?;
        let file = files::open_lines(path, TABLE)?;
        let mut csv = Csv { path: path.to_path_buf(), file, schema, last: 0 };
        csv.truncate_to(progress)?;
        Ok(csv)
    }

    /// Prepares the table for a run at `progress`. For a new run, removes all rows. For a resumed run, removes the rows after `progress`.
    /// Writes the header to an empty table.
    fn truncate_to(&mut self, progress: &Progress) -> Result<()> {
        let shown = self.path.display();
        self.file.seek(SeekFrom::Start(0)).with_context(|| format!("cannot read {shown}"))?;
        let bytes = files::read_at_most(&self.file, files::MAX_FILE_BYTES, &shown.to_string())?;
        let (kept, last) =
            keep(&bytes, self.schema, progress).map_err(|why| anyhow!("{shown} {why}. Move it, or name another file with --csv"))?;
        let cut = self.file.set_len(kept as u64).and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.with_context(|| format!("cannot write to {shown}"))?;
        self.last = last;
        if kept == 0 {
            self.line(&header(self.schema))?;
        }
        Ok(())
    }

    pub fn begin(&mut self, history: &[Row], progress: &Progress) -> Result<()> {
        self.truncate_to(progress)?;
        // Adds the checkpoint's rows that the table lacks.
        history.iter().try_for_each(|row| self.row(row))
    }

    pub fn row(&mut self, row: &Row) -> Result<()> {
        // Skips a row that the table already contains. After a resume, the history in the checkpoint contains such rows.
        if row.metrics.progress.iteration <= self.last {
            return Ok(());
        }
        let values = cells(self.schema, Some(row)).map(|cell| cell.value.map_or(String::new(), number));
        let line = values.collect::<Vec<_>>().join(",");
        self.last = row.metrics.progress.iteration;
        self.line(&line)
    }

    /// Writes a line in one call, so that other programs do not read an incomplete row.
    fn line(&mut self, line: &str) -> Result<()> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}

pub fn header(schema: &Schema) -> String {
    let names = cells(schema, None).map(|cell| match cell.unit {
        "" => cell.name,
        unit => format!("{} [{unit}]", cell.name),
    });
    names.collect::<Vec<_>>().join(",")
}

/// Formats a number as the shortest decimal that parses to the same number. The decimal is parsed as f32 if an f32 represents the number
/// exactly, otherwise as f64.
pub fn number(value: f64) -> String {
    if f64::from(value as f32) == value { (value as f32).to_string() } else { value.to_string() }
}

/// Returns the length in bytes of the lines to keep (the header and the rows up to `progress`), and the iteration of the last kept row.
/// Both are 0 for a new run or an empty table. Returns an error if the table belongs to another run or room.
pub fn keep(bytes: &[u8], schema: &Schema, progress: &Progress) -> Result<(usize, u32), &'static str> {
    let header = header(schema) + "\n";
    if bytes.is_empty() {
        return Ok((0, 0));
    }
    if !bytes.starts_with(header.as_bytes()) {
        return Err("is not a metrics table of this room");
    }
    if progress.iteration == 0 {
        return Ok((0, 0));
    }
    let (mut kept, mut last) = (header.len(), 0);
    let counts: Vec<String> = progress.counts.iter().map(|&count| number(count)).collect();
    // Skips a last line without a line break, because the line may be incomplete.
    for line in bytes[kept..].split_inclusive(|&b| b == b'\n').filter(|line| line.ends_with(b"\n")) {
        let text = std::str::from_utf8(line).unwrap_or_default();
        let mut cells = text.trim_end().split(',');
        let Some(iteration) = cells.next().and_then(|cell| cell.parse::<u32>().ok()) else {
            return Err("has a row without an iteration number");
        };
        if iteration > progress.iteration {
            break;
        }
        if iteration == progress.iteration && !counts.iter().eq(cells.take(counts.len())) {
            return Err("contains the metrics of another run");
        }
        (kept, last) = (kept + line.len(), iteration);
    }
    Ok((kept, last))
}
