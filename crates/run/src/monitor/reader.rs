//! Reader of the monitor.

use super::*;
use crate::RunError;
use crate::checkpoint;
use crate::json;
use crate::protocol::{Began, Event};
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::fence;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Paused,
    Running,
    /// The writer has ended. No more events will follow.
    Finished,
}

/// An item that a reader returns: an event of the run, or a message from the writing shell to other shells.
#[derive(Clone, Debug, PartialEq)]
pub enum MonitorItem {
    Event(Event),
    Shell(String),
}

/// Reads a monitor. Each reader returns the events from the beginning of the run, independently of other readers. If the ring no longer
/// contains a record, the reader returns the record only if the thinned history contains it.
pub struct Reader {
    memory: Box<dyn Memory>,
    plan: Plan,
    epoch: u64,
    /// Ordinal of the next record to read in each track.
    next: [u64; TRACKS],
    running: Option<bool>,
}

/// A record and its position in the sequence of all events.
struct Row {
    place: u64,
    payload: Vec<u64>,
}

/// Maximum of each size in the header, such as the number of columns of a metrics row. A header with a greater size is invalid.
const MOST_COLUMNS: usize = 1024;
/// Maximum number of attempts to read data that the writer is changing. If all attempts fail, the call leaves these data out, and the next
/// call tries again.
const PATIENCE: usize = 1000;

impl Reader {
    pub fn open(memory: Box<dyn Memory>) -> Result<Reader, RunError> {
        let words = memory.words();
        let word = |at: usize| words.get(at).map_or(0, |w| w.load(Relaxed));
        if word(AT_MAGIC) != MAGIC {
            return Err(RunError::NoMonitor);
        }
        fence(Acquire);
        match word(AT_VERSION) {
            VERSION => {}
            found @ ..VERSION => return Err(RunError::NoSuchVersion { found: found as u32 }),
            found => {
                let found = found.min(u32::MAX.into()) as u32;
                return Err(RunError::Future { found, known: VERSION as u32 });
            }
        }
        let sizes: [usize; 4] = std::array::from_fn(|i| word(AT_SIZES + i) as usize);
        if sizes.iter().any(|&size| size > MOST_COLUMNS) {
            return Err(RunError::Monitor { why: "its layout is from another build of Hothouse".into() });
        }
        let plan = Plan::new(sizes);
        if words.len() < plan.words {
            let why = format!("it is cut short at {} of {} words", words.len(), plan.words);
            return Err(RunError::Monitor { why });
        }
        if word(AT_LAYOUT) != plan.hash() || words.len() != plan.words {
            return Err(RunError::Monitor { why: "its layout is from another build of Hothouse".into() });
        }
        Ok(Reader { memory, plan, epoch: 0, next: [0; TRACKS], running: None })
    }

    /// Returns the writing shell's description of itself.
    pub fn about(&self) -> String {
        take_text(&self.memory.words()[AT_ABOUT..])
    }

    pub fn state(&self) -> State {
        match self.word(AT_STATE) {
            0 => State::Paused,
            1 => State::Running,
            _ => State::Finished,
        }
    }

    /// Returns the heartbeat, a counter that grows while the writer exists.
    pub fn heartbeat(&self) -> u64 {
        self.word(AT_HEARTBEAT)
    }

    /// Returns the progress of the run, also within an iteration.
    pub fn progress(&self) -> Progress {
        checkpoint::row(&self.numbers(AT_PROGRESS, self.plan.progress()), self.plan.counters).progress
    }

    /// Returns the seconds of training that each part of the iterations took, counted from the time when the run began or was restored.
    pub fn parts_s(&self) -> Vec<f64> {
        self.numbers(self.plan.at_parts(), self.plan.parts)
    }

    fn numbers(&self, at: usize, count: usize) -> Vec<f64> {
        (at..at + count).map(|at| f64::from_bits(self.word(at))).collect()
    }

