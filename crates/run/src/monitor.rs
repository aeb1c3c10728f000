//! The monitor: what a run tells, laid into a piece of memory that any number of readers look at
//! while it is written. One writer, which never waits for anybody and does not know who reads;
//! readers, which only read and can come and go, also after the writer has ended. Natively the
//! memory is a mapped file, in the page it is that of the wasm module.
//!
//! In go the protocol's events, out come the protocol's events. This file refuses to know where the
//! memory comes from, what time it is and what becomes of the events.
//!
//! Layout, in words of 64 bits: a header with live counters; a text of the shell's, one with the
//! run's config and knobs; then for each kind of record a ring of the newest; then for those kinds
//! that have one a history, which is thinned when it is full, so that a long run keeps its beginning.
//! Each slot of a ring stands under a sequence number of its own, histories and texts under one that
//! is odd while they are rewritten (seqlocks: Boehm, "Can seqlocks get along with programming
//! language memory models?", 2012). A reader's loads are all relaxed with fences between, since only
//! relaxed loads are sound on memory that is mapped for reading alone.

use crate::RunError;
use crate::checkpoint::{COLUMNS, metrics_from_row, row_from_metrics};
use crate::course::{FUSED, GPU, MIXED, UNFUSED};
use crate::digest::Fnv;
use crate::protocol::{Config, Digest, Environment, Evaluation, Event, Mark, Metrics, PARTS, Progress};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};
#[cfg(feature = "typescript")]
use ts_rs::TS;

/// `HOTHRING` as a little-endian word: also tells a file of the other byte order from ours.
pub const MAGIC: u64 = u64::from_le_bytes(*b"HOTHRING");
/// A later format is refused.
const VERSION: u64 = 1;

// The header, by word.
const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 1;
/// Hash of the layout below: the same version built with other columns is another format.
const AT_LAYOUT: usize = 2;
/// Odd while histories and the run's text are rewritten.
const AT_GENERATION: usize = 3;
/// Runs begun: 1 for the first, one more with each reset or restore.
const AT_EPOCH: usize = 4;
/// The place of the run's beginning among all that was told.
const AT_BEGAN: usize = 5;
const AT_STATE: usize = 6;
/// Counts on while the writer lives, also while it is paused.
const AT_HEARTBEAT: usize = 7;
/// Iteration, environment steps, episodes, seconds of training.
const AT_PROGRESS: usize = 8;
/// Seconds of training that went to each of [`PARTS`], since the run began here.
const AT_PARTS: usize = AT_PROGRESS + PROGRESS;
const AT_TRACKS: usize = AT_PARTS + PARTS.len();
/// Of each track: ordinal of this run's first record, and of the next one; records in the history.
const TRACK_WORDS: usize = 3;
const AT_TEXTS: usize = AT_TRACKS + TRACK_WORDS * TRACKS;

/// Bytes of the two texts.
const TEXT_WORDS: usize = 1024;
const AT_ABOUT: usize = AT_TEXTS;
const AT_RUN: usize = AT_ABOUT + 1 + TEXT_WORDS;
const AT_RINGS: usize = AT_RUN + 1 + TEXT_WORDS;

/// Before its payload a record has its sequence number, twice its ordinal plus two (plus one while it
/// is written), and its place among all that was told.
const RECORD_HEAD: usize = 2;
const NAME_WORDS: usize = 4;
const MESSAGE_WORDS: usize = 512;

/// One kind of record.
struct Track {
    payload: usize,
    /// The newest so many, in a ring.
    newest: usize,
    /// The most its history holds; 0 where there is none.
    history: usize,
}

const METRICS: usize = 0;
const EVALUATIONS: usize = 1;
const MARKS: usize = 2;
const SOLVED: usize = 3;
const DIGESTS: usize = 4;
const MESSAGES: usize = 5;
const TRACKS: usize = 6;

const PROGRESS: usize = 4;
const LAYOUT: [Track; TRACKS] = [
    Track { payload: COLUMNS, newest: 512, history: 2048 },
    Track { payload: PROGRESS + 4, newest: 64, history: 1024 },
    Track { payload: PROGRESS + 2 + NAME_WORDS, newest: 64, history: 256 },
    Track { payload: PROGRESS + 1, newest: 2, history: 0 },
    Track { payload: 3, newest: 4, history: 0 },
    Track { payload: 2 + MESSAGE_WORDS, newest: 32, history: 0 },
];

