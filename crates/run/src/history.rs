//! What a run keeps of its past: how long it trained, and its rows from the beginning on.

use crate::protocol::Row;

/// A longer gap between two slices is a sleeping machine, not training.
const MAX_GAP_S: f64 = 1.0;
/// Past this many rows the history keeps every second one, so that a long run stays small.
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

/// The numbers of a run from its beginning on, thinned as they become many: all, then every second, and so on.
pub(crate) struct History {
    rows: Vec<Row>,
    stride: u32,
}

impl History {
    pub fn new() -> History {
        History { rows: Vec::new(), stride: 1 }
    }

    /// It goes on being thinned as it was.
    pub fn restored(rows: Vec<Row>) -> History {
        let stride = match &rows[..] {
            [.., a, b] => b.progress.iteration.saturating_sub(a.progress.iteration).max(1),
            _ => 1,
        };
        History { rows, stride }
    }

    pub fn add(&mut self, row: Row) {
        let stride = self.stride;
        if row.progress.iteration.is_multiple_of(stride) {
            self.rows.push(row);
        }
        if self.rows.len() > MAX_HISTORY {
            self.stride = 2 * stride;
            self.rows.retain(|row| row.progress.iteration.is_multiple_of(2 * stride));
        }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Progress;

    fn row(iteration: u32) -> Row {
        Row { progress: Progress { iteration, ..Progress::default() }, values: Vec::new() }
    }

    #[test]
    fn a_long_history_keeps_its_beginning_and_its_end_evenly() {
        let mut history = History::new();
        (1..=20_000).for_each(|i| history.add(row(i)));
        let rows = history.rows().to_vec();
        assert!((MAX_HISTORY / 2..=MAX_HISTORY).contains(&rows.len()));
        let stride = rows[0].progress.iteration;
        assert_eq!(stride, 8);
        assert!(rows.windows(2).all(|two| two[1].progress.iteration - two[0].progress.iteration == stride));
        assert!(rows[rows.len() - 1].progress.iteration > 20_000 - stride);
        // One that was saved goes on in the same steps.
        let mut restored = History::restored(rows);
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
