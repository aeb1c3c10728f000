//! The windows that tests of one text share, and the columns of a test.

use super::text::Prepared;
use crate::RunError;
use crate::room::ByName;

/// Characters that it is tested on, about: so many that chance moves what is above the floor by little.
const CHARACTERS: f64 = 16_384.0;

/// What tests of one text share.
pub struct Validation {
    /// Where the windows begin, and how long they are.
    pub starts: Vec<usize>,
    pub context: usize,
    /// Of the text that is predicted in them.
    characters: usize,
    bytes: usize,
    /// Nats a token, once a test has found it.
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

    /// Fresh text, and windows in it.
    pub fn fresh(prepared: &Prepared, seed: u32) -> Result<(Prepared, Validation), RunError> {
        let prepared = prepared.fresh(seed, 2 * CHARACTERS as usize)?;
        let validation = Validation::new(&prepared);
        Ok((prepared, validation))
    }

    pub fn tokens(&self) -> f64 {
        (self.starts.len() * self.context) as f64
    }

    /// The columns of a test, from the nats that all its windows lost.
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