impl Track {
    const fn width(&self) -> usize {
        RECORD_HEAD + self.payload
    }
}

/// Where a track's ring begins, and its history; for `TRACKS` the end of everything.
const fn ring_at(track: usize) -> usize {
    let (mut at, mut t) = (AT_RINGS, 0);
    while t < track {
        at += LAYOUT[t].width() * LAYOUT[t].newest;
        t += 1;
    }
    at
}

const fn history_at(track: usize) -> usize {
    let (mut at, mut t) = (ring_at(TRACKS), 0);
    while t < track {
        at += LAYOUT[t].width() * LAYOUT[t].history;
        t += 1;
    }
    at
}

/// Words that the memory must have.
pub const WORDS: usize = history_at(TRACKS);

fn layout_hash() -> u64 {
    let mut hash = Fnv::new();
    for track in &LAYOUT {
        for n in [track.payload, track.newest, track.history] {
            hash.write(&(n as u64).to_le_bytes());
        }
    }
    hash.write(&(TEXT_WORDS as u64).to_le_bytes());
    hash.value()
}

/// Where a reader that is not of this crate finds what a page draws, in words from the beginning; see
/// `www/run/monitor.ts`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Layout {
    pub words: usize,
    pub generation: usize,
    pub epoch: usize,
    pub heartbeat: usize,
    /// Iteration, environment steps, episodes, seconds of training: each a number of 64 bits.
    pub progress: usize,
    pub metrics: TrackLayout,
    pub evaluations: TrackLayout,
    /// Where what a page needs ends, as long as it keeps up.
    pub histories: usize,
}

/// A record is its sequence number, its place among all that was told, and its columns.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct TrackLayout {
    /// Ordinal of the next record.
    pub head: usize,
    /// Records in the history.
    pub kept: usize,
    pub ring: usize,
    pub ring_records: usize,
    pub history: usize,
    pub history_records: usize,
    /// Words of a record, and of them those before its columns.
    pub record: usize,
    pub record_head: usize,
    /// `progress.iteration`; where NaN means null, `mean_return?`.
    pub columns: Vec<&'static str>,
}

const PROGRESS_COLUMNS: [&str; PROGRESS] =
    ["progress.iteration", "progress.env_steps", "progress.episodes", "progress.train_s"];
const METRICS_COLUMNS: [&str; COLUMNS - PROGRESS] = [
    "mean_return?",
    "mean_length?",
    "policy_loss",
    "value_loss",
    "entropy",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
    "grad_norm",
    "lr",
    "steps_per_s",
    "shares.0",
    "shares.1",
    "shares.2",
    "shares.3",
    "shares.4",
    "shares.5",
    "shares.6",
    "shares.7",
];
const EVALUATION_COLUMNS: [&str; 4] = ["episodes", "mean_return", "min_return", "max_return"];

pub fn layout() -> Layout {
    let track = |t: usize, columns: &[&'static str]| TrackLayout {
        head: track_at(t) + 1,
        kept: track_at(t) + 2,
        ring: ring_at(t),
        ring_records: LAYOUT[t].newest,
        history: history_at(t),
        history_records: LAYOUT[t].history,
        record: LAYOUT[t].width(),
        record_head: RECORD_HEAD,
        columns: [&PROGRESS_COLUMNS, columns].concat(),
    };
    Layout {
        words: WORDS,
        generation: AT_GENERATION,
        epoch: AT_EPOCH,
        heartbeat: AT_HEARTBEAT,
        progress: AT_PROGRESS,
        metrics: track(METRICS, &METRICS_COLUMNS),
        evaluations: track(EVALUATIONS, &EVALUATION_COLUMNS),
        // The rings of the other kinds come after those of these two.
        histories: ring_at(MARKS),
    }
}

/// Where a reader goes on that was told of a run's beginning in another way.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Cursor {
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub epoch: u64,
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub metrics: u64,
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub evaluations: u64,
}

/// Memory that a writer and its readers share.
pub trait Memory: Send {
    fn words(&self) -> &[AtomicU64];
}

impl Memory for Arc<[AtomicU64]> {
    fn words(&self) -> &[AtomicU64] {
        self
    }
}

