//! A training text as tokens, and the windows of each training step.

use super::bpe::{BpeTraining, sample};
use super::tokenizer::{Encoded, Known, Tokenizer, TokenizerSpec, character_start, piece_start};
use super::{TextError, stretches};
use math::{Rng, Shuffle, par};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Number of the random stream of the windows. The stream is separate from all other random streams of the same seed.
const STREAM: u32 = 0x436f_7270;

/// Tokens of a text. The last tenth of the tokens, but at least one window, is for validation. The other tokens are for training. A window
/// has `context` + 1 tokens. A model reads the first `context` tokens, and predicts the next token after each of these tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Corpus {
    tokens: Tokens,
    /// Number of characters of the text.
    characters: usize,
    context: usize,
    /// Number of training tokens, which come before the validation tokens.
    train: usize,
}

/// Tokens, each stored in the fewest bytes that the vocabulary allows. The tokens of [`TokenizerSpec::Bytes`] share the memory of the text.
#[derive(Clone, Debug, PartialEq)]
struct Tokens {
    bytes: Arc<Vec<u8>>,
    /// Number of bytes that store a token: 1, 2 or 4, little-endian.
    width: usize,
}

impl Tokens {
    /// Appends tokens; `all` is an estimate of the final number of tokens.
    fn extend(&mut self, more: &[u32], all: usize) {
        let bytes = Arc::make_mut(&mut self.bytes);
        let needed = bytes.len() + self.width * more.len();
        if bytes.capacity() < needed {
            bytes.reserve_exact((self.width * all).max(needed) - bytes.len());
        }
        match self.width {
            1 => bytes.extend(more.iter().map(|&token| token as u8)),
            2 => bytes.extend(more.iter().flat_map(|&token| (token as u16).to_le_bytes())),
            _ => bytes.extend(more.iter().flat_map(|&token| token.to_le_bytes())),
        }
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    fn at(&self, place: usize) -> u32 {
        let bytes = &self.bytes[self.width * place..][..self.width];
        match *bytes {
            [byte] => byte.into(),
            [low, high] => u16::from_le_bytes([low, high]).into(),
            _ => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        }
    }
}

/// Returns the number of bytes that store each token of a vocabulary with `vocab` tokens.
pub fn token_bytes(vocab: usize) -> usize {
    match vocab {
        ..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}

impl Corpus {
    /// Converts a whole text to tokens at once. [`Reading`] does the same in slices.
    pub fn new(text: &[u8], kind: TokenizerSpec, context: usize) -> Result<(Corpus, Tokenizer), TextError> {
        Corpus::read(Reading::new(Arc::new(text.to_vec()), kind, context))
    }

    /// Converts a whole text to tokens at once, with an existing tokenizer.
    pub fn of(text: &[u8], tokenizer: Tokenizer, context: usize) -> Result<Corpus, TextError> {
        Ok(Corpus::read(Reading::with(Arc::new(text.to_vec()), tokenizer, context))?.0)
    }

    fn read(mut reading: Reading) -> Result<(Corpus, Tokenizer), TextError> {
        while !reading.advance(1 << 20)? {}
        reading.finish()
    }

    /// Returns the number of characters of the text.
    pub fn characters(&self) -> usize {
        self.characters
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of tokens that a model reads in a window.
    pub fn context(&self) -> usize {
        self.context
    }

    /// Returns the indices of the training tokens.
    pub fn train(&self) -> Range<usize> {
        0..self.train
    }

    /// Returns the indices of the validation tokens.
    pub fn validation(&self) -> Range<usize> {
        self.train..self.len()
    }

    pub fn token(&self, at: usize) -> u32 {
        self.tokens.at(at)
    }

    pub fn tokens(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = u32> + '_ {
        range.map(|at| self.tokens.at(at))
    }

    /// Returns the start positions of validation windows: at most `count`, but at least one. The windows are evenly spaced and the same in
    /// every call.
    pub fn validation_starts(&self, count: usize) -> Vec<usize> {
        let range = self.validation();
        let windows = (range.len() - 1) / self.context;
        let count = count.clamp(1, windows);
        // Tokens outside of the windows are distributed evenly between the windows.
        let spare = range.len() - 1 - count * self.context;
        (0..count).map(|i| range.start + i * self.context + spare * i / count).collect()
    }

    /// Returns the training windows of each step, `batch` windows per step.
    pub fn batches(&self, seed: u32, batch: usize) -> Batches {
        Batches::new(seed, self.train, self.context, batch)
    }
}

/// Training windows of each step. An epoch divides the training tokens into windows and uses each window once, in random order. The first
/// window begins at a random token. The index of this token is called the phase. Phase and order are computed from the seed and the epoch's
/// number, so the windows of a step are a function of the seed and the step's number.
#[derive(Clone, Debug)]
pub struct Batches {
    rng: Rng,
    context: usize,
    batch: usize,
    /// Number of windows in an epoch.
    windows: usize,
    phases: usize,
    /// Number, phase and order of the epoch that was used last.
    epoch: (u64, usize, Shuffle),
}

impl Batches {
    fn new(seed: u32, tokens: usize, context: usize, batch: usize) -> Batches {
        // This number of windows fits at every phase. A short text has a single window and fewer phases.
        let windows = (tokens.saturating_sub(context) / context).max(1);
        let phases = (tokens - windows * context).min(context);
        let rng = Rng::new(seed, STREAM);
        let epoch = Batches::epoch(rng, windows, phases, 0);
        Batches { rng, context, batch, windows, phases, epoch }
    }

    fn epoch(rng: Rng, windows: usize, phases: usize, epoch: u64) -> (u64, usize, Shuffle) {
        // `Shuffle` uses the same random stream. The first word of its counters is below ROUNDS / 2, so `Shuffle` never uses a counter that
        // begins with u32::MAX.
        let [word, ..] = rng.block([u32::MAX, 0, epoch as u32, (epoch >> 32) as u32]);
        let phase = (u64::from(word) * phases as u64) >> 32;
        (epoch, phase as usize, Shuffle::new(rng, windows, epoch, 0))
    }

    /// Returns the number of windows in an epoch.
    pub fn windows(&self) -> usize {
        self.windows
    }

    /// Returns the start positions of the windows of a step.
    pub fn starts(&mut self, step: u64) -> impl ExactSizeIterator<Item = usize> + '_ {
        (0..self.batch).map(move |i| {
            let place = step * self.batch as u64 + i as u64;
            let epoch = place / self.windows as u64;
            if epoch != self.epoch.0 {
                self.epoch = Batches::epoch(self.rng, self.windows, self.phases, epoch);
            }
            let (_, phase, order) = &self.epoch;
            phase + self.context * order.at((place % self.windows as u64) as u32) as usize
        })
    }
}

/// Conversion of a text to tokens, in slices. The conversion has three phases: it checks the text, learns byte pairs if the tokenizer needs
/// them, and encodes the text. A slice is divided into parts, which all threads process. The division does not depend on the number of
/// threads.
pub struct Reading {
    text: Arc<Vec<u8>>,
    kind: TokenizerSpec,
    context: usize,
    phase: Phase,
    /// Number of bytes at the start of the text that the current phase has processed: checked in the first phase, encoded in the last
    /// phase. The byte order mark is included.
    at: usize,
    /// Number of bytes of the byte order mark at the start of the text. 0 without a mark, or if tokens are bytes.
    mark: usize,
    scanned: CharacterSet,
}

enum Phase {
    Check {
        with: Option<Tokenizer>,
    },
    /// Learns byte pairs from the sample, or from the whole text if the sample is `None`.
    Learn(BpeTraining, Option<Vec<u8>>),
    Encode {
        tokenizer: Tokenizer,
        known: Known,
        parts: Vec<Encoded>,
        tokens: Tokens,
    },
}

/// Byte order mark in UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// Approximate number of parts into which a slice is divided.
const PARTS: usize = 16;

/// Characters that occur in a text.
struct CharacterSet {
    /// One flag for each character. The flag is true if the character occurs in the text. All threads share these flags.
    seen: Vec<AtomicBool>,
    /// Number of characters in the text, including repeated characters.
    count: usize,
}

impl CharacterSet {
    fn new() -> CharacterSet {
        CharacterSet { seen: (0..=char::MAX as u32).map(|_| AtomicBool::new(false)).collect(), count: 0 }
    }

    /// Adds the characters of the parts `parts` of the text. Invalid bytes are skipped.
    fn scan(&mut self, text: &[u8], parts: &[Range<usize>]) {
        let mut counts = vec![0; parts.len()];
        let seen = &self.seen;
        // Most characters are known already. Threads do not write the flags of known characters again, so that the cache lines stay shared
        // between threads.
        let see = |c: usize| {
            if !seen[c].load(Relaxed) {
                seen[c].store(true, Relaxed);
            }
        };
        par::each_mut(&mut counts, |i, count| {
            let part = &text[parts[i].clone()];
            let mut ascii = [false; 128];
            if part.is_ascii() {
                part.iter().for_each(|&byte| ascii[usize::from(byte & 127)] = true);
                *count = part.len();
            } else {
                for c in part.utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
                    match ascii.get_mut(c as usize) {
                        Some(seen) => *seen = true,
                        None => see(c as usize),
                    }
                    *count += 1;
                }
            }
            (0..128).filter(|&c| ascii[c]).for_each(see);
        });
        self.count += counts.iter().sum::<usize>();
    }

    fn characters(&self) -> Vec<char> {
        let seen = self.seen.iter().zip(0..).filter(|(seen, _)| seen.load(Relaxed));
        seen.filter_map(|(_, c)| char::from_u32(c)).collect()
    }
}

/// Returns the number of distinct characters of a text, and the number of all characters. Invalid bytes are skipped.
pub fn alphabet(text: &[u8]) -> (usize, usize) {
    let mut scanned = CharacterSet::new();
    scanned.scan(text, &stretches(text, 0..text.len(), 1 << 18, character_start));
    (scanned.characters().len(), scanned.count)
}

/// Progress of a [`Reading`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub doing: Doing,
    /// Share of the current phase that is done, from 0 to 1.
    pub share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Checking,
    LearningPairs,
    Encoding,
}

