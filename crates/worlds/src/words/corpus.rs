//! A text as the tokens that a model learns from, and the windows of it that each step sees.

use super::bpe::{BpeTraining, sample};
use super::tokenizer::{Encoded, Kind, Known, Tokenizer, character_start, piece_start};
use super::{TextError, stretches};
use math::{Rng, Shuffle, par};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The seed's stream of random numbers.
const STREAM: u32 = 0x436f_7270;

/// A text's tokens, the last tenth of them held back to validate with. A window is `context` tokens and the one after each.
#[derive(Clone, Debug, PartialEq)]
pub struct Corpus {
    tokens: Tokens,
    /// Of the text.
    characters: usize,
    context: usize,
    /// Tokens that are trained on; the others validate.
    train: usize,
}

/// In as few bytes as the vocabulary allows; those of a text of bytes are the text itself.
#[derive(Clone, Debug, PartialEq)]
struct Tokens {
    bytes: Arc<Vec<u8>>,
    /// Bytes of each: 1, 2 or 4, the lowest first.
    width: usize,
}

impl Tokens {
    /// Appends some; `all` is how many there will be in the end, about.
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

/// Bytes that a token of so many kinds is kept in.
pub fn token_bytes(vocab: usize) -> usize {
    match vocab {
        ..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}

impl Corpus {
    /// A whole text at once: see [`Reading`], which does the same in slices.
    pub fn new(text: &[u8], kind: Kind, context: usize) -> Result<(Corpus, Tokenizer), TextError> {
        Corpus::read(Reading::new(Arc::new(text.to_vec()), kind, context))
    }

    /// A whole text in the tokens of a vocabulary that is there already.
    pub fn of(text: &[u8], tokenizer: Tokenizer, context: usize) -> Result<Corpus, TextError> {
        Ok(Corpus::read(Reading::with(Arc::new(text.to_vec()), tokenizer, context))?.0)
    }

    fn read(mut reading: Reading) -> Result<(Corpus, Tokenizer), TextError> {
        while !reading.advance(1 << 20)? {}
        reading.finish()
    }

    /// Of the text.
    pub fn characters(&self) -> usize {
        self.characters
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tokens of a window.
    pub fn context(&self) -> usize {
        self.context
    }

    /// The tokens that are trained on.
    pub fn train(&self) -> Range<usize> {
        0..self.train
    }

    /// Those that no step sees.
    pub fn validation(&self) -> Range<usize> {
        self.train..self.len()
    }

    pub fn token(&self, at: usize) -> u32 {
        self.tokens.at(at)
    }

    pub fn tokens(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = u32> + '_ {
        range.map(|at| self.tokens.at(at))
    }

    /// The starts of at most so many windows to validate with, spread evenly and the same each time.
    pub fn validation_starts(&self, count: usize) -> Vec<usize> {
        let range = self.validation();
        let windows = (range.len() - 1) / self.context;
        let count = count.clamp(1, windows);
        // Of the tokens that `count` windows leave, as many between each two.
        let spare = range.len() - 1 - count * self.context;
        (0..count).map(|i| range.start + i * self.context + spare * i / count).collect()
    }

    /// The windows that steps of so many see.
    pub fn batches(&self, seed: u32, batch: usize) -> Batches {
        Batches::new(seed, self.train, self.context, batch)
    }
}

/// Which windows each step sees. An epoch passes the training tokens once, cut into windows from a random phase on and in a
/// random order; both are computed, so that a step's windows follow from its number.
#[derive(Clone, Debug)]
pub struct Batches {
    rng: Rng,
    context: usize,
    batch: usize,
    /// Windows of an epoch.
    windows: usize,
    phases: usize,
    /// The epoch that was asked for last, with its phase and order.
    epoch: (u64, usize, Shuffle),
}

impl Batches {
    fn new(seed: u32, tokens: usize, context: usize, batch: usize) -> Batches {
        // As many windows as there are from every phase; of a short text the one, from the phases that hold it.
        let windows = (tokens.saturating_sub(context) / context).max(1);
        let phases = (tokens - windows * context).min(context);
        let rng = Rng::new(seed, STREAM);
        let epoch = Batches::epoch(rng, windows, phases, 0);
        Batches { rng, context, batch, windows, phases, epoch }
    }

    fn epoch(rng: Rng, windows: usize, phases: usize, epoch: u64) -> (u64, usize, Shuffle) {
        // A shuffle's counters have ROUNDS / 2 for their first word.
        let [word, ..] = rng.block([u32::MAX, 0, epoch as u32, (epoch >> 32) as u32]);
        let phase = (u64::from(word) * phases as u64) >> 32;
        (epoch, phase as usize, Shuffle::new(rng, windows, epoch, 0))
    }

    /// Windows of an epoch.
    pub fn windows(&self) -> usize {
        self.windows
    }

    /// Where each window of a step begins.
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

/// A text being read, in slices: it is looked through, byte pairs are learned if they were asked for, and it is cut into tokens. A
/// slice is cut in parts for all threads, by its length alone.
pub struct Reading {
    text: Arc<Vec<u8>>,
    kind: Kind,
    context: usize,
    stage: Stage,
    /// Bytes that this stage is past.
    at: usize,
    /// Bytes of the mark that some programs put before a text.
    mark: usize,
    looked: Looked,
}

enum Stage {
    Check {
        with: Option<Tokenizer>,
    },
    /// From the text, or a sample of it.
    Learn(BpeTraining, Option<Vec<u8>>),
    Encode {
        tokenizer: Tokenizer,
        known: Known,
        parts: Vec<Encoded>,
        tokens: Tokens,
    },
}

/// UTF-8's.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// Parts of a slice.
const PARTS: usize = 16;

/// What stands in a text.
struct Looked {
    /// Whether each character does; of characters beyond ASCII all threads say so in one place.
    seen: Vec<AtomicBool>,
    count: usize,
}

impl Looked {
    fn new() -> Looked {
        Looked { seen: (0..=char::MAX as u32).map(|_| AtomicBool::new(false)).collect(), count: 0 }
    }

    /// Looks at the characters of some parts; what are none are passed over.
    fn look(&mut self, text: &[u8], parts: &[Range<usize>]) {
        let mut counts = vec![0; parts.len()];
        let seen = &self.seen;
        // Most have it already, and then nothing is written, which other threads would have to be told.
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

/// How many kinds of characters a text has, and how many characters; bytes that are none are passed over.
pub fn alphabet(text: &[u8]) -> (usize, usize) {
    let mut looked = Looked::new();
    looked.look(text, &stretches(text, 0..text.len(), 1 << 18, character_start));
    (looked.characters().len(), looked.count)
}

/// How far a reading is, to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub doing: Doing,
    /// From 0 to 1.
    pub share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Checking,
    LearningPairs,
    Encoding,
}

impl Reading {
    /// With a vocabulary made from the text.
    pub fn new(text: Arc<Vec<u8>>, kind: Kind, context: usize) -> Reading {
        let mark = if kind != Kind::Bytes && text.starts_with(MARK) { MARK.len() } else { 0 };
        let stage = Stage::Check { with: None };
        Reading { text, kind, context, stage, at: mark, mark, looked: Looked::new() }
    }

    /// With a vocabulary that is there already.
    pub fn with(text: Arc<Vec<u8>>, tokenizer: Tokenizer, context: usize) -> Reading {
        let kind = tokenizer.kind();
        Reading { stage: Stage::Check { with: Some(tokenizer) }, ..Reading::new(text, kind, context) }
    }

    pub fn progress(&self) -> Progress {
        let read = self.at as f64 / self.text.len().max(1) as f64;
        match &self.stage {
            Stage::Check { .. } => Progress { doing: Doing::Checking, share: read },
            Stage::Learn(training, _) => Progress { doing: Doing::LearningPairs, share: training.share() },
            Stage::Encode { .. } => Progress { doing: Doing::Encoding, share: read },
        }
    }

    /// Goes on for about so many bytes' worth of work, some nanoseconds each. Whether all is done, and [`Reading::finish`] may be
    /// called.
    pub fn advance(&mut self, work: usize) -> Result<bool, TextError> {
        match &mut self.stage {
            Stage::Check { .. } => self.check(work)?,
            Stage::Learn(training, sample) => {
                let text = sample.as_deref().unwrap_or(&self.text[self.mark..]);
                if training.advance(text, work)? {
                    let tokenizer = training.tokenizer();
                    self.encode(tokenizer);
                }
            }
            Stage::Encode { .. } => return Ok(self.encode_on(work)),
        }
        Ok(false)
    }

    /// The parts of the next slice.
    fn slice(&self, work: usize, start: fn(&[u8], usize) -> usize) -> Vec<Range<usize>> {
        // Never less than a few pieces.
        const LEAST: usize = 1024;
        let to = self.at.saturating_add(work.max(LEAST)).min(self.text.len());
        let to = character_start(&self.text, to);
        stretches(&self.text, self.at..to, (work / PARTS).max(LEAST / 4), start)
    }

    /// Looks at the next characters; after the last, goes on to what follows.
    fn check(&mut self, work: usize) -> Result<(), TextError> {
        if self.at == self.text.len() {
            return self.checked();
        }
        let parts = self.slice(work, character_start);
        if self.kind != Kind::Bytes {
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
        self.looked.look(&self.text, &parts);
        self.at = parts.last().map_or(self.at, |part| part.end);
        Ok(())
    }

    fn checked(&mut self) -> Result<(), TextError> {
        let characters = self.looked.characters();
        let text = &self.text[self.mark..];
        match text {
            [] => return Err(TextError::Empty),
            [first, rest @ ..] if self.kind == Kind::Bytes && rest.iter().all(|byte| byte == first) => {
                return Err(TextError::Repeated { character: char::from(*first) });
            }
            _ if self.kind != Kind::Bytes && characters.len() == 1 => {
                return Err(TextError::Repeated { character: characters[0] });
            }
            _ => {}
        }
        self.looked.seen = Vec::new();
        let Stage::Check { with } = &mut self.stage else { unreachable!("it is called at the end of the check") };
        match (with.take(), self.kind) {
            (Some(tokenizer), _) => {
                tokenizer.knows(&characters)?;
                self.encode(tokenizer);
            }
            (None, Kind::Chars) => self.encode(Tokenizer::of_chars(&characters)),
            (None, Kind::Bytes) => self.encode(Tokenizer::bytes()),
            (None, Kind::Bpe { vocab }) => {
                self.stage = Stage::Learn(BpeTraining::new(vocab), sample(text));
            }
        }
        Ok(())
    }

    fn encode(&mut self, tokenizer: Tokenizer) {
        let (tokens, at) = match self.kind {
            Kind::Bytes => (Tokens { bytes: self.text.clone(), width: 1 }, self.text.len()),
            _ => (Tokens { bytes: Arc::default(), width: token_bytes(tokenizer.vocab()) }, self.mark),
        };
        self.at = at;
        self.stage = Stage::Encode { tokenizer, known: Known::default(), parts: Vec::new(), tokens };
    }

    /// The next slice in tokens; whether it was the last.
    fn encode_on(&mut self, work: usize) -> bool {
        let start = if self.kind == Kind::Chars { character_start } else { piece_start };
        let slice = self.slice(work, start);
        let (text, length) = (&*self.text, self.text.len());
        let Stage::Encode { tokenizer, known, parts, tokens } = &mut self.stage else {
            unreachable!("it is called in this stage");
        };
        parts.resize_with(slice.len(), Encoded::default);
        par::each_mut(parts, |i, part| {
            let range = slice[i].clone();
            // The slice, and so its last part, may end within a piece.
            let whole = i + 1 < slice.len() || range.end == length;
            let text = std::str::from_utf8(&text[range]).expect("a text that was looked through");
            part.encode(tokenizer, known, text, whole);
        });
        for part in parts {
            self.at += part.read;
            let by_now = tokens.len() + part.tokens.len();
            // What the rest comes to is like what was read, and a little more.
            let each = 1.02 * by_now as f64 / (self.at - self.mark).max(1) as f64;
            let all = match self.kind {
                Kind::Chars => self.looked.count,
                _ => by_now + (each * (length - self.at) as f64) as usize,
            };
            tokens.extend(&part.tokens, all);
            known.learn(part);
        }
        self.at == length
    }

    /// The tokens, and the vocabulary they are of.
    pub fn finish(self) -> Result<(Corpus, Tokenizer), TextError> {
        let Stage::Encode { tokenizer, tokens, .. } = self.stage else {
            panic!("the text was not read to its end");
        };
        let window = self.context + 1;
        let held = (tokens.len() / 10).max(window);
        if tokens.len() < held + window {
            return Err(TextError::Short { tokens: tokens.len(), needed: 2 * window, context: self.context });
        }
        let train = tokens.len() - held;
        Ok((Corpus { tokens, characters: self.looked.count, context: self.context, train }, tokenizer))
    }
}
