//! A small transformer that learns the stories of the grammar, character by character. The picture shows a text that the current model
//! writes.

use crate::link::Link;
use crate::tile::{Pace, Tile};
use learn::words::{Config, Pretrainer, Reader, Sampling, Writing};
use learn::{Learner, Slice};
use math::Isa;
use std::error::Error;
use std::f64::consts::LN_2;
use std::sync::Arc;
use worlds::words::{Corpus, Grammar, Tokenizer, TokenizerSpec};

const PROMPT: &str = "Once upon a time, a ";
/// Number of characters that the model writes before it starts again with its current weights.
const LENGTH: usize = 120;
/// Time of a character, and time for which the whole text stays in the picture.
const CHARACTER_S: f64 = 0.04;
const END_S: f64 = 1.5;
/// Temperature of the text.
const TEMPERATURE: f32 = 0.8;

/// The learner and its text. The score is the training loss in bits per character.
pub struct Writer {
    learner: Pretrainer,
    tokenizer: Tokenizer,
    score: Option<f64>,
    writing: Writing,
    texts: u32,
    pace: Pace,
}

impl Writer {
    pub fn new(link: &Link) -> Result<Writer, Box<dyn Error>> {
        let mut config = link.settings(Config::default())?;
        let characters = link.value("characters").ok_or("the length of the text is missing")?.parse()?;
        let text = Grammar::new().text(link.seed, characters);
        let (corpus, tokenizer) = Corpus::new(text.as_bytes(), TokenizerSpec::Chars, config.shape.context)?;
        config.shape.vocab = tokenizer.vocab();
        let learner = Pretrainer::new(config, &Arc::new(corpus), link.seed, Isa::best())?;
        let writing = begun(&learner, &tokenizer, 0)?;
        Ok(Writer { learner, tokenizer, score: None, writing, texts: 0, pace: Pace::default() })
    }
}

/// Begins text number `number` with the current weights.
fn begun(learner: &Pretrainer, tokenizer: &Tokenizer, number: u32) -> Result<Writing, Box<dyn Error>> {
    let reader = Reader::new(&learner.config().shape, learner.params(), learner.isa());
    let sampling = Sampling { temperature: TEMPERATURE, top_k: 0, top_p: 1.0, seed: number };
    Ok(Writing::new(reader, &tokenizer.encode(PROMPT)?, sampling))
}

impl Tile for Writer {
    fn advance(&mut self) {
        if let Slice::Ended(stats) = self.learner.advance() {
            self.score = Some(stats.loss / LN_2);
        }
    }

    fn iterations(&self) -> u64 {
        self.learner.progress().iterations
    }

    fn score(&self) -> Option<f64> {
        self.score
    }

    /// The code points of the prompt and of the characters that are written so far.
    fn picture(&mut self, seconds: f64) -> Vec<f32> {
        self.pace.add(seconds);
        if self.writing.written().len() < LENGTH {
            while self.pace.takes(CHARACTER_S) {
                self.writing.advance();
            }
        } else if self.pace.takes(END_S) {
            self.texts += 1;
            self.writing = begun(&self.learner, &self.tokenizer, self.texts).expect("the prompt was encoded before");
        }
        let written = self.tokenizer.decode(self.writing.written());
        PROMPT.chars().chain(written.chars()).map(|character| u32::from(character) as f32).collect()
    }

    fn weights(&self) -> &[f32] {
        self.learner.weights()
    }
}
