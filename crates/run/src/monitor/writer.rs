//! Writer of the monitor.

use super::*;
use crate::RunError;
use crate::checkpoint::numbers;
use crate::history::{Thinning, TimeByPart};
use crate::protocol::{Began, Event, Mark, Value};
use std::sync::atomic::Ordering::Release;
use std::sync::atomic::fence;

/// Maximum number of characters of a text value in a published mark. A longer text is cut.
const LONGEST: usize = 40;

/// Writer of a monitor. When the writer is dropped, the monitor's state becomes [`State::Finished`].
pub struct Writer {
    memory: Box<dyn Memory>,
    plan: Plan,
    /// Number of records written per track.
    heads: [u64; TRACKS],
    /// For each track, the choice of the records that the track's history keeps.
    thinned: [Thinning; TRACKS],
    place: u64,
    generation: u64,
    epoch: u64,
    beats: u64,
    spent: TimeByPart,
}

impl Writer {
    /// Takes `memory` and discards its content. `about` is the shell's description of itself.
    pub fn new(memory: Box<dyn Memory>, schema: &Schema, about: &str) -> Result<Writer, RunError> {
        let (words, plan) = (memory.words(), Plan::of(schema));
        if words.len() != plan.words {
            let why = format!("it has {} words of memory, not {}", words.len(), plan.words);
            return Err(RunError::Monitor { why });
        }
        if about.len() > 8 * TEXT_WORDS {
            return Err(RunError::Monitor { why: format!("the description of the process is too long: {} bytes", about.len()) });
        }
        // The magic number is 0 until the header is complete, so that no reader uses a partial header.
        words[AT_MAGIC].store(0, Relaxed);
        fence(Release);
        words[1..AT_ABOUT].iter().for_each(|word| word.store(0, Relaxed));
        for (track, &ring) in plan.tracks.iter().zip(&plan.rings) {
            let slots = &words[ring..][..track.width() * track.newest];
            slots.iter().step_by(track.width()).for_each(|seq| seq.store(0, Relaxed));
        }
        put_text(&words[AT_ABOUT..], about);
        put_text(&words[AT_RUN..], "");
        words[AT_VERSION].store(VERSION, Relaxed);
        words[AT_LAYOUT].store(plan.hash(), Relaxed);
        for (word, size) in words[AT_SIZES..].iter().zip(plan.sizes()) {
            word.store(size as u64, Relaxed);
        }
        words[AT_PROGRESS..plan.rings[0]].iter().for_each(|word| word.store(0, Relaxed));
        words[AT_MAGIC].store(MAGIC, Release);
        Ok(Writer {
            memory,
            heads: [0; TRACKS],
            thinned: plan.tracks.map(|track| Thinning::new(track.history)),
            plan,
            place: 0,
            generation: 0,
            epoch: 0,
            beats: 0,
            spent: TimeByPart::default(),
        })
    }

