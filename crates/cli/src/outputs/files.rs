//! All files that the user requested beside the checkpoint and the monitor. If one of them is incomplete, the program fails after the run.

use crate::outputs::entry::EntryFile;
use crate::outputs::events::EventLog;
use crate::outputs::export::Exports;
use crate::outputs::output::Output;
use crate::session::record::Record;
use anyhow::{Result, bail};

pub struct Outputs {
    exports: Exports,
    events: Output<EventLog>,
    entry: Option<EntryFile>,
    /// Error of the entry, which is written at the end.
    entry_failure: Option<String>,
}

impl Outputs {
    pub fn new(exports: Exports, events: Option<EventLog>, entry: Option<EntryFile>) -> Outputs {
        Outputs { exports, events: Output::new(events), entry, entry_failure: None }
    }

    pub fn record(&mut self, record: &Record) {
        self.exports.record(record);
        self.events.write(|events| events.record(record));
        if let Some(Err(error)) = self.entry.as_mut().map(|entry| entry.record(record)) {
            self.entry_failure = Some(format!("{error:#}"));
        }
    }

    /// Returns an error if a requested file is incomplete.
    pub fn finish(self) -> Result<()> {
        let Exports { csv, tensorboard, .. } = self.exports;
        let failures = [csv.failure(), tensorboard.failure(), self.events.failure(), self.entry_failure];
        match failures.into_iter().flatten().collect::<Vec<_>>() {
            none if none.is_empty() => Ok(()),
            some => bail!("a requested file is incomplete: {}", some.join("; ")),
        }
    }
}
