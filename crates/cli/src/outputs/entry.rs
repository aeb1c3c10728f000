//! File of `--entry`: an entry of the gallery (the link and the results of a run), written at the end of the run.

use crate::host::processor;
use crate::session::record::{Record, Summary};
use anyhow::{Result, bail};
use files::{Claim, FileKind};
use run::gallery::{Curves, Entry, counters, test_values};
use run::protocol::Event;
use run::room::Schema;
use std::path::Path;

const ENTRY: FileKind = FileKind {
    name: "entry of the gallery",
    is_kind: |file| files::begins(file, b"{\n  \"track\":"),
    next: "Name another file with --entry",
    example: "entry.json",
    is_stream: false,
};

pub struct EntryFile {
    claim: Claim,
    schema: &'static Schema,
    entry: Entry,
    curves: Curves,
}

impl EntryFile {
    /// Claims the file. Returns an error if the file cannot be written, or exists and is not an entry.
    pub fn begin(path: &Path, schema: &'static Schema) -> Result<EntryFile> {
        Ok(EntryFile { claim: Claim::new(path, ENTRY)?, schema, entry: Entry::default(), curves: Curves::new(schema) })
    }

    pub fn record(&mut self, record: &Record) -> Result<()> {
        match record {
            // On the full screen, the user can start a new run after a divergence. The entry then describes the new run.
            Record::Event(Event::Began(_)) => {
                self.entry = Entry::default();
                self.curves = Curves::new(self.schema);
            }
            Record::Event(Event::Digest(digest)) => self.entry.add_digest(digest.iteration, digest.weights.clone()),
            Record::Event(event) => self.curves.record(event),
            Record::Summary(summary) => self.write(summary)?,
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, summary: &Summary) -> Result<()> {
        let Summary { machine, progress, test: Some(test), .. } = summary else {
            bail!("the run ended without a test, so {} was not written. Limit the run with --steps", self.claim.path().display());
        };
        if !run::permalink::can_be_reached(&machine.arithmetic) {
            bail!("a device whose rounding differs elsewhere trained this run, so it is no entry. Train it with --device cpu");
        }
        self.entry.add_digest(progress.iteration, machine.digest.clone());
        let entry = Entry {
            link: machine.link.clone(),
            arithmetic: machine.arithmetic.clone(),
            curve: self.curves.best(),
            end: counters(self.schema, progress),
            solved: summary.solved.as_ref().map(|solved| counters(self.schema, solved)),
            test: test_values(self.schema, test),
            // Rounded up, because an entry states a time above 0.
            cpu_seconds: (summary.cpu_seconds * 100.0).ceil().max(1.0) / 100.0,
            chip: processor().unwrap_or("unknown".into()),
            threads: machine.threads,
            ..self.entry.clone()
        };
        self.claim.write(entry.text().as_bytes())
    }
}