/// Memory of this process, for a page, a bench or a test.
pub fn heap() -> Arc<[AtomicU64]> {
    (0..WORDS).map(|_| AtomicU64::new(0)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Paused,
    Running,
    /// The writer said that nothing more will come.
    Finished,
}

/// What a reader learns: an event of the run, or words that the shell left for other shells.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Event(Event),
    Shell(String),
}

const MESSAGE_EVENT: u64 = 0;
const MESSAGE_SHELL: u64 = 1;

/// What of a beginning is text; the rest is records.
#[derive(Serialize, Deserialize)]
struct RunText {
    config: Config,
    environment: Box<Environment>,
    knobs: BTreeMap<String, f64>,
    progress: Progress,
}

/// The writing half. Dropping it tells readers that the run is finished.
pub struct Writer {
    memory: Box<dyn Memory>,
    /// Records written of each track, and in its history; and of how many one is kept there.
    heads: [u64; TRACKS],
    firsts: [u64; TRACKS],
    kept: [usize; TRACKS],
    strides: [u64; TRACKS],
    told: u64,
    generation: u64,
    epoch: u64,
    beats: u64,
    parts_s: [f64; PARTS.len()],
    /// The training time that they reach to.
    known_s: f64,
}

impl Writer {
    /// Takes `memory` over, whatever was in it. `about` is what the shell tells of itself.
    pub fn new(memory: Box<dyn Memory>, about: &str) -> Result<Writer, RunError> {
        let words = memory.words();
        if words.len() != WORDS {
            return Err(RunError::Monitor { why: format!("{} words of memory, not {WORDS}", words.len()) });
        }
        if about.len() > 8 * TEXT_WORDS {
            return Err(RunError::Monitor { why: format!("{} bytes about the machine", about.len()) });
        }
        // Readers of what was here before are shown nothing until all is in place.
        words[AT_MAGIC].store(0, Relaxed);
        fence(Release);
        words[1..AT_TEXTS].iter().for_each(|word| word.store(0, Relaxed));
        for (t, track) in LAYOUT.iter().enumerate() {
            let slots = &words[ring_at(t)..][..track.width() * track.newest];
            slots.iter().step_by(track.width()).for_each(|seq| seq.store(0, Relaxed));
        }
        put_text(&words[AT_ABOUT..], about);
        put_text(&words[AT_RUN..], "");
        words[AT_VERSION].store(VERSION, Relaxed);
        words[AT_LAYOUT].store(layout_hash(), Relaxed);
        words[AT_MAGIC].store(MAGIC, Release);
        Ok(Writer {
            memory,
            heads: [0; TRACKS],
            firsts: [0; TRACKS],
            kept: [0; TRACKS],
            strides: [1; TRACKS],
            told: 0,
            generation: 0,
            epoch: 0,
            beats: 0,
            parts_s: [0.0; PARTS.len()],
            known_s: 0.0,
        })
    }

