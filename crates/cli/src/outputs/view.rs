//! State of a run for the terminal display, accumulated from the run's records. The state depends only on the records, so a run looks the
//! same in the training process and in `hothouse watch`. The size of the state is bounded.

use crate::format;
use crate::session::budget::Remaining;
use crate::session::record::{Record, Summary};
use math::Isa;
use run::protocol::{Backend, Column, Config, Device, Digest, Event, Knob, Knobs, Level, Mark, Progress, Row, Standing, Variant};
use run::room::Schema;
use run::{History, Host};

const MARKS: usize = 256;
/// Weight of one iteration in the moving average of the time breakdown.
const SHARE_WEIGHT: f64 = 0.05;

#[derive(Default)]
pub struct View {
    pub machine: Backend,
    pub run: Option<RunView>,
    pub running: bool,
    pub device: Option<Device>,
    pub notice: Option<(Level, String)>,
    /// Progress towards the limits; `None` if the progress is unknown or the run has no limits.
    pub remaining: Option<Remaining>,
    pub summary: Option<Box<Summary>>,
}

/// Displayed state of a run, from the run's `Began` record on.
pub struct RunView {
    pub schema: &'static Schema,
    pub variant: Option<Variant>,
    pub config: Config,
    /// Declarations of the knobs. The current values are in `values`.
    pub knobs: Vec<Knob>,
    pub values: Knobs,
    pub progress: Progress,
    pub metrics: Option<Row>,
    pub test: Option<Row>,
    /// Moving average of each part's share of the iteration time.
    pub shares: Vec<f64>,
    /// Rows of metrics. If there are too many rows, only rows at equal intervals are kept. The latest row may be missing here, but is
    /// always in `metrics`.
    pub history: History,
    /// Rows of tests. If there are too many rows, only rows at equal intervals are kept. The latest row may be missing here, but is always
    /// in `test`.
    pub tests: History,
    pub marks: Vec<Mark>,
    /// `None` for a short time after the beginning of the run.
    pub standing: Option<Standing>,
    pub digest: Option<Digest>,
}

impl View {
    pub fn apply(&mut self, record: Record) {
        match record {
            Record::Opened(machine) => self.machine = machine,
            Record::FileSaved { file, .. } => self.notice = Some((Level::Info, format!("saved {file}"))),
            Record::Remaining(remaining) => self.remaining = Some(remaining),
            Record::Summary(summary) => {
                self.running = false;
                self.summary = Some(summary);
            }
            Record::Event(event) => self.event(event),
        }
    }

    fn event(&mut self, event: Event) {
        match (event, &mut self.run) {
            (Event::Began(began), _) => {
                // If this program does not have the room, the run cannot be shown.
                let Ok(room) = run::room(&began.config.room) else { return };
                let schema = room.schema();
                let mut run = RunView {
                    schema,
                    variant: room.variant(&began.config, Host::new(Isa::best())).ok(),
                    knobs: room.knobs(&began.config.variant),
                    values: began.knobs,
                    config: began.config,
                    progress: began.progress,
                    metrics: None,
                    test: None,
                    shares: vec![0.0; schema.all_parts().count()],
                    history: History::default(),
                    tests: History::default(),
                    marks: Vec::new(),
                    standing: None,
                    digest: None,
                };
                began.history.into_iter().for_each(|row| run.metrics(row));
                began.tests.into_iter().for_each(|row| run.test(row));
                began.marks.into_iter().for_each(|mark| run.mark(mark));
                self.run = Some(run);
                self.notice = None;
                self.remaining = None;
                self.summary = None;
            }
            (Event::Running { running }, _) => self.running = running,
            (Event::Device(device), _) => {
                self.notice = Some((Level::Info, format::device(&device)));
                self.device = Some(device);
            }
            (Event::Notice { level, text, next_step }, _) => {
                self.notice = Some((level, [text, next_step].join(" ").trim().to_string()));
            }
            (Event::Confirmation(confirmation), _) if !confirmation.confirmed => {
                self.notice = Some((Level::Info, format::attempt(&confirmation)));
            }
            (Event::Room { text, .. }, _) => self.notice = Some((Level::Info, text)),
            (Event::Metrics(row), Some(run)) => run.metrics(row),
            (Event::Mark(mark), Some(run)) => {
                run.values.insert(mark.knob.clone(), mark.to.clone());
                run.mark(mark);
            }
            (Event::Test(row), Some(run)) => run.test(row),
            (Event::Standing(standing), Some(run)) => run.standing = Some(standing),
            (Event::Digest(digest), Some(run)) => run.digest = Some(digest),
            // Events of saved files are ignored, because the session reports saved files in its own records.
            _ => {}
        }
    }
}

impl RunView {
    fn metrics(&mut self, row: Row) {
        self.progress = row.progress.clone();
        self.history.add(row.clone());
        let weight = if self.metrics.is_none() { 1.0 } else { SHARE_WEIGHT };
        let shares = row.values.iter().skip(self.schema.metrics.len());
        for (smooth, share) in self.shares.iter_mut().zip(shares) {
            *smooth += weight * (share.unwrap_or(0.0) - *smooth);
        }
        self.metrics = Some(row);
    }

    fn test(&mut self, row: Row) {
        self.tests.add(row.clone());
        self.test = Some(row);
    }

    fn mark(&mut self, mark: Mark) {
        if self.marks.len() == MARKS {
            self.marks.remove(0);
        }
        self.marks.push(mark);
    }

    /// Returns the names of the charts, without duplicates. The first chart contains the column of the goal, if printed lines show this
    /// column. Otherwise, the first chart contains the first metric that printed lines show. The charts of tests follow, then the charts
    /// of metrics.
    pub fn charts(&self) -> Vec<&'static str> {
        let is_printed = |column: &&Column| !column.brief.is_empty();
        let first = self.goal_column().filter(is_printed).or(self.schema.metrics.iter().find(is_printed));
        let all = first.into_iter().chain(self.schema.tests).chain(self.schema.metrics).map(|column| column.chart);
        let mut names: Vec<&str> = Vec::new();
        for name in all.filter(|name| !name.is_empty()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the columns of a chart with their points: first the metrics, then the tests. The x coordinate is the room's first counter.
    pub fn chart(&self, name: &str) -> [Vec<(&'static Column, Points)>; 2] {
        let curves = |columns: &'static [Column], history: &History, newest: &Option<Row>| {
            let all = columns.iter().enumerate().filter(|(_, column)| column.chart == name);
            all.map(|(at, column)| (column, points(history, newest, at))).collect()
        };
        [curves(self.schema.metrics, &self.history, &self.metrics), curves(self.schema.tests, &self.tests, &self.test)]
    }

    pub fn goal_column(&self) -> Option<&'static Column> {
        let goal = self.variant.as_ref()?.goal?;
        Some(&self.schema.tests[self.schema.test(goal.column)?])
    }
}

pub type Points = Vec<(f64, f64)>;

/// Returns the points of the column with index `at`, including the latest row. Leaves out rows without a finite value.
pub fn points(history: &History, newest: &Option<Row>, at: usize) -> Points {
    let newest = newest.iter().filter(|row| history.rows().last() != Some(row));
    let value = |row: &Row| row.values.get(at).copied().flatten().filter(|y| y.is_finite());
    let point = |row: &Row| Some((row.progress.counts[0], value(row)?));
    history.rows().iter().chain(newest).filter_map(point).collect()
}
