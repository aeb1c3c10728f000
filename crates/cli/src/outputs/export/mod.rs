//! The metrics of a run for other people's programs: a table of comma-separated values, and event files that TensorBoard
//! reads. Both have the room's columns, follow the records that the screen is drawn from, and go on rightly where a run is
//! resumed. They refuse to stop a run: what cannot be written is told once.

mod csv;
mod row;
mod tensorboard;

use crate::session::record::Record;
use anyhow::Result;
use csv::Csv;
use row::{Row, unix_s};
use run::protocol::{Event, Progress, Row as Numbers};
use run::room::Schema;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use tensorboard::TensorBoard;

/// What was asked for, and the newest row, which waits for its test.
pub struct Exports {
    csv: Option<Csv>,
    tensorboard: Option<TensorBoard>,
    waiting: Option<Row>,
}

impl Exports {
    /// Fails here, before training, where a file cannot take up a run that is at `progress`.
    pub fn open(csv: Option<&Path>, tensorboard: Option<&Path>, schema: &'static Schema, progress: &Progress) -> Result<Exports> {
        Ok(Exports {
            csv: csv.map(|path| Csv::open(path, schema, progress)).transpose()?,
            tensorboard: tensorboard.map(|folder| TensorBoard::open(folder, schema)).transpose()?,
            waiting: None,
        })
    }

    pub fn record(&mut self, record: &Record) {
        match record {
            Record::Event(Event::Began(began)) => {
                self.settle();
                let (now_s, progress) = (unix_s(), &began.progress);
                let tests: BTreeMap<u32, &Numbers> = began.tests.iter().map(|test| (test.progress.iteration, test)).collect();
                let row = |metrics: &Numbers| Row {
                    metrics: metrics.clone(),
                    test: tests.get(&metrics.progress.iteration).map(|&test| test.clone()),
                    wall_s: now_s - (progress.train_s - metrics.progress.train_s),
                };
                let mut history: Vec<Row> = began.history.iter().map(row).collect();
                // The test after the newest row may have been under way when the run was saved.
                self.waiting = history.pop_if(|newest| newest.test.is_none());
                write_to(&mut self.csv, |csv| csv.begin(&history, progress));
                write_to(&mut self.tensorboard, |board| board.begin(&history, progress));
            }
            Record::Event(Event::Metrics(metrics)) => {
                self.settle();
                self.waiting = Some(Row { metrics: metrics.clone(), test: None, wall_s: unix_s() });
            }
            Record::Event(Event::Test(test)) => {
                let same = |row: &&mut Row| row.metrics.progress.iteration == test.progress.iteration;
                if let Some(row) = self.waiting.as_mut().filter(same) {
                    row.test = Some(test.clone());
                }
            }
            // What a save has and the table has not comes from the save where the run is taken up again.
            Record::Summary(_) => self.settle(),
            _ => {}
        }
    }

    fn settle(&mut self) {
        if let Some(row) = self.waiting.take() {
            write_to(&mut self.csv, |csv| csv.row(&row));
            write_to(&mut self.tensorboard, |board| board.row(&row));
        }
    }
}

/// Writes, or says why not and lets the sink go.
fn write_to<S>(sink: &mut Option<S>, write: impl FnOnce(&mut S) -> Result<()>) {
    if let Some(error) = sink.as_mut().and_then(|open| write(open).err()) {
        let _ = writeln!(std::io::stderr(), "warning: {error:#}; training goes on without it");
        *sink = None;
    }
}
