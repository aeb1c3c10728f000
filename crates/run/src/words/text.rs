//! The text of a run: what it is, and how it becomes tokens, in slices.

use super::knobs::Settings;
use super::protocol::{CorpusView, Preparing, PreparingPart, TokenizerKind};
use crate::RunError;
use crate::room::Setup;
use learn::words::MOST_TOKENS;
use std::sync::{Arc, OnceLock};
use worlds::words::{Corpus, Doing, Grammar, Kind, Reading, Tokenizer};

/// The source of the default text.
pub fn grammar() -> &'static Grammar {
    static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
    GRAMMAR.get_or_init(Grammar::new)
}

/// Bytes that are looked through in a slice, about.
const SLICE: usize = 1 << 18;
/// A text is prepared at once that is shorter: whether it can be used is known only in the end.
const SHORT: usize = 1 << 18;
/// Characters of an excerpt.
const EXCERPT: usize = 600;

/// A text on its way to tokens.
pub struct Preparation {
    source: Source,
    reading: Reading,
}

enum Source {
    /// Of the grammar, to be written: of this seed, and so many characters.
    Unwritten(u32, usize),
    Grammar(String),
    /// With its name.
    Own(String, Arc<Vec<u8>>),
}

impl Source {
    fn text(&self) -> &[u8] {
        match self {
            Source::Unwritten(..) => &[],
            Source::Grammar(text) => text.as_bytes(),
            Source::Own(_, text) => text,
        }
    }
}

/// A text in tokens.
pub struct Prepared {
    pub corpus: Corpus,
    pub tokenizer: Tokenizer,
    pub name: String,
    pub own: bool,
    pub characters: usize,
}

fn kind(settings: &Settings) -> Kind {
    match settings.tokenizer {
        TokenizerKind::Chars => Kind::Chars,
        TokenizerKind::Bytes => Kind::Bytes,
        TokenizerKind::Bpe => Kind::Bpe { vocab: settings.vocab },
    }
}

impl Preparation {
    /// Of what was brought, or of the grammar; in the tokens of a tokenizer, where there is one. What cannot be used is refused here.
    pub fn new(
        settings: &Settings,
        setup: Setup,
        tokenizer: Option<Tokenizer>,
    ) -> Result<Preparation, RunError> {
        let context = settings.config.shape.context;
        let fresh = || match &tokenizer {
            Some(tokenizer) => Reading::with(tokenizer.clone(), context),
            None => Reading::new(kind(settings), context),
        };
        let mut reading = fresh();
        let (Some(data), Some(text)) = (setup.data, setup.content()) else {
            return Ok(Preparation { source: Source::Unwritten(setup.seed, settings.characters), reading });
        };
        let (is_short, mut done) = (text.len() < SHORT, false);
        while !done && (is_short || reading.progress().doing == Doing::Checking) {
            done = reading.advance(text, SLICE).map_err(RunError::below)?;
        }
        if done {
            // Whether it is long enough shows now; it is read again, in no time.
            reading.finish().map_err(RunError::below)?;
            reading = fresh();
        }
        Ok(Preparation { source: Source::Own(data.name.clone(), text.clone()), reading })
    }

    pub fn advance(&mut self) -> Result<Option<Prepared>, RunError> {
        if let Source::Unwritten(seed, characters) = self.source {
            self.source = Source::Grammar(grammar().text(seed, characters));
            return Ok(None);
        }
        if !self.reading.advance(self.source.text(), SLICE).map_err(RunError::below)? {
            return Ok(None);
        }
        let reading = std::mem::replace(&mut self.reading, Reading::new(Kind::Bytes, 1));
        let (mut corpus, tokenizer) = reading.finish().map_err(RunError::below)?;
        corpus.shorten(MOST_TOKENS);
        let characters = self.source.text().utf8_chunks().map(|part| part.valid().chars().count()).sum();
        let (name, own) = match &self.source {
            Source::Own(name, _) => (name.clone(), true),
            _ => ("story grammar".into(), false),
        };
        Ok(Some(Prepared { corpus, tokenizer, name, own, characters }))
    }

    /// To the end at once.
    pub fn finish(mut self) -> Result<Prepared, RunError> {
        loop {
            if let Some(prepared) = self.advance()? {
                return Ok(prepared);
            }
        }
    }

    pub fn progress(&self) -> Preparing {
        let progress = self.reading.progress();
        let part = match progress.doing {
            Doing::Checking => PreparingPart::Text,
            Doing::LearningPairs => PreparingPart::Merges,
            Doing::Encoding => PreparingPart::Tokens,
        };
        Preparing { part, done: progress.share as f32 }
    }
}

/// Tokens there can be of different kinds, and of the text in all, at most: of what was brought, or of the grammar.
pub fn bounds(settings: &Settings, setup: Setup) -> (usize, u64) {
    let length = setup.data.map_or(settings.characters as u64, |data| data.bytes);
    let vocab = match (settings.tokenizer, setup.data) {
        (TokenizerKind::Bytes, _) => 256,
        (TokenizerKind::Bpe, _) => settings.vocab,
        (TokenizerKind::Chars, None) => grammar().alphabet().len(),
        (TokenizerKind::Chars, Some(_)) => setup.content().map_or(256, |text| {
            let mut seen = vec![false; char::MAX as usize + 1];
            text.utf8_chunks().flat_map(|part| part.valid().chars()).for_each(|c| seen[c as usize] = true);
            seen.iter().filter(|seen| **seen).count()
        }),
    };
    (vocab.max(2), length)
}

impl Prepared {
    pub fn characters_per_token(&self) -> f64 {
        self.characters as f64 / self.corpus.len() as f64
    }

    pub fn view(&self, floor: Option<f64>) -> CorpusView {
        let Prepared { corpus, tokenizer, name, own, characters } = self;
        let first: Vec<u32> = corpus.tokens(0..corpus.len().min(EXCERPT)).collect();
        CorpusView {
            name: name.clone(),
            own: *own,
            characters: *characters as f64,
            tokens: corpus.len() as f64,
            training_tokens: corpus.train().len() as f64,
            validation_tokens: corpus.validation().len() as f64,
            tokenizer: match tokenizer.kind() {
                Kind::Chars => TokenizerKind::Chars,
                Kind::Bytes => TokenizerKind::Bytes,
                Kind::Bpe { .. } => TokenizerKind::Bpe,
            },
            vocabulary: tokenizer.vocab() as u32,
            characters_per_token: self.characters_per_token(),
            entropy: (!own).then(|| grammar().entropy_per_char()),
            floor,
            excerpt: tokenizer.decode(&first).chars().take(EXCERPT).collect(),
        }
    }
}
