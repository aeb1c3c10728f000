//! Training texts: a grammar of stories with known entropy, tokenizers, and the division of a text into windows of tokens. This module
//! contains no networks and no file access.

mod bpe;
mod corpus;
mod error;
pub(crate) mod grammar;
pub(crate) mod stories;
mod tokenizer;

pub use bpe::{BpeTraining, SAMPLE_BYTES};
pub use corpus::{Batches, Corpus, Doing, Progress, Reading, alphabet, token_bytes};
pub use error::TextError;
pub use grammar::{BestPredictor, Grammar, WindowPredictors};
pub use tokenizer::{Decoder, MOST_TOKENS, Tokenizer, TokenizerSpec};

use std::ops::Range;

/// Divides a range of a text into parts of about `bytes` bytes. `start(text, at)` returns the first position, at `at` or later, at which a
/// part may begin. The last part ends at the end of the range.
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
