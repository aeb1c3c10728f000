//! Text generation. The model first reads a prompt. Then the model generates one token at a time and reads each generated token.

use super::reader::Reader;
use math::{Rng, ops};

/// Rule for choosing the next token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Divisor of the logits. A temperature of 0 selects the most likely token.
    pub temperature: f32,
    /// Number of candidates for the next token, or 0 for all tokens. The candidates are the most likely tokens.
    pub top_k: usize,
    /// Minimum total probability of the candidates for the next token; 1 for all tokens. The candidates are the smallest number of most
    /// likely tokens that reach this total (Holtzman et al. 2020).
    pub top_p: f32,
    pub seed: u32,
}

/// Minimum temperature for sampling. Below this temperature, the most likely token is selected, because the logits divided by the
/// temperature could overflow.
const COLDEST: f32 = 1e-6;

/// Random stream for the choice of tokens.
const STREAM: u32 = 0x5752_4954;

/// Generator of a text. When the context is full, the generator drops the older half of the context and reads the newer half again.
pub struct Writing {
    reader: Reader,
    sampling: Sampling,
    /// The prompt and the generated tokens.
    tokens: Vec<u32>,
    /// Number of tokens in the prompt.
    prompt: usize,
    /// Index in `tokens` of the first token in the reader's context.
    first: usize,
    odds: Vec<f32>,
    order: Vec<u32>,
}

impl Writing {
    /// Creates a generator that continues `prompt`.
    ///
    /// # Panics
    /// If the prompt is empty.
    pub fn new(mut reader: Reader, prompt: &[u32], sampling: Sampling) -> Writing {
        assert!(!prompt.is_empty(), "the prompt must not be empty");
        reader.forget();
        Writing { reader, sampling, tokens: prompt.to_vec(), prompt: prompt.len(), first: 0, odds: Vec::new(), order: Vec::new() }
    }

    /// Returns the generated tokens, without the prompt.
    pub fn written(&self) -> &[u32] {
        &self.tokens[self.prompt..]
    }

    /// Generates a token. Returns the token and its probability before temperature, top-k and top-p are applied.
    pub fn advance(&mut self) -> (u32, f32) {
        let context = self.reader.shape().context;
        let mut unread = self.first + self.reader.len();
        if self.tokens.len() - self.first > context {
            self.first = self.tokens.len() - context.div_ceil(2);
            self.reader.forget();
            unread = self.first;
        }
        self.reader.read(&self.tokens[unread..]);
        let token = self.choose();
        self.tokens.push(token.0);
        token
    }

    fn choose(&mut self) -> (u32, f32) {
        let Writing { reader, sampling, odds, order, .. } = self;
        let isa = reader.isa();
        let logits = reader.logits(1);
        let vocab = logits.len();
        odds.resize(vocab, 0.0);
        ops::softmax(isa, 1, vocab, logits, odds, false);
        let likelier = |odds: &[f32], a: u32, b: u32| odds[b as usize].total_cmp(&odds[a as usize]).then(a.cmp(&b));
        if sampling.temperature < COLDEST {
            let best = (0..vocab as u32).min_by(|&a, &b| likelier(odds, a, b)).expect("a vocabulary");
            return (best, odds[best as usize]);
        }
        let plain = sampling.temperature == 1.0;
        let mut cooled = Vec::new();
        if !plain {
            logits.iter_mut().for_each(|logit| *logit /= sampling.temperature);
            cooled.resize(vocab, 0.0);
            ops::softmax(isa, 1, vocab, logits, &mut cooled, false);
        }
        let chances = if plain { &*odds } else { &cooled };
        order.clear();
        order.extend(0..vocab as u32);
        let mut kept = vocab;
        if (1..vocab).contains(&sampling.top_k) || sampling.top_p < 1.0 {
            order.sort_unstable_by(|&a, &b| likelier(chances, a, b));
            if sampling.top_k > 0 {
                kept = kept.min(sampling.top_k);
            }
            let mut sum = 0.0;
            let enough = order.iter().position(|&token| {
                sum += chances[token as usize];
                sum >= sampling.top_p
            });
            kept = kept.min(enough.map_or(vocab, |last| last + 1));
        }
        let total: f64 = order[..kept].iter().map(|&token| f64::from(chances[token as usize])).sum();
        let number = Rng::new(sampling.seed, STREAM).block([self.tokens.len() as u32, 0, 0, 0])[0];
        let mut left = f64::from(math::rng::uniform_from_word(number)) * total;
        let found = order[..kept].iter().find(|&&token| {
            left -= f64::from(chances[token as usize]);
            left < 0.0
        });
        let token = *found.unwrap_or(&order[kept - 1]);
        (token, odds[token as usize])
    }
}
