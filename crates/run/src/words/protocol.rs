//! Plain data that only the words room exchanges: the model and its text, the model's predictions for a text, and texts that the model
//! writes. The surprise at a token is the negative logarithm of the token's predicted probability. Answers use the weights of the latest
//! step, except that a text in progress is completed with the weights from its beginning. Questions do not affect training. This file
//! contains no behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;
use learn::choices;
use serde::{Deserialize, Serialize};

crate::questions! {
    /// Returns the model, its text, and the progress of the preparation. Until the preparation is complete, most other questions give an
    /// error.
    About {} -> AboutView,
    /// Returns the samples so far, oldest first. In a long run, some of the samples are dropped.
    Samples {} -> Vec<Sample>,
    /// Returns the tokens of a text. A character that the tokenizer cannot represent gives an error that names the character.
    Tokens { text: String } -> Vec<TokenView>,
    /// Returns the model's predictions for a text: the surprise at each token, and at most `next` likely tokens after each token. An empty
    /// text, a text longer than the context, or more than 262,144 likely tokens in all give an error.
    Read { text: String, next: u32 } -> ReadView,
    /// Returns the attention weights between the tokens of a text, in one head of one layer.
    Attention { text: String, layer: u32, head: u32 } -> AttentionView,
    /// Returns the prompt of the samples: the text of the knob `prompt`, or the beginning of the validation text if the knob is empty or
    /// the tokenizer cannot represent its text.
    Prompt {} -> String,
    /// Begins a text of at most `most` tokens, up to 100,000, that continues `prompt`; null means the prompt of the samples. Ends any other
    /// text in progress. [`Question::Continue`] returns the tokens of the text.
    Generate { prompt: Option<String>, sampling: Sampling, most: u32, stop: String } -> GenerationView,
    /// Continues the text in progress by at most `tokens` tokens, up to 4,096.
    Continue { tokens: u32 } -> GenerationView,
    /// Ends the text in progress.
    Stop {} -> GenerationView,
}

plain_data! {
    /// Event of this room, which [`crate::protocol::Event::Room`] contains.
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// The preparation of the text has made progress. No training step has been made yet.
        Preparing(Preparing),
        /// The preparation is complete, and training begins.
        Ready(Box<AboutView>),
        /// A test has written a sample. All samples continue the same prompt, until the knob `prompt` changes.
        Sample(Sample),
    }

    /// Description of a variant: the value of [`crate::protocol::Variant::about`].
    #[derive(Copy)]
    pub struct Preset {
        pub width: u32,
        pub layers: u32,
        pub heads: u32,
        pub context: u32,
        pub tokenizer: TokenizerKind,
    }
}

choices! {
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
    #[serde(rename_all = "snake_case")]
    pub enum TokenizerKind {
        Chars = "chars", "Characters";
        Bytes = "bytes", "Bytes";
        Bpe = "bpe", "Byte pairs";
    }
}

