//! A text that the model writes. The text ends at a maximum number of tokens, at a stop text, or on request.

use super::protocol::{Ended, Generated, GenerationView, Sampling};
use learn::words::{self, Reader, Writing};
use worlds::words::{Decoder, Tokenizer};

pub struct Written {
    writing: Writing,
    decoder: Decoder,
    text: String,
    added: Vec<Generated>,
    most: u32,
    stop: String,
    ended: Option<Ended>,
}

impl Written {
    /// Begins a text after `prompt`.
    ///
    /// # Panics
    /// If the prompt is empty or longer than the context.
    pub fn new(reader: Reader, prompt: &[u32], sampling: &Sampling, most: u32, stop: &str) -> Written {
        let &Sampling { temperature, top_k, top_p, seed } = sampling;
        let sampling = words::Sampling { temperature, top_k: top_k as usize, top_p, seed };
        Written {
            writing: Writing::new(reader, prompt, sampling),
            decoder: Decoder::default(),
            text: String::new(),
            added: Vec::new(),
            most,
            stop: stop.into(),
            ended: (most == 0).then_some(Ended::Length),
        }
    }

    /// Continues the text by at most `tokens` tokens.
    pub fn advance(&mut self, tokenizer: &Tokenizer, tokens: u32) {
        self.added.clear();
        for _ in 0..tokens {
            if self.ended.is_some() {
                return;
            }
            let (id, probability) = self.writing.advance();
            self.added.push(Generated { id, text: tokenizer.token_text(id), probability });
            self.text += &self.decoder.push(tokenizer, id);
            if self.writing.written().len() as u32 == self.most {
                self.end(Ended::Length);
            }
            // A new token may complete a stop text that began in earlier tokens.
            let stop = Some(&*self.stop).filter(|stop| !stop.is_empty());
            if let Some(at) = stop.and_then(|stop| self.text.find(stop)) {
                self.text.truncate(at);
                self.ended = Some(Ended::Stop);
            }
        }
    }

    pub fn end(&mut self, how: Ended) {
        if self.ended.is_none() {
            self.text += &self.decoder.finish();
            self.ended = Some(how);
        }
    }

    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Returns the text so far. If the text ends with the beginning of the stop text, the result omits this end until more tokens follow.
    pub fn text(&self) -> &str {
        let (text, stop) = (&*self.text, &*self.stop);
        if self.ended.is_some() {
            return text;
        }
        let held = stop.char_indices().map(|(at, _)| at).rev().find(|&at| text.ends_with(&stop[..at]));
        &text[..text.len() - held.unwrap_or(0)]
    }

    pub fn view(&self, iteration: u32) -> GenerationView {
        GenerationView {
            iteration,
            tokens: self.writing.written().len() as u32,
            text: self.text().into(),
            added: self.added.clone(),
            ended: self.ended,
        }
    }
}
