//! The writing half of the monitor.

use super::*;
use crate::RunError;
use crate::checkpoint::numbers;
use crate::protocol::{Began, Event, Mark, Row, Value};
use std::sync::atomic::Ordering::Release;
use std::sync::atomic::fence;

/// Letters of a text that a mark has.
const LONGEST: usize = 40;

/// The writing half. Dropping it tells readers that the run is finished.
pub struct Writer {
    memory: Box<dyn Memory>,
    plan: Plan,
    /// Records written of each track, and in its history; and of how many one is kept there.
    heads: [u64; TRACKS],
    firsts: [u64; TRACKS],
    kept: [usize; TRACKS],
    strides: [u64; TRACKS],
    told: u64,
    generation: u64,
    epoch: u64,
    beats: u64,
    parts_s: Vec<f64>,
    /// The training time that they reach to.
    known_s: f64,
}

impl Writer {
    /// Takes `memory` over, whatever was in it. `about` is what the shell tells of itself.
    pub fn new(memory: Box<dyn Memory>, schema: &Schema, about: &str) -> Result<Writer, RunError> {
        let (words, plan) = (memory.words(), Plan::of(schema));
        if words.len() != plan.words {
            let why = format!("{} words of memory, not {}", words.len(), plan.words);
            return Err(RunError::Monitor { why });
        }
        if about.len() > 8 * TEXT_WORDS {
            return Err(RunError::Monitor { why: format!("{} bytes about the machine", about.len()) });
        }
        // Readers of what was here before are shown nothing until all is in place.
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
            plan,
            heads: [0; TRACKS],
            firsts: [0; TRACKS],
            kept: [0; TRACKS],
            strides: [1; TRACKS],
            told: 0,
            generation: 0,
            epoch: 0,
            beats: 0,
            parts_s: vec![0.0; plan.parts],
            known_s: 0.0,
        })
    }

    /// Tells readers what happened. Saves are the shell's business and are left aside.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Began(began) => self.begin(began),
            Event::Running { running } => {
                let state = if *running { State::Running } else { State::Paused };
                self.memory.words()[AT_STATE].store(state as u64, Relaxed);
            }
            Event::Metrics(row) => {
                self.progress(&row.progress);
                self.spend(row);
                self.push(METRICS, &bits(numbers(row)));
            }
            Event::Mark(mark) => self.mark(mark),
            Event::Test(row) => self.push(TESTS, &bits(numbers(row))),
            Event::Solved { progress, goal } => {
                self.push(SOLVED, &bits(progress_numbers(progress).chain([*goal])));
            }
            Event::Digest(digest) => {
                let weights = u64::from_str_radix(&digest.weights, 16).unwrap_or_default();
                let arithmetic = ARITHMETICS.iter().position(|&a| a == digest.arithmetic).unwrap_or_default();
                self.push(DIGESTS, &[u64::from(digest.iteration), weights, arithmetic as u64]);
            }
            Event::Notice { .. } | Event::Device(_) | Event::Room { .. } | Event::Confirmation(_) => {
                // Plain data with string keys: there is nothing in it that JSON cannot hold.
                let text = serde_json::to_string(event).unwrap_or_default();
                self.message(MESSAGE_EVENT, &text);
            }
            Event::Saved { .. } | Event::NotSaved { .. } => {}
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
        let [metrics, tests, ..] = self.heads;
        Cursor { epoch: self.epoch, metrics, tests }
    }

    /// Leaves words for other shells. False where they are too long to be left.
    pub fn say(&mut self, text: &str) -> bool {
        self.message(MESSAGE_SHELL, text)
    }

    fn progress(&mut self, progress: &Progress) {
        let words = &self.memory.words()[AT_PROGRESS..][..self.plan.progress()];
        for (word, value) in words.iter().zip(progress_numbers(progress)) {
            word.store(value.to_bits(), Relaxed);
        }
    }

    /// The time since the last metrics went to the parts as this iteration's did.
    fn spend(&mut self, row: &Row) {
        let passed_s = row.progress.train_s - self.known_s;
        self.known_s = row.progress.train_s;
        let words = &self.memory.words()[self.plan.at_parts()..];
        let shares = &row.values[row.values.len().saturating_sub(self.plan.parts)..];
        for ((part_s, share), word) in self.parts_s.iter_mut().zip(shares).zip(words) {
            *part_s += share.unwrap_or(0.0) * passed_s;
            word.store(part_s.to_bits(), Relaxed);
        }
    }

    fn begin(&mut self, began: &Began) {
        self.rewrite(true);
        self.epoch += 1;
        let words = self.memory.words();
        words[AT_EPOCH].store(self.epoch, Relaxed);
        words[AT_BEGAN].store(self.told, Relaxed);
        self.told += 1;
        let text = |room| {
            let text = RunText {
                config: began.config.clone(),
                knobs: began.knobs.clone(),
                progress: began.progress.clone(),
                solved: began.solved.clone(),
                attempts: began.attempts,
                room,
            };
            // Plain data with string keys: there is nothing in it that JSON cannot hold.
            serde_json::to_string(&text).unwrap_or_default()
        };
        let whole = text(began.room.clone());
        let fits = whole.len() <= 8 * TEXT_WORDS;
        put_text(&words[AT_RUN..], &if fits { whole } else { text(serde_json::Value::Null) });
        for t in 0..MESSAGES {
            self.firsts[t] = self.heads[t];
            self.kept[t] = 0;
            self.strides[t] = 1;
            words[track_at(t)].store(self.firsts[t], Relaxed);
            words[track_at(t) + 2].store(0, Relaxed);
        }
        began.history.iter().for_each(|row| self.push(METRICS, &bits(numbers(row))));
        began.tests.iter().for_each(|row| self.push(TESTS, &bits(numbers(row))));
        began.marks.iter().for_each(|mark| self.mark(mark));
        self.progress(&began.progress);
        self.parts_s.fill(0.0);
        self.known_s = began.progress.train_s;
        let words = self.memory.words();
        words[self.plan.at_parts()..][..self.plan.parts].iter().for_each(|word| word.store(0, Relaxed));
        self.rewrite(false);
    }

    /// With the beginning of long texts.
    fn mark(&mut self, mark: &Mark) {
        let short = |value: &Value| match value {
            Value::Text(text) if text.chars().count() > LONGEST => Value::Text(text.chars().take(LONGEST).chain(['…']).collect()),
            other => other.clone(),
        };
        let mark = Mark { from: short(&mark.from), to: short(&mark.to), ..mark.clone() };
        let text = serde_json::to_string(&mark).unwrap_or_default();
        if text.len() <= 8 * MARK_WORDS {
            let mut row = vec![text.len() as u64];
            row.extend(text.as_bytes().chunks(8).map(word_from_bytes));
            self.push(MARKS, &row);
        }
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
        let track = self.plan.tracks[t];
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
        let slot = self.plan.rings[t] + track.width() * (ordinal % track.newest as u64) as usize;
        words[slot].store(seq, Relaxed);
        fence(Release);
        put(slot);
        words[slot].store(seq + 1, Release);
        if track.history > 0 && turn.is_multiple_of(self.strides[t]) {
            let row = self.plan.histories[t] + track.width() * self.kept[t];
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
        let width = self.plan.tracks[t].width();
        let rows = &words[self.plan.histories[t]..][..width * self.plan.tracks[t].history];
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