plain_data! {
    #[derive(Copy)]
    pub struct Preparing {
        pub part: PreparingPart,
        /// Share of this part that is complete, from 0 to 1.
        pub done: f32,
        /// Estimated seconds until this part is complete; null before there is an estimate.
        pub left_s: Option<f32>,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum PreparingPart {
        /// The stories are being generated, or the user's text is being checked.
        Text,
        /// The merges of byte-pair encoding are being learned.
        Merges,
        /// The text is being converted to tokens.
        Tokens,
    }

    pub struct AboutView {
        /// Progress of the preparation; null after its end.
        pub preparing: Option<Preparing>,
        /// Description of the model; null until the preparation is complete.
        pub model: Option<ModelView>,
        /// Description of the text; null until the preparation is complete.
        pub corpus: Option<CorpusView>,
    }

    pub struct ModelView {
        pub vocabulary: u32,
        pub width: u32,
        pub layers: u32,
        pub heads: u32,
        /// Maximum number of tokens that a prediction depends on.
        pub context: u32,
        /// Number of trained parameters.
        pub parameters: u32,
        /// Number of trained parameters in the embeddings of tokens and positions.
        pub embeddings: u32,
        /// Floating-point operations in the forward and backward pass per training token. Only matrix products and attention are counted.
        pub flops_per_token: f64,
        /// Tensors of the model, with the names and shapes that a checkpoint contains.
        pub tensors: Vec<TensorView>,
    }

    pub struct TensorView {
        /// Name of the tensor, for example `transformer.h.0.attn.c_attn.weight`.
        pub name: String,
        pub shape: Vec<u32>,
    }

    pub struct CorpusView {
        /// Name of the user's text, or `story grammar`.
        pub name: String,
        /// True if the user provided the text.
        pub own: bool,
        pub characters: f64,
        pub tokens: f64,
        /// Number of tokens for training.
        pub training_tokens: f64,
        /// Number of tokens for validation.
        pub validation_tokens: f64,
        pub tokenizer: TokenizerKind,
        pub vocabulary: u32,
        /// Mean number of characters per token of the text.
        pub characters_per_token: f64,
        /// Entropy of the grammar in nats per character, given all previous text; null for a user's text.
        pub entropy: Option<f64>,
        /// Mean loss of the best possible predictor on the validation text, in nats per token. The predictor knows the grammar and the
        /// context, but no earlier text. For characters, no model can have a lower mean loss. For byte pairs, the floor is an estimate.
        /// Null for a user's text and before the first test.
        pub floor: Option<f64>,
        /// Excerpt from the beginning of the text.
        pub excerpt: String,
    }

    /// Text that the model wrote after the prompt during a test.
    pub struct Sample {
        pub iteration: u32,
        /// Number of training tokens before the test.
        pub tokens: f64,
        pub val_loss: f64,
        pub prompt: String,
        pub text: String,
    }

    pub struct TokenView {
        pub id: u32,
        /// Text of the token. Bytes that are not valid text appear as escapes, for example `\xE2`.
        pub text: String,
    }

    pub struct ReadView {
        /// Number of iterations after which the predicting weights were copied.
        pub iteration: u32,
        pub tokens: Vec<TokenView>,
        /// Surprise at each token in nats, given the tokens before it; null for the first token.
        pub surprise: Vec<Option<f32>>,
        /// For each token, the entropy in nats of the predicted distribution of the next token.
        pub entropy: Vec<f32>,
        /// For each token, the most likely next tokens, in descending order of probability.
        pub next: Vec<Vec<NextView>>,
        /// Mean surprise in nats per token; null for a text of a single token.
        pub loss: Option<f32>,
        /// Mean surprise in bits per character; null for a text of a single token.
        pub bits_per_char: Option<f32>,
    }

    pub struct NextView {
        pub id: u32,
        pub text: String,
        pub probability: f32,
    }

    /// Settings of the random choice of the next token.
    #[derive(Copy)]
    pub struct Sampling {
        /// Temperature. At 0, the most likely token is always chosen.
        pub temperature: f32,
        /// Number of most likely tokens from which the next token is chosen; 0 for all tokens.
        pub top_k: u32,
        /// Limits the choice to the most likely tokens that together have this probability; 1 means all tokens.
        pub top_p: f32,
        pub seed: u32,
    }

    pub struct GenerationView {
        /// Number of iterations after which the weights were copied.
        pub iteration: u32,
        /// Number of tokens so far, without the prompt.
        pub tokens: u32,
        /// Text so far, without the prompt. While the text is in progress, two ends are left out: an incomplete character, and a possible
        /// beginning of the stop text.
        pub text: String,
        /// Tokens that the current call added.
        pub added: Vec<Generated>,
        pub ended: Option<Ended>,
    }

    pub struct Generated {
        pub id: u32,
        pub text: String,
        /// Probability that the model gives this token, before temperature, top-k and top-p.
        pub probability: f32,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Ended {
        /// The requested number of tokens was reached.
        Length,
        /// The stop text appeared, and was removed from the text.
        Stop,
        /// The user ended the text.
        Asked,
    }
}

sent_data! {
    pub struct AttentionView {
        pub iteration: u32,
        pub layer: u32,
        pub head: u32,
        pub tokens: Vec<TokenView>,
        /// Attention weights as 32-bit floats, in the order `[from][to]`. For each token `from`, the weights have the sum 1, and the
        /// weights of later tokens are 0.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub weights: Vec<f32>,
    }
}
