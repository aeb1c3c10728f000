//! The transformer as a model for other programs.

use super::model::declared;
use super::{Pretrainer, Reader};
use graph::export::{Examples, Input, Model, Output, Reads};
use math::Rng;

/// Random stream of the examples.
const EXAMPLES: u32 = 0x4558_414d;

const TOKENS: &str = "Tokens of a text, from its beginning. Each prediction depends only on the tokens up to its position, so a \
    shorter text is padded with any tokens at its end.";

impl Pretrainer {
    pub fn exported(&self) -> Model {
        let shape = &self.config().shape;
        let mut g = shape.declared();
        let tokens = g.input("tokens", [shape.context, 1]);
        let x = shape.body(&mut g, tokens, None);
        let head = declared(&mut g, shape.head());
        let node = g.matmul(x, head, false, true);
        let help = "Logits of the next token after each position. Their softmax is the predicted distribution.".into();
        Model {
            graph: g,
            params: self.params().clone(),
            inputs: vec![Input { name: "tokens", integers: true, help: TOKENS.into(), numbers: Vec::new() }],
            outputs: vec![Output { name: "logits", node, reads: Reads::Numbers, help, numbers: Vec::new() }],
        }
    }

    /// Returns `count` windows of random tokens as inputs of the model, with the logits of a [`Reader`]. The reader computes in f32, as the
    /// model does, also if the run computes products in bf16.
    pub fn examples(&self, count: usize, seed: u32) -> Examples {
        let shape = self.config().shape;
        let mut numbers = Rng::new(seed, EXAMPLES).sequence(0);
        let tokens: Vec<u32> = (0..count * shape.context).map(|_| numbers.below(shape.vocab as u32)).collect();
        let mut reader = Reader::new(&shape, self.params(), self.isa().unrounded());
        let mut logits = Vec::new();
        for window in tokens.chunks_exact(shape.context) {
            reader.forget();
            reader.read(window);
            logits.extend_from_slice(reader.logits(shape.context));
        }
        Examples { inputs: vec![tokens.into_iter().map(|token| token as f32).collect()], outputs: vec![logits] }
    }
}