impl Reading {
    /// Creates a conversion that derives its vocabulary from the text.
    pub fn new(text: Arc<Vec<u8>>, kind: TokenizerSpec, context: usize) -> Reading {
        let mark = if kind != TokenizerSpec::Bytes && text.starts_with(MARK) { MARK.len() } else { 0 };
        let phase = Phase::Check { with: None };
        Reading { text, kind, context, phase, at: mark, mark, scanned: CharacterSet::new() }
    }

    /// Creates a conversion with an existing tokenizer.
    pub fn with(text: Arc<Vec<u8>>, tokenizer: Tokenizer, context: usize) -> Reading {
        let kind = tokenizer.kind();
        Reading { phase: Phase::Check { with: Some(tokenizer) }, ..Reading::new(text, kind, context) }
    }

    pub fn progress(&self) -> Progress {
        let read = self.at as f64 / self.text.len().max(1) as f64;
        match &self.phase {
            Phase::Check { .. } => Progress { doing: Doing::Checking, share: read },
            Phase::Learn(training, _) => Progress { doing: Doing::LearningPairs, share: training.share() },
            Phase::Encode { .. } => Progress { doing: Doing::Encoding, share: read },
        }
    }

    /// Continues for about `work` units of some nanoseconds each. Returns true when the whole text is converted; the caller can then call
    /// [`Reading::finish`].
    pub fn advance(&mut self, work: usize) -> Result<bool, TextError> {
        match &mut self.phase {
            Phase::Check { .. } => self.check(work)?,
            Phase::Learn(training, sample) => {
                let text = sample.as_deref().unwrap_or(&self.text[self.mark..]);
                if training.advance(text, work)? {
                    let tokenizer = training.tokenizer();
                    self.encode(tokenizer);
                }
            }
            Phase::Encode { .. } => return Ok(self.encode_on(work)),
        }
        Ok(false)
    }

