//! A text as the tokens that a model learns from, and the windows of it that each step sees.

use super::bpe::BpeTraining;
use super::tokenizer::{Encoder, Kind, Tokenizer};
use super::{TextError, part};
use math::{Rng, Shuffle};
use std::ops::Range;

/// The seed's stream of random numbers.
const STREAM: u32 = 0x436f_7270;

/// A text's tokens, the last tenth of them held back to validate with. A window is `context` tokens and the one after each.
#[derive(Clone, Debug, PartialEq)]
pub struct Corpus {
    tokens: Tokens,
    context: usize,
    /// Tokens that are trained on, and from where on they validate.
    train: usize,
    held: usize,
}

/// In as few bytes as the vocabulary allows.
#[derive(Clone, Debug, PartialEq)]
enum Tokens {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Tokens {
    fn new(vocab: usize, room: usize) -> Tokens {
        if vocab <= 1 << 16 {
            Tokens::Narrow(Vec::with_capacity(room))
        } else {
            Tokens::Wide(Vec::with_capacity(room))
        }
    }

    fn push(&mut self, token: u32) {
        match self {
            Tokens::Narrow(tokens) => tokens.push(token as u16),
            Tokens::Wide(tokens) => tokens.push(token),
        }
    }

    fn len(&self) -> usize {
        match self {
            Tokens::Narrow(tokens) => tokens.len(),
            Tokens::Wide(tokens) => tokens.len(),
        }
    }

    fn at(&self, place: usize) -> u32 {
        match self {
            Tokens::Narrow(tokens) => tokens[place].into(),
            Tokens::Wide(tokens) => tokens[place],
        }
    }
}

impl Corpus {
    /// A whole text at once: see [`Reading`], which does the same in slices.
    pub fn new(text: &[u8], kind: Kind, context: usize) -> Result<(Corpus, Tokenizer), TextError> {
        Corpus::read(Reading::new(kind, context), text)
    }

    /// A whole text in the tokens of a vocabulary that is there already.
    pub fn of(text: &[u8], tokenizer: Tokenizer, context: usize) -> Result<Corpus, TextError> {
        Ok(Corpus::read(Reading::with(tokenizer, context), text)?.0)
    }

