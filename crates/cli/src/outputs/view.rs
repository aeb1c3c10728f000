//! A run as its records have told it so far: what the terminal draws. It folds records and refuses to know where they come
//! from, so training and watching look the same. Its size is bounded however long the run.

use crate::format;
use crate::session::budget::Left;
use crate::session::record::{Record, Summary};
use run::History;
use run::protocol::{Backend, Column, Config, Device, Digest, Event, Knob, Knobs, Level, Mark, Progress, Row, Variant};
use run::room::Schema;

const MARKS: usize = 256;
/// Of one iteration in the breakdown of time: calm to look at, and soon true again after a change.
const SHARE_WEIGHT: f64 = 0.05;

#[derive(Default)]
pub struct View {
    pub machine: Backend,
    pub told: Option<Told>,
    pub running: bool,
    pub device: Option<Device>,
    pub notice: Option<(Level, String)>,
    /// Of its budget, where it has one.
    pub left: Option<Left>,
    pub summary: Option<Box<Summary>>,
}

/// What is told of a run, once one has begun.
pub struct Told {
    pub schema: &'static Schema,
    pub variant: Option<Variant>,
    pub config: Config,
    /// What the knobs are; their values are in `values`.
    pub knobs: Vec<Knob>,
    pub values: Knobs,
    pub progress: Progress,
    pub metrics: Option<Row>,
    pub test: Option<Row>,
    /// Shares of the parts of the last iterations' time, each iteration counting a little.
    pub shares: Vec<f64>,
    /// Rows of metrics and of tests, the newest of which may not be kept.
    pub history: History,
    pub tests: History,
    pub marks: Vec<Mark>,
    pub solved: Option<Progress>,
    pub digest: Option<Digest>,
}

impl View {
    pub fn apply(&mut self, record: Record) {
        match record {
            Record::Opened(machine) => self.machine = machine,
            Record::FileSaved { file, .. } => self.notice = Some((Level::Info, format!("saved {file}"))),
            Record::Left(left) => self.left = Some(left),
            Record::Summary(summary) => {
                self.running = false;
                self.summary = Some(summary);
            }
            Record::Event(event) => self.event(event),
        }
    }

    fn event(&mut self, event: Event) {
        match (event, &mut self.told) {
            (Event::Began(began), _) => {
                // A run of a room that this program does not have cannot be drawn.
                let Ok(room) = run::room(&began.config.room) else { return };
                let schema = room.schema();
                let mut told = Told {
                    schema,
                    variant: room.variants().into_iter().find(|v| v.id == began.config.variant),
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
                    solved: began.solved,
                    digest: None,
                };
                began.history.into_iter().for_each(|row| told.metrics(row));
                began.tests.into_iter().for_each(|row| told.test(row));
                began.marks.into_iter().for_each(|mark| told.mark(mark));
                self.told = Some(told);
                self.notice = None;
                self.left = None;
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
            (Event::Metrics(row), Some(told)) => told.metrics(row),
            (Event::Mark(mark), Some(told)) => {
                told.values.insert(mark.knob.clone(), mark.to.clone());
                told.mark(mark);
            }
            (Event::Test(row), Some(told)) => told.test(row),
            (Event::Solved { progress, .. }, Some(told)) => told.solved = Some(progress),
            (Event::Digest(digest), Some(told)) => told.digest = Some(digest),
            // The bytes are the trainer's business, which tells of the file.
            _ => {}
        }
    }
}

impl Told {
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

    /// Names of the charts, what the run is about first: its goal's, or where lines leave the goal's column out, that of the number
    /// they begin with; then those of tests, then those of metrics.
    pub fn charts(&self) -> Vec<&'static str> {
        let told = |column: &&Column| !column.brief.is_empty();
        let first = self.goal_column().filter(told).or(self.schema.metrics.iter().find(told));
        let all = first.into_iter().chain(self.schema.tests).chain(self.schema.metrics).map(|column| column.chart);
        let mut names: Vec<&str> = Vec::new();
        for name in all.filter(|name| !name.is_empty()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The columns of a chart with their points against the first counter: those of metrics, then those of tests.
    pub fn chart(&self, name: &str) -> [Vec<(&'static Column, Points)>; 2] {
        let of = |columns: &'static [Column], history: &History, newest: &Option<Row>| {
            let all = columns.iter().enumerate().filter(|(_, column)| column.chart == name);
            all.map(|(at, column)| (column, points(history, newest, at))).collect()
        };
        [of(self.schema.metrics, &self.history, &self.metrics), of(self.schema.tests, &self.tests, &self.test)]
    }

    pub fn goal_column(&self) -> Option<&'static Column> {
        let goal = self.variant.as_ref()?.goal?;
        Some(&self.schema.tests[self.schema.test(goal.column)?])
    }
}

pub type Points = Vec<(f64, f64)>;

/// What is known of a column, the newest always.
fn points(history: &History, newest: &Option<Row>, at: usize) -> Points {
    let newest = newest.iter().filter(|row| history.rows().last() != Some(row));
    let value = |row: &Row| row.values.get(at).copied().flatten().filter(|y| y.is_finite());
    let point = |row: &Row| Some((row.progress.counts[0], value(row)?));
    history.rows().iter().chain(newest).filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::screen::tests::began;

    #[test]
    fn a_new_beginning_forgets_the_old_run() {
        for room in &run::rooms() {
            let schema = room.schema();
            let row = |count: f64, value| {
                let counts = vec![count; schema.counters.len()];
                let progress = Progress { counts, ..Progress::default() };
                Row { progress, values: vec![Some(value); schema.row_len()] }
            };
            let mut view = View { machine: Backend { threads: 2, ..Backend::default() }, ..View::default() };
            view.apply(began(*room, Vec::new()));
            view.apply(Record::Event(Event::Metrics(row(10.0, 20.0))));
            view.apply(began(*room, vec![row(5.0, 1.0), row(6.0, 2.0)]));
            let told = view.told.unwrap();
            assert_eq!(points(&told.history, &told.metrics, 0), [(5.0, 1.0), (6.0, 2.0)]);
            let newest = Some(row(7.0, f64::NAN));
            assert_eq!(points(&told.history, &newest, 0).len(), 2, "what is no number is no point");
            assert_eq!(points(&told.history, &Some(row(7.0, 3.0)), 0).last(), Some(&(7.0, 3.0)), "the newest always");
            assert_eq!((told.values.len(), told.progress.counts[0]), (told.knobs.len(), 6.0));
            let charts = told.charts();
            let first = told.goal_column().filter(|column| !column.brief.is_empty());
            assert_eq!(charts[0], first.map_or(charts[0], |column| column.chart));
            assert!(told.goal_column().is_none_or(|column| charts.contains(&column.chart)));
            let [metrics, tests] = told.chart(charts[0]);
            assert!(!metrics.is_empty() || !tests.is_empty());
        }
    }
}
