//! Text of a run and its conversion to tokens, in slices. A user's text may begin with a vocabulary line ([`vocabulary_line`]). In this
//! case, the line's vocabulary encodes the text, and no vocabulary is learned.

use super::knobs::Settings;
use super::protocol::{CorpusView, Preparing, PreparingPart, TokenizerKind};
use crate::room::Setup;
use crate::{RunError, json};
use learn::settings::Choice;
use std::sync::{Arc, OnceLock};
use worlds::words::{Corpus, Doing, Grammar, Reading, SAMPLE_BYTES, Tokenizer, TokenizerSpec, alphabet, token_bytes};

/// Returns the grammar that generates the default text.
pub fn grammar() -> &'static Grammar {
    static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
    GRAMMAR.get_or_init(Grammar::new)
}

/// Approximate number of bytes that a slice processes, in all threads together.
const SLICE: usize = 1 << 20;
/// Length in bytes below which a text counts as short. A short text is read completely before the run begins, so that an error at the end
/// of the text is reported at once.
const SHORT: usize = 1 << 18;
/// Maximum length of an excerpt in characters.
const EXCERPT: usize = 600;

/// A text that is being converted to tokens.
pub struct Preparation {
    /// Name of the user's text; `None` if the grammar generates the text.
    name: Option<String>,
    phase: Phase,
}

enum Phase {
    /// The text of the grammar, which has not been generated yet.
    Unwritten(Box<dyn FnOnce() -> Reading + Send + Sync>),
    Reading(Box<Reading>),
    Done,
}

/// A text that was converted to tokens.
pub struct Prepared {
    pub corpus: Arc<Corpus>,
    pub tokenizer: Tokenizer,
    pub name: String,
    pub own: bool,
}

fn kind(settings: &Settings) -> TokenizerSpec {
    match settings.tokenizer {
        TokenizerKind::Chars => TokenizerSpec::Chars,
        TokenizerKind::Bytes => TokenizerSpec::Bytes,
        TokenizerKind::Bpe => TokenizerSpec::Bpe { vocab: settings.vocab },
    }
}

/// Beginning of a vocabulary line.
const VOCABULARY: &str = "{\"hothouse_vocabulary\":";

/// Encodes a tokenizer as a vocabulary line. `export words` writes this line, and a text may begin with it.
pub fn vocabulary_line(tokenizer: &serde_json::Value) -> String {
    format!("{VOCABULARY}{tokenizer}}}\n")
}

/// Returns true if `line` is exactly one vocabulary line.
pub fn is_vocabulary(line: &[u8]) -> bool {
    matches!(vocabulary(line), Ok(Some((_, length))) if length == line.len() && line.ends_with(b"\n"))
}

/// Parses the vocabulary line at the beginning of a text. Returns the line's tokenizer and the line's length in bytes; `None` if the text
/// has no vocabulary line.
fn vocabulary(text: &[u8]) -> Result<Option<(Tokenizer, usize)>, RunError> {
    if !text.starts_with(VOCABULARY.as_bytes()) {
        return Ok(None);
    }
    let line = text.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let refused = |why: String| {
        let next = "Use an unchanged file from `hothouse export words`";
        RunError::refused(format!("this is no vocabulary: {why}"), next)
    };
    let words = str::from_utf8(line).map_err(|error| refused(error.to_string()))?;
    let json: serde_json::Value = json::read(words).map_err(|error| refused(error.to_string()))?;
    let tokenizer = Tokenizer::from_json(&json["hothouse_vocabulary"].to_string());
    Ok(Some((tokenizer.map_err(|error| refused(error.to_string()))?, line.len())))
}

