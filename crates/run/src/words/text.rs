//! The text of a run: what it is, and how it becomes tokens, in slices. A text that was brought may begin with a line that is a
//! vocabulary ([`vocabulary_line`]): then it is read in those tokens, and none are learned from it.

use super::knobs::Settings;
use super::protocol::{CorpusView, Preparing, PreparingPart, TokenizerKind};
use crate::RunError;
use crate::room::Setup;
use learn::settings::Choice;
use std::sync::{Arc, OnceLock};
use worlds::words::{Corpus, Doing, Grammar, Kind, LEARNED_FROM, Reading, Tokenizer, alphabet, token_bytes};

/// The source of the default text.
pub fn grammar() -> &'static Grammar {
    static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
    GRAMMAR.get_or_init(Grammar::new)
}

/// Bytes that are looked through in a slice, about, on all threads.
const SLICE: usize = 1 << 20;
/// A text is prepared at once that is shorter: whether it can be used is known only in the end.
const SHORT: usize = 1 << 18;
/// Characters of an excerpt.
const EXCERPT: usize = 600;

/// A text on its way to tokens.
pub struct Preparation {
    /// Of one that was brought.
    name: Option<String>,
    stage: Stage,
}

enum Stage {
    /// Of the grammar, to be written.
    Unwritten(Box<dyn FnOnce() -> Reading + Send + Sync>),
    Reading(Box<Reading>),
    Done,
}

/// A text in tokens.
pub struct Prepared {
    pub corpus: Arc<Corpus>,
    pub tokenizer: Tokenizer,
    pub name: String,
    pub own: bool,
}

fn kind(settings: &Settings) -> Kind {
    match settings.tokenizer {
        TokenizerKind::Chars => Kind::Chars,
        TokenizerKind::Bytes => Kind::Bytes,
        TokenizerKind::Bpe => Kind::Bpe { vocab: settings.vocab },
    }
}

/// How such a line begins.
const VOCABULARY: &str = "{\"hothouse_vocabulary\":";

/// A tokenizer as a line of its own: what `export words` writes, and what stands before a text that is read with it.
pub fn vocabulary_line(tokenizer: &serde_json::Value) -> String {
    format!("{VOCABULARY}{tokenizer}}}\n")
}

/// Whether that is such a line and nothing else.
pub fn is_vocabulary(line: &[u8]) -> bool {
    matches!(vocabulary(line), Ok(Some((_, length))) if length == line.len() && line.ends_with(b"\n"))
}

/// The vocabulary that a text begins with, where it does, and how long that line is.
fn vocabulary(text: &[u8]) -> Result<Option<(Tokenizer, usize)>, RunError> {
    if !text.starts_with(VOCABULARY.as_bytes()) {
        return Ok(None);
    }
    let line = text.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let refused = |why: String| {
        let next = "Name a file that `hothouse export words` wrote, as it is";
        RunError::refused(format!("this is no vocabulary: {why}"), next)
    };
    let json: serde_json::Value = serde_json::from_slice(line).map_err(|error| refused(error.to_string()))?;
    let tokenizer = Tokenizer::from_json(&json["hothouse_vocabulary"].to_string());
    Ok(Some((tokenizer.map_err(|error| refused(error.to_string()))?, line.len())))
}

/// The same of what was brought, with the text behind it: refused where the tokens are of another kind than the settings say.
fn brought(settings: &Settings, content: &Arc<Vec<u8>>) -> Result<(Option<Tokenizer>, Arc<Vec<u8>>), RunError> {
    let Some((tokenizer, length)) = vocabulary(content)? else { return Ok((None, content.clone())) };
    let found = kind_of(&tokenizer);
    if found != settings.tokenizer {
        let [found, set] = [found, settings.tokenizer].map(TokenizerKind::id);
        let what = format!("the vocabulary is of the tokenizer {found}, and tokenizer is set to {set}");
        return Err(RunError::refused(what, format!("Set tokenizer to {found}, or leave out the vocabulary")));
    }
    Ok((Some(tokenizer), Arc::new(content[length..].to_vec())))
}