    /// Tells readers what happened. Saves are the shell's business and are left aside.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Began { config, environment, knobs, history, marks, evaluations, progress } => {
                let text = RunText {
                    config: config.clone(),
                    environment: environment.clone(),
                    knobs: knobs.clone(),
                    progress: *progress,
                };
                self.begin(&text, history, marks, evaluations);
            }
            Event::Running { running } => {
                let state = if *running { State::Running } else { State::Paused };
                self.memory.words()[AT_STATE].store(state as u64, Relaxed);
            }
            Event::Metrics(metrics) => {
                self.progress(&metrics.progress);
                self.spend(metrics);
                self.metrics(metrics);
            }
            Event::Mark(mark) => self.mark(mark),
            Event::Evaluation(evaluation) => self.evaluation(evaluation),
            Event::Solved { progress, threshold } => {
                let mut row = [0; PROGRESS + 1];
                row[..PROGRESS].copy_from_slice(&bits(row_from_progress(progress)));
                row[PROGRESS] = threshold.to_bits();
                self.push(SOLVED, &row);
            }
            Event::Digest(digest) => {
                let weights = u64::from_str_radix(&digest.weights, 16).unwrap_or_default();
                let arithmetic = ARITHMETICS.iter().position(|&a| a == digest.arithmetic).unwrap_or_default();
                self.push(DIGESTS, &[u64::from(digest.iteration), weights, arithmetic as u64]);
            }
            Event::Notice { .. } | Event::Device(_) => {
                // Plain data with string keys: there is nothing in it that JSON cannot hold.
                let text = serde_json::to_string(event).unwrap_or_default();
                self.message(MESSAGE_EVENT, &text);
            }
            Event::Saved { .. } => {}
        }
    }

    /// The sign of life, and how far the run has come: after every slice of work.
    pub fn beat(&mut self, progress: &Progress) {
        self.beats += 1;
        self.memory.words()[AT_HEARTBEAT].store(self.beats, Relaxed);
        self.progress(progress);
    }

    /// Behind everything that was told so far.
    pub fn cursor(&self) -> Cursor {
        let [metrics, evaluations, ..] = self.heads;
        Cursor { epoch: self.epoch, metrics, evaluations }
    }

    /// Leaves words for other shells. False where they are too long to be left.
    pub fn say(&mut self, text: &str) -> bool {
        self.message(MESSAGE_SHELL, text)
    }

    fn progress(&mut self, progress: &Progress) {
        let words = &self.memory.words()[AT_PROGRESS..][..PROGRESS];
        for (word, value) in words.iter().zip(row_from_progress(progress)) {
            word.store(value.to_bits(), Relaxed);
        }
    }

    /// The time since the last metrics went to the parts as this iteration's did.
    fn spend(&mut self, metrics: &Metrics) {
        let passed_s = metrics.progress.train_s - self.known_s;
        self.known_s = metrics.progress.train_s;
        let words = &self.memory.words()[AT_PARTS..];
        for ((part_s, share), word) in self.parts_s.iter_mut().zip(metrics.shares).zip(words) {
            *part_s += share * passed_s;
            word.store(part_s.to_bits(), Relaxed);
        }
    }

    fn begin(&mut self, text: &RunText, history: &[Metrics], marks: &[Mark], evaluations: &[Evaluation]) {
        self.rewrite(true);
        self.epoch += 1;
        let words = self.memory.words();
        words[AT_EPOCH].store(self.epoch, Relaxed);
        words[AT_BEGAN].store(self.told, Relaxed);
        self.told += 1;
        put_text(&words[AT_RUN..], &serde_json::to_string(text).unwrap_or_default());
        for t in 0..MESSAGES {
            self.firsts[t] = self.heads[t];
            self.kept[t] = 0;
            self.strides[t] = 1;
            words[track_at(t)].store(self.firsts[t], Relaxed);
            words[track_at(t) + 2].store(0, Relaxed);
        }
        history.iter().for_each(|m| self.metrics(m));
        evaluations.iter().for_each(|e| self.evaluation(e));
        marks.iter().for_each(|m| self.mark(m));
        self.progress(&text.progress);
        (self.parts_s, self.known_s) = ([0.0; PARTS.len()], text.progress.train_s);
        let words = self.memory.words();
        words[AT_PARTS..][..PARTS.len()].iter().for_each(|word| word.store(0, Relaxed));
        self.rewrite(false);
    }

    fn metrics(&mut self, metrics: &Metrics) {
        self.push(METRICS, &bits(row_from_metrics(metrics)));
    }

    fn evaluation(&mut self, e: &Evaluation) {
        let [iteration, steps, episodes, train_s] = row_from_progress(&e.progress);
        let row = [
            iteration,
            steps,
            episodes,
            train_s,
            f64::from(e.episodes),
            e.mean_return,
            e.min_return,
            e.max_return,
        ];
        self.push(EVALUATIONS, &bits(row));
    }

    fn mark(&mut self, mark: &Mark) {
        let mut row = [0; PROGRESS + 2 + NAME_WORDS];
        row[..PROGRESS].copy_from_slice(&bits(row_from_progress(&mark.progress)));
        row[PROGRESS] = mark.from.to_bits();
        row[PROGRESS + 1] = mark.to.to_bits();
        for (word, bytes) in row[PROGRESS + 2..].iter_mut().zip(mark.knob.as_bytes().chunks(8)) {
            *word = word_from_bytes(bytes);
        }
        self.push(MARKS, &row);
    }

    fn message(&mut self, kind: u64, text: &str) -> bool {
        if text.len() > 8 * MESSAGE_WORDS {
            return false;
        }
        let mut row = [0; 2 + MESSAGE_WORDS];
        row[0] = kind;
        row[1] = text.len() as u64;
        for (word, bytes) in row[2..].iter_mut().zip(text.as_bytes().chunks(8)) {
            *word = word_from_bytes(bytes);
        }
        self.push(MESSAGES, &row[..2 + text.len().div_ceil(8)]);
        true
    }

    /// A new record: over the oldest in the ring, and behind the others in the history if it is its turn.
    fn push(&mut self, t: usize, payload: &[u64]) {
        let ordinal = self.heads[t];
        let track = &LAYOUT[t];
        let turn = ordinal - self.firsts[t];
        if track.history > 0 && self.kept[t] == track.history && turn.is_multiple_of(self.strides[t]) {
            self.thin(t);
        }
        let words = self.memory.words();
        let seq = 2 * ordinal + 1;
        let put = |at: usize| {
            words[at + 1].store(self.told, Relaxed);
            for (word, &value) in words[at + RECORD_HEAD..].iter().zip(payload) {
                word.store(value, Relaxed);
            }
        };
        let slot = ring_at(t) + track.width() * (ordinal % track.newest as u64) as usize;
        words[slot].store(seq, Relaxed);
        fence(Release);
        put(slot);
        words[slot].store(seq + 1, Release);
        if track.history > 0 && turn.is_multiple_of(self.strides[t]) {
            let row = history_at(t) + track.width() * self.kept[t];
            words[row].store(seq + 1, Relaxed);
            put(row);
            self.kept[t] += 1;
            words[track_at(t) + 2].store(self.kept[t] as u64, Release);
        }
        self.told += 1;
        self.heads[t] += 1;
        words[track_at(t) + 1].store(self.heads[t], Release);
    }

    /// Drops every second record of a full history.
    fn thin(&mut self, t: usize) {
        // While a run begins, the generation is odd already.
        let alone = self.generation.is_multiple_of(2);
        if alone {
            self.rewrite(true);
        }
        let words = self.memory.words();
        let width = LAYOUT[t].width();
        let rows = &words[history_at(t)..][..width * LAYOUT[t].history];
        for to in 1..self.kept[t].div_ceil(2) {
            for i in 0..width {
                rows[to * width + i].store(rows[2 * to * width + i].load(Relaxed), Relaxed);
            }
        }
        self.kept[t] = self.kept[t].div_ceil(2);
        self.strides[t] *= 2;
        words[track_at(t) + 2].store(self.kept[t] as u64, Relaxed);
        if alone {
            self.rewrite(false);
        }
    }

    fn rewrite(&mut self, begins: bool) {
        self.generation += 1;
        let word = &self.memory.words()[AT_GENERATION];
        if begins {
            word.store(self.generation, Relaxed);
            fence(Release);
        } else {
            word.store(self.generation, Release);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.memory.words()[AT_STATE].store(State::Finished as u64, Release);
    }
}