/// Splits the user's data into vocabulary and text. Returns an error if the vocabulary is not for the kind of tokenizer that the knob
/// `tokenizer` selects.
fn split_vocabulary(settings: &Settings, content: &Arc<Vec<u8>>) -> Result<(Option<Tokenizer>, Arc<Vec<u8>>), RunError> {
    let Some((tokenizer, length)) = vocabulary(content)? else { return Ok((None, content.clone())) };
    let found = kind_of(&tokenizer);
    if found != settings.tokenizer {
        let [found, set] = [found, settings.tokenizer].map(TokenizerKind::id);
        let what = format!("the vocabulary is for the tokenizer {found}, but tokenizer is set to {set}");
        return Err(RunError::refused(what, format!("Set tokenizer to {found}, or leave out the vocabulary")));
    }
    Ok((Some(tokenizer), Arc::new(content[length..].to_vec())))
}

fn kind_of(tokenizer: &Tokenizer) -> TokenizerKind {
    match tokenizer.kind() {
        TokenizerSpec::Chars => TokenizerKind::Chars,
        TokenizerSpec::Bytes => TokenizerKind::Bytes,
        TokenizerSpec::Bpe { .. } => TokenizerKind::Bpe,
    }
}

impl Preparation {
    /// Begins the preparation of the user's text, or of the grammar's text if there is no user data. If a `tokenizer` is given, the text is
    /// encoded with it, and no vocabulary is learned. A text that cannot be used is an error.
    pub fn new(settings: &Settings, setup: Setup, tokenizer: Option<Tokenizer>) -> Result<Preparation, RunError> {
        let (context, kind) = (settings.config.shape.context, kind(settings));
        let begin = move |text, tokenizer: Option<Tokenizer>| match tokenizer {
            Some(tokenizer) => Reading::with(text, tokenizer, context),
            None => Reading::new(text, kind, context),
        };
        let (Some(data), Some(content)) = (setup.data, setup.content()) else {
            let (seed, characters) = (setup.seed, settings.characters);
            let begin = move |text| begin(text, tokenizer);
            let write = move || begin(Arc::new(grammar().text(seed, characters).into_bytes()));
            return Ok(Preparation { name: None, phase: Phase::Unwritten(Box::new(write)) });
        };
        let (vocabulary, text) = split_vocabulary(settings, content)?;
        let begin = |text| begin(text, tokenizer.clone().or_else(|| vocabulary.clone()));
        let mut reading = begin(text.clone());
        let (is_short, mut done) = (text.len() < SHORT, false);
        while !done && (is_short || reading.progress().doing == Doing::Checking) {
            done = reading.advance(SLICE).map_err(RunError::below)?;
        }
        if done {
            // Only `finish` detects a text that is too short, and `finish` consumes `reading`. So the text is read again, which takes
            // little time because the text is short.
            reading.finish().map_err(RunError::below)?;
            reading = begin(text.clone());
        }
        Ok(Preparation { name: Some(data.name.clone()), phase: Phase::Reading(Box::new(reading)) })
    }

    pub fn advance(&mut self) -> Result<Option<Prepared>, RunError> {
        let reading = match &mut self.phase {
            Phase::Reading(reading) => reading,
            phase => {
                if let Phase::Unwritten(write) = std::mem::replace(phase, Phase::Done) {
                    *phase = Phase::Reading(Box::new(write()));
                }
                return Ok(None);
            }
        };
        if !reading.advance(SLICE).map_err(RunError::below)? {
            return Ok(None);
        }
        let Phase::Reading(reading) = std::mem::replace(&mut self.phase, Phase::Done) else {
            return Ok(None);
        };
        let (corpus, tokenizer) = reading.finish().map_err(RunError::below)?;
        let own = self.name.is_some();
        let name = self.name.take().unwrap_or("story grammar".into());
        Ok(Some(Prepared { corpus: Arc::new(corpus), tokenizer, name, own }))
    }

    pub fn finish(mut self) -> Result<Prepared, RunError> {
        loop {
            if let Some(prepared) = self.advance()? {
                return Ok(prepared);
            }
        }
    }

