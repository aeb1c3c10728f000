//! Windows of the validation text, and the columns of a test. All tests of the same text use the same windows.

use super::text::Prepared;
use crate::RunError;
use crate::room::ByName;

/// Approximate number of characters in the validation windows. With this number, chance has little effect on the difference between loss
/// and floor.
const CHARACTERS: f64 = 16_384.0;

/// Windows of a text, on which tests compute the loss, with their sizes and the entropy floor.
pub struct Validation {
    /// Index of the first token of each window, among all tokens of the text.
    pub starts: Vec<usize>,
    /// Number of tokens that are predicted in each window.
    pub context: usize,
    /// Number of characters that the windows' predicted tokens encode.
    characters: usize,
    /// Number of bytes that the windows' predicted tokens encode.
    bytes: usize,
    /// Entropy floor in nats per token; `None` until a test has computed it.
    pub floor: Option<f64>,
}

impl Validation {
    pub fn new(prepared: &Prepared) -> Validation {
        let Prepared { corpus, tokenizer, .. } = prepared;
        let context = corpus.context();
        let tokens = CHARACTERS / prepared.characters_per_token();
        let starts = corpus.validation_starts(tokens as usize / context);
        let predicted = |start: usize| corpus.tokens(start + 1..start + 1 + context).collect::<Vec<_>>();
        let characters = |tokens: &[u32]| tokenizer.decode(tokens).chars().count();
        let bytes = |tokens: &[u32]| tokens.iter().map(|&token| tokenizer.token_bytes(token).len()).sum::<usize>();
        Validation {
            characters: starts.iter().map(|&start| characters(&predicted(start))).sum(),
            bytes: starts.iter().map(|&start| bytes(&predicted(start))).sum(),
            starts,
            context,
            floor: None,
        }
    }

    /// Creates new text and its windows, for a confirmation.
    pub fn fresh(prepared: &Prepared, seed: u32) -> Result<(Prepared, Validation), RunError> {
        let prepared = prepared.fresh(seed, 2 * CHARACTERS as usize)?;
        let validation = Validation::new(&prepared);
        Ok((prepared, validation))
    }

    pub fn tokens(&self) -> f64 {
        (self.starts.len() * self.context) as f64
    }

    /// Returns the values of a test's columns. `nats` is the total loss of all windows in nats.
    pub fn values(&self, nats: f64) -> ByName<Option<f64>> {
        let (loss, floor) = (nats / self.tokens(), self.floor);
        let bits = |count: usize| Some(nats / std::f64::consts::LN_2 / count.max(1) as f64);
        vec![
            ("val_loss", Some(loss)),
            ("floor", floor),
            ("val_bits_per_char", bits(self.characters)),
            ("val_bits_per_byte", bits(self.bytes)),
            ("above", floor.map(|floor| loss / floor - 1.0)),
            ("efficiency", floor.map(|floor| floor / loss)),
        ]
    }
}
