//! History of a run: the training time, the rows, and the time of each part of the iterations.

use crate::protocol::{Progress, Row};

/// Maximum time in seconds between two slices (short parts of the work) that counts as training. Of a longer time, for example while the
/// machine sleeps, only this maximum counts.
const MAX_GAP_S: f64 = 1.0;
/// Maximum number of rows in a history. If a further row is added, every second row is dropped first.
const MAX_HISTORY: usize = 4096;

/// Seconds of training (`round_s`) and of testing (`tests_s`) within one iteration.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    pub round_s: f64,
    pub tests_s: f64,
}

/// Measures the time of training and of tests with the clock of the shell.
pub(crate) struct Clock {
    /// Profiling clock in seconds, with an arbitrary epoch.
    pub now: fn() -> f64,
    last_s: Option<f64>,
    /// Seconds of training and tests since the beginning of the run, without pauses.
    pub train_s: f64,
    /// Time spent in the current iteration.
    pub spent: Spent,
    /// True if the last slice belonged to a test.
    tested: bool,
}

impl Clock {
    pub fn new() -> Clock {
        Clock { now: || 0.0, last_s: None, train_s: 0.0, spent: Spent::default(), tested: false }
    }

    /// Pauses the clock: the time between the last and the next call of [`Clock::take`] does not count as training.
    pub fn rest(&mut self) {
        self.last_s = None;
    }

    /// Adds the time since the previous call to the training time. Also adds this time to the current iteration: to its time of tests if
    /// the last slice belonged to a test, otherwise to its time of training.
    pub fn take(&mut self, now_s: f64) {
        let passed_s = self.trained(now_s);
        if std::mem::take(&mut self.tested) {
            self.spent.tests_s += passed_s;
        } else {
            self.spent.round_s += passed_s;
        }
    }

    /// Marks the current slice as part of a test.
    pub fn tests(&mut self) {
        self.tested = true;
    }

    /// Adds the time since the previous call to the training time, but at most [`MAX_GAP_S`]. Returns the added seconds.
    fn trained(&mut self, now_s: f64) -> f64 {
        let passed = self.last_s.map_or(0.0, |last| (now_s - last).clamp(0.0, MAX_GAP_S));
        self.last_s = Some(now_s);
        self.train_s += passed;
        passed
    }
}

/// Selection of the records that a list of limited length keeps: at first all records, then every second record, then every fourth, and so
/// on. The first record is always kept.
#[derive(Clone, Debug)]
pub(crate) struct Thinning {
    most: usize,
    stride: u64,
    /// Number of records so far, kept or not.
    seen: u64,
    /// Number of kept records.
    kept: usize,
}

impl Thinning {
    /// Creates a selection that keeps at most `most` records. `most` must be even, or 0 to keep no records.
    pub const fn new(most: usize) -> Thinning {
        Thinning { most, stride: 1, seen: 0, kept: 0 }
    }

    /// Returns true if the caller must keep the next record. If the list is full, calls `halve`, which must drop every second kept record.
    pub fn takes(&mut self, halve: impl FnOnce()) -> bool {
        let takes = self.most > 0 && self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        if takes && self.kept >= self.most {
            halve();
            (self.kept, self.stride) = (self.kept.div_ceil(2), 2 * self.stride);
        }
        self.kept += usize::from(takes);
        takes
    }

    pub fn kept(&self) -> usize {
        self.kept
    }
}

/// Metrics rows of a run from its beginning on. If there are too many rows, only rows at equal intervals are kept.
#[derive(Clone, Debug)]
pub struct History {
    rows: Vec<Row>,
    thinning: Thinning,
}

impl Default for History {
    fn default() -> History {
        History { rows: Vec::new(), thinning: Thinning::new(MAX_HISTORY) }
    }
}

impl History {
    /// Restores the history of a run that has completed `iterations` iterations. Until the list is full, later rows have the same interval
    /// as the last two rows in `rows`. If `rows` has fewer than two rows, the interval is 1.
    pub fn restored(rows: Vec<Row>, iterations: u32) -> History {
        let at = |row: &Row| u64::from(row.progress.iteration);
        let stride = match &rows[..] {
            [.., a, b] => at(b).saturating_sub(at(a)).max(1),
            _ => 1,
        };
        let seen = rows.first().map_or(0, |first| (u64::from(iterations) + 1).saturating_sub(at(first)));
        History { thinning: Thinning { stride, seen, kept: rows.len(), ..Thinning::new(MAX_HISTORY) }, rows }
    }

    pub fn add(&mut self, row: Row) {
        let History { rows, thinning } = self;
        let halve = || {
            let mut place = 0..;
            rows.retain(|_| place.next().is_some_and(|at: usize| at.is_multiple_of(2)));
        };
        if thinning.takes(halve) {
            rows.push(row);
        }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// Time of each part of an iteration, summed over all iterations. `parts_s` contains seconds of training, in the order of
/// [`Schema::all_parts`](crate::room::Schema::all_parts).
#[derive(Clone, Debug, Default)]
pub struct TimeByPart {
    pub parts_s: Vec<f64>,
    /// Training time of the run, in seconds, at the last row that was added.
    known_s: f64,
}

impl TimeByPart {
    /// Creates zero times for `parts` parts. `progress` is the progress at which the run began or was restored.
    pub fn since(progress: &Progress, parts: usize) -> TimeByPart {
        TimeByPart { parts_s: vec![0.0; parts], known_s: progress.train_s }
    }

    /// Distributes the time since the previous row among the parts, by the shares in `row`.
    pub fn add(&mut self, row: &Row) {
        let passed_s = row.progress.train_s - self.known_s;
        self.known_s = row.progress.train_s;
        let shares = &row.values[row.values.len().saturating_sub(self.parts_s.len())..];
        for (part_s, share) in self.parts_s.iter_mut().zip(shares) {
            *part_s += share.unwrap_or(0.0) * passed_s;
        }
    }
}