/// The reading half: each reader gets everything that was told, from the beginning of the run, and
/// goes on from there at its own pace. One that falls far behind gets the thinned history of what it
/// has missed.
pub struct Reader {
    memory: Box<dyn Memory>,
    epoch: u64,
    /// Ordinal of the next record of each track.
    next: [u64; TRACKS],
    running: Option<bool>,
}

/// A record with its place among all that was told.
struct Row {
    place: u64,
    payload: Vec<u64>,
}

/// How often a reader looks again at what is being rewritten before it comes back later.
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
        if words.len() < AT_RINGS || word(AT_LAYOUT) == layout_hash() && words.len() < WORDS {
            return Err(RunError::Monitor { why: format!("cut short at {} of {WORDS} words", words.len()) });
        }
        if word(AT_LAYOUT) != layout_hash() || words.len() != WORDS {
            return Err(RunError::Monitor { why: "laid out by another build of Hothouse".into() });
        }
        Ok(Reader { memory, epoch: 0, next: [0; TRACKS], running: None })
    }

    /// What the writing shell told of itself.
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

    /// Differs from the last time if the writer has lived in between.
    pub fn heartbeat(&self) -> u64 {
        self.word(AT_HEARTBEAT)
    }

    /// How far the run has come, also within an iteration.
    pub fn progress(&self) -> Progress {
        progress_from_row(&std::array::from_fn::<_, PROGRESS, _>(|i| {
            f64::from_bits(self.word(AT_PROGRESS + i))
        }))
    }

    /// Seconds of training that went to each of [`PARTS`] since the run began or was taken up.
    pub fn parts_s(&self) -> [f64; PARTS.len()] {
        std::array::from_fn(|i| f64::from_bits(self.word(AT_PARTS + i)))
    }

    /// What was told since the last call, in its order; first of all how the run began, with its
    /// history. Nothing where the writer is just rewriting that: ask again later.
    pub fn poll(&mut self) -> Vec<Told> {
        let mut told: Vec<(u64, Told)> = Vec::new();
        let epoch = self.word(AT_EPOCH);
        fence(Acquire);
        if epoch != self.epoch {
            let Some(began) = self.attach() else { return Vec::new() };
            told.push(began);
        }
        let rows: [Vec<Row>; TRACKS] = std::array::from_fn(|t| self.newer(t));
        fence(Acquire);
        // These may be of a run begun meanwhile, which comes from its beginning at the next call.
        let same_run = self.word(AT_EPOCH) == self.epoch;
        for (t, rows) in rows.into_iter().enumerate() {
            let known = rows.into_iter().filter(|_| t == MESSAGES || same_run);
            told.extend(known.filter_map(|row| Some((row.place, told_from(t, &row.payload)?))));
        }
        told.sort_by_key(|(place, _)| *place);
        let mut told: Vec<Told> = told.into_iter().map(|(_, told)| told).collect();
        let running = self.state() == State::Running;
        if self.epoch > 0 && self.running != Some(running) {
            self.running = Some(running);
            told.push(Told::Event(Event::Running { running }));
        }
        told
    }

    /// The newest run's beginning with its history, and its place.
    fn attach(&mut self) -> Option<(u64, Told)> {
        let read = |t: usize| self.history(t, 0).map(|rows| (self.word(track_at(t)), rows));
        let (epoch, place, text, mut tracks) = self.unchanged(|| {
            let tracks = [read(METRICS), read(EVALUATIONS), read(MARKS)];
            (self.word(AT_EPOCH), self.word(AT_BEGAN), take_text(&self.memory.words()[AT_RUN..]), tracks)
        })?;
        let RunText { config, environment, knobs, progress } = serde_json::from_str(&text).ok()?;
        let mut next: [u64; TRACKS] = std::array::from_fn(|t| self.word(track_at(t)));
        next[MESSAGES] = self.next[MESSAGES];
        let [metrics, evaluations, marks] = [METRICS, EVALUATIONS, MARKS].map(|t| {
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
        let history: Vec<Metrics> = metrics?.iter().map(|row| metrics_from_row(&floats(row))).collect();
        let began = Event::Began {
            config,
            environment,
            knobs,
            progress: history.last().map_or(progress, |m| m.progress),
            history,
            marks: marks?.iter().map(|row| mark_from(row)).collect(),
            evaluations: evaluations?.iter().map(|row| evaluation_from(row)).collect(),
        };
        self.epoch = epoch;
        self.next = next;
        self.running = None;
        Some((place, Told::Event(began)))
    }

    /// All records of a track that are new to this reader.
    fn newer(&mut self, t: usize) -> Vec<Row> {
        let from = self.next[t];
        let newest = self.newest(t, from);
        let Some(&(first, _)) = newest.first() else { return Vec::new() };
        let mut rows = Vec::new();
        if first > from && LAYOUT[t].history > 0 {
            // Overtaken: what the ring has lost is in the history, if thinner.
            match self.unchanged(|| self.history(t, from)) {
                Some(Some(missed)) => rows.extend(missed.into_iter().filter(|(o, _)| *o < first)),
                _ => return Vec::new(),
            }
        }
        rows.extend(newest);
        self.next[t] = rows.last().map_or(from, |(ordinal, _)| ordinal + 1);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Records from the ring, by ordinal and without gaps: those from `from` on that are still there.
    fn newest(&self, t: usize, from: u64) -> Vec<(u64, Row)> {
        let track = &LAYOUT[t];
        let head = self.word(track_at(t) + 1);
        fence(Acquire);
        let mut rows = Vec::new();
        for ordinal in from.max(head.saturating_sub(track.newest as u64))..head {
            let slot = ring_at(t) + track.width() * (ordinal % track.newest as u64) as usize;
            let seq = self.word(slot);
            fence(Acquire);
            let row = self.row(slot, track);
            fence(Acquire);
            if seq == 2 * ordinal + 2 && self.word(slot) == seq {
                rows.push((ordinal, row));
            } else {
                // The writer has come round: everything up to here is older than its ring.
                rows.clear();
            }
        }
        rows
    }

    /// Records of a history, by ordinal. Only sound within [`Reader::unchanged`].
    fn history(&self, t: usize, from: u64) -> Option<Vec<(u64, Row)>> {
        let track = &LAYOUT[t];
        let kept = self.word(track_at(t) + 2) as usize;
        fence(Acquire);
        let rows = (0..kept.min(track.history)).map(|i| {
            let at = history_at(t) + track.width() * i;
            Some((self.word(at).checked_sub(2)? / 2, self.row(at, track)))
        });
        Some(rows.collect::<Option<Vec<_>>>()?.into_iter().filter(|(o, _)| *o >= from).collect())
    }

    fn row(&self, at: usize, track: &Track) -> Row {
        let payload = (0..track.payload).map(|i| self.word(at + RECORD_HEAD + i)).collect();
        Row { place: self.word(at + 1), payload }
    }

    /// What `read` gives while histories and texts are left alone.
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
}

const fn track_at(t: usize) -> usize {
    AT_TRACKS + TRACK_WORDS * t
}

/// By their number in a row.
const ARITHMETICS: [&str; 4] = [MIXED, FUSED, UNFUSED, GPU];

fn told_from(t: usize, row: &[u64]) -> Option<Told> {
    Some(Told::Event(match t {
        METRICS => Event::Metrics(metrics_from_row(&floats(row))),
        EVALUATIONS => Event::Evaluation(evaluation_from(row)),
        MARKS => Event::Mark(mark_from(row)),
        SOLVED => Event::Solved {
            progress: progress_from_row(&floats(row)),
            threshold: f64::from_bits(row[PROGRESS]),
        },
        DIGESTS => Event::Digest(Digest {
            iteration: row[0] as u32,
            weights: format!("{:016x}", row[1]),
            arithmetic: ARITHMETICS.get(row[2] as usize).copied().unwrap_or(MIXED).into(),
        }),
        _ => {
            let text = text_from_words(row[2..].iter().copied(), row[1] as usize);
            match row[0] {
                MESSAGE_EVENT => serde_json::from_str(&text).ok()?,
                _ => return Some(Told::Shell(text)),
            }
        }
    }))
}

fn row_from_progress(p: &Progress) -> [f64; PROGRESS] {
    [f64::from(p.iteration), p.env_steps as f64, p.episodes as f64, p.train_s]
}

fn progress_from_row(row: &[f64]) -> Progress {
    Progress { iteration: row[0] as u32, env_steps: row[1] as u64, episodes: row[2] as u64, train_s: row[3] }
}

fn evaluation_from(row: &[u64]) -> Evaluation {
    let row = floats(row);
    Evaluation {
        progress: progress_from_row(&row),
        episodes: row[4] as u32,
        mean_return: row[5],
        min_return: row[6],
        max_return: row[7],
    }
}

fn mark_from(row: &[u64]) -> Mark {
    let name = &row[PROGRESS + 2..][..NAME_WORDS];
    let text = text_from_words(name.iter().copied(), 8 * NAME_WORDS);
    Mark {
        progress: progress_from_row(&floats(row)),
        knob: text.trim_end_matches('\0').into(),
        from: f64::from_bits(row[PROGRESS]),
        to: f64::from_bits(row[PROGRESS + 1]),
    }
}

fn bits<const N: usize>(row: [f64; N]) -> [u64; N] {
    row.map(f64::to_bits)
}

fn floats(row: &[u64]) -> Vec<f64> {
    row.iter().map(|&word| f64::from_bits(word)).collect()
}

fn word_from_bytes(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Its length in bytes, then the bytes; what does not fit is left out, and then cannot be parsed.
fn put_text(area: &[AtomicU64], text: &str) {
    let len = text.len().min(8 * TEXT_WORDS);
    area[0].store(len as u64, Relaxed);
    for (word, bytes) in area[1..].iter().zip(text.as_bytes()[..len].chunks(8)) {
        word.store(word_from_bytes(bytes), Relaxed);
    }
}

fn take_text(area: &[AtomicU64]) -> String {
    let len = (area[0].load(Relaxed) as usize).min(8 * TEXT_WORDS);
    text_from_words(area[1..].iter().map(|word| word.load(Relaxed)), len)
}

fn text_from_words(words: impl Iterator<Item = u64>, len: usize) -> String {
    let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).take(len).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
