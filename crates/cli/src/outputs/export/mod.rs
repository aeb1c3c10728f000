//! Metrics of a run for other programs: a CSV table and TensorBoard event files. Both contain the same metrics and tests, and both continue
//! when a run is resumed.

pub mod csv;
mod row;
mod tensorboard;

use crate::outputs::output::Output;
use crate::session::record::Record;
use anyhow::Result;
use csv::Csv;
use row::{Row, unix_s};
use run::protocol::{Event, Progress, Row as Numbers};
use run::room::Schema;
use std::collections::BTreeMap;
use std::path::Path;
use tensorboard::TensorBoard;

/// CSV table and TensorBoard folder of a run.
pub struct Exports {
    pub csv: Output<Csv>,
    pub tensorboard: Output<TensorBoard>,
    /// Latest row, which waits for its test. The row is written when the next row, the beginning of another run, or the summary arrives.
    waiting: Option<Row>,
}

impl Exports {
    /// Opens the files for a run at `progress`. Returns an error if a file cannot be opened, or if the CSV table belongs to another run or
    /// room.
    pub fn open(csv: Option<&Path>, tensorboard: Option<&Path>, schema: &'static Schema, progress: &Progress) -> Result<Exports> {
        Ok(Exports {
            csv: Output::new(csv.map(|path| Csv::open(path, schema, progress)).transpose()?),
            tensorboard: Output::new(tensorboard.map(|folder| TensorBoard::open(folder, schema)).transpose()?),
            waiting: None,
        })
    }

    pub fn record(&mut self, record: &Record) {
        match record {
            Record::Event(Event::Began(began)) => {
                self.write_waiting();
                let (now_s, progress) = (unix_s(), &began.progress);
                let tests: BTreeMap<u32, &Numbers> = began.tests.iter().map(|test| (test.progress.iteration, test)).collect();
                let row = |metrics: &Numbers| Row {
                    metrics: metrics.clone(),
                    test: tests.get(&metrics.progress.iteration).map(|&test| test.clone()),
                    wall_s: now_s - (progress.train_s - metrics.progress.train_s),
                };
                let mut history: Vec<Row> = began.history.iter().map(row).collect();
                // The latest row of a checkpoint may lack its test. The resumed run then sends the test, so the row waits.
                self.waiting = history.pop_if(|newest| newest.test.is_none());
                self.csv.write(|csv| csv.begin(&history, progress));
                self.tensorboard.write(|board| board.begin(&history, progress));
            }
            Record::Event(Event::Metrics(metrics)) => {
                self.write_waiting();
                self.waiting = Some(Row { metrics: metrics.clone(), test: None, wall_s: unix_s() });
            }
            Record::Event(Event::Test(test)) => {
                let same = |row: &&mut Row| row.metrics.progress.iteration == test.progress.iteration;
                if let Some(row) = self.waiting.as_mut().filter(same) {
                    row.test = Some(test.clone());
                }
            }
            // A killed process does not write its waiting row. When the run is resumed, the checkpoint contains the row.
            Record::Summary(_) => self.write_waiting(),
            _ => {}
        }
    }

    fn write_waiting(&mut self) {
        if let Some(row) = self.waiting.take() {
            self.csv.write(|csv| csv.row(&row));
            self.tensorboard.write(|board| board.row(&row));
        }
    }
}
