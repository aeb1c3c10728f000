//! What a run of any room keeps of itself: how long it trained, its numbers from the beginning on, and what they were computed
//! with.

use math::Isa;

/// A longer gap between two slices is a sleeping machine, not training.
const MAX_GAP_S: f64 = 1.0;
/// Past this many rows the history keeps every second one, so that a long run stays small.
const MAX_HISTORY: usize = 4096;

/// What the shell's clock said.
pub(crate) struct Clock {
    /// Asked by whoever tells where the time goes.
    pub lent: fn() -> f64,
    last_s: Option<f64>,
    /// Seconds of training, and those of this iteration or round.
    pub train_s: f64,
    pub round_s: f64,
}

impl Clock {
    pub fn new() -> Clock {
        Clock { lent: || 0.0, last_s: None, train_s: 0.0, round_s: 0.0 }
    }

    /// What happens until it is looked at again is not training.
    pub fn rest(&mut self) {
        self.last_s = None;
    }

    /// The time since the last look was training; gives it.
    pub fn trained(&mut self, now_s: f64) -> f64 {
        let passed = self.last_s.map_or(0.0, |last| (now_s - last).clamp(0.0, MAX_GAP_S));
        self.last_s = Some(now_s);
        self.train_s += passed;
        passed
    }
}

/// Numbers told once an iteration or round.
pub(crate) trait Counted: Copy {
    /// Of which this is.
    fn count(&self) -> u32;
}

/// The numbers of a run from its beginning on, thinned as they become many: all, then every second, and so on.
pub(crate) struct History<M> {
    rows: Vec<M>,
    stride: u32,
}

impl<M: Counted> History<M> {
    pub fn new() -> History<M> {
        History { rows: Vec::new(), stride: 1 }
    }

    /// It goes on being thinned as it was.
    pub fn restored(rows: Vec<M>) -> History<M> {
        let stride = match &rows[..] {
            [.., a, b] => b.count().saturating_sub(a.count()).max(1),
            _ => 1,
        };
        History { rows, stride }
    }

    pub fn add(&mut self, row: M) {
        let stride = self.stride;
        if row.count().is_multiple_of(stride) {
            self.rows.push(row);
        }
        if self.rows.len() > MAX_HISTORY {
            self.stride = 2 * stride;
            self.rows.retain(|row| row.count().is_multiple_of(2 * stride));
        }
    }

    pub fn rows(&self) -> &[M] {
        &self.rows
    }
}

pub(crate) const FUSED: &str = "fused";
pub(crate) const UNFUSED: &str = "unfused";
pub(crate) const GPU: &str = "gpu";
pub(crate) const MIXED: &str = "mixed";

/// Only digests of the same arithmetic can be equal.
pub(crate) fn arithmetic(isa: Isa) -> &'static str {
    if isa.fused() { FUSED } else { UNFUSED }
}

/// What all of a run was computed with so far; see [`crate::protocol::Digest`].
#[derive(Clone, Copy)]
pub(crate) struct Arithmetic(&'static str);

impl Arithmetic {
    pub fn of(isa: Isa) -> Arithmetic {
        Arithmetic(arithmetic(isa))
    }

    pub fn restored(name: &str) -> Arithmetic {
        Arithmetic([FUSED, UNFUSED, GPU].into_iter().find(|&known| known == name).unwrap_or(MIXED))
    }

    /// The iteration or round of this number was computed with this.
    pub fn note(&mut self, count: u32, now: &'static str) {
        if count == 1 {
            self.0 = now;
        } else if self.0 != now {
            self.0 = MIXED;
        }
    }

    pub fn name(self) -> &'static str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Row(u32);

    impl Counted for Row {
        fn count(&self) -> u32 {
            self.0
        }
    }

    #[test]
    fn a_long_history_keeps_its_beginning_and_its_end_evenly() {
        let mut history = History::new();
        (1..=20_000).for_each(|i| history.add(Row(i)));
        let rows = history.rows().to_vec();
        assert!((MAX_HISTORY / 2..=MAX_HISTORY).contains(&rows.len()));
        let stride = rows[0].0;
        assert_eq!(stride, 8);
        assert!(rows.windows(2).all(|two| two[1].0 - two[0].0 == stride));
        assert!(rows[rows.len() - 1].0 > 20_000 - stride);
        // One that was saved goes on in the same steps.
        let mut restored = History::restored(rows);
        (20_001..=50_000).for_each(|i| {
            history.add(Row(i));
            restored.add(Row(i));
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

    #[test]
    fn what_was_computed_in_two_ways_is_mixed_for_good() {
        let mut arithmetic = Arithmetic::of(Isa::best());
        arithmetic.note(1, GPU);
        arithmetic.note(2, GPU);
        assert_eq!(arithmetic.name(), GPU);
        arithmetic.note(3, FUSED);
        arithmetic.note(4, GPU);
        assert_eq!(arithmetic.name(), MIXED);
        assert_eq!(Arithmetic::restored("gpu").name(), GPU);
        assert_eq!(Arithmetic::restored("of tomorrow").name(), MIXED);
    }
}