fn kind_of(tokenizer: &Tokenizer) -> TokenizerKind {
    match tokenizer.kind() {
        Kind::Chars => TokenizerKind::Chars,
        Kind::Bytes => TokenizerKind::Bytes,
        Kind::Bpe { .. } => TokenizerKind::Bpe,
    }
}

impl Preparation {
    /// Of what was brought, or of the grammar; in the tokens of a tokenizer, where there is one. What cannot be used is refused here.
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
            return Ok(Preparation { name: None, stage: Stage::Unwritten(Box::new(write)) });
        };
        let (vocabulary, text) = brought(settings, content)?;
        let begin = |text| begin(text, tokenizer.clone().or_else(|| vocabulary.clone()));
        let mut reading = begin(text.clone());
        let (is_short, mut done) = (text.len() < SHORT, false);
        while !done && (is_short || reading.progress().doing == Doing::Checking) {
            done = reading.advance(SLICE).map_err(RunError::below)?;
        }
        if done {
            // Whether it is long enough shows now; it is read again, in no time.
            reading.finish().map_err(RunError::below)?;
            reading = begin(text.clone());
        }
        Ok(Preparation { name: Some(data.name.clone()), stage: Stage::Reading(Box::new(reading)) })
    }

    pub fn advance(&mut self) -> Result<Option<Prepared>, RunError> {
        let reading = match &mut self.stage {
            Stage::Reading(reading) => reading,
            stage => {
                if let Stage::Unwritten(write) = std::mem::replace(stage, Stage::Done) {
                    *stage = Stage::Reading(Box::new(write()));
                }
                return Ok(None);
            }
        };
        if !reading.advance(SLICE).map_err(RunError::below)? {
            return Ok(None);
        }
        let Stage::Reading(reading) = std::mem::replace(&mut self.stage, Stage::Done) else {
            return Ok(None);
        };
        let (corpus, tokenizer) = reading.finish().map_err(RunError::below)?;
        let own = self.name.is_some();
        let name = self.name.take().unwrap_or("story grammar".into());
        Ok(Some(Prepared { corpus: Arc::new(corpus), tokenizer, name, own }))
    }

    /// To the end at once.
    pub fn finish(mut self) -> Result<Prepared, RunError> {
        loop {
            if let Some(prepared) = self.advance()? {
                return Ok(prepared);
            }
        }
    }

    /// How long it takes is for whoever has a clock to say.
    pub fn progress(&self) -> Preparing {
        let Stage::Reading(reading) = &self.stage else {
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

/// Tokens there can be of different kinds, at most, and bytes that the text's tokens take with all that is made on the way to them:
/// of what was brought, or of the grammar.
pub fn bounds(settings: &Settings, setup: Setup) -> (usize, u64) {
    let length = setup.data.map_or(settings.characters as u64, |data| data.bytes);
    if let Some(Ok(Some((tokenizer, line)))) = setup.content().map(|content| vocabulary(content)) {
        let tokens = length * token_bytes(tokenizer.vocab()) as u64;
        return (tokenizer.vocab().max(2), length + tokens + BPE + 64 * line as u64);
    }
    // The grammar's own text stands beside them until they are made, and where they are bytes, longer.
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
                // Before it is read, as most texts are.
                (_, None) => (256, length),
            };
            (vocab.max(2), written + characters * token_bytes(vocab) as u64)
        }
        TokenizerKind::Bpe => {
            // A token stands for two bytes or more, but where there are few kinds of them. Pairs are learned from a part.
            let learning = BPE + 3 * length.min(LEARNED_FROM as u64);
            (settings.vocab, written + learning + length / 2 * token_bytes(settings.vocab) as u64)
        }
    }
}

/// Bytes of the pieces that byte pairs remember.
const BPE: u64 = 16 << 20;

impl Prepared {
    pub fn characters_per_token(&self) -> f64 {
        self.corpus.characters() as f64 / self.corpus.len() as f64
    }

    /// Other text of the grammar, which nothing has read, in the same tokens: about so many characters of it are held back.
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
