//! The monitor: what a run tells, laid into a piece of memory that any number of readers look at
//! while it is written. One writer, which never waits for anybody and does not know who reads;
//! readers, which only read and can come and go, also after the writer has ended. Natively the
//! memory is a file's, in the page it is that of the wasm module.
//!
//! In go the protocol's events, out come the protocol's events. This file refuses to know where the
//! memory comes from, what time it is and what becomes of the events.
//!
//! Layout, in words of 64 bits: a header with live counters; a text of the shell's, one with the
//! run's config and knobs; then for each kind of record a ring of the newest; then for those kinds
//! that have one a history, which is thinned as the run's own is, so that a long run keeps its beginning.
//! How wide records are follows from the room's columns; the header says how many of each there are.
//! Each slot of a ring stands under a sequence number of its own, histories and texts under one that
//! is odd while they are rewritten (seqlocks: Boehm, "Can seqlocks get along with programming
//! language memory models?", 2012). A reader's loads are all relaxed with fences between, since only
//! relaxed loads are sound on memory that is mapped for reading alone.

mod reader;
mod writer;

pub use reader::{Reader, State, Told};
pub use writer::Writer;

use crate::digest::Fnv;
use crate::plain_data::plain_data;
use crate::protocol::{Config, Knobs, Progress};
use crate::schema::Schema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// `HOTHRING` as a little-endian word: also tells a file of the other byte order from ours.
pub const MAGIC: u64 = u64::from_le_bytes(*b"HOTHRING");
/// A later format is refused. 1 was of control alone.
const VERSION: u64 = 2;

// The header, by word.
const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 1;
/// Hash of the layout below: the same version built otherwise is another format.
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
/// How many counters, numbers in a row of metrics, numbers in a test, and parts of time there are.
const AT_SIZES: usize = 8;
const AT_TRACKS: usize = AT_SIZES + 4;
/// Of each track: ordinal of this run's first record, and of the next one; records in the history.
const TRACK_WORDS: usize = 3;

/// Bytes of the two texts.
const TEXT_WORDS: usize = 2048;
const AT_ABOUT: usize = AT_TRACKS + TRACK_WORDS * TRACKS;
const AT_RUN: usize = AT_ABOUT + 1 + TEXT_WORDS;
/// Iteration, seconds of training, the room's counters; then the seconds of training that went to each part.
const AT_PROGRESS: usize = AT_RUN + 1 + TEXT_WORDS;

/// Before its payload a record has its sequence number, twice its ordinal plus two (plus one while it
/// is written), and its place among all that was told.
const RECORD_HEAD: usize = 2;
/// Words of a text: of a short event, and of any other message.
const SHORT_WORDS: usize = 72;
const MESSAGE_WORDS: usize = 512;
/// Iteration and seconds of training, before the counters.
const PROGRESS_HEAD: usize = 2;

/// One kind of record.
#[derive(Clone, Copy, Debug)]
struct Track {
    payload: usize,
    /// The newest so many, in a ring.
    newest: usize,
    /// The most its history holds; 0 where there is none.
    history: usize,
}

/// Rows of numbers.
const METRICS: usize = 0;
const TESTS: usize = 1;
/// Texts, each behind its length in bytes: events as JSON, those of the run first, and what the shell says.
const MARKS: usize = 2;
const SOLVED: usize = 3;
const DIGESTS: usize = 4;
const MESSAGES: usize = 5;
const SHELL: usize = 6;
const TRACKS: usize = 7;

impl Track {
    const fn width(&self) -> usize {
        RECORD_HEAD + self.payload
    }
}

/// Where everything is.
#[derive(Clone, Copy, Debug)]
struct Plan {
    counters: usize,
    metrics: usize,
    tests: usize,
    parts: usize,
    tracks: [Track; TRACKS],
    rings: [usize; TRACKS],
    histories: [usize; TRACKS],
    /// Words in all.
    words: usize,
}