    /// Publishes an event. Events about saves are ignored, because the shell handles these events.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Began(began) => self.begin(began),
            Event::Running { running } => {
                let state = if *running { State::Running } else { State::Paused };
                self.memory.words()[AT_STATE].store(state as u64, Relaxed);
            }
            Event::Metrics(row) => {
                self.progress(&row.progress);
                self.spent.add(row);
                self.put_parts();
                self.push(METRICS, &bits(numbers(row)));
            }
            Event::Test(row) => self.push(TESTS, &bits(numbers(row))),
            Event::Mark(mark) => self.mark(mark),
            Event::Solved { .. } => self.put_event(SOLVED, event),
            Event::Standing(_) => self.put_event(STANDINGS, event),
            Event::Digest(_) => self.put_event(DIGESTS, event),
            Event::Notice { .. } | Event::Device(_) | Event::Room { .. } | Event::Confirmation(_) => self.put_event(MESSAGES, event),
            Event::Saved { .. } | Event::NotSaved { .. } => {}
        }
    }

    /// Publishes the heartbeat and the progress. The shell calls this method after every slice.
    pub fn beat(&mut self, progress: &Progress) {
        self.beats += 1;
        self.memory.words()[AT_HEARTBEAT].store(self.beats, Relaxed);
        self.progress(progress);
    }

    /// Returns the position after all published records, from which a reader can continue.
    pub fn cursor(&self) -> Cursor {
        let [metrics, tests, ..] = self.heads;
        Cursor { epoch: self.epoch, metrics, tests }
    }

    /// Publishes a message to other shells. Returns true if the message was published, and false if the message is too long.
    pub fn say(&mut self, text: &str) -> bool {
        self.text(SHELL, text)
    }

    fn progress(&mut self, progress: &Progress) {
        let words = &self.memory.words()[AT_PROGRESS..][..self.plan.progress()];
        for (word, value) in words.iter().zip(progress_numbers(progress)) {
            word.store(value.to_bits(), Relaxed);
        }
    }

    fn put_parts(&self) {
        let words = &self.memory.words()[self.plan.at_parts()..];
        words.iter().zip(&self.spent.parts_s).for_each(|(word, part_s)| word.store(part_s.to_bits(), Relaxed));
    }

    fn begin(&mut self, began: &Began) {
        self.rewrite(true);
        self.epoch += 1;
        let words = self.memory.words();
        words[AT_EPOCH].store(self.epoch, Relaxed);
        words[AT_BEGAN].store(self.place, Relaxed);
        self.place += 1;
        let text = |room| {
            let text = RunText {
                config: began.config.clone(),
                knobs: began.knobs.clone(),
                progress: began.progress.clone(),
                solved: began.solved.clone(),
                attempts: began.attempts,
                room,
            };
            // Plain data with string keys can always be serialized to JSON.
            serde_json::to_string(&text).unwrap_or_default()
        };
        let whole = text(began.room.clone());
        let fits = whole.len() <= 8 * TEXT_WORDS;
        put_text(&words[AT_RUN..], &if fits { whole } else { text(serde_json::Value::Null) });
        for t in 0..MESSAGES {
            self.thinned[t] = Thinning::new(self.plan.tracks[t].history);
            words[track_at(t)].store(self.heads[t], Relaxed);
            words[track_at(t) + 2].store(0, Relaxed);
        }
        began.history.iter().for_each(|row| self.push(METRICS, &bits(numbers(row))));
        began.tests.iter().for_each(|row| self.push(TESTS, &bits(numbers(row))));
        began.marks.iter().for_each(|mark| self.mark(mark));
        self.progress(&began.progress);
        self.spent = TimeByPart::since(&began.progress, self.plan.parts);
        self.put_parts();
        self.rewrite(false);
    }

    /// Publishes a mark. Long text values are cut.
    fn mark(&mut self, mark: &Mark) {
        let short = |value: &Value| match value {
            Value::Text(text) if text.chars().count() > LONGEST => Value::Text(text.chars().take(LONGEST).chain(['…']).collect()),
            other => other.clone(),
        };
        self.put_event(MARKS, &Event::Mark(Mark { from: short(&mark.from), to: short(&mark.to), ..mark.clone() }));
    }

    /// Publishes an event as JSON. An event that is too long is not published.
    fn put_event(&mut self, t: usize, event: &Event) {
        // Plain data with string keys can always be serialized to JSON.
        self.text(t, &serde_json::to_string(event).unwrap_or_default());
    }

    fn text(&mut self, t: usize, text: &str) -> bool {
        let fits = text.len() <= 8 * (self.plan.tracks[t].payload - 1);
        if fits {
            let mut row = vec![text.len() as u64];
            row.extend(text.as_bytes().chunks(8).map(word_from_bytes));
            self.push(t, &row);
        }
        fits
    }

    /// Writes a new record over the oldest record in the ring. Also appends the new record to the history if thinning keeps this record.
    fn push(&mut self, t: usize, payload: &[u64]) {
        let mut is_full = false;
        let is_kept = self.thinned[t].takes(|| is_full = true);
        if is_full {
            self.thin(t);
        }
        let (ordinal, track, words) = (self.heads[t], self.plan.tracks[t], self.memory.words());
        let seq = 2 * ordinal + 1;
        let put = |at: usize| {
            words[at + 1].store(self.place, Relaxed);
            for (word, &value) in words[at + RECORD_HEAD..].iter().zip(payload) {
                word.store(value, Relaxed);
            }
        };
        let slot = self.plan.rings[t] + track.width() * (ordinal % track.newest as u64) as usize;
        words[slot].store(seq, Relaxed);
        fence(Release);
        put(slot);
        words[slot].store(seq + 1, Release);
        if is_kept {
            let kept = self.thinned[t].kept();
            let row = self.plan.histories[t] + track.width() * (kept - 1);
            words[row].store(seq + 1, Relaxed);
            put(row);
            words[track_at(t) + 2].store(kept as u64, Release);
        }
        self.place += 1;
        self.heads[t] += 1;
        words[track_at(t) + 1].store(self.heads[t], Release);
    }

    /// Drops every second record of a full history.
    fn thin(&mut self, t: usize) {
        // While a run begins, the generation is already odd, so this method does not change it.
        let alone = self.generation.is_multiple_of(2);
        if alone {
            self.rewrite(true);
        }
        let words = self.memory.words();
        let (full, width) = (self.plan.tracks[t].history, self.plan.tracks[t].width());
        let rows = &words[self.plan.histories[t]..][..width * full];
        let left = full.div_ceil(2);
        for to in 1..left {
            for i in 0..width {
                rows[to * width + i].store(rows[2 * to * width + i].load(Relaxed), Relaxed);
            }
        }
        words[track_at(t) + 2].store(left as u64, Relaxed);
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