    fn read(mut reading: Reading, text: &[u8]) -> Result<(Corpus, Tokenizer), TextError> {
        while !reading.advance(text, usize::MAX)? {}
        reading.finish()
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

    /// Trains on the first so many tokens alone.
    pub fn shorten(&mut self, tokens: usize) {
        self.train = self.train.min(tokens.max(self.context + 1));
    }

    /// The tokens that are trained on.
    pub fn train(&self) -> Range<usize> {
        0..self.train
    }

    /// Those that no step sees.
    pub fn validation(&self) -> Range<usize> {
        self.held..self.len()
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

/// A text being read, in slices: it is looked through, byte pairs are learned if they were asked for, and it is cut into tokens.
pub struct Reading {
    kind: Kind,
    context: usize,
    stage: Stage,
    /// Bytes that this stage is past.
    at: usize,
    length: usize,
    /// Bytes of the mark that some programs put before a text.
    mark: usize,
    /// Whether each character, or byte, stands in the text.
    seen: Vec<bool>,
    /// Characters of the text.
    characters: usize,
}

enum Stage {
    Check { with: Option<Tokenizer> },
    Learn(BpeTraining),
    Encode { tokenizer: Tokenizer, encoder: Encoder, tokens: Tokens },
}

/// UTF-8's.
const MARK: &[u8] = b"\xEF\xBB\xBF";

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
    pub fn new(kind: Kind, context: usize) -> Reading {
        let seen = vec![false; if kind == Kind::Bytes { 256 } else { char::MAX as usize + 1 }];
        Reading {
            kind,
            context,
            stage: Stage::Check { with: None },
            at: 0,
            length: 0,
            mark: 0,
            seen,
            characters: 0,
        }
    }

    /// With a vocabulary that is there already.
    pub fn with(tokenizer: Tokenizer, context: usize) -> Reading {
        let kind = tokenizer.kind();
        Reading { stage: Stage::Check { with: Some(tokenizer) }, ..Reading::new(kind, context) }
    }

    pub fn progress(&self) -> Progress {
        let read = self.at as f64 / self.length.max(1) as f64;
        match &self.stage {
            Stage::Check { .. } => Progress { doing: Doing::Checking, share: read },
            Stage::Learn(training) => {
                let (done, wanted) = training.progress();
                Progress { doing: Doing::LearningPairs, share: done as f64 / wanted.max(1) as f64 }
            }
            Stage::Encode { .. } => Progress { doing: Doing::Encoding, share: read },
        }
    }

    /// Goes on for about so many bytes' worth of work, some nanoseconds each; `text` is the same each time. Whether all is
    /// done, and [`Reading::finish`] may be called.
    pub fn advance(&mut self, text: &[u8], work: usize) -> Result<bool, TextError> {
        self.length = text.len();
        match &mut self.stage {
            Stage::Check { .. } => self.check(text, work)?,
            Stage::Learn(training) => {
                if training.advance(&text[self.mark..], work)? {
                    let tokenizer = training.tokenizer();
                    self.encode(tokenizer);
                }
            }
            Stage::Encode { tokenizer, encoder, tokens } => {
                let put = |token| tokens.push(token);
                self.at += if self.kind == Kind::Bytes {
                    let part = &text[self.at..text.len().min(self.at.saturating_add(work))];
                    part.iter().map(|&byte| byte.into()).for_each(put);
                    part.len()
                } else {
                    let (part, last) = part(text, self.at, work)?;
                    encoder.encode(tokenizer, part, last, put)
                };
                return Ok(self.at == text.len());
            }
        }
        Ok(false)
    }

    /// Looks at the next characters; after the last, goes on to what follows.
    fn check(&mut self, text: &[u8], work: usize) -> Result<(), TextError> {
        let bytes = self.kind == Kind::Bytes;
        if self.at == 0 && !bytes {
            self.mark = if text.starts_with(MARK) { MARK.len() } else { 0 };
            self.at = self.mark;
        }
        if self.at == text.len() {
            return self.checked();
        }
        if bytes {
            let part = &text[self.at..text.len().min(self.at.saturating_add(work))];
            part.iter().for_each(|&byte| self.seen[usize::from(byte)] = true);
            self.at += part.len();
            return Ok(());
        }
        let (part, _) = part(text, self.at, work)?;
        for c in part.chars() {
            self.seen[c as usize] = true;
            self.characters += 1;
        }
        if self.seen[0] {
            let zero = part.bytes().position(|byte| byte == 0).unwrap_or(0);
            return Err(TextError::Binary { at: self.at + zero });
        }
        self.at += part.len();
        Ok(())
    }

    fn checked(&mut self) -> Result<(), TextError> {
        let characters: Vec<char> = (0..self.seen.len() as u32)
            .filter(|&c| self.seen[c as usize])
            .filter_map(char::from_u32)
            .collect();
        match characters[..] {
            [] => return Err(TextError::Empty),
            [character] => return Err(TextError::Repeated { character }),
            _ => {}
        }
        self.seen = Vec::new();
        let Stage::Check { with } = &mut self.stage else { unreachable!() };
        match (with.take(), self.kind) {
            (Some(tokenizer), _) => self.encode(tokenizer),
            (None, Kind::Chars) => self.encode(Tokenizer::of_chars(&characters)),
            (None, Kind::Bytes) => self.encode(Tokenizer::bytes()),
            (None, Kind::Bpe { vocab }) => self.stage = Stage::Learn(BpeTraining::new(vocab)),
        }
        Ok(())
    }

    fn encode(&mut self, tokenizer: Tokenizer) {
        let room = match self.kind {
            Kind::Bytes => self.length,
            Kind::Chars => self.characters,
            // About what pairs come to.
            Kind::Bpe { .. } => self.length / 4,
        };
        let tokens = Tokens::new(tokenizer.vocab(), room);
        self.at = self.mark;
        self.stage = Stage::Encode { tokenizer, encoder: Encoder::default(), tokens };
    }

    /// The tokens, and the vocabulary they are of.
    pub fn finish(self) -> Result<(Corpus, Tokenizer), TextError> {
        let Stage::Encode { tokenizer, encoder, tokens } = self.stage else {
            panic!("the text was not read to its end");
        };
        encoder.finish()?;
        let window = self.context + 1;
        let held = (tokens.len() / 10).max(window);
        if tokens.len() < held + window {
            return Err(TextError::Short { tokens: tokens.len(), needed: 2 * window, context: self.context });
        }
        let train = tokens.len() - held;
        Ok((Corpus { tokens, context: self.context, train, held: train }, tokenizer))
    }
}
