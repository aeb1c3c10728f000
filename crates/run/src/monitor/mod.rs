//! The monitor: memory in which a run publishes its events. A single writer writes to the memory, and any number of readers poll it. The
//! writer never waits and has no information about readers. Readers never write, and can attach and detach at any time, also after the
//! writer has ended. For the page, the memory is the memory of the wasm module. In a native program, the writer's memory is on the heap; a
//! thread regularly copies changed blocks to a file, and each reader reads the file into its own memory.
//!
//! The writer takes the protocol's events, and readers return them. The shell provides the memory and uses the events. This module reads no
//! clock.
//!
//! The memory consists of 64-bit words. Its parts are a header with live counters, a text of the shell, a text with the run's config and
//! knobs, the progress, the seconds that each part of the iterations took, and a track for each kind of record. A track has a ring of the
//! latest records. Some tracks also have a history. Each history is thinned like the history of the run, so that a long run keeps its
//! beginning. For metrics and tests, the width of a record depends on the numbers of the room's counters and columns, which are in the
//! header. A record's ordinal is its number among all records of its track, starting at 0.
//!
//! Each slot of a ring has its own sequence number. Histories and the run's text share a sequence number, the generation, which is odd
//! while they are rewritten (seqlocks: Boehm, "Can seqlocks get along with programming language memory models?", 2012). A reader's memory
//! may be mapped read-only. Only relaxed loads are sound on such memory, so a reader uses only relaxed loads, with fences between the
//! loads.

mod reader;
mod writer;

pub use reader::{MonitorItem, Reader, State};
pub use writer::Writer;

use crate::digest::Fnv;
use crate::plain_data::plain_data;
use crate::protocol::{Config, Knobs, Progress};
use crate::schema::Schema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// First word of the memory: the text `HOTHRING`, read as a little-endian number. A file that was written with the other byte order has
/// another first word.
pub const MAGIC: u64 = u64::from_le_bytes(*b"HOTHRING");
/// Format version. Another version is refused. Version 1 supported only the control room.
const VERSION: u64 = 2;

// Indices of words in the header.
const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 1;
/// Hash of the layout of tracks and texts. A memory with another layout is refused, even if it has the same version.
const AT_LAYOUT: usize = 2;
/// Generation, which is odd while the histories and the run's text are rewritten.
const AT_GENERATION: usize = 3;
/// Number of runs that have begun; 0 before the first. A reset or a restore begins a run.
const AT_EPOCH: usize = 4;
/// Position of the latest run's event `Began` in the sequence of all events.
const AT_BEGAN: usize = 5;
const AT_STATE: usize = 6;
/// Heartbeat: a counter that the writer increments while it exists, even if the run is paused.
const AT_HEARTBEAT: usize = 7;
/// Four words: the number of counters, of values in a metrics row, of values in a test row, and of parts of an iteration's time.
const AT_SIZES: usize = 8;
const AT_TRACKS: usize = AT_SIZES + 4;
/// Number of header words per track: the ordinal of the latest run's first record, the ordinal of the next record, and the number of
/// records in the history.
const TRACK_WORDS: usize = 3;

/// Maximum length in words of each of the two texts, the shell's and the run's.
const TEXT_WORDS: usize = 2048;
const AT_ABOUT: usize = AT_TRACKS + TRACK_WORDS * TRACKS;
const AT_RUN: usize = AT_ABOUT + 1 + TEXT_WORDS;
/// Index of the first word of the progress: iteration, seconds of training, and the room's counters. The seconds of each part of an
/// iteration's time follow.
const AT_PROGRESS: usize = AT_RUN + 1 + TEXT_WORDS;

/// Number of words before a record's payload: the sequence number, and the position in the sequence of all events. The sequence number of
/// the record with ordinal `n` is `2 * n + 2`. While the record is being written, it is `2 * n + 1`.
const RECORD_HEAD: usize = 2;
/// Maximum length in words of a record's text, for a live change, the event `Solved` or a digest.
const SHORT_WORDS: usize = 72;
/// Maximum length in words of a record's text, for any other event or for a message of a shell.
const MESSAGE_WORDS: usize = 512;
/// Number of words of the progress before its counters: iteration and seconds of training.
const PROGRESS_HEAD: usize = 2;

/// Layout of a track, which holds one kind of record.
#[derive(Clone, Copy, Debug)]
struct Track {
    payload: usize,
    /// Number of records in the ring.
    newest: usize,
    /// Maximum number of records in the history; 0 if the track has no history.
    history: usize,
}

/// Index of the track with metrics rows.
const METRICS: usize = 0;
/// Index of the track with the rows of tests.
const TESTS: usize = 1;
/// Index of the track with live changes. In this track and all later tracks, a record's payload is a text, with its length in bytes before
/// it. The text of an event is JSON.
const MARKS: usize = 2;
/// Index of the track with the event `Solved`.
const SOLVED: usize = 3;
/// Index of the track with digests.
const DIGESTS: usize = 4;
/// Index of the track with the run's standing.
const STANDINGS: usize = 5;
/// Index of the track with all other events of a run, such as notices.
const MESSAGES: usize = 6;
/// Index of the track with messages of shells.
const SHELL: usize = 7;
/// Number of tracks.
const TRACKS: usize = 8;

impl Track {
    const fn width(&self) -> usize {
        RECORD_HEAD + self.payload
    }
}

/// Sizes of the room's rows, and the offset of each part of the memory, in words.
#[derive(Clone, Copy, Debug)]
struct Plan {
    counters: usize,
    metrics: usize,
    tests: usize,
    parts: usize,
    tracks: [Track; TRACKS],
    rings: [usize; TRACKS],
    histories: [usize; TRACKS],
    /// Total number of words of the memory.
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
            track(1 + MESSAGE_WORDS, 2, 0),
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

/// Returns the size in words of the memory for a room's monitor.
pub fn words(schema: &Schema) -> usize {
    Plan::of(schema).words
}

plain_data! {
    /// Offsets in words, for readers outside of this crate, such as `www/run/monitor.ts`.
    pub struct Layout {
        pub words: usize,
        pub epoch: usize,
        /// Offset of the progress, which consists of 64-bit floats: iteration, seconds of training, and the room's counters.
        pub progress: usize,
        pub metrics: TrackLayout,
        pub tests: TrackLayout,
    }

    /// Layout of a track. A record contains its sequence number, its position in the sequence of all events, and 64-bit floats: iteration,
    /// seconds of training, counters and values. NaN represents null.
    pub struct TrackLayout {
        /// Offset of the word with the ordinal of the next record.
        pub head: usize,
        pub ring: usize,
        pub ring_records: usize,
        /// Number of words of a record.
        pub record: usize,
        /// Number of words of a record before its floats: the sequence number, and the position in the sequence of all events.
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
    /// Position from which a reader continues if it received `Began` through another channel: the epoch, and the ordinals of the next
    /// metrics row and the next test row.
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

/// Memory shared by a writer and its readers.
pub trait Memory: Send {
    fn words(&self) -> &[AtomicU64];
}

impl Memory for Arc<[AtomicU64]> {
    fn words(&self) -> &[AtomicU64] {
        self
    }
}

/// Allocates memory in this process for a room's monitor.
pub fn heap(schema: &Schema) -> Arc<[AtomicU64]> {
    (0..words(schema)).map(|_| AtomicU64::new(0)).collect()
}

/// Fields of [`Began`](crate::protocol::Began) that are stored as text. The rows and marks of `Began` are stored as records.
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

/// Stores the length of `text` in bytes, then the bytes. If the text is too long, only its beginning and the length of this beginning are
/// stored. A cut JSON text cannot be parsed.
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