    /// Returns the items since the previous call, in order. The first call returns the event `Began` with the history, as does the first
    /// call after another run began. If the writer is changing the histories or the run's text, a call that would return `Began` returns an
    /// empty list instead. The caller polls again later.
    pub fn poll(&mut self) -> Vec<MonitorItem> {
        let mut items: Vec<(u64, MonitorItem)> = Vec::new();
        let epoch = self.word(AT_EPOCH);
        fence(Acquire);
        if epoch != self.epoch {
            let Some(began) = self.attach() else { return Vec::new() };
            items.push(began);
        }
        let rows: [Vec<Row>; TRACKS] = std::array::from_fn(|t| self.newer(t));
        fence(Acquire);
        // If another run began since the epoch was read, the records of the run may belong to the other run and are dropped. The next call
        // returns the other run from its beginning.
        let same_run = self.word(AT_EPOCH) == self.epoch;
        for (t, rows) in rows.into_iter().enumerate() {
            let known = rows.into_iter().filter(|_| t >= MESSAGES || same_run);
            items.extend(known.filter_map(|row| Some((row.place, self.item_from(t, &row.payload)?))));
        }
        items.sort_by_key(|(place, _)| *place);
        let mut items: Vec<MonitorItem> = items.into_iter().map(|(_, item)| item).collect();
        let running = self.state() == State::Running;
        if self.epoch > 0 && self.running != Some(running) {
            self.running = Some(running);
            items.push(MonitorItem::Event(Event::Running { running }));
        }
        items
    }

    /// Returns the position of the latest run's beginning, and the event `Began` with the history; `None` if the data cannot be read, for
    /// example while the writer changes them.
    fn attach(&mut self) -> Option<(u64, MonitorItem)> {
        let read = |t: usize| self.history(t, 0).map(|rows| (self.word(track_at(t)), rows));
        let (epoch, place, text, mut tracks) = self.unchanged(|| {
            let tracks = [read(METRICS), read(TESTS), read(MARKS)];
            (self.word(AT_EPOCH), self.word(AT_BEGAN), take_text(&self.memory.words()[AT_RUN..]), tracks)
        })?;
        let RunText { config, knobs, progress, solved, attempts, room } = json::read(&text).ok()?;
        let mut next: [u64; TRACKS] = std::array::from_fn(|t| self.word(track_at(t)));
        next[MESSAGES..].copy_from_slice(&self.next[MESSAGES..]);
        let [metrics, tests, marks] = [METRICS, TESTS, MARKS].map(|t| {
            let (first, mut rows) = tracks[t].take()?;
            let newer = self.newest(t, first);
            let oldest = newer.first().map_or(u64::MAX, |(ordinal, _)| *ordinal);
            rows.retain(|(ordinal, _)| *ordinal < oldest);
            rows.extend(newer);
            next[t] = rows.last().map_or(first, |(ordinal, _)| ordinal + 1);
            Some(rows.into_iter().map(|(_, row)| row.payload).collect::<Vec<_>>())
        });
        fence(Acquire);
        if self.word(AT_EPOCH) != epoch {
            return None;
        }
        let rows = |rows: Vec<Vec<u64>>| -> Vec<_> { rows.iter().map(|row| checkpoint::row(&floats(row), self.plan.counters)).collect() };
        let history = rows(metrics?);
        let began = Event::Began(Box::new(Began {
            config,
            knobs,
            progress: history.last().map_or(progress, |row| row.progress.clone()),
            solved,
            attempts,
            history,
            tests: rows(tests?),
            marks: marks?.iter().filter_map(|row| if let Event::Mark(mark) = event_from(row)? { Some(mark) } else { None }).collect(),
            room,
        }));
        self.epoch = epoch;
        self.next = next;
        self.running = None;
        Some((place, MonitorItem::Event(began)))
    }