    /// Returns the progress of the preparation. A caller with a clock adds the remaining time.
    pub fn progress(&self) -> Preparing {
        let Phase::Reading(reading) = &self.phase else {
            return Preparing { part: PreparingPart::Text, done: 0.0, left_s: None };
        };
        let progress = reading.progress();
        let part = match progress.doing {
            Doing::Checking => PreparingPart::Text,
            Doing::LearningPairs => PreparingPart::Merges,
            Doing::Encoding => PreparingPart::Tokens,
        };
        Preparing { part, done: progress.share as f32, left_s: None }
    }
}

/// Returns two upper bounds for the text of a run: the number of different tokens, and the size of the tokens and of temporary data in
/// bytes.
pub fn bounds(settings: &Settings, setup: Setup) -> (usize, u64) {
    let length = setup.data.map_or(settings.characters as u64, |data| data.bytes);
    if let Some(Ok(Some((tokenizer, line)))) = setup.content().map(|content| vocabulary(content)) {
        let tokens = length * token_bytes(tokenizer.vocab()) as u64;
        return (tokenizer.vocab().max(2), length + tokens + BPE + 64 * line as u64);
    }
    // The grammar's text and its tokens exist at the same time until the tokens are complete. Byte tokens share the memory of the text.
    let written = if setup.data.is_none() { length } else { 0 };
    match settings.tokenizer {
        TokenizerKind::Bytes => (256, written),
        TokenizerKind::Chars => {
            let (vocab, characters) = match (setup.data, setup.content()) {
                (None, _) => (grammar().alphabet().len(), length),
                (_, Some(text)) => {
                    let (vocab, characters) = alphabet(text);
                    (vocab, characters as u64)
                }
                // The bytes of the text are not loaded, so its characters cannot be counted. Most texts have at most 256 different
                // characters.
                (_, None) => (256, length),
            };
            (vocab.max(2), written + characters * token_bytes(vocab) as u64)
        }
        TokenizerKind::Bpe => {
            // A byte-pair token covers at least two bytes on average, except with a tiny vocabulary. The pairs are learned from a part of
            // the text.
            let learning = BPE + 3 * length.min(SAMPLE_BYTES as u64);
            (settings.vocab, written + learning + length / 2 * token_bytes(settings.vocab) as u64)
        }
    }
}

/// Size in bytes of the cache of byte-pair encoding.
const BPE: u64 = 16 << 20;

impl Prepared {
    pub fn characters_per_token(&self) -> f64 {
        self.corpus.characters() as f64 / self.corpus.len() as f64
    }

    /// Generates new text of the grammar and encodes it with the tokenizer of this text. About `characters` characters of the new text are
    /// for validation.
    pub fn fresh(&self, seed: u32, characters: usize) -> Result<Prepared, RunError> {
        let Prepared { corpus, tokenizer, name, .. } = self;
        let text = grammar().text(seed, 10 * characters);
        let corpus = Corpus::of(text.as_bytes(), tokenizer.clone(), corpus.context()).map_err(RunError::below)?;
        Ok(Prepared { corpus: Arc::new(corpus), tokenizer: tokenizer.clone(), name: name.clone(), own: false })
    }

    pub fn view(&self, floor: Option<f64>) -> CorpusView {
        let Prepared { corpus, tokenizer, name, own } = self;
        let first: Vec<u32> = corpus.tokens(0..corpus.len().min(EXCERPT)).collect();
        CorpusView {
            name: name.clone(),
            own: *own,
            characters: corpus.characters() as f64,
            tokens: corpus.len() as f64,
            training_tokens: corpus.train().len() as f64,
            validation_tokens: corpus.validation().len() as f64,
            tokenizer: kind_of(tokenizer),
            vocabulary: tokenizer.vocab() as u32,
            characters_per_token: self.characters_per_token(),
            entropy: (!own).then(|| grammar().entropy_per_char()),
            floor,
            excerpt: tokenizer.decode(&first).chars().take(EXCERPT).collect(),
        }
    }
}
