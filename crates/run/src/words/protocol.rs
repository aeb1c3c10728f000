//! Plain data that only the words room exchanges: the model and its text, the model's predictions for a text, and texts that it writes.
//! Questions do not affect training. They are answered with the weights of the newest step; a text in progress is completed with the
//! weights that were present when it began. This file contains no behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;
use learn::choices;
use serde::{Deserialize, Serialize};

crate::questions! {
    /// The model, its text, and the remaining preparation. Other questions give an error until the preparation is complete.
    About {} -> AboutView,
    /// Samples so far, oldest first. In a long run, every second sample is dropped repeatedly.
    Samples {} -> Vec<Sample>,
    /// Tokens of a text. Characters that the tokenizer cannot represent give an error that names them.
    Tokens { text: String } -> Vec<TokenView>,
    /// The model's predictions for a text: the surprise at each token, and up to `next` likely tokens after each token. An empty text, or a
    /// text longer than the context, gives an error.
    Read { text: String, next: u32 } -> ReadView,
    /// Attention weights between the tokens of a text, for one head of one layer.
    Attention { text: String, layer: u32, head: u32 } -> AttentionView,
    /// Prompt of the samples: the setting, or the beginning of the validation text if the setting is empty or the tokenizer cannot
    /// represent it.
    Prompt {} -> String,
    /// Begins a text after `prompt`, or after the prompt of the samples if `prompt` is null. Ends any other text in progress.
    /// [`Question::Continue`] returns the tokens.
    Generate { prompt: Option<String>, sampling: Sampling, most: u32, stop: String } -> GenerationView,
    /// Continues the text by at most `tokens` tokens.
    Continue { tokens: u32 } -> GenerationView,
    /// Ends the text in progress.
    Stop {} -> GenerationView,
}

plain_data! {
    /// Events of this room, in [`crate::protocol::Event::Room`].
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// Progress of the preparation, before the first step.
        Preparing(Preparing),
        /// The preparation is complete and training begins.
        Ready(Box<AboutView>),
        /// Text that the model wrote after the same prompt, at each test.
        Sample(Sample),
    }

    /// Description of a variant, in [`crate::protocol::Variant::about`].
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
        /// Completed share of this part, from 0 to 1.
        pub done: f32,
        /// Estimated seconds until this part is complete; null before there is an estimate.
        pub left_s: Option<f32>,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum PreparingPart {
        /// Generating the stories, or reading the user's text.
        Text,
        /// Learning the merges of byte-pair encoding.
        Merges,
        /// Converting the text to tokens.
        Tokens,
    }

    pub struct AboutView {
        /// Progress of the preparation; null once it is complete.
        pub preparing: Option<Preparing>,
        /// The model; null until the preparation is complete.
        pub model: Option<ModelView>,
        /// The text; null until the preparation is complete.
        pub corpus: Option<CorpusView>,
    }

    pub struct ModelView {
        pub vocabulary: u32,
        pub width: u32,
        pub layers: u32,
        pub heads: u32,
        /// Number of tokens that the model sees at once.
        pub context: u32,
        /// Number of trained parameters.
        pub parameters: u32,
        /// Number of parameters that embed tokens and positions.
        pub embeddings: u32,
        /// Floating-point operations per token in training (forward and backward), in matrix products and attention.
        pub flops_per_token: f64,
        /// Tensors as stored in a checkpoint.
        pub tensors: Vec<TensorView>,
    }

    pub struct TensorView {
        /// Name, for example `transformer.h.0.attn.c_attn.weight`.
        pub name: String,
        pub shape: Vec<u32>,
    }

    pub struct CorpusView {
        /// Name of the user's text, or `story grammar`.
        pub name: String,
        /// The text was provided by the user.
        pub own: bool,
        pub characters: f64,
        pub tokens: f64,
        /// Number of tokens for training.
        pub training_tokens: f64,
        /// Number of tokens for validation.
        pub validation_tokens: f64,
        pub tokenizer: TokenizerKind,
        pub vocabulary: u32,
        /// Characters per token of the validation text.
        pub characters_per_token: f64,
        /// Entropy of the grammar in nats per character, given all previous text; null for a user's text.
        pub entropy: Option<f64>,
        /// Entropy floor of the grammar on the validation text with this context, in nats per token; null for a user's text, and before the
        /// first test. For characters it bounds the mean loss; for byte pairs it is an estimate.
        pub floor: Option<f64>,
        /// Beginning of the text.
        pub excerpt: String,
    }

    /// Text written after the prompt at a test.
    pub struct Sample {
        pub iteration: u32,
        /// Number of tokens trained on before the test.
        pub tokens: f64,
        pub val_loss: f64,
        pub prompt: String,
        pub text: String,
    }

    pub struct TokenView {
        pub id: u32,
        /// Text of the token; bytes that are not valid text appear as numbers, as in `\xE2`.
        pub text: String,
    }

    pub struct ReadView {
        /// Number of iterations after which the weights were taken.
        pub iteration: u32,
        pub tokens: Vec<TokenView>,
        /// Surprise at each token in nats, given the tokens before it; null for the first token.
        pub surprise: Vec<Option<f32>>,
        /// Entropy of the prediction after each token, in nats.
        pub entropy: Vec<f32>,
        /// Most likely next tokens after each token, in descending order.
        pub next: Vec<Vec<NextView>>,
        /// Mean surprise in nats per token; null for a single token.
        pub loss: Option<f32>,
        /// Mean surprise in bits per character; null for a single token.
        pub bits_per_char: Option<f32>,
    }

    pub struct NextView {
        pub id: u32,
        pub text: String,
        pub probability: f32,
    }

    /// Method for choosing the next token.
    #[derive(Copy)]
    pub struct Sampling {
        /// Temperature; 0 always takes the most likely token.
        pub temperature: f32,
        /// Number of most likely tokens to choose from; 0 for all.
        pub top_k: u32,
        /// Least total probability of the most likely tokens to choose from; 1 for all.
        pub top_p: f32,
        pub seed: u32,
    }

    pub struct GenerationView {
        /// Number of iterations after which the weights were taken.
        pub iteration: u32,
        /// Tokens so far, without the prompt.
        pub tokens: u32,
        /// Text so far, without the prompt. Until the text has ended, an incomplete character or stop text at its end is left out.
        pub text: String,
        /// Tokens added by this call.
        pub added: Vec<Generated>,
        pub ended: Option<Ended>,
    }

    pub struct Generated {
        pub id: u32,
        pub text: String,
        /// Probability by the model, before temperature and cuts.
        pub probability: f32,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Ended {
        /// The requested number of tokens was reached.
        Length,
        /// The stop text appeared; it is left out.
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
        /// Attention weights as floats, `[from][to]`: a row for each token, with the sum 1, and 0 for later tokens.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub weights: Vec<f32>,
    }
}