    /// Returns the ranges of the parts of the next slice. `start` returns a position at which a part may begin, as in [`stretches`].
    fn slice(&self, work: usize, start: fn(&[u8], usize) -> usize) -> Vec<Range<usize>> {
        // A slice contains at least a few pieces.
        const LEAST: usize = 1024;
        let to = self.at.saturating_add(work.max(LEAST)).min(self.text.len());
        let to = character_start(&self.text, to);
        stretches(&self.text, self.at..to, (work / PARTS).max(LEAST / 4), start)
    }

    /// Checks the next slice. At the end of the text, starts the next phase.
    fn check(&mut self, work: usize) -> Result<(), TextError> {
        if self.at == self.text.len() {
            return self.checked();
        }
        let parts = self.slice(work, character_start);
        if self.kind != TokenizerSpec::Bytes {
            let mut wrong = vec![None; parts.len()];
            par::each_mut(&mut wrong, |i, wrong| {
                let part = &self.text[parts[i].clone()];
                let at = parts[i].start;
                *wrong = match std::str::from_utf8(part) {
                    Err(error) => Some(TextError::Utf8 { at: at + error.valid_up_to() }),
                    Ok(_) => part.iter().position(|&byte| byte == 0).map(|zero| TextError::Binary { at: at + zero }),
                };
            });
            wrong.into_iter().flatten().next().map_or(Ok(()), Err)?;
        }
        self.scanned.scan(&self.text, &parts);
        self.at = parts.last().map_or(self.at, |part| part.end);
        Ok(())
    }

