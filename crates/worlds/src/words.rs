//! Texts to learn from: a grammar of stories whose entropy is known, tokenizers, and a text cut into windows. No networks
//! and no files.

mod bpe;
mod corpus;
mod error;
mod grammar;
mod stories;
mod tokenizer;

pub use bpe::{BpeTraining, LEARNED_FROM};
pub use corpus::{Batches, Corpus, Doing, Progress, Reading, alphabet, token_bytes};
pub use error::TextError;
pub use grammar::{Anywhere, Grammar, Ideal};
pub use tokenizer::{Decoder, Kind, MOST_TOKENS, Tokenizer};

use std::ops::Range;

/// A range of a text cut in about so many bytes each, where `start` finds the next place to cut from one on; the last may end anywhere.
fn stretches(text: &[u8], range: Range<usize>, bytes: usize, start: fn(&[u8], usize) -> usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let to = match at + bytes {
            to if to < range.end => start(&text[..range.end], to),
            _ => range.end,
        };
        parts.push(at..to);
        at = to;
    }
    parts
}