    /// Returns the records of track `t` that the memory contains and that this reader has not returned yet.
    fn newer(&mut self, t: usize) -> Vec<Row> {
        let from = self.next[t];
        let newest = self.newest(t, from);
        let Some(&(first, _)) = newest.first() else { return Vec::new() };
        let mut rows = Vec::new();
        if first > from && self.plan.tracks[t].history > 0 {
            // The history contains some of the records that the ring no longer has.
            match self.unchanged(|| self.history(t, from)) {
                Some(Some(missed)) => rows.extend(missed.into_iter().filter(|(o, _)| *o < first)),
                _ => return Vec::new(),
            }
        }
        rows.extend(newest);
        self.next[t] = rows.last().map_or(from, |(ordinal, _)| ordinal + 1);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Returns the records of track `t` in the ring from ordinal `from` on, with their ordinals. If the writer has overwritten some of
    /// these records, returns only the records after the last overwritten record. The result therefore has no gaps.
    fn newest(&self, t: usize, from: u64) -> Vec<(u64, Row)> {
        let track = self.plan.tracks[t];
        let head = self.word(track_at(t) + 1);
        fence(Acquire);
        let mut rows = Vec::new();
        for ordinal in from.max(head.saturating_sub(track.newest as u64))..head {
            let slot = self.plan.rings[t] + track.width() * (ordinal % track.newest as u64) as usize;
            let seq = self.word(slot);
            fence(Acquire);
            let row = self.row(slot, &track);
            fence(Acquire);
            // The arithmetic wraps, because the memory may contain any ordinal, and an overflow must not panic.
            if seq == ordinal.wrapping_mul(2).wrapping_add(2) && self.word(slot) == seq {
                rows.push((ordinal, row));
            } else {
                // The writer has overwritten this slot, so the records read so far are dropped.
                rows.clear();
            }
        }
        rows
    }

    /// Returns the records of the history of track `t` from ordinal `from` on, with their ordinals; `None` if the memory is inconsistent.
    /// The result is valid only within [`Reader::unchanged`].
    fn history(&self, t: usize, from: u64) -> Option<Vec<(u64, Row)>> {
        let track = self.plan.tracks[t];
        let kept = self.word(track_at(t) + 2) as usize;
        fence(Acquire);
        let rows = (0..kept.min(track.history)).map(|i| {
            let at = self.plan.histories[t] + track.width() * i;
            Some((self.word(at).checked_sub(2)? / 2, self.row(at, &track)))
        });
        Some(rows.collect::<Option<Vec<_>>>()?.into_iter().filter(|(o, _)| *o >= from).collect())
    }

    fn row(&self, at: usize, track: &Track) -> Row {
        let payload = (0..track.payload).map(|i| self.word(at + RECORD_HEAD + i)).collect();
        Row { place: self.word(at + 1), payload }
    }

    /// Calls `read` until the histories and the run's text do not change during a call, then returns the result of this call. Returns
    /// `None` after [`PATIENCE`] attempts.
    fn unchanged<T>(&self, read: impl Fn() -> T) -> Option<T> {
        for _ in 0..PATIENCE {
            let before = self.word(AT_GENERATION);
            fence(Acquire);
            if before.is_multiple_of(2) {
                let value = read();
                fence(Acquire);
                if self.word(AT_GENERATION) == before {
                    return Some(value);
                }
            }
            std::hint::spin_loop();
        }
        None
    }

    fn word(&self, at: usize) -> u64 {
        self.memory.words()[at].load(Relaxed)
    }

    fn item_from(&self, t: usize, row: &[u64]) -> Option<MonitorItem> {
        let numbers = || checkpoint::row(&floats(row), self.plan.counters);
        Some(match t {
            METRICS => MonitorItem::Event(Event::Metrics(numbers())),
            TESTS => MonitorItem::Event(Event::Test(numbers())),
            SHELL => MonitorItem::Shell(text_from(row)),
            _ => MonitorItem::Event(event_from(row)?),
        })
    }
}

fn text_from(row: &[u64]) -> String {
    text_from_words(row[1..].iter().copied(), row[0] as usize)
}

fn event_from(row: &[u64]) -> Option<Event> {
    json::read(&text_from(row)).ok()
}
