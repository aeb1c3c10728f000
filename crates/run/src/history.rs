//! What a run keeps of its past: how long it trained, and its rows from the beginning on.

use crate::protocol::{Progress, Row};

/// A longer gap between two slices is a sleeping machine, not training.
const MAX_GAP_S: f64 = 1.0;
/// Past this many rows a history keeps every second one, so that a long run stays small.
const MAX_HISTORY: usize = 4096;

/// Seconds of an iteration, and those of testing beside it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    pub round_s: f64,
    pub tests_s: f64,
}

/// What the shell's clock said.
pub(crate) struct Clock {
    /// Asked by whoever tells where the time goes.
    pub lent: fn() -> f64,
    last_s: Option<f64>,
    /// Seconds of training.
    pub train_s: f64,
    /// In this iteration.
    pub spent: Spent,
    /// The last slice was one of a test.
    tested: bool,
}

impl Clock {
    pub fn new() -> Clock {
        Clock { lent: || 0.0, last_s: None, train_s: 0.0, spent: Spent::default(), tested: false }
    }

    /// What happens until it is looked at again is not training.
    pub fn rest(&mut self) {
        self.last_s = None;
    }

    /// The time since the last slice was training; whose, that slice says.
    pub fn take(&mut self, now_s: f64) {
        let passed_s = self.trained(now_s);
        if std::mem::take(&mut self.tested) {
            self.spent.tests_s += passed_s;
        } else {
            self.spent.round_s += passed_s;
        }
    }

    /// The slice that begins is one of a test.
    pub fn tests(&mut self) {
        self.tested = true;
    }

    /// The time since the last look was training; gives it.
    fn trained(&mut self, now_s: f64) -> f64 {
        let passed = self.last_s.map_or(0.0, |last| (now_s - last).clamp(0.0, MAX_GAP_S));
        self.last_s = Some(now_s);
        self.train_s += passed;
        passed
    }
}

/// Which of ever more records are kept where there is room for so many: all, then every second, and so on, the first of them always.
#[derive(Clone, Debug)]
pub(crate) struct Thinning {
    most: usize,
    stride: u64,
    /// Records so far, and how many of them are kept.
    seen: u64,
    kept: usize,
}

impl Thinning {
    /// Of an even number, or none.
    pub const fn new(most: usize) -> Thinning {
        Thinning { most, stride: 1, seen: 0, kept: 0 }
    }

    /// Whether the next record is one to keep. Where there is no room for it, `halve` drops every second of those that are kept.
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

/// Rows of a run from its beginning on, thinned as they become many.
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
    /// Of a run that has done so many iterations. It goes on being thinned as it was.
    pub(crate) fn restored(rows: Vec<Row>, iterations: u32) -> History {
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

/// Seconds of training that went to each part of the room's schema.
#[derive(Clone, Debug, Default)]
pub struct TimeByPart {
    pub parts_s: Vec<f64>,
    /// The training time that they reach to.
    known_s: f64,
}

impl TimeByPart {
    /// Of a run that has begun or was taken up here.
    pub fn since(progress: &Progress, parts: usize) -> TimeByPart {
        TimeByPart { parts_s: vec![0.0; parts], known_s: progress.train_s }
    }

    /// The time since the last metrics went to the parts as this iteration's did.
    pub fn add(&mut self, row: &Row) {
        let passed_s = row.progress.train_s - self.known_s;
        self.known_s = row.progress.train_s;
        let shares = &row.values[row.values.len().saturating_sub(self.parts_s.len())..];
        for (part_s, share) in self.parts_s.iter_mut().zip(shares) {
            *part_s += share.unwrap_or(0.0) * passed_s;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(iteration: u32) -> Row {
        Row { progress: Progress { iteration, ..Progress::default() }, values: Vec::new() }
    }

    #[test]
    fn a_long_history_keeps_its_beginning_and_its_end_evenly() {
        let mut history = History::default();
        (1..=20_000).for_each(|i| history.add(row(i)));
        let rows = history.rows().to_vec();
        assert!((MAX_HISTORY / 2..=MAX_HISTORY).contains(&rows.len()));
        let stride = rows[1].progress.iteration - rows[0].progress.iteration;
        assert_eq!((rows[0].progress.iteration, stride), (1, 8));
        assert!(rows.windows(2).all(|two| two[1].progress.iteration - two[0].progress.iteration == stride));
        assert!(rows[rows.len() - 1].progress.iteration + stride > 20_000);
        // One that was saved goes on in the same steps.
        let mut restored = History::restored(rows, 20_000);
        (20_001..=50_000).for_each(|i| {
            history.add(row(i));
            restored.add(row(i));
        });
        assert_eq!(restored.rows(), history.rows());
    }

    #[test]
    fn time_that_nobody_trained_does_not_count() {
        let mut clock = Clock::new();
        assert_eq!(clock.trained(5.0), 0.0);
        assert_eq!(clock.trained(5.5), 0.5);
        clock.rest();
        assert_eq!(clock.trained(7.0), 0.0);
        // A machine that slept.
        assert_eq!(clock.trained(700.0), MAX_GAP_S);
        assert_eq!(clock.train_s, 0.5 + MAX_GAP_S);
    }
}