impl Plan {
    fn new([counters, metrics, tests, parts]: [usize; 4]) -> Plan {
        let progress = PROGRESS_HEAD + counters;
        let track = |payload, newest, history| Track { payload, newest, history };
        let tracks = [
            track(progress + metrics, 512, 2048),
            track(progress + tests, 64, 1024),
            track(1 + SHORT_WORDS, 64, 256),
            track(1 + SHORT_WORDS, 2, 0),
            track(1 + SHORT_WORDS, 4, 0),
            track(1 + MESSAGE_WORDS, 32, 0),
            track(1 + MESSAGE_WORDS, 32, 0),
        ];
        let mut at = AT_PROGRESS + progress + parts;
        let mut after = |words: usize| (at, at += words).0;
        let rings = tracks.map(|track| after(track.width() * track.newest));
        let histories = tracks.map(|track| after(track.width() * track.history));
        Plan { counters, metrics, tests, parts, tracks, rings, histories, words: at }
    }

    fn of(schema: &Schema) -> Plan {
        let parts = schema.all_parts().count();
        Plan::new([schema.counters.len(), schema.row_len(), schema.tests.len(), parts])
    }

    fn sizes(&self) -> [usize; 4] {
        [self.counters, self.metrics, self.tests, self.parts]
    }

    fn progress(&self) -> usize {
        PROGRESS_HEAD + self.counters
    }

    fn at_parts(&self) -> usize {
        AT_PROGRESS + self.progress()
    }

    fn hash(&self) -> u64 {
        let mut hash = Fnv::new();
        for track in &self.tracks {
            for n in [track.payload, track.newest, track.history] {
                hash.write(&(n as u64).to_le_bytes());
            }
        }
        hash.write(&(TEXT_WORDS as u64).to_le_bytes());
        hash.value()
    }
}

/// Words that the memory of a room's monitor must have.
pub fn words(schema: &Schema) -> usize {
    Plan::of(schema).words
}

plain_data! {
    /// Where a reader that is not of this crate finds what a page draws, in words from the beginning; see
    /// `www/run/monitor.ts`.
    pub struct Layout {
        pub words: usize,
        pub epoch: usize,
        /// Iteration, seconds of training, then the room's counters: each a number of 64 bits.
        pub progress: usize,
        pub metrics: TrackLayout,
        pub tests: TrackLayout,
    }

    /// A record is its sequence number, its place among all that was told, and its numbers: iteration, seconds of training, the
    /// counters, the values; NaN means null.
    pub struct TrackLayout {
        /// Ordinal of the next record.
        pub head: usize,
        pub ring: usize,
        pub ring_records: usize,
        /// Words of a record, and of them those before its numbers.
        pub record: usize,
        pub record_head: usize,
        pub counters: usize,
        pub values: usize,
    }
}

pub fn layout(schema: &Schema) -> Layout {
    let plan = Plan::of(schema);
    let track = |t: usize, values: usize| TrackLayout {
        head: track_at(t) + 1,
        ring: plan.rings[t],
        ring_records: plan.tracks[t].newest,
        record: plan.tracks[t].width(),
        record_head: RECORD_HEAD,
        counters: plan.counters,
        values,
    };
    Layout {
        words: plan.words,
        epoch: AT_EPOCH,
        progress: AT_PROGRESS,
        metrics: track(METRICS, plan.metrics),
        tests: track(TESTS, plan.tests),
    }
}

plain_data! {
    /// Where a reader goes on that was told of a run's beginning in another way.
    #[derive(Copy, Default)]
    pub struct Cursor {
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        pub epoch: u64,
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        pub metrics: u64,
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        pub tests: u64,
    }
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

/// Memory of this process for a room's monitor.
pub fn heap(schema: &Schema) -> Arc<[AtomicU64]> {
    (0..words(schema)).map(|_| AtomicU64::new(0)).collect()
}

/// What of a beginning is text; the rest is records.
#[derive(Serialize, Deserialize)]
struct RunText {
    config: Config,
    knobs: Knobs,
    progress: Progress,
    solved: Option<Progress>,
    #[serde(default)]
    attempts: u32,
    room: serde_json::Value,
}

const fn track_at(t: usize) -> usize {
    AT_TRACKS + TRACK_WORDS * t
}

fn progress_numbers(p: &Progress) -> impl Iterator<Item = f64> + '_ {
    [f64::from(p.iteration), p.train_s].into_iter().chain(p.counts.iter().copied())
}

fn bits(numbers: impl IntoIterator<Item = f64>) -> Vec<u64> {
    numbers.into_iter().map(f64::to_bits).collect()
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
    text_from_words(area[1..=TEXT_WORDS].iter().map(|word| word.load(Relaxed)), len)
}

fn text_from_words(words: impl Iterator<Item = u64>, len: usize) -> String {
    let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).take(len).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