    fn checked(&mut self) -> Result<(), TextError> {
        let characters = self.scanned.characters();
        let text = &self.text[self.mark..];
        match text {
            [] => return Err(TextError::Empty),
            [first, rest @ ..] if self.kind == TokenizerSpec::Bytes && rest.iter().all(|byte| byte == first) => {
                return Err(TextError::Repeated { character: char::from(*first) });
            }
            _ if self.kind != TokenizerSpec::Bytes && characters.len() == 1 => {
                return Err(TextError::Repeated { character: characters[0] });
            }
            _ => {}
        }
        self.scanned.seen = Vec::new();
        let Phase::Check { with } = &mut self.phase else { unreachable!("called at the end of the check only") };
        match (with.take(), self.kind) {
            (Some(tokenizer), _) => {
                tokenizer.knows(&characters)?;
                self.encode(tokenizer);
            }
            (None, TokenizerSpec::Chars) => self.encode(Tokenizer::of_chars(&characters)),
            (None, TokenizerSpec::Bytes) => self.encode(Tokenizer::bytes()),
            (None, TokenizerSpec::Bpe { vocab }) => {
                self.phase = Phase::Learn(BpeTraining::new(vocab), sample(text));
            }
        }
        Ok(())
    }

    fn encode(&mut self, tokenizer: Tokenizer) {
        let (tokens, at) = match self.kind {
            TokenizerSpec::Bytes => (Tokens { bytes: self.text.clone(), width: 1 }, self.text.len()),
            _ => (Tokens { bytes: Arc::default(), width: token_bytes(tokenizer.vocab()) }, self.mark),
        };
        self.at = at;
        self.phase = Phase::Encode { tokenizer, known: Known::default(), parts: Vec::new(), tokens };
    }

    /// Encodes the next slice. Returns true if the whole text is encoded.
    fn encode_on(&mut self, work: usize) -> bool {
        let start = if self.kind == TokenizerSpec::Chars { character_start } else { piece_start };
        let slice = self.slice(work, start);
        let (text, length) = (&*self.text, self.text.len());
        let Phase::Encode { tokenizer, known, parts, tokens } = &mut self.phase else {
            unreachable!("called in this phase only");
        };
        parts.resize_with(slice.len(), Encoded::default);
        par::each_mut(parts, |i, part| {
            let range = slice[i].clone();
            // Only the last part of a slice can end within a piece, unless the text ends there.
            let whole = i + 1 < slice.len() || range.end == length;
            let text = std::str::from_utf8(&text[range]).expect("the text was checked");
            part.encode(tokenizer, known, text, whole);
        });
        for part in parts {
            self.at += part.read;
            let by_now = tokens.len() + part.tokens.len();
            // The final number of tokens is estimated from the number of tokens per byte so far, plus 2%.
            let each = 1.02 * by_now as f64 / (self.at - self.mark).max(1) as f64;
            let all = match self.kind {
                TokenizerSpec::Chars => self.scanned.count,
                _ => by_now + (each * (length - self.at) as f64) as usize,
            };
            tokens.extend(&part.tokens, all);
            known.learn(part);
        }
        self.at == length
    }

    /// Returns the tokens and their tokenizer. Returns an error if the text is too short. The caller must wait until [`Reading::advance`]
    /// has returned true; the function panics if the encoding has not begun.
    pub fn finish(self) -> Result<(Corpus, Tokenizer), TextError> {
        let Phase::Encode { tokenizer, tokens, .. } = self.phase else {
            panic!("the text is not fully read");
        };
        let window = self.context + 1;
        let held = (tokens.len() / 10).max(window);
        if tokens.len() < held + window {
            return Err(TextError::Short { tokens: tokens.len(), needed: 2 * window, context: self.context });
        }
        let train = tokens.len() - held;
        Ok((Corpus { tokens, characters: self.scanned.count, context: self.context, train }, tokenizer))
    }
}
